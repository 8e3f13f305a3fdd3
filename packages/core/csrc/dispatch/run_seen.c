/* run_seen.c - calls that Python decides, below autograd and above the kernel:
 *
 *   dispatch modes ─▶ __torch_dispatch__ of the arguments' types ─▶ tracers ─▶ kernel
 */
#include "dispatch/dispatch.h"

/* ---- what Python answered, as results ---- */
static int refuse_answer(const td_frame *f, PyObject *answer, const char *wanted)
{
    PyErr_Format(PyExc_TypeError, "%s: the answer of __torch_dispatch__ is %R where %s is wanted",
                 f->schema->text, Py_TYPE(answer), wanted);
    return -1;
}

static int are_tensors(PyObject *answer)
{
    Py_ssize_t n = PyTuple_Check(answer)  ? PyTuple_Size(answer)
                   : PyList_Check(answer) ? PyList_Size(answer)
                                          : -1;
    for (Py_ssize_t i = 0; i < n; i++)
        if (!td_is_tensor(PyTuple_Check(answer) ? PyTuple_GetItem(answer, i)
                                                : PyList_GetItem(answer, i)))
            return 0;
    return n >= 0;
}

PyObject *td_written(const td_frame *f, int k)
{
    if (f->inplace && k == 0) return f->obj[0];
    int alias = f->schema->return_alias[k];
    if (f->out) return td_out_item(f, k);
    return alias >= 0 && f->obj[alias] && td_is_tensor(f->obj[alias]) ? f->obj[alias] : NULL;
}

static int add_result(const td_frame *f, PyObject *o, td_made *made) /* takes `o` over */
{
    int n = f->schema->nreturns;
    if (o && !td_is_tensor(o) && !(o == Py_None && n > 1)) {
        refuse_answer(f, o, "a Tensor");
        Py_CLEAR(o);
    }
    if (!o) return -1;
    made->outs[made->n++] = o;
    return 0;
}

static int take_results(const td_frame *f, PyObject *answer, int decided, td_made *made)
{
    int n = f->schema->nreturns;
    for (int k = 0; k < n; k++) {
        PyObject *own = decided ? td_written(f, k) : NULL;
        if (!own && n > 1 &&
            ((!PyTuple_Check(answer) && !PyList_Check(answer)) || PySequence_Size(answer) != n))
            return refuse_answer(f, answer, "a tuple with one Tensor per result");
        PyObject *o = own      ? Py_NewRef(own)
                      : n == 1 ? Py_NewRef(answer)
                               : PySequence_GetItem(answer, k);
        if (add_result(f, o, made) < 0) return -1;
    }
    return 0;
}

/* `decided`: what the call writes was written by whoever answered, so that the answer says nothing
 * of it. Takes `answer` over. */
static int take_answer(const td_frame *f, PyObject *answer, int decided, td_made *made)
{
    if (!answer) return -1;
    if (f->schema->list_result || f->schema->other_result) {
        if (f->schema->list_result && !are_tensors(answer))
            return refuse_answer(f, answer, "a list of Tensors"), Py_DECREF(answer), -1;
        return made->list = answer, 0;
    }
    int status = take_results(f, answer, decided, made);
    Py_DECREF(answer);
    return status;
}

/* ---- tracers ---- */
/* What the results go into: (self,), what out= is, or None. New reference. */
static PyObject *targets_of(const td_frame *f)
{
    if (f->inplace) return PyTuple_Pack(1, f->obj[0]);
    if (!f->out) return Py_NewRef(Py_None);
    return td_is_tensor(f->out) ? PyTuple_Pack(1, f->out) : PySequence_Tuple(f->out);
}

/* taeda._layers.dispatch.call_traced(op text, arguments, targets) decides when the kernel runs */
static int run_traced(td_frame *f, td_made *made)
{
    static PyObject *hook;
    if (!td_python_function(&hook, "taeda._layers.dispatch", "call_traced")) return -1;
    uint32_t excluded = td_here.excluded;
    td_here.excluded |= TD_LAYER_DUAL;
    PyObject *args = td_arguments_tuple(f), *targets = targets_of(f), *answer = NULL;
    if (args && targets)
        answer = PyObject_CallFunction(hook, "sOO", f->schema->text, args, targets);
    td_here.excluded = excluded;
    Py_XDECREF(args);
    Py_XDECREF(targets);
    return take_answer(f, answer, 0, made);
}

/* ---- __torch_dispatch__ ---- */
/* Views are counted with their base above this layer: one that was made below it, without a graph,
 * knows a base that does not count. */
static void forget_inner_view(const td_frame *f, PyObject *o)
{
    for (int k = 0; k < f->schema->nparams; k++)
        if (f->obj[k] == o) return;
    PyTensor *p = (PyTensor *)o;
    if (!td_is_tensor(o) || !p->base || p->creation != TD_VIEW_NO_GRAD || !td_here.grad_mode)
        return;
    Py_CLEAR(p->base);
    p->creation = TD_VIEW_PLAIN;
}

/* taeda._layers.dispatch.call_dispatched(op text, arguments, is it in place?, out=) asks the modes
 * and the types */
static PyObject *ask_types(td_frame *f)
{
    static PyObject *hook;
    if (!td_python_function(&hook, "taeda._layers.dispatch", "call_dispatched")) return NULL;
    uint32_t excluded = td_here.excluded;
    td_here.excluded |= TD_LAYER_DUAL;
    PyObject *args = td_arguments_tuple(f), *answer = NULL;
    if (args)
        answer = PyObject_CallFunction(hook, "sOOO", f->schema->text, args,
                                       f->inplace ? Py_True : Py_False, f->out ? f->out : Py_None);
    td_here.excluded = excluded;
    Py_XDECREF(args);
    return answer;
}

static int run_dispatched(td_frame *f, td_made *made)
{
    PyObject *answer;
    int known = td_run_planned(f, made, &answer);
    if (known && !answer) return known < 0 ? -1 : 0;
    if (!known) answer = ask_types(f);
    int status = take_answer(f, answer, 1, made);
    for (int k = 0; k < made->n; k++) forget_inner_view(f, made->outs[k]);
    return status;
}

int td_run_seen(td_frame *f, td_made *made)
{
    int modes = td_here.layers & ~td_here.excluded & TD_LAYER_DISPATCH_MODE;
    return modes || f->dispatches ? run_dispatched(f, made) : run_traced(f, made);
}

/* taeda._layers.parts: rows that the reference writes in other operators */
static int has_parts(const char *text) /* -1 with an exception */
{
    static PyObject *rows;
    if (!td_python_function(&rows, "taeda._layers.parts", "ROWS")) return -1;
    PyObject *name = PyUnicode_FromString(text);
    int found = name ? PySet_Contains(rows, name) : -1;
    Py_XDECREF(name);
    return found;
}

/* taeda._layers.parts.in_parts(op text, arguments) */
PyObject *td_run_in_parts(td_frame *f)
{
    static PyObject *hook;
    int found = has_parts(f->schema->text);
    if (found < 0) return NULL;
    if (!found) Py_RETURN_NOTIMPLEMENTED;
    if (!td_python_function(&hook, "taeda._layers.parts", "in_parts")) return NULL;
    PyObject *args = td_arguments_tuple(f);
    PyObject *made = args ? PyObject_CallFunction(hook, "sO", f->schema->text, args) : NULL;
    Py_XDECREF(args);
    return made;
}

/* ---- for those who keep tensors ---- */
static int is_good_copy(PyObject *tensor, PyObject *made, const char *name)
{
    const td_tensor *t = TD_T(tensor), *m = TD_T(made);
    const char *fault = made == tensor ? "its argument itself, where a new object is wanted: what "
                                         "is set on the one would be set on both"
                        : td_requires_grad((PyTensor *)made) ? "a tensor that requires grad"
                        : !td_same_shape(t, m) || t->dtype != m->dtype
                            ? "a tensor of another shape or dtype"
                            : NULL;
    if (fault)
        PyErr_Format(PyExc_RuntimeError, "%R.__torch_dispatch__ answered aten.%s with %s",
                     Py_TYPE(tensor), name, fault);
    return !fault;
}

PyObject *td_below(const td_function *function, PyObject *tensor)
{
    td_outside was = {td_here.grad_mode, td_here.excluded};
    if (!td_is_tensor(tensor))
        return PyErr_Format(PyExc_TypeError, "wanted a Tensor, got %R", Py_TYPE(tensor));
    td_here.grad_mode = 0;
    td_here.excluded |= TD_LAYER_FUNCTION_MODE | TD_LAYER_OVERRIDE | TD_LAYER_TRANSFORM |
                        TD_LAYER_AUTOCAST | TD_LAYER_DISPATCH_MODE | TD_LAYER_DUAL;
    PyObject *made = td_apply(function, 1, &tensor);
    td_come_back(was);
    if (made && !is_good_copy(tensor, made, function->name)) Py_CLEAR(made);
    return made;
}
