/* loss_margin.c - margins between the classes of a sample, of one label or of several. */
#include "cpu/loss_margin_run.h"
#include "runtime/device.h"
#include "runtime/loops.h"
#include "runtime/op.h"
#include "runtime/work.h"

static td_status check(const td_tensor *x, const td_tensor *target)
{
    if (x->dtype != TD_F32 && x->dtype != TD_F64)
        return td_fail(TD_NOT_IMPLEMENTED,
                       "_margin_loss is not implemented for '%s'; it takes float32 and float64",
                       td_dtypes[x->dtype].type_name);
    if (target->dtype != TD_I64)
        return td_fail(TD_RUNTIME_ERROR, "_margin_loss: expected targets of int64, but got %s",
                       td_dtypes[target->dtype].name);
    if (x->ndim == 2 && x->sizes[1] > 0 && (target->ndim == 1 || target->ndim == 2) &&
        target->sizes[0] == x->sizes[0])
        return TD_OK;
    char a[TD_SHAPE_TEXT], b[TD_SHAPE_TEXT];
    return td_fail(TD_RUNTIME_ERROR,
                   "_margin_loss: expected scores (N, C) with classes and a target (N) or (N, L), "
                   "but got %s and %s",
                   td_shape_text(x->ndim, x->sizes, a),
                   td_shape_text(target->ndim, target->sizes, b));
}

static td_status run(const td_margins *m)
{
    if (td_on_host(m->x)) return td_margins_run(m);
    return td_work_run(TD_WORK_MARGINS, m, (td_device)m->x->device, "_margin_loss");
}

/* (self, target, margin) -> (loss, slope) */
td_status td_op__margin_loss(td_call *call)
{
    const td_tensor *x = TD_TENSOR(0), *target = TD_TENSOR(1);
    TD_TRY(check(x, target));
    TD_TRY(td_tensor_empty(&call->out[0], (td_dtype)x->dtype, (td_device)x->device, 1, x->sizes));
    TD_TRY(td_tensor_empty(&call->out[1], (td_dtype)x->dtype, (td_device)x->device, 2, x->sizes));
    if (td_is_meta(x)) return TD_OK;
    td_tensor *dense = NULL, *labels = NULL;
    td_status status = td_contiguous(&dense, x);
    if (status == TD_OK) status = td_contiguous(&labels, target);
    if (status == TD_OK)
        status = run(&(td_margins){dense, labels, TD_FLOAT(2), call->out[0], call->out[1]});
    td_tensor_free(dense);
    td_tensor_free(labels);
    return status;
}
