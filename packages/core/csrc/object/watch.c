/* watch.c - tells the innermost tracer what happened beside the operations. */
#include "object/watch.h"

static void tell(PyObject **hook, const char *name, PyObject *what) /* takes it over */
{
    PyObject *type, *value, *trace, *done = NULL;
    PyErr_Fetch(&type, &value, &trace); /* the caller may be about to raise */
    if (what && td_python_function(hook, "taeda._layers.dispatch", name))
        done = PyObject_CallFunctionObjArgs(*hook, what, NULL);
    if (!done) PyErr_WriteUnraisable(*hook);
    Py_XDECREF(done);
    Py_XDECREF(what);
    PyErr_Restore(type, value, trace);
}

void td_tell_watcher(const char *what)
{
    static PyObject *hook;
    tell(&hook, "note_untraced", PyUnicode_FromString(what));
}

void td_tell_made(PyObject *tensor)
{
    static PyObject *hook;
    tell(&hook, "note_made", Py_NewRef(tensor));
}
