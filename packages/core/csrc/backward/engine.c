/* engine.c - the walk: nodes in falling order of creation, gradients summed per node output.
 *
 *   roots ─▶ slots (node → gradients so far) ─▶ heap by seq ─▶ run ─▶ fit ─▶ slots of the next nodes
 *
 * All state is in one Run on the C stack of the caller, so backward may be called from a hook, from
 * another thread, or inside backward. Nothing recurses along the graph. */
#include "backward/backward.h"
#include "backward/streams.h"
#include "backward/sums.h"

static int is_capture(const Run *r, const Slot *s)
{
    for (int i = 0; i < r->ncaptures; i++)
        if (r->captures[i].node == s->node) return 1;
    return 0;
}

/* Keep what came for a capture by itself. */
static int keep_part(const Run *r, Edge edge, PyObject *grad)
{
    for (int i = 0; i < r->ncaptures; i++) {
        const Capture *c = &r->captures[i];
        if (c->node == edge.node && c->nr == edge.nr && PyList_Append(c->parts, grad) < 0)
            return -1;
    }
    return 0;
}

static int feed(Run *r, Node *from, int index, Edge edge, PyObject *grad) /* takes grad over */
{
    Slot *s = slot_of(r, edge.node);
    if (!s) return Py_DECREF(grad), -1;
    if (r->limited && !s->needed) return Py_DECREF(grad), 0;
    if (!(grad = td_sum_fit(from, index, &edge.node->outs[edge.nr], grad))) return -1;
    if (r->ends == 2 && is_capture(r, s)) {
        int status = keep_part(r, edge, grad);
        Py_DECREF(grad);
        return status;
    }
    if (td_sum_add(r, s, edge.nr, grad) < 0) return -1;
    return push(r, s);
}

/* ---- hooks ---- */
/* Rules in C rely on what a gradient looks like; a hook can change one in place (t_, unsqueeze_,
 * resize_). */
static int check_gradients(const Slot *s)
{
    for (int i = 0; i < s->node->nouts; i++) {
        if (!s->grads[i] || td_gradient_fits(&s->node->outs[i], s->grads[i])) continue;
        PyErr_Format(PyExc_RuntimeError,
                     "the gradient of output %d of %R was given another shape or dtype while it "
                     "waited: hooks may return another gradient of the same shape, but not reshape "
                     "the one that they get",
                     i, s->node);
        return -1;
    }
    return 0;
}

static PyObject *hook_list(const Node *n, const char *kind)
{
    return n->hooks ? PyDict_GetItemString(n->hooks, kind) : NULL;
}

static int are_gradients(const Node *n, PyObject *made,
                         int count) /* a tuple of as many tensors and Nones? */
{
    int good = PyTuple_Check(made) && PyTuple_Size(made) == count;
    for (int i = 0; good && i < count; i++) {
        PyObject *g = PyTuple_GetItem(made, i);
        good = g == Py_None || td_is_tensor(g);
    }
    if (!good)
        PyErr_Format(PyExc_RuntimeError,
                     "hooks of %R gave %R back, where %d gradients (Tensor or None) are wanted", n,
                     made, count);
    return good;
}

/* replace *grads by what Python's run_hooks(kind, node, grads) returns: a tuple as long */
static int run_hooks(Node *n, const char *kind, PyObject **grads, int count, PyObject *also)
{
    if (!hook_list(n, kind)) return 0;
    PyObject *tuple = PyTuple_New(count), *call = tuple ? td_engine_helper(kind) : NULL,
             *made = NULL;
    for (int i = 0; tuple && i < count; i++)
        PyTuple_SetItem(tuple, i, Py_NewRef(grads[i] ? grads[i] : Py_None));
    uint32_t excluded = td_as_caller();
    if (call) made = PyObject_CallFunctionObjArgs(call, (PyObject *)n, tuple, also, NULL);
    td_here.excluded = excluded;
    Py_XDECREF(call);
    Py_XDECREF(tuple);
    if (!made) return -1;
    if (!are_gradients(n, made, count)) return Py_DECREF(made), -1;
    for (int i = 0; i < count; i++) {
        PyObject *g = PyTuple_GetItem(made, i);
        Py_XSETREF(grads[i], g == Py_None ? NULL : Py_NewRef(g));
    }
    Py_DECREF(made);
    return 0;
}

/* ---- leaves ---- */
/* A first gradient is kept itself if nobody else sees it and its strides are the leaf's (or
 * row-major). */
static int may_steal(const Run *r, PyObject *grad, const td_tensor *leaf)
{
    const td_tensor *t = TD_T(grad);
    if (r->create_graph || ((PyTensor *)grad)->node || !td_sole_owner(grad)) return 0;
    if (!td_is_dense(leaf)) return td_is_contiguous(t);
    for (int i = 0; i < t->ndim; i++)
        if (t->sizes[i] > 1 && t->strides[i] != leaf->strides[i]) return 0;
    return 1;
}

static PyObject *first_gradient(const Run *r, PyTensor *leaf, PyObject *grad)
{
    if (may_steal(r, grad, leaf->t)) return td_forget_writes(grad), Py_NewRef(grad);
    PyObject *call = td_engine_helper("first_gradient"), *made = NULL;
    if (call)
        made = PyObject_CallFunctionObjArgs(call, (PyObject *)leaf, grad,
                                            td_here.grad_mode ? Py_True : Py_False, NULL);
    Py_XDECREF(call);
    return made;
}

/* leaf.grad += grad. The sum may let other threads run: they may assign .grad meanwhile, which
 * counts as done after it. */
static int add_to_leaf(const Run *r, PyTensor *leaf, PyObject *grad)
{
    PyObject *before = Py_XNewRef((PyObject *)leaf->grad);
    /* a sparse sum has no place for a dense gradient: their sum is dense, and another tensor */
    int apart = before && td_has_parts((PyTensor *)before) &&
                ((PyTensor *)before)->layout != ((PyTensor *)grad)->layout;
    PyObject *made = !before                    ? first_gradient(r, leaf, grad)
                     : r->create_graph || apart ? td_add(before, grad)
                                                : td_add_into(before, grad);
    Py_XDECREF(before);
    if (!made) return -1;
    td_gradients_set++;
    if (leaf->grad == (PyTensor *)before) Py_XSETREF(leaf->grad, made);
    else Py_DECREF(made);
    return 0;
}

static int accumulate(Run *r, Node *n, Slot *s)
{
    PyTensor *leaf = n->variable;
    PyObject *grad = s->grads[0]; /* the slot's only reference: the leaf may take it over */
    if (!leaf || !grad || !leaf->requires_grad) return 0; /* it may have been switched off since */
    Py_INCREF((PyObject *)leaf);
    td_turn_begin();
    int status = add_to_leaf(r, leaf, grad);
    td_turn_end();
    if (status == 0) status = run_hooks(n, "post_accumulate", s->grads, 1, (PyObject *)leaf);
    Py_DECREF((PyObject *)leaf);
    return status;
}

/* ---- the walk ---- */
static int capture(Run *r, const Slot *s)
{
    int hit = 0;
    for (int i = 0; i < r->ncaptures; i++)
        if (r->captures[i].node == s->node) {
            Py_XSETREF(r->captures[i].grad, Py_XNewRef(s->grads[r->captures[i].nr]));
            hit = 1;
        }
    return hit;
}

/* No gradient for this edge: the node behind it is visited all the same, since it may have hooks
 * that somebody waits for. */
static int feed_nothing(Run *r, Edge edge)
{
    Slot *s = edge.node ? slot_of(r, edge.node) : NULL;
    if (edge.node && !s) return -1;
    return s && (!r->limited || s->needed) ? push(r, s) : 0;
}

static int deliver(Run *r, Node *n, PyObject **results)
{
    for (int i = 0; i < n->nedges; i++) {
        if (!results[i]) {
            if (feed_nothing(r, n->edges[i]) < 0) return -1;
            continue;
        }
        PyObject *g = results[i];
        results[i] = NULL;
        if (!n->edges[i].node) Py_DECREF(g); /* nobody wants it */
        else if (feed(r, n, i, n->edges[i], g) < 0) return -1;
    }
    return 0;
}

/* What hooks behind the node get of the gradients that came; None if there are none. It is held
 * while the node runs, so nobody takes a gradient over that a hook may write to. */
static PyObject *kept_for_hooks(const Node *n, const Slot *s)
{
    if (!hook_list(n, "post")) return Py_NewRef(Py_None);
    PyObject *came = PyTuple_New(n->nouts);
    for (int i = 0; came && i < n->nouts; i++)
        PyTuple_SetItem(came, i, Py_NewRef(s->grads[i] ? s->grads[i] : Py_None));
    return came;
}

static int after(Node *n, PyObject **results, PyObject *came)
{
    if (td_anomaly == 2) {
        PyObject *call = td_engine_helper("check_nan"),
                 *tuple = call ? PyTuple_New(n->nedges) : NULL, *done = NULL;
        for (int i = 0; tuple && i < n->nedges; i++)
            PyTuple_SetItem(tuple, i, Py_NewRef(results[i] ? results[i] : Py_None));
        if (tuple) done = PyObject_CallFunctionObjArgs(call, (PyObject *)n, tuple, NULL);
        Py_XDECREF(call);
        Py_XDECREF(tuple);
        if (!done) return -1;
        Py_DECREF(done);
    }
    return came == Py_None ? 0 : run_hooks(n, "post", results, n->nedges, came);
}

/* The rule of the node, of which only the edges on the way to the captures need results. A walk
 * inside the rule sets its own. */
static int run_wanted(Run *r, Node *n, PyObject **grads, PyObject **results)
{
    uint8_t few[8], *wanted = n->nedges <= 8 ? few : PyMem_Malloc((size_t)n->nedges);
    if (!wanted) return td_no_memory(), -1;
    for (int e = 0; r->limited && e < n->nedges; e++) {
        const Slot *next = n->edges[e].node ? known_slot(r, n->edges[e].node) : NULL;
        wanted[e] = next && next->needed;
    }
    const uint8_t *before = td_wanted_edges;
    td_wanted_edges = r->limited ? wanted : NULL;
    int status = td_run_node(n, grads, results, r->create_graph);
    td_wanted_edges = before;
    if (wanted != few) PyMem_Free(wanted);
    return status;
}

/* Hooks before a node runs. Those of its outputs come first, and `.grad` of an output is theirs. */
static int before_capture(Node *n, Slot *s)
{
    if (n->has_hooks && (run_hooks(n, "tensor", s->grads, n->nouts, Py_None) < 0 ||
                         run_hooks(n, "retain", s->grads, n->nouts, Py_None) < 0))
        return -1;
    return check_gradients(s);
}

static int before_run(Node *n, Slot *s)
{
    if (!n->has_hooks) return 0;
    if (run_hooks(n, "pre", s->grads, n->nouts, Py_None) < 0) return -1;
    return check_gradients(s);
}

static int run_leaf(Run *r, Node *n, Slot *s)
{
    PyObject *came = kept_for_hooks(n, s);
    int status = came ? accumulate(r, n, s) : -1;
    if (status == 0) status = after(n, NULL, came);
    Py_XDECREF(came);
    return status;
}

/* A node that no gradient came to has hooks, and computes nothing. */
static int run_inner(Run *r, Node *n, Slot *s)
{
    int any = 0;
    for (int i = 0; i < n->nouts; i++) any |= s->grads[i] != NULL;
    PyObject *inline_results[8] = {0},
             **results =
                 n->nedges <= 8 ? inline_results : PyMem_Calloc((size_t)n->nedges, sizeof *results);
    if (!results) return td_no_memory(), -1;
    PyObject *came = kept_for_hooks(n, s);
    int status = !came ? -1 : any ? run_wanted(r, n, s->grads, results) : 0;
    if (status == 0) status = after(n, results, came);
    if (status == 0) status = deliver(r, n, results);
    for (int i = 0; i < n->nedges; i++) Py_XDECREF(results[i]);
    if (results != inline_results) PyMem_Free(results);
    Py_XDECREF(came);
    if (status == 0 && any && !r->keep) td_node_release(n);
    return status;
}

static int visit(Run *r, Slot *s)
{
    Node *n = s->node;
    if (r->ends) { /* hooks of a capture are for who walks on */
        int found = is_capture(r, s);
        if ((found && r->ends == 3 ? td_sum_close(r, s) : td_sum_round(r, s)) < 0) return -1;
        if (found) return capture(r, s), 0;
    }
    if (td_stream_enter(r, n) < 0 || td_sum_round(r, s) < 0 || before_capture(n, s) < 0) return -1;
    int captured = capture(r, s), leaf = n->kind == TD_NODE_ACCUMULATE;
    /* its gradients were asked for, none behind them: it does not run, and has no hooks */
    if (r->limited && !(leaf ? captured && r->accumulate : s->passes)) return 0;
    if (before_run(n, s) < 0) return -1;
    return leaf ? run_leaf(r, n, s) : run_inner(r, n, s);
}

static void explain(Node *n) /* anomaly mode: the forward line of the node that failed */
{
    if (!td_anomaly || !n->metadata) return;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *call = td_engine_helper("explain_failure"),
             *done = call ? PyObject_CallFunctionObjArgs(call, (PyObject *)n, NULL) : NULL;
    if (!done) PyErr_WriteUnraisable((PyObject *)n);
    Py_XDECREF(call);
    Py_XDECREF(done);
    PyErr_Restore(type, value, trace);
}

static int walk(Run *r)
{
    while (r->heap_n) {
        Slot *s = pop(r);
        if (r->limited && !s->needed) continue;
        r->now = s;
        if (visit(r, s) < 0) return explain(s->node), -1;
        for (int k = 0; k < s->node->nouts; k++) Py_CLEAR(s->grads[k]);
    }
    return 0;
}

/* ---- only the way to the captures ---- */
static int by_seq(const void *a, const void *b)
{
    uint64_t x = (*(Slot *const *)a)->node->seq, y = (*(Slot *const *)b)->node->seq;
    return (x > y) - (x < y);
}

static int append(Slot ***all, size_t *n, size_t *cap, Slot *s)
{
    if (*n == *cap) {
        size_t room = *cap ? 2 * *cap : 64;
        Slot **more = PyMem_Realloc(*all, room * sizeof *more);
        if (!more) return td_no_memory(), -1;
        *all = more;
        *cap = room;
    }
    (*all)[(*n)++] = s;
    return 0;
}

/* of a node that has been met */
static int mark_needed(Run *r)
{
    Slot **all = NULL;
    size_t n = 0, cap = 0;
    for (size_t i = 0; i < r->heap_n; i++) {
        if (append(&all, &n, &cap, r->heap[i]) < 0) return PyMem_Free(all), -1;
        r->heap[i]->visited = 1;
    }
    for (size_t at = 0; at < n; at++)
        for (int e = 0; e < all[at]->node->nedges; e++) {
            Node *next = all[at]->node->edges[e].node;
            Slot *s = next ? slot_of(r, next) : NULL;
            if (next && !s) return PyMem_Free(all), -1;
            if (!s || s->visited) continue;
            if (append(&all, &n, &cap, s) < 0) return PyMem_Free(all), -1;
            s->visited = 1;
        }
    if (n) qsort(all, n, sizeof *all, by_seq);
    for (size_t at = 0; at < n; at++) {
        Slot *s = all[at];
        s->passes = 0;
        for (int e = 0; !s->passes && e < s->node->nedges; e++)
            if (s->node->edges[e].node) s->passes = known_slot(r, s->node->edges[e].node)->needed;
        s->needed = s->passes | is_capture(r, s);
    }
    PyMem_Free(all);
    return 0;
}

static int edge_from(PyObject *pair, Edge *edge) /* a GradientEdge */
{
    long long nr;
    if (!PyArg_ParseTuple(pair, "O!L", NodeT, &edge->node, &nr)) return edge->node = NULL, -1;
    if (nr < 0 || nr >= edge->node->nouts) {
        PyErr_Format(PyExc_ValueError,
                     "GradientEdge: output_nr is %lld, but %R has %d output(s), counted from 0", nr,
                     edge->node, edge->node->nouts);
        return -1;
    }
    edge->nr = (uint32_t)nr;
    Py_INCREF((PyObject *)edge->node);
    return 0;
}

static int start(Run *r, PyObject *roots, PyObject *grads)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(roots); i++) {
        PyObject *root = PyTuple_GetItem(roots, i);
        Edge edge = {0};
        if ((td_is_tensor(root) ? td_gradient_edge((PyTensor *)root, &edge)
                                : edge_from(root, &edge)) < 0)
            return -1;
        if (!edge.node) continue;
        int status = feed(r, NULL, (int)i, edge, Py_NewRef(PyTuple_GetItem(grads, i)));
        Py_DECREF(edge.node);
        if (status < 0) return -1;
    }
    return 0;
}

static int add_captures(Run *r, PyObject *inputs)
{
    Py_ssize_t n = PyTuple_Size(inputs);
    r->limited = 1;
    if (!(r->captures = PyMem_Calloc((size_t)n + 1, sizeof *r->captures)))
        return td_no_memory(), -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *input = PyTuple_GetItem(inputs, i);
        Edge edge = {0};
        if (td_is_tensor(input)) {
            if (td_gradient_edge((PyTensor *)input, &edge) < 0) return -1;
        } else if (edge_from(input, &edge) < 0) return -1;
        PyObject *parts = r->ends == 2 ? PyList_New(0) : NULL;
        r->captures[r->ncaptures++] = (Capture){edge.node, edge.nr, NULL, parts};
        if (r->ends == 2 && !parts) return -1;
    }
    return 0;
}

static PyObject *captured(Run *r)
{
    PyObject *made = PyTuple_New(r->ncaptures);
    for (int i = 0; made && i < r->ncaptures; i++) {
        const Capture *c = &r->captures[i];
        PyTuple_SetItem(made, i, Py_NewRef(c->parts ? c->parts : c->grad ? c->grad : Py_None));
    }
    return made;
}

static PyObject *run_backward(PyObject *m, PyObject *args)
{
    PyObject *roots, *grads, *inputs, *result = NULL;
    Run r = {0};
    if (!PyArg_ParseTuple(args, "O!O!Oppp|i", &PyTuple_Type, &roots, &PyTuple_Type, &grads, &inputs,
                          &r.keep, &r.create_graph, &r.accumulate, &r.ends))
        return NULL;
    td_state before = td_here;
    td_here.caller_excluded = before.excluded;
    td_here.walking = 1;
    td_here.excluded |= TD_LAYER_FUNCTION_MODE | TD_LAYER_OVERRIDE | TD_LAYER_NAMES;
    td_here.grad_mode = (uint8_t)r.create_graph;
    td_task task;
    td_task_enter(&task, &r, inputs != Py_None);
    int status = inputs == Py_None ? 0 : add_captures(&r, inputs);
    if (status == 0) status = grow(&r);
    if (status == 0) status = start(&r, roots, grads);
    if (status == 0 && r.limited) status = mark_needed(&r);
    if (status == 0) status = walk(&r);
    status = td_streams_leave(&r, status);
    td_here.excluded = before.excluded;
    td_here.caller_excluded = before.caller_excluded;
    td_here.walking = before.walking;
    if (td_task_leave(&task, status) == 0)
        result = inputs == Py_None ? Py_NewRef(Py_None) : captured(&r);
    td_here.grad_mode = before.grad_mode;
    run_close(&r);
    return result;
}

/* ---- what a walk will do ---- */
typedef struct Search {
    Node **waiting;
    size_t n, cap;
    PyObject *seen;
} Search;

static int look_at(Search *s, Node *n)
{
    PyObject *key = PyLong_FromVoidPtr(n);
    int known = key ? PySet_Contains(s->seen, key) : -1;
    if (known == 0 && PySet_Add(s->seen, key) < 0) known = -1;
    Py_XDECREF(key);
    if (known) return known < 0 ? -1 : 0;
    if (s->n == s->cap) {
        size_t room = s->cap ? 2 * s->cap : 64;
        Node **more = PyMem_Realloc(s->waiting, room * sizeof *more);
        if (!more) return td_no_memory(), -1;
        s->waiting = more;
        s->cap = room;
    }
    s->waiting[s->n++] = n;
    return 0;
}

/* Does a path lead from what waits to the node? Paths fall in number, so none below it is followed.
 */
static int is_ahead(const Run *r, const Node *wanted)
{
    Search s = {.seen = PySet_New(NULL)};
    int found = s.seen ? 0 : -1;
    if (found == 0 && r->now && look_at(&s, r->now->node) < 0) found = -1;
    for (size_t i = 0; found == 0 && i < r->heap_n; i++) found = look_at(&s, r->heap[i]->node);
    while (found == 0 && s.n) {
        const Node *n = s.waiting[--s.n];
        if (n == wanted) found = 1;
        for (int e = 0; found == 0 && e < n->nedges; e++)
            if (n->edges[e].node && n->edges[e].node->seq >= wanted->seq)
                found = look_at(&s, n->edges[e].node);
    }
    PyMem_Free(s.waiting);
    Py_XDECREF(s.seen);
    return found;
}

/* takes_part(node): has the backward that runs here come by the node, or will it? */
static PyObject *takes_part(PyObject *m, PyObject *o)
{
    const td_task *task = td_task_here();
    if (!task) return PyErr_Format(PyExc_RuntimeError, "no backward runs in this thread");
    if (!PyObject_TypeCheck(o, NodeT))
        return PyErr_Format(PyExc_TypeError, "wanted a Node, got %S", Py_TYPE(o));
    const Run *r = task->run;
    const Slot *met = known_slot(r, (Node *)o);
    int found = met ? met->needed : r->limited ? 0 : is_ahead(r, (Node *)o);
    return found < 0 ? NULL : PyBool_FromLong(found);
}

/* sums_begun(node): for each edge, has the backward that runs here met a gradient that those of the
 * node will be added to, or does it keep what comes there apart? */
static PyObject *sums_begun(PyObject *m, PyObject *o)
{
    const td_task *task = td_task_here();
    if (!task) return PyErr_Format(PyExc_RuntimeError, "no backward runs in this thread");
    if (!PyObject_TypeCheck(o, NodeT))
        return PyErr_Format(PyExc_TypeError, "wanted a Node, got %S", Py_TYPE(o));
    const Node *n = (Node *)o;
    const Run *r = task->run;
    PyObject *made = PyTuple_New(n->nedges);
    for (int e = 0; made && e < n->nedges; e++) {
        Edge edge = n->edges[e];
        const Slot *s = edge.node ? known_slot(r, edge.node) : NULL;
        int begun = s && (s->grads[edge.nr] || (r->ends == 2 && is_capture(r, s)));
        PyTuple_SetItem(made, e, PyBool_FromLong(begun));
    }
    return made;
}

static PyMethodDef methods[] = {
    {"takes_part", takes_part, METH_O,
     "takes_part(node): does the backward that runs here come by it?"},
    {"sums_begun", sums_begun, METH_O,
     "For each edge of a node, whether a gradient waits behind it."},
    {"run_backward", run_backward, METH_VARARGS,
     "run_backward(roots, grads, inputs or None, retain_graph, create_graph, accumulate, ends=0): "
     "walk the graph. ends: 1, nothing behind an input runs; 2, a list of what came for each input "
     "in place of its sum; 3, as 1, with sums of 16 bits in float32"},
    {0}};
PyMethodDef *td_engine_methods(void) { return methods; }
