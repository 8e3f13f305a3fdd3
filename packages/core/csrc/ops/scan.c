/* scan.c - cumsum, cumprod, logcumsumexp, cummax and cummin as operators. */
#include "cpu/scan_run.h"
#include "ops/view/view.h"
#include "runtime/device.h"

#define SELF TD_TENSOR(0)

/* on the processor, or by the device's kernels */
static td_status run(td_scan_kind kind, td_tensor *out, td_tensor *indices, const td_tensor *x,
                     int64_t dim)
{
    if (td_on_host(x)) return td_scan_run(kind, out, indices, x, dim);
    td_scan_job job = {kind, out, indices, x, dim};
    return td_work_run(TD_WORK_SCAN, &job, (td_device)x->device, "a scan");
}

/* ---- operators ---- */

static td_dtype kernel_dtype(td_scan_kind kind, td_dtype d)
{
    if (d == TD_F16 || d == TD_BF16) return TD_F32;
    if (d == TD_C32) return TD_C64;
    if (td_is_integral(d) && kind != TD_LOGCUMSUMEXP && d != TD_U64) return TD_I64;
    return d == TD_U64 && kind < TD_CUMMAX ? TD_I64 : d;
}

static td_status cannot(const char *op, td_dtype d)
{
    return td_fail(TD_NOT_IMPLEMENTED, "%s is not implemented for '%s'", op,
                   td_dtypes[d].type_name);
}

/* Complex sums are sums of their parts: one more, innermost dimension. */
static td_status sum_parts(td_tensor *out, const td_tensor *x, int64_t dim)
{
    td_tensor *from = NULL, *to = NULL;
    TD_TRY(td_view_as_real(&from, x));
    td_status status = td_view_as_real(&to, out);
    if (status == TD_OK) status = x->ndim ? run(TD_CUMSUM, to, NULL, from, dim) : td_copy(out, x);
    td_tensor_free(from);
    td_tensor_free(to);
    return status;
}

static td_status accumulate(td_call *call, const char *op, td_scan_kind kind, td_dtype result)
{
    int64_t dim;
    td_tensor *x, *cast, *made = NULL;
    td_dtype compute = kernel_dtype(kind, result);
    bool parts = kind == TD_CUMSUM && td_is_complex(result);
    TD_TRY(td_wrap_dim(TD_INT(1), SELF->ndim, &dim));
    if (compute > TD_C128 || (!parts && !td_scan_has(kind, compute))) return cannot(op, result);
    if (td_is_meta(SELF))
        return td_tensor_empty(&call->out[0], result, TD_META, SELF->ndim, SELF->sizes);
    TD_TRY(td_cast(&cast, SELF, result)); /* dtype= converts before it accumulates */
    td_status status = td_cast_contiguous(&x, cast, compute);
    td_tensor_free(cast);
    if (status != TD_OK) return status;
    status = td_tensor_empty(&made, compute, (td_device)x->device, x->ndim, x->sizes);
    if (status == TD_OK) status = parts ? sum_parts(made, x, dim) : run(kind, made, NULL, x, dim);
    if (status == TD_OK) status = td_cast(&call->out[0], made, result);
    td_tensor_free(made);
    td_tensor_free(x);
    return status;
}

static td_dtype accumulated(const td_call *call)
{
    td_dtype own = (td_dtype)call->args[0].tensor->dtype;
    return call->args[2].kind != TD_ARG_NONE ? (td_dtype)call->args[2].i
           : td_is_integral(own)             ? TD_I64
                                             : own;
}

td_status td_op_cumsum(td_call *call)
{
    return accumulate(call, "cumsum", TD_CUMSUM, accumulated(call));
}
td_status td_op_cumprod(td_call *call)
{
    return accumulate(call, "cumprod", TD_CUMPROD, accumulated(call));
}
td_status td_op_logcumsumexp(td_call *call)
{
    return accumulate(call, "logcumsumexp", TD_LOGCUMSUMEXP, (td_dtype)SELF->dtype);
}

static td_status extremum(td_call *call, const char *op, td_scan_kind kind)
{
    int64_t dim;
    td_tensor *x, *values = NULL;
    td_dtype own = (td_dtype)SELF->dtype, compute = kernel_dtype(kind, own);
    TD_TRY(td_wrap_dim(TD_INT(1), SELF->ndim, &dim));
    if (!td_scan_has(kind, compute)) return cannot(op, own);
    if (td_is_meta(SELF)) {
        TD_TRY(td_tensor_empty(&call->out[0], own, TD_META, SELF->ndim, SELF->sizes));
        return td_tensor_empty(&call->out[1], TD_I64, TD_META, SELF->ndim, SELF->sizes);
    }
    TD_TRY(td_cast_contiguous(&x, SELF, compute));
    td_status status = td_tensor_empty(&values, compute, (td_device)x->device, x->ndim, x->sizes);
    if (status == TD_OK)
        status = td_tensor_empty(&call->out[1], TD_I64, (td_device)x->device, x->ndim, x->sizes);
    if (status == TD_OK) status = run(kind, values, call->out[1], x, dim);
    if (status == TD_OK) status = td_cast(&call->out[0], values, own);
    td_tensor_free(values);
    td_tensor_free(x);
    return status;
}

td_status td_op_cummax(td_call *call) { return extremum(call, "cummax", TD_CUMMAX); }
td_status td_op_cummin(td_call *call) { return extremum(call, "cummin", TD_CUMMIN); }
