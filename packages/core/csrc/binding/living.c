/* living.c - which objects live, without disturbing whoever makes them.
 *
 * The collector's list refers to tuples that another thread has not filled yet; PyTuple_Resize
 * refuses such a tuple when that thread goes on. So tuples leave the list before any thread can.
 */
#include "binding/binding.h"

/* living_objects(ask, argument): what ask(argument) of the module gc gives but for tuples, and the
 * addresses of those */
static PyObject *living_objects(PyObject *m, PyObject *args)
{
    PyObject *ask, *argument, *kept = NULL, *tuples = NULL, *made = NULL;
    if (!PyArg_ParseTuple(args, "OO", &ask, &argument)) return NULL;
    PyObject *all = PyObject_CallFunctionObjArgs(ask, argument, NULL);
    if (all && !PyList_Check(all))
        PyErr_Format(PyExc_TypeError, "living_objects: %S gave no list", ask);
    else if (all) kept = PyList_New(0), tuples = PyList_New(0);
    int failed = !kept || !tuples;
    for (Py_ssize_t i = 0; !failed && i < PyList_Size(all); i++) {
        PyObject *one = PyList_GetItem(all, i), *address;
        if (!PyTuple_CheckExact(one)) {
            failed = PyList_Append(kept, one);
        } else if ((address = PyLong_FromVoidPtr(one))) {
            failed = PyList_Append(tuples, address);
            Py_DECREF(address);
        } else {
            failed = 1;
        }
    }
    Py_XDECREF(all);
    if (!failed) made = PyTuple_Pack(2, kept, tuples);
    Py_XDECREF(kept);
    Py_XDECREF(tuples);
    return made;
}

static PyMethodDef methods[] = {{"living_objects", living_objects, METH_VARARGS,
                                 "living_objects(ask, argument): ask(argument) but for tuples, "
                                 "which may be half made, and where those lie."},
                                {0}};
PyMethodDef *td_living_methods(void) { return methods; }
