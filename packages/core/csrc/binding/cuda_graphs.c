/* cuda_graphs.c - CUDA graphs for taeda.cuda._graphs. Handles are addresses. */
#include "binding/cuda.h"
#include "cuda/graph.h"

static td_cuda_graph *graph_of(PyObject *handle)
{
    void *g = PyLong_AsVoidPtr(handle);
    if (!g && !PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, "a CUDA graph that is gone");
    return g;
}

/* graph_begin(ordinal, pool, mode) -> handle */
static PyObject *graph_begin(PyObject *m, PyObject *args)
{
    int ordinal, mode;
    unsigned long long pool;
    td_cuda_graph *g = NULL;
    if (!PyArg_ParseTuple(args, "iKi", &ordinal, &pool, &mode)) return NULL;
    TD_PY(td_cuda_graph_begin(&g, ordinal, (td_cuda_private *)(uintptr_t)pool, mode));
    return PyLong_FromVoidPtr(g);
}
static PyObject *graph_end(PyObject *m, PyObject *handle)
{
    td_cuda_graph *g = graph_of(handle);
    if (!g) return NULL;
    TD_PY(td_cuda_graph_end(g));
    Py_RETURN_NONE;
}
static PyObject *graph_make(PyObject *m, PyObject *handle)
{
    td_cuda_graph *g = graph_of(handle);
    if (!g) return NULL;
    TD_PY(td_cuda_graph_make(g));
    Py_RETURN_NONE;
}
/* graph_replay(handle, stream) */
static PyObject *graph_replay(PyObject *m, PyObject *args)
{
    unsigned long long handle, stream;
    if (!PyArg_ParseTuple(args, "KK", &handle, &stream)) return NULL;
    TD_PY(td_cuda_graph_replay((td_cuda_graph *)(uintptr_t)handle, (void *)(uintptr_t)stream));
    Py_RETURN_NONE;
}
static PyObject *graph_dump(PyObject *m, PyObject *args)
{
    unsigned long long handle;
    const char *path;
    if (!PyArg_ParseTuple(args, "Ks", &handle, &path)) return NULL;
    TD_PY(td_cuda_graph_dump((td_cuda_graph *)(uintptr_t)handle, path));
    Py_RETURN_NONE;
}
static PyObject *graph_raw(PyObject *m, PyObject *handle)
{
    td_cuda_graph *g = graph_of(handle);
    return g ? PyLong_FromVoidPtr(td_cuda_graph_raw(g)) : NULL;
}
static PyObject *graph_free(PyObject *m, PyObject *handle)
{
    td_cuda_graph *g = graph_of(handle);
    if (!g) return NULL;
    td_cuda_graph_free(g);
    Py_RETURN_NONE;
}
/* capturing(ordinal): is the current stream being captured? */
static PyObject *capturing(PyObject *m, PyObject *ordinal)
{
    long n = PyLong_AsLong(ordinal);
    if (PyErr_Occurred()) return NULL;
    return PyBool_FromLong(td_cuda_started() && td_cuda_capturing((int)n) != NULL);
}

static PyMethodDef methods[] = {
    {"cuda_graph_begin", graph_begin, METH_VARARGS, "Capture the current stream: a handle."},
    {"cuda_graph_end", graph_end, METH_O, "The capture is over."},
    {"cuda_graph_make", graph_make, METH_O, "Make a graph ready to be replayed."},
    {"cuda_graph_replay", graph_replay, METH_VARARGS, "Queue all of its work."},
    {"cuda_graph_dump", graph_dump, METH_VARARGS, "Describe it in a file for Graphviz."},
    {"cuda_graph_raw", graph_raw, METH_O, "The address of the driver's graph."},
    {"cuda_graph_free", graph_free, METH_O, "Give it back."},
    {"cuda_capturing", capturing, METH_O, "Is the current stream being captured?"},
    {NULL, NULL, 0, NULL},
};

int td_add_cuda_graphs(PyObject *module) { return PyModule_AddFunctions(module, methods); }
