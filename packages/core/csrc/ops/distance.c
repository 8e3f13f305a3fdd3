/* distance.c - distances between all rows of two matrices, without a tensor of differences. */
#include "cpu/distance_run.h"
#include "runtime/device.h"
#include "runtime/loops.h"
#include "runtime/op.h"
#include "runtime/work.h"

static td_status check(const char *op, const td_tensor *x, const td_tensor *y)
{
    int last = x->ndim - 1;
    bool fits = x->ndim >= 2 && y->ndim == x->ndim && x->sizes[last] == y->sizes[last];
    for (int d = 0; fits && d < last - 1; d++) fits = x->sizes[d] == y->sizes[d];
    if (x->dtype != y->dtype || (x->dtype != TD_F32 && x->dtype != TD_F64))
        return td_fail(TD_NOT_IMPLEMENTED, "%s takes float32 or float64, both alike, got %s and %s",
                       op, td_dtypes[x->dtype].name, td_dtypes[y->dtype].name);
    if (fits) return TD_OK;
    char a[TD_SHAPE_TEXT], b[TD_SHAPE_TEXT];
    return td_fail(TD_RUNTIME_ERROR, "%s: expected (..., P, M) and (..., R, M), but got %s and %s",
                   op, td_shape_text(x->ndim, x->sizes, a), td_shape_text(y->ndim, y->sizes, b));
}

static td_distances between(const td_tensor *x, const td_tensor *y, double p)
{
    td_distances d = {x, y, 1, x->sizes[x->ndim - 2], y->sizes[y->ndim - 2], x->sizes[x->ndim - 1],
                      p};
    for (int k = 0; k < x->ndim - 2; k++) d.batches *= x->sizes[k];
    return d;
}

static td_status pairs_empty(td_tensor **out, const td_tensor *x, const td_tensor *y)
{
    int64_t sizes[TD_MAX_DIMS];
    for (int k = 0; k < x->ndim; k++) sizes[k] = x->sizes[k];
    sizes[x->ndim - 1] = y->sizes[y->ndim - 2];
    return td_tensor_empty(out, (td_dtype)x->dtype, (td_device)x->device, x->ndim, sizes);
}

static td_status compute(const td_distance_job *j)
{
    td_device device = (td_device)j->out->device;
    if (device != TD_CPU)
        return td_work_run(TD_WORK_DISTANCE, j, device,
                           j->grad ? "_row_distances_backward" : "_row_distances");
    return j->grad ? td_distances_pull(j->d, j->grad, j->distance, j->out)
                   : td_distances_run(j->d, j->out);
}

/* (x1, x2, p) */
td_status td_op__row_distances(td_call *call)
{
    const td_tensor *x = TD_TENSOR(0), *y = TD_TENSOR(1);
    td_tensor *a = NULL, *b = NULL;
    TD_TRY(check("_row_distances", x, y));
    TD_TRY(pairs_empty(&call->out[0], x, y));
    if (td_is_meta(x) || call->out[0]->numel == 0) return TD_OK;
    td_status status = td_contiguous(&a, x);
    if (status == TD_OK) status = td_contiguous(&b, y);
    td_distances d = between(x, y, TD_FLOAT(2));
    d.x = a;
    d.y = b;
    if (status == TD_OK) status = compute(&(td_distance_job){&d, NULL, NULL, call->out[0]});
    td_tensor_free(a);
    td_tensor_free(b);
    return status;
}

static td_status check_pairs(const td_tensor *x, const td_tensor *y, const td_tensor *pairs)
{
    bool fits = pairs->ndim == x->ndim && pairs->dtype == x->dtype &&
                pairs->sizes[x->ndim - 1] == y->sizes[y->ndim - 2];
    for (int k = 0; fits && k < x->ndim - 1; k++) fits = pairs->sizes[k] == x->sizes[k];
    if (fits) return TD_OK;
    char a[TD_SHAPE_TEXT], b[TD_SHAPE_TEXT], c[TD_SHAPE_TEXT];
    return td_fail(
        TD_RUNTIME_ERROR,
        "_row_distances_backward: expected a number for each pair of rows of %s and %s, but got %s",
        td_shape_text(x->ndim, x->sizes, a), td_shape_text(y->ndim, y->sizes, b),
        td_shape_text(pairs->ndim, pairs->sizes, c));
}

/* (grad, x1, x2, p, distance): the gradient of x1 */
td_status td_op__row_distances_backward(td_call *call)
{
    const td_tensor *given[] = {TD_TENSOR(0), TD_TENSOR(1), TD_TENSOR(2), TD_TENSOR(4)};
    const td_tensor *x = given[1], *y = given[2];
    td_tensor *dense[4] = {NULL, NULL, NULL, NULL};
    TD_TRY(check("_row_distances_backward", x, y));
    TD_TRY(check_pairs(x, y, given[0]));
    TD_TRY(check_pairs(x, y, given[3]));
    TD_TRY(td_tensor_empty(&call->out[0], (td_dtype)x->dtype, (td_device)x->device, x->ndim,
                           x->sizes));
    if (td_is_meta(x) || x->numel == 0) return TD_OK;
    td_status status = TD_OK;
    for (int k = 0; k < 4 && status == TD_OK; k++) status = td_contiguous(&dense[k], given[k]);
    td_distances d = between(x, y, TD_FLOAT(3));
    d.x = dense[1];
    d.y = dense[2];
    if (status == TD_OK) status = compute(&(td_distance_job){&d, dense[0], dense[3], call->out[0]});
    for (int k = 0; k < 4; k++) td_tensor_free(dense[k]);
    return status;
}
