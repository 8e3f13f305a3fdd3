/* node.c - graph nodes: their life, and the edges of a tensor. */
#include "graph/node.h"
#include "runtime/device.h"
#include "runtime/thread_local.h"

static uint64_t next_seq;

static void *array(int n, int inlined, void *inline_items, size_t size)
{
    return n <= inlined ? inline_items : PyMem_Calloc((size_t)n, size);
}

Node *td_node_new(td_node_kind kind, const td_schema *schema, int nedges, int nsaved, int nouts)
{
    Node *n = (Node *)td_node_alloc(NodeT, 0); /* zeroed */
    if (!n) return NULL;
    n->kind = (uint8_t)kind;
    n->schema = schema;
    n->edges = array(nedges, 3, n->inline_edges, sizeof(Edge));
    n->saved = array(nsaved, 2, n->inline_saved, sizeof(Saved));
    n->outs = array(nouts, 1, &n->inline_out, sizeof(OutMeta));
    if (!n->edges || !n->saved || !n->outs) {
        Py_DECREF(n);
        return (Node *)td_no_memory();
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

#if defined(__SANITIZE_ADDRESS__)
static void check_edges(const Node *n) /* the walk of the engine relies on it */
{
    for (int i = 0; i < n->nedges; i++)
        if (n->edges[i].node && (!n->edges[i].node->seq || n->edges[i].node->seq >= n->seq))
            Py_FatalError("an edge leads to a later node");
}
#else
static void check_edges(const Node *n) { (void)n; }
#endif

void td_node_number(Node *n)
{
    n->seq = ++next_seq;
    check_edges(n);
}

int td_node_set_out(Node *n, int nr, const td_tensor *t)
{
    OutMeta *m = &n->outs[nr];
    m->ndim = t->ndim;
    m->dtype = t->dtype;
    m->device = t->device;
    m->sizes = t->ndim <= TD_INLINE_DIMS ? m->inline_sizes
                                         : PyMem_Malloc((size_t)t->ndim * sizeof(int64_t));
    if (!m->sizes) return td_no_memory(), -1;
    memcpy(m->sizes, t->sizes, (size_t)t->ndim * sizeof(int64_t));
    if (__builtin_expect(td_streamed, 0) && td_device_type((td_device)t->device) == TD_CUDA)
        n->stream = td_device_stream((td_device)t->device);
    return 0;
}

int td_node_set_out_of(Node *n, int nr, const PyTensor *p)
{
    if (td_node_set_out(n, nr, p->t) < 0) return -1;
    n->outs[nr].device = td_claimed_device(p);
    return 0;
}

static void slices_free(const Node *n, Slices *s)
{
    if (!s) return;
    td_tensor_free(s->base);
    td_tensor_free(s->view);
    if (s->inner && s->inner->outer == n) s->inner->outer = NULL;
    Py_XDECREF((PyObject *)s->inner);
    PyMem_Free(s);
}

/* The edges of a released node lead nowhere any more; a leaf's node counts them. */
static void count_spent(Node *n, int step)
{
    for (int i = 0; i < n->nedges; i++)
        if (n->edges[i].node && n->edges[i].node->kind == TD_NODE_ACCUMULATE)
            n->edges[i].node->spent += step;
}

void td_node_release(Node *n)
{
    /* facts hold no memory: a graph of them alone may be walked again */
    for (int i = 0; i < n->nsaved; i++) {
        if (n->saved[i].facts_only) continue;
        if (!n->released) count_spent(n, 1);
        n->released = 1;
        td_saved_clear(&n->saved[i]);
    }
    /* else others lead to it, too */
    if (n->slices && Py_REFCNT((PyObject *)n->slices->inner) == 1)
        td_node_release(n->slices->inner);
    if (n->kind == TD_NODE_PYTHON && n->py) {
        PyObject *done = PyObject_CallMethod(n->py, "_release", NULL);
        if (!done) PyErr_WriteUnraisable(n->py);
        Py_XDECREF(done);
    }
}

static void forget(Node *n) /* drop every reference; the node stays valid and empty */
{
    for (int i = 0; i < n->nsaved; i++) td_saved_clear(&n->saved[i]);
    if (n->released) count_spent(n, -1);
    for (int i = 0; i < n->nedges; i++) Py_CLEAR(n->edges[i].node);
    Py_CLEAR(n->args);
    if (n->variable && n->variable->accumulate == n) n->variable->accumulate = NULL;
    Py_CLEAR(n->variable);
    Py_CLEAR(n->py);
    Py_CLEAR(n->hooks);
    Py_CLEAR(n->metadata);
    Py_CLEAR(n->dict);
    slices_free(n, n->slices);
    n->slices = NULL;
    if (n->view) n->view->writer = NULL;
    if (n->writer) n->writer->view = NULL;
    n->view = n->writer = NULL;
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
    PyTypeObject *type = Py_TYPE((PyObject *)n);
    td_node_free(n);
    Py_DECREF((PyObject *)type);
}

/* A long chain dies node by node from this list: dealloc never recurses, however deep the graph. */
static TD_THREAD_LOCAL Node *dead;
static TD_THREAD_LOCAL int burying;
void td_node_dealloc(PyObject *o)
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

int td_node_traverse(PyObject *o, visitproc visit, void *arg)
{
    Node *n = (Node *)o;
    for (int i = 0; i < n->nedges; i++) Py_VISIT((PyObject *)n->edges[i].node);
    for (int i = 0; i < n->nsaved; i++) {
        Py_VISIT((PyObject *)n->saved[i].node);
        Py_VISIT((PyObject *)n->saved[i].leaf);
        Py_VISIT(n->saved[i].packed);
        Py_VISIT(n->saved[i].unpack);
        Py_VISIT((PyObject *)n->saved[i].tangent);
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
int td_node_clear(PyObject *o)
{
    forget((Node *)o);
    return 0;
}

/* ---- edges of tensors ---- */
/* retain_grad() was asked of the tensor, whatever computes it: the request goes to its new node. */
static int move_retained(const PyTensor *p, Node *to, uint32_t nr)
{
    PyObject *from =
        p->node && p->node->hooks ? PyDict_GetItemString(p->node->hooks, "retain") : NULL;
    PyObject *old = PyLong_FromUnsignedLong(p->nr), *new = PyLong_FromUnsignedLong(nr);
    PyObject *who = from && old ? PyDict_GetItemWithError(from, old) : NULL, *there = NULL;
    int status = old && new && !PyErr_Occurred() ? 0 : -1;
    if (status == 0 && who) {
        Py_INCREF(who);
        if (!to->hooks) to->hooks = PyDict_New();
        there = to->hooks ? PyDict_GetItemString(to->hooks, "retain") : NULL;
        there = there ? Py_NewRef(there) : PyDict_New();
        if (!to->hooks || !there || PyDict_SetItemString(to->hooks, "retain", there) < 0 ||
            PyDict_SetItem(there, new, who) < 0 || PyDict_DelItem(from, old) < 0)
            status = -1;
        to->has_hooks = 1;
        Py_DECREF(who);
        Py_XDECREF(there);
    }
    Py_XDECREF(old);
    Py_XDECREF(new);
    return status;
}

int td_set_node(PyTensor *p, Node *n, uint32_t nr)
{
    int status = p->retains_grad ? move_retained(p, n, nr) : 0;
    Py_XSETREF(p->node, n);
    p->nr = nr;
    if (!p->base) p->node_version = td_version_of(p->t);
    return status;
}

/* A node that hooks keep is older than the graph, so a walk would come to it last. Where no graph
 * that can be walked leads to it, it is numbered anew, as a node is that nobody kept: its hooks run
 * once the gradient is complete, while others are still computed. */
static void catch_up(const PyTensor *p, Node *n)
{
    if (p->hooks == (PyObject *)n && Py_REFCNT((PyObject *)n) == 1 + n->spent) td_node_number(n);
}

static Node *accumulate_node(PyTensor *p)
{
    if (p->accumulate) {
        catch_up(p, p->accumulate);
        return (Node *)Py_NewRef((PyObject *)p->accumulate);
    }
    Node *n = td_node_new(TD_NODE_ACCUMULATE, NULL, 0, 0, 1);
    if (!n || td_node_set_out_of(n, 0, p) < 0) return Py_XDECREF((PyObject *)n), NULL;
    n->variable = (PyTensor *)Py_NewRef((PyObject *)p);
    if (p->accumulate) { /* making it ran somebody's Python, which asked for the same leaf */
        Py_CLEAR(n->variable);
        Py_DECREF(n);
        return (Node *)Py_NewRef((PyObject *)p->accumulate);
    }
    td_node_number(n); /* before the node that is asking for it */
    p->accumulate = n;
    return n;
}

/* A view whose storage was written since: its value now comes from the base, by the view's
 * geometry. */
static int renew(PyTensor *p)
{
    if (p->creation == TD_VIEW_MULTI) {
        PyErr_SetString(
            PyExc_RuntimeError,
            "this view is one of several outputs of a function (unbind, split, chunk), and its "
            "base or another view of its base has been modified inplace. Such views may not be "
            "used afterwards: take them one by one (select, narrow), or clone them");
        return -1;
    }
    Edge edge;
    if (td_gradient_edge(p->base, &edge) < 0 ||
        td_view_history(edge, p->base->t, p->t, td_claimed_device(p), &edge) < 0)
        return -1;
    if (td_set_node(p, edge.node, edge.nr) < 0) return -1;
    p->node_version = td_version_of(p->t);
    return 0;
}

/* A view made under no_grad by a function with a rule of its own: its history is that rule, which
 * knows nothing of a write that the history of the base records. */
static int check_stands(const PyTensor *p)
{
    const PyTensor *base = p->base;
    if (!p->node || !base->node || (int32_t)(base->node_version - p->node_version) <= 0) return 0;
    PyErr_SetString(PyExc_RuntimeError,
                    "this view was made without a graph, by a custom Function or by a tensor of "
                    "another layout, and its base or another view of its base has been modified "
                    "inplace since. Make the view again, or clone() it before the write");
    return -1;
}

Node *td_grad_fn(PyTensor *p, int *failed)
{
    *failed = 0;
    if (p->base && p->node_version != td_version_of(p->t) && td_requires_grad(p->base)) {
        int is_apart = p->creation == TD_VIEW_NO_GRAD || p->creation == TD_VIEW_INFERENCE;
        *failed = (is_apart ? check_stands(p) : renew(p)) < 0;
    }
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
