/* batch_norm.c - batch normalisation: statistics per channel over the batch and all positions. */
#include <math.h>
#include "ops/norm/norm.h"
#include "ops/norm/passes.h"
#include "ops/reduction/reduce.h"

/* ---- shapes and layouts ---- */

/* Results keep channels last; every other input is worked on, and answered, row-major. */
static bool keeps_channels_last(const td_tensor *x)
{
    return td_is_channels_last(x) && !td_is_contiguous(x);
}

static td_status shape_of(const char *op, const td_tensor *x, td_channels *shape)
{
    char text[TD_SHAPE_TEXT];
    if (x->ndim < 2)
        return td_fail(
            TD_RUNTIME_ERROR,
            "%s: expected an input of at least 2 dimensions (batch, channels, ...), got shape %s",
            op, td_shape_text(x->ndim, x->sizes, text));
    *shape = (td_channels){x->sizes[0], x->sizes[1], 1, x->sizes[1], false};
    for (int d = 2; d < x->ndim; d++) shape->inner *= x->sizes[d];
    shape->columns = shape->inner == 1 || keeps_channels_last(x);
    if (shape->columns) {
        shape->outer *= shape->inner;
        shape->inner = 1;
    }
    return TD_OK;
}

/* x in `dtype`, dense in the order of the result for `like`, which is x itself or has its shape. */
static td_status dense_like(td_tensor **out, const td_tensor *x, const td_tensor *like,
                            td_dtype dtype)
{
    if (!keeps_channels_last(like)) return td_cast_optional(out, x, dtype);
    if (x->dtype == dtype && td_is_channels_last(x)) return td_tensor_alias(out, x);
    td_tensor *copy;
    TD_TRY(td_tensor_empty_like(&copy, like, dtype));
    td_status status = td_copy(copy, x);
    if (status == TD_OK) *out = copy;
    else td_tensor_free(copy);
    return status;
}

static td_status result_like(td_tensor **out, const td_tensor *like, td_dtype dtype)
{
    if (keeps_channels_last(like)) return td_tensor_empty_like(out, like, dtype);
    return td_tensor_empty(out, dtype, (td_device)like->device, like->ndim, like->sizes);
}

static td_status check_channels(const char *op, const char *what, const td_tensor *t,
                                const td_tensor *x, int64_t channels)
{
    char shape[TD_SHAPE_TEXT];
    if (!t || t->numel == channels) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "%s: the input of shape %s has %lld channels (dimension 1), but %s should "
                   "contain one element for each and contains %lld",
                   op, td_shape_text(x->ndim, x->sizes, shape), (long long)channels, what,
                   (long long)t->numel);
}

/* ---- statistics ---- */

/* With so many channels each is a task of its own, and channels of up to so many elements may be
 * read twice. */
#define MANY_CHANNELS 16
#define CACHED_ELEMENTS 16384

static td_status cached_statistics(td_tensor *out[2], const td_tensor *x, const td_channels *shape)
{
    for (int k = 0; k < 2; k++)
        TD_TRY(td_tensor_empty(&out[k], (td_dtype)x->dtype, (td_device)x->device, 1,
                               &shape->channels));
    return td_pass_moments(out, x, shape);
}

/* out[0] standard deviation (biased), out[1] mean */
static td_status batch_statistics(td_tensor *out[2], const td_tensor *x, const td_channels *shape)
{
    td_tensor *view;
    if (!shape->columns && shape->channels >= MANY_CHANNELS && x->numel &&
        shape->outer * shape->inner <= CACHED_ELEMENTS)
        return cached_statistics(out, x, shape);
    int64_t sizes[3] = {shape->outer, shape->channels, shape->inner};
    int64_t strides[3] = {shape->channels * shape->inner, shape->inner, 1};
    TD_TRY(td_tensor_view(&view, x, 3, sizes, strides, x->offset));
    td_reduce_spec spec = {
        "batch_norm", TD_MOMENTS, {.root = 1}, 5,
        false,        true,       NAN,         {(td_dtype)x->dtype, (td_dtype)x->dtype}};
    td_status status = td_reduce(out, 3, view, &spec);
    td_tensor_free(view);
    return status;
}

/* running = (1 - momentum) * running + momentum * factor * value, or its square */
static td_status update_running(td_tensor *running, const td_tensor *value, bool squared,
                                double momentum, double factor)
{
    td_tensor *wide;
    if (!running) return TD_OK;
    TD_TRY(td_cast_optional(&wide, running, TD_F64));
    td_tensor *fresh;
    td_status status =
        td_tensor_empty(&fresh, TD_F64, (td_device)running->device, running->ndim, running->sizes);
    if (status == TD_OK) {
        struct td_norm_numbers j = {
            .n = value->numel, .momentum = momentum, .factor = factor, .which = squared};
        td_numbers_name(&j, TD_OF_MEAN, wide);
        td_numbers_name(&j, TD_OF_RSTD, value);
        td_numbers_name(&j, TD_OF_OUT, fresh);
        status = td_pass_numbers(TD_NUMBER_RUNNING, &j, (td_device)running->device);
        if (status == TD_OK) status = td_copy(running, fresh);
        td_tensor_free(fresh);
    }
    td_tensor_free(wide);
    return status;
}

/* invstd = 1 / sqrt(variance + eps), in place of the variance or its root */
static td_status invert(td_tensor *variance, bool is_root, double eps)
{
    struct td_norm_numbers j = {.n = variance->numel, .eps = eps, .which = is_root};
    td_numbers_name(&j, TD_OF_RSTD, variance);
    td_numbers_name(&j, TD_OF_OUT, variance);
    return td_pass_numbers(TD_NUMBER_INVERSE, &j, (td_device)variance->device);
}

static td_status running_statistics(td_tensor *out[2], const td_tensor *mean,
                                    const td_tensor *variance, td_dtype dtype)
{
    const td_tensor *from[2] = {variance, mean};
    for (int k = 0; k < 2; k++) {
        TD_TRY(td_tensor_empty(&out[k], dtype, (td_device)from[k]->device, 1, &from[k]->numel));
        td_tensor *flat;
        TD_TRY(td_view_reshape(&flat, from[k], 1, &from[k]->numel));
        td_status status = td_copy(out[k], flat);
        td_tensor_free(flat);
        TD_TRY(status);
    }
    return TD_OK;
}

/* ---- forward ---- */

/* numbers[0] = weight * invstd, numbers[1] = bias, numbers[2] = mean */
static td_status scale_numbers(td_tensor **out, const td_tensor *mean, const td_tensor *invstd,
                               const td_tensor *weight, const td_tensor *bias)
{
    td_tensor *w = NULL, *b = NULL, *numbers;
    TD_TRY(td_tensor_empty(&numbers, (td_dtype)mean->dtype, (td_device)mean->device, 2,
                           (int64_t[]){3, mean->numel}));
    td_status status = td_cast_optional(&w, weight, (td_dtype)mean->dtype);
    if (status == TD_OK) status = td_cast_optional(&b, bias, (td_dtype)mean->dtype);
    struct td_norm_numbers j = {.n = mean->numel, .channels = mean->numel, .each = 1};
    td_numbers_name(&j, TD_OF_MEAN, mean);
    td_numbers_name(&j, TD_OF_RSTD, invstd);
    td_numbers_name(&j, TD_OF_WEIGHT, w);
    td_numbers_name(&j, TD_OF_BIAS, b);
    td_numbers_name(&j, TD_OF_OUT, numbers);
    if (status == TD_OK) status = td_pass_numbers(TD_NUMBER_SCALE, &j, (td_device)mean->device);
    td_tensor_free(w);
    td_tensor_free(b);
    if (status == TD_OK) *out = numbers;
    else td_tensor_free(numbers);
    return status;
}

typedef struct forward_args {
    const td_tensor *x, *weight, *bias;
    td_tensor *running_mean, *running_var;
    bool training;
    double momentum, eps;
} forward_args;

static td_status check_forward(const forward_args *a, int64_t channels)
{
    TD_TRY(td_norm_check_dtypes("batch_norm", a->x, a->weight, a->bias));
    TD_TRY(check_channels("batch_norm", "weight", a->weight, a->x, channels));
    TD_TRY(check_channels("batch_norm", "bias", a->bias, a->x, channels));
    TD_TRY(check_channels("batch_norm", "running_mean", a->running_mean, a->x, channels));
    TD_TRY(check_channels("batch_norm", "running_var", a->running_var, a->x, channels));
    if (!a->training && (!a->running_mean || !a->running_var))
        return td_fail(
            TD_RUNTIME_ERROR,
            "batch_norm: running_mean and running_var must be defined in evaluation mode");
    return TD_OK;
}

/* statistics[0] becomes 1 / standard deviation, [1] the mean; running ones are updated in training
 */
static td_status take_statistics(td_tensor *statistics[2], const td_tensor *x,
                                 const forward_args *a, const td_channels *shape)
{
    if (!a->training) {
        TD_TRY(running_statistics(statistics, a->running_mean, a->running_var, (td_dtype)x->dtype));
    } else {
        double count = (double)(shape->outer * shape->inner);
        TD_TRY(batch_statistics(statistics, x, shape));
        if (count > 0) {
            TD_TRY(update_running(a->running_mean, statistics[1], false, a->momentum, 1));
            TD_TRY(update_running(a->running_var, statistics[0], true, a->momentum,
                                  count / (count - 1)));
        }
    }
    return invert(statistics[0], a->training, a->eps);
}

static td_status forward(td_tensor *out[3], const forward_args *a, const td_channels *shape)
{
    td_dtype compute = td_norm_dtype(a->x);
    td_tensor *x, *statistics[2] = {NULL, NULL}, *numbers = NULL;
    TD_TRY(dense_like(&x, a->x, a->x, compute));
    td_status status = take_statistics(statistics, x, a, shape);
    if (status == TD_OK)
        status = scale_numbers(&numbers, statistics[1], statistics[0], a->weight, a->bias);
    if (status == TD_OK) status = result_like(&out[0], a->x, compute);
    if (status == TD_OK && x->numel) status = td_pass_scale(out[0], x, numbers, shape);
    out[1] = statistics[1];
    out[2] = statistics[0];
    td_tensor_free(numbers);
    td_tensor_free(x);
    return status == TD_OK ? td_norm_convert(&out[0], (td_dtype)a->x->dtype) : status;
}

/* A copy of *t if the running statistics, which are written before it is read, share its memory. */
static td_status keep_apart(const td_tensor **t, td_tensor **own, const forward_args *a)
{
    bool shares = *t && a->training &&
                  ((a->running_mean && td_may_overlap(a->running_mean, *t)) ||
                   (a->running_var && td_may_overlap(a->running_var, *t)));
    if (!shares) return TD_OK;
    TD_TRY(td_tensor_empty_like(own, *t, (td_dtype)(*t)->dtype));
    TD_TRY(td_copy(*own, *t));
    *t = *own;
    return TD_OK;
}

static td_status forward_apart(td_tensor *out[3], forward_args *a, const td_channels *shape)
{
    td_tensor *own[3] = {NULL, NULL, NULL};
    td_status status = keep_apart(&a->x, &own[0], a);
    if (status == TD_OK) status = keep_apart(&a->weight, &own[1], a);
    if (status == TD_OK) status = keep_apart(&a->bias, &own[2], a);
    if (status == TD_OK) status = forward(out, a, shape);
    for (int k = 0; k < 3; k++) td_tensor_free(own[k]);
    return status;
}

/* (input, weight, bias, running_mean, running_var, training, momentum, eps) -> (out, mean, invstd).
 * The statistics are those that were used, in the computing dtype, whatever the mode. */
td_status td_op__batch_norm(td_call *call)
{
    td_channels shape;
    forward_args a = {TD_TENSOR(0),     TD_OPT_TENSOR(1), TD_OPT_TENSOR(2), TD_OPT_TENSOR(3),
                      TD_OPT_TENSOR(4), TD_BOOLEAN(5),    TD_FLOAT(6),      TD_FLOAT(7)};
    TD_TRY(shape_of("batch_norm", a.x, &shape));
    TD_TRY(check_forward(&a, shape.channels));
    if (!td_is_meta(a.x)) return forward_apart(call->out, &a, &shape);
    TD_TRY(result_like(&call->out[0], a.x, (td_dtype)a.x->dtype));
    for (int k = 1; k < 3; k++)
        TD_TRY(td_tensor_empty(&call->out[k], td_norm_dtype(a.x), TD_META, 1, &shape.channels));
    return TD_OK;
}

/* ---- backward ---- */

typedef struct backward_args {
    const td_tensor *grad, *x, *weight, *mean, *invstd;
    bool training, wanted[3];
} backward_args;

static bool together(const td_channels *shape)
{
    return shape->columns || shape->channels >= MANY_CHANNELS;
}

/* Sums over the batch, per channel; few channels are summed per segment first, so that there is
 * work to share out. */
static td_status channel_sums(td_tensor **out, const td_tensor *grad, const td_tensor *x,
                              const td_tensor *mean, const td_channels *shape)
{
    bool apart = !together(shape) && shape->outer > 1;
    TD_TRY(td_new_sums(out, (apart ? shape->outer : 1) * shape->channels, x));
    TD_TRY(td_pass_sums(td_data(*out), grad, x, mean, shape, !apart));
    struct td_norm_numbers j = {.n = shape->channels,
                                .channels = shape->channels,
                                .samples = shape->outer,
                                .sums = td_data(*out)};
    return apart ? td_pass_numbers(TD_NUMBER_TOGETHER, &j, (td_device)x->device) : TD_OK;
}

/* dx = grad * [0] + x * [1] + [2] */
static td_status mix_numbers(td_tensor *numbers, double *sums, const td_tensor *mean,
                             const td_tensor *invstd, const td_tensor *weight, double count)
{
    struct td_norm_numbers j = {.n = mean->numel, .sums = sums, .count = count};
    td_numbers_name(&j, TD_OF_MEAN, mean);
    td_numbers_name(&j, TD_OF_RSTD, invstd);
    td_numbers_name(&j, TD_OF_WEIGHT, weight);
    td_numbers_name(&j, TD_OF_OUT, numbers);
    return td_pass_numbers(TD_NUMBER_MIX, &j, (td_device)mean->device);
}

static td_status input_gradient(td_tensor **out, const backward_args *a, const td_tensor *dense[5],
                                double *sums, const td_channels *shape)
{
    td_tensor *numbers;
    td_dtype compute = (td_dtype)dense[1]->dtype;
    TD_TRY(result_like(out, a->x, compute));
    TD_TRY(td_tensor_empty(&numbers, compute, (td_device)dense[1]->device, 2,
                           (int64_t[]){3, shape->channels}));
    td_status status = mix_numbers(numbers, a->training ? sums : NULL, dense[3], dense[4], dense[2],
                                   (double)(shape->outer * shape->inner));
    if (status == TD_OK && dense[1]->numel)
        status = td_pass_mix(*out, dense[0], dense[1], numbers, shape);
    td_tensor_free(numbers);
    return status == TD_OK ? td_norm_convert(out, (td_dtype)a->x->dtype) : status;
}

static td_status parameter_gradients(td_tensor *out[3], const backward_args *a,
                                     const td_tensor *invstd, double *sums, int64_t channels)
{
    td_dtype compute = (td_dtype)invstd->dtype,
             dtype = (td_dtype)(a->weight ? a->weight->dtype : a->x->dtype);
    for (int k = 1; k < 3; k++) {
        if (!a->wanted[k]) continue;
        TD_TRY(td_tensor_empty(&out[k], compute, (td_device)invstd->device, 1, &channels));
        struct td_norm_numbers j = {.n = channels, .sums = sums, .which = k};
        td_numbers_name(&j, TD_OF_RSTD, invstd);
        td_numbers_name(&j, TD_OF_OUT, out[k]);
        TD_TRY(td_pass_numbers(TD_NUMBER_GRADIENT, &j, (td_device)invstd->device));
        TD_TRY(td_norm_convert(&out[k], dtype));
    }
    return TD_OK;
}

static td_status backward(td_tensor *out[3], const backward_args *a, const td_channels *shape)
{
    td_dtype compute = td_norm_dtype(a->x);
    const td_tensor *from[5] = {a->grad, a->x, a->weight, a->mean, a->invstd};
    td_tensor *dense[5] = {NULL}, *sums = NULL;
    td_status status = TD_OK;
    for (int k = 0; k < 5 && status == TD_OK; k++)
        status = k < 2 ? dense_like(&dense[k], from[k], a->x, compute)
                       : td_cast_optional(&dense[k], from[k], compute);
    if (status == TD_OK) status = channel_sums(&sums, dense[0], dense[1], dense[3], shape);
    if (status == TD_OK && a->wanted[0])
        status = input_gradient(&out[0], a, (const td_tensor **)dense, td_data(sums), shape);
    if (status == TD_OK)
        status = parameter_gradients(out, a, dense[4], td_data(sums), shape->channels);
    td_tensor_free(sums);
    for (int k = 0; k < 5; k++) td_tensor_free(dense[k]);
    return status;
}

static td_status meta_gradients(td_tensor *out[3], const backward_args *a, const td_channels *shape)
{
    td_dtype of_weight = (td_dtype)(a->weight ? a->weight->dtype : a->x->dtype);
    if (a->wanted[0]) TD_TRY(result_like(&out[0], a->x, (td_dtype)a->x->dtype));
    for (int k = 1; k < 3; k++)
        if (a->wanted[k]) TD_TRY(td_tensor_empty(&out[k], of_weight, TD_META, 1, &shape->channels));
    return TD_OK;
}

/* (grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps,
 * output_mask) -> (dx, dweight, dbias). In evaluation mode the running statistics count if they are
 * given, the saved ones otherwise. */
td_status td_op_native_batch_norm_backward(td_call *call)
{
    td_channels shape;
    const int64_t *mask = TD_INTS(9);
    bool training = TD_BOOLEAN(7), running = !training && TD_OPT_TENSOR(3) && TD_OPT_TENSOR(4);
    backward_args a = {TD_TENSOR(0),
                       TD_TENSOR(1),
                       TD_OPT_TENSOR(2),
                       running ? TD_TENSOR(3) : TD_OPT_TENSOR(5),
                       running ? TD_TENSOR(4) : TD_OPT_TENSOR(6),
                       training,
                       {mask[0], mask[1], mask[2]}};
    TD_TRY(shape_of("native_batch_norm_backward", a.x, &shape));
    TD_TRY(td_norm_check_dtypes("native_batch_norm_backward", a.x, a.weight, NULL));
    if (!td_same_shape(a.grad, a.x))
        return td_fail(TD_RUNTIME_ERROR,
                       "native_batch_norm_backward: grad_out and input must have the same shape");
    if (!a.mean || !a.invstd)
        return td_fail(TD_RUNTIME_ERROR, "native_batch_norm_backward: statistics are missing");
    TD_TRY(check_channels("native_batch_norm_backward", "weight", a.weight, a.x, shape.channels));
    TD_TRY(check_channels("native_batch_norm_backward", "mean", a.mean, a.x, shape.channels));
    TD_TRY(check_channels("native_batch_norm_backward", "invstd", a.invstd, a.x, shape.channels));
    if (td_is_meta(a.x)) return meta_gradients(call->out, &a, &shape);
    if (!running) return backward(call->out, &a, &shape);
    td_tensor *statistics[2] = {NULL, NULL};
    td_status status = running_statistics(statistics, a.mean, a.invstd, td_norm_dtype(a.x));
    if (status == TD_OK) {
        status = invert(statistics[0], false, TD_FLOAT(8));
        a.invstd = statistics[0];
        a.mean = statistics[1];
        if (status == TD_OK) status = backward(call->out, &a, &shape);
    }
    td_tensor_free(statistics[0]);
    td_tensor_free(statistics[1]);
    return status;
}
