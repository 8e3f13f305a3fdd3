/* custom_run.c - one call of an operator that was defined at run time: which kernel, its arguments,
 * its results, its graph. */
#include "graph/node.h"
#include "dispatch/custom.h"
#include "dispatch/marks.h"
#include "runtime/device.h"

/* ---- which kernel ---- */
static td_device device_of(const td_frame *f) /* cpu or meta */
{
    td_device device = TD_CPU;
    for (int k = 0; k < f->schema->nparams; k++) {
        const td_arg *a = &f->call.args[k];
        if (a->kind == TD_ARG_DEVICE && a->i == TD_META) device = TD_META;
        if (a->kind == TD_ARG_TENSOR && td_is_meta(a->tensor)) return TD_META;
        for (int64_t i = 0; a->kind == TD_ARG_TENSORS && i < a->n; i++)
            if (a->tensors[i] && td_is_meta(a->tensors[i])) return TD_META;
    }
    return device;
}

static int has(const td_custom *c, int slot)
{
    return !(c->disabled >> slot & 1) && (c->python[slot] || c->native[slot].call);
}

static int refuse(const td_schema *s, td_device device)
{
    char text[TD_DEVICE_TEXT];
    if (device == TD_META)
        PyErr_Format(PyExc_NotImplementedError,
                     "%s: there was no fake impl registered for it, which calls on meta tensors "
                     "need. Give one with library.register_fake(\"%s\", function)",
                     s->text, s->text);
    else
        PyErr_Format(PyExc_NotImplementedError,
                     "%s: no kernel is registered for device '%s', or it is disabled. Give one "
                     "with library.register_kernel(\"%s\", \"%s\", function)",
                     s->text, td_device_text(device, text), s->text,
                     device == TD_CPU ? "cpu" : "cuda");
    return -1;
}

int td_custom_slot(const td_frame *f, td_device elsewhere)
{
    static const int own[TD_DEVICE_TYPES] = {
        [TD_CPU] = TD_SLOT_CPU, [TD_META] = TD_SLOT_META, [TD_CUDA] = TD_SLOT_CUDA};
    const td_schema *s = f->schema;
    const td_custom *c = s->custom;
    td_device device = elsewhere ? elsewhere : device_of(f);
    int type = td_device_type(device);
    if ((type <= TD_CUDA) && has(c, own[type])) return own[type];
    if (type != TD_META && has(c, TD_SLOT_MEMORY)) return TD_SLOT_MEMORY;
    if (has(c, TD_SLOT_ANY)) return TD_SLOT_ANY;
    return td_is_defined(c) ? refuse(s, device) : TD_SLOT_BUILT_IN;
}

/* ---- a kernel in Python ---- */
static PyObject *argument(const td_frame *f, int k) /* lists are lists, as the annotation says */
{
    const td_arg *a = &f->call.args[k];
    if (a->kind == TD_ARG_TENSOR) return td_plain_tensor(f->obj[k], a->tensor);
    if (a->kind != TD_ARG_TENSORS) {
        PyObject *o = td_argument_object(f, k), *list = NULL;
        if (!o || !(f->schema->params[k].flags & TD_P_LIST) || o == Py_None) return o;
        list = PySequence_List(o);
        Py_DECREF(o);
        return list;
    }
    PyObject *made = PyList_New((Py_ssize_t)a->n);
    for (Py_ssize_t i = 0; made && i < a->n; i++) {
        PyObject *item = td_plain_tensor(NULL, a->tensors[i]);
        if (!item) Py_CLEAR(made);
        else PyList_SetItem(made, i, item);
    }
    return made;
}

static PyObject *keyword_arguments(const td_frame *f)
{
    PyObject *made = PyDict_New();
    for (int k = f->schema->npositional; made && k < f->schema->nparams; k++) {
        PyObject *o = argument(f, k);
        if (!o || PyDict_SetItemString(made, f->schema->params[k].name, o) < 0) Py_CLEAR(made);
        Py_XDECREF(o);
    }
    return made;
}

static PyObject *call_kernel(const td_frame *f, PyObject *kernel)
{
    int n = f->schema->npositional, keywords = n < f->schema->nparams;
    PyObject *args = PyTuple_New(n), *named = NULL, *made = NULL;
    for (int k = 0; args && k < n; k++) {
        PyObject *o = argument(f, k);
        if (!o) Py_CLEAR(args);
        else PyTuple_SetItem(args, k, o);
    }
    if (args && (!keywords || (named = keyword_arguments(f))))
        made = PyObject_Call(kernel, args, named);
    Py_XDECREF(args);
    Py_XDECREF(named);
    return made;
}

/* ---- what it answered: user code, of which nothing is known before it was looked at ---- */
static int is_number_of(PyObject *o, int type)
{
    td_scalar s;
    int status = td_is_tensor(o) ? 0 : td_scalar_from(o, &s);
    if (status < 0) PyErr_Clear(); /* no number that a taeda_scalar holds: not what is wanted */
    if (status != 1) return 0;
    return type == TD_T_BOOL    ? s.kind == TD_S_BOOL
           : type == TD_T_INT   ? s.kind <= TD_S_INT
           : type == TD_T_FLOAT ? s.kind <= TD_S_FLOAT
                                : 1;
}

static int is_constant_of(PyObject *o, int type)
{
    td_dtype dtype;
    int code;
    switch (type) {
        case TD_T_STR: return PyUnicode_Check(o);
        case TD_T_DTYPE: return td_dtype_from(o, &dtype);
        case TD_T_LAYOUT: return Py_TYPE(o) == LayoutT;
        case TD_T_MEMORY_FORMAT: return td_memory_format_from(o, &code);
        case TD_T_GENERATOR: return td_generator_from(o) != NULL;
        case TD_T_DEVICE: return Py_TYPE(o) == DeviceT;
        default: return 1;
    }
}

static inline int is_of(PyObject *o, int type)
{
    if (type == TD_T_TENSOR) return td_is_tensor(o);
    return type <= TD_T_BOOL ? is_number_of(o, type) : is_constant_of(o, type);
}

static __attribute__((cold, noinline)) int refuse_result(const td_schema *s, int k, PyObject *o,
                                                         Py_ssize_t item)
{
    const char *wanted = s->custom->results[k].text;
    PyObject *got = o == Py_None ? o : (PyObject *)Py_TYPE(o);
    if (item < 0)
        PyErr_Format(PyExc_RuntimeError,
                     "%s: its kernel returned %R as result %d where the schema says %s", s->text,
                     got, k, wanted);
    else
        PyErr_Format(PyExc_RuntimeError,
                     "%s: its kernel returned a list, whose item %zd is %R, as result %d where the "
                     "schema says %s",
                     s->text, item, got, k, wanted);
    return -1;
}

/* 0, or -1 with RuntimeError. Lists are looked at item by item: those of user code may change in
 * between, so of tensors the caller hands a tuple of its own. */
/* an item of a list, which the caller holds */
static int check_item(const td_schema *s, int k, PyObject *item, Py_ssize_t i)
{
    const td_promise *p = &s->custom->results[k];
    if (item == Py_None && p->flags & TD_P_ELEMENT_OPTIONAL) return 0;
    return is_of(item, p->type) ? 0 : refuse_result(s, k, item, i);
}

static int check_items(const td_schema *s, int k, PyObject *o)
{
    int tensors = s->custom->results[k].type == TD_T_TENSOR;
    if (PyTuple_CheckExact(o)) { /* its items stay */
        for (Py_ssize_t i = 0, n = PyTuple_Size(o); i < n; i++) {
            PyObject *item = PyTuple_GetItem(o, i);
            if (tensors && td_is_exact(item)) continue;
            if (check_item(s, k, item, i) < 0) return -1;
        }
        return 0;
    }
    for (Py_ssize_t i = 0; i < PySequence_Size(o); i++) {
        PyObject *item = PySequence_GetItem(o, i);
        int status = item ? check_item(s, k, item, i) : -1;
        Py_XDECREF(item);
        if (status < 0) return -1;
    }
    return PyErr_Occurred() ? -1 : 0;
}

static inline int check_result(const td_schema *s, int k, PyObject *o)
{
    const td_promise *p = &s->custom->results[k];
    if (!(p->flags & TD_P_LIST) && is_of(o, p->type)) return 0;
    if (o == Py_None && p->flags & TD_P_OPTIONAL) return 0;
    if (p->flags & TD_P_LIST && (PyList_Check(o) || PyTuple_Check(o))) return check_items(s, k, o);
    return refuse_result(s, k, o, -1);
}

/* Result k of (a!) is the argument itself, whatever stands for it in the answer. */
static int check_written(const td_frame *f, int k, PyObject *o)
{
    int alias = f->schema->return_alias[k];
    const td_arg *a = &f->call.args[alias];
    if (a->kind != TD_ARG_TENSOR) return o == Py_None ? 0 : check_result(f->schema, k, o);
    if (check_result(f->schema, k, o) < 0) return -1;
    if (!td_is_tensor(o) || td_is_meta(a->tensor) || TD_T(o)->storage == a->tensor->storage)
        return 0;
    PyErr_Format(PyExc_RuntimeError,
                 "%s: its kernel returned another tensor as result %d, and the schema says that "
                 "this is argument '%s', written: write into the argument, and return it",
                 f->schema->text, k, f->schema->params[alias].name);
    return -1;
}

static __attribute__((cold, noinline)) int wrong_count(const td_schema *s, PyObject *answer)
{
    int several = PyTuple_Check(answer) || PyList_Check(answer);
    PyErr_Format(PyExc_RuntimeError,
                 "%s: its kernel returned %R%s%zd%s where the schema says %d results", s->text,
                 answer == Py_None ? answer : (PyObject *)Py_TYPE(answer), several ? " of " : " (",
                 several ? PySequence_Size(answer) : (Py_ssize_t)(answer != Py_None),
                 several ? "" : ")", s->nreturns);
    return -1;
}

static int check_count(const td_schema *s, PyObject *answer)
{
    int n = s->nreturns;
    if (n == 1) return 0;
    if (n == 0) return answer == Py_None ? 0 : wrong_count(s, answer);
    int several = PyTuple_Check(answer) || PyList_Check(answer);
    return several && PySequence_Size(answer) == n ? 0 : wrong_count(s, answer);
}

static int split(const td_frame *f, PyObject *answer, td_made *made)
{
    const td_schema *s = f->schema;
    if (s->nreturns != 1 && check_count(s, answer) < 0) return -1;
    for (; made->n < s->nreturns; made->n++) {
        int k = made->n, alias = s->return_alias[k];
        PyObject *o = s->nreturns == 1 ? Py_NewRef(answer) : PySequence_GetItem(answer, k);
        if (!o || (alias < 0 ? check_result(s, k, o) : check_written(f, k, o)) < 0)
            return Py_XDECREF(o), -1;
        made->outs[k] = o;
        /* (a!): the argument itself */
        if (alias >= 0 && f->obj[alias]) Py_SETREF(made->outs[k], Py_NewRef(f->obj[alias]));
    }
    return 0;
}

int td_custom_check(const td_schema *s, PyObject *answer)
{
    /* built-in ones know what they do */
    int status = s->custom->of == s ? check_count(s, answer) : 0;
    for (int k = 0; s->custom->of == s && k < s->nreturns && status == 0; k++) {
        PyObject *o = s->nreturns == 1 ? Py_NewRef(answer) : PySequence_GetItem(answer, k);
        status = o ? check_result(s, k, o) : -1;
        Py_XDECREF(o);
    }
    return status;
}

/* One result that is a list of tensors, or no tensor; takes `answer` over. */
static int take_whole(const td_schema *s, PyObject *answer, td_made *made)
{
    if (s->list_result && PyList_Check(answer))
        Py_SETREF(answer, PyList_AsTuple(answer)); /* nobody else changes it */
    else if (s->list_result && PyTuple_Check(answer) && !PyTuple_CheckExact(answer))
        Py_SETREF(answer, PySequence_Tuple(answer));
    if (!answer || check_result(s, 0, answer) < 0) return Py_XDECREF(answer), -1;
    made->list = answer;
    return 0;
}

static int custom_python(td_frame *f, td_made *made)
{
    const td_schema *s = f->schema;
    PyObject *kernel = Py_NewRef(s->custom->python[f->call.slot]); /* it may replace itself */
    td_outside was = td_go_below();
    PyObject *answer = call_kernel(f, kernel);
    td_come_back(was);
    Py_DECREF(kernel);
    if (!answer) return -1;
    if (s->list_result || s->other_result) return take_whole(s, answer, made);
    if (s->nreturns == 1 && s->return_alias[0] < 0) { /* the usual case */
        if (check_result(s, 0, answer) < 0) return Py_DECREF(answer), -1;
        made->outs[made->n++] = answer;
        return 0;
    }
    int status = split(f, answer, made);
    Py_DECREF(answer);
    return status;
}

/* ---- results that share memory although the schema does not say so ---- */
static int check_apart(const td_frame *f, const td_made *made);

int td_custom_run(td_frame *f, int slot, td_made *made)
{
    f->call.slot = slot;
    int status = f->schema->custom->native[slot].call ? td_run_c(f, f->schema->op.impl, made)
                                                      : custom_python(f, made);
    return status < 0 ? status : check_apart(f, made);
}

static int shares(const td_frame *f, const td_storage *s)
{
    if (!s->data) return 0;
    for (int k = 0; k < f->schema->nparams; k++) {
        const td_arg *a = &f->call.args[k];
        if (a->kind == TD_ARG_TENSOR && a->tensor->storage == s) return 1;
        for (int64_t i = 0; a->kind == TD_ARG_TENSORS && i < a->n; i++)
            if (a->tensors[i] && a->tensors[i]->storage == s) return 1;
    }
    return 0;
}

static int refuse_shared(const td_schema *s, int64_t k)
{
    PyErr_Format(PyExc_RuntimeError,
                 "%s: result %lld shares memory with an argument or another result, which the "
                 "schema does not say. The output of a custom operator must not also be an input, "
                 "nor may alias any inputs or other results: return a clone()",
                 s->text, (long long)k);
    return -1;
}

static int check_each(const td_frame *f, const td_made *made)
{
    const td_schema *s = f->schema;
    for (int k = 0; k < made->n; k++) {
        if (s->return_alias[k] >= 0 || !td_is_tensor(made->outs[k])) continue;
        const td_storage *mine = TD_T(made->outs[k])->storage;
        int bad = shares(f, mine);
        for (int j = 0; j < k && !bad; j++)
            bad = mine->data && td_is_tensor(made->outs[j]) && TD_T(made->outs[j])->storage == mine;
        if (bad) return refuse_shared(s, k);
    }
    return 0;
}

/* The memories of the arguments, then of the items of a list, sorted. */
static size_t mark_memories(const td_frame *f, PyObject *list, td_mark *marks)
{
    size_t n = 0;
    for (int k = 0; k < f->schema->nparams; k++) {
        const td_arg *a = &f->call.args[k];
        int64_t count = a->kind == TD_ARG_TENSORS ? a->n : a->kind == TD_ARG_TENSOR;
        for (int64_t i = 0; i < count; i++) {
            const td_tensor *t = a->kind == TD_ARG_TENSORS ? a->tensors[i] : a->tensor;
            if (marks && t) marks[n] = (td_mark){t->storage, -1};
            n += t != NULL;
        }
    }
    for (Py_ssize_t i = 0; i < PyTuple_Size(list); i++) {
        PyObject *o = PyTuple_GetItem(list, i);
        if (!td_is_tensor(o) || !TD_T(o)->storage->data) continue;
        if (marks) marks[n] = (td_mark){TD_T(o)->storage, i};
        n++;
    }
    if (marks) td_marks_sort(marks, n);
    return n;
}

/* A list may be long: no item is compared with each other one. */
static int check_list(const td_frame *f, PyObject *list)
{
    size_t n = mark_memories(f, list, NULL);
    td_mark *marks = PyMem_Malloc((n + 1) * sizeof *marks);
    if (!marks) return td_no_memory(), -1;
    mark_memories(f, list, marks);
    int64_t bad = -1;
    for (size_t i = 1; i < n && bad < 0; i++)
        if (marks[i].at == marks[i - 1].at) bad = marks[i].index;
    PyMem_Free(marks);
    return bad < 0 ? 0 : refuse_shared(f->schema, bad);
}

static int check_apart(const td_frame *f, const td_made *made)
{
    const td_schema *s = f->schema;
    if (!s->custom->strict || s->flags & TD_F_VIEW) return 0;
    if (!made->list) return check_each(f, made);
    return s->list_result && PyTuple_CheckExact(made->list) ? check_list(f, made->list) : 0;
}

/* ---- the graph of a derivative in Python ---- */
static PyObject *inputs(const td_frame *f)
{
    PyObject *made = PyTuple_New(f->schema->nparams);
    for (int k = 0; made && k < f->schema->nparams; k++) {
        PyObject *o = td_argument_object(f, k);
        if (o && f->schema->params[k].flags & TD_P_LIST && o != Py_None)
            Py_SETREF(o, PySequence_List(o));
        if (!o) Py_CLEAR(made);
        else PyTuple_SetItem(made, k, o);
    }
    return made;
}

int td_custom_record(td_frame *f, PyObject *const *outs, int nouts)
{
    static PyObject *hook;
    if (!td_here.grad_mode || !f->any_grad || td_here.inference_mode) return 0;
    if (!td_python_function(&hook, "taeda.autograd._custom_ops", "record")) return -1;
    PyObject *results = PyTuple_New(nouts), *args = inputs(f), *made = NULL;
    for (int k = 0; results && k < nouts; k++) PyTuple_SetItem(results, k, Py_NewRef(outs[k]));
    if (results && args)
        made = PyObject_CallFunctionObjArgs(hook, f->schema->custom->autograd, args, results, NULL);
    Py_XDECREF(results);
    Py_XDECREF(args);
    Py_XDECREF(made);
    return made ? 0 : -1;
}
