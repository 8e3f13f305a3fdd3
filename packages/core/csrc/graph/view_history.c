/* view_history.c - the history of a view of a base that was written: stated anew from the base by
 * the geometries alone.
 *
 *   base ─(conj, neg)─▶ memory ─(view_as_real)─▶ as_strided ─(view_as_complex)─(conj, neg)─▶ view
 *
 * What stands in brackets is there only where type or bits of the two differ. Each step is a node
 * of that operation. */
#include "graph/node.h"
#include "runtime/wraps.h"

typedef struct Chain {
    Edge last;     /* owned */
    td_tensor *at; /* owned facts: what the last step gives */
    uint8_t device;
} Chain;

static int complex_of(const td_tensor *t) { return td_is_complex((td_dtype)t->dtype); }

static td_dtype other_type(td_dtype d) /* the real type of a complex one, and back */
{
    switch (d) {
        case TD_C64: return TD_F32;
        case TD_C128: return TD_F64;
        case TD_F64: return TD_C128;
        default: return TD_C64;
    }
}

/* One node more, whose result looks like `to` (facts, taken over; NULL after an error). */
static int step(Chain *c, const char *name, td_tensor *to, PyObject *args)
{
    td_schema *schema = td_find_schema(name);
    Node *n = to && schema ? td_node_new(TD_NODE_OP, schema, 1, 1, 1) : NULL;
    if (to && !schema) PyErr_Format(PyExc_RuntimeError, "the op table has no %s", name);
    if (!n || td_node_set_out(n, 0, to) < 0 || td_save_facts(&n->saved[0], c->at, 0, -1) < 0) {
        Py_XDECREF((PyObject *)n);
        Py_XDECREF(args);
        td_tensor_free(to);
        return -1;
    }
    n->outs[0].device = c->device;
    n->args = args;
    n->edges[0] = c->last;
    td_node_number(n);
    c->last = (Edge){n, 0};
    td_tensor_free(c->at);
    c->at = to;
    return 0;
}

static td_tensor *same_place(const td_tensor *t)
{
    return td_facts(t->ndim, t->sizes, t->strides, t->offset, (td_dtype)t->dtype);
}

static int toggle(Chain *c, const td_tensor *t) /* the bits of t */
{
    if (t->flags & TD_FLAG_CONJ && step(c, "_conj", same_place(c->at), NULL) < 0) return -1;
    return t->flags & TD_FLAG_NEG ? step(c, "_neg_view", same_place(c->at), NULL) : 0;
}

/* The geometry of a complex tensor as pairs of real numbers: one dimension more. */
static td_tensor *pairs(const td_tensor *t)
{
    int64_t sizes[TD_MAX_DIMS], strides[TD_MAX_DIMS];
    if (t->ndim == TD_MAX_DIMS) {
        PyErr_SetString(PyExc_RuntimeError, "a view of complex numbers as real ones has one "
                                            "dimension more, and at most 64 are possible");
        return NULL;
    }
    for (int i = 0; i < t->ndim; i++) {
        sizes[i] = t->sizes[i];
        strides[i] = td_wrapping_mul(2, t->strides[i]);
    }
    sizes[t->ndim] = 2;
    strides[t->ndim] = 1;
    return td_facts(t->ndim + 1, sizes, strides, 2 * t->offset,
                    complex_of(t) ? other_type((td_dtype)t->dtype) : (td_dtype)t->dtype);
}

static int stride_as(Chain *c, td_tensor *to) /* takes `to` over */
{
    if (!to) return -1;
    PyObject *args = Py_BuildValue("(ONNL)", Py_None, td_ints_object(to->ndim, to->sizes),
                                   td_ints_object(to->ndim, to->strides), (long long)to->offset);
    if (args) return step(c, "as_strided", to, args);
    td_tensor_free(to);
    return -1;
}

static int walk(Chain *c, const td_tensor *base, const td_tensor *view)
{
    if (toggle(c, base) < 0) return -1;
    if (complex_of(base) && !complex_of(view) && step(c, "view_as_real", pairs(c->at), NULL) < 0)
        return -1;
    td_tensor *to = same_place(view);
    if (!complex_of(base) && complex_of(view)) {
        if (to && stride_as(c, pairs(to)) == 0)
            return step(c, "view_as_complex", to, NULL) < 0 ? -1 : toggle(c, view);
        td_tensor_free(to);
        return -1;
    }
    return stride_as(c, to) < 0 ? -1 : toggle(c, view);
}

int td_view_history(Edge from, const td_tensor *base, const td_tensor *view, uint8_t device,
                    Edge *made)
{
    Chain c = {from, same_place(base), device};
    int status = c.at ? walk(&c, base, view) : -1;
    td_tensor_free(c.at);
    if (status < 0) Py_XDECREF((PyObject *)c.last.node);
    else *made = c.last;
    return status;
}
