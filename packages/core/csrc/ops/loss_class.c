/* loss_class.c - losses of class scores with class numbers as targets: nll_loss, and cross entropy
 * in one piece.
 *
 * Scores are [C], [N, C] or [N, C, ...]; targets have that shape without C. Cross entropy keeps two
 * numbers for each target, the largest score and the logarithm of the sum of exponentials below it,
 * and its gradient is written in one pass. */
#include "cpu/loss_class_run.h"
#include "ops/view/view.h"
#include "runtime/device.h"

static td_dtype compute_dtype(td_dtype d) { return d == TD_F64 ? TD_F64 : TD_F32; }

/* ---- checks ---- */

static td_status check_dtypes(const td_class_scores *s, const td_tensor *x, const td_tensor *target,
                              const td_tensor *weight)
{
    td_dtype d = (td_dtype)x->dtype;
    if (!td_is_floating(d) || td_is_float8(d))
        return td_fail(TD_NOT_IMPLEMENTED,
                       "%s is not implemented for '%s'; it takes floating-point scores", s->op,
                       td_dtypes[d].type_name);
    if (target->dtype != TD_I64 && target->dtype != TD_U8)
        return td_fail(TD_RUNTIME_ERROR,
                       "%s: expected targets of scalar type Long (int64) or Byte but found %s",
                       s->op, td_dtypes[target->dtype].type_name);
    if (weight && weight->dtype != x->dtype)
        return td_fail(TD_RUNTIME_ERROR, "%s: expected weights of scalar type %s but found %s",
                       s->op, td_dtypes[d].type_name, td_dtypes[weight->dtype].type_name);
    if (weight && (weight->ndim != 1 || weight->numel != s->classes))
        return td_fail(TD_RUNTIME_ERROR,
                       "%s: weights are for all %lld classes or for none, but got %lld weights",
                       s->op, (long long)s->classes, (long long)weight->numel);
    return TD_OK;
}

static td_status bad_target(const td_class_scores *s, td_status kind, const td_tensor *x,
                            const td_tensor *target)
{
    char a[TD_SHAPE_TEXT], b[TD_SHAPE_TEXT];
    return td_fail(kind,
                   "%s: Expected the target to have the input's size without its classes, got "
                   "input %s and target %s",
                   s->op, td_shape_text(x->ndim, x->sizes, a),
                   td_shape_text(target->ndim, target->sizes, b));
}

static td_status check_shapes(td_class_scores *s, const td_tensor *x, const td_tensor *target)
{
    if (x->ndim == 0)
        return td_fail(TD_VALUE_ERROR, "%s: Expected 1 or more dimensions (got 0)", s->op);
    s->samples = s->inner = 1;
    if (x->ndim == 1) {
        s->classes = x->sizes[0];
        return target->ndim <= 1 && target->numel == 1 ? TD_OK
                                                       : bad_target(s, TD_VALUE_ERROR, x, target);
    }
    s->samples = x->sizes[0];
    s->classes = x->sizes[1];
    if (target->ndim == 0 || target->sizes[0] != s->samples)
        return td_fail(TD_VALUE_ERROR,
                       "%s: Expected input batch_size (%lld) to match target batch_size (%lld).",
                       s->op, (long long)s->samples,
                       (long long)(target->ndim ? target->sizes[0] : 0));
    if (target->ndim != x->ndim - 1) return bad_target(s, TD_RUNTIME_ERROR, x, target);
    for (int d = 2; d < x->ndim; d++) {
        if (x->sizes[d] != target->sizes[d - 1]) return bad_target(s, TD_RUNTIME_ERROR, x, target);
        s->inner *= x->sizes[d];
    }
    return TD_OK;
}

/* ---- operands ---- */

static void release(td_class_scores *s)
{
    td_tensor_free(s->x);
    td_tensor_free(s->target);
    td_tensor_free(s->weight);
}

static td_status check(td_class_scores *s, const td_tensor *x, const td_tensor *target,
                       const td_tensor *weight)
{
    s->dtype = (td_dtype)x->dtype;
    if (s->reduction < 0 || s->reduction > 2)
        return td_fail(TD_VALUE_ERROR,
                       "%s: %lld is not a reduction; expected 0 (none), 1 (mean) or 2 (sum)", s->op,
                       (long long)s->reduction);
    TD_TRY(check_shapes(s, x, target));
    return check_dtypes(s, x, target, weight);
}

static td_status take(td_class_scores *s, const td_tensor *x, const td_tensor *target,
                      const td_tensor *weight)
{
    td_dtype compute = compute_dtype(s->dtype);
    td_status status = td_cast_contiguous(&s->x, x, compute);
    if (status == TD_OK) status = td_cast_contiguous(&s->target, target, TD_I64);
    if (status == TD_OK && weight) status = td_cast_contiguous(&s->weight, weight, compute);
    if (status != TD_OK) release(s);
    return status;
}

/* ---- on the processor, or by the device's kernels ---- */

static td_status elsewhere(const td_class_job *job)
{
    return td_work_run(TD_WORK_CLASS_LOSS, job, (td_device)job->s->x->device, job->s->op);
}

static td_status statistics_of(const td_class_scores *s, td_tensor *out)
{
    if (td_on_host(s->x)) return td_class_run(s, out, NULL, NULL), TD_OK;
    return elsewhere(&(td_class_job){.what = TD_CLASS_STATISTICS, .s = s, .out = out});
}

/* total: the sum of the weights, one element */
static td_status scales_of(td_tensor *out, const td_class_scores *s, const td_tensor *grad,
                           const td_tensor *total)
{
    if (!td_on_host(s->x)) {
        td_tensor *sum;
        TD_TRY(td_cast_contiguous(&sum, total, TD_F64));
        td_status status = elsewhere(&(td_class_job){
            .what = TD_CLASS_SCALES, .s = s, .out = out, .grad = grad, .total = sum});
        td_tensor_free(sum);
        return status;
    }
    char element[16];
    TD_TRY(td_element(total, element));
    double sum = td_scalar_load((td_dtype)total->dtype, element).re;
    return td_class_scales(out, s, grad, s->reduction == 1 ? 1 / sum : 1);
}

/* statistics NULL: of nll_loss, whose `out` holds zeros */
static td_status gradient_of(const td_class_scores *s, const td_tensor *statistics,
                             const td_tensor *scale, td_tensor *out)
{
    if (!td_on_host(s->x))
        return elsewhere(&(td_class_job){.what = TD_CLASS_GRADIENT,
                                         .s = s,
                                         .out = out,
                                         .statistics = statistics,
                                         .scale = scale});
    if (statistics) td_class_run(s, statistics, scale, out);
    td_class_subtract(out, s, scale);
    return TD_OK;
}

/* ---- the loss of every target ---- */

static td_status number_result(td_tensor **out, double value, td_dtype dtype, td_device device)
{
    td_scalar s = td_scalar_float(value);
    TD_TRY(td_tensor_empty(out, dtype, device, 0, NULL));
    return td_fill(*out, &s);
}

/* The two numbers that a device has written. */
static td_status two_numbers(td_tensor **out, td_tensor **total, const td_tensor *sums,
                             const td_class_scores *s)
{
    td_tensor *number;
    td_scalar zero = td_scalar_int(0);
    if (s->reduction) {
        TD_TRY(td_view_select(&number, sums, 0, 0));
        td_status status = td_cast(out, number, s->dtype);
        td_tensor_free(number);
        TD_TRY(status);
        TD_TRY(td_view_select(&number, sums, 0, 1));
        status = td_cast(total, number, (td_dtype)s->x->dtype);
        td_tensor_free(number);
        return status;
    }
    TD_TRY(td_tensor_empty(total, (td_dtype)s->x->dtype, (td_device)s->x->device, 0, NULL));
    return td_fill(*total, &zero);
}

static td_status reduce_elsewhere(td_tensor **out, td_tensor **total, const td_class_scores *s,
                                  const td_tensor *statistics, td_tensor *each)
{
    td_tensor *sums;
    TD_TRY(td_tensor_empty(&sums, TD_F64, (td_device)s->x->device, 1, (int64_t[]){2}));
    td_status status = elsewhere(&(td_class_job){
        .what = TD_CLASS_PICK, .s = s, .out = each, .statistics = statistics, .sums = sums});
    if (status == TD_OK) status = two_numbers(out, total, sums, s);
    td_tensor_free(sums);
    return status;
}

/* out[0] the loss, *total the summed weights (0 without a reduction, as nobody divides by them), in
 * the dtype that is computed in: float16 has no number of rows above 65504 */
static td_status reduce(td_tensor **out, td_tensor **total, const td_class_scores *s,
                        const td_tensor *statistics, const td_tensor *target)
{
    td_class_sum sum;
    td_tensor *each = NULL;
    bool scalar = target->ndim == 0 || (s->x->ndim == 1 && s->reduction);
    if (s->reduction == 0)
        TD_TRY(td_tensor_empty(&each, (td_dtype)s->x->dtype, (td_device)s->x->device,
                               scalar ? 0 : target->ndim, target->sizes));
    bool here = td_on_host(s->x);
    td_status status = here ? td_class_pick(s, statistics, each, &sum)
                            : reduce_elsewhere(out, total, s, statistics, each);
    if (status == TD_OK && each) status = td_cast(out, each, s->dtype);
    td_tensor_free(each);
    if (!here) return status;
    if (status == TD_OK && s->reduction)
        status = number_result(out, s->reduction == 1 ? sum.loss / sum.weight : sum.loss, s->dtype,
                               (td_device)s->x->device);
    return status == TD_OK ? number_result(total, s->reduction ? sum.weight : 0,
                                           (td_dtype)s->x->dtype, (td_device)s->x->device)
                           : status;
}

static td_status meta_results(td_call *call, const td_class_scores *s, const td_tensor *target,
                              int count)
{
    bool none = s->reduction == 0;
    TD_TRY(
        td_tensor_empty(&call->out[0], s->dtype, TD_META, none ? target->ndim : 0, target->sizes));
    if (count == 3)
        TD_TRY(td_tensor_empty(&call->out[1], compute_dtype(s->dtype), TD_META, 2,
                               (int64_t[]){2, td_class_count(s)}));
    return td_tensor_empty(&call->out[count - 1], compute_dtype(s->dtype), TD_META, 0, NULL);
}

/* ---- nll_loss ---- */

/* (self, target, weight, reduction, ignore_index) -> (output, total_weight) */
td_status td_op_nll_loss_forward(td_call *call)
{
    td_class_scores s = {.op = "nll_loss", .reduction = TD_INT(3), .ignore = TD_INT(4)};
    const td_tensor *target = TD_TENSOR(1);
    TD_TRY(check(&s, TD_TENSOR(0), target, TD_OPT_TENSOR(2)));
    if (td_is_meta(TD_TENSOR(0))) return meta_results(call, &s, target, 2);
    TD_TRY(take(&s, TD_TENSOR(0), target, TD_OPT_TENSOR(2)));
    td_status status = reduce(&call->out[0], &call->out[1], &s, NULL, target);
    release(&s);
    return status;
}

/* The factor of every target's gradient: the incoming gradient times its weight, by the total for a
 * mean; 0 if ignored. */
static td_status scales(td_tensor **out, const td_class_scores *s, const td_tensor *grad,
                        const td_tensor *total)
{
    td_tensor *g, *made;
    int64_t n = td_class_count(s);
    if (grad->numel != (s->reduction ? 1 : n))
        return td_fail(TD_RUNTIME_ERROR, "%s: expected a gradient of %lld elements, got %lld",
                       s->op, (long long)(s->reduction ? 1 : n), (long long)grad->numel);
    if (total->numel != 1 || td_is_meta(total) || td_is_meta(grad))
        return td_fail(TD_RUNTIME_ERROR,
                       "%s: expected a total_weight of 1 element with a value, got %lld", s->op,
                       (long long)total->numel);
    TD_TRY(td_cast_contiguous(&g, grad, (td_dtype)s->x->dtype));
    td_status status =
        td_tensor_empty(&made, (td_dtype)s->x->dtype, (td_device)s->x->device, 1, &n);
    if (status == TD_OK && (status = scales_of(made, s, g, total)) != TD_OK) td_tensor_free(made);
    if (status == TD_OK) *out = made;
    td_tensor_free(g);
    return status;
}

static td_status convert(td_tensor **t, td_dtype dtype)
{
    td_tensor *converted;
    TD_TRY(td_cast(&converted, *t, dtype));
    td_tensor_free(*t);
    *t = converted;
    return TD_OK;
}

/* (grad_output, self, target, weight, reduction, ignore_index, total_weight) -> grad_self */
td_status td_op_nll_loss_backward(td_call *call)
{
    td_class_scores s = {.op = "nll_loss_backward", .reduction = TD_INT(4), .ignore = TD_INT(5)};
    const td_tensor *x = TD_TENSOR(1);
    td_tensor *scale, *out = NULL;
    td_scalar zero = td_scalar_int(0);
    TD_TRY(check(&s, x, TD_TENSOR(2), TD_OPT_TENSOR(3)));
    if (td_is_meta(x)) return td_tensor_empty(&call->out[0], s.dtype, TD_META, x->ndim, x->sizes);
    TD_TRY(take(&s, x, TD_TENSOR(2), TD_OPT_TENSOR(3)));
    td_status status = scales(&scale, &s, TD_TENSOR(0), TD_TENSOR(6));
    if (status == TD_OK) {
        status =
            td_tensor_empty(&out, (td_dtype)s.x->dtype, (td_device)x->device, x->ndim, x->sizes);
        if (status == TD_OK) status = td_fill(out, &zero);
        if (status == TD_OK) status = gradient_of(&s, NULL, scale, out);
        td_tensor_free(scale);
    }
    call->out[0] = out;
    if (status == TD_OK) status = convert(&call->out[0], s.dtype);
    release(&s);
    return status;
}

/* ---- cross entropy ---- */

/* (self, target, weight, reduction, ignore_index) -> (output, statistics, total_weight) */
td_status td_op__cross_entropy(td_call *call)
{
    td_class_scores s = {.op = "cross_entropy", .reduction = TD_INT(3), .ignore = TD_INT(4)};
    const td_tensor *target = TD_TENSOR(1);
    TD_TRY(check(&s, TD_TENSOR(0), target, TD_OPT_TENSOR(2)));
    if (td_is_meta(TD_TENSOR(0))) return meta_results(call, &s, target, 3);
    TD_TRY(take(&s, TD_TENSOR(0), target, TD_OPT_TENSOR(2)));
    td_status status = td_tensor_empty(&call->out[1], (td_dtype)s.x->dtype, (td_device)s.x->device,
                                       2, (int64_t[]){2, td_class_count(&s)});
    if (status == TD_OK) {
        status = statistics_of(&s, call->out[1]);
        if (status == TD_OK)
            status = reduce(&call->out[0], &call->out[2], &s, call->out[1], target);
    }
    release(&s);
    return status;
}

/* (grad_output, self, target, weight, reduction, ignore_index, statistics, total_weight) ->
 * grad_self */
td_status td_op__cross_entropy_backward(td_call *call)
{
    td_class_scores s = {
        .op = "cross_entropy_backward", .reduction = TD_INT(4), .ignore = TD_INT(5)};
    const td_tensor *x = TD_TENSOR(1);
    td_tensor *scale, *statistics = NULL;
    TD_TRY(check(&s, x, TD_TENSOR(2), TD_OPT_TENSOR(3)));
    if (TD_TENSOR(6)->numel != 2 * td_class_count(&s))
        return td_fail(TD_RUNTIME_ERROR,
                       "cross_entropy_backward: expected two statistics for each of %lld targets",
                       (long long)td_class_count(&s));
    if (td_is_meta(x)) return td_tensor_empty(&call->out[0], s.dtype, TD_META, x->ndim, x->sizes);
    TD_TRY(take(&s, x, TD_TENSOR(2), TD_OPT_TENSOR(3)));
    td_status status = scales(&scale, &s, TD_TENSOR(0), TD_TENSOR(7));
    if (status == TD_OK) {
        status = td_cast_contiguous(&statistics, TD_TENSOR(6), (td_dtype)s.x->dtype);
        if (status == TD_OK)
            status = td_tensor_empty(&call->out[0], (td_dtype)s.x->dtype, (td_device)x->device,
                                     x->ndim, x->sizes);
        if (status == TD_OK) {
            status = gradient_of(&s, statistics, scale, call->out[0]);
            if (status == TD_OK) status = convert(&call->out[0], s.dtype);
        }
        td_tensor_free(statistics);
        td_tensor_free(scale);
    }
    release(&s);
    return status;
}
