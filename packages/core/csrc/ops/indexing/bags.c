/* bags.c - rows of a table, added up over bags of their numbers. */
#include "cpu/indexing_bags_run.h"
#include "runtime/device.h"
#include "runtime/loops.h"
#include "runtime/op.h"

static td_status check(const td_tensor *table, const td_tensor *places, const td_tensor *edges)
{
    char a[TD_SHAPE_TEXT], b[TD_SHAPE_TEXT], c[TD_SHAPE_TEXT];
    if (table->dtype != TD_F32 && table->dtype != TD_F64)
        return td_fail(TD_NOT_IMPLEMENTED, "_bag_sums takes float32 and float64, got %s",
                       td_dtypes[table->dtype].name);
    if (table->ndim == 2 && places->ndim == 1 && places->dtype == TD_I64 && edges->ndim == 1 &&
        edges->dtype == TD_I64 && edges->sizes[0] > 0)
        return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "_bag_sums: expected a table (V, M), places (N) and edges (B + 1) of int64, but "
                   "got %s, %s of %s and %s of %s",
                   td_shape_text(table->ndim, table->sizes, a),
                   td_shape_text(places->ndim, places->sizes, b), td_dtypes[places->dtype].name,
                   td_shape_text(edges->ndim, edges->sizes, c), td_dtypes[edges->dtype].name);
}

/* (weight, indices, edges) */
td_status td_op__bag_sums(td_call *call)
{
    const td_tensor *given[] = {TD_TENSOR(0), TD_TENSOR(1), TD_TENSOR(2)};
    td_tensor *dense[3] = {NULL, NULL, NULL};
    TD_TRY(check(given[0], given[1], given[2]));
    int64_t sizes[] = {given[2]->sizes[0] - 1, given[0]->sizes[1]};
    TD_TRY(td_tensor_empty(&call->out[0], (td_dtype)given[0]->dtype, (td_device)given[0]->device, 2,
                           sizes));
    if (td_is_meta(given[0])) return TD_OK;
    td_status status = TD_OK;
    for (int k = 0; k < 3 && status == TD_OK; k++) status = td_contiguous(&dense[k], given[k]);
    if (status == TD_OK) status = td_bags_run(call->out[0], dense[0], dense[1], dense[2]);
    for (int k = 0; k < 3; k++) td_tensor_free(dense[k]);
    return status;
}
