/* task.c - one walk of the engine, seen from the Python code that runs inside it: hooks, custom
 * functions, recomputation. */
#include "backward/backward.h"
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

/* A callable alone, or in a tuple of one: that one is told whether the walk went well so far. */
static PyObject *call_last(PyObject *entry, int status)
{
    if (!PyTuple_Check(entry)) return PyObject_CallFunctionObjArgs(entry, NULL);
    return PyObject_CallFunctionObjArgs(PyTuple_GetItem(entry, 0), status < 0 ? Py_False : Py_True,
                                        NULL);
}

/* Every callable runs, also after an error: they give back what the walk held. The first error
 * stays. */
static int run_last(PyObject *last, int status)
{
    for (Py_ssize_t i = 0; i < PyList_Size(last); i++) { /* one may queue another */
        PyObject *type, *value, *trace;
        PyErr_Fetch(&type, &value, &trace);
        PyObject *call = Py_NewRef(PyList_GetItem(last, i)), *done = call_last(call, status);
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

static PyObject *queue_at(td_task *task, PyObject *entry)
{
    if (!task)
        return PyErr_Format(
            PyExc_RuntimeError,
            "Final callbacks can only be installed during backward pass: none runs in this thread");
    if (!task->last && !(task->last = PyList_New(0))) return NULL;
    if (PyList_Append(task->last, entry) < 0) return NULL;
    Py_RETURN_NONE;
}

/* queue_callback(callable): at the end of the walk that runs now */
static PyObject *queue_callback(PyObject *m, PyObject *callable)
{
    return queue_at(here, callable);
}

/* queue_outer_callback(callable): at the end of the outermost walk of this thread */
static PyObject *queue_outer_callback(PyObject *m, PyObject *callable)
{
    td_task *task = here;
    while (task && task->outer) task = task->outer;
    PyObject *entry = PyTuple_Pack(1, callable), *done = entry ? queue_at(task, entry) : NULL;
    Py_XDECREF(entry);
    return done;
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
    {"queue_outer_callback", queue_outer_callback, METH_O,
     "queue_outer_callback(callable): call it with True, or False after an error, at the end of "
     "the outermost backward that runs in this thread."},
    {"backward_task", backward_task, METH_NOARGS,
     "Which backward runs here, and whether it leads to given inputs only; or None."},
    {0}};
PyMethodDef *td_task_methods(void) { return methods; }
