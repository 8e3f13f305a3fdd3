/* fast_rules.c - derivative rules of hot operations in C. Each equals the Python rule of the same
 * name; a test holds the two together. They run only when no graph of the gradient is wanted. */
#include "dispatch/dispatch.h"
#include "backward/backward.h"

td_fast_rule *td_fast_rules;

static PyObject *call(const td_function **slot, const char *name, int n, PyObject *const *args)
{
    if (!*slot && !(*slot = td_find_function("", name)))
        return PyErr_Format(PyExc_RuntimeError, "the op table has no %s", name);
    return td_apply(*slot, n, args);
}

#define OP2(c_name, name)                             \
    static PyObject *c_name(PyObject *a, PyObject *b) \
    {                                                 \
        static const td_function *f;                  \
        PyObject *const args[] = {a, b};              \
        return call(&f, name, 2, args);               \
    }
OP2(op_mul, "mul")
OP2(op_div, "div")
OP2(op_mm, "mm")
OP2(op_bmm, "bmm")
OP2(op_matmul, "matmul")

static PyObject *op_neg(PyObject *a)
{
    static const td_function *f;
    return call(&f, "neg", 1, &a);
}

static Saved *saved(Node *n, int key)
{
    for (int i = 0; i < n->nsaved; i++)
        if (n->saved[i].key == key && !n->saved[i].facts_only) return &n->saved[i];
    return NULL;
}
static PyObject *argument(Node *n, int key)
{
    Saved *s = saved(n, key);
    return s ? td_unpack(n, s)
             : PyErr_Format(PyExc_RuntimeError, "%s kept no argument %d", n->schema->text, key);
}
static int edge(const Node *n, int k) { return (int)n->first_edge[k]; }
static int needed(const Node *n, int k) { return td_edge_wanted(n, edge(n, k)); }
static int is_complex(PyObject *o) { return td_is_complex((td_dtype)TD_T(o)->dtype); }

static int done(PyObject **slot, PyObject *value) /* takes value over */
{
    *slot = value;
    return value ? 1 : -1;
}

/* alpha of add and sub: 1 unless given */
static int unit_alpha(const Node *n)
{
    if (!n->args) return 1;
    PyObject *alpha = PyTuple_GetItem(n->args, 2);
    return PyLong_Check(alpha) && PyLong_AsLong(alpha) == 1;
}

static int rule_add(Node *n, PyObject *const *grads, PyObject **results)
{
    if (!unit_alpha(n)) return 0;
    for (int k = 0; k < 2; k++)
        if (needed(n, k)) results[edge(n, k)] = Py_NewRef(grads[0]);
    return 1;
}

static int rule_sub(Node *n, PyObject *const *grads, PyObject **results)
{
    if (!unit_alpha(n)) return 0;
    if (needed(n, 0)) results[edge(n, 0)] = Py_NewRef(grads[0]);
    return needed(n, 1) ? done(&results[edge(n, 1)], op_neg(grads[0])) : 1;
}

static int rule_mul(Node *n, PyObject *const *grads, PyObject **results)
{
    if (is_complex(grads[0])) return 0;
    for (int k = 0; k < 2; k++) {
        if (!needed(n, k)) continue;
        PyObject *other = argument(n, 1 - k);
        if (!other) return -1;
        int complex = is_complex(other),
            status = complex ? 0 : done(&results[edge(n, k)], op_mul(grads[0], other));
        Py_DECREF(other);
        if (status <= 0) return status;
    }
    return 1;
}

static int rule_div(Node *n, PyObject *const *grads, PyObject **results)
{
    if (is_complex(grads[0]) || needed(n, 1)) return 0;
    PyObject *other = argument(n, 1);
    if (!other) return -1;
    int status = is_complex(other) ? 0 : done(&results[edge(n, 0)], op_div(grads[0], other));
    Py_DECREF(other);
    return status;
}

static int rule_neg(Node *n, PyObject *const *grads, PyObject **results)
{
    return done(&results[0], op_neg(grads[0]));
}

/* ---- products of matrices ---- */

/* o with two dimensions changed for each other */
static PyObject *turned(PyObject *o, int a, int b)
{
    const td_tensor *t = TD_T(o);
    int64_t sizes[TD_MAX_DIMS], strides[TD_MAX_DIMS];
    memcpy(sizes, t->sizes, (size_t)t->ndim * sizeof *sizes);
    memcpy(strides, t->strides, (size_t)t->ndim * sizeof *strides);
    sizes[a] = t->sizes[b];
    sizes[b] = t->sizes[a];
    strides[a] = t->strides[b];
    strides[b] = t->strides[a];
    td_tensor *made;
    TD_PY(td_tensor_view(&made, t, t->ndim, sizes, strides, t->offset));
    return td_wrap(made);
}

static PyObject *transposed(PyObject *o) { return turned(o, TD_T(o)->ndim - 2, TD_T(o)->ndim - 1); }

/* A row-major tensor seen with other sizes. */
static PyObject *reshaped(PyObject *o, int ndim, const int64_t *sizes)
{
    int64_t strides[TD_MAX_DIMS];
    td_tensor *made;
    td_row_major(ndim, sizes, strides);
    TD_PY(td_tensor_view(&made, TD_T(o), ndim, sizes, strides, TD_T(o)->offset));
    return td_wrap(made);
}

typedef PyObject *(*product)(PyObject *, PyObject *);

static int product_rule(Node *n, PyObject *const *grads, PyObject **results, product times)
{
    if (is_complex(grads[0])) return 0;
    for (int k = 0; k < 2; k++) {
        if (!needed(n, k)) continue;
        PyObject *other = argument(n, 1 - k), *adjoint = other ? transposed(other) : NULL;
        int status = !adjoint ? -1
                              : done(&results[edge(n, k)],
                                     k == 0 ? times(grads[0], adjoint) : times(adjoint, grads[0]));
        Py_XDECREF(adjoint);
        Py_XDECREF(other);
        if (status < 0) return -1;
    }
    return 1;
}

static int rule_mm(Node *n, PyObject *const *grads, PyObject **results)
{
    return product_rule(n, grads, results, op_mm);
}
static int rule_bmm(Node *n, PyObject *const *grads, PyObject **results)
{
    return product_rule(n, grads, results, op_bmm);
}

/* All dimensions but the last as one; NULL without an exception if that needs a copy. */
static PyObject *rows(PyObject *o)
{
    const td_tensor *t = TD_T(o);
    if (t->ndim == 2) return Py_NewRef(o);
    if (t->ndim < 2 || t->numel == 0 || !td_is_contiguous(t)) return NULL;
    int64_t width = t->sizes[t->ndim - 1];
    return reshaped(o, 2, (const int64_t[]){t->numel / width, width});
}

/* grad^T input, over all rows */
static int linear_weight(PyObject *grad, PyObject *input, PyObject **result)
{
    PyObject *g = rows(grad), *x = g ? rows(input) : NULL, *left = x ? transposed(g) : NULL;
    int status = left ? done(result, op_mm(left, x)) : PyErr_Occurred() ? -1 : 0;
    Py_XDECREF(left);
    Py_XDECREF(x);
    Py_XDECREF(g);
    return status;
}

static int rule_linear(Node *n, PyObject *const *grads, PyObject **results)
{
    if (is_complex(grads[0]) || TD_T(grads[0])->ndim < 2 || TD_T(grads[0])->numel == 0) return 0;
    int status = 1;
    if (needed(n, 1)) {
        PyObject *input = argument(n, 0);
        status = input ? linear_weight(grads[0], input, &results[edge(n, 1)]) : -1;
        Py_XDECREF(input);
    }
    if (status == 1 && needed(n, 0)) {
        PyObject *weight = argument(n, 1);
        status = weight ? done(&results[edge(n, 0)], op_matmul(grads[0], weight)) : -1;
        Py_XDECREF(weight);
    }
    if (status == 1 && edge(n, 2) < n->nedges && needed(n, 2))
        results[edge(n, 2)] = Py_NewRef(grads[0]);
    return status;
}

/* ---- views: back to the shape before ---- */
static const OutMeta *before(const Node *n) { return &n->edges[0].node->outs[n->edges[0].nr]; }

/* Did the input have the shape that its place in the graph has? `.data =` gives a computed tensor
 * another one. */
static int as_computed(const Node *n)
{
    const OutMeta *m = before(n);
    for (int i = 0; i < (int)n->nsaved; i++) {
        const td_tensor *t = n->saved[i].key == 0 ? n->saved[i].t : NULL;
        if (t &&
            (t->ndim != m->ndim || memcmp(t->sizes, m->sizes, (size_t)t->ndim * sizeof *t->sizes)))
            return 0;
    }
    return 1;
}

static int next_longer(int i, int ndim,
                       const int64_t *sizes) /* the next dimension that is not of size 1 */
{
    while (i < ndim && sizes[i] == 1) i++;
    return i;
}

static int same_but_ones(const OutMeta *m, const td_tensor *t)
{
    int i = next_longer(0, m->ndim, m->sizes), j = next_longer(0, t->ndim, t->sizes);
    for (; i < m->ndim && j < t->ndim;
         i = next_longer(i + 1, m->ndim, m->sizes), j = next_longer(j + 1, t->ndim, t->sizes))
        if (m->sizes[i] != t->sizes[j]) return 0;
    return i == m->ndim && j == t->ndim;
}

static int rule_same(Node *n, PyObject *const *grads, PyObject **results)
{
    results[0] = Py_NewRef(grads[0]); /* the engine undoes broadcasting and conversion */
    return 1;
}

static int rule_reshape(Node *n, PyObject *const *grads, PyObject **results)
{
    const td_tensor *g = TD_T(grads[0]);
    int64_t count;
    if (!td_is_contiguous(g) || g->flags & (TD_FLAG_CONJ | TD_FLAG_NEG) || !as_computed(n))
        return 0;
    td_status status = td_numel(before(n)->ndim, before(n)->sizes, &count);
    if (status) return td_raised(status);
    return count == g->numel
               ? done(&results[0], reshaped(grads[0], before(n)->ndim, before(n)->sizes))
               : 0;
}

static int rule_ones(Node *n, PyObject *const *grads,
                     PyObject **results) /* unsqueeze, which keeps nothing of its input */
{
    return same_but_ones(before(n), TD_T(grads[0])) ? rule_reshape(n, grads, results) : 0;
}

static int dimension(PyObject *number, int ndim)
{
    long d = PyLong_Check(number) ? PyLong_AsLong(number) : -1;
    return (int)(d < 0 ? d + ndim : d);
}

static int rule_transpose(Node *n, PyObject *const *grads, PyObject **results)
{
    int ndim = TD_T(grads[0])->ndim;
    if (ndim == 0) return 0;
    int a = dimension(PyTuple_GetItem(n->args, 1), ndim),
        b = dimension(PyTuple_GetItem(n->args, 2), ndim);
    return done(&results[0], turned(grads[0], a, b));
}

static int rule_t(Node *n, PyObject *const *grads, PyObject **results)
{
    return TD_T(grads[0])->ndim == 2 ? done(&results[0], transposed(grads[0])) : 0;
}

static int rule_permute(Node *n, PyObject *const *grads, PyObject **results)
{
    const td_tensor *t = TD_T(grads[0]);
    PyObject *dims = PyTuple_GetItem(n->args, 1);
    int64_t sizes[TD_MAX_DIMS], strides[TD_MAX_DIMS];
    td_tensor *made;
    for (int i = 0; i < t->ndim; i++) {
        PyObject *number = PySequence_GetItem(dims, i);
        if (!number) return -1;
        int to = dimension(number, t->ndim);
        Py_DECREF(number);
        sizes[to] = t->sizes[i];
        strides[to] = t->strides[i];
    }
    td_status status = td_tensor_view(&made, t, t->ndim, sizes, strides, t->offset);
    if (status) return td_raised(status);
    return done(&results[0], td_wrap(made));
}

/* ---- elementwise functions: slope(gradient, self or result, arguments of the call) is an
 * operation ---- */
enum { ZERO = -1 }; /* instead of an argument: the number 0 */
typedef struct slope {
    const char *op, *namespace_, *name;
    int key;             /* what is kept: argument 0 or a result */
    int nargs, args[2];  /* arguments of the call, by their place */
    const char *keyword; /* the name of the last one if it goes by name */
    const td_function *f;
} slope;

static slope slopes[] = {
    {"exp", "", "mul", TD_KEY_RESULT},
    {"log", "", "div", 0},
    {"relu", "nn", "threshold_backward", TD_KEY_RESULT, 1, {ZERO}},
    {"sigmoid", "nn", "sigmoid_backward", TD_KEY_RESULT},
    {"tanh", "nn", "tanh_backward", TD_KEY_RESULT},
    {"silu", "nn", "silu_backward", 0},
    {"mish", "nn", "mish_backward", 0},
    {"gelu", "nn", "gelu_backward", 0, 1, {1}, "approximate"},
    {"leaky_relu", "nn", "leaky_relu_backward", 0, 1, {1}},
    {"hardtanh", "nn", "hardtanh_backward", 0, 2, {1, 2}},
    {"threshold", "nn", "threshold_backward", 0, 1, {1}},
    {"hardsigmoid", "nn", "hardsigmoid_backward", 0},
    {"hardswish", "nn", "hardswish_backward", 0},
    {"log_sigmoid", "nn", "log_sigmoid_backward", 0},
};
static uint8_t *slope_of; /* [td_schema_count], from 1 */

static PyObject *apply_slope(const slope *s, PyObject *const *args)
{
    if (!s->keyword) return td_apply(s->f, 2 + s->nargs, args);
    PyObject *names = Py_BuildValue("(s)", s->keyword);
    PyObject *made = names ? td_call_entry(s->f, NULL, args, 1 + s->nargs, names) : NULL;
    Py_XDECREF(names);
    return made;
}

static int rule_slope(Node *n, PyObject *const *grads, PyObject **results)
{
    slope *s = &slopes[slope_of[n->schema->op.id] - 1];
    if (is_complex(grads[0])) return 0;
    if (!s->f && !(s->f = td_find_function(s->namespace_, s->name))) {
        PyErr_Format(PyExc_RuntimeError, "the op table has no %s", s->name);
        return -1;
    }
    PyObject *kept = argument(n, s->key), *zero = PyLong_FromLong(0), *args[4] = {grads[0], kept};
    int status = -1;
    if (kept && zero) {
        for (int i = 0; i < s->nargs; i++)
            args[2 + i] = s->args[i] == ZERO ? zero : PyTuple_GetItem(n->args, s->args[i]);
        status = is_complex(kept) ? 0 : done(&results[0], apply_slope(s, args));
    }
    Py_XDECREF(zero);
    Py_XDECREF(kept);
    return status;
}

/* ---- reductions ---- */
/* One number seen at every place of the input; NULL without an exception where that is not simple.
 */
static PyObject *spread(const Node *n, PyObject *grad)
{
    const OutMeta *in = before(n);
    const td_tensor *g = TD_T(grad);
    if (in->dtype != g->dtype || in->ndim > TD_INLINE_DIMS || g->numel != 1 || !as_computed(n))
        return NULL;
    int64_t strides[TD_INLINE_DIMS] = {0};
    td_tensor *t;
    TD_PY(td_tensor_view(&t, g, in->ndim, in->sizes, strides, g->offset));
    return td_wrap(t);
}

static int rule_sum(Node *n, PyObject *const *grads, PyObject **results)
{
    PyObject *all = spread(n, grads[0]);
    return all ? done(&results[0], all) : PyErr_Occurred() ? -1 : 0;
}

static int rule_mean(Node *n, PyObject *const *grads, PyObject **results)
{
    PyObject *all = spread(n, grads[0]),
             *count = all ? PyLong_FromLongLong(TD_T(all)->numel) : NULL;
    int status = count ? done(&results[0], op_div(all, count)) : PyErr_Occurred() ? -1 : 0;
    Py_XDECREF(count);
    Py_XDECREF(all);
    return status;
}

static int enter(const char *op, td_fast_rule rule)
{
    td_schema *s = td_find_schema(op);
    if (s) td_fast_rules[s->op.id] = rule;
    return s ? s->op.id : -1;
}

void td_load_fast_rules(void)
{
    static const struct {
        const char *op;
        td_fast_rule rule;
    } table[] = {{"add.Tensor", rule_add},
                 {"sub.Tensor", rule_sub},
                 {"mul.Tensor", rule_mul},
                 {"div.Tensor", rule_div},
                 {"neg", rule_neg},
                 {"mm", rule_mm},
                 {"bmm", rule_bmm},
                 {"linear", rule_linear},
                 {"sum", rule_sum},
                 {"mean", rule_mean},
                 {"view", rule_reshape},
                 {"reshape", rule_reshape},
                 {"flatten.using_ints", rule_reshape},
                 {"squeeze", rule_reshape},
                 {"squeeze.dim", rule_reshape},
                 {"unsqueeze", rule_ones},
                 {"expand", rule_same},
                 {"clone", rule_same},
                 {"contiguous", rule_same},
                 {"alias", rule_same},
                 {"_to_copy", rule_same},
                 {"transpose.int", rule_transpose},
                 {"t", rule_t},
                 {"permute", rule_permute}};
    td_fast_rules = PyMem_Calloc((size_t)td_schema_count + 1, sizeof *td_fast_rules);
    slope_of = PyMem_Calloc((size_t)td_schema_count + 1, 1);
    if (!td_fast_rules || !slope_of) return;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) enter(table[i].op, table[i].rule);
    for (size_t i = 0; i < sizeof slopes / sizeof *slopes; i++) {
        int id = enter(slopes[i].op, rule_slope);
        if (id >= 0) slope_of[id] = (uint8_t)(i + 1);
    }
}
