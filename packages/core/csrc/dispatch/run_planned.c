/* run_planned.c - calls on tensors in parts (DTensor) that were planned before, without Python:
 *
 *   words of the arguments ─▶ plan ─▶ the same call on the parts ─▶ results in their type
 *
 * A class says that its exact tensors are so (plan_calls). Each holds its part and its spec, an
 * object made once for every way to lie, which has a dict `plans`. A first call goes to the class,
 * whose answer may bring a plan: how each result lies. It is kept by the spec of the first tensor,
 * with the addresses of the other specs, which live as long as the first one does. What has no
 * words here, and every call under a layer, goes the long way.
 */
#include "dispatch/dispatch.h"

enum { MOST_WORDS = 96, MOST_PLANS = 4096 };
enum { W_DEFAULT, W_LIES, W_NUMBER, W_NONE, W_BOOL, W_INT, W_FLOAT, W_DTYPE, W_INTS };

typedef struct key {
    uint64_t words[MOST_WORDS];
    int n, full;
    PyObject *first; /* borrowed: the spec of the first tensor in parts */
} key;

static PyTypeObject *planned;
/* planner(op text, arguments, is it in place?) → (answer, plan or None) */
static PyObject *planner;
static PyObject *name_local, *name_spec, *name_copied, *name_plans;
static uint64_t generation; /* of what plans depend on besides */
static int held;            /* how many want to see every call */

/* ---- the words of a call ---- */
static void add(key *k, uint64_t word)
{
    if (k->n < MOST_WORDS) k->words[k->n++] = word;
    else k->full = 1;
}

static PyObject *field(PyObject *o, PyObject *name) /* borrowed, or NULL */
{
    PyObject *dict = ((PyTensor *)o)->dict;
    return dict ? PyDict_GetItemWithError(dict, name) : NULL;
}

/* 1; 0: it is a copy that must be asked whether it still holds */
static int add_lying(key *k, PyObject *o)
{
    const td_tensor *t = TD_T(o);
    PyObject *spec = field(o, name_spec);
    if (!spec || field(o, name_copied) != Py_None || t->flags) return 0;
    if (!k->first) k->first = spec;
    add(k, W_LIES);
    add(k, (uint64_t)(uintptr_t)spec);
    add(k, (uint64_t)t->dtype << 8 | ((PyTensor *)o)->dispatches);
    for (int i = 0; i < t->ndim; i++) add(k, (uint64_t)t->strides[i]);
    return 1;
}

static int add_tensor(key *k, PyObject *o)
{
    if (Py_TYPE(o) == planned) return add_lying(k, o);
    const td_tensor *t = TD_T(o);
    if (!td_is_exact(o) || ((PyTensor *)o)->dispatches || t->ndim || t->device != TD_CPU) return 0;
    add(k, W_NUMBER);
    add(k, (uint64_t)t->dtype << 8 | t->flags);
    return 1;
}

static int add_int(key *k, PyObject *o)
{
    int overflow;
    long long value = PyLong_CheckExact(o) ? PyLong_AsLongLongAndOverflow(o, &overflow) : 0;
    if (!PyLong_CheckExact(o) || overflow) return 0;
    add(k, (uint64_t)value);
    return 1;
}

static int add_ints(key *k, PyObject *o)
{
    Py_ssize_t n = PyTuple_Size(o);
    add(k, W_INTS);
    add(k, (uint64_t)n);
    for (Py_ssize_t i = 0; i < n; i++)
        if (!add_int(k, PyTuple_GetItem(o, i))) return 0;
    return 1;
}

static void add_float(key *k, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    add(k, W_FLOAT);
    add(k, bits);
}

/* 1, or 0 for what has no words */
static int add_object(key *k, PyObject *o)
{
    td_dtype dtype;
    if (!o) return add(k, W_DEFAULT), 1;
    if (o == Py_None) return add(k, W_NONE), 1;
    if (PyBool_Check(o)) return add(k, W_BOOL), add(k, o == Py_True), 1;
    if (PyLong_CheckExact(o)) return add(k, W_INT), add_int(k, o);
    if (PyFloat_CheckExact(o)) return add_float(k, PyFloat_AsDouble(o)), 1;
    if (PyTuple_CheckExact(o)) return add_ints(k, o);
    if (td_is_tensor(o)) return add_tensor(k, o);
    if (Py_TYPE(o) != DtypeT || !td_dtype_from(o, &dtype)) return 0;
    return add(k, W_DTYPE), add(k, (uint64_t)dtype), 1;
}

/* A tensor in place of a number: the class asks for its value, by which the answer may go. */
static int is_number(const td_schema *s, int i, PyObject *o)
{
    return s->params[i].type != TD_T_TENSOR && o && td_is_tensor(o);
}

static int has_words(const td_frame *f, key *k)
{
    const td_schema *s = f->schema;
    uint32_t layers = td_here.layers & ~td_here.excluded;
    if (!planned || held || layers || f->out || s->custom || s->list_result || s->other_result ||
        f->requires_grad || s->kind == TD_KIND_COMPOSITE)
        return 0;
    k->n = k->full = 0;
    k->first = NULL;
    add(k, (uint64_t)(uintptr_t)s);
    add(k, generation << 1 | f->inplace);
    for (int i = 0; i < s->nparams; i++)
        if (is_number(s, i, f->obj[i]) || !add_object(k, f->obj[i])) return 0;
    return k->first && !k->full;
}

/* ---- the call on parts ---- */
static PyObject *parts_of(const td_frame *f)
{
    PyObject *args = td_arguments_tuple(f);
    for (int i = 0; args && i < f->schema->nparams; i++) {
        if (!f->obj[i] || Py_TYPE(f->obj[i]) != planned) continue;
        PyObject *local = field(f->obj[i], name_local);
        if (!local) {
            Py_CLEAR(args);
            PyErr_SetString(PyExc_RuntimeError, "a tensor in parts has lost its part");
        } else PyTuple_SetItem(args, i, Py_NewRef(local));
    }
    return args;
}

static PyObject *call_on_parts(const td_frame *f)
{
    PyObject *args = parts_of(f), *made = NULL;
    td_frame inner;
    if (args && td_bind_all(&inner, f->function, (td_schema *)f->schema, args) == 0) {
        inner.inplace = f->inplace;
        td_outside was = {td_here.grad_mode, td_here.excluded};
        td_here.grad_mode = 0;
        td_here.excluded |= TD_LAYER_DUAL;
        made = td_run(&inner);
        td_come_back(was);
        td_frame_close(&inner);
    }
    Py_XDECREF(args);
    return made;
}

/* ---- results ---- */
static int ints_in(PyObject *bytes, const int64_t **ints) /* how many */
{
    char *at;
    Py_ssize_t size;
    if (!bytes || PyBytes_AsStringAndSize(bytes, &at, &size) < 0) return -1;
    *ints = (const int64_t *)(const void *)at;
    return (int)(size / (Py_ssize_t)sizeof(int64_t));
}

static int set_fields(PyObject *o, PyObject *local, PyObject *spec)
{
    PyObject *dict = PyDict_New();
    if (!dict) return -1;
    Py_XSETREF(((PyTensor *)o)->dict, dict);
    return PyDict_SetItem(dict, name_local, local) < 0 || PyDict_SetItem(dict, name_spec, spec) < 0
               ? -1
               : PyDict_SetItem(dict, name_copied, Py_None);
}

/* one = (spec, sizes of its part, sizes and strides of the whole) */
static PyObject *wrapped(const td_frame *f, PyObject *local, PyObject *one)
{
    const int64_t *part = NULL, *sizes = NULL, *strides = NULL;
    int n = ints_in(PyTuple_GetItem(one, 1), &part);
    int m = ints_in(PyTuple_GetItem(one, 2), &sizes);
    int k = ints_in(PyTuple_GetItem(one, 3), &strides);
    if (n < 0 || m < 0 || k != m) return NULL;
    const td_tensor *t = TD_T(local);
    if (t->ndim != n || memcmp(t->sizes, part, sizeof(int64_t) * (size_t)n) != 0)
        return PyErr_Format(
            PyExc_RuntimeError,
            "%s: a part has another shape than the rule says of %R. Please report this",
            f->schema->text, PyTuple_GetItem(one, 0));
    td_tensor *handle;
    TD_PY(td_tensor_empty_strided(&handle, (td_dtype)t->dtype, TD_META, m, sizes, strides));
    PyObject *made = td_wrap_claiming(planned, handle, (td_device)t->device);
    if (!made) return NULL;
    if (set_fields(made, local, PyTuple_GetItem(one, 0)) < 0) Py_CLEAR(made);
    return made;
}

/* Views share the memory of the first argument, or the class must note what they are copies of. */
static int is_no_view(const td_frame *f, PyObject *local)
{
    if (!(f->schema->flags & TD_F_VIEW)) return 0;
    PyObject *base = field(f->obj[0], name_local);
    return !base || TD_T(base)->storage != TD_T(local)->storage;
}

/* New, by its entry of the plan, or what the call writes; NULL without an exception: not by this
 * plan. */
static PyObject *result(const td_frame *f, PyObject *answer, PyObject *plan, int k)
{
    PyObject *own = td_written(f, k);
    if (own) return Py_NewRef(own);
    PyObject *local = f->schema->nreturns == 1 ? answer : PyTuple_GetItem(answer, k);
    if (!local || !td_is_tensor(local) || is_no_view(f, local)) return NULL;
    return wrapped(f, local, PyTuple_GetItem(plan, k));
}

/* 1, 0: not by this plan; -1 with an exception */
static int run_plan(const td_frame *f, PyObject *plan, td_made *made)
{
    if (PyTuple_Size(plan) != f->schema->nreturns) return 0;
    PyObject *answer = call_on_parts(f);
    if (!answer) return -1;
    int whole = 1;
    while (whole && made->n < f->schema->nreturns) {
        made->outs[made->n] = result(f, answer, plan, made->n);
        if (made->outs[made->n]) made->n++;
        else whole = 0;
    }
    Py_DECREF(answer);
    while (!whole && made->n > 0) Py_DECREF(made->outs[--made->n]);
    return PyErr_Occurred() ? -1 : whole;
}

/* ---- plans ---- */
static int keep(PyObject *plans, PyObject *bytes, PyObject *plan)
{
    if (plan == Py_None) return 0;
    if (PyDict_Size(plans) >= MOST_PLANS) PyDict_Clear(plans);
    return PyDict_SetItem(plans, bytes, plan);
}

/* New: what the class answers; its plan is kept. */
static PyObject *ask_class(const td_frame *f, PyObject *plans, PyObject *bytes)
{
    uint32_t excluded = td_here.excluded;
    uint8_t grad_mode = td_here.grad_mode;
    td_here.excluded |= TD_LAYER_DUAL;
    td_here.grad_mode = 0;
    PyObject *args = td_arguments_tuple(f), *pair = NULL, *answer = NULL;
    if (args)
        pair = PyObject_CallFunction(planner, "sOO", f->schema->text, args,
                                     f->inplace ? Py_True : Py_False);
    td_come_back((td_outside){grad_mode, excluded});
    if (pair && keep(plans, bytes, PyTuple_GetItem(pair, 1)) == 0)
        answer = Py_NewRef(PyTuple_GetItem(pair, 0));
    Py_XDECREF(pair);
    Py_XDECREF(args);
    return answer;
}

int td_run_planned(const td_frame *f, td_made *made, PyObject **answer)
{
    key k;
    *answer = NULL;
    if (!has_words(f, &k)) return PyErr_Occurred() ? -1 : 0;
    PyObject *plans = PyObject_GetAttr(k.first, name_plans);
    PyObject *bytes =
        plans ? PyBytes_FromStringAndSize((const char *)k.words, k.n * (Py_ssize_t)sizeof *k.words)
              : NULL;
    PyObject *plan = bytes ? PyDict_GetItemWithError(plans, bytes) : NULL;
    int status = PyErr_Occurred() ? -1 : 0;
    if (plan) {
        Py_INCREF(plan);
        status = run_plan(f, plan, made);
        Py_DECREF(plan);
    }
    if (status == 0) status = (*answer = ask_class(f, plans, bytes)) ? 1 : -1;
    Py_XDECREF(bytes);
    Py_XDECREF(plans);
    return status;
}

/* ---- what Python sets ---- */
static PyObject *plan_calls(PyObject *m, PyObject *args)
{
    PyObject *type, *function;
    if (!PyArg_ParseTuple(args, "O!O:plan_calls", &PyType_Type, &type, &function)) return NULL;
    if (!PyType_IsSubtype((PyTypeObject *)type, TensorT) || !PyCallable_Check(function))
        return PyErr_Format(PyExc_TypeError,
                            "plan_calls: wanted a subclass of Tensor and a function, got %R and %R",
                            type, function);
    name_local = PyUnicode_InternFromString("_local");
    name_spec = PyUnicode_InternFromString("_spec");
    name_copied = PyUnicode_InternFromString("_copied_from");
    name_plans = PyUnicode_InternFromString("plans");
    if (!name_local || !name_spec || !name_copied || !name_plans) return NULL;
    Py_XSETREF(planner, Py_NewRef(function));
    Py_XSETREF(planned, (PyTypeObject *)Py_NewRef(type));
    Py_RETURN_NONE;
}

static PyObject *forget_plans(PyObject *m, PyObject *unused)
{
    generation++;
    Py_RETURN_NONE;
}

static PyObject *hold_plans(PyObject *m, PyObject *on)
{
    int yes = PyObject_IsTrue(on);
    if (yes < 0) return NULL;
    held += yes ? 1 : -1;
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"plan_calls", plan_calls, METH_VARARGS,
     "plan_calls(type, function): calls on its tensors are planned by this function."},
    {"forget_plans", forget_plans, METH_NOARGS, "What plans depend on has changed."},
    {"hold_plans", hold_plans, METH_O,
     "hold_plans(on): while it is on, every call goes to the class; calls of it add up."},
    {0}};

int td_add_plans(PyObject *module) { return PyModule_AddFunctions(module, functions); }
