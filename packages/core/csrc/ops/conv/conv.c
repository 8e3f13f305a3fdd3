/* conv.c - convolution and its gradients as operators: arguments, shapes, dtypes.
 *
 * A transposed convolution is the gradient of a convolution with respect to its input. So there is
 * one geometry, from a side x (what a convolution reads) to a side y (what it writes), and a
 * transposed one runs it the other way. */
#include "cpu/conv/conv_run.h"
#include <string.h>
#include "ops/conv/geometry.h"
#include "ops/layout.h"
#include "ops/reduction/reduce.h"
#include "ops/view/view.h"
#include "runtime/alloc.h"
#include "runtime/device.h"
#include "runtime/pool.h"

/* ---- dtypes and layouts ---- */
static td_dtype compute_dtype(td_dtype d)
{
    return td_is_floating(d) && d != TD_F64 ? TD_F32 : d == TD_C32 ? TD_C64 : d;
}

/* Does the device of `t` multiply its 16 bits as they are? Gradients of weights only if one part of
 * columns holds all pixels of the images. */
static bool stays_short(const td_conv_geometry *g, const td_tensor *t, bool for_weight)
{
    if (td_on_host(t) || (t->dtype != TD_F16 && t->dtype != TD_BF16)) return false;
    if (!td_table_of((td_device)t->device)->short_products) return false;
    double pixels = (double)g->images * (double)td_volume(g->y),
           depth = (double)g->x_channels * (double)td_volume(g->kernel);
    return !for_weight || 2 * pixels * depth <= (double)td_conv_columns_bytes;
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

/* a factor: the same, or row-major as it is */
static td_status prepare_factor(td_tensor **out, const td_tensor *t, bool as_is)
{
    return as_is && t ? td_cast_optional(out, t, (td_dtype)t->dtype) : prepare(out, t);
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

/* factors of this dtype, row-major; on the host those of bfloat16 add up to float32 */
static td_conv conv_of(const td_conv_geometry *g, td_dtype dtype, bool on_host)
{
    bool bf16 = on_host && dtype == TD_BF16;
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
static bool wants_pairs(const td_conv_geometry *g, td_dtype dtype, bool backwards, bool for_weight)
{
    if (dtype != TD_BF16) return false;
    td_conv c = conv_of(g, TD_F32, true);
    return for_weight  ? td_conv_pairs_weight(&c)
           : backwards ? td_conv_pairs_data(&c)
                       : td_conv_pairs_forward(&c);
}

static double cost_of(const td_conv_geometry *g)
{
    double pixels = (double)g->images * (double)td_volume(g->y),
           weights = (double)g->x_channels * (double)g->y_channels;
    return pixels * weights / (double)g->groups * (double)td_volume(g->kernel) / 30;
}

static td_status elsewhere(const td_conv_job *job, const td_tensor *to)
{
    return td_work_run(TD_WORK_CONV, job, (td_device)to->device, "convolution");
}

/* what a sum over nothing leaves: the bias, or zeros */
static td_status fill_bias(const td_tensor *bias, td_tensor *to)
{
    int64_t strides[TD_MAX_DIMS] = {0};
    const td_scalar zero = td_scalar_int(0);
    td_tensor *spread;
    if (!bias) return td_fill(to, &zero);
    strides[1] = bias->strides[0];
    TD_TRY(td_view_strided(&spread, bias, to->ndim, to->sizes, strides, bias->offset));
    td_status status = td_copy(to, spread);
    td_tensor_free(spread);
    return status;
}

static td_status run_on_host(const td_conv_geometry *g, bool backwards, const td_tensor *from,
                             const td_tensor *weight, const td_tensor *bias, td_tensor *to)
{
    td_tap *taps;
    td_conv c = conv_of(g, (td_dtype)from->dtype, true);
    TD_TRY(td_conv_make_taps(&c, &taps));
    c.w = td_data(weight);
    const char *added = bias ? td_data(bias) : NULL;
    void *token = td_heavy_begin(cost_of(g));
    td_status status;
    if (backwards) {
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

/* From x to y, or from y to x; dense tensors of one dtype. Kernels get elements on all sides:
 * padding makes results where a plane has none. */
static td_status run(const td_conv_geometry *g, bool backwards, const td_tensor *from,
                     const td_tensor *weight, const td_tensor *bias, td_tensor *to)
{
    if (to->numel == 0) return TD_OK;
    if (from->numel == 0 || weight->numel == 0) return fill_bias(bias, to);
    if (td_on_host(to)) return run_on_host(g, backwards, from, weight, bias, to);
    td_conv c = conv_of(g, (td_dtype)from->dtype, false);
    c.w = td_data(weight);
    c.x = td_data(from);
    return elsewhere(&(td_conv_job){.what = backwards ? TD_CONV_DATA : TD_CONV_FORWARD,
                                    .conv = &c,
                                    .y = td_data(from),
                                    .bias = bias ? td_data(bias) : NULL,
                                    .to = td_data(to),
                                    .n = to->numel},
                     to);
}

/* ---- convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding,
 * groups) ---- */
static td_status forward(const td_conv_geometry *g, const td_tensor *input, const td_tensor *weight,
                         const td_tensor *bias, td_tensor **out)
{
    int64_t sizes[5], numel;
    td_tensor *x = NULL, *w = NULL, *b = NULL, *y = NULL;
    td_conv_output_shape(g, sizes);
    /* products of the result's sizes fit from here on */
    TD_TRY(td_numel(g->nd + 2, sizes, &numel));
    bool narrow = stays_short(g, input, false);
    bool pairs = td_on_host(input) && wants_pairs(g, (td_dtype)input->dtype, g->transposed, false);
    td_status status = prepare_factor(&x, input, pairs || narrow);
    if (status == TD_OK) status = prepare_factor(&w, weight, pairs || narrow);
    if (status == TD_OK) status = prepare_factor(&b, bias, narrow);
    if (status == TD_OK)
        status = td_tensor_empty(
            &y, narrow ? (td_dtype)input->dtype : compute_dtype((td_dtype)input->dtype),
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
    static const td_conv_arguments at = {3, 4, 5, 6, 7, 8};
    td_conv_geometry g = {0};
    int64_t sizes[5];
    const td_tensor *input = TD_TENSOR(0), *weight = TD_TENSOR(1), *bias = TD_OPT_TENSOR(2);
    TD_TRY(td_conv_read_geometry(call, &at, input, weight, bias, &g));
    TD_TRY(check_supported((td_dtype)input->dtype));
    if (!td_is_meta(input)) return forward(&g, input, weight, bias, &call->out[0]);
    td_tensor *out;
    td_conv_output_shape(&g, sizes);
    TD_TRY(td_tensor_empty(&out, (td_dtype)input->dtype, TD_META, g.nd + 2, sizes));
    return finish(&call->out[0], out, input);
}

/* ---- convolution_backward(grad_output, input, weight, ..., output_mask) ---- */
static td_status check_gradient(const td_conv_geometry *g, const td_tensor *grad,
                                const td_tensor *input)
{
    int64_t sizes[5];
    char got[TD_SHAPE_TEXT], wanted[TD_SHAPE_TEXT];
    td_conv_output_shape(g, sizes);
    bool same = grad->ndim == g->nd + 2;
    for (int d = 0; same && d < grad->ndim; d++) same = grad->sizes[d] == sizes[d];
    if (!same)
        return td_fail(
            TD_RUNTIME_ERROR,
            "convolution_backward: the gradient has shape %s, but the output has shape %s",
            td_conv_shape_text(grad, got), td_shape_text(g->nd + 2, sizes, wanted));
    return td_conv_check_dtypes(input, grad, "gradient");
}

/* what sums of products of such factors are made in */
static td_dtype sums_of(const td_tensor *factor)
{
    return td_on_host(factor) ? compute_dtype((td_dtype)factor->dtype) : (td_dtype)factor->dtype;
}

static td_status input_gradient(const td_conv_geometry *g, const td_tensor *grad,
                                const td_tensor *weight, const td_tensor *input, td_tensor **out)
{
    td_tensor *made;
    TD_TRY(
        td_tensor_empty(&made, sums_of(grad), (td_device)grad->device, input->ndim, input->sizes));
    td_status status = run(g, !g->transposed, grad, weight, NULL, made);
    if (status == TD_OK) return finish(out, made, input);
    td_tensor_free(made);
    return status;
}

static td_status run_weight(const td_conv_geometry *g, const td_tensor *grad, const td_tensor *x,
                            td_tensor *to)
{
    td_tap *taps;
    const td_scalar zero = td_scalar_int(0);
    if (to->numel == 0) return TD_OK;
    if (grad->numel == 0 || x->numel == 0) return td_fill(to, &zero);
    td_conv c = conv_of(g, (td_dtype)grad->dtype, td_on_host(to));
    c.x = td_data(g->transposed ? grad : x);
    const char *y = td_data(g->transposed ? x : grad);
    if (!td_on_host(to))
        return elsewhere(
            &(td_conv_job){
                .what = TD_CONV_WEIGHT, .conv = &c, .y = y, .to = td_data(to), .n = to->numel},
            to);
    TD_TRY(td_conv_make_taps(&c, &taps));
    void *token = td_heavy_begin(cost_of(g));
    td_status status = td_conv_weight(&c, y, td_data(to));
    td_heavy_end(token);
    td_free(taps, td_taps_bytes(c.taps));
    return status;
}

static td_status weight_gradient(const td_conv_geometry *g, const td_tensor *grad,
                                 const td_tensor *x, const td_tensor *weight, td_tensor **out)
{
    td_tensor *made;
    TD_TRY(td_tensor_empty(&made, sums_of(grad), (td_device)grad->device, weight->ndim,
                           weight->sizes));
    td_status status = run_weight(g, grad, x, made);
    if (status == TD_OK) return finish(out, made, weight);
    td_tensor_free(made);
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

static td_status gradients(td_call *call, const td_conv_geometry *g, const int64_t *wanted)
{
    const td_tensor *input = TD_TENSOR(1), *weight = TD_TENSOR(2);
    td_dtype dtype = (td_dtype)input->dtype;
    td_tensor *grads[2] = {NULL, NULL}, *x = NULL, *w = NULL; /* grads: computed in, as it is */
    bool near = td_on_host(input);
    bool data = near ? wants_pairs(g, dtype, !g->transposed, false) : stays_short(g, input, false);
    bool weights = near ? wants_pairs(g, dtype, false, true) : stays_short(g, input, true);
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

static td_status meta_gradients(td_call *call, const td_conv_geometry *g, const int64_t *wanted)
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
    static const td_conv_arguments at = {3, 4, 5, 6, 7, 8};
    td_conv_geometry g = {0};
    TD_TRY(td_conv_read_geometry(call, &at, TD_TENSOR(1), TD_TENSOR(2), NULL, &g));
    TD_TRY(check_supported((td_dtype)TD_TENSOR(1)->dtype));
    TD_TRY(check_gradient(&g, TD_TENSOR(0), TD_TENSOR(1)));
    return td_is_meta(TD_TENSOR(0)) ? meta_gradients(call, &g, TD_INTS(9))
                                    : gradients(call, &g, TD_INTS(9));
}
