/* watch.c - tells the innermost tracer what happened beside the operations. */
#include "object/watch.h"

void td_tell_watcher(const char *what)
{
    static PyObject *hook;
    PyObject *type, *value, *trace, *done;
    PyErr_Fetch(&type, &value, &trace); /* the caller may be about to raise */
    if (td_python_function(&hook, "taeda._dispatch", "note_untraced") && (done = PyObject_CallFunction(hook, "s", what))) Py_DECREF(done);
    else PyErr_WriteUnraisable(hook);
    PyErr_Restore(type, value, trace);
}
