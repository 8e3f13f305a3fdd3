/* run_device.c - the kernel of a call on a device that is neither cpu nor meta. The first of these that there is:
 *
 *   a function registered for the row and the type of device (td_op_register)
 *   the row's own C function, if it is elementwise or says device="any": it reaches elements through the device's table only
 *   the row's C function on the host, if it makes a tensor from numbers alone; the result is moved
 *   NotImplementedError
 */
#include "dispatch/dispatch.h"
#include "runtime/device.h"
#include "runtime/thread_local.h"

td_device td_find_elsewhere(const td_frame *f)
{
    td_device asked = f->schema->flags & TD_F_FACTORY ? td_here.default_device : TD_CPU;
    for (int k = 0; k < f->schema->nparams; k++) {
        const td_arg *a = &f->call.args[k];
        td_device d = TD_CPU;
        if (a->kind == TD_ARG_TENSOR) d = a->tensor->device;
        else if (a->kind == TD_ARG_TENSORS && a->n) d = td_common_device((int)a->n, a->tensors);
        else if (a->kind == TD_ARG_DEVICE) asked = (td_device)a->i;
        if (d > TD_META) return d;
    }
    return asked > TD_META ? asked : TD_CPU;
}

static int has_tensors(const td_frame *f)
{
    for (int k = 0; k < f->schema->nparams; k++)
        if (f->call.args[k].kind == TD_ARG_TENSOR || f->call.args[k].kind == TD_ARG_TENSORS) return 1;
    return 0;
}

/* ---- made on the host, then moved ---- */
static td_status move_result(td_tensor **out, td_device device)
{
    td_tensor *made = *out, *moved;
    td_status status = td_tensor_empty_strided(&moved, (td_dtype)made->dtype, device, made->ndim, made->sizes, made->strides);
    if (status != TD_OK) return status;
    if ((status = td_copy(moved, made)) != TD_OK) return td_tensor_free(moved), status;
    td_tensor_free(made);
    *out = moved;
    return TD_OK;
}

static TD_THREAD_LOCAL td_device target; /* of the call that runs below: an implementation has no room for more arguments */

static td_status on_host(td_call *call)
{
    td_device device = target;
    uint8_t usual = td_here.default_device;
    for (int k = 0; k < call->nargs; k++)
        if (call->args[k].kind == TD_ARG_DEVICE) call->args[k].i = TD_CPU;
    td_here.default_device = TD_CPU;
    td_status status = call->op->impl(call);
    td_here.default_device = usual;
    for (int k = 0; k < call->nout && status == TD_OK; k++)
        if (call->out[k] && call->out[k]->device == TD_CPU) status = move_result(&call->out[k], device);
    return status;
}

static int refuse(const td_frame *f, td_device device)
{
    char text[TD_DEVICE_TEXT];
    PyErr_Format(PyExc_NotImplementedError, "\"%s\" is not implemented for device '%s'; move the tensor with .cpu() before the call",
                 f->schema->text, td_device_text(device, text));
    return -1;
}

int td_run_on_device(td_frame *f, td_device device, td_made *made)
{
    const td_schema *s = f->schema;
    td_impl own = s->on_device ? s->on_device[td_device_type(device)] : NULL;
    if (own) return td_run_c(f, own, made);
    if (s->op.impl && (s->kind == TD_KIND_POINTWISE || s->flags & TD_F_ANY_DEVICE)) return td_run_c(f, s->op.impl, made);
    if (s->op.impl && s->flags & TD_F_FACTORY && !has_tensors(f)) {
        target = device;
        return td_run_c(f, on_host, made);
    }
    return refuse(f, device);
}
