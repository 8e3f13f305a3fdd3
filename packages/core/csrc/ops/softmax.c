/* softmax.c - softmax, log_softmax, their gradients and logsumexp as operators. */
#include "cpu/softmax_run.h"
#include <math.h>
#include "ops/view/view.h"
#include "runtime/work.h"

#define SELF TD_TENSOR(0)
/* ---- dtypes and layouts ---- */

static td_dtype compute_dtype(td_dtype d) { return d == TD_F64 ? TD_F64 : TD_F32; }

static td_status check_dtype(const char *op, const td_tensor *x)
{
    td_dtype d = (td_dtype)x->dtype;
    if (d == TD_F16 || d == TD_BF16 || d == TD_F32 || d == TD_F64) return TD_OK;
    return td_fail(TD_NOT_IMPLEMENTED,
                   "%s is not implemented for '%s'; it takes floating-point tensors", op,
                   td_dtypes[d].type_name);
}

static td_status convert(td_tensor **t, td_dtype dtype)
{
    td_tensor *converted;
    if ((*t)->dtype == dtype) return TD_OK;
    td_status status = td_cast(&converted, *t, dtype);
    td_tensor_free(*t);
    *t = status == TD_OK ? converted : NULL;
    return status;
}

/* On the processor, or by the device's own kernels. */
static td_status run_along(td_softmax_kind kind, td_tensor *out, const td_tensor *a,
                           const td_tensor *b, int64_t dim)
{
    if (a->device == TD_CPU) return td_softmax_run(kind, out, a, b, dim), TD_OK;
    td_softmax_job job = {kind, out, a, b, dim, NULL};
    return td_work_run(TD_WORK_SOFTMAX, &job, (td_device)a->device, "softmax");
}

/* ---- forward ---- */

static td_status forward(td_call *call, const char *op, td_softmax_kind kind, td_dtype dtype)
{
    int64_t dim;
    td_tensor *x, *out;
    td_dtype compute = compute_dtype(dtype);
    TD_TRY(td_wrap_dim(TD_INT(1), SELF->ndim, &dim));
    if (SELF->dtype == dtype) TD_TRY(check_dtype(op, SELF));
    if (td_is_meta(SELF))
        return td_tensor_empty(&call->out[0], dtype, TD_META, SELF->ndim, SELF->sizes);
    TD_TRY(td_cast_contiguous(&x, SELF, compute));
    td_status status =
        td_tensor_empty(&out, compute, (td_device)SELF->device, SELF->ndim, SELF->sizes);
    if (status == TD_OK) {
        status = run_along(kind, out, x, x, dim);
        if (status == TD_OK) status = convert(&out, dtype);
        call->out[0] = out;
    }
    td_tensor_free(x);
    return status;
}

static td_status with_dtype(td_call *call, const char *op, td_softmax_kind kind)
{
    td_tensor *x, *self = SELF;
    td_dtype dtype = TD_DTYPE_OR(2, (td_dtype)SELF->dtype);
    TD_TRY(td_cast(&x, SELF, dtype));
    call->args[0].tensor = x;
    td_status status = forward(call, op, kind, dtype);
    call->args[0].tensor = self;
    td_tensor_free(x);
    return status;
}

td_status td_op_softmax(td_call *call) { return with_dtype(call, "softmax", TD_SOFTMAX); }
td_status td_op_log_softmax(td_call *call)
{
    return with_dtype(call, "log_softmax", TD_LOG_SOFTMAX);
}

static td_status check_half_to_float(const td_call *call, const char *op)
{
    return TD_BOOLEAN(2)
               ? td_fail(TD_RUNTIME_ERROR,
                         "%s: conversion from half to float is not supported on the CPU", op)
               : TD_OK;
}

td_status td_op__softmax(td_call *call)
{
    TD_TRY(check_half_to_float(call, "_softmax"));
    return forward(call, "_softmax", TD_SOFTMAX, (td_dtype)SELF->dtype);
}

td_status td_op__log_softmax(td_call *call)
{
    TD_TRY(check_half_to_float(call, "_log_softmax"));
    return forward(call, "_log_softmax", TD_LOG_SOFTMAX, (td_dtype)SELF->dtype);
}

/* ---- backward: (grad_output, output, dim, input_dtype) ---- */

static td_status check_backward(const td_call *call, const char *op)
{
    char a[TD_SHAPE_TEXT], b[TD_SHAPE_TEXT];
    const td_tensor *grad = TD_TENSOR(0), *result = TD_TENSOR(1);
    TD_TRY(check_dtype(op, grad));
    TD_TRY(check_dtype(op, result));
    if (td_same_shape(grad, result)) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "%s: grad_output of shape %s and output of shape %s must have the same shape",
                   op, td_shape_text(grad->ndim, grad->sizes, a),
                   td_shape_text(result->ndim, result->sizes, b));
}

static td_status backward(td_call *call, const char *op, td_softmax_kind kind)
{
    int64_t dim;
    td_tensor *grad = NULL, *result = NULL, *out = NULL;
    td_dtype compute = compute_dtype((td_dtype)TD_TENSOR(1)->dtype), dtype = (td_dtype)TD_INT(3);
    TD_TRY(td_wrap_dim(TD_INT(2), SELF->ndim, &dim));
    TD_TRY(check_backward(call, op));
    if (td_is_meta(SELF))
        return td_tensor_empty(&call->out[0], dtype, TD_META, SELF->ndim, SELF->sizes);
    td_status status = td_cast_contiguous(&grad, TD_TENSOR(0), compute);
    if (status == TD_OK) status = td_cast_contiguous(&result, TD_TENSOR(1), compute);
    if (status == TD_OK)
        status = td_tensor_empty(&out, compute, (td_device)SELF->device, SELF->ndim, SELF->sizes);
    if (status == TD_OK) {
        status = run_along(kind, out, grad, result, dim);
        if (status == TD_OK) status = convert(&out, dtype);
        call->out[0] = out;
    }
    td_tensor_free(grad);
    td_tensor_free(result);
    return status;
}

td_status td_op__softmax_backward_data(td_call *call)
{
    return backward(call, "_softmax_backward_data", TD_SOFTMAX_BACKWARD);
}
td_status td_op__log_softmax_backward_data(td_call *call)
{
    return backward(call, "_log_softmax_backward_data", TD_LOG_SOFTMAX_BACKWARD);
}

/* ---- logsumexp ---- */

/* x with the dims of `mask` last. */
static td_status dims_last(td_tensor **out, const td_tensor *x, uint64_t mask)
{
    int64_t order[TD_MAX_DIMS], n = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int d = 0; d < x->ndim; d++)
            if ((int)(mask >> d & 1) == pass) order[n++] = d;
    return td_view_permute(out, x, n, order);
}

static int64_t count_of(const td_tensor *x, uint64_t mask)
{
    int64_t n = 1;
    for (int d = 0; d < x->ndim; d++)
        if (mask >> d & 1) n *= x->sizes[d];
    return n;
}

/* Rows of n, by the device's kernel along one dimension. */
static td_status logsumexp_elsewhere(td_tensor *out, const td_tensor *dense, int64_t n)
{
    int64_t sizes[] = {out->numel, n};
    td_tensor *rows;
    TD_TRY(td_view_sizes(&rows, dense, 2, sizes));
    td_status status = run_along(TD_LOGSUMEXP, out, rows, rows, 1);
    td_tensor_free(rows);
    return status;
}

static td_status logsumexp_into(td_tensor *out, const td_tensor *x, uint64_t mask)
{
    td_tensor *turned, *dense;
    int64_t dim = mask ? __builtin_ctzll(mask) : 0, n = count_of(x, mask);
    if (n == 0 || out->numel == 0) {
        td_scalar none = td_scalar_float(-INFINITY);
        return td_fill(out, &none);
    }
    bool one = x->ndim && mask == (uint64_t)1 << dim && !td_is_complex((td_dtype)x->dtype);
    TD_TRY(one ? td_tensor_alias(&turned, x) : dims_last(&turned, x, mask));
    td_status status = td_contiguous(&dense, turned);
    td_tensor_free(turned);
    if (status != TD_OK) return status;
    if (one) status = run_along(TD_LOGSUMEXP, out, dense, dense, dim);
    else if (x->device == TD_CPU) td_logsumexp_rows(out, dense, n);
    else status = logsumexp_elsewhere(out, dense, n);
    td_tensor_free(dense);
    return status;
}

td_status td_op_logsumexp(td_call *call)
{
    uint64_t mask;
    int64_t sizes[TD_MAX_DIMS];
    int ndim = 0;
    td_tensor *x, *out;
    td_dtype own = (td_dtype)SELF->dtype, dtype = td_is_integral(own) ? td_default_dtype : own;
    td_dtype compute = td_is_complex(dtype) ? TD_C128 : compute_dtype(dtype);
    TD_TRY(td_dim_mask(&mask, TD_LEN(1), TD_INTS(1), SELF->ndim));
    if (TD_LEN(1) == 0) mask = UINT64_MAX; /* no dimension named: all */
    if (SELF->ndim < 64) mask &= ((uint64_t)1 << SELF->ndim) - 1;
    for (int d = 0; d < SELF->ndim; d++)
        if (!(mask >> d & 1) || TD_BOOLEAN(2)) sizes[ndim++] = mask >> d & 1 ? 1 : SELF->sizes[d];
    if (td_is_float8(own)) return check_dtype("logsumexp", SELF);
    if (td_is_meta(SELF)) return td_tensor_empty(&call->out[0], dtype, TD_META, ndim, sizes);
    TD_TRY(td_cast(&x, SELF, compute));
    td_status status = td_tensor_empty(&out, compute, (td_device)SELF->device, ndim, sizes);
    if (status == TD_OK) {
        status = logsumexp_into(out, x, mask);
        if (status == TD_OK) status = convert(&out, dtype);
        if (status != TD_OK) td_tensor_free(out);
        if (status == TD_OK) call->out[0] = out;
    }
    td_tensor_free(x);
    return status;
}
