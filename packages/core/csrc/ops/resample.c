/* resample.c - upsample_linear1d, bilinear2d, trilinear3d, bicubic2d and the antialiased ones,
 * forward and backward.
 *
 * What a mode means is how its tables of neighbours are made; the sums are the same for all. A
 * third dimension is resampled by itself, as lines of whole planes; the last two go together. */
#include "cpu/resample_run.h"
#include <math.h>
#include "ops/layout.h"
#include "runtime/device.h"

#define OUT (&call->out[0])
#define LL(x) ((long long)(x))

typedef enum mode { LINEAR, CUBIC, LINEAR_AA, CUBIC_AA, LANCZOS_AA } mode;

/* ---- tables ---- */

static double cubic(double x, double slope)
{
    x = fabs(x);
    if (x <= 1) return ((slope + 2) * x - (slope + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * slope : 0;
}

static double filter(mode m, double x)
{
    x = fabs(x);
    if (m == LINEAR_AA) return x < 1 ? 1 - x : 0;
    if (m == CUBIC_AA) return cubic(x, -0.5);
    double angle = M_PI * x;
    return x == 0 ? 1 : x < 3 ? 3 * sin(angle) * sin(angle / 3) / (angle * angle) : 0;
}

typedef struct axis {
    int64_t in, out;
    bool align;
    double scale; /* 0: the ratio of the sizes */
} axis;

static double step_of(const axis *a)
{
    if (a->align) return a->out > 1 ? (double)(a->in - 1) / (double)(a->out - 1) : 0;
    return a->scale > 0 ? 1 / a->scale : (double)a->in / (double)a->out;
}

static int64_t taps_of(const axis *a, mode m)
{
    static const double width[] = {[LINEAR_AA] = 2, [CUBIC_AA] = 4, [LANCZOS_AA] = 6};
    if (a->in == a->out && (m != CUBIC || a->scale == 0)) return 1; /* the same again */
    if (m <= CUBIC) return m == LINEAR ? 2 : 4;
    double step = step_of(a), support = width[m] / 2 * (step > 1 ? step : 1);
    return (int64_t)fmin(ceil(support) * 2 + 1, (double)a->in);
}

static void set_tap(td_taps *t, bool wide, int64_t tap, int64_t i, int64_t place, double weight)
{
    int64_t k = tap * t->out + i;
    t->place[k] = (int32_t)(place < 0 ? 0 : place >= t->in ? t->in - 1 : place);
    if (wide) ((double *)t->weight)[k] = weight;
    else ((float *)t->weight)[k] = (float)weight;
}

/* A place that an int64 holds, whatever scale was given; the low one for NaN. */
static double within(double at, double low, double high) { return fmin(fmax(at, low), high); }

/* Two neighbours, or four; at the borders the last one repeats. */
static void fill_neighbours(td_taps *t, bool wide, const axis *a, mode m)
{
    double step = step_of(a);
    for (int64_t i = 0; i < t->out; i++) {
        double at = a->align ? step * (double)i : step * ((double)i + 0.5) - 0.5;
        if (m == LINEAR && at < 0) at = 0;
        at = within(at, -8, (double)a->in + 8); /* beyond, all neighbours are the last element */
        int64_t base = (int64_t)floor(at);
        double part = at - (double)base;
        if (m == LINEAR) {
            set_tap(t, wide, 0, i, base, 1 - part);
            set_tap(t, wide, 1, i, base + 1, part);
        } else {
            for (int k = 0; k < 4; k++)
                set_tap(t, wide, k, i, base - 1 + k, cubic(part + 1 - k, -0.75));
        }
    }
}

/* All neighbours within the filter's support, which grows when the image shrinks. */
static void fill_window(td_taps *t, bool wide, const axis *a, mode m)
{
    double step = step_of(a), stretch = step > 1 ? step : 1;
    double support = (m == LINEAR_AA ? 1 : m == CUBIC_AA ? 2 : 3) * stretch;
    for (int64_t i = 0; i < t->out; i++) {
        double centre = step * ((double)i + 0.5), total = 0;
        int64_t first = (int64_t)within(centre - support + 0.5, 0, (double)a->in);
        int64_t end = (int64_t)within(centre + support + 0.5, 0, (double)a->in);
        if (end - first > t->count) end = first + t->count;
        for (int64_t j = first; j < end; j++)
            total += filter(m, ((double)j - centre + 0.5) / stretch);
        for (int64_t k = 0; k < t->count; k++) {
            bool inside = first + k < end;
            set_tap(t, wide, k, i, inside ? first + k : first,
                    inside && total != 0
                        ? filter(m, ((double)(first + k) - centre + 0.5) / stretch) / total
                        : 0);
        }
    }
}

static td_status make_taps(td_taps *t, bool wide, const axis *a, mode m)
{
    int64_t n;
    *t = (td_taps){.in = a->in, .out = a->out, .count = taps_of(a, m)};
    if (td_mul_overflows(t->count, t->out, &n) || n > INT32_MAX || a->in > INT32_MAX)
        return td_fail(TD_RUNTIME_ERROR, "interpolate: sizes %lld to %lld are too large", LL(a->in),
                       LL(a->out));
    t->place = malloc((size_t)n * sizeof *t->place);
    t->weight = malloc((size_t)n * sizeof(double));
    if (!t->place || !t->weight)
        return td_fail(TD_MEMORY_ERROR, "interpolate: no memory for %lld weights", LL(n));
    if (a->in == a->out && t->count == 1) /* nothing changes */
        for (int64_t i = 0; i < t->out; i++) set_tap(t, wide, 0, i, i, 1);
    else if (m <= CUBIC) fill_neighbours(t, wide, a, m);
    else fill_window(t, wide, a, m);
    return TD_OK;
}

static void drop_taps(td_taps *t)
{
    free(t->place);
    free(t->weight);
}

/* ---- one call ---- */

typedef struct resampling {
    const char *name;
    int dims;
    mode mode;
    int64_t in[5], out[5]; /* whole shapes */
    axis axes[3];          /* the last ones count */
    td_taps taps[3];
} resampling;

static td_status check(const resampling *r)
{
    char a[TD_SHAPE_TEXT], b[TD_SHAPE_TEXT];
    bool fits = r->in[1] > 0;
    for (int d = 2; d < r->dims + 2; d++) fits &= r->in[d] > 0 && r->out[d] > 0;
    if (fits) return TD_OK;
    return td_fail(
        TD_RUNTIME_ERROR,
        "%s: Input and output sizes should be greater than 0, but got input %s output %s", r->name,
        td_shape_text(r->dims + 2, r->in, a), td_shape_text(r->dims + 2, r->out, b));
}

/* Sizes from argument `at` on: output_size, then (backward) input_size, then align_corners and the
 * scales. */
static td_status read(resampling *r, const td_call *call, int at, bool backward)
{
    int n = r->dims + 2, k = at + 1 + backward;
    const td_tensor *self = TD_TENSOR(0);
    char shape[TD_SHAPE_TEXT];
    if (self->ndim != n || TD_LEN(at) != r->dims || (backward && TD_LEN(at + 1) != n))
        return td_fail(TD_RUNTIME_ERROR,
                       "%s: It is expected output_size equals to %d and a %d-dimensional input, "
                       "but got output size of length %lld and shape %s",
                       r->name, r->dims, n, LL(TD_LEN(at)),
                       td_shape_text(self->ndim, self->sizes, shape));
    for (int d = 0; d < n; d++) {
        r->in[d] = backward ? TD_INTS(at + 1)[d] : self->sizes[d];
        r->out[d] = d < 2 ? r->in[d] : TD_INTS(at)[d - 2];
        if (backward && self->sizes[d] != r->out[d])
            return td_fail(TD_RUNTIME_ERROR,
                           "%s: expected a gradient of size %lld at dimension %d, got shape %s",
                           r->name, LL(r->out[d]), d,
                           td_shape_text(self->ndim, self->sizes, shape));
    }
    for (int d = 0; d < 3; d++) {
        int own = d - (3 - r->dims);
        r->axes[d] = own < 0 ? (axis){1, 1, false, 0}
                             : (axis){r->in[2 + own], r->out[2 + own], TD_BOOLEAN(k),
                                      TD_HAS(k + 1 + own) ? TD_FLOAT(k + 1 + own) : 0};
    }
    return check(r);
}

/* ---- on the processor, or by the device's kernels ---- */

static td_status elsewhere(const td_resample_job *job, const td_tensor *to)
{
    return td_work_run(TD_WORK_RESAMPLE, job, (td_device)to->device, "resampling");
}

static td_status in_planes(const resampling *r, const td_tensor *from, td_tensor *to,
                           int64_t planes, bool adjoint)
{
    bool wide = from->dtype == TD_F64;
    td_planes p = {
        .rows = r->taps[1], .columns = r->taps[2], .from = td_data(from), .to = td_data(to)};
    if (td_on_host(to)) return td_resample_planes(&p, planes, wide, adjoint);
    return elsewhere(&(td_resample_job){.rows = &p.rows,
                                        .columns = &p.columns,
                                        .from = p.from,
                                        .to = p.to,
                                        .n = to->numel,
                                        .wide = wide,
                                        .adjoint = adjoint},
                     to);
}

static td_status in_depth(const resampling *r, const td_tensor *from, td_tensor *to, int64_t planes,
                          bool adjoint)
{
    int64_t inner = r->taps[1].in * r->taps[2].in;
    if (td_on_host(to))
        return td_resample_deep(to, from, &r->taps[0], planes, inner, adjoint), TD_OK;
    return elsewhere(&(td_resample_job){.rows = &r->taps[0],
                                        .from = td_data(from),
                                        .to = td_data(to),
                                        .n = to->numel,
                                        .inner = inner,
                                        .wide = from->dtype == TD_F64,
                                        .adjoint = adjoint},
                     to);
}

static td_status round_bytes(td_tensor *made)
{
    if (td_on_host(made)) return td_round_bytes(made), TD_OK;
    return elsewhere(&(td_resample_job){.to = td_data(made), .n = made->numel}, made);
}

static td_status run_all(resampling *r, const td_tensor *from, td_tensor *to, bool adjoint)
{
    int64_t planes = r->in[0] * r->in[1], deep = r->taps[0].out;
    td_tensor *middle;
    if (r->dims < 3) return in_planes(r, from, to, planes, adjoint);
    TD_TRY(td_tensor_empty(&middle, (td_dtype)from->dtype, (td_device)from->device, 3,
                           (int64_t[]){planes, deep, r->taps[1].in * r->taps[2].in}));
    /* depth first: its input is usually the smaller one */
    td_status status = adjoint ? in_planes(r, from, middle, planes * deep, true)
                               : in_depth(r, from, middle, planes, false);
    if (status == TD_OK)
        status = adjoint ? in_depth(r, middle, to, planes, true)
                         : in_planes(r, middle, to, planes * deep, false);
    td_tensor_free(middle);
    return status;
}

static td_status run_once(resampling *r, const td_tensor *from, td_tensor *to, bool adjoint)
{
    td_status status = TD_OK;
    for (int d = 0; d < 3 && status == TD_OK; d++)
        status = make_taps(&r->taps[d], from->dtype == TD_F64, &r->axes[d], r->mode);
    if (status == TD_OK) status = run_all(r, from, to, adjoint);
    for (int d = 0; d < 3; d++) drop_taps(&r->taps[d]);
    return status;
}

/* Images of bytes are bytes between the two passes as well, as image libraries have it. */
static td_status run_bytes(const resampling *r, const td_tensor *from, td_tensor *to)
{
    resampling across = *r, down = *r;
    td_tensor *middle;
    across.axes[1] = (axis){r->axes[1].in, r->axes[1].in, r->axes[1].align, 0};
    down.axes[2] = (axis){r->axes[2].out, r->axes[2].out, r->axes[2].align, 0};
    TD_TRY(td_tensor_empty(&middle, TD_F32, (td_device)from->device, 4,
                           (int64_t[]){r->in[0], r->in[1], r->in[2], r->out[3]}));
    td_status status = run_once(&across, from, middle, false);
    if (status == TD_OK) status = round_bytes(middle);
    if (status == TD_OK) status = run_once(&down, middle, to, false);
    if (status == TD_OK) status = round_bytes(to);
    td_tensor_free(middle);
    return status;
}

static td_status finish(td_call *call, td_tensor *made, const td_tensor *like)
{
    td_status status = td_cast(OUT, made, (td_dtype)like->dtype);
    td_tensor_free(made);
    return status == TD_OK ? td_match_channels_last(OUT, like) : status;
}

static td_status resample(td_call *call, const char *name, int dims, mode m, bool backward)
{
    const td_tensor *self = TD_TENSOR(0);
    resampling r = {.name = name, .dims = dims, .mode = m};
    td_tensor *dense, *made;
    TD_TRY(read(&r, call, 1, backward));
    const int64_t *sizes = backward ? r.in : r.out;
    /* images as they come from files */
    bool bytes = self->dtype == TD_U8 && dims == 2 && !backward;
    if (!bytes && (!td_is_floating((td_dtype)self->dtype) || td_is_float8((td_dtype)self->dtype)))
        return td_fail(TD_NOT_IMPLEMENTED, "\"%s\" not implemented for '%s'", name,
                       td_dtypes[self->dtype].type_name);
    if (td_is_meta(self) || self->numel == 0) {
        TD_TRY(
            td_tensor_empty(OUT, (td_dtype)self->dtype, (td_device)self->device, dims + 2, sizes));
        return td_match_channels_last(OUT, self);
    }
    TD_TRY(td_cast_contiguous(&dense, self, self->dtype == TD_F64 ? TD_F64 : TD_F32));
    td_status status =
        td_tensor_empty(&made, (td_dtype)dense->dtype, (td_device)dense->device, dims + 2, sizes);
    if (status == TD_OK) {
        status = bytes ? run_bytes(&r, dense, made) : run_once(&r, dense, made, backward);
        if (status == TD_OK) status = finish(call, made, self);
        else td_tensor_free(made);
    }
    td_tensor_free(dense);
    return status;
}

#define UPSAMPLE(name, dims, mode)                                                             \
    td_status td_op_##name(td_call *call) { return resample(call, #name, dims, mode, false); } \
    td_status td_op_##name##_backward(td_call *call)                                           \
    {                                                                                          \
        return resample(call, #name, dims, mode, true);                                        \
    }
UPSAMPLE(upsample_linear1d, 1, LINEAR)
UPSAMPLE(upsample_bilinear2d, 2, LINEAR)
UPSAMPLE(upsample_trilinear3d, 3, LINEAR)
UPSAMPLE(upsample_bicubic2d, 2, CUBIC)
UPSAMPLE(_upsample_bilinear2d_aa, 2, LINEAR_AA)
UPSAMPLE(_upsample_bicubic2d_aa, 2, CUBIC_AA)
UPSAMPLE(_upsample_lanczos2d_aa, 2, LANCZOS_AA)
