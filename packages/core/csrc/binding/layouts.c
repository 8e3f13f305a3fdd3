/* layouts.c - tensors of another layout than strided, for Python: made of parts, asked for them. */
#include "binding/binding.h"
#include "dispatch/dispatch.h"

static int sizes_from(PyObject *size, int64_t *sizes)
{
    Py_ssize_t n = PyTuple_Size(size);
    if (n > TD_MAX_DIMS)
        return PyErr_Format(PyExc_RuntimeError, "a tensor has at most %d dimensions, but got %zd",
                            TD_MAX_DIMS, n),
               -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        int got = td_size_from(PyTuple_GetItem(size, i), &sizes[i]);
        if (got == 1) continue;
        if (got == 0) PyErr_SetString(PyExc_TypeError, "make_layout: sizes are ints");
        return -1;
    }
    return 0;
}

static int check_unnamed(PyObject *o)
{
    if (!td_is_tensor(o) || !((PyTensor *)o)->named) return 0;
    PyErr_SetString(PyExc_RuntimeError,
                    "the dimensions of a tensor have names, which no layout but the strided one "
                    "keeps. Take them away first: tensor.rename(None)");
    return -1;
}

/* No tensor of another layout has names: those of its parts would be lost without a word. Parts are
 * a tensor, or say by `named()` which tensors they are. */
static int check_parts(PyObject *parts)
{
    if (parts == Py_None || td_is_tensor(parts)) return check_unnamed(parts);
    PyObject *pairs = PyObject_CallMethod(parts, "named", NULL);
    Py_ssize_t n = pairs ? PySequence_Size(pairs) : -1;
    int status = n < 0 ? -1 : 0;
    for (Py_ssize_t i = 0; status == 0 && i < n; i++) {
        PyObject *pair = PySequence_GetItem(pairs, i),
                 *part = pair ? PySequence_GetItem(pair, 1) : NULL;
        status = part ? check_unnamed(part) : -1;
        Py_XDECREF(pair);
        Py_XDECREF(part);
    }
    Py_XDECREF(pairs);
    return status;
}

/* make_layout(layout, size, dtype, device, parts, cls=Tensor): a tensor of this layout, which
 * stands for what `parts` says. It has no memory of its own: its handle lies on meta. */
static PyObject *make_layout(PyObject *m, PyObject *args)
{
    PyObject *layout, *size, *dtype, *device, *parts, *cls = (PyObject *)TensorT;
    int64_t sizes[TD_MAX_DIMS];
    td_dtype d;
    td_device place;
    int code;
    if (!PyArg_ParseTuple(args, "OO!OOO|O:make_layout", &layout, &PyTuple_Type, &size, &dtype,
                          &device, &parts, &cls))
        return NULL;
    if (!PyType_Check(cls) || !PyType_IsSubtype((PyTypeObject *)cls, TensorT))
        return PyErr_Format(PyExc_TypeError, "make_layout: wanted a subclass of Tensor, got %R",
                            cls);
    if (!td_layout_from(layout, &code) || code == TD_STRIDED)
        return PyErr_Format(PyExc_ValueError, "make_layout: not a layout with parts: %R", layout);
    if (!td_dtype_from(dtype, &d))
        return PyErr_Format(PyExc_TypeError, "make_layout: dtype must be taeda.dtype, not %R",
                            Py_TYPE(dtype));
    int known = td_device_from(device, &place);
    if (known == 0) PyErr_Format(PyExc_TypeError, "make_layout: not a device: %R", device);
    if (known != 1 || sizes_from(size, sizes) < 0 || check_parts(parts) < 0) return NULL;
    td_tensor *t;
    TD_PY(td_tensor_handle(&t, d, TD_META, (int)PyTuple_Size(size), sizes));
    PyObject *made = td_wrap_as((PyTypeObject *)cls, t);
    if (made) td_give_parts((PyTensor *)made, code, TD_DISPATCHES_CLAIM + place, parts);
    return made;
}

/* parts_of(tensor): what a tensor of another layout than strided is made of; None of a strided one
 */
static PyObject *parts_of(PyObject *m, PyObject *o)
{
    if (!td_is_tensor(o))
        return PyErr_Format(PyExc_TypeError, "wanted a Tensor, got %S", Py_TYPE(o));
    PyObject *parts = ((PyTensor *)o)->parts;
    return Py_NewRef(parts && td_has_parts((PyTensor *)o) ? parts : Py_None);
}

/* set_parts(tensor, parts): a write into it; its version grows */
static PyObject *set_parts(PyObject *m, PyObject *args)
{
    PyObject *o, *parts;
    if (!PyArg_ParseTuple(args, "OO:set_parts", &o, &parts)) return NULL;
    if (!td_is_tensor(o) || !td_has_parts((PyTensor *)o))
        return PyErr_Format(PyExc_TypeError, "set_parts: wanted a tensor with parts, got %S",
                            Py_TYPE(o));
    if (check_parts(parts) < 0) return NULL;
    Py_XSETREF(((PyTensor *)o)->parts, Py_NewRef(parts));
    td_version_bump(TD_T(o));
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"make_layout", make_layout, METH_VARARGS,
     "make_layout(layout, size, dtype, device, parts, cls=Tensor): a tensor that is not strided."},
    {"parts_of", parts_of, METH_O, "What a tensor is made of that is not strided; else None."},
    {"set_parts", set_parts, METH_VARARGS, "set_parts(tensor, parts): what it is made of now."},
    {"layout_rules", td_layout_rules, METH_VARARGS,
     "layout_rules(layout, in_place): the functions of its rows, to be filled."},
    {"names_of", td_names_of, METH_O, "The names of a tensor's dimensions, or None for no names."},
    {"set_names", td_set_names, METH_VARARGS,
     "set_names(tensor, names): a tuple of str and None, one a dimension; None takes them away."},
    {"op_names", td_op_names, METH_O, "The word of a row that says what becomes of names."},
    {0}};
PyMethodDef *td_layout_methods(void) { return methods; }
