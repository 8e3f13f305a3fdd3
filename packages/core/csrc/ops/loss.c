/* loss.c - losses between pairs of elements: squared, absolute, smooth, Huber, soft margin and
 * binary cross entropy. Arguments of every forward: (self, target, reduction[, parameter]); of
 * every backward: (grad_output, self, target, reduction[, parameter]). Reductions: 0 none, 1 mean,
 * 2 sum. A reduced loss never writes the single losses. */
#include "cpu/loss_run.h"
#include <math.h>
#include "ops/promotion.h"
#include "ops/view/view.h"
#include "runtime/device.h"

typedef struct pair {
    const char *op;
    td_pair_problem of;
    td_dtype dtype; /* of the result */
} pair;

/* ---- operands ---- */

static td_status check_reduction(const char *op, int64_t reduction)
{
    if (reduction >= 0 && reduction <= 2) return TD_OK;
    return td_fail(TD_VALUE_ERROR,
                   "%s: %lld is not a reduction; expected 0 (none), 1 (mean) or 2 (sum)", op,
                   (long long)reduction);
}

/* x as `dtype` in the given shape; row-major unless it already is dense in an order of its own that
 * `keep` allows */
static td_status shaped(td_tensor **out, const td_tensor *x, td_dtype dtype, int ndim,
                        const int64_t *sizes, bool keep)
{
    td_tensor *cast, *expanded;
    TD_TRY(td_cast(&cast, x, dtype));
    td_status status = td_view_expand(&expanded, cast, ndim, sizes);
    td_tensor_free(cast);
    if (status != TD_OK) return status;
    status = keep && td_is_dense(expanded) ? td_tensor_alias(out, expanded)
                                           : td_contiguous(out, expanded);
    td_tensor_free(expanded);
    return status;
}

static bool same_strides(const td_tensor *a, const td_tensor *b)
{
    for (int d = 0; d < a->ndim; d++)
        if (a->strides[d] != b->strides[d]) return false;
    return true;
}

static void release(pair *p)
{
    td_tensor_free(p->of.x);
    td_tensor_free(p->of.t);
}

static td_status common_dtype(pair *p, const td_tensor *x, const td_tensor *t)
{
    TD_TRY(td_result_type(2, (td_tensor *const[]){(td_tensor *)x, (td_tensor *)t}, &p->dtype));
    if (td_is_floating(p->dtype) && !td_is_float8(p->dtype)) return TD_OK;
    return td_fail(TD_NOT_IMPLEMENTED,
                   "%s is not implemented for '%s'; it takes floating-point tensors", p->op,
                   td_dtypes[p->dtype].type_name);
}

static td_status prepare(pair *p, const td_tensor *x, const td_tensor *t)
{
    int ndim;
    int64_t sizes[TD_MAX_DIMS];
    TD_TRY(common_dtype(p, x, t));
    TD_TRY(td_broadcast(x->ndim, x->sizes, t->ndim, t->sizes, &ndim, sizes));
    td_dtype compute = p->dtype == TD_F64 ? TD_F64 : TD_F32;
    bool keep = td_same_shape(x, t) && same_strides(x, t);
    TD_TRY(shaped(&p->of.x, x, compute, ndim, sizes, keep));
    td_status status = shaped(&p->of.t, t, compute, ndim, sizes, keep);
    if (status != TD_OK) release(p);
    return status;
}

static td_status prepare_meta(pair *p, td_tensor **out, const td_tensor *x, const td_tensor *t,
                              bool reduced)
{
    int ndim;
    int64_t sizes[TD_MAX_DIMS];
    TD_TRY(common_dtype(p, x, t));
    TD_TRY(td_broadcast(x->ndim, x->sizes, t->ndim, t->sizes, &ndim, sizes));
    return td_tensor_empty(out, p->dtype, TD_META, reduced ? 0 : ndim, sizes);
}

static td_status finish(td_tensor **out, td_tensor *made, td_dtype dtype)
{
    td_status status = td_cast(out, made, dtype);
    td_tensor_free(made);
    return status;
}

static td_status scalar_result(td_tensor **out, double value, td_dtype dtype, td_device device)
{
    td_scalar s = td_scalar_float(value);
    TD_TRY(td_tensor_empty(out, dtype, device, 0, NULL));
    return td_fill(*out, &s);
}

/* ---- on the processor, or by the device's kernels ---- */

static td_status elsewhere(const td_pair_job *job)
{
    return td_work_run(TD_WORK_PAIR_LOSS, job, (td_device)job->problem->x->device, "a loss");
}

/* The sum by `divisor`. On a device it stays there: nobody waits for it. */
static td_status total(td_tensor **out, const pair *p, double divisor)
{
    double sum;
    td_tensor *made;
    td_device device = (td_device)p->of.x->device;
    if (td_on_host(p->of.x)) {
        TD_TRY(td_pair_total(&p->of, &sum));
        return scalar_result(out, sum / divisor, p->dtype, device);
    }
    TD_TRY(td_tensor_empty(&made, TD_F64, device, 0, NULL));
    td_status status =
        elsewhere(&(td_pair_job){.problem = &p->of, .sum = made, .divisor = divisor});
    if (status == TD_OK) return finish(out, made, p->dtype);
    td_tensor_free(made);
    return status;
}

static td_status each(const td_pair_problem *p, td_tensor *out)
{
    if (td_on_host(p->x)) return td_pair_each(p, out), TD_OK;
    return elsewhere(&(td_pair_job){.problem = p, .out = out});
}

static td_status slope(const td_pair_problem *p, td_tensor *out, const td_tensor *g, bool by_each,
                       double scale)
{
    if (td_on_host(p->x)) return td_pair_gradient(p, out, g, by_each, scale), TD_OK;
    return elsewhere(
        &(td_pair_job){.problem = p, .out = out, .g = g, .each = by_each, .scale = scale});
}

static td_status compute(td_tensor **out, const pair *p, int64_t reduction)
{
    if (reduction) return total(out, p, reduction == 1 ? (double)p->of.x->numel : 1);
    td_tensor *made;
    TD_TRY(td_tensor_empty_like(&made, p->of.x, (td_dtype)p->of.x->dtype));
    td_status status = each(&p->of, made);
    if (status == TD_OK) return finish(out, made, p->dtype);
    td_tensor_free(made);
    return status;
}

static td_status forward(td_call *call, const char *op, td_pair_kind kind, double parameter)
{
    pair p = {op, {kind, parameter, NULL, NULL}, TD_F32};
    TD_TRY(check_reduction(op, TD_INT(2)));
    if (td_is_meta(TD_TENSOR(0)))
        return prepare_meta(&p, &call->out[0], TD_TENSOR(0), TD_TENSOR(1), TD_INT(2) != 0);
    TD_TRY(prepare(&p, TD_TENSOR(0), TD_TENSOR(1)));
    td_status status = compute(&call->out[0], &p, TD_INT(2));
    release(&p);
    return status;
}

static td_status gradient(td_tensor **out, const pair *p, const td_tensor *grad, int64_t reduction)
{
    td_tensor *g, *made;
    bool one = reduction != 0 || grad->numel == 1,
         same = td_same_shape(grad, p->of.x) && same_strides(grad, p->of.x);
    td_dtype compute = (td_dtype)p->of.x->dtype;
    if (one && grad->numel != 1)
        return td_fail(TD_RUNTIME_ERROR,
                       "%s: the gradient of a reduced loss has one element, got %lld", p->op,
                       (long long)grad->numel);
    if (!one && !same && !td_is_contiguous(p->of.x))
        return td_fail(TD_RUNTIME_ERROR, "%s: operands differ in memory order", p->op);
    TD_TRY(one ? td_cast(&g, grad, compute)
               : shaped(&g, grad, compute, p->of.x->ndim, p->of.x->sizes, same));
    td_status status = td_tensor_empty_like(&made, p->of.x, compute);
    if (status == TD_OK) {
        double scale = reduction == 1 ? 1 / (double)p->of.x->numel : 1;
        status = slope(&p->of, made, g, !one, scale);
        if (status == TD_OK) status = finish(out, made, p->dtype);
        else td_tensor_free(made);
    }
    td_tensor_free(g);
    return status;
}

static td_status backward(td_call *call, const char *op, td_pair_kind kind, double parameter)
{
    pair p = {op, {kind, parameter, NULL, NULL}, TD_F32};
    const td_tensor *grad = TD_TENSOR(0), *x = TD_TENSOR(1), *t = TD_TENSOR(2);
    TD_TRY(check_reduction(op, TD_INT(3)));
    if (td_is_meta(x)) return prepare_meta(&p, &call->out[0], x, t, false);
    TD_TRY(prepare(&p, x, t));
    td_status status = TD_OK;
    if (TD_INT(3) == 0 && !td_is_contiguous(p.of.x) &&
        !same_strides(grad, p.of.x)) { /* three orders: all to row-major */
        td_tensor *dense[2] = {NULL, NULL};
        status = td_contiguous(&dense[0], p.of.x);
        if (status == TD_OK) status = td_contiguous(&dense[1], p.of.t);
        release(&p);
        p.of.x = dense[0];
        p.of.t = dense[1];
    }
    if (status == TD_OK) status = gradient(&call->out[0], &p, grad, TD_INT(3));
    release(&p);
    return status;
}

/* ---- the operators ---- */

#define PLAIN(name, kind)                                                           \
    td_status td_op_##name(td_call *call) { return forward(call, #name, kind, 0); } \
    td_status td_op_##name##_backward(td_call *call)                                \
    {                                                                               \
        return backward(call, #name "_backward", kind, 0);                          \
    }
PLAIN(mse_loss, TD_MSE)
PLAIN(_l1_loss, TD_L1)
PLAIN(soft_margin_loss, TD_SOFT_MARGIN)
PLAIN(_binary_cross_entropy_with_logits, TD_BCE_LOGITS)

td_status td_op_smooth_l1_loss(td_call *call)
{
    double beta = TD_FLOAT(3);
    if (!(beta >= 0))
        return td_fail(TD_RUNTIME_ERROR,
                       "smooth_l1_loss does not support negative values for beta, got %g", beta);
    return forward(call, "smooth_l1_loss", TD_SMOOTH_L1, beta);
}
td_status td_op_smooth_l1_loss_backward(td_call *call)
{
    return backward(call, "smooth_l1_loss_backward", TD_SMOOTH_L1, TD_FLOAT(4));
}

td_status td_op_huber_loss(td_call *call)
{
    double delta = TD_FLOAT(3);
    if (!(delta > 0))
        return td_fail(TD_RUNTIME_ERROR,
                       "huber_loss does not support non-positive values for delta, got %g", delta);
    return forward(call, "huber_loss", TD_HUBER, delta);
}
td_status td_op_huber_loss_backward(td_call *call)
{
    return backward(call, "huber_loss_backward", TD_HUBER, TD_FLOAT(4));
}

/* Probabilities lie in [0, 1]; a NaN is let through. */
static td_status check_probabilities(const td_tensor *x)
{
    td_tensor *dense;
    if (!td_on_host(x) || x->numel == 0) return TD_OK; /* kernels of devices look at them */
    TD_TRY(td_cast_contiguous(&dense, x, x->dtype == TD_F64 ? TD_F64 : TD_F32));
    bool bad = td_outside_one(dense);
    td_tensor_free(dense);
    return bad ? td_fail(TD_RUNTIME_ERROR, "all elements of input should be between 0 and 1")
               : TD_OK;
}

td_status td_op__binary_cross_entropy(td_call *call)
{
    if (!td_is_floating((td_dtype)TD_TENSOR(0)->dtype))
        return td_fail(TD_NOT_IMPLEMENTED, "binary_cross_entropy is not implemented for '%s'",
                       td_dtypes[TD_TENSOR(0)->dtype].type_name);
    TD_TRY(check_probabilities(TD_TENSOR(0)));
    return forward(call, "binary_cross_entropy", TD_BCE, 0);
}
td_status td_op__binary_cross_entropy_backward(td_call *call)
{
    return backward(call, "binary_cross_entropy_backward", TD_BCE, 0);
}
