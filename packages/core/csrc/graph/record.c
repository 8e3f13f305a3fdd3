/* record.c - what the dispatcher does around an operation whose inputs require grad: make the node,
 * keep what the rule wants, set the history of the results; and the rules of writing in place. */
#include "object/forward.h"
#include "graph/node.h"

/* ---- begin ---- */
static int count_edges(const td_frame *f, int *first)
{
    int n = 0;
    for (int k = 0; k < f->schema->nparams; k++) {
        if (f->schema->params[k].type != TD_T_TENSOR) continue;
        first[k] = n;
        const td_arg *a = &f->call.args[k];
        n += a->kind == TD_ARG_TENSORS ? (int)a->n : a->kind == TD_ARG_TENSOR;
    }
    return n;
}

static PyObject *item_object(const td_frame *f, int k,
                             Py_ssize_t i) /* borrowed; i-th tensor of argument k */
{
    return !f->obj[k] || f->call.args[k].kind == TD_ARG_TENSOR ? f->obj[k] : td_frame_item(f, k, i);
}

static int items(const td_frame *f, int k)
{
    const td_arg *a = &f->call.args[k];
    return a->kind == TD_ARG_TENSORS ? (int)a->n : a->kind == TD_ARG_TENSOR;
}

static int wants_grad(const td_frame *f, int k)
{
    for (int i = 0; i < items(f, k); i++) {
        PyObject *o = item_object(f, k, i);
        if (o && td_is_tensor(o) && td_requires_grad((PyTensor *)o)) return 1;
    }
    return 0;
}

static int set_edges(const td_frame *f, const Rule *rule, Node *n)
{
    for (int k = 0; k < f->schema->nparams; k++) {
        if (f->schema->params[k].type != TD_T_TENSOR || (rule && rule->of_argument[k] < 0))
            continue;
        for (int i = 0; i < items(f, k); i++) {
            PyObject *o = item_object(f, k, i);
            if (!o || !td_is_tensor(o) || !td_requires_grad((PyTensor *)o)) continue;
            if (td_gradient_edge((PyTensor *)o, &n->edges[n->first_edge[k] + i]) < 0) return -1;
        }
    }
    return 0;
}

typedef struct Wish {
    uint32_t tensors, facts, values, results;
} Wish;

static Wish wishes(const td_frame *f, const Rule *rule)
{
    Wish w = {0};
    for (int k = 0; k < f->schema->nparams; k++) {
        if (f->schema->params[k].type != TD_T_TENSOR || rule->of_argument[k] < 0 ||
            !wants_grad(f, k))
            continue;
        const Formula *m = &rule->formulas[rule->of_argument[k]];
        w.tensors |= m->tensors;
        w.facts |= m->facts;
        w.values |= m->values;
        w.results |= m->results;
    }
    return w;
}

static int count_saved(const td_frame *f, Wish w)
{
    int n = __builtin_popcount(w.results);
    for (int k = 0; k < f->schema->nparams; k++)
        n += ((w.tensors >> k & 1) + (w.facts >> k & 1)) * items(f, k);
    return n;
}

static int save_number(Saved *s, const td_tensor *t,
                       int key) /* a Python number that stood for a tensor */
{
    memset(s, 0, sizeof *s);
    s->key = (int8_t)key;
    s->index = -1;
    td_status status = td_tensor_alias(&s->t, t);
    if (status) return td_raised(status);
    s->version = td_version_of(t);
    return 0;
}

static int written(const td_frame *f, int k)
{
    return (f->inplace && k == 0) || f->schema->params[k].flags & TD_P_MUTATED;
}

static int save_inputs(const td_frame *f, Wish w, Node *n)
{
    int at = 0;
    for (int k = 0; k < f->schema->nparams; k++) {
        const td_arg *a = &f->call.args[k];
        for (int i = 0; i < items(f, k); i++) {
            const td_tensor *t = a->kind == TD_ARG_TENSORS ? a->tensors[i] : a->tensor;
            PyObject *o = item_object(f, k, i);
            int index = a->kind == TD_ARG_TENSORS ? i : -1, status = 0;
            if (w.tensors >> k & 1) {
                Saved *s = &n->saved[at++];
                if (!t) *s = (Saved){.undefined = 1, .key = (int8_t)k, .index = index};
                else if (!o || !td_is_tensor(o)) status = save_number(s, t, k);
                else if (written(f, k)) status = td_save_copy(s, (PyTensor *)o, k);
                else status = td_save(s, (PyTensor *)o, k, index);
            }
            if (status == 0 && w.facts >> k & 1) {
                Saved *s = &n->saved[at++];
                if (!t)
                    *s = (Saved){.undefined = 1, .facts_only = 1, .key = (int8_t)k, .index = index};
                else status = td_save_facts(s, t, k, index);
            }
            if (status < 0) return -1;
        }
    }
    n->nsaved = at; /* results follow when they exist */
    return 0;
}

static int save_values(const td_frame *f, Wish w, Node *n)
{
    if (!w.values) return 0;
    n->args = PyTuple_New(f->schema->nparams);
    for (int k = 0; n->args && k < f->schema->nparams; k++) {
        PyObject *o = w.values >> k & 1 ? td_argument_object(f, k) : Py_NewRef(Py_None);
        if (!o) return -1;
        PyTuple_SetItem(n->args, k, o);
    }
    return n->args ? 0 : -1;
}

static Node *error_node(const td_frame *f, int nedges, int nouts)
{
    Node *n = td_node_new(TD_NODE_ERROR, f->schema, nedges, 0, nouts);
    if (n && !f->schema->custom)
        n->py =
            PyUnicode_FromFormat("the derivative for '%s' is not implemented", f->schema->op.name);
    else if (n)
        n->py = PyUnicode_FromFormat(
            "Trying to backward through %s, but no autograd formula was registered for it. Give "
            "one with library.register_autograd(\"%s\", backward)",
            f->schema->text, f->schema->text);
    return n;
}

static const char no_grad_view[] =
    "A view was created in no_grad mode or in inference mode and is being modified inplace with "
    "grad mode enabled. Make the view with grad mode on, or do both under no_grad()";

static int differentiable(const Rule *rule, int k, PyObject *o)
{
    if (!td_is_tensor(o)) return 0;
    td_dtype d = (td_dtype)TD_T(o)->dtype;
    if (!td_is_floating(d) && !td_is_complex(d)) return 0;
    return !rule || rule->differentiable_results < 0 || k < rule->differentiable_results;
}

/* Does the call write into a view whose base could not be told of it? To be asked before it runs:
 * a call that is refused has written nothing. */
static int writes_unknown_view(const td_frame *f, const Rule *rule)
{
    if (!f->inplace && !(f->schema->flags & TD_F_MUTATES)) return 0;
    if (f->schema->flags & TD_F_VIEW) return 0; /* t_ and relatives write no element */
    for (int k = 0; k < f->schema->nparams; k++) {
        int written = f->schema->params[k].flags & TD_P_MUTATED || (f->inplace && k == 0);
        for (int i = 0; written && i < items(f, k); i++) {
            PyObject *o = item_object(f, k, i);
            if (!o || !td_is_tensor(o) || !differentiable(rule, 0, o)) continue;
            PyTensor *p = (PyTensor *)o;
            if (p->base && p->creation >= TD_VIEW_NO_GRAD) return 1;
        }
    }
    return 0;
}

int td_record_begin(td_frame *f, Node **out)
{
    *out = NULL;
    if (!td_here.grad_mode || !f->any_grad || td_here.inference_mode || f->schema->records_itself)
        return 0;
    const Rule *rule = td_rule(f->schema);
    /* *_like and new_*: only shape and dtype count */
    if (rule ? !rule->nformulas : f->schema->flags & TD_F_FACTORY) return 0;
    int first[TD_MAX_ARGS] = {0}, wanted = !rule, nouts = f->schema->nreturns;
    int nedges = count_edges(f, first);
    for (int k = 0; rule && k < f->schema->nparams; k++)
        wanted |= f->schema->params[k].type == TD_T_TENSOR && rule->of_argument[k] >= 0 &&
                  wants_grad(f, k);
    if (!wanted) return 0;
    if (writes_unknown_view(f, rule)) {
        PyErr_Format(PyExc_RuntimeError, "%s: %s", f->function->name, no_grad_view);
        return -1;
    }
    Wish w = {0};
    if (rule) w = wishes(f, rule);
    Node *n = rule ? td_node_new(TD_NODE_OP, f->schema, nedges, count_saved(f, w), nouts)
                   : error_node(f, nedges, nouts);
    if (!n) return -1;
    n->dispatches = f->dispatches;
    for (int k = 0; k < f->schema->nparams; k++) n->first_edge[k] = (uint32_t)first[k];
    int failed = set_edges(f, rule, n) < 0;
    if (!failed) td_node_number(n);
    if (failed || (rule && (save_inputs(f, w, n) < 0 || save_values(f, w, n) < 0))) {
        Py_DECREF(n);
        return -1;
    }
    *out = n;
    return 0;
}

/* ---- finish ---- */
static uint32_t result_wishes(const Node *n, const Rule *rule)
{
    uint32_t mask = 0;
    for (int k = 0; rule && k < n->schema->nparams; k++)
        if (n->schema->params[k].type == TD_T_TENSOR && rule->of_argument[k] >= 0) {
            int last = n->nedges;
            for (int j = k + 1; j < n->schema->nparams; j++)
                if (n->schema->params[j].type == TD_T_TENSOR) {
                    last = (int)n->first_edge[j];
                    break;
                }
            for (int e = (int)n->first_edge[k]; e < last; e++)
                if (n->edges[e].node) mask |= rule->formulas[rule->of_argument[k]].results;
        }
    return mask;
}

static int grow_outs(Node *n, int nouts) /* Tensor[] results: as many as there are */
{
    if (nouts <= n->nouts) return 0;
    OutMeta *outs = PyMem_Calloc((size_t)nouts, sizeof(OutMeta));
    if (!outs) return td_no_memory(), -1;
    if (n->outs != &n->inline_out) PyMem_Free(n->outs);
    n->outs = outs;
    n->nouts = nouts;
    return 0;
}

static int is_argument(const td_frame *f, const PyObject *o)
{
    for (int k = 0; k < f->schema->nparams; k++)
        if (f->obj[k] == o) return 1;
    return 0;
}

static int set_history(Node *n, const Rule *rule, td_frame *f, PyObject *const *outs, int nouts)
{
    for (int k = 0; k < nouts; k++) {
        if (!differentiable(rule, k, outs[k])) continue;
        PyTensor *p = (PyTensor *)outs[k];
        int target = f->inplace ? 0 : k < TD_MAX_OUTS ? f->schema->return_alias[k] : -1;
        /* contiguous and relatives may answer with self: no new history */
        if (target < 0 && is_argument(f, outs[k])) continue;
        /* t_ and relatives write no element: the base knows nothing of it */
        int reshaped = target >= 0 && f->schema->flags & TD_F_VIEW;
        if (target >= 0 && !reshaped) {
            if (td_rebase_history(p, n, (int)n->first_edge[target], (uint32_t)k) < 0) return -1;
            continue;
        }
        Py_XSETREF(p->node, (Node *)Py_NewRef((PyObject *)n));
        p->nr = (uint32_t)k;
        p->node_version = td_version_of(p->t);
    }
    return 0;
}

int td_record_finish(td_frame *f, Node *n, PyObject *const *outs, int nouts)
{
    const Rule *rule = td_rule(f->schema);
    int status = grow_outs(n, nouts);
    for (int k = 0; status == 0 && k < nouts; k++)
        if (td_is_tensor(outs[k])) status = td_node_set_out_of(n, k, (PyTensor *)outs[k]);
    if (status == 0) status = set_history(n, rule, f, outs, nouts);
    uint32_t mask = result_wishes(n, rule);
    for (int k = 0; status == 0 && k < nouts && k < TD_MAX_OUTS; k++) {
        if (!(mask >> k & 1)) continue;
        Saved *s = &n->saved[n->nsaved];
        if (!td_is_exact(outs[k]) && !td_is_tensor(outs[k])) { /* one that was not asked for */
            *s = (Saved){.undefined = 1, .key = (int8_t)(TD_KEY_RESULT + k), .index = -1};
            n->nsaved++;
            continue;
        }
        if ((status = td_save_result(s, (PyTensor *)outs[k], TD_KEY_RESULT + k, -1)) < 0) {
            td_saved_clear(s); /* it does not count yet, so the node would not */
            break;
        }
        s->requires_grad = (uint8_t)differentiable(rule, k, outs[k]);
        s->nr = (uint32_t)k;
        n->nsaved++;
    }
    Py_DECREF(n);
    return status;
}

/* ---- writing in place ---- */
int td_check_inplace(PyTensor *p, const char *name)
{
    const char *text = NULL;
    if (p->t->flags & TD_FLAG_INFERENCE && !td_here.inference_mode)
        text = "Inplace update to inference tensor outside InferenceMode is not allowed. Clone it "
               "to get a normal tensor.";
    else if (!td_here.grad_mode) return 0;
    else if (p->base && p->creation >= TD_VIEW_NO_GRAD && td_requires_grad(p->base))
        text = no_grad_view;
    else if (p->requires_grad && !p->node && !p->base)
        text = "a leaf Variable that requires grad is being used in an in-place operation. Write "
               "under no_grad(), or into a clone.";
    else if (p->base && !p->base->node &&
             td_requires_grad(p)) /* the base or the view itself is the leaf */
        text = "a view of a leaf Variable that requires grad is being used in an in-place "
               "operation. Write under no_grad(), or into a clone.";
    else if (p->creation == TD_VIEW_MULTI && td_requires_grad(p))
        text = "this tensor is one of several views that a function returned (unbind, split, "
               "chunk) and is being modified inplace, which is not allowed where gradients are "
               "wanted. Take it with select or narrow instead, or clone it.";
    if (!text) return 0;
    PyErr_Format(PyExc_RuntimeError, "%s: %s", name, text);
    return -1;
}

static int forbid(td_frame *f, PyTensor *p) /* what went before it was written is out of reach */
{
    Node *n = error_node(f, 1, 1);
    int status = !n || td_node_set_out_of(n, 0, p) < 0 ||
                         (td_requires_grad(p) && td_gradient_edge(p, &n->edges[0]) < 0)
                     ? -1
                     : 0;
    if (status == 0) td_node_number(n);
    if (status == 0) status = td_rebase_history(p, n, 0, 0);
    Py_XDECREF((PyObject *)n);
    return status;
}

int td_record_written(td_frame *f)
{
    if (!td_here.grad_mode || !f->any_grad || td_here.inference_mode || f->schema->rule) return 0;
    for (int k = 0; k < f->schema->nparams; k++) {
        if (!(f->schema->params[k].flags & TD_P_MUTATED)) continue;
        for (int i = 0; i < items(f, k); i++) {
            PyObject *o = item_object(f, k, i);
            if (!o || !td_is_tensor(o)) continue;
            td_dtype d = (td_dtype)TD_T(o)->dtype;
            if ((td_is_floating(d) || td_is_complex(d)) && forbid(f, (PyTensor *)o) < 0) return -1;
        }
    }
    return 0;
}

static Slices *slices_new(const PyTensor *base, const PyTensor *view, Node *inner, uint32_t nr)
{
    Slices *s = PyMem_Calloc(1, sizeof *s);
    Saved facts;
    if (!s) return (Slices *)td_no_memory();
    if (td_save_facts(&facts, base->t, 0, -1) < 0) return PyMem_Free(s), NULL;
    s->base = facts.t;
    if (td_save_facts(&facts, view->t, 0, -1) < 0)
        return td_tensor_free(s->base), PyMem_Free(s), NULL;
    s->view = facts.t;
    s->inner = (Node *)Py_NewRef((PyObject *)inner);
    s->nr = nr;
    return s;
}

int td_rebase_history(PyTensor *p, Node *n, int edge0, uint32_t nr)
{
    if (!p->base) return td_set_node(p, (Node *)Py_NewRef((PyObject *)n), nr);
    PyTensor *base = p->base;
    if (p->creation >= TD_VIEW_NO_GRAD) {
        PyErr_SetString(PyExc_RuntimeError, no_grad_view);
        return -1;
    }
    Node *w = td_node_new(TD_NODE_SLICES, NULL, n->nedges, 0, 1);
    if (!w) return -1;
    if (!(w->slices = slices_new(base, p, n, nr)) || td_node_set_out_of(w, 0, base) < 0)
        return Py_DECREF(w), -1;
    w->first_edge[0] = (uint32_t)edge0;
    for (int i = 0; i < n->nedges; i++) {
        if (i == edge0) {
            if (td_gradient_edge(base, &w->edges[i]) < 0) return Py_DECREF(w), -1;
            continue;
        }
        w->edges[i] = n->edges[i];
        Py_XINCREF((PyObject *)w->edges[i].node);
    }
    td_node_number(w);
    if (nr == 0) n->outer = w;
    if (td_set_node(base, w, 0) < 0) return -1;
    base->node_version = td_version_of(base->t);
    p->node_version = td_version_of(p->t) - 1; /* renewed from the base when next asked for */
    int failed;
    Node *view = td_grad_fn(p, &failed);
    /* what the operation keeps of its result is that view */
    if (!failed && nr == 0 && view && !n->view && !view->writer) {
        n->view = view;
        view->writer = n;
    }
    return failed ? -1 : 0;
}
