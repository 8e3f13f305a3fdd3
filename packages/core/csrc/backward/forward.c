/* forward.c - where tangents are kept, and the calls into taeda.autograd._forward. */
#include "backward/forward.h"
#include "backward/backward.h"
#include "dispatch/custom.h"
#include "dispatch/dispatch.h"

static struct Dual *first;

/* ---- tangents ---- */
static void unlink_dual(struct Dual *d)
{
    if (d->prev) d->prev->next = d->next;
    else first = d->next;
    if (d->next) d->next->prev = d->prev;
    d->owner->dual = NULL;
    PyTensor *tangent = d->tangent;
    PyMem_Free(d);
    Py_DECREF((PyObject *)tangent); /* last: it may bury other duals */
}

static int hang_tangent(PyTensor *p, PyTensor *tangent)
{
    if (!tangent) {
        if (p->dual) unlink_dual(p->dual);
        return 0;
    }
    if (p->dual) {
        Py_XSETREF(p->dual->tangent, (PyTensor *)Py_NewRef((PyObject *)tangent));
        return 0;
    }
    struct Dual *d = PyMem_Calloc(1, sizeof *d);
    if (!d) return td_no_memory(), -1;
    *d = (struct Dual){p, (PyTensor *)Py_NewRef((PyObject *)tangent), NULL, first};
    if (first) first->prev = d;
    first = p->dual = d;
    return 0;
}

void td_move_duals(PyTensor *a, PyTensor *b)
{
    struct Dual *of_a = a->dual;
    a->dual = b->dual;
    b->dual = of_a;
    if (a->dual) a->dual->owner = a;
    if (b->dual) b->dual->owner = b;
}

static PyObject *cloned(PyObject *o) { return td_apply(td_clone_function(), 1, &o); }

static int copy_tangent(PyTensor **tangent)
{
    PyObject *made = cloned((PyObject *)*tangent);
    if (!made) return -1;
    Py_XSETREF(*tangent, (PyTensor *)made);
    return 0;
}

/* ---- around an operation ---- */
static PyObject *helper(const char *name)
{
    static PyObject *module;
    if (!module && !(module = PyImport_ImportModule("taeda.autograd._forward"))) return NULL;
    return PyObject_GetAttrString(module, name);
}

/* 1 if `o` has a tangent; a view of a dual tensor that was made before that became one gets its
 * part of it */
static int is_dual(PyObject *o)
{
    PyTensor *p = (PyTensor *)o;
    if (!o || !td_is_tensor(o)) return 0;
    if (p->dual) return 1;
    if (p->apart || !p->base || !p->base->dual) return 0;
    PyObject *call = helper("tangent_of"),
             *made = call ? PyObject_CallFunctionObjArgs(call, o, NULL) : NULL;
    int status = !made ? -1 : made != Py_None;
    Py_XDECREF(call);
    Py_XDECREF(made);
    return status;
}

static int any_dual(const td_frame *f)
{
    int found = 0;
    for (int k = 0; k < f->schema->nparams; k++) {
        const td_arg *a = &f->call.args[k];
        PyObject *o = f->obj[k];
        if (!o || (a->kind != TD_ARG_TENSOR && a->kind != TD_ARG_TENSORS)) continue;
        for (Py_ssize_t i = 0; i < (a->kind == TD_ARG_TENSORS ? a->n : 1); i++) {
            int status = is_dual(a->kind == TD_ARG_TENSOR ? o : td_frame_item(f, k, i));
            if (status < 0) return -1;
            found |= status;
        }
    }
    return found;
}

static int refuse(const td_frame *f, const char *why)
{
    PyErr_Format(PyExc_NotImplementedError,
                 "Trying to use forward AD with %s that does not support it%s. Take the tangent "
                 "off with detach(), or with unpack_dual",
                 f->schema->text, why);
    return -1;
}

static int check_out(const td_frame *f)
{
    if (!f->out || !td_forward_on()) return 0;
    int dual = any_dual(f);
    for (int k = 0; dual == 0 && k < f->schema->nreturns; k++) dual = is_dual(td_out_item(f, k));
    return dual > 0 ? refuse(f, " because it writes into out=") : dual;
}

static int written(const td_frame *f, int k)
{
    return (f->inplace && k == 0) || f->schema->params[k].flags & TD_P_MUTATED;
}

/* does the call write into the memory of that tensor, as y.mul_(y) and y.mul_(y.view(3)) do? */
static int is_overwritten(const td_frame *f, PyObject *o)
{
    if (!o || !td_is_tensor(o)) return 0;
    for (int k = 0; k < f->schema->nparams; k++)
        if (written(f, k) && f->call.args[k].kind == TD_ARG_TENSOR && f->obj[k] &&
            td_is_tensor(f->obj[k]) && (f->obj[k] == o || td_may_overlap(TD_T(f->obj[k]), TD_T(o))))
            return 1;
    return 0;
}

static PyObject *as_before(const td_frame *f, PyObject *o)
{
    return is_overwritten(f, o) ? cloned(o) : Py_NewRef(o ? o : Py_None);
}

static PyObject *items_before(const td_frame *f, int k)
{
    Py_ssize_t n = f->call.args[k].n;
    PyObject *made = PyList_New(n);
    for (Py_ssize_t i = 0; made && i < n; i++) {
        PyObject *o = as_before(f, td_frame_item(f, k, i));
        if (!o) Py_CLEAR(made);
        else PyList_SetItem(made, i, o);
    }
    return made;
}

static PyObject *arguments_before(const td_frame *f)
{
    PyObject *made = PyTuple_New(f->schema->nparams);
    for (int k = 0; made && k < f->schema->nparams; k++) {
        int kind = f->call.args[k].kind, lost = 0;
        for (Py_ssize_t i = 0; kind == TD_ARG_TENSORS && i < f->call.args[k].n; i++)
            lost |= is_overwritten(f, td_frame_item(f, k, i));
        PyObject *o = kind == TD_ARG_TENSOR && is_overwritten(f, f->obj[k]) ? cloned(f->obj[k])
                      : lost                                                ? items_before(f, k)
                             : td_argument_object(f, k);
        if (!o) Py_CLEAR(made);
        else PyTuple_SetItem(made, k, o);
    }
    return made;
}

static int begin(td_frame *f, PyObject **args)
{
    *args = NULL;
    if (!td_forward_on() || f->schema->other_result) return 0;
    int dual = any_dual(f);
    if (dual <= 0) return dual;
    const Rule *rule = td_rule(f->schema);
    int writes = f->inplace || f->schema->flags & TD_F_MUTATES;
    if (!rule && f->schema->flags & TD_F_FACTORY) return 0; /* only shape and dtype count */
    /* the result does not change with its arguments */
    if (rule && !rule->nformulas && !writes) return 0;
    /* of one that is defined at run time the formula is known, and not how tangents pass it */
    if (!rule || td_is_defined(f->schema->custom) || f->schema->records_itself ||
        (f->schema->flags & TD_F_MUTATES && !f->schema->nreturns))
        return refuse(f, "");
    return (*args = arguments_before(f)) ? 0 : -1;
}

/* what the node kept of the results was kept before they had tangents */
static int hand_to_saved(Node *n, PyObject *const *outs, int nouts)
{
    for (int i = 0; i < n->nsaved; i++) {
        Saved *s = &n->saved[i];
        int k = s->key - TD_KEY_RESULT;
        if (k < 0 || k >= nouts || !td_is_tensor(outs[k])) continue;
        if (td_save_tangent(s, (PyTensor *)outs[k], s->unpack != NULL) < 0) return -1;
    }
    return 0;
}

static int finish(td_frame *f, Node *n, PyObject *args, PyObject *const *outs, int nouts)
{
    PyObject *results = PyTuple_New(nouts), *call = results ? helper("propagate") : NULL,
             *done = NULL;
    for (int k = 0; call && k < nouts; k++) PyTuple_SetItem(results, k, Py_NewRef(outs[k]));
    uint32_t excluded = td_here.excluded;
    td_here.excluded |= TD_LAYER_DUAL;
    if (call)
        done = PyObject_CallFunction(call, "sOOO", f->schema->text, f->inplace ? Py_True : Py_False,
                                     args, results);
    td_here.excluded = excluded;
    Py_XDECREF(call);
    Py_XDECREF(results);
    int status = !done ? -1 : n ? hand_to_saved(n, outs, nouts) : 0;
    Py_XDECREF(done);
    return status;
}

/* ---- what Python sees ---- */
/* call_op(op text, arguments): the op itself, one object per parameter; a linear one is applied to
 * tangents with it */
static PyObject *call_op(PyObject *m, PyObject *args)
{
    const char *text;
    PyObject *values;
    if (!PyArg_ParseTuple(args, "sO!", &text, &PyTuple_Type, &values)) return NULL;
    td_schema *s = td_find_schema(text);
    if (!s) return PyErr_Format(PyExc_ValueError, "the op table has no '%s'", text);
    td_function single = {s->op.name, s->namespace_, "", &s, 1, 1, 0, 0, NULL};
    td_frame f;
    if (td_bind_all(&f, &single, s, values) < 0) return NULL;
    PyObject *made = td_run(&f);
    td_frame_close(&f);
    return made;
}

static int serial;

/* enter_dual_level(): the caller has seen that none is open. A tangent needs the rules, though
 * nothing may require a gradient in all of the program */
static PyObject *enter(PyObject *m, PyObject *unused)
{
    if (td_load_rules() < 0) return NULL;
    td_dual_level = serial = serial == INT_MAX ? 1 : serial + 1;
    Py_RETURN_NONE;
}

static PyObject *leave(PyObject *m, PyObject *unused)
{
    td_dual_level = 0;
    while (first) unlink_dual(first);
    Py_RETURN_NONE;
}

static PyObject *is_on(PyObject *m, PyObject *unused) { return PyBool_FromLong(td_forward_on()); }

static PyObject *need_tensor(PyObject *o)
{
    return td_is_tensor(o) ? o
                           : PyErr_Format(PyExc_TypeError, "wanted a Tensor, got %S", Py_TYPE(o));
}

/* wants_derivative(tensor): does it require grad, or has it a tangent? For operations that do less
 * where nobody differentiates. */
static PyObject *wants_derivative(PyObject *m, PyObject *o)
{
    if (!need_tensor(o)) return NULL;
    int dual = td_forward_on() ? is_dual(o) : 0;
    return dual < 0 ? NULL : PyBool_FromLong(dual || td_requires_grad((PyTensor *)o));
}

static PyObject *get_tangent(PyObject *m, PyObject *o)
{
    if (!need_tensor(o)) return NULL;
    PyTensor *tangent = td_tangent((PyTensor *)o);
    return Py_NewRef(tangent ? (PyObject *)tangent : Py_None);
}

static PyObject *set_tangent(PyObject *m, PyObject *args)
{
    PyObject *o, *tangent;
    if (!PyArg_ParseTuple(args, "OO", &o, &tangent) || !need_tensor(o) ||
        (tangent != Py_None && !need_tensor(tangent)))
        return NULL;
    if (!td_dual_level && tangent != Py_None)
        return PyErr_Format(PyExc_RuntimeError, "a tangent needs an open dual level");
    if (hang_tangent((PyTensor *)o, tangent == Py_None ? NULL : (PyTensor *)tangent) < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* tangent_base(tensor): the tensor whose tangent this view shows a part of, or None */
static PyObject *tangent_base(PyObject *m, PyObject *o)
{
    if (!need_tensor(o)) return NULL;
    PyTensor *p = (PyTensor *)o;
    return Py_NewRef(p->base && !p->apart ? (PyObject *)p->base : Py_None);
}

static PyObject *set_apart(PyObject *m, PyObject *o)
{
    if (!need_tensor(o)) return NULL;
    ((PyTensor *)o)->apart = 1;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"call_op", call_op, METH_VARARGS,
     "call_op(op, arguments): the op itself, one object per parameter."},
    {"enter_dual_level", enter, METH_NOARGS, "Open a level: tensors may carry tangents."},
    {"exit_dual_level", leave, METH_NOARGS, "Close it: every tangent is taken off."},
    {"is_forward_on", is_on, METH_NOARGS, "Do operations of this thread propagate tangents now?"},
    {"get_tangent", get_tangent, METH_O, "A tensor's own tangent, or None."},
    {"wants_derivative", wants_derivative, METH_O, "Does it require grad, or has it a tangent?"},
    {"set_tangent", set_tangent, METH_VARARGS, "Give a tensor a tangent, or take it off (None)."},
    {"tangent_base", tangent_base, METH_O,
     "The tensor of whose tangent this view has a part, or None."},
    {"set_apart", set_apart, METH_O, "State that this view has no part in its base's tangent."},
    {0}};
PyMethodDef *td_forward_functions(void)
{
    td_forward = (td_forward_hooks){hang_tangent, copy_tangent, check_out, begin, finish};
    return methods;
}
