/* fast_rules.c - derivative rules of hot operations in C. Each equals the Python rule of the same name; a test holds
 * the two together. They run only when no graph of the gradient is wanted. */
#include "autograd/node.h"

td_fast_rule *td_fast_rules;

static PyObject *call(const td_function **slot, const char *name, int n, PyObject *const *args)
{
    if (!*slot && !(*slot = td_find_function("", name))) return PyErr_Format(PyExc_RuntimeError, "the op table has no %s", name);
    return td_apply(*slot, n, args);
}

#define OP2(c_name, name)                                       \
    static PyObject *c_name(PyObject *a, PyObject *b)           \
    {                                                           \
        static const td_function *f;                            \
        PyObject *const args[] = {a, b};                        \
        return call(&f, name, 2, args);                         \
    }
OP2(op_mul, "mul")
OP2(op_div, "div")
OP2(op_mm, "mm")

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
    return s ? td_unpack(n, s) : PyErr_Format(PyExc_RuntimeError, "%s kept no argument %d", n->schema->text, key);
}
static int edge(const Node *n, int k) { return n->first_edge[k]; }
static int needed(const Node *n, int k) { return n->edges[edge(n, k)].node != NULL; }
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
        int complex = is_complex(other), status = complex ? 0 : done(&results[edge(n, k)], op_mul(grads[0], other));
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

static int rule_neg(Node *n, PyObject *const *grads, PyObject **results) { return done(&results[0], op_neg(grads[0])); }

static PyObject *transposed(PyObject *o)
{
    const td_tensor *t = TD_T(o);
    int64_t sizes[2] = {t->sizes[1], t->sizes[0]}, strides[2] = {t->strides[1], t->strides[0]};
    td_tensor *made;
    TD_PY(td_tensor_view(&made, t, 2, sizes, strides, t->offset));
    return td_wrap(made);
}

static int rule_mm(Node *n, PyObject *const *grads, PyObject **results)
{
    if (is_complex(grads[0])) return 0;
    for (int k = 0; k < 2; k++) {
        if (!needed(n, k)) continue;
        PyObject *other = argument(n, 1 - k), *turned = other ? transposed(other) : NULL;
        int status = !turned ? -1 : done(&results[edge(n, k)], k == 0 ? op_mm(grads[0], turned) : op_mm(turned, grads[0]));
        Py_XDECREF(turned);
        Py_XDECREF(other);
        if (status < 0) return -1;
    }
    return 1;
}

/* sum over everything: the gradient is one number, seen at every place */
static int rule_sum(Node *n, PyObject *const *grads, PyObject **results)
{
    const OutMeta *in = &n->edges[0].node->outs[n->edges[0].nr];
    const td_tensor *g = TD_T(grads[0]);
    if (in->dtype != g->dtype || in->ndim > TD_INLINE_DIMS) return 0;
    int64_t strides[TD_INLINE_DIMS] = {0};
    td_tensor *t;
    td_status status = td_tensor_view(&t, g, in->ndim, in->sizes, strides, g->offset);
    if (status) return td_raise(status), -1;
    return done(&results[0], td_wrap(t));
}

void td_load_fast_rules(void)
{
    static const struct { const char *op; td_fast_rule rule; } table[] = {
        {"add.Tensor", rule_add}, {"sub.Tensor", rule_sub}, {"mul.Tensor", rule_mul}, {"div.Tensor", rule_div}, {"neg", rule_neg},
        {"mm", rule_mm}, {"sum", rule_sum}};
    td_fast_rules = PyMem_Calloc((size_t)td_schema_count + 1, sizeof *td_fast_rules);
    for (size_t i = 0; td_fast_rules && i < sizeof table / sizeof *table; i++) {
        td_schema *s = td_find_schema(table[i].op);
        if (s) td_fast_rules[s->op.id] = table[i].rule;
    }
}
