/* creation_ranges.c - arange, range, linspace, logspace: numbers at equal steps. */
#include <complex.h>
#include <math.h>
#include "cpu/creation_ranges.h"
#include "ops/creation.h"
#include "runtime/device.h"

#define OUT (&call->out[0])

/* ---- arguments ---- */

static td_status real_part(const td_scalar *s, double *out)
{
    if (s->im != 0)
        return td_fail(TD_RUNTIME_ERROR,
                       "value %g%+gj cannot be converted to type double without overflow", s->re,
                       s->im);
    *out = s->re;
    return TD_OK;
}

static int64_t as_integer(const td_scalar *s)
{
    return s->kind <= TD_S_INT ? s->i : (int64_t)s->re;
}

static td_status check_dtype(const char *name, td_dtype dtype, bool complex_too)
{
    bool usual = (dtype >= TD_U8 && dtype <= TD_I64) || (dtype >= TD_F16 && dtype <= TD_F64);
    if (usual || (complex_too && td_is_complex(dtype) && dtype != TD_C32)) return TD_OK;
    return td_fail(TD_NOT_IMPLEMENTED, "\"%s\" not implemented for '%s'", name,
                   td_dtypes[dtype].type_name);
}

typedef struct progression {
    double start, end, step;
    int64_t count;
} progression;

static td_status check_progression(const progression *p)
{
    if (!(p->step > 0 || p->step < 0))
        return td_fail(TD_RUNTIME_ERROR, "step must be nonzero, got %g", p->step);
    if (!isfinite(p->start) || !isfinite(p->end))
        return td_fail(TD_RUNTIME_ERROR, "unsupported range: %g -> %g", p->start, p->end);
    if (p->step > 0 ? p->end < p->start : p->end > p->start)
        return td_fail(
            TD_RUNTIME_ERROR,
            "upper bound and lower bound inconsistent with step sign: from %g to %g by %g",
            p->start, p->end, p->step);
    return TD_OK;
}

static td_status count_of(double count, int64_t *out)
{
    if (!(count >= 0 && count < 0x1p63))
        return td_fail(TD_RUNTIME_ERROR, "invalid size %g, possible overflow", count);
    *out = (int64_t)count;
    return TD_OK;
}

/* Fill a dtype by way of float64, int64 or complex128 and put the result into OUT. */
static td_status finish(td_call *call, td_tensor *made, td_dtype dtype)
{
    if (made->dtype == dtype) {
        call->out[0] = made;
        return TD_OK;
    }
    td_status status = td_cast(OUT, made, dtype);
    td_tensor_free(made);
    return status;
}

/* ---- arange and range ---- */

static void fill_range(const td_range_job *j)
{
    void *data = td_data(j->out);
    int64_t n = j->out->numel, first = j->first, by = j->by;
    double start = j->start, step = j->step;
    if (j->out->dtype == TD_I64)
        for (int64_t i = 0; i < n; i++)
            ((int64_t *)data)[i] = (int64_t)((uint64_t)first + (uint64_t)i * (uint64_t)by);
    else if (j->out->dtype == TD_F32)
        for (int64_t i = 0; i < n; i++) ((float *)data)[i] = (float)(start + (double)i * step);
    else
        for (int64_t i = 0; i < n; i++) ((double *)data)[i] = start + (double)i * step;
}

/* on the device itself where it can */
static td_status write_progression(td_call *call, const progression *p, const td_options *o,
                                   int64_t first, int64_t by)
{
    td_tensor *made;
    bool whole = td_is_integral(o->dtype);
    if (o->device == TD_META) return td_tensor_empty(OUT, o->dtype, TD_META, 1, &p->count);
    td_dtype dtype = whole ? TD_I64 : o->dtype == TD_F32 ? TD_F32 : TD_F64;
    bool there = td_workers[td_device_type(o->device)][TD_WORK_RANGE] != NULL;
    TD_TRY(td_tensor_empty(&made, dtype, there ? o->device : TD_CPU, 1, &p->count));
    td_range_job job = {made, first, by, p->start, p->step};
    td_status status = TD_OK;
    if (there) status = td_work_run(TD_WORK_RANGE, &job, o->device, "arange");
    else fill_range(&job);
    if (status == TD_OK && made->device != o->device) {
        td_tensor *near = made;
        status = td_moved_to(&made, near, o->device);
        td_tensor_free(near);
        TD_TRY(status);
    }
    if (status == TD_OK) return finish(call, made, o->dtype);
    td_tensor_free(made);
    return status;
}

static bool any_float(const td_scalar *const *numbers)
{
    for (int i = 0; i < 3; i++)
        if (numbers[i]->kind >= TD_S_FLOAT) return true;
    return false;
}

/* Steps of int64 are counted in int64, where float64 would round. */
static int64_t count_exactly(int64_t start, int64_t end, int64_t step)
{
    uint64_t distance =
        step > 0 ? (uint64_t)end - (uint64_t)start : (uint64_t)start - (uint64_t)end;
    uint64_t by = step > 0 ? (uint64_t)step : -(uint64_t)step;
    return (int64_t)(distance / by + (distance % by != 0));
}

static td_status step_is_zero(double step, td_dtype dtype)
{
    return td_fail(TD_RUNTIME_ERROR, "step must be nonzero, but %g is 0 as %s", step,
                   td_dtypes[dtype].name);
}

static td_status arange(td_call *call, const td_scalar *start, const td_scalar *end,
                        const td_scalar *step, int at)
{
    progression p;
    td_options o = {0};
    TD_TRY(real_part(start, &p.start));
    TD_TRY(real_part(end, &p.end));
    TD_TRY(real_part(step, &p.step));
    bool fractional = any_float((const td_scalar *const[]){start, end, step});
    TD_TRY(td_factory_options(call, at, fractional ? td_default_dtype : TD_I64, TD_CPU, &o));
    TD_TRY(check_dtype("arange", o.dtype, false));
    TD_TRY(check_progression(&p));
    int64_t first = 0, by = 0;
    if (td_is_integral(o.dtype)) {
        first = as_integer(start);
        by = as_integer(step);
    }
    if (o.dtype == TD_I64 && by == 0) return step_is_zero(p.step, o.dtype);
    if (o.dtype == TD_I64) p.count = count_exactly(first, as_integer(end), by);
    else TD_TRY(count_of(ceil((p.end - p.start) / p.step), &p.count));
    return write_progression(call, &p, &o, first, by);
}

static const td_scalar zero = {TD_S_INT, 0, 0, 0}, one = {TD_S_INT, 1, 1, 0};

td_status td_op_arange(td_call *call) { return arange(call, &zero, &TD_SCALAR(0), &one, 1); }
td_status td_op_arange_start(td_call *call)
{
    return arange(call, &TD_SCALAR(0), &TD_SCALAR(1), &one, 2);
}
td_status td_op_arange_start_step(td_call *call)
{
    return arange(call, &TD_SCALAR(0), &TD_SCALAR(1), &TD_SCALAR(2), 3);
}

/* range: like arange, but the end belongs to it and the dtype is the default one */
static td_status range(td_call *call, const td_scalar *step, int at)
{
    progression p;
    td_options o = {0};
    TD_TRY(real_part(&TD_SCALAR(0), &p.start));
    TD_TRY(real_part(&TD_SCALAR(1), &p.end));
    TD_TRY(real_part(step, &p.step));
    TD_TRY(td_factory_options(call, at, td_default_dtype, TD_CPU, &o));
    TD_TRY(check_dtype("range", o.dtype, false));
    TD_TRY(check_progression(&p));
    if (td_is_integral(o.dtype)) p = (progression){trunc(p.start), trunc(p.end), trunc(p.step), 0};
    if (p.step == 0) return step_is_zero(step->re, o.dtype);
    TD_TRY(count_of(floor((p.end - p.start) / p.step) + 1, &p.count));
    return write_progression(call, &p, &o, as_integer(&TD_SCALAR(0)), as_integer(step));
}

td_status td_op_range(td_call *call) { return range(call, &one, 2); }
td_status td_op_range_step(td_call *call) { return range(call, &TD_SCALAR(2), 3); }

/* ---- linspace and logspace: from both ends towards the middle, so that both ends are met exactly
 * ---- */

typedef struct spacing {
    double complex start, end, base;
    int64_t count;
    bool power;
} spacing;

static double complex place(const spacing *s, int64_t i)
{
    double complex step = s->count > 1 ? (s->end - s->start) / (double)(s->count - 1) : 0;
    double complex x = i < s->count / 2 || s->count == 1
                           ? s->start + step * (double)i
                           : s->end - step * (double)(s->count - 1 - i);
    if (!s->power) return x;
    return cimag(x) == 0 && cimag(s->base) == 0 ? pow(creal(s->base), creal(x)) : cpow(s->base, x);
}

static td_status write_spacing(td_call *call, const spacing *s, const td_options *o)
{
    td_tensor *made;
    if (o->device == TD_META) return td_tensor_empty(OUT, o->dtype, TD_META, 1, &s->count);
    TD_TRY(
        td_tensor_empty(&made, td_is_complex(o->dtype) ? TD_C128 : TD_F64, TD_CPU, 1, &s->count));
    void *data = td_data(made);
    for (int64_t i = 0; i < s->count; i++) {
        double complex x = place(s, i);
        if (made->dtype == TD_C128) ((double complex *)data)[i] = x;
        else ((double *)data)[i] = creal(x);
    }
    return finish(call, made, o->dtype);
}

static double complex end_point(const td_scalar *s, td_dtype dtype)
{
    return td_is_integral(dtype) ? (double)as_integer(s) : CMPLX(s->re, s->im);
}

static td_status spaced(td_call *call, const char *name, const td_scalar *base, int at)
{
    const td_scalar *start = &TD_SCALAR(0), *end = &TD_SCALAR(1);
    bool wide = start->kind == TD_S_COMPLEX || end->kind == TD_S_COMPLEX;
    td_options o = {0};
    TD_TRY(td_factory_options(call, at, wide ? td_to_complex(td_default_dtype) : td_default_dtype,
                              TD_CPU, &o));
    if (TD_INT(2) < 0)
        return td_fail(TD_RUNTIME_ERROR, "%s: number of steps must be non-negative, got %lld", name,
                       (long long)TD_INT(2));
    TD_TRY(check_dtype(name, o.dtype, true));
    if (wide && !td_is_complex(o.dtype))
        return td_fail(TD_RUNTIME_ERROR, "%s: complex ends need a complex dtype, but got %s", name,
                       td_dtypes[o.dtype].name);
    spacing s = {end_point(start, o.dtype), end_point(end, o.dtype), base ? base->re : 0, TD_INT(2),
                 base != NULL};
    return write_spacing(call, &s, &o);
}

td_status td_op_linspace(td_call *call) { return spaced(call, "linspace", NULL, 3); }

td_status td_op_logspace(td_call *call)
{
    td_scalar base = td_scalar_float(TD_FLOAT(3));
    return spaced(call, "logspace", &base, 4);
}
