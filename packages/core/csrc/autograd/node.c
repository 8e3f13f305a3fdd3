/* node.c - graph nodes: their life, their names, the edges of a tensor. */
#include "autograd/node.h"

PyTypeObject *NodeT;
static allocfunc node_alloc;
static freefunc node_free;
static uint64_t next_seq;

static void *array(int n, int inlined, void *inline_items, size_t size)
{
    return n <= inlined ? inline_items : PyMem_Calloc((size_t)n, size);
}

Node *td_node_new(td_node_kind kind, const td_schema *schema, int nedges, int nsaved, int nouts)
{
    Node *n = (Node *)node_alloc(NodeT, 0); /* zeroed */
    if (!n) return NULL;
    n->kind = (uint8_t)kind;
    n->schema = schema;
    n->seq = next_seq += 2; /* even; the odd number below belongs to leaves that this node is the first to use */
    n->edges = array(nedges, 3, n->inline_edges, sizeof(Edge));
    n->saved = array(nsaved, 2, n->inline_saved, sizeof(Saved));
    n->outs = array(nouts, 1, &n->inline_out, sizeof(OutMeta));
    if (!n->edges || !n->saved || !n->outs) {
        Py_DECREF(n);
        return (Node *)PyErr_NoMemory();
    }
    n->nedges = nedges;
    n->nsaved = nsaved;
    n->nouts = nouts;
    if (td_anomaly) {
        PyObject *helper = PyImport_ImportModule("taeda.autograd.anomaly_mode");
        n->metadata = helper ? PyObject_CallMethod(helper, "_forward_metadata", NULL) : NULL;
        Py_XDECREF(helper);
        if (!n->metadata) Py_CLEAR(n);
    }
    return n;
}

int td_node_set_out(Node *n, int nr, const td_tensor *t)
{
    OutMeta *m = &n->outs[nr];
    m->ndim = t->ndim;
    m->dtype = t->dtype;
    m->device = t->device;
    m->sizes = t->ndim <= TD_INLINE_DIMS ? m->inline_sizes : PyMem_Malloc((size_t)t->ndim * sizeof(int64_t));
    if (!m->sizes) return PyErr_NoMemory(), -1;
    memcpy(m->sizes, t->sizes, (size_t)t->ndim * sizeof(int64_t));
    return 0;
}

static void slices_free(Slices *s)
{
    if (!s) return;
    td_tensor_free(s->base);
    td_tensor_free(s->view);
    Py_XDECREF((PyObject *)s->inner);
    PyMem_Free(s);
}

void td_node_release(Node *n)
{
    for (int i = 0; i < n->nsaved; i++) { /* facts hold no memory: a graph of them alone may be walked again */
        if (n->saved[i].facts_only) continue;
        n->released = 1;
        td_saved_clear(&n->saved[i]);
    }
    if (n->slices && n->slices->inner) td_node_release(n->slices->inner);
    if (n->kind == TD_NODE_PYTHON && n->py) {
        PyObject *done = PyObject_CallMethod(n->py, "_release", NULL);
        if (!done) PyErr_WriteUnraisable(n->py);
        Py_XDECREF(done);
    }
}

static void forget(Node *n) /* drop every reference; the node stays valid and empty */
{
    for (int i = 0; i < n->nsaved; i++) td_saved_clear(&n->saved[i]);
    for (int i = 0; i < n->nedges; i++) Py_CLEAR(n->edges[i].node);
    Py_CLEAR(n->args);
    if (n->variable && n->variable->accumulate == n) n->variable->accumulate = NULL;
    Py_CLEAR(n->variable);
    Py_CLEAR(n->py);
    Py_CLEAR(n->hooks);
    Py_CLEAR(n->metadata);
    Py_CLEAR(n->dict);
    slices_free(n->slices);
    n->slices = NULL;
}

static void finish(Node *n)
{
    if (n->weaklist) PyObject_ClearWeakRefs((PyObject *)n);
    forget(n);
    for (int i = 0; i < n->nouts; i++)
        if (n->outs[i].sizes != n->outs[i].inline_sizes) PyMem_Free(n->outs[i].sizes);
    if (n->edges != n->inline_edges) PyMem_Free(n->edges);
    if (n->saved != n->inline_saved) PyMem_Free(n->saved);
    if (n->outs != &n->inline_out) PyMem_Free(n->outs);
    node_free(n);
    Py_DECREF(NodeT);
}

/* A long chain dies node by node from this list: dealloc never recurses, however deep the graph. */
static _Thread_local Node *dead;
static _Thread_local int burying;
static void node_dealloc(PyObject *o)
{
    PyObject_GC_UnTrack(o);
    Node *n = (Node *)o;
    n->next_dead = dead;
    dead = n;
    if (burying) return;
    burying = 1;
    while ((n = dead)) {
        dead = n->next_dead;
        finish(n);
    }
    burying = 0;
}

static int node_traverse(PyObject *o, visitproc visit, void *arg)
{
    Node *n = (Node *)o;
    for (int i = 0; i < n->nedges; i++) Py_VISIT((PyObject *)n->edges[i].node);
    for (int i = 0; i < n->nsaved; i++) {
        Py_VISIT((PyObject *)n->saved[i].node);
        Py_VISIT((PyObject *)n->saved[i].leaf);
        Py_VISIT(n->saved[i].packed);
        Py_VISIT(n->saved[i].unpack);
    }
    Py_VISIT(n->args);
    Py_VISIT((PyObject *)n->variable);
    Py_VISIT(n->py);
    Py_VISIT(n->hooks);
    Py_VISIT(n->metadata);
    Py_VISIT(n->dict);
    if (n->slices) Py_VISIT((PyObject *)n->slices->inner);
    Py_VISIT((PyObject *)Py_TYPE(o));
    return 0;
}
static int node_clear(PyObject *o)
{
    forget((Node *)o);
    return 0;
}

/* ---- edges of tensors ---- */
static Node *accumulate_node(PyTensor *p)
{
    if (p->accumulate) return (Node *)Py_NewRef((PyObject *)p->accumulate);
    Node *n = td_node_new(TD_NODE_ACCUMULATE, NULL, 0, 0, 1);
    if (!n || td_node_set_out(n, 0, p->t) < 0) return Py_XDECREF((PyObject *)n), NULL;
    n->variable = (PyTensor *)Py_NewRef((PyObject *)p);
    next_seq -= 2; /* older than the node that is asking for it, which was numbered just before */
    n->seq = next_seq - 1;
    p->accumulate = n;
    return n;
}

/* A view whose storage was written since: its value now comes from the base, by the view's geometry. */
static int renew(PyTensor *p)
{
    static td_schema *as_strided;
    if (!as_strided && !(as_strided = td_find_schema("as_strided"))) {
        PyErr_SetString(PyExc_RuntimeError, "the op table has no as_strided");
        return -1;
    }
    if (p->creation == TD_VIEW_MULTI) {
        PyErr_SetString(PyExc_RuntimeError, "this view is one of several outputs of a function (unbind, split, chunk), and its base or "
                        "another view of its base has been modified inplace. Such views may not be used afterwards: take them one by "
                        "one (select, narrow), or clone them");
        return -1;
    }
    Node *n = td_node_new(TD_NODE_OP, as_strided, 1, 1, 1);
    if (!n || td_gradient_edge(p->base, &n->edges[0]) < 0 || td_node_set_out(n, 0, p->t) < 0 ||
        td_save_facts(&n->saved[0], p->base->t, 0, -1) < 0 ||
        !(n->args = Py_BuildValue("(ONNL)", Py_None, td_ints_object(p->t->ndim, p->t->sizes),
                                  td_ints_object(p->t->ndim, p->t->strides), (long long)p->t->offset))) {
        Py_XDECREF((PyObject *)n);
        return -1;
    }
    Py_XSETREF(p->node, n);
    p->nr = 0;
    p->node_version = td_version_of(p->t);
    return 0;
}

Node *td_grad_fn(PyTensor *p, int *failed)
{
    *failed = 0;
    if (p->base && p->creation != TD_VIEW_NO_GRAD && p->creation != TD_VIEW_INFERENCE && p->node_version != td_version_of(p->t) &&
        td_requires_grad(p->base))
        *failed = renew(p) < 0;
    return *failed ? NULL : p->node;
}

int td_gradient_edge(PyTensor *p, Edge *edge)
{
    int failed;
    Node *n = td_grad_fn(p, &failed);
    edge->node = NULL;
    edge->nr = p->nr;
    if (failed) return -1;
    if (n) edge->node = (Node *)Py_NewRef((PyObject *)n);
    else if (p->requires_grad) {
        edge->nr = 0;
        if (!(edge->node = accumulate_node(p))) return -1;
    }
    return 0;
}

/* ---- what Python sees ---- */
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
    case TD_NODE_PYTHON: return PyObject_CallMethod(n->py, "_name", NULL);
    default: return camel(n->schema->op.name);
    }
}
static PyObject *node_repr(PyObject *o)
{
    PyObject *name = node_name(o, NULL), *made = name ? PyUnicode_FromFormat("<%U object at %p>", name, o) : NULL;
    Py_XDECREF(name);
    return made;
}
static PyObject *node_next(PyObject *o, void *c)
{
    Node *n = (Node *)o;
    PyObject *made = PyTuple_New(n->nedges);
    for (int i = 0; made && i < n->nedges; i++)
        PyTuple_SetItem(made, i, Py_BuildValue("(OI)", n->edges[i].node ? (PyObject *)n->edges[i].node : Py_None, n->edges[i].nr));
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
static PyObject *node_seq(PyObject *o, PyObject *unused) { return PyLong_FromUnsignedLongLong(((Node *)o)->seq); }
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
static PyObject *node_outputs(PyObject *o, void *c) { return PyLong_FromLong(((Node *)o)->nouts); }

/* grad_fn._saved_self, ._saved_result, ._saved_dim: what the node keeps */
static PyObject *node_getattr(PyObject *o, PyObject *name)
{
    PyObject *found = PyObject_GenericGetAttr(o, name);
    Node *n = (Node *)o;
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (found || !text || strncmp(text, "_saved_", 7) || n->kind != TD_NODE_OP) return found;
    PyErr_Clear(); /* not an ordinary attribute: look among the saved values */
    text += 7;
    for (int i = 0; i < n->nsaved; i++) {
        Saved *s = &n->saved[i];
        const char *own = s->key >= TD_KEY_RESULT ? "result" : n->schema->params[s->key].name;
        if (!s->facts_only && !strncmp(own, text, strlen(own)) && (!text[strlen(own)] || s->key >= TD_KEY_RESULT)) return td_unpack(n, s);
    }
    for (int k = 0; n->args && k < n->schema->nparams; k++)
        if (!strcmp(n->schema->params[k].name, text)) return Py_NewRef(PyTuple_GetItem(n->args, k));
    return PyErr_Format(PyExc_AttributeError, "%R keeps nothing of the name %U", o, name);
}

static PyMethodDef methods[] = {{"name", node_name, METH_NOARGS, "The name of the derivative: 'MulBackward0'."},
                                {"_sequence_nr", node_seq, METH_NOARGS, "Order of creation."}, {0}};
static PyGetSetDef fields[] = {{"next_functions", node_next, 0, "Pairs of (node, output number) that gradients flow on to.", 0},
                               {"variable", node_variable, 0, "The leaf of an AccumulateGrad.", 0},
                               {"metadata", node_metadata, 0, "A dict for anybody's notes.", 0},
                               {"_hooks", node_hooks, 0, "Registered hooks by kind.", 0},
                               {"_context", node_py, 0, "Context of a custom Function.", 0},
                               {"_op", node_op, 0, "Qualified name of the op, or None.", 0},
                               {"_outputs", node_outputs, 0, "How many results the operation has.", 0},
                               {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, 0, 0}, {0}};
static PyMemberDef members[] = {{"__weaklistoffset__", T_PYSSIZET, offsetof(Node, weaklist), READONLY},
                                {"__dictoffset__", T_PYSSIZET, offsetof(Node, dict), READONLY}, {0}};

int td_add_node_type(PyObject *module)
{
    static PyType_Slot slots[] = {{Py_tp_dealloc, node_dealloc}, {Py_tp_traverse, node_traverse}, {Py_tp_clear, node_clear},
                                  {Py_tp_repr, node_repr}, {Py_tp_methods, methods}, {Py_tp_getset, fields}, {Py_tp_members, members},
                                  {Py_tp_getattro, node_getattr}, {Py_tp_doc, "A step of the graph that backward walks."}, {0}};
    static PyType_Spec spec = {"taeda.autograd.graph.Node", sizeof(Node), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
    if (!(NodeT = (PyTypeObject *)PyType_FromSpec(&spec))) return -1;
    node_alloc = (allocfunc)PyType_GetSlot(NodeT, Py_tp_alloc);
    node_free = (freefunc)PyType_GetSlot(NodeT, Py_tp_free);
    return PyModule_AddObjectRef(module, "Node", (PyObject *)NodeT);
}
