/* softmax_segments.c - softmax and log_softmax of segments of any length that lie one after the
 * other in the rows of a matrix, and their gradients. */
#include "cpu/softmax_run.h"
#include "runtime/op.h"
#include "runtime/work.h"

static td_status check_dtypes(const td_tensor *a, const td_tensor *b, const td_tensor *edges)
{
    td_dtype d = (td_dtype)a->dtype;
    if ((d == TD_F32 || d == TD_F64) && d == (td_dtype)b->dtype && edges->dtype == TD_I64)
        return TD_OK;
    return td_fail(TD_NOT_IMPLEMENTED,
                   "segment softmax: wanted numbers of float32 or float64 and edges of int64, but "
                   "got %s, %s and %s",
                   td_dtypes[d].name, td_dtypes[b->dtype].name, td_dtypes[edges->dtype].name);
}

static td_status check_shapes(const td_tensor *a, const td_tensor *b, const td_tensor *edges)
{
    char first[TD_SHAPE_TEXT], second[TD_SHAPE_TEXT], third[TD_SHAPE_TEXT];
    if (a->ndim == 2 && td_same_shape(a, b) && edges->ndim == 1 && edges->numel > 0) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "segment softmax: wanted matrices of one shape and edges (segments + 1), but "
                   "got %s, %s and %s",
                   td_shape_text(a->ndim, a->sizes, first),
                   td_shape_text(b->ndim, b->sizes, second),
                   td_shape_text(edges->ndim, edges->sizes, third));
}

/* On the processor, or by the device's own kernels. */
static td_status run_dense(td_softmax_kind kind, td_tensor *out, const td_tensor *a,
                           const td_tensor *b, const td_tensor *edges)
{
    if (out->device == TD_CPU) return td_softmax_segments(kind, out, a, b, edges);
    td_softmax_job job = {kind, out, a, b, 1, edges};
    return td_work_run(TD_WORK_SOFTMAX, &job, (td_device)out->device, "segment softmax");
}

static td_status run(td_tensor *out, td_softmax_kind kind, const td_tensor *a, const td_tensor *b,
                     const td_tensor *edges)
{
    td_tensor *first = NULL, *second = NULL, *dense = NULL;
    td_status status = td_contiguous(&dense, edges);
    if (!status) status = td_contiguous(&first, a);
    if (!status) status = td_contiguous(&second, b);
    if (!status) status = run_dense(kind, out, first, second, dense);
    td_tensor_free(dense);
    td_tensor_free(first);
    td_tensor_free(second);
    return status;
}

static td_status along(td_call *call, td_softmax_kind kind, const td_tensor *a, const td_tensor *b,
                       const td_tensor *edges)
{
    TD_TRY(check_shapes(a, b, edges));
    TD_TRY(check_dtypes(a, b, edges));
    TD_TRY(td_tensor_empty(&call->out[0], (td_dtype)a->dtype, (td_device)a->device, 2, a->sizes));
    return td_is_meta(a) ? TD_OK : run(call->out[0], kind, a, b, edges);
}

/* _segment_softmax(values, edges, is_log) */
td_status td_op_segment_softmax(td_call *call)
{
    const td_tensor *x = TD_TENSOR(0);
    return along(call, TD_BOOLEAN(2) ? TD_LOG_SOFTMAX : TD_SOFTMAX, x, x, TD_TENSOR(1));
}

/* _segment_softmax_backward(grad, output, edges, is_log) */
td_status td_op_segment_softmax_backward(td_call *call)
{
    td_softmax_kind kind = TD_BOOLEAN(3) ? TD_LOG_SOFTMAX_BACKWARD : TD_SOFTMAX_BACKWARD;
    return along(call, kind, TD_TENSOR(0), TD_TENSOR(1), TD_TENSOR(2));
}
