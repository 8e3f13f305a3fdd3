/* dispatch.c - the way of one call: parse, gate, record, kernel, wrap.
 *
 *   entry → td_parse → gate ──(a layer is active)──▶ taeda._dispatch (Python) ──▶ back in, below that layer
 *                        │
 *                        └─▶ td_run: composite? → Python function in terms of other ops
 *                                    record begin → backend (C, or Python kernel) → wrap → record finish
 */
#include "autograd/node.h"
#include "python/custom.h"

/* ---- lookup ---- */
const td_function *td_find_function(const char *namespace_, const char *name)
{
    for (int i = 0; i < td_function_count; i++)
        if (!strcmp(td_functions[i].name, name) && !strcmp(td_functions[i].namespace_, namespace_)) return &td_functions[i];
    return NULL;
}

static int by_text(const void *a, const void *b) { return strcmp((*(td_schema *const *)a)->text, (*(td_schema *const *)b)->text); }
td_schema *td_find_schema(const char *qualified)
{
    static td_schema **sorted;
    if (!strncmp(qualified, "aten::", 6)) qualified += 6;
    if (strstr(qualified, "::")) return td_find_custom(qualified);
    if (!sorted) {
        if (!(sorted = PyMem_Malloc(sizeof *sorted * (size_t)(td_schema_count + 1)))) return NULL;
        for (int i = 0; i < td_schema_count; i++) sorted[i] = &td_schemas[i];
        qsort(sorted, (size_t)td_schema_count, sizeof *sorted, by_text);
    }
    td_schema probe = {.text = qualified}, *key = &probe;
    td_schema **hit = bsearch(&key, sorted, (size_t)td_schema_count, sizeof *sorted, by_text);
    return hit ? *hit : NULL;
}

/* the Python function of a composite or Python-kernel row, looked up once */
static PyObject *implementation(const td_schema *s)
{
    PyObject **slot = &((td_schema *)s)->callable;
    if (*slot) return *slot;
    char path[160];
    snprintf(path, sizeof path, "taeda.%s.%s", s->kind == TD_KIND_COMPOSITE ? "_composite" : "_kernels", s->family);
    PyObject *module = PyImport_ImportModule(path);
    if (!module) return NULL;
    *slot = PyObject_GetAttrString(module, s->target);
    if (!*slot && s->op.overload[0]) {
        PyErr_Clear(); /* the plain name serves every overload */
        *slot = PyObject_GetAttrString(module, s->op.name);
    }
    Py_DECREF(module);
    return *slot;
}

static PyObject *arguments_tuple(const td_frame *f)
{
    PyObject *made = PyTuple_New(f->schema->nparams);
    for (int k = 0; made && k < f->schema->nparams; k++) {
        PyObject *o = td_argument_object(f, k);
        if (!o) Py_CLEAR(made);
        else PyTuple_SetItem(made, k, o);
    }
    return made;
}

/* what a Python kernel gets for a tensor: the handle as the frame holds it (bits resolved), outside the graph */
static PyObject *below_autograd(PyObject *o, td_tensor *t)
{
    if (!t) return Py_NewRef(Py_None);
    if (o && Py_TYPE(o) == TensorT && TD_T(o) == t && !td_requires_grad((PyTensor *)o)) return Py_NewRef(o);
    td_tensor *alias;
    TD_PY(td_tensor_alias(&alias, t));
    return td_wrap(alias);
}

static PyObject *kernel_argument(const td_frame *f, int k)
{
    const td_arg *a = &f->call.args[k];
    PyObject *o = f->obj[k];
    if (a->kind == TD_ARG_TENSOR && o && td_is_tensor(o)) return below_autograd(o, a->tensor);
    if (a->kind != TD_ARG_TENSORS) return td_argument_object(f, k);
    PyObject *made = PyTuple_New(a->n);
    for (Py_ssize_t i = 0; made && i < a->n; i++) {
        PyObject *item = below_autograd(NULL, a->tensors[i]);
        if (!item) Py_CLEAR(made);
        else PyTuple_SetItem(made, i, item);
    }
    return made;
}

static PyObject *kernel_arguments(const td_frame *f)
{
    PyObject *made = PyTuple_New(f->schema->nparams);
    for (int k = 0; made && k < f->schema->nparams; k++) {
        PyObject *o = kernel_argument(f, k);
        if (!o) Py_CLEAR(made);
        else PyTuple_SetItem(made, k, o);
    }
    return made;
}

static PyObject *call_implementation(const td_frame *f, PyObject *args) /* takes the arguments over */
{
    PyObject *callable = args ? implementation(f->schema) : NULL;
    PyObject *made = callable ? PyObject_CallObject(callable, args) : NULL;
    Py_XDECREF(args);
    return made;
}

/* ---- results ---- */
/* taeda.return_types.max(
 * values=tensor(…),
 * indices=tensor(…)) */
static PyObject *named_text(PyObject *results, PyObject *unused)
{
    PyObject *names = PyObject_GetAttrString((PyObject *)Py_TYPE(results), "__match_args__"), *lines = PyList_New(0);
    PyObject *made = NULL, *comma = PyUnicode_FromString(",\n"), *text = NULL;
    for (Py_ssize_t i = 0; names && lines && i < PyTuple_Size(names); i++) {
        PyObject *line = PyUnicode_FromFormat("%U=%R", PyTuple_GetItem(names, i), PyTuple_GetItem(results, i));
        if (!line || PyList_Append(lines, line) < 0) Py_CLEAR(lines);
        Py_XDECREF(line);
    }
    PyObject *type = names ? PyObject_GetAttrString((PyObject *)Py_TYPE(results), "__name__") : NULL;
    if (lines && comma) text = PyUnicode_Join(comma, lines);
    if (type && text) made = PyUnicode_FromFormat("taeda.return_types.%U(\n%U)", type, text);
    Py_XDECREF(names), Py_XDECREF(lines), Py_XDECREF(comma), Py_XDECREF(type), Py_XDECREF(text);
    return made;
}

static PyTypeObject *result_type(const td_schema *s) /* named tuple "taeda.return_types.max" */
{
    if (s->results) return s->results;
    static char names[TD_MAX_OUTS][32];
    PyStructSequence_Field fields[TD_MAX_OUTS + 1] = {{0}};
    const char *at = s->return_names;
    for (int i = 0; i < s->nreturns; i++) {
        size_t n = strcspn(at, " ");
        snprintf(names[i], sizeof names[i], "%.*s", (int)n, at);
        fields[i].name = PyUnicode_AsUTF8AndSize(PyUnicode_InternFromString(names[i]), NULL);
        at += n + (at[n] == ' ');
    }
    char *name = PyMem_Malloc(96);
    if (!name) return (PyTypeObject *)PyErr_NoMemory();
    snprintf(name, 96, "taeda.return_types.%s%s%s", s->namespace_, s->namespace_[0] ? "_" : "", s->op.name);
    PyStructSequence_Desc desc = {name, "Named results.", fields, s->nreturns};
    PyTypeObject *type = PyStructSequence_NewType(&desc);
    static PyMethodDef repr = {"__repr__", named_text, METH_NOARGS, "One result a line."};
    PyObject *method = type ? PyDescr_NewMethod(type, &repr) : NULL;
    if (method && PyObject_SetAttrString((PyObject *)type, "__repr__", method) == 0) ((td_schema *)s)->results = type;
    Py_XDECREF(method);
    return s->results;
}

PyObject *td_result_types(PyObject *m, PyObject *unused) /* every named-tuple type there is */
{
    PyObject *made = PyDict_New();
    for (int i = 0; made && i < td_schema_count; i++) {
        const td_schema *s = &td_schemas[i];
        if (!s->return_names[0]) continue;
        PyTypeObject *type = result_type(s);
        PyObject *name = type ? PyObject_GetAttrString((PyObject *)type, "__name__") : NULL;
        if (!name || PyDict_SetItem(made, name, (PyObject *)type) < 0) Py_CLEAR(made);
        Py_XDECREF(name);
    }
    return made;
}

static PyObject *pack_results(const td_schema *s, PyObject **outs, int n) /* takes the outs over */
{
    if (n == 1 && !s->list_result) return outs[0];
    if (n == 0) return Py_NewRef(Py_None);
    if (s->return_names[0] && n == s->nreturns) {
        PyTypeObject *type = result_type(s);
        PyObject *made = type ? PyStructSequence_New(type) : NULL;
        for (int i = 0; i < n; i++)
            if (made) PyStructSequence_SetItem(made, i, outs[i]);
            else Py_DECREF(outs[i]);
        return made;
    }
    PyObject *made = PyTuple_New(n);
    for (int i = 0; i < n; i++)
        if (made) PyTuple_SetItem(made, i, outs[i]);
        else Py_DECREF(outs[i]);
    return made;
}

static int fail(td_status status)
{
    td_raise(status);
    return -1;
}

/* ---- backend ---- */
static int resolve_bits(td_frame *f)
{
    if (!f->bits || f->schema->flags & TD_F_KEEP_CONJ) return 0;
    for (int k = 0; k < f->schema->nparams; k++) {
        td_arg *a = &f->call.args[k];
        int n = a->kind == TD_ARG_TENSORS ? (int)a->n : a->kind == TD_ARG_TENSOR;
        if (f->schema->params[k].flags & TD_P_MUTATED) continue;
        for (int i = 0; i < n; i++) {
            td_tensor **t = a->kind == TD_ARG_TENSORS ? &a->tensors[i] : &a->tensor, *plain;
            if (!*t || !((*t)->flags & (TD_FLAG_CONJ | TD_FLAG_NEG))) continue;
            td_status status = td_tensor_empty_like(&plain, *t, (td_dtype)(*t)->dtype);
            if (status) return fail(status);
            if (!td_frame_temp(f, plain)) return fail(TD_RUNTIME_ERROR);
            if (!td_is_meta(plain) && (status = td_copy(plain, *t))) return fail(status);
            *t = plain;
        }
    }
    return 0;
}

static int on_two_devices(const td_frame *f)
{
    PyErr_Format(PyExc_RuntimeError, "%s: Expected all tensors to be on the same device, but found at least two devices, cpu and meta!",
                 f->schema->op.name);
    return -1;
}

/* A tensor without dimensions on the cpu is a number, welcome anywhere. As the first argument of a C implementation it is more: the first
 * one says where the work is done, and elements without memory cannot be read. */
static int check_devices(const td_frame *f)
{
    int seen = -1, first = -1;
    for (int k = 0; k < f->schema->nparams; k++) {
        const td_arg *a = &f->call.args[k];
        int n = a->kind == TD_ARG_TENSORS ? (int)a->n : a->kind == TD_ARG_TENSOR;
        for (int i = 0; i < n; i++) {
            const td_tensor *t = a->kind == TD_ARG_TENSORS ? a->tensors[i] : a->tensor;
            if (!t) continue;
            if (first < 0) first = t->device;
            if (t->ndim == 0 && t->device == TD_CPU) continue;
            if (seen >= 0 && seen != t->device && strcmp(f->schema->op.name, "copy_")) return on_two_devices(f);
            seen = t->device;
        }
    }
    for (int k = 0; f->out && first >= 0 && k < f->schema->nreturns; k++) {
        PyObject *out = td_out_item(f, k);
        if (out && td_is_tensor(out) && TD_T(out)->device != (seen >= 0 ? seen : first)) return on_two_devices(f);
    }
    int placed = f->schema->kind == TD_KIND_C && strcmp(f->schema->family, "pointwise"); /* those take numbers in any place */
    return placed && first == TD_CPU && seen == TD_META && strcmp(f->schema->op.name, "copy_") ? on_two_devices(f) : 0;
}

static int is_argument(const td_call *call, const td_tensor *t)
{
    for (int k = 0; k < call->nargs; k++)
        if (call->args[k].kind == TD_ARG_TENSOR && call->args[k].tensor == t) return 1;
    return 0;
}

/* after a failure; what is an argument (an in-place op names it before it fails) belongs to the caller */
static void drop_outs(td_call *call, int given)
{
    for (int k = given; k < call->nout && k < TD_MAX_OUTS; k++) {
        if (!is_argument(call, call->out[k])) td_tensor_free(call->out[k]);
        call->out[k] = NULL;
    }
}

/* a Tensor[] result: wrap each, free the array */
static int c_list(td_frame *f, td_status status, PyObject **list)
{
    int n = f->call.nout;
    *list = status ? NULL : PyTuple_New(n);
    for (int i = 0; i < n; i++) {
        td_tensor *t = f->call.outs[i];
        PyObject *o = *list ? td_wrap(t) : NULL;
        if (!*list) td_tensor_free(t);
        else if (!o) Py_CLEAR(*list);
        else PyTuple_SetItem(*list, i, o);
    }
    free(f->call.outs);
    f->call.outs = NULL;
    if (status) return fail(status);
    return *list ? 0 : -1;
}

/* an implementation may answer with its argument itself (contiguous of a contiguous tensor) */
static PyObject *argument_of(const td_frame *f, const td_tensor *t)
{
    for (int k = 0; k < f->schema->nparams; k++)
        if (f->call.args[k].kind == TD_ARG_TENSOR && f->call.args[k].tensor == t && f->obj[k] && td_is_tensor(f->obj[k])) return f->obj[k];
    return NULL;
}

/* C implementation; outs: new references */
static int run_c(td_frame *f, PyObject **outs, int *nouts, PyObject **list)
{
    const td_schema *s = f->schema;
    int direct = f->inplace && s->op.writes_out && !(TD_T(f->obj[0])->flags & (TD_FLAG_CONJ | TD_FLAG_NEG));
    PyObject *direct_out = NULL;
    if (!direct && f->out && s->op.writes_out && s->nreturns == 1 && s->kind == TD_KIND_POINTWISE) {
        PyObject *o = td_out_item(f, 0); /* written directly when it has the shape that is coming already */
        if (td_fits_broadcast(f, TD_T(o)) && !(TD_T(o)->flags & (TD_FLAG_CONJ | TD_FLAG_NEG))) direct_out = o;
    }
    if (direct) f->call.out[0] = TD_T(f->obj[0]);
    else if (direct_out) f->call.out[0] = TD_T(direct_out);
    int given = direct || direct_out;
    td_status status = s->op.impl(&f->call);
    if (f->call.outs) return c_list(f, status, list);
    if (status) return drop_outs(&f->call, given), fail(status);
    *nouts = f->call.nout;
    for (int k = 0; k < *nouts; k++) {
        if (k == 0 && given) outs[0] = Py_NewRef(direct ? f->obj[0] : direct_out);
        else if (k < TD_MAX_OUTS && s->return_alias[k] >= 0) outs[k] = Py_NewRef(f->obj[s->return_alias[k]]);
        else {
            td_tensor *t = f->call.out[k];
            f->call.out[k] = NULL;
            if (!t) { /* a result that was not asked for (output_mask) */
                outs[k] = Py_NewRef(Py_None);
                continue;
            }
            PyObject *same = argument_of(f, t);
            if (!(outs[k] = same ? Py_NewRef(same) : td_wrap(t))) {
                while (k--) Py_DECREF(outs[k]);
                return -1;
            }
        }
    }
    return 0;
}

/* Python kernel: sees plain tensors with grad mode off; outs: new references, list results in *list */
static int run_python(td_frame *f, PyObject **outs, int *nouts, PyObject **list)
{
    uint8_t mode = td_here.grad_mode;
    uint32_t excluded = td_here.excluded;
    td_here.grad_mode = 0;
    td_here.excluded |= TD_LAYER_FUNCTION_MODE | TD_LAYER_OVERRIDE | TD_LAYER_TRACE | TD_LAYER_DISPATCH_MODE;
    PyObject *made = call_implementation(f, kernel_arguments(f));
    td_here.grad_mode = mode;
    td_here.excluded = excluded;
    if (!made) return -1;
    if (f->schema->list_result || f->schema->other_result) {
        *list = made;
        *nouts = 0;
        return 0;
    }
    if (f->schema->nreturns == 1) {
        outs[0] = made;
        *nouts = 1;
        return 0;
    }
    Py_ssize_t n = PyTuple_Check(made) ? PyTuple_Size(made) : -1;
    if (n != f->schema->nreturns) {
        PyErr_Format(PyExc_RuntimeError, "the kernel of %s returned %R where %d results are wanted", f->schema->text, Py_TYPE(made), f->schema->nreturns);
        Py_DECREF(made);
        return -1;
    }
    for (int i = 0; i < n; i++) outs[i] = Py_NewRef(PyTuple_GetItem(made, i));
    *nouts = (int)n;
    Py_DECREF(made);
    return 0;
}

static int run_kernel(td_frame *f, PyObject **outs, int *nouts, PyObject **list)
{
    if (resolve_bits(f) < 0) return -1;
    if (f->schema->custom) {
        int slot = td_custom_slot(f);
        if (slot < 0) return -1;
        if (slot != TD_SLOT_BUILT_IN) {
            f->call.slot = slot;
            if (!f->schema->custom->native[slot].call) return td_custom_python(f, outs, nouts, list);
            return run_c(f, outs, nouts, list) < 0 ? -1 : td_custom_check(f, outs, *nouts);
        }
    }
    return f->schema->op.impl ? run_c(f, outs, nouts, list) : run_python(f, outs, nouts, list);
}

/* taeda._dispatch.call_traced(op text, arguments) sees the call and decides when to run it */
static int run_traced(td_frame *f, PyObject **outs, int *nouts, PyObject **list)
{
    static PyObject *hook;
    if (!hook) {
        PyObject *module = PyImport_ImportModule("taeda._dispatch");
        hook = module ? PyObject_GetAttrString(module, "call_traced") : NULL;
        Py_XDECREF(module);
        if (!hook) return -1;
    }
    PyObject *args = arguments_tuple(f);
    PyObject *made = args ? PyObject_CallFunction(hook, "sO", f->schema->text, args) : NULL;
    Py_XDECREF(args);
    if (!made) return -1;
    if (f->schema->list_result || f->schema->other_result) {
        *list = made;
        return 0;
    }
    if (f->schema->nreturns == 0) return Py_DECREF(made), *nouts = 0, 0;
    if (PyTuple_Check(made) && f->schema->nreturns > 1) {
        *nouts = (int)PyTuple_Size(made);
        if (*nouts > TD_MAX_OUTS) return Py_DECREF(made), PyErr_SetString(PyExc_RuntimeError, "too many results"), -1;
        for (int i = 0; i < *nouts; i++) outs[i] = Py_NewRef(PyTuple_GetItem(made, i));
        Py_DECREF(made);
    } else {
        outs[0] = made;
        *nouts = 1;
    }
    return 0;
}

static int backend(td_frame *f, PyObject **outs, int *nouts, PyObject **list)
{
    uint32_t layers = td_here.layers & ~td_here.excluded & (TD_LAYER_TRACE | TD_LAYER_DISPATCH_MODE);
    if (layers) return run_traced(f, outs, nouts, list);
    return run_kernel(f, outs, nouts, list);
}

static void bump_written(td_frame *f)
{
    if (f->inplace) td_version_bump(TD_T(f->obj[0]));
    for (int k = 0; f->out && k < f->schema->nreturns; k++) td_version_bump(TD_T(td_out_item(f, k)));
    if (!(f->schema->flags & TD_F_MUTATES)) return;
    for (int k = 0; k < f->schema->nparams; k++) {
        td_arg *a = &f->call.args[k];
        if (!(f->schema->params[k].flags & TD_P_MUTATED)) continue;
        if (a->kind == TD_ARG_TENSOR) td_version_bump(a->tensor);
        for (int64_t i = 0; a->kind == TD_ARG_TENSORS && i < a->n; i++)
            if (a->tensors[i]) td_version_bump(a->tensors[i]);
    }
}

static int check_written(td_frame *f)
{
    if (f->inplace && !td_is_tensor(f->obj[0])) {
        PyErr_Format(PyExc_TypeError, "%s_(): the first argument must be a Tensor, not %R", f->schema->op.name, Py_TYPE(f->obj[0]));
        return -1;
    }
    if (f->inplace && td_check_inplace((PyTensor *)f->obj[0], f->function->name) < 0) return -1;
    if (!(f->schema->flags & TD_F_MUTATES)) return 0;
    for (int k = 0; k < f->schema->nparams; k++)
        if (f->schema->params[k].flags & TD_P_MUTATED && f->obj[k] && td_is_tensor(f->obj[k]) &&
            td_check_inplace((PyTensor *)f->obj[k], f->schema->op.name) < 0)
            return -1;
    return 0;
}

static void set_views(td_frame *f, PyObject **outs, int nouts, int multi)
{
    if (!f->obj[0] || !td_is_tensor(f->obj[0])) return;
    PyTensor *self = (PyTensor *)f->obj[0], *base = self->base ? self->base : self;
    for (int k = 0; k < nouts; k++) {
        PyTensor *p = (PyTensor *)outs[k];
        if (p->t->storage != self->t->storage || p == self || p->base) continue;
        p->base = (PyTensor *)Py_NewRef((PyObject *)base);
        p->node_version = td_version_of(p->t);
        p->creation = multi ? TD_VIEW_MULTI : td_here.inference_mode ? TD_VIEW_INFERENCE : td_here.grad_mode ? TD_VIEW_PLAIN : TD_VIEW_NO_GRAD;
        if (self->creation != TD_VIEW_PLAIN && p->creation == TD_VIEW_PLAIN) p->creation = self->creation;
    }
}

static int set_requires_grad(td_frame *f, PyObject **outs, int nouts)
{
    if (td_here.inference_mode)
        for (int k = 0; k < nouts; k++)
            if (td_is_tensor(outs[k]) && !(f->schema->flags & TD_F_VIEW) && outs[k] != f->obj[0]) TD_T(outs[k])->flags |= TD_FLAG_INFERENCE;
    if (f->requires_grad != Py_True || !nouts) return 0;
    PyObject *done = PyObject_CallMethod(outs[0], "requires_grad_", NULL);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

/* a composite may answer with something else (nonzero(as_tuple=True)), which no out= can take */
static int all_tensors(const td_schema *schema, PyObject **outs, int n)
{
    for (int k = 0; k < n; k++) {
        if (!outs[k]) return -1;
        if (td_is_tensor(outs[k])) continue;
        PyErr_Format(PyExc_RuntimeError, "%s() gives a %R here, which out= cannot take; leave out= away", schema->op.name, Py_TYPE(outs[k]));
        return -1;
    }
    return 0;
}

/* ---- the whole below the override layer ---- */
/* The value goes into self by copy_, which records. Its formulas may have saved self as it was: they get a copy. */
static PyObject *run_composite_inplace(td_frame *f)
{
    PyObject *self = f->obj[0];
    PyObject *before = f->any_grad && td_here.grad_mode ? PyObject_CallMethod(self, "clone", NULL) : Py_NewRef(self);
    PyObject *args = before ? arguments_tuple(f) : NULL;
    if (args) PyTuple_SetItem(args, 0, Py_NewRef(before));
    PyObject *made = call_implementation(f, args);
    Py_XDECREF(before);
    if (!made || made == before) return made ? (Py_DECREF(made), Py_NewRef(self)) : NULL;
    PyObject *done = NULL;
    if (!td_is_tensor(made) || td_check_cast(f->schema->op.name, (td_dtype)TD_T(made)->dtype, (td_dtype)TD_T(self)->dtype) == 0)
        done = PyObject_CallMethod(self, "copy_", "O", made);
    Py_DECREF(made);
    return done;
}

static PyObject *run_composite(td_frame *f)
{
    if (f->inplace) return run_composite_inplace(f);
    PyObject *made = call_implementation(f, arguments_tuple(f));
    int n = f->schema->nreturns;
    int unnamed = made && n > 1 && f->schema->return_names[0] && PyTuple_CheckExact(made) && PyTuple_Size(made) == n;
    if (!made || (!f->out && !unnamed)) return made;
    PyObject *outs[TD_MAX_OUTS];
    for (int k = 0; k < n; k++) outs[k] = n == 1 ? Py_NewRef(made) : PySequence_GetItem(made, k);
    Py_DECREF(made);
    int placed = !f->out ? 0 : all_tensors(f->schema, outs, n) < 0 ? -1 : td_place_results(f, outs, n);
    if (placed < 0) {
        for (int k = 0; k < n; k++) Py_XDECREF(outs[k]);
        return NULL;
    }
    for (int k = 0; f->out && k < n; k++) td_version_bump(TD_T(outs[k]));
    return pack_results(f->schema, outs, n);
}

static PyObject *finish_list(td_frame *f, Node *n, PyObject *list) /* Tensor[] or a value that is no tensor */
{
    if (f->schema->other_result) {
        Py_XDECREF((PyObject *)n);
        return list;
    }
    PyObject *tuple = PySequence_Tuple(list);
    Py_DECREF(list);
    int count = tuple ? (int)PyTuple_Size(tuple) : 0;
    PyObject **outs = tuple ? PyMem_Malloc(sizeof *outs * (size_t)(count + 1)) : NULL;
    if (!outs) return Py_XDECREF((PyObject *)n), Py_XDECREF(tuple), tuple ? PyErr_NoMemory() : NULL;
    for (int i = 0; i < count; i++) outs[i] = PyTuple_GetItem(tuple, i);
    if (f->schema->flags & TD_F_VIEW) set_views(f, outs, count, 1);
    if (n && td_record_finish(f, n, outs, count) < 0) Py_CLEAR(tuple);
    if (tuple && td_custom_has_autograd(f->schema) && td_custom_record(f, &tuple, 1) < 0) Py_CLEAR(tuple);
    PyMem_Free(outs);
    if (tuple && f->schema->custom) Py_SETREF(tuple, PySequence_List(tuple)); /* the annotation says list */
    return tuple;
}

static int finish_custom(td_frame *f, PyObject **outs, int nouts)
{
    if (td_custom_has_autograd(f->schema)) return td_custom_record(f, outs, nouts);
    return f->schema->flags & TD_F_MUTATES ? td_record_written(f) : 0;
}

PyObject *td_run(td_frame *f)
{
    if (f->schema->kind == TD_KIND_COMPOSITE) {
        PyObject *made = td_check_out(f) < 0 ? NULL : run_composite(f);
        if (made && f->requires_grad == Py_True && set_requires_grad(f, &made, 1) < 0) Py_CLEAR(made);
        return made;
    }
    PyObject *outs[TD_MAX_OUTS] = {0}, *list = NULL;
    int nouts = 0;
    Node *n = NULL;
    if (td_check_out(f) < 0 || check_written(f) < 0 || check_devices(f) < 0 || td_record_begin(f, &n) < 0) return NULL;
    if (backend(f, outs, &nouts, &list) < 0) return Py_XDECREF((PyObject *)n), NULL;
    if (list) return finish_list(f, n, list);
    int status = f->inplace || f->out ? td_place_results(f, outs, nouts) : 0;
    if (status == 0) {
        bump_written(f);
        if (f->schema->flags & TD_F_VIEW) set_views(f, outs, nouts, f->schema->list_result);
        if (n) {
            status = td_record_finish(f, n, outs, nouts);
            n = NULL;
        }
        if (status == 0 && f->schema->custom) status = finish_custom(f, outs, nouts);
    }
    if (status == 0) status = f->requires_grad || td_here.inference_mode ? set_requires_grad(f, outs, nouts) : 0;
    Py_XDECREF((PyObject *)n);
    if (status == 0) return pack_results(f->schema, outs, nouts);
    for (int k = 0; k < nouts; k++) Py_XDECREF(outs[k]);
    return NULL;
}

/* ---- gate ---- */
static PyObject *call_override(const td_function *fn, PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static PyObject *hook;
    if (!hook) {
        PyObject *module = PyImport_ImportModule("taeda._dispatch");
        hook = module ? PyObject_GetAttrString(module, "dispatch_override") : NULL;
        Py_XDECREF(module);
        if (!hook) return NULL;
    }
    PyObject *callable = self ? PyObject_GetAttrString((PyObject *)TensorT, fn->name) : Py_XNewRef(td_function_object(fn));
    PyObject *positional = PyTuple_New(nargs + (self != NULL)), *keywords = PyDict_New(), *made = NULL;
    if (callable && positional && keywords) {
        if (self) PyTuple_SetItem(positional, 0, Py_NewRef(self));
        for (Py_ssize_t i = 0; i < nargs; i++) PyTuple_SetItem(positional, i + (self != NULL), Py_NewRef(args[i]));
        for (Py_ssize_t i = 0; kwnames && i < PyTuple_Size(kwnames); i++)
            PyDict_SetItem(keywords, PyTuple_GetItem(kwnames, i), args[nargs + i]);
        made = PyObject_CallFunctionObjArgs(hook, callable, positional, keywords, NULL);
    }
    Py_XDECREF(callable);
    Py_XDECREF(positional);
    Py_XDECREF(keywords);
    return made;
}

PyObject *td_call_entry(const td_function *fn, PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    td_frame f;
    td_frame_open(&f);
    f.inplace = fn->is_inplace;
    if (td_parse(&f, fn, self, args, nargs, kwnames) < 0) return NULL;
    PyObject *made;
    if (f.out && !td_is_exact(f.out) && !PyTuple_Check(f.out) && !PyList_Check(f.out) && td_is_tensor(f.out)) f.overridden = 1;
    int mode = td_here.layers & ~td_here.excluded & (TD_LAYER_FUNCTION_MODE | TD_LAYER_TRANSFORM | TD_LAYER_AUTOCAST);
    if (mode || (f.overridden && !(td_here.excluded & TD_LAYER_OVERRIDE))) made = call_override(fn, self, args, nargs, kwnames);
    else made = td_run(&f);
    td_frame_close(&f);
    return made;
}

PyObject *td_apply(const td_function *fn, int n, PyObject *const *args) { return td_call_entry(fn, NULL, args, n, NULL); }

/* call_backend(op text, arguments): run the kernel of an op below every layer; for tracers and dispatch modes */
PyObject *td_call_backend(PyObject *m, PyObject *args)
{
    const char *text;
    PyObject *values;
    if (!PyArg_ParseTuple(args, "sO!", &text, &PyTuple_Type, &values)) return NULL;
    td_schema *s = td_find_schema(text);
    if (!s) return PyErr_Format(PyExc_ValueError, "the op table has no '%s'", text);
    td_frame f;
    td_frame_open(&f);
    td_function single = {s->op.name, s->namespace_, "", &s, 1, 1, 0, 0, NULL};
    PyObject *items[TD_MAX_ARGS];
    Py_ssize_t n = PyTuple_Size(values);
    if (n != s->nparams) return PyErr_Format(PyExc_TypeError, "%s takes %d arguments, got %zd", text, s->nparams, n);
    f.function = &single;
    f.schema = s;
    f.call.op = &s->op;
    f.call.nargs = s->nparams;
    f.call.nout = s->nreturns;
    memset(f.call.out, 0, sizeof f.call.out);
    f.call.outs = NULL;
    for (int k = 0; k < n; k++) {
        items[k] = PyTuple_GetItem(values, k);
        int status = td_bind(&f, k, items[k]);
        if (status == 0 && s->params[k].type == TD_T_TENSOR && td_is_number(items[k])) status = td_bind_number(&f, k, items[k]);
        if (status == 1) continue;
        td_frame_close(&f);
        return status < 0 ? NULL : PyErr_Format(PyExc_TypeError, "%s: argument '%s' got %R", text, s->params[k].name, Py_TYPE(items[k]));
    }
    PyObject *outs[TD_MAX_OUTS] = {0}, *list = NULL, *made = NULL;
    int nouts = 0, status = 0;
    if (status == 0) status = run_kernel(&f, outs, &nouts, &list);
    if (status == 0) made = list ? list : pack_results(s, outs, nouts);
    td_frame_close(&f);
    return made;
}

/* ---- number slots: a + b without the parser ---- */
PyObject *td_slot_binary(const td_function *fn, td_schema *s, PyObject *a, PyObject *b)
{
    PyObject *const args[] = {a, b};
    if (td_here.layers & ~td_here.excluded) return td_call_entry(fn, NULL, args, 2, NULL);
    td_frame f;
    td_frame_open(&f);
    f.function = fn;
    f.schema = s;
    f.call.op = &s->op;
    f.call.nargs = s->nparams;
    f.call.nout = s->nreturns;
    f.call.out[0] = NULL;
    f.call.outs = NULL;
    PyObject *made = NULL;
    for (int k = 0; k < 2; k++) {
        int status = td_is_tensor(args[k]) ? td_bind(&f, k, args[k]) : td_is_number(args[k]) ? td_bind_number(&f, k, args[k]) : 0;
        if (status == 1) continue;
        td_frame_close(&f);
        if (status < 0) return NULL;
        Py_RETURN_NOTIMPLEMENTED;
    }
    for (int k = 2; k < s->nparams; k++) {
        f.obj[k] = NULL;
        f.call.args[k] = s->params[k].value;
    }
    if (f.overridden && !(td_here.excluded & TD_LAYER_OVERRIDE)) made = call_override(fn, NULL, args, 2, NULL);
    else made = td_run(&f);
    td_frame_close(&f);
    return made;
}

/* ---- entry points ---- */
#define TD_ENTRY(g)                                                                                                      \
    static PyObject *td_call_function_##g(PyObject *m, PyObject *const *a, Py_ssize_t n, PyObject *k)                    \
    {                                                                                                                    \
        return td_call_entry(&td_functions[g], NULL, a, n, k);                                                           \
    }                                                                                                                    \
    static PyObject *td_call_method_##g(PyObject *s, PyObject *const *a, Py_ssize_t n, PyObject *k)                      \
    {                                                                                                                    \
        return td_call_entry(&td_functions[g], s, a, n, k);                                                              \
    }
typedef PyObject *(*td_fast)(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);
typedef struct td_entry { td_fast function, method; } td_entry;
#include "entries.gen.h"

static PyObject **function_objects;
PyObject *td_function_object(const td_function *f) { return f->object ? f->object : function_objects[f - td_functions]; }

/* {"": {"add": <function>}, "nn": {...}}: what the package's namespaces are filled from */
PyObject *td_function_tables(void)
{
    PyMethodDef *defs = PyMem_Calloc((size_t)td_function_count + 1, sizeof *defs);
    function_objects = PyMem_Calloc((size_t)td_function_count + 1, sizeof *function_objects);
    PyObject *tables = PyDict_New(), *module = PyUnicode_FromString("taeda");
    if (!defs || !function_objects || !tables || !module) return PyErr_NoMemory();
    for (int i = 0; i < td_function_count; i++) {
        const td_function *f = &td_functions[i];
        PyObject *table = PyDict_GetItemString(tables, f->namespace_);
        if (!table) {
            if (!(table = PyDict_New()) || PyDict_SetItemString(tables, f->namespace_, table) < 0) return NULL;
            Py_DECREF(table);
        }
        defs[i] = (PyMethodDef){f->name, (PyCFunction)(void (*)(void))td_entries[i].function, METH_FASTCALL | METH_KEYWORDS, f->doc};
        if (!(function_objects[i] = PyCFunction_NewEx(&defs[i], NULL, module))) return NULL;
        if (f->is_function && PyDict_SetItemString(table, f->name, function_objects[i]) < 0) return NULL;
    }
    Py_DECREF(module);
    return tables;
}

PyMethodDef *td_entry_methods(void)
{
    PyMethodDef *defs = PyMem_Calloc((size_t)td_function_count + 256, sizeof *defs);
    int n = 0;
    for (int i = 0; defs && i < td_function_count; i++)
        if (td_functions[i].is_method)
            defs[n++] = (PyMethodDef){td_functions[i].name, (PyCFunction)(void (*)(void))td_entries[i].method, METH_FASTCALL | METH_KEYWORDS,
                                      td_functions[i].doc};
    for (PyMethodDef *own = td_tensor_methods(); defs && own->ml_name; own++) defs[n++] = *own;
    return defs;
}

/* ---- loops of pointwise ops, found by name ---- */
static int by_loop(const void *a, const void *b) { return strcmp((*(td_schema *const *)a)->op.loop, (*(td_schema *const *)b)->op.loop); }
void td_load_loops(void)
{
    td_schema **sorted = PyMem_Malloc(sizeof *sorted * (size_t)(td_schema_count + 1));
    int n = 0;
    for (int i = 0; sorted && i < td_schema_count; i++)
        if (td_schemas[i].kind == TD_KIND_POINTWISE) sorted[n++] = &td_schemas[i];
    if (!sorted) return;
    qsort(sorted, (size_t)n, sizeof *sorted, by_loop);
    for (const td_loop_entry *const *table = td_loop_tables(); *table; table++)
        for (const td_loop_entry *e = *table; e->name; e++) {
            int lo = 0, hi = n;
            while (lo < hi) {
                int mid = (lo + hi) / 2;
                if (strcmp(sorted[mid]->op.loop, e->name) < 0) lo = mid + 1;
                else hi = mid;
            }
            for (; lo < n && !strcmp(sorted[lo]->op.loop, e->name); lo++) sorted[lo]->op.loops[e->dtype] = e->loop;
        }
    PyMem_Free(sorted);
}
