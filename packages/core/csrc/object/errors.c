/* errors.c - a status of the runtime becomes a Python exception. */
#include "object/py.h"

PyObject *td_linalg_error;

PyObject *td_raise(td_status status)
{
    PyObject *type = NULL;
    switch (status) {
    case TD_PYTHON_ERROR: return NULL; /* already set */
    case TD_TYPE_ERROR: type = PyExc_TypeError; break;
    case TD_VALUE_ERROR: type = PyExc_ValueError; break;
    case TD_INDEX_ERROR: type = PyExc_IndexError; break;
    case TD_NOT_IMPLEMENTED: type = PyExc_NotImplementedError; break;
    case TD_MEMORY_ERROR: type = PyExc_MemoryError; break;
    case TD_LINALG_ERROR: type = td_linalg_error ? td_linalg_error : PyExc_RuntimeError; break;
    default: type = PyExc_RuntimeError;
    }
    PyErr_SetString(type, td_error_message());
    return NULL;
}

PyObject *td_type_name(PyObject *o) { return PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__name__"); }
