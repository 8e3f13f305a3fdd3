/* run_node.c - the derivative of one node, by its kind. */
#include "backward/backward.h"

TD_THREAD_LOCAL const uint8_t *td_wanted_edges;

PyObject *td_engine_helper(const char *name)
{
    static PyObject *module;
    if (!module && !(module = PyImport_ImportModule("taeda.autograd._engine"))) return NULL;
    return PyObject_GetAttrString(module, name);
}

static PyObject *call_python(Node *n, PyObject *const *grads)
{
    if (!n->py)
        return PyErr_Format(PyExc_RuntimeError,
                            "the graph is being collected: it cannot be differentiated any more");
    PyObject *args = PyTuple_New(n->nouts);
    for (int i = 0; args && i < n->nouts; i++)
        PyTuple_SetItem(args, i, Py_NewRef(grads[i] ? grads[i] : Py_None));
    PyObject *method = args ? PyObject_GetAttrString(n->py, "_run_backward") : NULL;
    uint32_t excluded = td_here.excluded;
    /* a user's function: every layer sees what it calls, but gradients have no names */
    td_here.excluded = TD_LAYER_NAMES;
    PyObject *made = method ? PyObject_CallObject(method, args) : NULL;
    td_here.excluded = excluded;
    Py_XDECREF(method);
    Py_XDECREF(args);
    return made;
}

static int run_python(Node *n, PyObject *const *grads, PyObject **results)
{
    PyObject *made = call_python(n, grads);
    if (!made) return -1;
    int status = 0;
    for (Py_ssize_t i = 0; i < PyTuple_Size(made) && i < n->nedges; i++) {
        PyObject *g = PyTuple_GetItem(made, i);
        if (g != Py_None && n->edges[i].node) results[i] = Py_NewRef(g);
    }
    Py_DECREF(made);
    return status;
}

/* (dtype, sizes, strides, offset, conj bit, neg bit) */
static PyObject *facts(const td_tensor *t)
{
    return Py_BuildValue("(NNNLii)", td_dtype_object((td_dtype)t->dtype),
                         td_ints_object(t->ndim, t->sizes), td_ints_object(t->ndim, t->strides),
                         (long long)t->offset, t->flags & TD_FLAG_CONJ, t->flags & TD_FLAG_NEG);
}

/* gradient of a base that was written through a view: the view's part goes through the write, the
 * rest passes */
static int run_slices(Node *n, PyObject *const *grads, PyObject **results, int create_graph)
{
    PyObject *call = td_engine_helper("split_slices"), *pair = NULL, *joined = NULL;
    Slices *s = n->slices;
    Node *inner = s->inner;
    int edge0 = (int)n->first_edge[0], status = -1;
    if (call) pair = PyObject_CallFunction(call, "ONN", grads[0], facts(s->base), facts(s->view));
    Py_XDECREF(call);
    if (!pair) return -1;
    PyObject **parts = PyMem_Calloc((size_t)inner->nouts, sizeof *parts);
    if (parts) parts[s->nr] = PyTuple_GetItem(pair, 1);
    else td_no_memory();
    td_wanted_edges = NULL; /* those of n, not of the write */
    if (parts && td_run_node(inner, parts, results, create_graph) == 0 &&
        (call = td_engine_helper("join_slices"))) {
        joined = PyObject_CallFunctionObjArgs(
            call, pair, edge0 < inner->nedges && results[edge0] ? results[edge0] : Py_None, NULL);
        Py_DECREF(call);
        if (joined) {
            Py_XSETREF(results[edge0], joined);
            status = 0;
        }
    }
    PyMem_Free(parts);
    Py_DECREF(pair);
    return status;
}

static int
leads_on(const Node *n) /* not where only views require grad whose base came to require it later */
{
    for (int i = 0; i < n->nedges; i++)
        if (n->edges[i].node) return 1;
    return 0;
}

static int run_op(Node *n, PyObject *const *grads, PyObject **results, int create_graph)
{
    if (!leads_on(n)) return 0;
    if (n->released) {
        Saved empty = {0};
        td_unpack(n, &empty); /* says that the graph was freed */
        return -1;
    }
    int plain = !n->dispatches && grads[0] && td_is_exact(grads[0]) &&
                !((PyTensor *)grads[0])->dispatches && !create_graph && !td_dual_level;
    /* those make views of handles, which know no tangents */
    if (plain && td_fast_rules[n->schema->op.id]) {
        int status = td_fast_rules[n->schema->op.id](n, grads, results);
        if (status) return status > 0 ? 0 : -1;
    }
    const Rule *rule = td_rule(n->schema);
    if (rule) return td_apply_rule(n, rule, grads, results) ? 0 : -1;
    PyErr_Format(PyExc_NotImplementedError, "the derivative for '%s' is not implemented",
                 n->schema->text);
    return -1;
}

int td_run_node(Node *n, PyObject *const *grads, PyObject **results, int create_graph)
{
    switch (n->kind) {
        case TD_NODE_PYTHON: return run_python(n, grads, results);
        case TD_NODE_SLICES:
            return grads[0] && n->slices ? run_slices(n, grads, results, create_graph) : 0;
        case TD_NODE_OP: return run_op(n, grads, results, create_graph);
        default: PyErr_SetObject(PyExc_NotImplementedError, n->py); return -1;
    }
}
