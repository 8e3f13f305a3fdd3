/* dispatch.h - what the steps of one call hand each other (dispatch.c draws the way). */
#ifndef TD_DISPATCH_H
#define TD_DISPATCH_H
#include "object/py.h"

/* What an implementation made; new references. */
typedef struct td_made {
    PyObject *outs[TD_MAX_OUTS]; /* its tensors */
    int n;
    PyObject *list; /* or a Tensor[], or a value that is no tensor; else NULL */
} td_made;

/* ---- run_kernel.c: 0, or -1 with an exception ---- */
int td_run_backend(td_frame *f, td_made *made);
/* opens the frame; closed again on failure */
int td_bind_all(td_frame *f, const td_function *single, td_schema *s, PyObject *values);

int td_run_c(td_frame *f, td_impl impl, td_made *made); /* one C function, its results wrapped */

/* ---- run_seen.c ---- */
/* a dispatch mode, a type with __torch_dispatch__ or a tracer decides */
int td_run_seen(td_frame *f, td_made *made);

/* of a type that dispatches, above autograd; NotImplemented if the operator is one part */
PyObject *td_run_in_parts(td_frame *f);

/* ---- run_device.c ---- */
td_device td_find_elsewhere(const td_frame *f);
/* Where a call computes if that is neither cpu nor meta; else TD_CPU. */
static inline td_device td_device_elsewhere(const td_frame *f)
{
    td_device asked = f->schema->flags & TD_F_FACTORY ? td_here.default_device : TD_CPU;
    return (f->devices | asked) > TD_META ? td_find_elsewhere(f) : TD_CPU;
}
int td_run_on_device(td_frame *f, td_device device, td_made *made);

/* ---- run_python.c ---- */
PyObject *td_arguments_tuple(const td_frame *f);
/* what a Python kernel gets for a tensor: outside the graph; None for NULL */
PyObject *td_plain_tensor(PyObject *o, td_tensor *t);
int td_run_python(td_frame *f, td_made *made);
/* the same with a function for the row's own; NULL: that one */
int td_run_callable(td_frame *f, PyObject *callable, td_made *made);
PyObject *td_run_composite(td_frame *f);

/* How it was outside of a Python kernel, which sees plain tensors: grad mode off, every layer
 * hidden. */
typedef struct td_outside {
    uint8_t grad_mode;
    uint32_t excluded;
} td_outside;
static inline td_outside td_go_below(void)
{
    td_outside was = {td_here.grad_mode, td_here.excluded};
    td_here.grad_mode = 0;
    td_here.excluded |= TD_LAYER_FUNCTION_MODE | TD_LAYER_OVERRIDE | TD_LAYER_TRACE |
                        TD_LAYER_DISPATCH_MODE | TD_LAYER_DUAL;
    return was;
}
static inline void td_come_back(td_outside was)
{
    td_here.grad_mode = was.grad_mode;
    td_here.excluded = was.excluded;
}

/* ---- named_results.c ---- */
PyObject *td_pack_results(const td_schema *s, PyObject **outs, int n); /* takes the outs over */
#endif
