/* pooling.c - max, average and adaptive pooling over one, two or three dimensions. */
#include "cpu/pooling/pooling_run.h"
#include "ops/layout.h"
#include "ops/view/view.h"
#include "runtime/device.h"

#define SELF TD_TENSOR(0)
#define OUT (&call->out[0])
#define LL(x) ((long long)(x))

/* ---- what a call is about ---- */

typedef struct pooling {
    const char *name;
    int dims; /* 1, 2 or 3 */
    td_pool pool;
    int64_t planes, sizes[5]; /* of the output */
    int ndim;
} pooling;

static td_status check_input(const pooling *p, const td_tensor *self)
{
    char shape[TD_SHAPE_TEXT];
    bool fits = self->ndim == p->dims + 1 || self->ndim == p->dims + 2;
    for (int d = self->ndim - p->dims - 1; fits && d < self->ndim; d++) fits = self->sizes[d] > 0;
    if (fits) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "%s: Expected %dD or %dD (batch mode) tensor with non-zero sizes apart from the "
                   "batch, but got: %s",
                   p->name, p->dims + 1, p->dims + 2,
                   td_shape_text(self->ndim, self->sizes, shape));
}

/* One number stands for all dimensions. An empty list means `otherwise`. */
static td_status read_list(const td_call *call, const pooling *p, int arg, const char *what,
                           const int64_t *otherwise, int64_t least, int64_t *out)
{
    int64_t n = TD_LEN(arg);
    if (n != 1 && n != p->dims && !(n == 0 && otherwise))
        return td_fail(TD_RUNTIME_ERROR,
                       "%s: %s must either be a single int, or a tuple of %d ints, got %lld",
                       p->name, what, p->dims, LL(n));
    for (int d = 0; d < p->dims; d++) {
        int64_t v = n == 0 ? otherwise[3 - p->dims + d] : TD_INTS(arg)[n == 1 ? 0 : d];
        if (v < least || v > INT32_MAX)
            return td_fail(TD_RUNTIME_ERROR,
                           "%s: %s should be at least %lld and fit 31 bits, but got %lld", p->name,
                           what, LL(least), LL(v));
        out[3 - p->dims + d] = v;
    }
    return TD_OK;
}

static int64_t lowest(td_dtype dtype)
{
    switch (dtype) {
        case TD_U8: return 0;
        case TD_I8: return INT8_MIN;
        case TD_I16: return INT16_MIN;
        case TD_I32: return INT32_MIN;
        default: return INT64_MIN;
    }
}

static void start(pooling *p, const char *name, int dims, const td_tensor *self)
{
    *p = (pooling){.name = name, .dims = dims, .ndim = self->ndim, .planes = 1};
    for (int d = 0; d < 3; d++) {
        p->pool.in[d] = p->pool.out[d] = p->pool.window[d] = p->pool.stride[d] =
            p->pool.dilation[d] = 1;
        p->pool.pad[d] = 0;
    }
    p->pool.lowest = lowest((td_dtype)self->dtype);
    if (self->ndim > dims + 2) return; /* check_input refuses it; there is no room for its sizes */
    for (int d = 0; d < self->ndim; d++) {
        int spatial = d - (self->ndim - dims);
        p->sizes[d] = self->sizes[d];
        if (spatial >= 0) p->pool.in[3 - dims + spatial] = self->sizes[d];
        else p->planes = (int64_t)((uint64_t)p->planes * (uint64_t)self->sizes[d]);
    }
}

static void set_output(pooling *p)
{
    for (int d = 0; d < p->dims; d++)
        p->sizes[p->ndim - p->dims + d] = p->pool.out[3 - p->dims + d];
}

static td_status output_sizes(pooling *p, bool ceil)
{
    td_pool *k = &p->pool;
    for (int d = 3 - p->dims; d < 3; d++) {
        if (k->in[d] > INT64_MAX / 2) /* on meta: sums with padding would wrap around */
            return td_fail(TD_RUNTIME_ERROR, "%s: an input of size %lld is too large", p->name,
                           LL(k->in[d]));
        int64_t reach = k->dilation[d] * (k->window[d] - 1) + 1,
                room = k->in[d] + 2 * k->pad[d] - reach;
        if (k->pad[d] * 2 > (p->dims == 1 ? k->window[d] : reach))
            return td_fail(TD_RUNTIME_ERROR,
                           "%s: pad should be at most half of effective kernel size, but got "
                           "pad=%lld, kernel_size=%lld and dilation=%lld",
                           p->name, LL(k->pad[d]), LL(k->window[d]), LL(k->dilation[d]));
        k->out[d] = room < 0 ? 0 : room / k->stride[d] + 1;
        if (ceil && room >= -k->stride[d] + 1)
            k->out[d] = (room + k->stride[d] - 1) / k->stride[d] + 1;
        /* the last window begins inside */
        if (ceil && (k->out[d] - 1) * k->stride[d] >= k->in[d] + k->pad[d]) k->out[d]--;
        if (k->out[d] < 1)
            return td_fail(TD_RUNTIME_ERROR,
                           "%s: kernel of size %lld (dilation %lld) is larger than the padded "
                           "input of size %lld: Output size is too small",
                           p->name, LL(k->window[d]), LL(k->dilation[d]),
                           LL(k->in[d] + 2 * k->pad[d]));
    }
    set_output(p);
    return TD_OK;
}

static td_status no_kernel(const pooling *p, const td_tensor *self)
{
    return td_fail(TD_NOT_IMPLEMENTED, "\"%s\" not implemented for '%s'", p->name,
                   td_dtypes[self->dtype].type_name);
}

static td_status check_gradient(const pooling *p, const td_tensor *grad, const td_tensor *self)
{
    char a[TD_SHAPE_TEXT], b[TD_SHAPE_TEXT];
    bool fits = grad->ndim == p->ndim && grad->dtype == self->dtype;
    for (int d = 0; fits && d < p->ndim; d++) fits = grad->sizes[d] == p->sizes[d];
    if (fits) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR, "%s: wanted a gradient of shape %s and dtype %s, got %s of %s",
                   p->name, td_shape_text(p->ndim, p->sizes, b), td_dtypes[self->dtype].name,
                   td_shape_text(grad->ndim, grad->sizes, a), td_dtypes[grad->dtype].name);
}

/* ---- outputs, and running: on the processor, or by the device's kernels ---- */

static td_status elsewhere(const pooling *p, const td_pool_job *job)
{
    return td_work_run(TD_WORK_POOLING, job, (td_device)job->x->device, p->name);
}

/* places of a window that are looked at */
static double window_work(const td_pool *p)
{
    double work = 1;
    for (int d = 0; d < 3; d++) work *= (double)(p->window[d] < p->in[d] ? p->window[d] : p->in[d]);
    return work;
}

/* Few bits are pooled in more, which hold them exactly: sums are rounded once, and there are fewer
 * loops. */
static td_dtype computed_in(const td_tensor *t)
{
    switch ((td_dtype)t->dtype) {
        case TD_F16:
        case TD_BF16: return TD_F32;
        case TD_U8:
        case TD_I8:
        case TD_I16: return TD_I32;
        default: return (td_dtype)t->dtype;
    }
}

/* *out in the dtype that the operator gives; its own tensor stays if that is the same */
static td_status give_as(td_tensor **out, td_dtype dtype)
{
    td_tensor *given;
    if ((*out)->dtype == dtype) return TD_OK;
    TD_TRY(td_cast(&given, *out, dtype));
    td_tensor_free(*out);
    *out = given;
    return TD_OK;
}

/* Channels of a pixel lie side by side: then they are pooled so, without bringing planes together.
 * Places in a plane are counted in 31 bits there. */
static void see_pixels(pooling *p, const td_tensor *self)
{
    int64_t places = p->pool.in[0] * p->pool.in[1] * p->pool.in[2];
    if (td_on_host(self) && !td_is_contiguous(self) && td_is_channels_last(self) &&
        self->ndim == p->dims + 2 && places <= INT32_MAX)
        p->pool.channels = self->sizes[1];
}

static td_status empty_result(td_tensor **out, const pooling *p, td_dtype dtype, td_device device,
                              const int64_t *sizes)
{
    int64_t strides[TD_MAX_DIMS];
    if (!p->pool.channels) return td_tensor_empty(out, dtype, device, p->ndim, sizes);
    TD_TRY(td_format_strides(p->ndim == 4 ? TD_CHANNELS_LAST : TD_CHANNELS_LAST_3D, p->ndim, sizes,
                             strides));
    return td_tensor_empty_strided(out, dtype, device, p->ndim, sizes, strides);
}

/* x of `dtype`, laid out as its pooling wants it */
static td_status laid_out(td_tensor **out, const pooling *p, const td_tensor *x, td_dtype dtype)
{
    td_tensor *copy;
    if (!p->pool.channels) return td_cast_contiguous(out, x, dtype);
    if (td_is_channels_last(x)) return td_cast(out, x, dtype);
    TD_TRY(empty_result(&copy, p, dtype, (td_device)x->device, x->sizes));
    td_status status = td_copy(copy, x);
    if (status == TD_OK) *out = copy;
    else td_tensor_free(copy);
    return status;
}

static td_status run_forward(td_call *call, pooling *p, td_pool_kind kind, double unit,
                             bool indices)
{
    td_tensor *dense;
    td_dtype dtype = td_is_meta(SELF) ? (td_dtype)SELF->dtype : computed_in(SELF);
    if (!td_pool_has(kind, computed_in(SELF), false)) return no_kernel(p, SELF);
    see_pixels(p, SELF);
    TD_TRY(empty_result(OUT, p, dtype, (td_device)SELF->device, p->sizes));
    if (indices) TD_TRY(empty_result(&call->out[1], p, TD_I64, (td_device)SELF->device, p->sizes));
    if (!td_is_meta(SELF) && call->out[0]->numel) {
        TD_TRY(laid_out(&dense, p, SELF, dtype));
        td_tensor *where = indices ? call->out[1] : NULL;
        td_status status = TD_OK;
        if (td_on_host(dense))
            td_pool_forward_run(kind, &p->pool, p->planes, unit, dense, call->out[0], where);
        else
            status = elsewhere(p, &(td_pool_job){.kind = kind,
                                                 .pool = &p->pool,
                                                 .x = dense,
                                                 .out = call->out[0],
                                                 .where = where});
        td_tensor_free(dense);
        TD_TRY(status);
    }
    TD_TRY(give_as(OUT, (td_dtype)SELF->dtype));
    if (p->pool.channels) return TD_OK;
    TD_TRY(td_match_channels_last(OUT, SELF));
    return indices ? td_match_channels_last(&call->out[1], SELF) : TD_OK;
}

/* (grad, self, ...) */
static td_status run_backward(td_call *call, pooling *p, td_pool_kind kind, double unit)
{
    const td_tensor *self = TD_TENSOR(1);
    td_tensor *grad, *dense;
    bool nothing = td_is_meta(self) || self->numel == 0;
    td_dtype dtype = nothing ? (td_dtype)self->dtype : computed_in(self);
    if (!td_pool_has(kind, computed_in(self), true)) return no_kernel(p, self);
    TD_TRY(check_gradient(p, SELF, self));
    see_pixels(p, self);
    TD_TRY(empty_result(OUT, p, dtype, (td_device)self->device, self->sizes));
    if (nothing) return td_match_channels_last(OUT, self);
    TD_TRY(laid_out(&grad, p, SELF, dtype));
    td_status status = laid_out(&dense, p, self, dtype);
    if (status == TD_OK) {
        if (td_on_host(dense))
            td_pool_backward_run(kind, &p->pool, p->planes, unit, dense, grad, call->out[0]);
        else
            status = elsewhere(
                p,
                &(td_pool_job){
                    .kind = kind, .pool = &p->pool, .x = dense, .grad = grad, .out = call->out[0]});
        td_tensor_free(dense);
    }
    td_tensor_free(grad);
    if (status == TD_OK) status = give_as(OUT, (td_dtype)self->dtype);
    if (p->pool.channels) return status;
    return status == TD_OK ? td_match_channels_last(OUT, self) : status;
}

/* ---- max pooling: kernel_size, stride, padding, dilation, ceil_mode from argument `at` on ---- */

static const int64_t ones[] = {1, 1, 1};

static td_status read_max(pooling *p, const td_call *call, const char *name, int dims,
                          const td_tensor *self, int at)
{
    start(p, name, dims, self);
    td_pool *k = &p->pool;
    TD_TRY(read_list(call, p, at, "kernel_size", NULL, 1, k->window));
    TD_TRY(read_list(call, p, at + 1, "stride", k->window, 1, k->stride));
    TD_TRY(read_list(call, p, at + 2, "padding", NULL, 0, k->pad));
    TD_TRY(read_list(call, p, at + 3, "dilation", ones, 1, k->dilation));
    TD_TRY(check_input(p, self));
    return output_sizes(p, TD_BOOLEAN(at + 4));
}

/* How many places a window has; `most` are counted. */
static td_status count_places(const pooling *p, int64_t most, int64_t *n)
{
    const int64_t *window = p->pool.window;
    *n = 1;
    for (int d = 0; d < 3; d++)
        if (td_mul_overflows(*n, window[d], n) || *n > most)
            return td_fail(TD_RUNTIME_ERROR, "%s: a window of %lld x %lld x %lld is too large",
                           p->name, LL(window[0]), LL(window[1]), LL(window[2]));
    return TD_OK;
}

#define LISTED_PLACES 65536 /* of larger windows an offset costs little beside the rest */

/* Offsets of the places of a window; freed by the caller. */
static td_status list_places(pooling *p, int64_t **out)
{
    int64_t n;
    TD_TRY(count_places(p, INT32_MAX, &n));
    if (n > LISTED_PLACES) return TD_OK;
    const td_pool *k = &p->pool;
    int64_t *places = malloc((size_t)n * sizeof *places), *next = places;
    if (!places)
        return td_fail(TD_MEMORY_ERROR, "%s: no memory for a window of %lld places", p->name,
                       LL(n));
    for (int64_t d = 0; d < k->window[0]; d++)
        for (int64_t h = 0; h < k->window[1]; h++)
            for (int64_t w = 0; w < k->window[2]; w++)
                *next++ =
                    td_pool_offset(k, d * k->dilation[0], h * k->dilation[1], w * k->dilation[2]);
    p->pool.places = *out = places;
    return TD_OK;
}

static td_status max_pool(td_call *call, const char *name, int dims, bool indices)
{
    pooling p;
    int64_t *places = NULL;
    TD_TRY(read_max(&p, call, name, dims, SELF, 1));
    TD_TRY(list_places(&p, &places));
    td_status status = run_forward(call, &p, TD_POOL_MAX, window_work(&p.pool), indices);
    free(places);
    return status;
}

static td_status max_pool_backward(td_call *call, const char *name, int dims)
{
    pooling p;
    int64_t *places = NULL;
    const td_tensor *self = TD_TENSOR(1);
    TD_TRY(read_max(&p, call, name, dims, self, 2));
    TD_TRY(list_places(&p, &places));
    td_status status = run_backward(call, &p, TD_POOL_MAX, window_work(&p.pool) + 4);
    free(places);
    return status;
}

#define MAX_POOL(dims)                                              \
    td_status td_op_max_pool##dims##d(td_call *call)                \
    {                                                               \
        return max_pool(call, "max_pool" #dims "d", dims, false);   \
    }                                                               \
    td_status td_op_max_pool##dims##d_with_indices(td_call *call)   \
    {                                                               \
        return max_pool(call, "max_pool" #dims "d", dims, true);    \
    }                                                               \
    td_status td_op_max_pool##dims##d_backward(td_call *call)       \
    {                                                               \
        return max_pool_backward(call, "max_pool" #dims "d", dims); \
    }
MAX_POOL(1)
MAX_POOL(2)
MAX_POOL(3)

/* ---- average pooling: kernel_size, stride, padding, ceil_mode, count_include_pad,
 * divisor_override ---- */

static td_status read_average(pooling *p, const td_call *call, const char *name, int dims,
                              const td_tensor *self, int at)
{
    start(p, name, dims, self);
    td_pool *k = &p->pool;
    TD_TRY(read_list(call, p, at, "kernel_size", NULL, 1, k->window));
    TD_TRY(read_list(call, p, at + 1, "stride", k->window, 1, k->stride));
    TD_TRY(read_list(call, p, at + 2, "padding", NULL, 0, k->pad));
    k->include_pad = TD_BOOLEAN(at + 4);
    if (call->nargs > at + 5 && TD_HAS(at + 5)) {
        k->divisor = TD_INT(at + 5);
        if (k->divisor == 0) return td_fail(TD_RUNTIME_ERROR, "%s: divisor must be not zero", name);
    }
    TD_TRY(check_input(p, self));
    int64_t places; /* sums are divided by them */
    TD_TRY(count_places(p, INT64_MAX, &places));
    return output_sizes(p, TD_BOOLEAN(at + 3));
}

static td_status avg_pool(td_call *call, const char *name, int dims)
{
    pooling p;
    TD_TRY(read_average(&p, call, name, dims, SELF, 1));
    return run_forward(call, &p, TD_POOL_AVERAGE, window_work(&p.pool) + 3, false);
}

static td_status avg_pool_backward(td_call *call, const char *name, int dims)
{
    pooling p;
    TD_TRY(read_average(&p, call, name, dims, TD_TENSOR(1), 2));
    return run_backward(call, &p, TD_POOL_AVERAGE, window_work(&p.pool) + 3);
}

#define AVG_POOL(dims)                                              \
    td_status td_op_avg_pool##dims##d(td_call *call)                \
    {                                                               \
        return avg_pool(call, "avg_pool" #dims "d", dims);          \
    }                                                               \
    td_status td_op_avg_pool##dims##d_backward(td_call *call)       \
    {                                                               \
        return avg_pool_backward(call, "avg_pool" #dims "d", dims); \
    }
AVG_POOL(1)
AVG_POOL(2)
AVG_POOL(3)

/* ---- adaptive pooling: output_size ---- */

static td_status read_adaptive(pooling *p, const td_call *call, const char *name, int dims,
                               const td_tensor *self)
{
    start(p, name, dims, self);
    TD_TRY(check_input(p, self));
    TD_TRY(read_list(call, p, 1, "output_size", NULL, 0, p->pool.out));
    set_output(p);
    return TD_OK;
}

static double part_work(const td_pool *p)
{
    double work = 1;
    for (int d = 0; d < 3; d++) work *= (double)p->in[d] / (double)(p->out[d] ? p->out[d] : 1) + 1;
    return work;
}

static td_status adaptive_avg(td_call *call, const char *name, int dims)
{
    pooling p;
    TD_TRY(read_adaptive(&p, call, name, dims, SELF));
    return run_forward(call, &p, TD_POOL_ADAPTIVE_AVERAGE, part_work(&p.pool), false);
}

static td_status adaptive_max(td_call *call, const char *name, int dims)
{
    pooling p;
    TD_TRY(read_adaptive(&p, call, name, dims, SELF));
    return run_forward(call, &p, TD_POOL_ADAPTIVE_MAX, part_work(&p.pool) * 3, true);
}

/* (grad, self): the output's size is the gradient's */
static td_status adaptive_avg_backward(td_call *call, const char *name, int dims)
{
    pooling p;
    const td_tensor *self = TD_TENSOR(1);
    start(&p, name, dims, self);
    TD_TRY(check_input(&p, self));
    for (int d = 0; d < dims && SELF->ndim == self->ndim; d++)
        p.pool.out[3 - dims + d] = SELF->sizes[SELF->ndim - dims + d];
    set_output(&p);
    return run_backward(call, &p, TD_POOL_ADAPTIVE_AVERAGE, part_work(&p.pool));
}

#define ADAPTIVE(dims)                                                           \
    td_status td_op_adaptive_avg_pool##dims##d(td_call *call)                    \
    {                                                                            \
        return adaptive_avg(call, "adaptive_avg_pool" #dims "d", dims);          \
    }                                                                            \
    td_status td_op_adaptive_max_pool##dims##d(td_call *call)                    \
    {                                                                            \
        return adaptive_max(call, "adaptive_max_pool" #dims "d", dims);          \
    }                                                                            \
    td_status td_op_adaptive_avg_pool##dims##d_backward(td_call *call)           \
    {                                                                            \
        return adaptive_avg_backward(call, "adaptive_avg_pool" #dims "d", dims); \
    }
ADAPTIVE(1)
ADAPTIVE(2)
ADAPTIVE(3)
