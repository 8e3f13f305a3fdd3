/* task.c - one walk of the engine, seen from the Python code that runs inside it: hooks, custom
 * functions, recomputation. */
#include "graph/node.h"
#include "runtime/thread_local.h"

/* innermost; a walk that begins inside another returns before it */
static TD_THREAD_LOCAL td_task *here;

void td_task_enter(td_task *task, const void *run, int limited)
{
    static uint64_t serial;
    *task = (td_task){.outer = here, .serial = ++serial, .run = run, .limited = limited};
    here = task;
}

td_task *td_task_here(void) { return here; }

/* Every callable runs, also after an error: they give back what the walk held. The first error
 * stays. */
static int run_last(PyObject *last, int status)
{
    for (Py_ssize_t i = 0; i < PyList_Size(last); i++) { /* one may queue another */
        PyObject *type, *value, *trace;
        PyErr_Fetch(&type, &value, &trace);
        PyObject *call = Py_NewRef(PyList_GetItem(last, i)),
                 *done = PyObject_CallFunctionObjArgs(call, NULL);
        if (!done && status < 0) PyErr_WriteUnraisable(call);
        if (!done) status = -1;
        Py_DECREF(call);
        Py_XDECREF(done);
        if (type) PyErr_Restore(type, value, trace);
    }
    return status;
}

int td_task_leave(td_task *task, int status)
{
    if (task->last) status = run_last(task->last, status);
    Py_CLEAR(task->last);
    here = task->outer;
    return status;
}

/* queue_callback(callable): at the end of the walk that runs now */
static PyObject *queue_callback(PyObject *m, PyObject *callable)
{
    if (!here)
        return PyErr_Format(
            PyExc_RuntimeError,
            "Final callbacks can only be installed during backward pass: none runs in this thread");
    if (!here->last && !(here->last = PyList_New(0))) return NULL;
    if (PyList_Append(here->last, callable) < 0) return NULL;
    Py_RETURN_NONE;
}

/* backward_task() -> (number of the innermost walk, does it lead to given inputs only) or None */
static PyObject *backward_task(PyObject *m, PyObject *unused)
{
    if (!here) Py_RETURN_NONE;
    return Py_BuildValue("(KO)", (unsigned long long)here->serial,
                         here->limited ? Py_True : Py_False);
}

static PyMethodDef methods[] = {
    {"queue_callback", queue_callback, METH_O,
     "queue_callback(callable): call it at the end of the backward that runs now."},
    {"backward_task", backward_task, METH_NOARGS,
     "Which backward runs here, and whether it leads to given inputs only; or None."},
    {0}};
PyMethodDef *td_task_methods(void) { return methods; }
