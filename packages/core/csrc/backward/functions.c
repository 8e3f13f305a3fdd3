/* functions.c - what taeda.autograd asks of the core: nodes for custom Functions, edges, versions,
 * hooks. */
#include "dispatch/dispatch.h"
#include "backward/backward.h"

static PyObject *need_tensor(PyObject *o)
{
    if (td_is_tensor(o)) return o;
    return PyErr_Format(PyExc_TypeError, "wanted a Tensor, got %R", Py_TYPE(o));
}

static int has_output(const Node *n, int nr)
{
    if (nr >= 0 && nr < n->nouts) return 1;
    PyErr_Format(PyExc_ValueError, "the node has %d outputs, not number %d", n->nouts, nr);
    return 0;
}

/* gradient_edge(tensor) -> (node or None, output number) */
static PyObject *gradient_edge(PyObject *m, PyObject *o)
{
    Edge edge;
    if (!need_tensor(o) || td_gradient_edge((PyTensor *)o, &edge) < 0) return NULL;
    return Py_BuildValue("(NI)", edge.node ? (PyObject *)edge.node : Py_NewRef(Py_None), edge.nr);
}

/* python_node(context, inputs) -> Node: edges towards the tensors among `inputs` that require grad
 * (others None) */
static PyObject *python_node(PyObject *m, PyObject *args)
{
    PyObject *context, *inputs;
    int nouts;
    if (!PyArg_ParseTuple(args, "OO!i", &context, &PyTuple_Type, &inputs, &nouts)) return NULL;
    int n = (int)PyTuple_Size(inputs);
    Node *node = td_node_new(TD_NODE_PYTHON, NULL, n, 0, nouts);
    if (!node) return NULL;
    node->py = Py_NewRef(context);
    for (int i = 0; i < n; i++) {
        PyObject *o = PyTuple_GetItem(inputs, i);
        if (td_is_tensor(o) && td_requires_grad((PyTensor *)o) &&
            td_gradient_edge((PyTensor *)o, &node->edges[i]) < 0) {
            Py_DECREF(node);
            return NULL;
        }
    }
    td_node_number(node);
    return (PyObject *)node;
}

/* set_history(node, output number, tensor): `node` computed the tensor */
static PyObject *set_history(PyObject *m, PyObject *args)
{
    PyObject *node, *o;
    int nr;
    if (!PyArg_ParseTuple(args, "O!iO", NodeT, &node, &nr, &o) || !need_tensor(o)) return NULL;
    PyTensor *p = (PyTensor *)o;
    Node *n = (Node *)node;
    if (!has_output(n, nr)) return NULL;
    if (td_node_set_out_of(n, nr, p) < 0) return NULL;
    Py_XSETREF(p->node, (Node *)Py_NewRef(node));
    p->nr = (uint32_t)nr;
    p->node_version = td_version_of(p->t);
    Py_RETURN_NONE;
}

/* rebase_history(node, edge towards the old value, tensor, output number): the tensor was written
 * in place by `node` */
static PyObject *rebase_history(PyObject *m, PyObject *args)
{
    PyObject *node, *o;
    int edge0, nr;
    if (!PyArg_ParseTuple(args, "O!iOi", NodeT, &node, &edge0, &o, &nr) || !need_tensor(o) ||
        !has_output((Node *)node, nr))
        return NULL;
    if (edge0 < 0 || edge0 >= ((Node *)node)->nedges)
        return PyErr_Format(PyExc_ValueError, "the node has no edge number %d", edge0);
    if (td_node_set_out_of((Node *)node, nr, (PyTensor *)o) < 0 ||
        td_rebase_history((PyTensor *)o, (Node *)node, edge0, (uint32_t)nr) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *check_inplace(PyObject *m, PyObject *args)
{
    PyObject *o;
    const char *name;
    if (!PyArg_ParseTuple(args, "Os", &o, &name) || !need_tensor(o) ||
        td_check_inplace((PyTensor *)o, name) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *
set_meta(PyObject *m,
         PyObject *args) /* shape of an output that is no tensor object of ours any more */
{
    PyObject *node, *o;
    int nr;
    if (!PyArg_ParseTuple(args, "O!iO", NodeT, &node, &nr, &o) || !need_tensor(o) ||
        !has_output((Node *)node, nr))
        return NULL;
    if (td_node_set_out_of((Node *)node, nr, (PyTensor *)o) < 0) return NULL;
    Py_RETURN_NONE;
}

PyObject *td_add(PyObject *a, PyObject *b)
{
    static const td_function *add;
    if (!add && !(add = td_find_function("", "add")))
        return PyErr_Format(PyExc_RuntimeError, "the op table has no add");
    PyObject *args[] = {a, b};
    return td_apply(add, 2, args);
}

/* ---- saved tensors of custom Functions: the same checks as those of built-in operations ---- */
static void saved_free(PyObject *capsule)
{
    Saved *s = PyCapsule_GetPointer(capsule, TD_SAVED_CAPSULE);
    td_saved_clear(s);
    PyMem_Free(s);
}

/* save(tensor, is_result) -> opaque */
static PyObject *save(PyObject *m, PyObject *args)
{
    PyObject *o;
    int is_result;
    if (!PyArg_ParseTuple(args, "Op", &o, &is_result) || !need_tensor(o)) return NULL;
    Saved *s = PyMem_Calloc(1, sizeof *s);
    if (!s) return td_no_memory();
    PyTensor *p = (PyTensor *)o;
    int status = is_result ? td_save_result(s, p, TD_KEY_RESULT, -1) : td_save(s, p, 0, -1);
    if (status == 0 && is_result) s->requires_grad = 1;
    if (status < 0) {
        td_saved_clear(s);
        PyMem_Free(s);
        return NULL;
    }
    return PyCapsule_New(s, TD_SAVED_CAPSULE, saved_free);
}

static PyObject *unpack(PyObject *m, PyObject *args)
{
    PyObject *node, *capsule;
    if (!PyArg_ParseTuple(args, "O!O", NodeT, &node, &capsule)) return NULL;
    Saved *s = PyCapsule_GetPointer(capsule, TD_SAVED_CAPSULE);
    return s ? td_unpack((Node *)node, s) : NULL;
}

static PyObject *raw_saved(PyObject *m, PyObject *args)
{
    PyObject *node, *list;
    if (!PyArg_ParseTuple(args, "O!O!", NodeT, &node, &PyList_Type, &list)) return NULL;
    return td_raw_saved((Node *)node, list);
}

static PyMethodDef methods[] = {
    {"gradient_edge", gradient_edge, METH_O,
     "(node, output number) that gradients of a tensor flow to."},
    {"python_node", python_node, METH_VARARGS, "A node for a custom Function."},
    {"set_history", set_history, METH_VARARGS, "State that a node computed a tensor."},
    {"rebase_history", rebase_history, METH_VARARGS, "State that a node wrote a tensor in place."},
    {"check_inplace", check_inplace, METH_VARARGS,
     "Refuse an in-place write that autograd forbids."},
    {"set_output_meta", set_meta, METH_VARARGS, "Shape and dtype of a node's output."},
    {"save_for_node", save, METH_VARARGS, "Keep a tensor, with its version."},
    {"unpack_saved", unpack, METH_VARARGS, "Give a kept tensor back, checked."},
    {"raw_saved", raw_saved, METH_VARARGS, "A SavedTensor for each of a list of kept tensors."},
    {"register_rule", td_register_rule, METH_VARARGS,
     "Register a derivative rule; see taeda.autograd.rules."},
    {"rules_loading", td_rules_loading, METH_O,
     "State that the rules are being registered (False) or all are (True)."},
    {0}};
PyMethodDef *td_node_functions(void) { return methods; }
