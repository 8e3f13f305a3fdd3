/* lookup.c - functions of Python modules, found once. */
#include "object/py.h"

PyObject *td_python_function(PyObject **slot, const char *module, const char *name)
{
    if (*slot) return *slot;
    PyObject *found = PyImport_ImportModule(module);
    if (found) *slot = PyObject_GetAttrString(found, name);
    Py_XDECREF(found);
    return *slot;
}
