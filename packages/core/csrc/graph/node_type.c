/* node_type.c - a node as Python sees it: grad_fn and what hangs on it.
 *
 * Nodes are made as plain `Node` and take a class of their derivative's name (MulBackward0) when
 * Python first meets them, so that recording pays nothing for names. */
#include "graph/node.h"

PyTypeObject *NodeT;
allocfunc td_node_alloc;
freefunc td_node_free;
static PyObject *classes; /* by name */

static PyObject *camel(const char *name)
{
    char text[128];
    size_t n = 0;
    int upper = 1;
    for (; *name && n < sizeof text - 1; name++) {
        if (*name == '_') upper = 1;
        else {
            text[n++] = (char)(upper && *name >= 'a' && *name <= 'z' ? *name - 32 : *name);
            upper = 0;
        }
    }
    text[n] = 0;
    return PyUnicode_FromFormat("%sBackward0", text);
}

static PyObject *node_name(PyObject *o, PyObject *unused)
{
    Node *n = (Node *)o;
    switch (n->kind) {
        case TD_NODE_ACCUMULATE: return PyUnicode_FromString("AccumulateGrad");
        case TD_NODE_SLICES: return PyUnicode_FromString("CopySlices");
        case TD_NODE_ERROR: return PyUnicode_FromString("NotImplemented");
        case TD_NODE_PYTHON:
            return n->py ? PyObject_CallMethod(n->py, "_name", NULL)
                         : PyUnicode_FromString("Collected");
        default: return camel(n->schema->op.name);
    }
}

static PyObject *new_class(const char *name)
{
    PyType_Slot none[] = {{0}};
    char *qualified = PyMem_Malloc(strlen(name) + 8); /* before 3.13 a type keeps the pointer */
    if (!qualified) return td_no_memory();
    strcat(strcpy(qualified, "taeda."), name);
    PyType_Spec spec = {qualified, 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                        none};
    return PyType_FromSpecWithBases(&spec, (PyObject *)NodeT);
}

/* The class of nodes of that name; borrowed. A class lives as long as the process: there are as
 * many as operations. */
static PyTypeObject *class_named(PyObject *name)
{
    if (!classes && !(classes = PyDict_New())) return NULL;
    PyObject *found = PyDict_GetItemWithError(classes, name);
    if (found || PyErr_Occurred()) return (PyTypeObject *)found;
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    PyObject *made = text ? new_class(text) : NULL;
    if (made && PyDict_SetItem(classes, name, made) < 0) Py_CLEAR(made);
    Py_XDECREF(made);
    return (PyTypeObject *)made;
}

PyObject *td_node_shown(Node *n)
{
    if (!n) return Py_NewRef(Py_None);
    if (Py_TYPE((PyObject *)n) != NodeT) return Py_NewRef((PyObject *)n);
    PyObject *name = node_name((PyObject *)n, NULL);
    PyTypeObject *type = name ? class_named(name) : NULL;
    Py_XDECREF(name);
    if (!type) return NULL;
    Py_INCREF((PyObject *)type);
    Py_SET_TYPE((PyObject *)n, type);
    Py_DECREF((PyObject *)NodeT);
    return Py_NewRef((PyObject *)n);
}

static PyObject *node_repr(PyObject *o)
{
    PyObject *name = node_name(o, NULL),
             *made = name ? PyUnicode_FromFormat("<%U object at %p>", name, o) : NULL;
    Py_XDECREF(name);
    return made;
}
static int set_pair(PyObject *pairs, int i, const Edge *edge)
{
    PyObject *node = td_node_shown(edge->node),
             *pair = node ? Py_BuildValue("(NI)", node, edge->nr) : NULL;
    return pair ? PyTuple_SetItem(pairs, i, pair) : -1;
}
static PyObject *node_next(PyObject *o, void *c)
{
    Node *n = (Node *)o;
    PyObject *made = PyTuple_New(n->nedges);
    for (int i = 0; made && i < n->nedges; i++)
        if (set_pair(made, i, &n->edges[i]) < 0) Py_CLEAR(made);
    return made;
}
static PyObject *node_variable(PyObject *o, void *c)
{
    Node *n = (Node *)o;
    if (n->kind == TD_NODE_ACCUMULATE && n->variable) return Py_NewRef((PyObject *)n->variable);
    return PyErr_Format(PyExc_AttributeError, "only AccumulateGrad has a variable");
}
static PyObject *node_metadata(PyObject *o, void *c)
{
    Node *n = (Node *)o;
    if (!n->metadata && !(n->metadata = PyDict_New())) return NULL;
    return Py_NewRef(n->metadata);
}
static PyObject *node_hooks(PyObject *o, void *c)
{
    Node *n = (Node *)o;
    if (!n->hooks && !(n->hooks = PyDict_New())) return NULL;
    n->has_hooks = 1;
    return Py_NewRef(n->hooks);
}
static PyObject *node_seq(PyObject *o, PyObject *unused)
{
    return PyLong_FromUnsignedLongLong(((Node *)o)->seq);
}
static PyObject *node_py(PyObject *o, void *c)
{
    Node *n = (Node *)o;
    return Py_NewRef(n->py ? n->py : Py_None);
}
static PyObject *node_op(PyObject *o, void *c)
{
    Node *n = (Node *)o;
    return n->schema ? PyUnicode_FromString(n->schema->text) : Py_NewRef(Py_None);
}
/* _output_facts(number) -> (shape, dtype, device) of that result */
static PyObject *node_output_facts(PyObject *o, PyObject *number)
{
    const Node *n = (Node *)o;
    long nr = PyLong_AsLong(number);
    if (PyErr_Occurred()) return NULL;
    if (nr < 0 || nr >= n->nouts)
        return PyErr_Format(PyExc_ValueError, "%R has %d output(s), counted from 0, not number %ld",
                            o, n->nouts, nr);
    const OutMeta *m = &n->outs[nr];
    if (!m->sizes) return PyErr_Format(PyExc_ValueError, "output %ld of %R is no tensor", nr, o);
    return Py_BuildValue("(NNN)", td_size_object(m->ndim, m->sizes),
                         td_dtype_object((td_dtype)m->dtype),
                         td_device_object((td_device)m->device));
}
static PyObject *node_outputs(PyObject *o, void *c) { return PyLong_FromLong(((Node *)o)->nouts); }

static PyObject *node_getattr(PyObject *o, PyObject *name)
{
    PyObject *found = PyObject_GenericGetAttr(o, name);
    if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
    Node *n = (Node *)o;
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (!text) return NULL;
    PyErr_Clear(); /* not an ordinary attribute: look among what it keeps */
    if ((found = td_kept(n, text)) || PyErr_Occurred()) return found;
    if (n->kind == TD_NODE_PYTHON && n->py)
        return PyObject_GetAttr(n->py, name); /* what forward() put on ctx */
    if (!strncmp(text, "_saved_", 7) || !strncmp(text, "_raw_saved_", 11))
        return PyErr_Format(PyExc_AttributeError, "%R keeps nothing of the name %U", o, name);
    return PyObject_GenericGetAttr(o, name);
}

static PyMethodDef methods[] = {
    {"name", node_name, METH_NOARGS, "The name of the derivative: 'MulBackward0'."},
    {"_output_facts", node_output_facts, METH_O, "Shape, dtype and device of a result."},
    {"__dir__", td_node_dir, METH_NOARGS, "Names of its attributes and of what it keeps."},
    {"_sequence_nr", node_seq, METH_NOARGS, "Order of creation."},
    {0}};
static PyGetSetDef fields[] = {
    {"next_functions", node_next, 0, "Pairs of (node, output number) that gradients flow on to.",
     0},
    {"variable", node_variable, 0, "The leaf of an AccumulateGrad.", 0},
    {"metadata", node_metadata, 0, "A dict for anybody's notes.", 0},
    {"_hooks", node_hooks, 0, "Registered hooks by kind.", 0},
    {"_context", node_py, 0, "Context of a custom Function.", 0},
    {"_op", node_op, 0, "Qualified name of the op, or None.", 0},
    {"_outputs", node_outputs, 0, "How many results the operation has.", 0},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, 0, 0},
    {0}};
static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Node, weaklist), READONLY},
    {"__dictoffset__", T_PYSSIZET, offsetof(Node, dict), READONLY},
    {0}};

int td_add_node_type(PyObject *module)
{
    static PyType_Slot slots[] = {{Py_tp_dealloc, td_node_dealloc},
                                  {Py_tp_traverse, td_node_traverse},
                                  {Py_tp_clear, td_node_clear},
                                  {Py_tp_repr, node_repr},
                                  {Py_tp_methods, methods},
                                  {Py_tp_getset, fields},
                                  {Py_tp_members, members},
                                  {Py_tp_getattro, node_getattr},
                                  {Py_tp_doc, "A step of the graph that backward walks.\n\n"
                                              ">>> x = taeda.ones(2, requires_grad=True)\n"
                                              ">>> node = (x * 2).sum().grad_fn\n"
                                              ">>> node.name()\n'SumBackward0'\n"
                                              ">>> [n.name() for n, _ in node.next_functions]\n"
                                              "['MulBackward0']"},
                                  {0}};
    static PyType_Spec spec = {"taeda.autograd.graph.Node", sizeof(Node), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE |
                                   Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};
    if (!(NodeT = (PyTypeObject *)PyType_FromSpec(&spec))) return -1;
    td_node_alloc = (allocfunc)PyType_GetSlot(NodeT, Py_tp_alloc);
    td_node_free = (freefunc)PyType_GetSlot(NodeT, Py_tp_free);
    return PyModule_AddObjectRef(module, "Node", (PyObject *)NodeT);
}
