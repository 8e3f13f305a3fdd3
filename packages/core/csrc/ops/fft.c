/* fft.c - Fourier transforms as operators: along one dimension after the other, the normalization
 * in the last of them. Lines that lie apart are columns of the kernel where there are enough beside
 * each other; others are brought together. */
#include <math.h>
#include "cpu/fft/fft_run.h"
#include "ops/view/view.h"

#define SELF TD_TENSOR(0)
#define PART_BYTES (1 << 19) /* with what is read, about the second cache */

/* ---- arguments ---- */

typedef struct dims {
    int64_t n, dim[TD_MAX_DIMS];
    double scale;
    bool parted; /* a part of a tensor that no cache holds */
} dims;

static td_status check_dtype(const td_call *call, const char *op, bool complex)
{
    td_dtype d = (td_dtype)SELF->dtype;
    bool fits = complex ? d == TD_C64 || d == TD_C128 : d == TD_F32 || d == TD_F64;
    return fits ? TD_OK
                : td_fail(TD_RUNTIME_ERROR, "%s: expected a tensor of %s, but got %s", op,
                          complex ? "complex64 or complex128" : "float32 or float64",
                          td_dtypes[d].name);
}

static td_status read_dims(const td_call *call, const char *op, dims *d)
{
    uint64_t seen = 0;
    d->n = TD_LEN(1);
    if (d->n > SELF->ndim)
        return td_fail(TD_RUNTIME_ERROR, "%s: %lld dims for a tensor of %d", op, (long long)d->n,
                       SELF->ndim);
    for (int64_t i = 0; i < d->n; i++) {
        TD_TRY(td_wrap_dim(TD_INTS(1)[i], SELF->ndim, &d->dim[i]));
        if (seen >> d->dim[i] & 1)
            return td_fail(TD_RUNTIME_ERROR, "%s: dims must be unique, but %lld stands twice", op,
                           (long long)d->dim[i]);
        seen |= (uint64_t)1 << d->dim[i];
    }
    return TD_OK;
}

/* The factor of the whole transform; `last` points along the last dim. */
static td_status read_scale(const td_call *call, const char *op, dims *d, int64_t last)
{
    double points = 1;
    for (int64_t i = 0; i < d->n; i++) {
        int64_t n = i + 1 < d->n ? SELF->sizes[d->dim[i]] : last;
        if (n < 1)
            return td_fail(TD_RUNTIME_ERROR, "%s: Invalid number of data points (%lld) specified",
                           op, (long long)n);
        points *= (double)n;
    }
    switch (TD_INT(2)) {
        case 0: d->scale = 1; return TD_OK;
        case 1: d->scale = 1 / sqrt(points); return TD_OK;
        case 2: d->scale = 1 / points; return TD_OK;
        default:
            return td_fail(TD_RUNTIME_ERROR, "%s: normalization must be 0, 1 or 2, but got %lld",
                           op, (long long)TD_INT(2));
    }
}

static td_status need_dims(const char *op, const dims *d)
{
    return d->n ? TD_OK : td_fail(TD_RUNTIME_ERROR, "%s must transform at least one axis", op);
}

/* ---- one dimension ---- */

/* Dense lines along the last dim of `in` to those of `out`. */
static td_status run_rows(td_tensor *out, const td_tensor *in, td_fft_job job)
{
    td_fft_plan *plan;
    int64_t size = in->sizes[in->ndim - 1];
    int type = in->dtype == TD_F64 || in->dtype == TD_C128;
    TD_TRY(td_fft_plan_get(&plan, td_fft_plan_points(job.kind, job.points), type));
    job.plan = plan, job.in = td_data(in), job.out = td_data(out), job.count = in->numel / size;
    td_status status = td_fft_run(&job);
    td_fft_plan_give(plan);
    return status;
}

/* The same along any dim, by way of copies. out may be in. */
static td_status run_apart(td_tensor *out, const td_tensor *in, int64_t dim, td_fft_job job)
{
    int64_t sizes[TD_MAX_DIMS];
    td_tensor *turned = NULL, *rows = NULL, *made = NULL, *back = NULL;
    TD_TRY(td_view_transpose(&turned, in, dim, in->ndim - 1));
    td_status status = td_contiguous(&rows, turned);
    if (status == TD_OK) status = td_view_transpose(&back, out, dim, out->ndim - 1);
    if (status == TD_OK) {
        for (int d = 0; d < back->ndim; d++) sizes[d] = back->sizes[d];
        status =
            td_tensor_empty(&made, (td_dtype)out->dtype, (td_device)out->device, back->ndim, sizes);
    }
    if (status == TD_OK) status = run_rows(made, rows, job);
    if (status == TD_OK) status = td_copy(back, made);
    td_tensor_free(turned);
    td_tensor_free(rows);
    td_tensor_free(made);
    td_tensor_free(back);
    return status;
}

static int64_t count_after(const td_tensor *x, int64_t dim)
{
    int64_t n = 1;
    for (int d = (int)dim + 1; d < x->ndim; d++) n *= x->sizes[d];
    return n;
}

static td_status run_line(td_tensor *out, const td_tensor *in, int64_t dim, td_fft_job job)
{
    return count_after(in, dim) == 1 && dim + 1 == in->ndim ? run_rows(out, in, job)
                                                            : run_apart(out, in, dim, job);
}

/* Complex, dense, of the same shape; out may be in. */
static td_status along(td_tensor *out, const td_tensor *in, int64_t dim, td_fft_job job)
{
    td_fft_plan *plan;
    int64_t n = in->sizes[dim], inner = count_after(in, dim);
    job.kind = TD_FFT_C2C, job.points = n;
    if (dim + 1 == in->ndim) return run_rows(out, in, job);
    TD_TRY(td_fft_plan_get(&plan, n, in->dtype == TD_C128));
    bool columns = plan->whole && (2 * inner >= td_fft_kernel_of(plan)->lanes || !plan->rows);
    td_status status = columns ? td_fft_columns(plan, td_data(in), td_data(out),
                                                in->numel / n / inner, inner, job.sign, job.scale)
                               : run_apart(out, in, dim, job);
    td_fft_plan_give(plan);
    return status;
}

/* Along dims [0, count) of d, from the last, whose lines are mostly nearest to each other; the
 * first of them scales. */
static td_status along_all(td_tensor *out, const td_tensor *in, const dims *d, int64_t count,
                           int sign, double scale)
{
    for (int64_t i = count; i-- > 0; in = out) {
        td_fft_job job = {.sign = sign, .scale = i ? 1 : scale, .cold = d->parted && in != out};
        TD_TRY(along(out, in, d->dim[i], job));
    }
    return TD_OK;
}

/* ---- over several dimensions ---- */

typedef td_status (*transform)(td_tensor *out, const td_tensor *self, const dims *d,
                               int64_t option);

static td_status part_by_part(transform run, td_tensor *out, const td_tensor *x, const dims *d,
                              int64_t option, int64_t step)
{
    for (int64_t at = 0; at < x->sizes[0]; at += step) {
        int64_t count = x->sizes[0] - at < step ? x->sizes[0] - at : step;
        td_tensor *from, *to = NULL;
        TD_TRY(td_view_narrow(&from, x, 0, at, count));
        td_status status = td_view_narrow(&to, out, 0, at, count);
        if (status == TD_OK) status = run(to, from, d, option);
        td_tensor_free(from);
        td_tensor_free(to);
        TD_TRY(status);
    }
    return TD_OK;
}

/* All dims of as many items of a batch as the second cache holds, then the next ones: otherwise
 * each dim reads everything from memory again. */
static td_status in_parts(transform run, td_tensor *out, const td_tensor *self, const dims *d,
                          int64_t option)
{
    dims moved = *d;
    moved.parted = true;
    int64_t first = self->ndim, items = 1, bytes = out->numel * td_itemsize((td_dtype)out->dtype);
    td_tensor *x = NULL, *from = NULL, *to = NULL;
    for (int64_t i = 0; i < d->n; i++) first = d->dim[i] < first ? d->dim[i] : first;
    for (int64_t i = 0; i < first; i++) items *= self->sizes[i];
    if (!out->numel || !self->numel || d->n < 2 || bytes <= PART_BYTES ||
        bytes / items > PART_BYTES)
        return run(out, self, d, option);
    /* the dims before are one from here on */
    for (int64_t i = 0; i < d->n; i++) moved.dim[i] -= first - 1;
    TD_TRY(td_contiguous(&x, self));
    td_status status = td_view_flatten(&from, x, 0, first - 1);
    if (status == TD_OK) status = td_view_flatten(&to, out, 0, first - 1);
    if (status == TD_OK)
        status = part_by_part(run, to, from, &moved, option, PART_BYTES / (bytes / items));
    td_tensor_free(x);
    td_tensor_free(from);
    td_tensor_free(to);
    return status;
}

/* ---- operators: (self, dim, normalization, ...) ---- */

static td_status transform_c2c(td_tensor *out, const td_tensor *self, const dims *d, int64_t sign)
{
    td_tensor *x;
    if (!d->n || !self->numel) return td_copy(out, self);
    TD_TRY(td_contiguous(&x, self));
    td_status status = along_all(out, x, d, d->n, (int)sign, d->scale);
    td_tensor_free(x);
    return status;
}

td_status td_op__fft_c2c(td_call *call)
{
    dims d = {0};
    const char *op = "_fft_c2c";
    TD_TRY(check_dtype(call, op, true));
    TD_TRY(read_dims(call, op, &d));
    TD_TRY(read_scale(call, op, &d, d.n ? SELF->sizes[d.dim[d.n - 1]] : 1));
    TD_TRY(td_tensor_empty(&call->out[0], (td_dtype)SELF->dtype, (td_device)SELF->device,
                           SELF->ndim, SELF->sizes));
    return td_is_meta(SELF)
               ? TD_OK
               : in_parts(transform_c2c, call->out[0], SELF, &d, TD_BOOLEAN(3) ? 1 : -1);
}

static td_status transform_r2c(td_tensor *out, const td_tensor *self, const dims *d, int64_t whole)
{
    td_tensor *x;
    int64_t last = d->dim[d->n - 1];
    td_fft_job job = {.kind = TD_FFT_R2C,
                      .points = self->sizes[last],
                      .sign = 1,
                      .scale = d->n > 1 ? 1 : d->scale,
                      .whole = whole != 0,
                      .cold = d->parted};
    if (!self->numel) return TD_OK;
    TD_TRY(td_contiguous(&x, self));
    td_status status = run_line(out, x, last, job);
    if (status == TD_OK) status = along_all(out, out, d, d->n - 1, 1, d->scale);
    td_tensor_free(x);
    return status;
}

/* The call's result: like self, but of another dtype and size along `dim`. */
static td_status make_out(td_call *call, td_dtype dtype, int64_t dim, int64_t size)
{
    int64_t sizes[TD_MAX_DIMS];
    for (int i = 0; i < SELF->ndim; i++) sizes[i] = i == dim ? size : SELF->sizes[i];
    return td_tensor_empty(&call->out[0], dtype, (td_device)SELF->device, SELF->ndim, sizes);
}

td_status td_op__fft_r2c(td_call *call)
{
    dims d = {0};
    const char *op = "_fft_r2c";
    TD_TRY(check_dtype(call, op, false));
    TD_TRY(read_dims(call, op, &d));
    TD_TRY(need_dims(op, &d));
    int64_t last = d.dim[d.n - 1], points = SELF->sizes[last];
    TD_TRY(read_scale(call, op, &d, points));
    TD_TRY(make_out(call, td_to_complex((td_dtype)SELF->dtype), last,
                    TD_BOOLEAN(3) ? points / 2 + 1 : points));
    return td_is_meta(SELF) ? TD_OK
                            : in_parts(transform_r2c, call->out[0], SELF, &d, !TD_BOOLEAN(3));
}

/* The numbers of the half spectrum that count, dense, transformed along the dims before the last.
 */
static td_status half_spectrum(td_tensor **out, const td_tensor *self, const dims *d,
                               int64_t points)
{
    td_tensor *half, *dense = NULL, *made = NULL;
    TD_TRY(td_view_narrow(&half, self, d->dim[d->n - 1], 0, points / 2 + 1));
    td_status status = td_contiguous(&dense, half);
    td_tensor_free(half);
    if (status != TD_OK || d->n == 1) {
        *out = dense;
        return status;
    }
    status = td_tensor_empty(&made, (td_dtype)dense->dtype, (td_device)dense->device, dense->ndim,
                             dense->sizes);
    if (status == TD_OK) status = along_all(made, dense, d, d->n - 1, -1, 1);
    td_tensor_free(dense);
    if (status == TD_OK) *out = made;
    else td_tensor_free(made);
    return status;
}

static td_status transform_c2r(td_tensor *out, const td_tensor *self, const dims *d, int64_t points)
{
    td_tensor *half;
    td_fft_job job = {.kind = TD_FFT_C2R, .points = points, .sign = -1, .scale = d->scale};
    if (!out->numel) return TD_OK;
    TD_TRY(half_spectrum(&half, self, d, points));
    td_status status = run_line(out, half, d->dim[d->n - 1], job);
    td_tensor_free(half);
    return status;
}

td_status td_op__fft_c2r(td_call *call)
{
    dims d = {0};
    const char *op = "_fft_c2r";
    int64_t points = TD_INT(3);
    TD_TRY(check_dtype(call, op, true));
    TD_TRY(read_dims(call, op, &d));
    TD_TRY(need_dims(op, &d));
    TD_TRY(read_scale(call, op, &d, points));
    int64_t last = d.dim[d.n - 1];
    if (SELF->sizes[last] < points / 2 + 1)
        return td_fail(
            TD_RUNTIME_ERROR,
            "%s: %lld real points need a half spectrum of %lld, but dimension %lld has %lld", op,
            (long long)points, (long long)points / 2 + 1, (long long)last,
            (long long)SELF->sizes[last]);
    TD_TRY(make_out(call, td_to_real((td_dtype)SELF->dtype), last, points));
    return td_is_meta(SELF) ? TD_OK : in_parts(transform_c2r, call->out[0], SELF, &d, points);
}
