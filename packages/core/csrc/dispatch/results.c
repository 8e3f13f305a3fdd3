/* results.c - results that go into given tensors: in-place forms and out=.
 *
 *   td_check_out      before the kernel: are the tensors of out= fit to be written at all?
 *   td_place_results  after it: a result made elsewhere is checked, and copied to where it is
 * wanted
 */
#include "dispatch/dispatch.h"
#include "object/forward.h"

int td_check_cast(const char *name, td_dtype from, td_dtype to)
{
    if (td_can_cast(from, to)) return 0;
    PyErr_Format(PyExc_RuntimeError,
                 "%s: result type %s can't be cast to the desired output type %s", name,
                 td_dtypes[from].type_name, td_dtypes[to].type_name);
    return -1;
}

/* kernels write what they compute; where the row allows it, the result is cast to what out= has */
static int check_dtype(const td_frame *f, td_dtype from, td_dtype to)
{
    const td_schema *s = f->schema;
    int casts = f->inplace || s->kind == TD_KIND_POINTWISE || s->kind == TD_KIND_COMPOSITE ||
                s->flags & (TD_F_CASTS_OUT | TD_F_FACTORY);
    if (!strcmp(s->op.name, "bernoulli")) return 0; /* 0 and 1 are numbers of every dtype */
    if (casts || from == to) return td_check_cast(s->op.name, from, to);
    PyErr_Format(PyExc_RuntimeError,
                 "%s(): Expected out tensor to have dtype %s, but got %s instead", s->op.name,
                 td_dtypes[from].name, td_dtypes[to].name);
    return -1;
}

static int resize_out(PyObject *target, const td_tensor *like, const char *name)
{
    const td_tensor *t = TD_T(target);
    char have[TD_SHAPE_TEXT], want[TD_SHAPE_TEXT];
    if (t->numel &&
        PyErr_WarnFormat(PyExc_UserWarning, 1,
                         "An output with one or more elements was resized since it had shape %s, "
                         "which does not match the required output shape %s of %s(). Reuse an out= "
                         "tensor by resizing it to zero elements.",
                         td_shape_text(t->ndim, t->sizes, have),
                         td_shape_text(like->ndim, like->sizes, want), name) < 0)
        return -1;
    return td_resize(target, like->ndim, like->sizes);
}

/* One of the two is computed on by __torch_dispatch__: it copies. What happened is known already,
 * so nothing is recorded. */
static int copy_dispatched(PyObject *target, PyObject *value)
{
    uint8_t was = td_here.grad_mode;
    td_here.grad_mode = 0;
    PyObject *done = td_apply(td_copy_function(), 2, (PyObject *const[]){target, value});
    td_here.grad_mode = was;
    Py_XDECREF(done);
    return done ? 0 : -1;
}

static int write_result(td_frame *f, PyObject *target, PyObject *made)
{
    const td_tensor *value = TD_T(made);
    const td_tensor *t = TD_T(target);
    const char *name = f->schema->op.name;
    char have[TD_SHAPE_TEXT], want[TD_SHAPE_TEXT];
    if (check_dtype(f, (td_dtype)value->dtype, (td_dtype)t->dtype) < 0) return -1;
    if (!td_same_shape(t, value)) {
        if (f->inplace) {
            PyErr_Format(PyExc_RuntimeError,
                         "%s_: output with shape %s doesn't match the broadcast shape %s", name,
                         td_shape_text(t->ndim, t->sizes, have),
                         td_shape_text(value->ndim, value->sizes, want));
            return -1;
        }
        if (((PyTensor *)target)->dispatches) return td_refuse_memory(target, "resize_()"), -1;
        if (resize_out(target, value, name) < 0) return -1;
    }
    if (((PyTensor *)target)->dispatches || ((PyTensor *)made)->dispatches)
        return copy_dispatched(target, made);
    td_tensor *into = td_frame_pin(f, target); /* as it is now: a warning runs Python */
    if (!into) return -1;
    if (!td_same_shape(into, value))
        return PyErr_Format(PyExc_RuntimeError,
                            "%s: the output was resized while its result was made", name),
               -1;
    if (into->device != value->device) {
        PyErr_Format(PyExc_RuntimeError,
                     "%s: the output tensor is on another device than the result", name);
        return -1;
    }
    if (td_has_zero_stride(into)) return td_raised(td_fail_overlap_within());
    if (td_is_meta(into)) return 0;
    td_status status = td_copy(into, value);
    return status ? td_raised(status) : 0;
}

static int check_item(const td_frame *f, PyObject *o)
{
    const char *name = f->schema->op.name;
    if (!o || !td_is_tensor(o)) {
        PyErr_Format(PyExc_TypeError, "%s(): argument 'out' must be %s, not %R", name,
                     f->schema->nreturns == 1 ? "Tensor" : "a tuple with one Tensor per result",
                     o ? (PyObject *)Py_TYPE(o) : (PyObject *)Py_TYPE(f->out));
        return -1;
    }
    if (!td_here.grad_mode || !(f->any_grad || td_requires_grad((PyTensor *)o))) return 0;
    PyErr_Format(PyExc_RuntimeError,
                 "%s(): functions with out=... arguments don't support automatic differentiation, "
                 "but one of the arguments requires grad.",
                 name);
    return -1;
}

/* An output may be an argument (add(x, y, out=x)) unless the row says `apart`; it never is a part
 * of one, nor is it two outputs. */
static int check_overlap(const td_frame *f, const td_tensor *out)
{
    bool apart = f->schema->flags & TD_F_APART;
    if (apart && td_has_zero_stride(out)) return td_raised(td_fail_overlap_within());
    for (int k = 0; k < f->schema->nparams; k++) {
        const td_arg *a = &f->call.args[k];
        int64_t n = a->kind == TD_ARG_TENSORS ? a->n : a->kind == TD_ARG_TENSOR;
        for (int64_t i = 0; i < n; i++) {
            const td_tensor *t = a->kind == TD_ARG_TENSORS ? a->tensors[i] : a->tensor;
            td_overlap how = t ? td_overlap_of(out, t) : TD_APART;
            if (how == TD_TANGLED || (apart && how == TD_IDENTICAL))
                return td_raised(td_fail_overlap());
        }
    }
    return 0;
}

int td_check_out(const td_frame *f)
{
    int n = f->out ? f->schema->nreturns : 0;
    if (n && td_forward_on() && td_forward.check_out(f) < 0) return -1;
    for (int k = 0; k < n; k++) {
        PyObject *o = td_out_item(f, k);
        if (check_item(f, o) < 0) return -1;
        /* those check for themselves */
        if (f->schema->kind != TD_KIND_POINTWISE && !f->dispatches && check_overlap(f, TD_T(o)) < 0)
            return -1;
        for (int j = 0; j < k && !f->dispatches; j++)
            if (td_overlap_of(TD_T(o), TD_T(td_out_item(f, j))) != TD_APART)
                return td_raised(td_fail_overlap());
    }
    return 0;
}

/* results of a kernel that knew nothing of in-place or out= go where they are wanted */
int td_place_results(td_frame *f, PyObject **outs, int nouts)
{
    for (int k = 0; k < nouts; k++) {
        PyObject *target = f->inplace && k == 0 ? f->obj[0] : td_out_item(f, k);
        if (!target || target == outs[k] || !td_is_tensor(outs[k])) continue;
        /* the kernel of a pointwise operation would have checked it */
        bool pointwise = f->schema->kind == TD_KIND_POINTWISE && td_is_tensor(target);
        if (pointwise && check_overlap(f, TD_T(target)) < 0) return -1;
        if (write_result(f, target, outs[k]) < 0) return -1;
        Py_SETREF(outs[k], Py_NewRef(target));
    }
    return 0;
}
