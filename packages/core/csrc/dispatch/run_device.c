/* run_device.c - the kernel of a call on a device that is neither cpu nor meta. The first of these
 * that there is:
 *
 *   a kernel that was defined at run time for this device, for all devices with memory, or for any
 *   a function registered for the row and the type of device (td_op_register)
 *   the row's own C function, if it is elementwise or says device="any": it reaches elements
 * through the device's table only
 *   the row's function in Python, if it says device="any": it is made of other rows
 *   a library's function, if `taeda._cuda` has one for the row: CuPy's, on a CUDA device
 *   the row's C function on the host, if it makes a tensor from numbers alone; the result is moved
 *   the row's function on the host with copies of the tensors, if TAEDA_CUDA_FALLBACK=cpu asks for
 * it; the first call of an op warns
 *   NotImplementedError: the row's own words if it refuses tensors without a device alike
 */
#include "dispatch/accesses.h"
#include "dispatch/custom.h"
#include "runtime/streams.h"
#include "runtime/device.h"
#include "runtime/work.h"
#include "runtime/thread_local.h"

td_device td_find_elsewhere(const td_frame *f)
{
    td_device asked = f->schema->flags & TD_F_FACTORY ? td_here.default_device : TD_CPU;
    for (int k = 0; k < f->schema->nparams; k++) {
        const td_arg *a = &f->call.args[k];
        td_device d = TD_CPU;
        if (a->kind == TD_ARG_TENSOR) d = a->tensor->device;
        else if (a->kind == TD_ARG_TENSORS && a->n) d = td_common_device((int)a->n, a->tensors);
        else if (a->kind == TD_ARG_DEVICE) asked = (td_device)a->i;
        if (d > TD_META) return d;
    }
    return asked > TD_META ? asked : TD_CPU;
}

static int has_tensors(const td_frame *f)
{
    for (int k = 0; k < f->schema->nparams; k++)
        if (f->call.args[k].kind == TD_ARG_TENSOR || f->call.args[k].kind == TD_ARG_TENSORS)
            return 1;
    return 0;
}

/* ---- made on the host, then moved ---- */
static td_status move_result(td_tensor **out, td_device device)
{
    td_tensor *made = *out, *moved;
    td_status status = td_tensor_empty_strided(&moved, (td_dtype)made->dtype, device, made->ndim,
                                               made->sizes, made->strides);
    if (status != TD_OK) return status;
    if ((status = td_copy(moved, made)) != TD_OK) return td_tensor_free(moved), status;
    td_tensor_free(made);
    *out = moved;
    return TD_OK;
}

/* The same for numbers that the arguments say alone: nothing waits, and a graph may hold it. */
static td_status send_result(td_tensor **out, td_device device)
{
    td_tensor *made = *out, *sent;
    if (!td_is_contiguous(made)) return move_result(out, device);
    TD_TRY(td_sent_constant(&sent, made, device));
    td_tensor_free(made);
    *out = sent;
    return TD_OK;
}

/* of the call that runs below: an implementation has no room for more arguments */
static TD_THREAD_LOCAL td_device target;
static TD_THREAD_LOCAL bool drawn; /* its results are random */

static td_status on_host(td_call *call)
{
    td_device device = target;
    bool random = drawn;
    uint8_t usual = td_here.default_device;
    for (int k = 0; k < call->nargs; k++)
        if (call->args[k].kind == TD_ARG_DEVICE) call->args[k].i = TD_CPU;
    td_here.default_device = TD_CPU;
    td_status status = call->op->impl(call);
    td_here.default_device = usual;
    for (int k = 0; k < call->nout && status == TD_OK; k++)
        if (call->out[k] && call->out[k]->device == TD_CPU)
            status = (random ? move_result : send_result)(&call->out[k], device);
    return status;
}

/* ---- on the host, with copies of what lies elsewhere: where the user asked for it ---- */
static _Thread_local const td_schema *running; /* of the call that runs below */

typedef struct lent { /* arguments as they were, and the copies that stand for them */
    td_arg own[TD_MAX_ARGS];
    td_tensor **lists[TD_MAX_ARGS];
    uint8_t default_device;
} lent;

static td_status lend_one(td_tensor **t)
{
    return *t && (*t)->device != TD_CPU ? td_to_host(t, *t) : *t ? td_tensor_alias(t, *t) : TD_OK;
}

static void take_back(td_call *call, lent *l)
{
    for (int k = 0; k < call->nargs; k++) {
        td_arg *a = &call->args[k];
        if (a->kind == TD_ARG_TENSOR && a->tensor != l->own[k].tensor) td_tensor_free(a->tensor);
        for (int64_t i = 0; l->lists[k] && i < a->n; i++) td_tensor_free(l->lists[k][i]);
        free(l->lists[k]);
        *a = l->own[k];
    }
    td_here.default_device = l->default_device;
}

static td_status lend(td_call *call, lent *l)
{
    *l = (lent){.default_device = td_here.default_device};
    memcpy(l->own, call->args, sizeof l->own);
    td_here.default_device = TD_CPU;
    td_status status = TD_OK;
    for (int k = 0; k < call->nargs && status == TD_OK; k++) {
        td_arg *a = &call->args[k];
        if (a->kind == TD_ARG_DEVICE) a->i = TD_CPU;
        if (a->kind == TD_ARG_TENSOR) {
            td_tensor *copy = a->tensor;
            if ((status = lend_one(&copy)) == TD_OK) a->tensor = copy;
        }
        if (a->kind != TD_ARG_TENSORS) continue;
        l->lists[k] = calloc((size_t)a->n + 1, sizeof(td_tensor *));
        if (!l->lists[k])
            status =
                td_fail(TD_MEMORY_ERROR, "no memory for a list of %lld tensors", (long long)a->n);
        for (int64_t i = 0; i < a->n && status == TD_OK; i++) {
            td_tensor *copy = a->tensors[i];
            if ((status = lend_one(&copy)) == TD_OK) l->lists[k][i] = copy;
        }
        if (l->lists[k]) a->tensors = l->lists[k];
    }
    if (status != TD_OK) take_back(call, l);
    return status;
}

/* What the function wrote into copies goes to the arguments. */
static td_status give_written(td_call *call, const lent *l)
{
    td_status status = TD_OK;
    for (int k = 0; k < call->nargs && status == TD_OK; k++) {
        const td_arg *a = &call->args[k], *own = &l->own[k];
        if (!(running->params[k].flags & TD_P_MUTATED)) continue;
        if (a->kind == TD_ARG_TENSOR && own->tensor->device != TD_CPU)
            status = td_copy(own->tensor, a->tensor);
        for (int64_t i = 0; a->kind == TD_ARG_TENSORS && i < a->n && status == TD_OK; i++)
            if (own->tensors[i] && own->tensors[i]->device != TD_CPU)
                status = td_copy(own->tensors[i], a->tensors[i]);
    }
    return status;
}

/* the argument whose copy the function answered with, or -1 */
static int answered_with(const td_call *call, const td_tensor *t)
{
    for (int k = 0; k < call->nargs; k++)
        if (call->args[k].kind == TD_ARG_TENSOR && call->args[k].tensor == t) return k;
    return -1;
}

static td_status move_results(td_call *call, const lent *l, td_tensor *given, td_device device)
{
    td_status status = TD_OK;
    for (int k = 0; k < call->nout; k++) {
        td_tensor **out = call->outs ? &call->outs[k] : &call->out[k];
        int argument = *out ? answered_with(call, *out) : -1;
        if (argument >= 0) *out = l->own[argument].tensor;
        else if (*out && status == TD_OK && (*out)->device == TD_CPU)
            status = move_result(out, device);
    }
    if (status == TD_OK && given && call->nout && call->out[0] != given) {
        status = td_copy(given, call->out[0]);
        td_tensor_free(call->out[0]);
        call->out[0] = given;
    }
    return status;
}

static td_status on_host_copies(td_call *call)
{
    td_device device = target;
    td_tensor *given = call->out[0];
    lent l;
    TD_TRY(lend(call, &l));
    call->out[0] = NULL;
    td_status status = call->op->impl(call);
    if (status == TD_OK) status = give_written(call, &l);
    if (status == TD_OK) status = move_results(call, &l, given, device);
    else
        for (int k = 0; k < TD_MAX_OUTS; k++) /* a copy, freed below */
            if (call->out[k] && answered_with(call, call->out[k]) >= 0) call->out[k] = NULL;
    take_back(call, &l);
    return status;
}

/* A row in Python gets the copies as its arguments. */
static PyObject *moved_object(PyObject *o, td_device device) /* takes o over */
{
    if (!o || !td_is_tensor(o) || TD_T(o)->device != TD_CPU) return o;
    td_tensor *t = NULL;
    td_status status = td_tensor_alias(&t, TD_T(o));
    Py_DECREF(o);
    if (status == TD_OK && (status = move_result(&t, device)) == TD_OK) return td_wrap(t);
    td_tensor_free(t);
    return td_raise(status);
}

static int python_on_host_copies(td_frame *f, int slot, td_device device, td_made *made)
{
    lent l;
    td_status status = lend(&f->call, &l);
    if (status != TD_OK) return td_raised(status);
    int failed = slot == TD_SLOT_BUILT_IN ? td_run_python(f, made) : td_custom_run(f, slot, made);
    if (!failed && (status = give_written(&f->call, &l))) failed = td_raised(status);
    take_back(&f->call, &l);
    for (int k = 0; k < made->n && !failed; k++)
        failed = (made->outs[k] = moved_object(made->outs[k], device)) ? 0 : -1;
    if (failed || !made->list || !PyTuple_Check(made->list)) return failed;
    PyObject *moved = PyTuple_New(PyTuple_Size(made->list));
    for (Py_ssize_t i = 0; moved && i < PyTuple_Size(made->list); i++) {
        PyObject *item = moved_object(Py_NewRef(PyTuple_GetItem(made->list, i)), device);
        if (!item) Py_CLEAR(moved);
        else PyTuple_SetItem(moved, i, item);
    }
    Py_SETREF(made->list, moved);
    return moved ? 0 : -1;
}

static int falls_back(td_device device)
{
    const char *to = td_device_type(device) == TD_CUDA ? getenv("TAEDA_CUDA_FALLBACK") : NULL;
    return to && !strcmp(to, "cpu");
}

#define MOST_OPS 4096
static int warn_once(const td_schema *s)
{
    static uint8_t rows[MOST_OPS];
    bool own = td_is_defined(s->custom); /* such have no number */
    uint8_t *warned = own ? &s->custom->warned : s->op.id < MOST_OPS ? &rows[s->op.id] : NULL;
    if (!warned || *warned) return 0;
    *warned = 1;
    char text[200];
    snprintf(text, sizeof text,
             "\"%.100s\" is computed on the cpu (TAEDA_CUDA_FALLBACK=cpu): its tensors are copied "
             "there and back",
             s->op.name);
    return PyErr_WarnEx(PyExc_UserWarning, text, 1);
}

static int run_on_copies(td_frame *f, td_device device, td_made *made)
{
    const td_schema *s = f->schema;
    int slot = s->custom ? td_custom_slot(f, TD_CPU) : TD_SLOT_BUILT_IN;
    if (slot < 0 || warn_once(s) < 0) return -1;
    f->call.slot = slot;
    target = device;
    running = s;
    bool c = slot == TD_SLOT_BUILT_IN ? s->op.impl != NULL : s->custom->native[slot].call != NULL;
    return c ? td_run_c(f, on_host_copies, made) : python_on_host_copies(f, slot, device, made);
}

/* ---- refusals ---- */
static PyObject *
reason(void) /* of the exception that is set, which is cleared; NULL if there is none */
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *text = value ? PyObject_Str(value) : NULL;
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return text;
}

/* Does the row refuse such tensors without a device in the same words? Then they say all, and no
 * other device would help. */
static int refused_anywhere(td_frame *f, PyObject *why, td_made *made)
{
    static PyObject *find;
    PyObject *function = why && td_python_function(&find, "taeda._cuda", "asked_on_meta")
                             ? PyObject_CallFunction(find, "s", f->schema->text)
                             : NULL;
    if (!function) return PyErr_Clear(), 0;
    td_run_callable(f, function, made); /* it raises, whatever the row says */
    Py_DECREF(function);
    PyObject *there = reason();
    int equal = there ? PyObject_RichCompareBool(there, why, Py_EQ) : 0;
    Py_XDECREF(there);
    return equal;
}

static int refuse(td_frame *f, td_device device, td_made *made)
{
    char text[TD_DEVICE_TEXT];
    PyObject *why = reason(), *none = PyUnicode_FromString("");
    if (!none) return Py_XDECREF(why), -1;
    if (refused_anywhere(f, why, made)) {
        PyErr_SetObject(PyExc_NotImplementedError, why);
        Py_DECREF(why);
        Py_DECREF(none);
        return -1;
    }
    PyErr_Format(PyExc_NotImplementedError,
                 "\"%s\" is not implemented for device '%s'%s%S%s; move the tensor with .cpu() "
                 "before the call%s",
                 f->schema->text, td_device_text(device, text), why ? " (" : "", why ? why : none,
                 why ? ")" : "",
                 td_device_type(device) == TD_CUDA ? ", or set TAEDA_CUDA_FALLBACK=cpu" : "");
    Py_XDECREF(why);
    Py_DECREF(none);
    return -1;
}

/* 1: nothing of this device computes the row */
static int run_here(td_frame *f, td_device device, td_made *made)
{
    const td_schema *s = f->schema;
    int slot = s->custom ? td_custom_slot(f, device) : TD_SLOT_BUILT_IN;
    if (slot < 0) return 1; /* refused, with the reason */
    if (slot != TD_SLOT_BUILT_IN) return td_custom_run(f, slot, made);
    td_impl own = s->on_device ? s->on_device[td_device_type(device)] : NULL;
    if (!own && s->op.impl && (s->kind == TD_KIND_POINTWISE || s->flags & TD_F_ANY_DEVICE))
        own = s->op.impl;
    if (!own && s->op.impl && s->flags & TD_F_FACTORY && !has_tensors(f)) {
        target = device;
        drawn = s->flags & TD_F_RANDOM;
        own = on_host;
    }
    bool python = !own && !s->op.impl && s->flags & TD_F_ANY_DEVICE;
    if (!own && !python) return 1;
    int status = python ? td_run_python(f, made) : td_run_c(f, own, made);
    return status < 0 && PyErr_ExceptionMatches(PyExc_NotImplementedError) ? 1 : status;
}

/* NotImplementedError with one reason or both, which are taken over; nothing without */
static int unable(PyObject *first, PyObject *second)
{
    if (first && second) PyErr_Format(PyExc_NotImplementedError, "%S; %S", first, second);
    else if (first || second) PyErr_SetObject(PyExc_NotImplementedError, first ? first : second);
    Py_XDECREF(first);
    Py_XDECREF(second);
    return 1;
}

/* 1: no library computes the row. An exception that is set by then is the reason so far. */
static int run_library(td_frame *f, td_device device, td_made *made)
{
    static PyObject *find;
    if (td_device_type(device) != TD_CUDA) return 1;
    PyObject *why = reason();
    PyObject *function = td_python_function(&find, "taeda._cuda", "find")
                             ? PyObject_CallFunction(find, "s", f->schema->text)
                             : NULL;
    int status = !function ? -1 : function == Py_None ? 1 : td_run_callable(f, function, made);
    Py_XDECREF(function);
    if (status == 1) return unable(why, NULL);
    if (status < 0 && PyErr_ExceptionMatches(PyExc_NotImplementedError))
        return unable(why, reason());
    Py_XDECREF(why);
    return status;
}

static int run(td_frame *f, td_device device, td_made *made)
{
    int status = run_here(f, device, made);
    if (status > 0) status = run_library(f, device, made);
    if (status <= 0) return status;
    if (!falls_back(device)) return refuse(f, device, made);
    PyErr_Clear();
    return run_on_copies(f, device, made);
}

int td_run_on_device(td_frame *f, td_device device, td_made *made)
{
    const char *outer = td_running; /* of a composite, whose parts come here, too */
    td_running = f->schema->op.name;
    int64_t number = td_order_next();
    int status = run(f, device, made);
    if (td_recorded && !status) td_tell_recorded(f, td_device_index(device), made);
    td_running = outer;
    return number && !status ? td_tell_accesses(f, made, number) : status;
}
