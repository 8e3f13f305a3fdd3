/* rules.c - the registered derivative rules, and how one is applied to a node. */
#include "backward/backward.h"
#include "dispatch/custom.h"

static int loaded; /* every rule is registered */
/* how often loading began: an interrupted one leaves rules behind, which the next registers again
 */
static uint32_t attempt;
/* the thread that imports them, 0 while none does; importing them makes tensors of its own */
static unsigned long loader;

/* rules_loading(done): taeda.autograd.rules says so before the first and after the last */
PyObject *td_rules_loading(PyObject *module, PyObject *done)
{
    loaded = done == Py_True;
    attempt += !loaded;
    loader = loaded ? 0 : PyThread_get_thread_ident();
    Py_RETURN_NONE;
}

int td_load_rules(void)
{
    if (loaded) return 0;
    PyObject *module = PyImport_ImportModule("taeda.autograd");
    PyObject *names = module ? PyObject_GetAttrString(module, "__all__")
                             : NULL; /* who asks runs its code, or waits for who does */
    Py_XDECREF(module);
    if (names) {
        Py_DECREF(names);
        if (loaded || loader == PyThread_get_thread_ident()) return 0;
        PyErr_SetString(
            PyExc_ImportError,
            "taeda.autograd is being imported by another thread, which waits for a module that "
            "this thread imports: import taeda.autograd before the threads start");
        return -1;
    }
    if (PyErr_ExceptionMatches(PyExc_ImportError)) {
        PyObject *type, *why, *trace; /* its words say how to get the package */
        PyErr_Fetch(&type, &why, &trace);
        PyErr_Format(PyExc_RuntimeError, "requires_grad=True needs derivatives, but %S",
                     why ? why : Py_None);
        Py_XDECREF(type);
        Py_XDECREF(why);
        Py_XDECREF(trace);
    }
    return -1;
}

static int argument_index(const td_schema *s, const char *name, size_t length)
{
    for (int k = 0; k < s->nparams; k++)
        if (strlen(s->params[k].name) == length && !strncmp(s->params[k].name, name, length))
            return k;
    return -1;
}

/* the code of a formula's parameter, or -1 */
static int want(const td_schema *s, const char *name)
{
    static const struct {
        const char *suffix;
        int code;
    } facts[] = {{"_shape", TD_WANT_SHAPE},
                 {"_strides", TD_WANT_STRIDES},
                 {"_offset", TD_WANT_OFFSET},
                 {"_dtype", TD_WANT_DTYPE}};
    int k = argument_index(s, name, strlen(name));
    if (k >= 0) return k;
    if (!strcmp(name, "grad")) return TD_WANT_GRAD;
    if (!strcmp(name, "grads")) return TD_WANT_GRADS;
    if (!strcmp(name, "needs")) return TD_WANT_NEEDS;
    if (!strcmp(name, "result")) return TD_WANT_RESULT;
    for (int i = 0; i < TD_MAX_OUTS && !strncmp(name, "result", 6); i++) {
        char number[4];
        snprintf(number, sizeof number, "%d", i);
        if (!strcmp(name + 6, number)) return TD_WANT_RESULT + i;
    }
    for (int i = 0; i < 4; i++) {
        size_t n = strlen(name), m = strlen(facts[i].suffix);
        if (n > m && !strcmp(name + n - m, facts[i].suffix) &&
            (k = argument_index(s, name, n - m)) >= 0)
            return facts[i].code + k;
    }
    return -1;
}

static int read_formula(Formula *f, const td_schema *s, PyObject *pair)
{
    PyObject *callable, *names;
    if (!PyArg_ParseTuple(pair, "OO!", &callable, &PyTuple_Type, &names)) return -1;
    f->callable = Py_NewRef(callable);
    f->nparams = (int)PyTuple_Size(names);
    for (int i = 0; i < f->nparams; i++) {
        const char *name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(names, i), NULL);
        int code = name && i < 2 * TD_MAX_ARGS ? want(s, name) : -1;
        if (code < 0) {
            PyErr_Format(PyExc_ValueError,
                         "rule of %s: parameter %R is no argument, result or gradient of %s",
                         s->text, PyTuple_GetItem(names, i), s->text);
            return -1;
        }
        f->params[i] = (uint8_t)code;
        if (code < TD_MAX_ARGS) {
            if (s->params[code].type == TD_T_TENSOR) f->tensors |= 1u << code;
            else f->values |= 1u << code;
        } else if (code >= TD_WANT_SHAPE) f->facts |= 1u << ((code - TD_WANT_SHAPE) % 16);
        else if (code >= TD_WANT_RESULT && code < TD_WANT_RESULT + TD_MAX_OUTS)
            f->results |= 1u << (code - TD_WANT_RESULT);
    }
    return 0;
}

static int read_rule(Rule *rule, const td_schema *s, PyObject *parts)
{
    memset(rule->of_argument, -1, sizeof rule->of_argument);
    if (rule->joint) {
        for (int k = 0; k < s->nparams; k++)
            if (s->params[k].type == TD_T_TENSOR) rule->of_argument[k] = 0;
        rule->nformulas = 1;
        return read_formula(&rule->formulas[0], s, PyDict_GetItemString(parts, ""));
    }
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(parts, &at, &key, &value)) {
        const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
        int k = name ? argument_index(s, name, strlen(name)) : -1;
        if (k < 0 || s->params[k].type != TD_T_TENSOR) {
            PyErr_Format(PyExc_ValueError, "rule of %s: %R is not one of its Tensor arguments",
                         s->text, key);
            return -1;
        }
        rule->of_argument[k] = (int8_t)rule->nformulas;
        if (read_formula(&rule->formulas[rule->nformulas++], s, value) < 0) return -1;
    }
    return 0;
}

PyObject *td_register_rule(PyObject *module, PyObject *args)
{
    const char *name;
    PyObject *parts;
    int joint, results, wide = 0;
    if (!PyArg_ParseTuple(args, "spO!i|p", &name, &joint, &PyDict_Type, &parts, &results, &wide))
        return NULL;
    td_schema *s = td_find_schema(name);
    if (!s)
        return PyErr_Format(PyExc_ValueError, "rule for '%s': the op table has no such op", name);
    if (s->rule && (loaded || s->rule->attempt == attempt))
        return PyErr_Format(PyExc_ValueError, "op '%s' has a rule already", name);
    Rule *rule = PyMem_Calloc(1, sizeof *rule);
    if (!rule) return td_no_memory();
    rule->attempt = attempt;
    rule->joint = (uint8_t)joint;
    rule->wide = (uint8_t)wide;
    rule->differentiable_results = (int8_t)results;
    if (read_rule(rule, s, parts) < 0) {
        PyMem_Free(rule);
        return NULL;
    }
    s->rule = rule; /* one of an interrupted loading is never freed: a graph may hold it */
    td_custom_changed(s);
    Py_RETURN_NONE;
}

/* ---- applying ---- */
static PyObject *fact_of(const td_tensor *t, int what)
{
    switch (what) {
        case TD_WANT_SHAPE: return td_size_object(t->ndim, t->sizes);
        case TD_WANT_STRIDES: return td_ints_object(t->ndim, t->strides);
        case TD_WANT_OFFSET: return PyLong_FromLongLong(t->offset);
        default: return td_dtype_object((td_dtype)t->dtype);
    }
}

static Saved *find_saved(Node *n, int key, int facts)
{
    for (int i = 0; i < n->nsaved; i++)
        if (n->saved[i].key == key && (facts || !n->saved[i].facts_only)) return &n->saved[i];
    return NULL;
}

/* a saved argument or one of its facts; a Tensor[] argument gives a tuple */
static PyObject *saved_value(Node *n, int key, int what)
{
    Saved *s = find_saved(n, key, what != 0);
    int is_list = key < TD_MAX_ARGS && n->schema->params[key].flags & TD_P_LIST;
    if (!is_list) {
        if (!s) return Py_NewRef(Py_None); /* an optional argument that was None */
        if (what && s->undefined) return Py_NewRef(Py_None);
        if (what && s->t) return fact_of(s->t, what);
        return td_unpack_argument(n, s);
    }
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < n->nsaved; i++) {
        Saved *e = &n->saved[i];
        if (e->key != key || (!what && e->facts_only)) continue;
        if (e->facts_only && !what) continue;
        PyObject *item = what && e->t && !e->undefined ? fact_of(e->t, what) : td_unpack(n, e);
        if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    PyObject *tuple = list ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return tuple;
}

static PyObject *grads_tuple(int n, PyObject *const *grads)
{
    PyObject *made = PyTuple_New(n);
    for (int i = 0; made && i < n; i++)
        PyTuple_SetItem(made, i, Py_NewRef(grads[i] ? grads[i] : Py_None));
    return made;
}

static int edges_of(const Node *n, int k) /* edges that belong to argument k */
{
    int next = n->nedges;
    for (int j = k + 1; j < n->schema->nparams; j++)
        if (n->schema->params[j].type == TD_T_TENSOR) {
            next = (int)n->first_edge[j];
            break;
        }
    return next - (int)n->first_edge[k];
}

static int needed(const Node *n, int k)
{
    for (int i = 0; i < edges_of(n, k); i++)
        if (td_edge_wanted(n, (int)n->first_edge[k] + i)) return 1;
    return 0;
}

static PyObject *needs_tuple(const Node *n)
{
    PyObject *list = PyList_New(0);
    for (int k = 0; list && k < n->schema->nparams; k++)
        if (n->schema->params[k].type == TD_T_TENSOR &&
            PyList_Append(list, needed(n, k) ? Py_True : Py_False) < 0)
            Py_CLEAR(list);
    PyObject *tuple = list ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return tuple;
}

static PyObject *parameter(Node *n, int code, PyObject *const *grads)
{
    if (code < TD_MAX_ARGS) {
        if (n->schema->params[code].type == TD_T_TENSOR) return saved_value(n, code, 0);
        return Py_NewRef(PyTuple_GetItem(n->args, code));
    }
    if (code == TD_WANT_GRAD) return Py_NewRef(grads[0]);
    if (code == TD_WANT_GRADS) return grads_tuple(n->nouts, grads);
    if (code == TD_WANT_NEEDS) return needs_tuple(n);
    if (code < TD_WANT_GRAD) return saved_value(n, code, 0);
    int what = TD_WANT_SHAPE + (code - TD_WANT_SHAPE) / 16 * 16;
    return saved_value(n, (code - TD_WANT_SHAPE) % 16, what);
}

static PyObject *widened(PyObject *value);

/* Takes over a tuple or list: the same, with what td_row_dtype makes of its tensors. */
static PyObject *all_widened(PyObject *list)
{
    Py_ssize_t count = PySequence_Size(list);
    PyObject *made = count < 0 ? NULL : PyTuple_New(count);
    for (Py_ssize_t i = 0; made && i < count; i++) {
        PyObject *value = PySequence_GetItem(list, i);
        if (!value || !(value = widened(value))) Py_CLEAR(made);
        else PyTuple_SetItem(made, i, value);
    }
    Py_DECREF(list);
    return made;
}

/* Takes over what a formula is to be given. Steps in 16 bits would each be rounded, and overflow
 * where the gradient does not; what a formula returns is rounded once, by the engine. */
static PyObject *widened(PyObject *value)
{
    if (td_is_tensor(value)) {
        td_dtype own = (td_dtype)TD_T(value)->dtype, wide = td_row_dtype(own);
        if (own == wide) return value;
        PyObject *made = PyObject_CallMethod(value, "to", "N", td_dtype_object(wide));
        Py_DECREF(value);
        return made;
    }
    return PyTuple_CheckExact(value) ? all_widened(value) : value;
}

static PyObject *call_formula(Node *n, const Rule *rule, const Formula *f, PyObject *const *grads)
{
    PyObject *args = PyTuple_New(f->nparams);
    for (int i = 0; args && i < f->nparams; i++) {
        PyObject *value = parameter(n, f->params[i], grads);
        if (value && rule->wide) value = widened(value);
        if (!value) Py_CLEAR(args);
        else PyTuple_SetItem(args, i, value);
    }
    PyObject *made = args ? PyObject_CallObject(f->callable, args) : NULL;
    Py_XDECREF(args);
    return made;
}

static int put(Node *n, int edge, PyObject *value, PyObject **results) /* borrows value */
{
    if (value == Py_None || edge >= n->nedges || !n->edges[edge].node) return 0;
    if (!td_is_tensor(value)) {
        PyErr_Format(PyExc_TypeError, "the rule of %s returned %R where a Tensor or None is wanted",
                     n->schema->text, Py_TYPE(value));
        return -1;
    }
    results[edge] = Py_NewRef(value);
    return 0;
}

static int put_argument(Node *n, int k, PyObject *value, PyObject **results)
{
    if (!(n->schema->params[k].flags &
          TD_P_LIST)) /* an optional tensor that was None has no edge */
        return edges_of(n, k) ? put(n, (int)n->first_edge[k], value, results) : 0;
    if (value == Py_None) return 0;
    PyObject *list = PySequence_Tuple(value);
    int count = edges_of(n, k), bad = !list || PyTuple_Size(list) != count;
    if (list && bad)
        PyErr_Format(PyExc_RuntimeError,
                     "the rule of %s returned %zd gradients for '%s', which has %d tensors",
                     n->schema->text, PyTuple_Size(list), n->schema->params[k].name, count);
    for (int i = 0; !bad && i < count; i++)
        bad = put(n, (int)n->first_edge[k] + i, PyTuple_GetItem(list, i), results) < 0;
    Py_XDECREF(list);
    return bad ? -1 : 0;
}

static int spread_joint(Node *n, PyObject *made, PyObject **results)
{
    if (td_is_tensor(made)) /* an op named as the derivative answers with its one result */
        for (int k = 0; k < n->schema->nparams; k++)
            if (n->schema->params[k].type == TD_T_TENSOR) return put_argument(n, k, made, results);
    if (!PyTuple_Check(made) && !PyList_Check(made)) {
        PyErr_Format(PyExc_TypeError, "the joint rule of %s must return a tuple, got %R",
                     n->schema->text, Py_TYPE(made));
        return -1;
    }
    Py_ssize_t at = 0;
    for (int k = 0; k < n->schema->nparams; k++) {
        if (n->schema->params[k].type != TD_T_TENSOR) continue;
        PyObject *value = PySequence_GetItem(made, at++);
        if (!value) return -1;
        int status = put_argument(n, k, value, results);
        Py_DECREF(value);
        if (status < 0) return -1;
    }
    return 0;
}

static int wants_first(const Formula *f) /* the gradient of the first result? */
{
    for (int i = 0; i < f->nparams; i++)
        if (f->params[i] == TD_WANT_GRAD) return 1;
    return 0;
}

PyObject *td_apply_rule(Node *n, const Rule *rule, PyObject *const *grads, PyObject **results)
{
    if (rule->joint) {
        if (!grads[0] && wants_first(&rule->formulas[0])) return Py_None; /* zero */
        PyObject *made = call_formula(n, rule, &rule->formulas[0], grads);
        int status = made ? spread_joint(n, made, results) : -1;
        Py_XDECREF(made);
        return status < 0 ? NULL : Py_None;
    }
    for (int k = 0; k < n->schema->nparams; k++) {
        if (n->schema->params[k].type != TD_T_TENSOR || rule->of_argument[k] < 0 || !needed(n, k))
            continue;
        const Formula *f = &rule->formulas[rule->of_argument[k]];
        if (!grads[0] && wants_first(f)) continue; /* no gradient came for the first result: zero */
        PyObject *made = call_formula(n, rule, f, grads);
        int status = made ? put_argument(n, k, made, results) : -1;
        Py_XDECREF(made);
        if (status < 0) return NULL;
    }
    return Py_None;
}
