/* frame.c - the arguments of one call: their memory, and back to Python objects. */
#include "object/py.h"

void td_frame_open(td_frame *f)
{
    f->out = f->requires_grad = NULL;
    f->ntemps = f->nheap = f->nheld = f->nints = f->ntensors = f->npins = 0;
    f->pins = f->few_pins;
    f->room_pins = TD_FEW_PINS;
    f->inplace = f->overridden = f->dispatches = f->any_grad = f->bits = f->devices = 0;
}

void td_frame_close(td_frame *f)
{
    /* before the tuples: these may hold the storages */
    for (int i = 0; i < f->npins; i++) td_unpin(f->pins[i]);
    for (int i = 0; i < f->ntensors; i++) Py_DECREF(f->items[i]);
    f->npins = f->ntensors = 0;
    if (!(f->ntemps | f->nheap | f->nheld) && f->pins == f->few_pins) return; /* nearly always */
    if (f->pins != f->few_pins) PyMem_Free(f->pins);
    for (int i = 0; i < f->ntemps; i++)
        for (td_tensor *t = f->temps[i], *next; t; t = next) {
            next = t->next;
            td_tensor_free(t);
        }
    for (int i = 0; i < f->nheap; i++) PyMem_Free(f->heap[i]);
    for (int i = 0; i < f->nheld; i++) Py_DECREF(f->held[i]);
    f->ntemps = f->nheap = f->nheld = 0;
    f->pins = f->few_pins;
}

int td_frame_more_pins(td_frame *f, Py_ssize_t n)
{
    if (f->npins + n <= f->room_pins) return 0;
    size_t room = 2 * (size_t)(f->npins + n);
    int few = f->pins == f->few_pins;
    td_storage **pins = PyMem_Realloc(few ? NULL : f->pins, room * sizeof *pins);
    if (!pins) return td_no_memory(), -1;
    if (few) memcpy(pins, f->few_pins, (size_t)f->npins * sizeof *pins);
    f->pins = pins;
    f->room_pins = (int)room;
    return 0;
}

PyObject *td_frame_hold(td_frame *f, PyObject *o)
{
    if (!o) return NULL;
    if (f->nheld < TD_MAX_TEMPS) return f->held[f->nheld++] = o;
    Py_DECREF(o);
    return PyErr_Format(PyExc_RuntimeError, "%s: too many lists in one call", f->schema->op.name);
}

PyObject *td_frame_tuple(td_frame *f, PyObject *o)
{
    /* the caller keeps a tuple, and nobody can take its items away */
    if (!PyList_Check(o)) return o;
    return td_frame_hold(f, PyList_AsTuple(o));
}

td_tensor *td_frame_temp(td_frame *f, td_tensor *t)
{
    /* the last place heads a list then: nobody retires a temporary, so `next` is free */
    int full = f->ntemps == TD_MAX_TEMPS;
    t->next = full ? f->temps[TD_MAX_TEMPS - 1] : NULL;
    return f->temps[full ? TD_MAX_TEMPS - 1 : f->ntemps++] = t;
}

static void *frame_heap(td_frame *f, size_t bytes)
{
    if (f->nheap == TD_MAX_TEMPS) return NULL;
    void *p = PyMem_Malloc(bytes ? bytes : 1);
    if (p) f->heap[f->nheap++] = p;
    else td_no_memory();
    return p;
}
int64_t *td_room_ints(td_frame *f, Py_ssize_t n)
{
    if (f->nints + n > TD_POOL_INTS) return frame_heap(f, (size_t)n * sizeof(int64_t));
    f->nints += (int)n;
    return f->ints + f->nints - n;
}
td_tensor **td_frame_list(td_frame *f, int k, PyObject *o, Py_ssize_t *n)
{
    int listed = PyList_Check(o);
    f->obj[k] = o;
    *n = listed ? PyList_Size(o) : PyTuple_Size(o);
    if (f->ntensors + *n > TD_POOL_TENSORS) {
        f->obj[k] = td_frame_tuple(f, o);
        return f->obj[k] ? frame_heap(f, (size_t)*n * sizeof(td_tensor *)) : NULL;
    }
    for (Py_ssize_t i = 0; i < *n;
         i++) /* nothing here runs Python, so that the list cannot change */
        f->items[f->ntensors + i] =
            Py_NewRef(listed ? PyList_GetItem(o, i) : PyTuple_GetItem(o, i));
    f->ntensors += (int)*n;
    return f->tensors + f->ntensors - *n;
}
PyObject *td_frame_item(const td_frame *f, int k, Py_ssize_t i)
{
    ptrdiff_t at = f->call.args[k].tensors - f->tensors;
    return at >= 0 && at < TD_POOL_TENSORS ? f->items[at + i] : PyTuple_GetItem(f->obj[k], i);
}

/* ---- back to objects: for Python implementations and for rules ---- */
static PyObject *floats_object(Py_ssize_t n, const double *v)
{
    PyObject *made = PyTuple_New(n);
    for (Py_ssize_t i = 0; made && i < n; i++) PyTuple_SetItem(made, i, PyFloat_FromDouble(v[i]));
    return made;
}
static PyObject *bools_object(Py_ssize_t n, const int64_t *v)
{
    PyObject *made = PyTuple_New(n);
    for (Py_ssize_t i = 0; made && i < n; i++) PyTuple_SetItem(made, i, PyBool_FromLong(v[i] != 0));
    return made;
}

PyObject *td_argument_object(const td_frame *f, int k)
{
    const td_arg *a = &f->call.args[k];
    if (f->obj[k] &&
        (a->kind == TD_ARG_TENSOR || a->kind == TD_ARG_TENSORS || a->kind == TD_ARG_NONE))
        return Py_NewRef(f->obj[k]);
    switch (a->kind) {
        case TD_ARG_INT: return PyLong_FromLongLong(a->i);
        case TD_ARG_BOOL: return PyBool_FromLong(a->i != 0);
        case TD_ARG_FLOAT: return PyFloat_FromDouble(a->f);
        case TD_ARG_STR: return PyUnicode_FromString(a->str);
        case TD_ARG_SCALAR: return td_scalar_object(&a->scalar);
        case TD_ARG_INTS: return td_ints_object((int)a->n, a->ints);
        case TD_ARG_BOOLS: return bools_object(a->n, a->ints);
        case TD_ARG_FLOATS: return floats_object(a->n, a->floats);
        case TD_ARG_TENSORS: return PyTuple_New(0);
        case TD_ARG_DTYPE: return td_dtype_object((td_dtype)a->i);
        case TD_ARG_DEVICE: return td_device_object((td_device)a->i);
        case TD_ARG_MEMORY_FORMAT: return td_memory_format_object((int)a->i);
        case TD_ARG_LAYOUT: return td_layout_object((int)a->i);
        case TD_ARG_GENERATOR:
            return Py_NewRef(f->obj[k] && f->obj[k] != Py_None ? f->obj[k]
                                                               : td_default_generator_object);
        default: return Py_NewRef(Py_None);
    }
}

PyObject *td_arguments_tuple(const td_frame *f)
{
    PyObject *made = PyTuple_New(f->schema->nparams);
    for (int k = 0; made && k < f->schema->nparams; k++) {
        PyObject *o = td_argument_object(f, k);
        if (!o) Py_CLEAR(made);
        else PyTuple_SetItem(made, k, o);
    }
    return made;
}
