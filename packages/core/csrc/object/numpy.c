/* numpy.c - what is known of numpy without importing it: before it is loaded nobody can hold an
 * array or a scalar of it. While another thread imports it, it has some of its attributes: an
 * absent one is asked for again next time. */
#include "object/py.h"

PyObject *td_numpy(PyObject **kept, const char *name)
{
    if (*kept) return *kept;
    PyObject *modules = PyImport_GetModuleDict(),
             *numpy = modules ? PyDict_GetItemString(modules, "numpy") : NULL;
    PyObject *found = numpy ? PyObject_GetAttrString(numpy, name) : NULL;
    if (!found) PyErr_Clear();
    /* asking ran Python, and so perhaps another thread that was quicker */
    if (*kept) Py_XDECREF(found);
    else *kept = found;
    return *kept;
}

static int is_one_of(PyObject *o, PyObject *type)
{
    return type && PyType_Check(type) && PyType_IsSubtype(Py_TYPE(o), (PyTypeObject *)type);
}

int td_is_array(PyObject *o)
{
    static PyObject *type;
    return is_one_of(o, td_numpy(&type, "ndarray"));
}

int td_is_numpy_scalar(PyObject *o)
{
    static PyObject *type;
    return is_one_of(o, td_numpy(&type, "generic"));
}

static int dtype_named(const char *name)
{
    for (int d = 0; name && d < TD_NDTYPES; d++)
        if (!strcmp(td_dtypes[d].name, name)) return d;
    return -1;
}

static int ask_dtype(PyObject *o)
{
    PyObject *dtype = PyObject_GetAttrString(o, "dtype");
    PyObject *name = dtype ? PyObject_GetAttrString(dtype, "name") : NULL;
    int found =
        name && PyUnicode_Check(name) ? dtype_named(PyUnicode_AsUTF8AndSize(name, NULL)) : -1;
    Py_XDECREF(dtype);
    Py_XDECREF(name);
    if (PyErr_Occurred()) PyErr_Clear(); /* a scalar that cannot name its dtype has none of ours */
    return found;
}

int td_numpy_scalar_dtype(PyObject *o, td_dtype *out)
{
    static PyObject *known; /* type: dtype */
    static PyObject *last;  /* borrowed from it: a list mostly holds scalars of one type */
    static td_dtype last_dtype;
    PyObject *type = (PyObject *)Py_TYPE(o);
    if (type == last) return *out = last_dtype, 1;
    if (!td_is_numpy_scalar(o)) return 0;
    PyObject *code = known ? PyDict_GetItemWithError(known, type) : NULL;
    if (code) {
        last = type;
        return *out = last_dtype = (td_dtype)PyLong_AsLong(code), 1;
    }
    int dtype = ask_dtype(o);
    if (dtype < 0) return 0;
    if (!known) known = PyDict_New();
    code = known ? PyLong_FromLong(dtype) : NULL;
    /* it is asked again next time */
    if (!code || PyDict_SetItem(known, type, code) < 0) PyErr_Clear();
    Py_XDECREF(code);
    return *out = (td_dtype)dtype, 1;
}

/* is_numpy(object): an array or a scalar of numpy? */
static PyObject *is_numpy(PyObject *m, PyObject *o)
{
    return PyBool_FromLong(td_is_array(o) || td_is_numpy_scalar(o));
}

static PyMethodDef methods[] = {
    {"is_numpy", is_numpy, METH_O,
     "is_numpy(object): is it an array or a scalar of numpy? Does not import numpy."},
    {0}};
PyMethodDef *td_numpy_methods(void) { return methods; }
