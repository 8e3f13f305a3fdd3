/* run_kernel.c - the kernel of a call, below every layer: in C, in Python, or of an operator
 * defined at run time. */
#include "dispatch/custom.h"
#include "dispatch/noted.h"
#include "runtime/device.h"

#define SIGN_BITS (TD_FLAG_CONJ | TD_FLAG_NEG)

/* the tensors of one argument: how many, and where their handles stand */
static int tensors_of(td_arg *a, td_tensor ***first)
{
    *first = a->kind == TD_ARG_TENSORS ? a->tensors : &a->tensor;
    return a->kind == TD_ARG_TENSORS ? (int)a->n : a->kind == TD_ARG_TENSOR;
}

typedef struct stand_in { /* for an argument that is written */
    td_tensor *own, *plain;
} stand_in;

static int make_plain(td_frame *f, td_tensor **out, const td_tensor *t, bool written)
{
    td_status status = written && td_has_zero_stride(t) ? td_fail_overlap_within() : TD_OK;
    if (!status) status = td_tensor_empty_like(out, t, (td_dtype)t->dtype);
    if (status) return td_raised(status);
    td_frame_temp(f, *out);
    if (!td_is_meta(*out) && (status = td_copy(*out, t))) return td_raised(status);
    return 0;
}

/* Kernels read and write memory as it is: a copy without conj and neg bits takes the place of every
 * argument that has some. Returns how many of those are written, or -1. */
static int64_t resolve_bits(td_frame *f, stand_in *written)
{
    int64_t count = 0;
    for (int k = 0; k < f->schema->nparams; k++) {
        td_tensor **t, *plain;
        int n = tensors_of(&f->call.args[k], &t),
            mutated = f->schema->params[k].flags & TD_P_MUTATED;
        for (int i = 0; i < n; i++) {
            if (!t[i] || !(t[i]->flags & SIGN_BITS)) continue;
            if (make_plain(f, &plain, t[i], mutated) < 0) return -1;
            if (mutated) written[count++] = (stand_in){t[i], plain};
            t[i] = plain;
        }
    }
    return count;
}

/* ---- in C ---- */
static int is_argument(const td_call *call, const td_tensor *t)
{
    for (int k = 0; k < call->nargs; k++)
        if (call->args[k].kind == TD_ARG_TENSOR && call->args[k].tensor == t) return 1;
    return 0;
}

/* after a failure; what is an argument (an in-place op names it before it fails) belongs to the
 * caller */
static void drop_outs(td_call *call, int given)
{
    for (int k = given; k < call->nout && k < TD_MAX_OUTS; k++) {
        if (!is_argument(call, call->out[k])) td_tensor_free(call->out[k]);
        call->out[k] = NULL;
    }
}

/* a Tensor[] result: wrap each, free the array */
static int take_list(td_frame *f, td_status status, PyObject **list)
{
    int n = f->call.nout;
    *list = status ? NULL : PyTuple_New(n);
    for (int i = 0; i < n; i++) {
        td_tensor *t = f->call.outs[i];
        /* NULL: an extension's kernel may leave entries of Tensor?[] out */
        PyObject *o = !*list ? NULL : t ? td_wrap(t) : Py_NewRef(Py_None);
        if (!*list) td_tensor_free(t);
        else if (!o) Py_CLEAR(*list);
        else PyTuple_SetItem(*list, i, o);
    }
    free(f->call.outs);
    f->call.outs = NULL;
    if (status) return td_raised(status);
    return *list ? 0 : -1;
}

/* an implementation may answer with its argument itself (contiguous of a contiguous tensor) */
static PyObject *argument_of(const td_frame *f, const td_tensor *t)
{
    for (int k = 0; k < f->schema->nparams; k++)
        if (f->call.args[k].kind == TD_ARG_TENSOR && f->call.args[k].tensor == t && f->obj[k] &&
            td_is_tensor(f->obj[k]))
            return f->obj[k];
    return NULL;
}

static int fits_broadcast(const td_frame *f, const td_tensor *t)
{
    int64_t sizes[TD_MAX_DIMS];
    int ndim = 0;
    for (int k = 0; k < f->schema->nparams; k++) {
        const td_arg *a = &f->call.args[k];
        if (a->kind == TD_ARG_TENSOR &&
            td_broadcast(ndim, sizes, a->tensor->ndim, a->tensor->sizes, &ndim, sizes))
            return 0;
    }
    return ndim == t->ndim && !memcmp(sizes, t->sizes, sizeof(int64_t) * (size_t)ndim);
}

static int is_temp(const td_frame *f,
                   const td_tensor *t) /* a copy of an argument, made for this call */
{
    for (int i = 0; i < f->ntemps; i++)
        for (const td_tensor *temp = f->temps[i]; temp; temp = temp->next)
            if (temp == t) return 1;
    return 0;
}

/* The object that the first result can be written into directly, or NULL: self, or an out= of the
 * shape that is coming. */
static PyObject *target(td_frame *f, td_tensor **handle)
{
    const td_schema *s = f->schema;
    PyObject *o = NULL;
    if (!s->op.writes_out) return NULL;
    if (f->inplace) {
        *handle = f->call.args[0].tensor;
        if (!is_temp(f, *handle)) o = f->obj[0];
    } else if (f->out && s->nreturns == 1 && s->kind == TD_KIND_POINTWISE &&
               fits_broadcast(f, TD_T(td_out_item(f, 0)))) {
        o = td_out_item(f, 0);
        /* the result is made elsewhere, and copied */
        if (!(*handle = td_frame_pin(f, o))) PyErr_Clear(), o = NULL;
    }
    return o && !((*handle)->flags & SIGN_BITS) ? o : NULL;
}

static PyObject *result(td_frame *f, int k) /* new reference */
{
    int alias = f->schema->return_alias[k];
    td_tensor *t = f->call.out[k];
    f->call.out[k] = NULL;
    PyObject *written = alias >= 0 ? f->obj[alias] : NULL; /* NULL: an optional one, left out */
    /* self, which may have got another shape (t_) */
    if (written && (td_is_exact(written) || td_is_tensor(written))) {
        if (t && !is_argument(&f->call, t)) td_publish(written, t);
        return Py_NewRef(written);
    }
    if (!t) return Py_NewRef(Py_None); /* one that was not asked for (output_mask) */
    PyObject *same = argument_of(f, t);
    return same ? Py_NewRef(same) : td_wrap(t);
}

static inline int run_c(td_frame *f, td_impl impl, td_made *made)
{
    td_tensor *handle;
    PyObject *given = target(f, &handle);
    if (given) f->call.out[0] = handle;
    td_status status = impl(&f->call);
    if (f->call.pinned && !status) status = td_device_pin(TD_CUDA, f->call.out[0]);
    if (f->call.outs) return take_list(f, status, &made->list);
    if (status) return drop_outs(&f->call, given != NULL), td_raised(status);
    for (int k = 0; k < f->call.nout; k++) {
        if (!(made->outs[k] = k == 0 && given ? Py_NewRef(given) : result(f, k)))
            return drop_outs(&f->call, k + 1), -1;
        made->n++;
    }
    return 0;
}

int td_run_c(td_frame *f, td_impl impl, td_made *made) { return run_c(f, impl, made); }

static inline int run_plain(td_frame *f, td_made *made)
{
    td_device elsewhere = td_device_elsewhere(f);
    if (elsewhere > TD_META) return td_run_on_device(f, elsewhere, made);
    int slot = f->schema->custom ? td_custom_slot(f, TD_CPU) : TD_SLOT_BUILT_IN;
    if (slot < 0) return -1;
    if (slot != TD_SLOT_BUILT_IN) return td_custom_run(f, slot, made);
    return f->schema->op.impl ? run_c(f, f->schema->op.impl, made) : td_run_python(f, made);
}

static int64_t count_written(td_frame *f) /* at most */
{
    int64_t count = 0;
    td_tensor **first;
    for (int k = 0; k < f->schema->nparams; k++)
        if (f->schema->params[k].flags & TD_P_MUTATED)
            count += tensors_of(&f->call.args[k], &first);
    return count;
}

static int run_on(td_frame *f, stand_in *written, td_made *made)
{
    int64_t count = resolve_bits(f, written);
    if (count < 0 || run_plain(f, made) < 0) return -1;
    for (int64_t i = 0; i < count; i++) {
        td_status status = td_copy(written[i].own, written[i].plain);
        if (status) return td_raised(status);
    }
    return 0;
}

static int run_resolved(td_frame *f, td_made *made)
{
    stand_in few[TD_MAX_TEMPS], *written = few;
    int64_t most = count_written(f);
    if (most > TD_MAX_TEMPS && !(written = PyMem_Malloc((size_t)most * sizeof *written)))
        return td_no_memory(), -1;
    int status = run_on(f, written, made);
    if (written != few) PyMem_Free(written);
    return status;
}

static int run_kernel(td_frame *f, td_made *made)
{
    return !f->bits || f->schema->flags & TD_F_KEEP_CONJ ? run_plain(f, made)
                                                         : run_resolved(f, made);
}

static int drop_made(td_made *made) /* after a failure */
{
    for (int k = 0; k < made->n; k++) Py_DECREF(made->outs[k]);
    return -1;
}

/* apart: registers that it keeps would be saved by every call */
static __attribute__((noinline)) int run_noted(td_frame *f, td_made *made)
{
    const td_schema *schema = f->schema;
    int64_t start = td_noted_now();
    int status = run_kernel(f, made);
    td_noted_add(schema, start);
    return status;
}

int td_run_backend(td_frame *f, td_made *made)
{
    if (f->dispatches & TD_DISPATCHES_LAYOUT) return td_refuse_layout(f);
    uint32_t modes = td_here.layers & ~td_here.excluded & (TD_LAYER_TRACE | TD_LAYER_DISPATCH_MODE);
    int status = !(modes | f->dispatches) ? run_kernel(f, made)
                 : modes == TD_LAYER_TRACE && td_here.noting && !f->dispatches
                     ? run_noted(f, made)
                     : td_run_seen(f, made);
    return status < 0 ? drop_made(made) : 0;
}

int td_bind_all(td_frame *f, const td_function *single, td_schema *s, PyObject *values)
{
    if (PyTuple_Size(values) != s->nparams)
        return PyErr_Format(PyExc_TypeError, "%s takes %d arguments, got %zd", s->text, s->nparams,
                            PyTuple_Size(values)),
               -1;
    td_frame_open(f);
    td_frame_row(f, single, s);
    for (int k = 0; k < s->nparams; k++) {
        PyObject *value = PyTuple_GetItem(values, k);
        int status = td_bind(f, k, value);
        if (status == 0 && s->params[k].type == TD_T_TENSOR && td_is_number(value))
            status = td_bind_number(f, k, value);
        if (status == 1) continue;
        td_frame_close(f);
        if (status == 0)
            PyErr_Format(PyExc_TypeError, "%s: argument '%s' got %R", s->text, s->params[k].name,
                         Py_TYPE(value));
        return -1;
    }
    return 0;
}

/* call_backend(op text, arguments): run the kernel of an op below every layer; for tracers and
 * dispatch modes */
PyObject *td_call_backend(PyObject *m, PyObject *args)
{
    const char *text;
    PyObject *values;
    if (!PyArg_ParseTuple(args, "sO!", &text, &PyTuple_Type, &values)) return NULL;
    td_schema *s = td_find_schema(text);
    if (!s) return PyErr_Format(PyExc_ValueError, "the op table has no '%s'", text);
    td_function single = {s->op.name, s->namespace_, "", &s, 1, 1, 0, 0, NULL};
    td_frame f;
    if (td_bind_all(&f, &single, s, values) < 0) return NULL;
    td_made made = {0};
    int status = f.dispatches & TD_DISPATCHES_LAYOUT ? td_refuse_layout(&f) : run_kernel(&f, &made);
    td_frame_close(&f);
    if (status < 0) return drop_made(&made), NULL;
    return made.list ? made.list : td_pack_results(s, made.outs, made.n);
}
