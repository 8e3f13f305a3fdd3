/* group_norm.c - group normalisation: statistics per sample over the channels and positions of a
 * group. */
#include <math.h>
#include "ops/norm/norm.h"
#include "ops/norm/passes.h"
#include "ops/reduction/reduce.h"

typedef struct groups {
    int64_t samples, channels, inner, count; /* count: groups of a sample */
} groups;

static int64_t rows(const groups *g) { return g->samples * g->count; }
static int64_t row_length(const groups *g)
{
    return g->count ? g->channels / g->count * g->inner : 0;
}
static td_channels segments(const groups *g)
{
    return (td_channels){g->samples, g->channels, g->inner, g->samples * g->channels, false};
}

static td_status check(const char *op, const td_tensor *x, const td_tensor *weight,
                       const td_tensor *bias, const groups *g)
{
    int64_t expected;
    TD_TRY(td_norm_check_dtypes(op, x, weight, bias));
    if (g->count < 1 || g->channels % g->count)
        return td_fail(TD_RUNTIME_ERROR,
                       "%s: expected the number of channels to be divisible by num_groups, got "
                       "%lld channels and num_groups=%lld",
                       op, (long long)g->channels, (long long)g->count);
    if (td_mul_overflows(g->samples, g->channels, &expected) ||
        td_mul_overflows(expected, g->inner, &expected) || expected != x->numel)
        return td_fail(TD_RUNTIME_ERROR,
                       "%s: %lld samples of %lld channels and %lld positions do not make an input "
                       "of %lld elements",
                       op, (long long)g->samples, (long long)g->channels, (long long)g->inner,
                       (long long)x->numel);
    for (int k = 0; k < 2; k++) {
        const td_tensor *p = k ? bias : weight;
        if (p && (p->ndim != 1 || p->numel != g->channels))
            return td_fail(TD_RUNTIME_ERROR,
                           "%s: expected %s to be a vector with an element for each of %lld "
                           "channels, got %lld elements",
                           op, k ? "bias" : "weight", (long long)g->channels, (long long)p->numel);
    }
    return TD_OK;
}

/* out[0] = 1 / standard deviation, out[1] = mean: [samples, groups] */
static td_status statistics_of(td_tensor *out[2], const td_tensor *x, const groups *g, double eps)
{
    td_tensor *view;
    int64_t n = row_length(g), sizes[3] = {g->samples, g->count, n},
            strides[3] = {g->count * n, n, 1};
    TD_TRY(td_tensor_view(&view, x, 3, sizes, strides, x->offset));
    td_reduce_spec spec = {
        "group_norm", TD_MOMENTS, {.root = 1}, 4,
        false,        true,       NAN,         {(td_dtype)x->dtype, (td_dtype)x->dtype}};
    td_status status = td_reduce(out, 3, view, &spec);
    td_tensor_free(view);
    if (status != TD_OK) return status;
    struct td_norm_numbers j = {.n = rows(g), .eps = eps, .which = 1};
    td_numbers_name(&j, TD_OF_RSTD, out[0]);
    td_numbers_name(&j, TD_OF_OUT, out[0]);
    return td_pass_numbers(TD_NUMBER_INVERSE, &j, (td_device)x->device);
}

static struct td_norm_numbers numbers_of(const groups *g)
{
    return (struct td_norm_numbers){.channels = g->channels,
                                    .samples = g->samples,
                                    .each = g->channels / g->count,
                                    .count = (double)row_length(g)};
}

static td_status scale_numbers(td_tensor *numbers, td_tensor *const statistics[2],
                               const td_tensor *w, const td_tensor *b, const groups *g)
{
    struct td_norm_numbers j = numbers_of(g);
    j.n = g->samples * g->channels;
    td_numbers_name(&j, TD_OF_MEAN, statistics[1]);
    td_numbers_name(&j, TD_OF_RSTD, statistics[0]);
    td_numbers_name(&j, TD_OF_WEIGHT, w);
    td_numbers_name(&j, TD_OF_BIAS, b);
    td_numbers_name(&j, TD_OF_OUT, numbers);
    return td_pass_numbers(TD_NUMBER_SCALE, &j, (td_device)numbers->device);
}

static td_status forward(td_tensor *out[3], const td_tensor *self, const td_tensor *weight,
                         const td_tensor *bias, const groups *g, double eps)
{
    td_dtype compute = td_norm_dtype(self), dtype = (td_dtype)self->dtype;
    td_tensor *x, *w = NULL, *b = NULL, *numbers = NULL, *statistics[2] = {NULL, NULL};
    td_channels shape = segments(g);
    TD_TRY(td_cast_optional(&x, self, compute));
    td_status status = td_cast_optional(&w, weight, compute);
    if (status == TD_OK) status = td_cast_optional(&b, bias, compute);
    if (status == TD_OK) status = statistics_of(statistics, x, g, eps);
    if (status == TD_OK)
        status = td_tensor_empty(&numbers, compute, (td_device)self->device, 2,
                                 (int64_t[]){3, g->samples * g->channels});
    if (status == TD_OK)
        status =
            td_tensor_empty(&out[0], compute, (td_device)self->device, self->ndim, self->sizes);
    if (status == TD_OK && x->numel) {
        status = scale_numbers(numbers, statistics, w, b, g);
        if (status == TD_OK) status = td_pass_scale(out[0], x, numbers, &shape);
    }
    out[1] = statistics[1];
    out[2] = statistics[0];
    td_tensor_free(numbers);
    td_tensor_free(w);
    td_tensor_free(b);
    td_tensor_free(x);
    return status == TD_OK ? td_norm_convert(&out[0], dtype) : status;
}

static bool wants_channels_last(const td_tensor *x)
{
    return td_is_channels_last(x) && !td_is_contiguous(x);
}

/* a result in the layout of channels_last inputs: the passes read and write segments */
static td_status as_laid_out(td_tensor **t, const td_tensor *like)
{
    td_tensor *copy;
    if (!wants_channels_last(like)) return TD_OK;
    TD_TRY(td_tensor_empty_like(&copy, like, (td_dtype)(*t)->dtype));
    td_status status = td_copy(copy, *t);
    td_tensor_free(*t);
    *t = copy;
    return status;
}

/* (input, weight, bias, N, C, HxW, group, eps) -> (out, mean, rstd); the last two in the computing
 * dtype */
td_status td_op_native_group_norm(td_call *call)
{
    const td_tensor *x = TD_TENSOR(0), *w = TD_OPT_TENSOR(1), *b = TD_OPT_TENSOR(2);
    groups g = {TD_INT(3), TD_INT(4), TD_INT(5), TD_INT(6)};
    TD_TRY(check("group_norm", x, w, b, &g));
    if (!td_is_meta(x)) {
        TD_TRY(forward(call->out, x, w, b, &g, TD_FLOAT(7)));
        return as_laid_out(&call->out[0], x);
    }
    if (wants_channels_last(x)) TD_TRY(td_tensor_empty_like(&call->out[0], x, (td_dtype)x->dtype));
    else TD_TRY(td_tensor_empty(&call->out[0], (td_dtype)x->dtype, TD_META, x->ndim, x->sizes));
    for (int k = 1; k < 3; k++)
        TD_TRY(td_tensor_empty(&call->out[k], td_norm_dtype(x), TD_META, 2,
                               (int64_t[]){g.samples, g.count}));
    return TD_OK;
}

/* ---- backward ---- */

typedef struct backward_work {
    const groups *g;
    td_tensor *grad, *x, *mean, *rstd, *weight; /* dense, in the computing dtype */
    td_tensor *numbers; /* three rows, a column for every segment; row 0 holds means at first */
    td_tensor *sums;
} backward_work;

/* a pass over numbers of the work, `n` of them, written to `out` */
static td_status numbers_pass(const backward_work *k, enum td_number_kind kind, int64_t n,
                              td_tensor *out, int which)
{
    struct td_norm_numbers j = numbers_of(k->g);
    j.n = n;
    j.which = which;
    j.sums = td_data(k->sums);
    td_numbers_name(&j, TD_OF_MEAN, k->mean);
    td_numbers_name(&j, TD_OF_RSTD, k->rstd);
    td_numbers_name(&j, TD_OF_WEIGHT, k->weight);
    td_numbers_name(&j, TD_OF_OUT, out);
    return td_pass_numbers(kind, &j, (td_device)k->x->device);
}

static td_status make_gradients(td_tensor *out[3], const td_tensor *x, const int64_t *mask,
                                int64_t channels, td_dtype dtype, td_dtype of_weight)
{
    td_device device = (td_device)x->device;
    if (mask[0]) TD_TRY(td_tensor_empty(&out[0], dtype, device, x->ndim, x->sizes));
    for (int k = 1; k < 3; k++)
        if (mask[k]) TD_TRY(td_tensor_empty(&out[k], of_weight, device, 1, &channels));
    return TD_OK;
}

static td_status compute_gradients(td_tensor *out[3], backward_work *k, const int64_t *mask)
{
    td_channels shape = segments(k->g);
    int64_t n = k->g->samples * k->g->channels;
    TD_TRY(td_tensor_empty(&k->numbers, (td_dtype)k->x->dtype, (td_device)k->x->device, 2,
                           (int64_t[]){3, n}));
    TD_TRY(td_new_sums(&k->sums, n, k->x));
    TD_TRY(numbers_pass(k, TD_NUMBER_SPREAD, n, k->numbers, 0));
    TD_TRY(td_pass_sums(td_data(k->sums), k->grad, k->x, k->numbers, &shape, false));
    for (int i = 1; i < 3; i++)
        if (mask[i]) TD_TRY(numbers_pass(k, TD_NUMBER_GROUP_GRADIENT, k->g->channels, out[i], i));
    if (!mask[0] || !k->x->numel) return TD_OK;
    TD_TRY(numbers_pass(k, TD_NUMBER_GROUP_MIX, rows(k->g), k->numbers, 0));
    return td_pass_mix(out[0], k->grad, k->x, k->numbers, &shape);
}

/* (grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask) -> (dx, dweight, dbias) */
td_status td_op_native_group_norm_backward(td_call *call)
{
    const td_tensor *grad = TD_TENSOR(0), *x = TD_TENSOR(1), *weight = TD_OPT_TENSOR(4);
    const int64_t *mask = TD_INTS(9);
    groups g = {TD_INT(5), TD_INT(6), TD_INT(7), TD_INT(8)};
    td_dtype compute = td_norm_dtype(x), dtype = (td_dtype)x->dtype;
    TD_TRY(check("native_group_norm_backward", x, weight, NULL, &g));
    if (!td_same_shape(grad, x))
        return td_fail(TD_RUNTIME_ERROR,
                       "native_group_norm_backward: grad_out and input must have the same shape");
    if (TD_TENSOR(2)->numel != rows(&g) || TD_TENSOR(3)->numel != rows(&g))
        return td_fail(TD_RUNTIME_ERROR,
                       "native_group_norm_backward: expected %lld numbers of statistics",
                       (long long)rows(&g));
    td_dtype of_weight = weight ? (td_dtype)weight->dtype : dtype;
    if (td_is_meta(x)) return make_gradients(call->out, x, mask, g.channels, dtype, of_weight);
    TD_TRY(make_gradients(call->out, x, mask, g.channels, compute, compute));
    backward_work k = {.g = &g};
    td_status status = td_cast_optional(&k.grad, grad, compute);
    if (status == TD_OK) status = td_cast_optional(&k.x, x, compute);
    if (status == TD_OK) status = td_cast_optional(&k.mean, TD_TENSOR(2), compute);
    if (status == TD_OK) status = td_cast_optional(&k.rstd, TD_TENSOR(3), compute);
    if (status == TD_OK) status = td_cast_optional(&k.weight, weight, compute);
    if (status == TD_OK) status = compute_gradients(call->out, &k, mask);
    td_tensor *made[] = {k.grad, k.x, k.mean, k.rstd, k.weight, k.numbers, k.sums};
    for (int i = 0; i < 7; i++) td_tensor_free(made[i]);
    for (int i = 0; i < 3 && status == TD_OK; i++)
        status = td_norm_convert(&call->out[i], i ? of_weight : dtype);
    return status;
}
