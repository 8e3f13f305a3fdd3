/* sort.c - sort and topk as operators. */
#include "ops/sorting/sort.h"
#include "runtime/device.h"

#define SELF TD_TENSOR(0)

td_status td_sort_dense(td_tensor **out, const td_tensor *x, const char *op)
{
    if (td_is_complex((td_dtype)x->dtype))
        return td_fail(TD_RUNTIME_ERROR,
                       "%s does not support complex dtypes: complex numbers have no order", op);
    return td_contiguous(out, x);
}

/* by the device's kernels: the first k of every row */
static td_status elsewhere(td_call *call, const td_rows *rows, int64_t k, bool descending)
{
    td_sort_job job = {rows, call->out[0], call->out[1], k, descending};
    return td_work_run(TD_WORK_SORT, &job, (td_device)call->out[0]->device, "sorting");
}

/* ---- sort ---- */

static td_status sort(td_call *call, int64_t dim, bool descending)
{
    td_rows rows;
    td_tensor *x;
    TD_TRY(td_wrap_dim(dim, SELF->ndim, &dim));
    if (td_is_meta(SELF)) {
        TD_TRY(td_tensor_empty(&call->out[0], (td_dtype)SELF->dtype, TD_META, SELF->ndim,
                               SELF->sizes));
        return td_tensor_empty(&call->out[1], TD_I64, TD_META, SELF->ndim, SELF->sizes);
    }
    TD_TRY(td_sort_dense(&x, SELF, "sort"));
    td_status status = td_rows_of(&rows, "sort", x, dim);
    if (status == TD_OK)
        status = td_tensor_empty(&call->out[0], (td_dtype)x->dtype, (td_device)x->device, x->ndim,
                                 x->sizes);
    if (status == TD_OK)
        status = td_tensor_empty(&call->out[1], TD_I64, (td_device)x->device, x->ndim, x->sizes);
    if (status == TD_OK && x->numel && td_on_host(x))
        status = td_sort_run(&rows, call->out[0], call->out[1], descending);
    else if (status == TD_OK && x->numel) status = elsewhere(call, &rows, rows.n, descending);
    td_tensor_free(x);
    return status;
}

/* (self, dim, descending), (self, *, stable, dim, descending): the order is stable in either */
td_status td_op_sort(td_call *call) { return sort(call, TD_INT(1), TD_BOOLEAN(2)); }
td_status td_op_sort_stable(td_call *call) { return sort(call, TD_INT(2), TD_BOOLEAN(3)); }

/* ---- topk ---- */

/* (self, k, dim, largest, sorted): always sorted */
td_status td_op_topk(td_call *call)
{
    td_rows rows;
    td_tensor *x;
    int64_t k = TD_INT(1), dim, sizes[TD_MAX_DIMS];
    TD_TRY(td_wrap_dim(TD_INT(2), SELF->ndim, &dim));
    int64_t n = SELF->ndim ? SELF->sizes[dim] : 1;
    if (k < 0 || k > n)
        return td_fail(
            TD_RUNTIME_ERROR,
            "topk: selected index k out of range: k is %lld, dimension %lld has %lld elements",
            (long long)k, (long long)dim, (long long)n);
    if (td_is_complex((td_dtype)SELF->dtype) || SELF->dtype == TD_BOOL)
        return td_fail(TD_RUNTIME_ERROR, "topk does not support %s dtypes",
                       SELF->dtype == TD_BOOL ? "bool" : "complex");
    for (int d = 0; d < SELF->ndim; d++) sizes[d] = d == dim ? k : SELF->sizes[d];
    if (SELF->ndim == 0) k = 1; /* the result has one number in any case */
    td_device device = (td_device)SELF->device;
    TD_TRY(td_tensor_empty(&call->out[0], (td_dtype)SELF->dtype, device, SELF->ndim, sizes));
    TD_TRY(td_tensor_empty(&call->out[1], TD_I64, device, SELF->ndim, sizes));
    if (td_is_meta(SELF)) return TD_OK;
    TD_TRY(td_contiguous(&x, SELF));
    td_status status = td_rows_of(&rows, "topk", x, dim);
    if (status == TD_OK && call->out[0]->numel && td_on_host(x))
        status = td_top_run(&rows, call->out[0], call->out[1], k, TD_BOOLEAN(3));
    else if (status == TD_OK && call->out[0]->numel)
        status = elsewhere(call, &rows, k, TD_BOOLEAN(3));
    td_tensor_free(x);
    return status;
}
