/* order.c - picking by rank or frequency along a dimension: kthvalue, median, nanmedian, mode. */
#include <math.h>
#include "cpu/reduction/order_run.h"
#include "ops/view/view.h"

#define SELF TD_TENSOR(0)

static td_status check(const char *op, const td_tensor *x, td_rank what)
{
    td_dtype d = (td_dtype)x->dtype;
    if (td_is_complex(d) || td_is_float8(d) || (d == TD_BOOL && what != TD_RANK_MODE))
        return td_fail(TD_NOT_IMPLEMENTED, "%s is not implemented for '%s'", op,
                       td_dtypes[d].type_name);
    return TD_OK;
}

/* One element of every row, where the tensors lie. */
static td_status rank(const char *op, const td_rows *rows, const td_tensor *x, td_rank what,
                      int64_t k, td_tensor *values, td_tensor *indices)
{
    td_dtype dtype = (td_dtype)x->dtype;
    if (x->device == TD_CPU) return td_rank_run(rows, dtype, what, k, values, indices);
    td_rank_job job = {rows, dtype, what, k, values, indices};
    return td_work_run(TD_WORK_RANK, &job, (td_device)x->device, op);
}

/* values and indices of shape without `dim` (or with 1 there) */
static td_status pick_along(td_call *call, const char *op, td_rank what, int64_t k, int64_t dim,
                            bool keepdim)
{
    td_rows rows;
    td_tensor *x;
    int64_t sizes[TD_MAX_DIMS], ndim = 0;
    TD_TRY(td_wrap_dim(dim, SELF->ndim, &dim));
    int64_t n = SELF->ndim ? SELF->sizes[dim] : 1;
    if (n == 0)
        return td_fail(TD_INDEX_ERROR, "%s(): Expected reduction dim %lld to have non-zero size.",
                       op, (long long)dim);
    if (what == TD_RANK_KTH && (k < 1 || k > n))
        return td_fail(TD_RUNTIME_ERROR,
                       "%s(): selected number k out of range for dimension %lld: k is %lld, there "
                       "are %lld elements",
                       op, (long long)dim, (long long)k, (long long)n);
    TD_TRY(check(op, SELF, what));
    for (int d = 0; d < SELF->ndim; d++)
        if (d != dim || keepdim) sizes[ndim++] = d == dim ? 1 : SELF->sizes[d];
    TD_TRY(td_tensor_empty(&call->out[0], (td_dtype)SELF->dtype, (td_device)SELF->device, (int)ndim,
                           sizes));
    TD_TRY(td_tensor_empty(&call->out[1], TD_I64, (td_device)SELF->device, (int)ndim, sizes));
    if (td_is_meta(SELF)) return TD_OK;
    TD_TRY(td_contiguous(&x, SELF));
    td_status status = td_rows_of(&rows, op, x, dim);
    if (status == TD_OK && x->numel)
        status = rank(op, &rows, x, what, k - 1, call->out[0], call->out[1]);
    td_tensor_free(x);
    return status;
}

/* (self, k, dim, keepdim); (self, dim, keepdim) */
td_status td_op_kthvalue(td_call *call)
{
    return pick_along(call, "kthvalue", TD_RANK_KTH, TD_INT(1), TD_INT(2), TD_BOOLEAN(3));
}
td_status td_op_mode(td_call *call)
{
    return pick_along(call, "mode", TD_RANK_MODE, 1, TD_INT(1), TD_BOOLEAN(2));
}
td_status td_op_median_dim(td_call *call)
{
    return pick_along(call, "median", TD_RANK_MEDIAN, 1, TD_INT(1), TD_BOOLEAN(2));
}
td_status td_op_nanmedian_dim(td_call *call)
{
    return pick_along(call, "nanmedian", TD_RANK_NANMEDIAN, 1, TD_INT(1), TD_BOOLEAN(2));
}

/* Of all elements; of none it is NaN, or the smallest number where there is no NaN. */
static td_status median_of_all(td_call *call, const char *op, td_rank what)
{
    td_rows rows;
    td_tensor *x, *flat;
    td_dtype dtype = (td_dtype)SELF->dtype;
    TD_TRY(check(op, SELF, what));
    TD_TRY(td_tensor_empty(&call->out[0], dtype, (td_device)SELF->device, 0, NULL));
    if (td_is_meta(SELF)) return TD_OK;
    if (SELF->numel == 0) {
        int64_t least = td_dtypes[dtype].is_signed ? INT64_MIN >> (64 - 8 * td_itemsize(dtype)) : 0;
        td_scalar none = td_is_floating(dtype) ? td_scalar_float(NAN) : td_scalar_int(least);
        return td_fill(call->out[0], &none);
    }
    TD_TRY(td_contiguous(&x, SELF));
    td_status status = td_view_sizes(&flat, x, 1, &x->numel);
    if (status == TD_OK) {
        status = td_rows_of(&rows, op, flat, 0);
        if (status == TD_OK) status = rank(op, &rows, flat, what, 0, call->out[0], NULL);
        td_tensor_free(flat);
    }
    td_tensor_free(x);
    return status;
}

td_status td_op_median(td_call *call) { return median_of_all(call, "median", TD_RANK_MEDIAN); }
td_status td_op_nanmedian(td_call *call)
{
    return median_of_all(call, "nanmedian", TD_RANK_NANMEDIAN);
}
