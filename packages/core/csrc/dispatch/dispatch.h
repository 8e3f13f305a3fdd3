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

/* ---- dispatch.c ---- */
PyObject *td_call_entry(const td_function *f, PyObject *self, PyObject *const *args,
                        Py_ssize_t nargs, PyObject *kwnames);
PyObject *td_run(td_frame *frame); /* below the override layer */
/* Call an op from C on objects: positional arguments only, NULL stands for the default. New
 * reference or NULL. */
PyObject *td_apply(const td_function *f, int n, PyObject *const *args);
/* a + b without the parser */
PyObject *td_slot_binary(const td_function *f, td_schema *s, PyObject *a, PyObject *b);
/* lets what lies below ask (td_dispatcher) */
void td_put_dispatcher(void);

/* ---- arguments.c, bind.c ---- */
/* Parse into `frame` with the first overload that fits; 0, or -1 with TypeError. `self` may be NULL
 * (function form). args: positional values then keyword values, names in `kwnames` (a tuple or
 * NULL). */
int td_parse(td_frame *frame, const td_function *f, PyObject *self, PyObject *const *args,
             Py_ssize_t nargs, PyObject *kwnames);
/* has its type a __torch_function__ that takes part? */
int td_has_override(PyObject *o);
/* With a TypeError set, of a call that nothing here takes: is the call for somebody else? A size,
 * or what a list or a slice holds, may know what a call with it means. Then the error is gone. */
int td_is_for_others(PyObject *const *args, Py_ssize_t n, int in_lists);
/* set parameter k of frame->schema from an object: 1, 0 wrong type, -1 */
int td_bind(td_frame *frame, int k, PyObject *o);
/* a Python number where the schema says Tensor: 1, 0, -1 */
int td_bind_number(td_frame *frame, int k, PyObject *o);

/* ---- run_kernel.c: 0, or -1 with an exception ---- */
PyObject *td_call_backend(PyObject *module, PyObject *args);
int td_run_backend(td_frame *f, td_made *made);
/* opens the frame; closed again on failure */
int td_bind_all(td_frame *f, const td_function *single, td_schema *s, PyObject *values);

int td_run_c(td_frame *f, td_impl impl, td_made *made); /* one C function, its results wrapped */

/* ---- run_seen.c ---- */
/* What autograd keeps or hands out for a tensor that dispatches: `function` (detach, clone) called
 * on it below every layer but tracers. */
PyObject *td_below(const td_function *function, PyObject *tensor);
/* The tensor that the k-th result is by the schema, whatever was answered: one that the call
 * writes; or NULL. */
PyObject *td_written(const td_frame *f, int k);
/* a dispatch mode, a type with __torch_dispatch__ or a tracer decides */
int td_run_seen(td_frame *f, td_made *made);

/* ---- run_planned.c ---- */
/* A call on tensors in parts: 1 with its results in `made`, or with an answer of the class to be
 * taken; 0: it is none, or not to be planned; -1 with an exception. */
int td_run_planned(const td_frame *f, td_made *made, PyObject **answer);
int td_add_plans(PyObject *module);

/* of a type that dispatches, above autograd; NotImplemented if the operator is one part */
PyObject *td_run_in_parts(td_frame *f);

/* ---- run_layout.c ---- */
/* A call with an argument whose layout is not strided: the rule of the layout for the row, or a
 * refusal. It comes before composites and autograd, so nothing below meets such a tensor. */
PyObject *td_run_layout(td_frame *f);
/* raises: an operator below every layer was handed one; -1 */
int td_refuse_layout(const td_frame *f);
PyObject *td_layout_rules(PyObject *module, PyObject *args);

/* ---- run_named.c ---- */
/* A call with tensors whose dimensions have names, around its run: what becomes of them, and the
 * result with them. Both also take a frame whose names or override are switched off. */
typedef struct td_naming {
    PyObject *args, *names; /* NULL: no names to look at */
    uint32_t excluded;
} td_naming;
int td_names_before(td_frame *f, td_naming *n); /* 0, or -1 with an exception */
PyObject *td_names_after(td_frame *f, td_naming *n, PyObject *made);
/* With a TypeError set: is there text among the arguments, alone or in a list, or names=? */
int td_asks_by_name(PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
PyObject *td_names_of(PyObject *module, PyObject *tensor);
PyObject *td_set_names(PyObject *module, PyObject *args);
PyObject *td_op_names(PyObject *module, PyObject *row);

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

/* ---- results.c: into given tensors; 0, or -1 with an exception ---- */
int td_check_cast(const char *name, td_dtype from, td_dtype to);
int td_check_out(const td_frame *frame);
int td_place_results(td_frame *frame, PyObject **outs, int nouts);

/* ---- entries.c ---- */
PyObject *td_function_object(const td_function *f); /* borrowed: taeda.<name> */
PyObject *td_function_tables(void);
/* generated methods of Tensor, then `own` */
PyMethodDef *td_entry_methods(PyMethodDef *own);

/* ---- what the module gets: numbers.c, program.c, callkey.c, chains.c ---- */
int td_add_flags(PyObject *module);
int td_add_program(PyObject *module);
int td_add_chains(PyObject *module);
PyObject *td_call_key(PyObject *module, PyObject *args);
PyObject *td_gradients_are(PyObject *module, PyObject *args);

/* ---- named_results.c ---- */
PyObject *td_result_types(PyObject *module, PyObject *unused);
PyObject *td_pack_results(const td_schema *s, PyObject **outs, int n); /* takes the outs over */
#endif
