/* run_python.c - rows that are Python functions: kernels below the derivative, composites above it.
 */
#include "dispatch/dispatch.h"
#include "object/watch.h"

static PyObject *implementation(const td_schema *s)
{
    PyObject **slot = &((td_schema *)s)->callable;
    if (*slot) return *slot;
    char path[160];
    snprintf(path, sizeof path, "taeda.%s.%s",
             s->kind == TD_KIND_COMPOSITE ? "_composite" : "_numpy", s->family);
    if (td_python_function(slot, path, s->target) || !s->op.overload[0] ||
        !PyErr_ExceptionMatches(PyExc_AttributeError))
        return *slot;
    PyErr_Clear(); /* the plain name serves every overload */
    return td_python_function(slot, path, s->op.name);
}

PyObject *td_plain_tensor(PyObject *o, td_tensor *t)
{
    if (!t) return Py_NewRef(Py_None);
    if (o && Py_TYPE(o) == TensorT && TD_T(o) == t && !td_requires_grad((PyTensor *)o))
        return Py_NewRef(o);
    td_tensor *alias;
    TD_PY(td_tensor_alias(&alias, t));
    return td_wrap(alias);
}

static PyObject *kernel_argument(const td_frame *f, int k)
{
    const td_arg *a = &f->call.args[k];
    PyObject *o = f->obj[k];
    if (a->kind == TD_ARG_TENSOR && o && td_is_tensor(o)) return td_plain_tensor(o, a->tensor);
    if (a->kind != TD_ARG_TENSORS) return td_argument_object(f, k);
    PyObject *made = PyTuple_New(a->n);
    for (Py_ssize_t i = 0; made && i < a->n; i++) {
        PyObject *item = td_plain_tensor(NULL, a->tensors[i]);
        if (!item) Py_CLEAR(made);
        else PyTuple_SetItem(made, i, item);
    }
    return made;
}

static PyObject *kernel_arguments(const td_frame *f)
{
    PyObject *made = PyTuple_New(f->schema->nparams);
    for (int k = 0; made && k < f->schema->nparams; k++) {
        PyObject *o = kernel_argument(f, k);
        if (!o) Py_CLEAR(made);
        else PyTuple_SetItem(made, k, o);
    }
    return made;
}

/* `callable`, else the row's own; takes the arguments over */
static PyObject *call_implementation(const td_frame *f, PyObject *callable, PyObject *args)
{
    if (!callable && args) callable = implementation(f->schema);
    if (!args) callable = NULL;
    PyObject *made = callable ? PyObject_CallObject(callable, args) : NULL;
    Py_XDECREF(args);
    return made;
}

/* ---- kernels ---- */
int td_run_python(td_frame *f, td_made *made) { return td_run_callable(f, NULL, made); }

int td_run_callable(td_frame *f, PyObject *callable, td_made *made)
{
    td_outside was = td_go_below();
    PyObject *answer = call_implementation(f, callable, kernel_arguments(f));
    td_come_back(was);
    if (!answer) return -1;
    if (f->schema->list_result || f->schema->other_result) return made->list = answer, 0;
    if (f->schema->nreturns == 1) return made->outs[0] = answer, made->n = 1, 0;
    Py_ssize_t n = PyTuple_Check(answer) ? PyTuple_Size(answer) : -1;
    if (n != f->schema->nreturns)
        PyErr_Format(PyExc_RuntimeError, "the kernel of %s returned %R where %d results are wanted",
                     f->schema->text, Py_TYPE(answer), f->schema->nreturns);
    else
        for (; made->n < n; made->n++)
            made->outs[made->n] = Py_NewRef(PyTuple_GetItem(answer, made->n));
    Py_DECREF(answer);
    return n == f->schema->nreturns ? 0 : -1;
}

/* ---- composites ---- */
/* a composite may answer with something else (nonzero(as_tuple=True)), which no out= can take */
static int all_tensors(const td_schema *schema, PyObject **outs, int n)
{
    for (int k = 0; k < n; k++) {
        if (!outs[k]) return -1;
        if (td_is_tensor(outs[k])) continue;
        PyErr_Format(PyExc_RuntimeError,
                     "%s() gives a %R here, which out= cannot take; leave out= away",
                     schema->op.name, Py_TYPE(outs[k]));
        return -1;
    }
    return 0;
}

/* The value goes into self by copy_, which records. Its formulas may have saved self as it was:
 * they get a copy. */
static PyObject *run_inplace(td_frame *f)
{
    PyObject *self = f->obj[0];
    PyObject *before = f->any_grad && td_here.grad_mode ? td_apply(td_clone_function(), 1, &self)
                                                        : Py_NewRef(self);
    PyObject *args = before ? td_arguments_tuple(f) : NULL;
    if (args) PyTuple_SetItem(args, 0, Py_NewRef(before));
    PyObject *made = call_implementation(f, NULL, args);
    Py_XDECREF(before);
    if (!made || made == before) return made ? (Py_DECREF(made), Py_NewRef(self)) : NULL;
    PyObject *done = NULL;
    if (!td_is_tensor(made) || td_check_cast(f->schema->op.name, (td_dtype)TD_T(made)->dtype,
                                             (td_dtype)TD_T(self)->dtype) == 0)
        done = td_apply(td_copy_function(), 2, (PyObject *const[]){self, made});
    Py_DECREF(made);
    return done;
}

PyObject *td_run_composite(td_frame *f)
{
    if (f->inplace) return run_inplace(f);
    PyObject *made = call_implementation(f, NULL, td_arguments_tuple(f));
    if (made && f->schema->list_result && PyList_Check(made))
        Py_SETREF(made, PySequence_Tuple(made));
    int n = f->schema->nreturns;
    int unnamed = made && n > 1 && f->schema->return_names[0] && PyTuple_CheckExact(made) &&
                  PyTuple_Size(made) == n;
    if (!made || (!f->out && !unnamed)) return made;
    PyObject *outs[TD_MAX_OUTS];
    for (int k = 0; k < n; k++) outs[k] = n == 1 ? Py_NewRef(made) : PySequence_GetItem(made, k);
    Py_DECREF(made);
    if (f->out) td_note_untraced("out= of an operation that is made of others");
    int placed = !f->out                               ? 0
                 : all_tensors(f->schema, outs, n) < 0 ? -1
                                                       : td_place_results(f, outs, n);
    if (placed < 0) {
        for (int k = 0; k < n; k++) Py_XDECREF(outs[k]);
        return NULL;
    }
    for (int k = 0; f->out && k < n; k++) td_version_bump(TD_T(outs[k]));
    return td_pack_results(f->schema, outs, n);
}
