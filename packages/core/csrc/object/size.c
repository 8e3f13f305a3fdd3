/* size.c - taeda.Size: a tuple of sizes whose slices and sums stay sizes. */
#include "object/py.h"

PyTypeObject *SizeT;
static newfunc tuple_new;
static allocfunc size_alloc;

static PyObject *size_of(PyObject *tuple) /* takes the reference over */
{
    if (!tuple || Py_TYPE(tuple) == SizeT || !PyTuple_Check(tuple)) return tuple;
    PyObject *args = PyTuple_Pack(1, tuple), *made = args ? tuple_new(SizeT, args, NULL) : NULL;
    Py_XDECREF(args);
    Py_DECREF(tuple);
    return made;
}

/* A new tuple's items; the tuple is NULL, or goes, where memory is out. */
static PyObject *filled(PyObject *made, int n, const int64_t *values)
{
    for (int i = 0; made && i < n; i++) {
        PyObject *item = PyLong_FromLongLong(values[i]);
        if (!item || PyTuple_SetItem(made, i, item) < 0) Py_CLEAR(made);
    }
    return made;
}
PyObject *td_ints_object(int n, const int64_t *values) { return filled(PyTuple_New(n), n, values); }

/* to make a tuple may run finalizers, which may give the tensor another handle: `dims` is copied */
static PyObject *dims_of(bool is_size, int ndim, const int64_t *dims)
{
    int64_t own[TD_MAX_DIMS];
    if (ndim) memcpy(own, dims, sizeof *dims * (size_t)ndim);
    return filled(is_size ? size_alloc(SizeT, ndim) : PyTuple_New(ndim), ndim, own);
}
PyObject *td_dims_object(int ndim, const int64_t *dims) { return dims_of(false, ndim, dims); }
PyObject *td_size_object(int ndim, const int64_t *sizes) { return dims_of(true, ndim, sizes); }

static PyObject *size_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    PyObject *made = tuple_new(type, args, kw);
    for (Py_ssize_t i = 0; made && i < PyTuple_Size(made); i++) {
        int64_t v = 0;
        PyObject *item = PyTuple_GetItem(made, i);
        if (PyLong_CheckExact(item)) continue;
        if (td_is_ragged(item)) continue;
        int ok = PyBool_Check(item) ? (v = item == Py_True, 1) : td_int_from(item, &v);
        if (ok == 1) { /* bools, integers of numpy and tensors become ints */
            PyObject *plain = PyLong_FromLongLong(v);
            if (!plain || PyTuple_SetItem(made, i, plain) < 0) Py_CLEAR(made);
            continue;
        }
        if (ok == 0)
            PyErr_Format(PyExc_TypeError, "Size() takes an iterable of 'int' (item %zd is '%S')", i,
                         Py_TYPE(item));
        Py_CLEAR(made);
    }
    return made;
}

static PyObject *size_repr(PyObject *o)
{
    PyObject *list = PySequence_List(o),
             *made = list ? PyUnicode_FromFormat("taeda.Size(%R)", list) : NULL;
    Py_XDECREF(list);
    return made;
}

static PyObject *size_numel(PyObject *o, PyObject *unused)
{
    int64_t total = 1, v;
    for (Py_ssize_t i = 0; i < PyTuple_Size(o); i++) {
        if (td_int_from(PyTuple_GetItem(o, i), &v) != 1 || td_mul_overflows(total, v, &total))
            return PyErr_Format(PyExc_RuntimeError,
                                "Size.numel: the product of %R does not fit 64 bits", o);
    }
    return PyLong_FromLongLong(total);
}

/* tuple's own slots, found once; the results become sizes again */
static binaryfunc tuple_concat, tuple_subscript;
static ssizeargfunc tuple_repeat;
static PyObject *size_concat(PyObject *a, PyObject *b) { return size_of(tuple_concat(a, b)); }
static PyObject *size_repeat(PyObject *a, Py_ssize_t n) { return size_of(tuple_repeat(a, n)); }
static PyObject *size_subscript(PyObject *a, PyObject *key)
{
    PyObject *made = tuple_subscript(a, key);
    return PySlice_Check(key) ? size_of(made) : made;
}
static PyObject *size_radd(PyObject *a, PyObject *b)
{
    if (!PyTuple_Check(a) || !PyTuple_Check(b)) Py_RETURN_NOTIMPLEMENTED;
    return size_concat(a, b); /* tuple + Size stays a Size */
}
static PyObject *size_reduce(PyObject *o, PyObject *unused)
{
    PyObject *list = PySequence_List(o);
    return list ? Py_BuildValue("O(N)", SizeT, list) : NULL;
}
static PyMethodDef size_methods[] = {
    {"numel", size_numel, METH_NOARGS, "The product of the sizes."},
    {"__reduce__", size_reduce, METH_NOARGS, "Pickled as a list."},
    {0}};

int td_add_size(PyObject *module)
{
    tuple_new = (newfunc)PyType_GetSlot(&PyTuple_Type, Py_tp_new);
    tuple_concat = (binaryfunc)PyType_GetSlot(&PyTuple_Type, Py_sq_concat);
    tuple_subscript = (binaryfunc)PyType_GetSlot(&PyTuple_Type, Py_mp_subscript);
    tuple_repeat = (ssizeargfunc)PyType_GetSlot(&PyTuple_Type, Py_sq_repeat);
    static PyType_Slot slots[] = {
        {Py_tp_new, size_new},
        {Py_tp_repr, size_repr},
        {Py_tp_methods, size_methods},
        {Py_sq_concat, size_concat},
        {Py_sq_repeat, size_repeat},
        {Py_nb_add, size_radd},
        {Py_mp_subscript, size_subscript},
        {Py_tp_doc,
         "The sizes of a tensor: a tuple of ints.\n\n"
         "Args:\n"
         "    iterable: the sizes: ints, or integer tensors of one element (default: ()).\n"
         "        TypeError for others.\n\n"
         ">>> size = taeda.ones(2, 3).shape\n"
         ">>> size, size.numel(), size + (4,)\n"
         "(taeda.Size([2, 3]), 6, taeda.Size([2, 3, 4]))"},
        {0}};
    static PyType_Spec spec = {"taeda.Size", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    PyObject *bases = PyTuple_Pack(1, &PyTuple_Type);
    SizeT = bases ? (PyTypeObject *)PyType_FromSpecWithBases(&spec, bases) : NULL;
    Py_XDECREF(bases);
    if (SizeT) size_alloc = (allocfunc)PyType_GetSlot(SizeT, Py_tp_alloc);
    return SizeT ? PyModule_AddObjectRef(module, "Size", (PyObject *)SizeT) : -1;
}
