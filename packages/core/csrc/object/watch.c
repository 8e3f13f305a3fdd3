/* watch.c - tells the innermost tracer what happened beside the operations. */
#include "object/watch.h"

/* What a handler of a signal raised in the hook, where no exception can go on: whether it is
 * Ctrl-C. */
static int interrupted(PyObject *hook)
{
    if (!PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) return PyErr_WriteUnraisable(hook), 0;
    PyErr_Clear();
    return 1;
}

static void tell(PyObject **hook, const char *name, PyObject *what) /* takes it over */
{
    int again = 0;
    PyObject *type, *value, *trace, *done = NULL;
    PyErr_Fetch(&type, &value, &trace); /* the caller may be about to raise */
    if (what && td_python_function(hook, "taeda._layers.dispatch", name))
        done = PyObject_CallFunctionObjArgs(*hook, what, NULL);
    if (!done) {
        again = interrupted(*hook);
        /* it may have heard nothing as yet, and a value would be taken for a constant */
        if (what && *hook) done = PyObject_CallFunctionObjArgs(*hook, what, NULL);
        if (!done && PyErr_Occurred()) again |= interrupted(*hook);
    }
    if (again) PyErr_SetInterrupt(); /* comes at the next line of the program */
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
