/* dispatch.c - the way of one call: parse, gate, record, kernel, wrap.
 *
 *   entry → td_parse → gate ──(a layer is active)──▶ taeda._layers.dispatch (Python) ──▶ back in, below that layer
 *                        │
 *                        └─▶ td_run: composite? → Python function in terms of other ops
 *                                    record begin → backend (C, or Python kernel) → wrap → record finish
 */
#include "dispatch/arguments.h"
#include "object/forward.h"
#include "graph/node.h"
#include "dispatch/custom.h"
#include "runtime/device.h"

/* ---- before and after the kernel ---- */
static int on_two_devices(const td_frame *f, int a, int b)
{
    char first[TD_DEVICE_TEXT], second[TD_DEVICE_TEXT];
    PyErr_Format(PyExc_RuntimeError,
                 "%s: Expected all tensors to be on the same device, but found at least two "
                 "devices, %s and %s! Move one of them: x.to('%s')",
                 f->schema->op.name, td_device_text((td_device)(a < b ? a : b), first),
                 td_device_text((td_device)(a < b ? b : a), second), second);
    return -1;
}

/* The device of a tensor that the call writes, if that is another one than `device`; else -1. A
 * number that is written is no number. */
static int written_elsewhere(const td_frame *f, int device)
{
    for (int k = 0; k < f->schema->nparams; k++) {
        const td_arg *a = &f->call.args[k];
        if (!(f->inplace && k == 0) && !(f->schema->params[k].flags & TD_P_MUTATED)) continue;
        int n = a->kind == TD_ARG_TENSORS ? (int)a->n : a->kind == TD_ARG_TENSOR;
        for (int i = 0; i < n; i++) {
            const td_tensor *t = a->kind == TD_ARG_TENSORS ? a->tensors[i] : a->tensor;
            if (t && t->device != device) return t->device;
        }
    }
    return -1;
}

/* A tensor without dimensions on the cpu is a number, welcome anywhere. As the first argument of a
 * C implementation it is more: the first one says where the work is done, and elements without
 * memory cannot be read. So are indices of the cpu, where the row says that they may lie there. */
static int check_devices(td_frame *f)
{
    int seen = -1, first = -1, mixes = f->schema->flags & TD_F_MIXES_DEVICES;
    bool near = f->schema->flags & TD_F_HOST_INDICES;
    for (int k = 0; k < f->schema->nparams; k++) {
        const td_arg *a = &f->call.args[k];
        int n = a->kind == TD_ARG_TENSORS ? (int)a->n : a->kind == TD_ARG_TENSOR;
        for (int i = 0; i < n; i++) {
            const td_tensor *t = a->kind == TD_ARG_TENSORS ? a->tensors[i] : a->tensor;
            if (!t) continue;
            if (first < 0) first = t->device;
            if (t->device == TD_CPU && (!t->ndim || (near && a->kind == TD_ARG_TENSORS))) continue;
            if (seen >= 0 && seen != t->device && !mixes) return on_two_devices(f, seen, t->device);
            seen = t->device;
        }
    }
    for (int k = 0; f->out && first >= 0 && k < f->schema->nreturns; k++) {
        PyObject *out = td_out_item(f, k);
        int wanted = seen >= 0 ? seen : first;
        if (out && td_is_tensor(out) && TD_T(out)->device != wanted)
            return on_two_devices(f, wanted, TD_T(out)->device);
    }
    int writes = f->inplace || f->schema->flags & TD_F_MUTATES,
        home = writes && seen >= 0 && !mixes ? written_elsewhere(f, seen) : -1;
    if (home >= 0) return on_two_devices(f, seen, home);
    int placed = f->schema->kind == TD_KIND_C &&
                 !(f->schema->flags & (TD_F_MIXES_DEVICES | TD_F_TAKES_NUMBERS));
    return placed && first == TD_CPU && seen > TD_CPU ? on_two_devices(f, first, seen) : 0;
}

/* Steps of optimizers divide the gradients by a scale where one is given, and only read them else
 * (_table/optim.py). */
static int only_reads(const td_frame *f, int k)
{
    const td_schema *s = f->schema;
    if (s->custom || strcmp(s->params[k].name, "grads")) return 0;
    for (int j = 0; j < s->nparams; j++)
        if (!strcmp(s->params[j].name, "grad_scale")) return f->call.args[j].kind == TD_ARG_NONE;
    return 0;
}

static inline __attribute__((always_inline)) void bump_written(td_frame *f)
{
    if (f->inplace) td_version_bump(TD_T(f->obj[0]));
    for (int k = 0; f->out && k < f->schema->nreturns; k++)
        td_version_bump(TD_T(td_out_item(f, k)));
    if (!(f->schema->flags & TD_F_MUTATES)) return;
    for (int k = 0; k < f->schema->nparams; k++) {
        td_arg *a = &f->call.args[k];
        if (!(f->schema->params[k].flags & TD_P_MUTATED)) continue;
        if (a->kind == TD_ARG_TENSOR) td_version_bump(a->tensor);
        if (a->kind != TD_ARG_TENSORS || only_reads(f, k)) continue;
        for (int64_t i = 0; i < a->n; i++)
            if (a->tensors[i]) td_version_bump(a->tensors[i]);
    }
}

/* the same behind a list or a value that is no tensor, where nothing is short */
static __attribute__((noinline)) void bump_written_apart(td_frame *f) { bump_written(f); }

/* the tensors of a list that is written */
static int check_items(td_frame *f, int k)
{
    const td_arg *a = &f->call.args[k];
    for (int64_t i = 0; a->kind == TD_ARG_TENSORS && i < a->n; i++) {
        PyObject *o = td_frame_item(f, k, (Py_ssize_t)i);
        if (o && td_is_tensor(o) && td_check_inplace((PyTensor *)o, f->schema->op.name) < 0)
            return -1;
    }
    return 0;
}

static int check_written(td_frame *f)
{
    if (f->inplace && !td_is_tensor(f->obj[0])) {
        PyErr_Format(PyExc_TypeError, "%s_(): the first argument must be a Tensor, not %R",
                     f->schema->op.name, Py_TYPE(f->obj[0]));
        return -1;
    }
    if (f->inplace && td_check_inplace((PyTensor *)f->obj[0], f->function->name) < 0) return -1;
    if (!(f->schema->flags & TD_F_MUTATES)) return 0;
    for (int k = 0; k < f->schema->nparams; k++) {
        if (!(f->schema->params[k].flags & TD_P_MUTATED) || !f->obj[k]) continue;
        if (td_is_tensor(f->obj[k])
                ? td_check_inplace((PyTensor *)f->obj[k], f->schema->op.name) < 0
                : f->schema->custom && check_items(f, k) < 0)
            return -1;
    }
    return 0;
}

/* Two tensors without memory count their writes together from now on, as a view and its base do. */
static int join(const td_frame *f, PyTensor *self, PyTensor *p)
{
    td_tensor *t = p->t;
    for (int k = 0; k < f->schema->nparams; k++)
        if (f->obj[k] == (PyObject *)p) return 0;
    if (self->dispatches < TD_DISPATCHES_CLAIM || p->dispatches < TD_DISPATCHES_CLAIM ||
        t->storage == self->t->storage)
        return 0;
    td_status status = td_tensor_on_storage(&t, self->t->storage, (td_dtype)t->dtype, t->ndim,
                                            t->sizes, t->strides, t->offset);
    if (status) return td_raised(status);
    t->flags = p->t->flags;
    td_publish((PyObject *)p, t);
    return 0;
}

static int set_views(td_frame *f, PyObject **outs, int nouts, int multi)
{
    if (!f->obj[0] || !td_is_tensor(f->obj[0])) return 0;
    PyTensor *self = (PyTensor *)f->obj[0], *base = self->base ? self->base : self;
    for (int k = 0; k < nouts; k++) {
        PyTensor *p = (PyTensor *)outs[k];
        if ((!td_is_exact(outs[k]) && !td_is_tensor(outs[k])) || p == self || p->base) continue;
        if (f->dispatches && join(f, self, p) < 0) return -1;
        if (p->t->storage != self->t->storage) continue;
        p->base = (PyTensor *)Py_NewRef((PyObject *)base);
        p->apart = self->apart;
        p->node_version = td_version_of(p->t);
        p->creation = td_here.inference_mode ? TD_VIEW_INFERENCE
                      : !td_here.grad_mode   ? TD_VIEW_NO_GRAD
                      : multi                ? TD_VIEW_MULTI
                                             : TD_VIEW_PLAIN;
        if (self->creation != TD_VIEW_PLAIN && p->creation == TD_VIEW_PLAIN)
            p->creation = self->creation;
    }
    return 0;
}

static int join_detached(const td_frame *f, PyObject **outs,
                         int nouts) /* detach gives no view, but shares the counter */
{
    int detached = (f->schema->flags & TD_F_DETACHES) && nouts == 1 && td_is_tensor(f->obj[0]) &&
                   td_is_tensor(outs[0]);
    return detached ? join(f, (PyTensor *)f->obj[0], (PyTensor *)outs[0]) : 0;
}

static int
shares_memory(const td_frame *f,
              PyObject *o) /* with the first argument, as results of views and of detach do */
{
    return f->obj[0] && td_is_tensor(f->obj[0]) && TD_T(o)->storage == TD_T(f->obj[0])->storage;
}

static int set_requires_grad(td_frame *f, PyObject **outs, int nouts)
{
    if (td_here.inference_mode)
        for (int k = 0; k < nouts; k++)
            if (td_is_tensor(outs[k]) && !shares_memory(f, outs[k]))
                TD_T(outs[k])->flags |= TD_FLAG_INFERENCE;
    if (f->requires_grad != Py_True || !nouts) return 0;
    PyObject *done = PyObject_CallMethod(outs[0], "requires_grad_", NULL);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

/* ---- the whole below the override layer ---- */
/* the history of the results, and in forward mode (`dual` is not NULL) their tangents; takes the
 * node over */
static int record(td_frame *f, Node *n, PyObject *dual, PyObject *const *outs, int nouts)
{
    if (!dual) return n ? td_record_finish(f, n, outs, nouts) : 0;
    Py_XINCREF((PyObject *)n); /* finishing it takes one reference over */
    int status = n ? td_record_finish(f, n, outs, nouts) : 0;
    if (status == 0) status = td_forward.finish(f, n, dual, outs, nouts);
    Py_XDECREF((PyObject *)n);
    return status;
}

static int finish_custom(td_frame *f, PyObject **outs, int nouts)
{
    if (f->schema->records_itself) return td_custom_record(f, outs, nouts);
    return f->schema->flags & TD_F_MUTATES ? td_record_written(f) : 0;
}

static PyObject *finish_list(td_frame *f, Node *n, PyObject *dual,
                             PyObject *list) /* Tensor[] or a value that is no tensor */
{
    if (f->schema->other_result || list == Py_None) { /* None: of "Tensor[]?" */
        Py_XDECREF((PyObject *)n);
        /* what the writes derive from */
        int unsaid = f->schema->custom && !f->schema->records_itself;
        if (unsaid && finish_custom(f, NULL, 0) < 0) Py_CLEAR(list);
        return list;
    }
    PyObject *tuple = list;
    if (!PyTuple_CheckExact(list)) Py_SETREF(tuple, PySequence_Tuple(list));
    int count = tuple ? (int)PyTuple_Size(tuple) : 0;
    PyObject **outs = tuple ? PyMem_Malloc(sizeof *outs * (size_t)(count + 1)) : NULL;
    if (!outs) return Py_XDECREF((PyObject *)n), Py_XDECREF(tuple), tuple ? td_no_memory() : NULL;
    for (int i = 0; i < count; i++) outs[i] = PyTuple_GetItem(tuple, i);
    int failed = f->schema->flags & TD_F_VIEW &&
                 set_views(f, outs, count, !(f->schema->flags & TD_F_SLICES)) < 0;
    if (failed) Py_XDECREF((PyObject *)n);
    if (failed || record(f, n, dual, outs, count) < 0) Py_CLEAR(tuple);
    if (tuple && f->schema->custom && finish_custom(f, &tuple, 1) < 0) Py_CLEAR(tuple);
    PyMem_Free(outs);
    /* the annotation says list */
    if (tuple && f->schema->custom) Py_SETREF(tuple, PySequence_List(tuple));
    return tuple;
}

/* kernel, then what is known of its results; takes the node over, borrows what forward mode wants
 * of the arguments */
static PyObject *run_recorded(td_frame *f, Node *n, PyObject *dual)
{
    td_made made = {0};
    if (td_run_backend(f, &made) < 0) return Py_XDECREF((PyObject *)n), NULL;
    if (made.list) {
        bump_written_apart(f);
        return finish_list(f, n, dual, made.list);
    }
    int status = f->inplace || f->out ? td_place_results(f, made.outs, made.n) : 0;
    if (status == 0) {
        bump_written(f);
        if (f->schema->flags & TD_F_VIEW)
            status = set_views(f, made.outs, made.n, f->schema->list_result);
        if (f->dispatches && status == 0) status = join_detached(f, made.outs, made.n);
        if (status == 0 && (n || dual)) {
            status = record(f, n, dual, made.outs, made.n);
            n = NULL;
        }
        if (status == 0 && f->schema->custom) status = finish_custom(f, made.outs, made.n);
    }
    if (status == 0)
        status = f->requires_grad || td_here.inference_mode
                     ? set_requires_grad(f, made.outs, made.n)
                     : 0;
    Py_XDECREF((PyObject *)n);
    if (status == 0) return td_pack_results(f->schema, made.outs, made.n);
    for (int k = 0; k < made.n; k++) Py_XDECREF(made.outs[k]);
    return NULL;
}

PyObject *td_run(td_frame *f)
{
    if (f->dispatches & TD_DISPATCHES_LAYOUT) return td_run_layout(f);
    if (f->schema->kind == TD_KIND_COMPOSITE) {
        PyObject *result = td_check_out(f) < 0 ? NULL : td_run_composite(f);
        if (result && f->schema->custom && td_custom_check(f->schema, result) < 0) Py_CLEAR(result);
        if (result && f->requires_grad == Py_True && set_requires_grad(f, &result, 1) < 0)
            Py_CLEAR(result);
        return result;
    }
    if (f->dispatches && !f->inplace && !f->out) {
        PyObject *made = td_run_in_parts(f);
        if (made != Py_NotImplemented) return made;
        Py_DECREF(made);
    }
    PyObject *dual = NULL;
    Node *n = NULL;
    if (td_check_out(f) < 0 || check_written(f) < 0 || (!f->dispatches && check_devices(f) < 0))
        return NULL;
    if (td_dual_level && td_forward.begin(f, &dual) < 0) return NULL;
    PyObject *made = td_record_begin(f, &n) < 0 ? NULL : run_recorded(f, n, dual);
    Py_XDECREF(dual);
    return made;
}

/* ---- gate ---- */
/* hook(callable, positional, keywords[, more]), with what the entry was given */
static PyObject *call_hook(PyObject *hook, PyObject *more, const td_function *fn, PyObject *self,
                           PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *callable = self ? PyObject_GetAttrString((PyObject *)TensorT, fn->name)
                              : Py_XNewRef(td_function_object(fn));
    PyObject *positional = PyTuple_New(nargs + (self != NULL)), *keywords = PyDict_New(),
             *made = NULL;
    if (callable && positional && keywords) {
        if (self) PyTuple_SetItem(positional, 0, Py_NewRef(self));
        for (Py_ssize_t i = 0; i < nargs; i++)
            PyTuple_SetItem(positional, i + (self != NULL), Py_NewRef(args[i]));
        for (Py_ssize_t i = 0; kwnames && i < PyTuple_Size(kwnames); i++)
            PyDict_SetItem(keywords, PyTuple_GetItem(kwnames, i), args[nargs + i]);
        made = PyObject_CallFunctionObjArgs(hook, callable, positional, keywords, more, NULL);
    }
    Py_XDECREF(callable);
    Py_XDECREF(positional);
    Py_XDECREF(keywords);
    return made;
}

static PyObject *call_override(const td_function *fn, PyObject *self, PyObject *const *args,
                               Py_ssize_t nargs, PyObject *kwnames)
{
    static PyObject *hook;
    if (!td_python_function(&hook, "taeda._layers.dispatch", "dispatch_override")) return NULL;
    return call_hook(hook, NULL, fn, self, args, nargs, kwnames);
}

/* a call that no overload takes, with the error of it that is set: dimensions by their names, or
 * names for those of a new tensor */
static PyObject *call_by_name(const td_function *fn, PyObject *self, PyObject *const *args,
                              Py_ssize_t nargs, PyObject *kwnames)
{
    static PyObject *hook;
    PyObject *type, *error, *trace, *made = NULL;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    if (td_python_function(&hook, "taeda._names.calls", "by_name"))
        made = call_hook(hook, error, fn, self, args, nargs, kwnames);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
    return made;
}

/* Autocast is for listed operations that make new tensors; others take what they are given. */
static int autocasts(const td_frame *f)
{
    return td_here.layers & ~td_here.excluded & TD_LAYER_AUTOCAST && f->schema->autocast &&
           !f->inplace && !f->out;
}
/* The layer is told the kind, of an operator with a rule of its user the name. */
static PyObject *call_autocast(const td_schema *s, const td_function *fn, PyObject *self,
                               PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static PyObject *hook;
    int own = s->autocast == TD_CAST_OWN;
    PyObject *kind = own ? PyUnicode_FromString(s->text) : PyLong_FromLong(s->autocast);
    PyObject *made = NULL;
    if (kind && td_python_function(&hook, "taeda._layers.autocast", "call_autocast"))
        made = call_hook(hook, kind, fn, self, args, nargs, kwnames);
    Py_XDECREF(kind);
    return made;
}

static void look_at_out(td_frame *f) /* its types have a say as well */
{
    if (!td_is_exact(f->out) && td_is_tensor(f->out)) f->overridden |= TD_OVERRIDDEN;
    for (int k = 0; k < f->schema->nreturns; k++) {
        PyObject *o = td_out_item(f, k);
        if (!o || !td_is_tensor(o)) continue;
        f->dispatches |= ((PyTensor *)o)->dispatches;
        f->overridden |= ((PyTensor *)o)->named;
    }
}

static int takes_part(PyObject *o)
{
    static const char *const ends[] = {"start", "stop", "step"};
    if (td_is_tensor(o)) return 0; /* a tensor where none is taken is a mistake, of any type */
    if (!PySlice_Check(o)) {
        Py_INCREF(o); /* the type is asked in Python, which may take it out of its list */
        int found = td_has_override(o);
        Py_DECREF(o);
        return found;
    }
    for (int i = 0; i < 3; i++) {
        PyObject *end = PyObject_GetAttrString(o, ends[i]);
        int found = end && td_has_override(end);
        Py_XDECREF(end);
        if (found) return 1;
    }
    return 0;
}

int td_is_for_others(PyObject *const *args, Py_ssize_t n, int in_lists)
{
    if (td_here.excluded & TD_LAYER_OVERRIDE || !PyErr_ExceptionMatches(PyExc_TypeError)) return 0;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    int found = 0;
    for (Py_ssize_t i = 0; i < n && !found; i++) {
        found = td_list_length(args[i]) < 0 && takes_part(args[i]);
        for (Py_ssize_t k = 0; in_lists && !found && k < td_list_length(args[i]); k++)
            found = takes_part(td_list_item(args[i], k));
    }
    if (!found) PyErr_Restore(type, value, trace);
    else {
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
    }
    return found;
}

/* Is a list among the arguments one of tensors? What its entries may be, the parser has said. */
static int takes_tensors(const td_function *fn)
{
    for (int i = 0; i < fn->count; i++)
        for (int k = 0; k < fn->overloads[i]->nparams; k++) {
            const td_param *p = &fn->overloads[i]->params[k];
            if (p->type == TD_T_TENSOR && p->flags & TD_P_LIST) return 1;
        }
    return 0;
}

static PyObject *run_named(td_frame *f)
{
    td_naming naming;
    return td_names_before(f, &naming) < 0 ? NULL : td_names_after(f, &naming, td_run(f));
}

PyObject *td_call_entry(const td_function *fn, PyObject *self, PyObject *const *args,
                        Py_ssize_t nargs, PyObject *kwnames)
{
    /* modes come before the parser: they may know what to do with arguments that it does not */
    if (td_here.layers & ~td_here.excluded & TD_LAYER_FUNCTION_MODE)
        return call_override(fn, self, args, nargs, kwnames);
    td_frame f;
    td_frame_open(&f);
    f.inplace = fn->is_inplace;
    if (td_parse(&f, fn, self, args, nargs, kwnames) < 0) {
        Py_ssize_t n = nargs + (kwnames ? PyTuple_Size(kwnames) : 0);
        if (td_is_for_others(args, n, !takes_tensors(fn)))
            return call_override(fn, self, args, nargs, kwnames);
        return td_asks_by_name(args, nargs, kwnames) ? call_by_name(fn, self, args, nargs, kwnames)
                                                     : NULL;
    }
    if (f.out) look_at_out(&f);
    int transform = td_here.layers & ~td_here.excluded & TD_LAYER_TRANSFORM;
    int overridden =
        transform || (f.overridden & TD_OVERRIDDEN && !(td_here.excluded & TD_LAYER_OVERRIDE));
    PyObject *made = overridden      ? call_override(fn, self, args, nargs, kwnames)
                     : autocasts(&f) ? call_autocast(f.schema, fn, self, args, nargs, kwnames)
                     : f.overridden  ? run_named(&f)
                                     : td_run(&f);
    td_frame_close(&f);
    return made;
}

PyObject *td_apply(const td_function *fn, int n, PyObject *const *args)
{
    return td_call_entry(fn, NULL, args, n, NULL);
}

/* ---- number slots: a + b without the parser ---- */
static int is_operand(PyObject *o) { return td_is_tensor(o) || td_is_number(o); }

PyObject *td_slot_binary(const td_function *fn, td_schema *s, PyObject *a, PyObject *b)
{
    PyObject *const args[] = {a, b};
    uint32_t layers = td_here.layers & ~td_here.excluded;
    if (layers & TD_LAYER_FUNCTION_MODE) return td_call_entry(fn, NULL, args, 2, NULL);
    if (layers) { /* what is no operand is the other type's to answer, under layers too */
        if (!is_operand(a) || !is_operand(b)) Py_RETURN_NOTIMPLEMENTED;
        return td_call_entry(fn, NULL, args, 2, NULL);
    }
    td_frame f;
    td_frame_open(&f);
    td_frame_row(&f, fn, s);
    for (int k = 0; k < 2; k++) {
        int status = td_is_tensor(args[k])   ? td_bind(&f, k, args[k])
                     : td_is_number(args[k]) ? td_bind_number(&f, k, args[k])
                                             : 0;
        if (status == 1) continue;
        td_frame_close(&f);
        if (status < 0) return NULL;
        Py_RETURN_NOTIMPLEMENTED;
    }
    for (int k = 2; k < s->nparams; k++) {
        f.obj[k] = NULL;
        f.call.args[k] = s->params[k].value;
    }
    int overridden = f.overridden & TD_OVERRIDDEN && !(td_here.excluded & TD_LAYER_OVERRIDE);
    PyObject *made = overridden     ? call_override(fn, NULL, args, 2, NULL)
                     : f.overridden ? run_named(&f)
                                    : td_run(&f);
    td_frame_close(&f);
    return made;
}

void td_put_dispatcher(void) { td_dispatcher = (td_dispatcher_hooks){td_apply, td_below}; }
