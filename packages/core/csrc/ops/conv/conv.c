/* conv.c - convolution and its gradients as operators: arguments, shapes, dtypes.
 *
 * A transposed convolution is the gradient of a convolution with respect to its input. So there is
 * one geometry, from a side x (what a convolution reads) to a side y (what it writes), and a
 * transposed one runs it the other way. */
#include "cpu/conv/conv_run.h"
#include <string.h>
#include "ops/layout.h"
#include "ops/reduction/reduce.h"
#include "runtime/alloc.h"
#include "runtime/device.h"
#include "runtime/pool.h"

typedef struct geometry {
    int nd; /* spatial dimensions: 1, 2 or 3 */
    bool transposed;
    int64_t images, groups, x_channels, y_channels;
    int64_t x[3], y[3], kernel[3], stride[3], padding[3], dilation[3], output_padding[3];
} geometry;

typedef struct arguments { /* positions in the call */
    int stride, padding, dilation, transposed, output_padding, groups;
} arguments;

static const char *shape(const td_tensor *t, char buffer[TD_SHAPE_TEXT])
{
    return td_shape_text(t->ndim, t->sizes, buffer);
}

/* ---- numbers ---- */
static td_status read_list(const td_call *call, int arg, const char *name, int nd, int64_t low,
                           int64_t absent, int64_t to[3])
{
    const td_arg *a = &call->args[arg];
    if (a->n != 1 && a->n != nd)
        return td_fail(TD_RUNTIME_ERROR,
                       "convolution: expected %s to have 1 or %d numbers, but it has %lld", name,
                       nd, (long long)a->n);
    for (int d = 0; d < 3; d++) to[d] = absent;
    for (int d = 0; d < nd; d++) {
        int64_t v = a->ints[a->n == 1 ? 0 : d];
        if (v < low)
            return td_fail(TD_RUNTIME_ERROR,
                           "convolution: %s must be %s, but it is %lld in spatial dimension %d",
                           name, low ? "positive" : "not negative", (long long)v, d);
        to[3 - nd + d] = v;
    }
    return TD_OK;
}

static td_status read_lists(const td_call *call, const arguments *at, geometry *g)
{
    TD_TRY(read_list(call, at->stride, "stride", g->nd, 1, 1, g->stride));
    TD_TRY(read_list(call, at->padding, "padding", g->nd, 0, 0, g->padding));
    TD_TRY(read_list(call, at->dilation, "dilation", g->nd, 1, 1, g->dilation));
    TD_TRY(read_list(call, at->output_padding, "output_padding", g->nd, 0, 0, g->output_padding));
    g->transposed = call->args[at->transposed].i != 0;
    g->groups = call->args[at->groups].i;
    if (g->groups < 1)
        return td_fail(TD_RUNTIME_ERROR, "convolution: groups must be positive, but it is %lld",
                       (long long)g->groups);
    return TD_OK;
}

/* ---- shapes ---- */
static td_status check_ranks(const td_tensor *input, const td_tensor *weight, geometry *g)
{
    char in[TD_SHAPE_TEXT], w[TD_SHAPE_TEXT];
    if (weight->ndim < 3 || weight->ndim > 5)
        return td_fail(TD_RUNTIME_ERROR,
                       "convolution: weight must have 3 to 5 dimensions, but it has shape %s",
                       shape(weight, w));
    if (input->ndim != weight->ndim)
        return td_fail(TD_RUNTIME_ERROR,
                       "convolution: expected a %dD input for a weight of shape %s, but got a %dD "
                       "input of shape %s",
                       weight->ndim, shape(weight, w), input->ndim, shape(input, in));
    g->nd = weight->ndim - 2;
    return TD_OK;
}

static td_status check_channels(const td_tensor *input, const td_tensor *weight,
                                const td_tensor *bias, const geometry *g)
{
    char in[TD_SHAPE_TEXT], w[TD_SHAPE_TEXT];
    int64_t wanted = g->transposed ? weight->sizes[0] : weight->sizes[1] * g->groups;
    int64_t outputs = g->transposed ? g->x_channels : g->y_channels;
    if (weight->sizes[0] % g->groups)
        return td_fail(TD_RUNTIME_ERROR,
                       "convolution: expected weight to be divisible by groups in dimension 0, but "
                       "groups=%lld and the weight's shape is %s",
                       (long long)g->groups, shape(weight, w));
    if (input->sizes[1] != wanted) {
        int last = input->ndim > 2 && input->sizes[input->ndim - 1] == wanted;
        return td_fail(TD_RUNTIME_ERROR,
                       "convolution: given groups=%lld and weight of size %s, expected input %s to "
                       "have %lld channels, but got %lld channels instead%s",
                       (long long)g->groups, shape(weight, w), shape(input, in), (long long)wanted,
                       (long long)input->sizes[1],
                       last ? ". Its last dimension has so many: if the channels stand there, "
                              "movedim(-1, 1) brings them to the front"
                            : "");
    }
    if (bias && (bias->ndim != 1 || bias->sizes[0] != outputs))
        return td_fail(TD_RUNTIME_ERROR,
                       "convolution: given weight of size %s, expected bias to have %lld elements, "
                       "but it has shape %s",
                       shape(weight, w), (long long)outputs, shape(bias, in));
    return TD_OK;
}

static td_status check_dtypes(const td_tensor *input, const td_tensor *other, const char *what)
{
    if (!other || other->dtype == input->dtype) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "convolution: input of dtype %s and %s of dtype %s should be the same",
                   td_dtypes[input->dtype].name, what, td_dtypes[other->dtype].name);
}

/* a + b * c, or an overflow that the caller reports */
static bool add_product(int64_t *a, int64_t b, int64_t c)
{
    int64_t product;
    return !td_mul_overflows(b, c, &product) && !td_add_overflows(*a, product, a);
}

/* The size that a kernel leaves of x, in one dimension; 0 if it does not fit. */
static bool reduced_size(const geometry *g, int d, int64_t *y)
{
    int64_t room = g->x[d] - 1;
    if (!add_product(&room, 2, g->padding[d]) ||
        !add_product(&room, -(g->kernel[d] - 1), g->dilation[d]))
        return false;
    *y = room < 0 ? 0 : room / g->stride[d] + 1;
    return true;
}

static bool enlarged_size(const geometry *g, int d, int64_t *x)
{
    int64_t size = g->output_padding[d] + 1;
    return (*x = 0, add_product(&size, g->y[d] - 1, g->stride[d])) &&
           add_product(&size, -2, g->padding[d]) &&
           add_product(&size, g->kernel[d] - 1, g->dilation[d]) && (*x = size, true);
}

static td_status find_output(const td_tensor *input, const td_tensor *weight, geometry *g)
{
    char in[TD_SHAPE_TEXT], w[TD_SHAPE_TEXT];
    for (int d = 3 - g->nd; d < 3; d++) {
        bool fits = g->transposed ? enlarged_size(g, d, &g->x[d]) : reduced_size(g, d, &g->y[d]);
        int64_t size = g->transposed ? g->x[d] : g->y[d];
        if (!fits)
            return td_fail(
                TD_RUNTIME_ERROR,
                "convolution: sizes, padding and dilation are too large in spatial dimension %d",
                d - 3 + g->nd);
        if (size >= !g->transposed && g->kernel[d] > 0) continue;
        return td_fail(TD_RUNTIME_ERROR,
                       "convolution: %s in spatial dimension %d: input %s, weight %s, padding "
                       "%lld, dilation %lld",
                       g->kernel[d] == 0 ? "kernel size should be greater than zero"
                       : g->transposed
                           ? "the calculated output size is too small"
                           : "kernel size can't be greater than the padded input's size",
                       d - 3 + g->nd, shape(input, in), shape(weight, w), (long long)g->padding[d],
                       (long long)g->dilation[d]);
    }
    return TD_OK;
}

/* A stride of one window, and a dilation of one tap, step over nothing: 1 is as good as any, and
 * multiplies without overflow. */
static td_status tame(geometry *g)
{
    for (int d = 3 - g->nd; d < 3; d++) {
        if (g->y[d] <= 1) g->stride[d] = 1;
        if (g->kernel[d] <= 1) g->dilation[d] = 1;
        if (g->stride[d] > INT32_MAX || g->dilation[d] > INT32_MAX || g->padding[d] > INT32_MAX)
            return td_fail(TD_RUNTIME_ERROR,
                           "convolution: stride, padding and dilation must fit 31 bits, but in "
                           "spatial dimension %d they are %lld, %lld and %lld",
                           d - 3 + g->nd, (long long)g->stride[d], (long long)g->padding[d],
                           (long long)g->dilation[d]);
    }
    return TD_OK;
}

static td_status check_output_padding(const geometry *g)
{
    for (int d = 3 - g->nd; d < 3; d++)
        if (g->output_padding[d] && (!g->transposed || (g->output_padding[d] >= g->stride[d] &&
                                                        g->output_padding[d] >= g->dilation[d])))
            return td_fail(TD_RUNTIME_ERROR,
                           "convolution: output padding must be smaller than either stride or "
                           "dilation, and is for transposed convolutions only; got output_padding "
                           "%lld, stride %lld, dilation %lld",
                           (long long)g->output_padding[d], (long long)g->stride[d],
                           (long long)g->dilation[d]);
    return TD_OK;
}

static td_status read_geometry(const td_call *call, const arguments *at, const td_tensor *input,
                               const td_tensor *weight, const td_tensor *bias, geometry *g)
{
    TD_TRY(check_ranks(input, weight, g));
    TD_TRY(read_lists(call, at, g));
    g->images = input->sizes[0];
    if (td_mul_overflows(weight->sizes[1], g->groups, &g->x_channels))
        return td_fail(
            TD_RUNTIME_ERROR,
            "convolution: %lld channels in each of groups=%lld are more than 64 bits count",
            (long long)weight->sizes[1], (long long)g->groups);
    g->y_channels = weight->sizes[0];
    TD_TRY(check_dtypes(input, weight, "weight"));
    TD_TRY(check_dtypes(input, bias, "bias"));
    TD_TRY(check_channels(input, weight, bias, g));
    TD_TRY(check_output_padding(g));
    for (int d = 0; d < 3; d++) g->x[d] = g->y[d] = g->kernel[d] = 1;
    for (int d = 0; d < g->nd; d++) {
        g->kernel[3 - g->nd + d] = weight->sizes[2 + d];
        (g->transposed ? g->y : g->x)[3 - g->nd + d] = input->sizes[2 + d];
    }
    TD_TRY(find_output(input, weight, g));
    return tame(g);
}

static void output_shape(const geometry *g, int64_t sizes[5])
{
    sizes[0] = g->images;
    sizes[1] = g->transposed ? g->x_channels : g->y_channels;
    memcpy(sizes + 2, (g->transposed ? g->x : g->y) + 3 - g->nd, (size_t)g->nd * sizeof(int64_t));
}

/* ---- dtypes and layouts ---- */
static td_dtype compute_dtype(td_dtype d)
{
    return td_is_floating(d) && d != TD_F64 ? TD_F32 : d == TD_C32 ? TD_C64 : d;
}

static td_status check_supported(td_dtype d)
{
    if (d != TD_BOOL && d <= TD_C128 && d != TD_U16 && d != TD_U32 && d != TD_U64) return TD_OK;
    return td_fail(TD_NOT_IMPLEMENTED, "convolution is not implemented for '%s'",
                   td_dtypes[d].type_name);
}

/* row-major, in the dtype that is computed in; NULL stays NULL */
static td_status prepare(td_tensor **out, const td_tensor *t)
{
    return td_cast_optional(out, t, t ? compute_dtype((td_dtype)t->dtype) : TD_F32);
}

/* a factor: the same, or row-major as it is, to be multiplied in pairs */
static td_status prepare_factor(td_tensor **out, const td_tensor *t, bool pairs)
{
    return pairs && t ? td_cast_optional(out, t, (td_dtype)t->dtype) : prepare(out, t);
}

static bool wants_channels_last(const td_tensor *t)
{
    return td_is_channels_last(t) && !td_is_contiguous(t);
}

/* a result in the dtype and memory format of `like`; takes `computed` */
static td_status finish(td_tensor **out, td_tensor *computed, const td_tensor *like)
{
    bool last = wants_channels_last(like);
    if (computed->dtype == like->dtype && !last) {
        *out = computed;
        return TD_OK;
    }
    td_tensor *made = NULL;
    td_memory_format format = !last                 ? TD_CONTIGUOUS_FORMAT
                              : computed->ndim == 4 ? TD_CHANNELS_LAST
                                                    : TD_CHANNELS_LAST_3D;
    td_status status =
        td_empty_format(&made, computed, (td_dtype)like->dtype, (td_device)like->device, format);
    if (status == TD_OK && !td_is_meta(like)) status = td_copy(made, computed);
    td_tensor_free(computed);
    if (status == TD_OK) *out = made;
    else td_tensor_free(made);
    return status;
}

/* factors of this dtype, row-major */
static td_conv conv_of(const geometry *g, td_dtype dtype)
{
    bool bf16 = dtype == TD_BF16;
    td_conv c = {.dtype = bf16 ? TD_F32 : dtype,
                 .factors = bf16 ? TD_FACTORS_BF16 : TD_FACTORS_SAME,
                 .images = g->images,
                 .groups = g->groups,
                 .channels = g->x_channels / g->groups,
                 .outputs = g->y_channels / g->groups};
    memcpy(c.in, g->x, sizeof c.in);
    memcpy(c.out, g->y, sizeof c.out);
    memcpy(c.stride, g->stride, sizeof c.stride);
    memcpy(c.kernel, g->kernel, sizeof c.kernel);
    memcpy(c.dilation, g->dilation, sizeof c.dilation);
    memcpy(c.padding, g->padding, sizeof c.padding);
    return c;
}

/* Are these factors multiplied in pairs: from x to y, or backwards; for the gradient of the
 * weights? */
static bool wants_pairs(const geometry *g, td_dtype dtype, bool backwards, bool for_weight)
{
    if (dtype != TD_BF16) return false;
    td_conv c = conv_of(g, TD_F32);
    return for_weight  ? td_conv_pairs_weight(&c)
           : backwards ? td_conv_pairs_data(&c)
                       : td_conv_pairs_forward(&c);
}

static double cost_of(const geometry *g)
{
    double pixels = (double)g->images * (double)td_volume(g->y),
           weights = (double)g->x_channels * (double)g->y_channels;
    return pixels * weights / (double)g->groups * (double)td_volume(g->kernel) / 30;
}

static td_status elsewhere(const td_conv_job *job, const td_tensor *to)
{
    return td_work_run(TD_WORK_CONV, job, (td_device)to->device, "convolution");
}

/* from x to y, or from y to x; dense tensors of one dtype */
static td_status run(const geometry *g, bool backwards, const td_tensor *from,
                     const td_tensor *weight, const td_tensor *bias, td_tensor *to)
{
    td_tap *taps;
    td_conv c = conv_of(g, (td_dtype)from->dtype);
    TD_TRY(td_conv_make_taps(&c, &taps));
    c.w = td_data(weight);
    const char *added = bias ? td_data(bias) : NULL;
    void *token = td_heavy_begin(cost_of(g));
    td_status status;
    if (to->numel == 0) {
        status = TD_OK;
    } else if (!td_on_host(to)) {
        c.x = td_data(from);
        status = elsewhere(&(td_conv_job){.what = backwards ? TD_CONV_DATA : TD_CONV_FORWARD,
                                          .conv = &c,
                                          .y = td_data(from),
                                          .bias = added,
                                          .to = td_data(to),
                                          .n = to->numel},
                           to);
    } else if (backwards) {
        status = td_conv_data(&c, td_data(from), td_data(to), added);
    } else {
        c.x = td_data(from);
        c.y = td_data(to);
        c.bias = added;
        status = td_conv_forward(&c);
    }
    td_heavy_end(token);
    td_free(taps, td_taps_bytes(c.taps));
    return status;
}

/* ---- convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding,
 * groups) ---- */
static td_status forward(const geometry *g, const td_tensor *input, const td_tensor *weight,
                         const td_tensor *bias, td_tensor **out)
{
    int64_t sizes[5];
    td_tensor *x = NULL, *w = NULL, *b = NULL, *y = NULL;
    output_shape(g, sizes);
    bool pairs = td_on_host(input) && wants_pairs(g, (td_dtype)input->dtype, g->transposed, false);
    td_status status = prepare_factor(&x, input, pairs);
    if (status == TD_OK) status = prepare_factor(&w, weight, pairs);
    if (status == TD_OK) status = prepare(&b, bias);
    if (status == TD_OK)
        status = td_tensor_empty(&y, compute_dtype((td_dtype)input->dtype),
                                 (td_device)input->device, g->nd + 2, sizes);
    if (status == TD_OK) status = run(g, g->transposed, x, w, b, y);
    if (status == TD_OK) {
        status = finish(out, y, input);
        y = NULL;
    }
    td_tensor *made[] = {x, w, b, y};
    for (int i = 0; i < 4; i++) td_tensor_free(made[i]);
    return status;
}

td_status td_op_convolution(td_call *call)
{
    static const arguments at = {3, 4, 5, 6, 7, 8};
    geometry g = {0};
    int64_t sizes[5];
    const td_tensor *input = TD_TENSOR(0), *weight = TD_TENSOR(1), *bias = TD_OPT_TENSOR(2);
    TD_TRY(read_geometry(call, &at, input, weight, bias, &g));
    TD_TRY(check_supported((td_dtype)input->dtype));
    if (!td_is_meta(input)) return forward(&g, input, weight, bias, &call->out[0]);
    td_tensor *out;
    output_shape(&g, sizes);
    TD_TRY(td_tensor_empty(&out, (td_dtype)input->dtype, TD_META, g.nd + 2, sizes));
    return finish(&call->out[0], out, input);
}

/* ---- convolution_backward(grad_output, input, weight, ..., output_mask) ---- */
static td_status check_gradient(const geometry *g, const td_tensor *grad, const td_tensor *input)
{
    int64_t sizes[5];
    char got[TD_SHAPE_TEXT], wanted[TD_SHAPE_TEXT];
    output_shape(g, sizes);
    bool same = grad->ndim == g->nd + 2;
    for (int d = 0; same && d < grad->ndim; d++) same = grad->sizes[d] == sizes[d];
    if (!same)
        return td_fail(
            TD_RUNTIME_ERROR,
            "convolution_backward: the gradient has shape %s, but the output has shape %s",
            shape(grad, got), td_shape_text(g->nd + 2, sizes, wanted));
    return check_dtypes(input, grad, "gradient");
}

static td_status input_gradient(const geometry *g, const td_tensor *grad, const td_tensor *weight,
                                const td_tensor *input, td_tensor **out)
{
    td_tensor *made;
    TD_TRY(td_tensor_empty(&made, compute_dtype((td_dtype)grad->dtype), (td_device)grad->device,
                           input->ndim, input->sizes));
    td_status status = run(g, !g->transposed, grad, weight, NULL, made);
    if (status == TD_OK) return finish(out, made, input);
    td_tensor_free(made);
    return status;
}

static td_status weight_gradient(const geometry *g, const td_tensor *grad, const td_tensor *x,
                                 const td_tensor *weight, td_tensor **out)
{
    td_tap *taps;
    td_tensor *made;
    td_conv c = conv_of(g, (td_dtype)grad->dtype);
    TD_TRY(td_conv_make_taps(&c, &taps));
    td_status status = td_tensor_empty(&made, compute_dtype((td_dtype)grad->dtype),
                                       (td_device)grad->device, weight->ndim, weight->sizes);
    if (status == TD_OK) {
        c.x = td_data(g->transposed ? grad : x);
        void *token = td_heavy_begin(cost_of(g));
        const char *y = td_data(g->transposed ? x : grad);
        status = td_on_host(made) ? td_conv_weight(&c, y, td_data(made))
                                  : elsewhere(&(td_conv_job){.what = TD_CONV_WEIGHT,
                                                             .conv = &c,
                                                             .y = y,
                                                             .to = td_data(made),
                                                             .n = made->numel},
                                              made);
        td_heavy_end(token);
        if (status == TD_OK) status = finish(out, made, weight);
        else td_tensor_free(made);
    }
    td_free(taps, td_taps_bytes(c.taps));
    return status;
}

static td_status bias_gradient(const td_tensor *grad, td_dtype dtype, td_tensor **out)
{
    td_tensor *made[2] = {NULL, NULL};
    td_reduce_spec spec = {.op = "convolution_backward",
                           .kind = TD_SUM,
                           .context = {.divisor = 1},
                           .dims = td_all_dims(grad) & ~(uint64_t)2,
                           .has_empty = true,
                           .empty = 0,
                           .dtype = {(td_dtype)grad->dtype, (td_dtype)grad->dtype}};
    TD_TRY(td_reduce(made, 1, grad, &spec));
    td_status status = td_cast(out, made[0], dtype);
    td_tensor_free(made[0]);
    return status;
}

static td_status gradients(td_call *call, const geometry *g, const int64_t *wanted)
{
    const td_tensor *input = TD_TENSOR(1), *weight = TD_TENSOR(2);
    td_dtype dtype = (td_dtype)input->dtype;
    td_tensor *grads[2] = {NULL, NULL}, *x = NULL, *w = NULL; /* grads: computed in, in pairs */
    bool near = td_on_host(input), data = near && wants_pairs(g, dtype, !g->transposed, false),
         weights = near && wants_pairs(g, dtype, false, true);
    bool used[2] = {(wanted[0] && !data) || (wanted[1] && !weights),
                    (wanted[0] && data) || (wanted[1] && weights)};
    used[0] |= !used[1];
    td_status status = TD_OK;
    for (int i = 0; i < 2 && status == TD_OK; i++)
        if (used[i]) status = prepare_factor(&grads[i], TD_TENSOR(0), i);
    if (status == TD_OK) status = prepare_factor(&x, wanted[1] ? input : NULL, weights);
    if (status == TD_OK) status = prepare_factor(&w, wanted[0] ? weight : NULL, data);
    if (status == TD_OK && wanted[0])
        status = input_gradient(g, grads[data], w, input, &call->out[0]);
    if (status == TD_OK && wanted[1])
        status = weight_gradient(g, grads[weights], x, weight, &call->out[1]);
    if (status == TD_OK && wanted[2]) status = bias_gradient(grads[!used[0]], dtype, &call->out[2]);
    td_tensor *made[] = {grads[0], grads[1], x, w};
    for (int i = 0; i < 4; i++) td_tensor_free(made[i]);
    return status;
}

static td_status meta_gradients(td_call *call, const geometry *g, const int64_t *wanted)
{
    const td_tensor *input = TD_TENSOR(1), *weight = TD_TENSOR(2);
    int64_t outputs = g->transposed ? g->x_channels : g->y_channels;
    if (wanted[0])
        TD_TRY(td_tensor_empty(&call->out[0], (td_dtype)input->dtype, TD_META, input->ndim,
                               input->sizes));
    if (wanted[1])
        TD_TRY(td_tensor_empty(&call->out[1], (td_dtype)input->dtype, TD_META, weight->ndim,
                               weight->sizes));
    if (wanted[2])
        TD_TRY(td_tensor_empty(&call->out[2], (td_dtype)input->dtype, TD_META, 1, &outputs));
    return TD_OK;
}

td_status td_op_convolution_backward(td_call *call)
{
    static const arguments at = {3, 4, 5, 6, 7, 8};
    geometry g = {0};
    TD_TRY(read_geometry(call, &at, TD_TENSOR(1), TD_TENSOR(2), NULL, &g));
    TD_TRY(check_supported((td_dtype)TD_TENSOR(1)->dtype));
    TD_TRY(check_gradient(&g, TD_TENSOR(0), TD_TENSOR(1)));
    return td_is_meta(TD_TENSOR(0)) ? meta_gradients(call, &g, TD_INTS(9))
                                    : gradients(call, &g, TD_INTS(9));
}
