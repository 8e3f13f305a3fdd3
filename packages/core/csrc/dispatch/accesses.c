/* accesses.c - which memory a call read and wrote, by its schema. */
#include "dispatch/accesses.h"
#include "runtime/device.h"
#include "runtime/streams.h"

/* (parameter, written?, device, stream, memory, its bytes, first element, bytes of one, sizes,
 * strides in bytes) */
static PyObject *access_of(const td_tensor *t, const char *name, int written)
{
    PyObject *sizes = PyTuple_New(t->ndim), *strides = PyTuple_New(t->ndim);
    int64_t bytes = (int64_t)td_itemsize((td_dtype)t->dtype);
    for (int d = 0; sizes && strides && d < t->ndim; d++) {
        PyTuple_SetItem(sizes, d, PyLong_FromLongLong(t->sizes[d]));
        PyTuple_SetItem(strides, d, PyLong_FromLongLong(t->strides[d] * bytes));
    }
    int ordinal = td_device_index((td_device)t->device);
    return Py_BuildValue("(sOiKKLKLNN)", name, written ? Py_True : Py_False, ordinal,
                         (unsigned long long)(uintptr_t)td_device_stream((td_device)t->device),
                         (unsigned long long)(uintptr_t)t->storage->data,
                         (long long)t->storage->nbytes,
                         (unsigned long long)(uintptr_t)(t->storage->data + t->offset * bytes),
                         (long long)bytes, sizes, strides);
}

static int add(PyObject *list, const td_tensor *t, const char *name, int written)
{
    if (!t || td_device_type((td_device)t->device) != TD_CUDA || t->numel == 0) return 0;
    PyObject *made = access_of(t, name, written);
    int status = made ? PyList_Append(list, made) : -1;
    Py_XDECREF(made);
    return status;
}

static int add_arguments(PyObject *list, const td_frame *f)
{
    for (int k = 0; k < f->schema->nparams; k++) {
        const td_arg *a = &f->call.args[k];
        const td_param *p = &f->schema->params[k];
        int written = (f->inplace && k == 0) || p->flags & TD_P_MUTATED;
        if (a->kind == TD_ARG_TENSOR && add(list, a->tensor, p->name, written) < 0) return -1;
        for (int64_t i = 0; a->kind == TD_ARG_TENSORS && i < a->n; i++)
            if (add(list, a->tensors[i], p->name, written) < 0) return -1;
    }
    for (int k = 0; f->out && k < f->schema->nreturns; k++) {
        PyObject *out = td_out_item(f, k);
        if (out && td_is_tensor(out) && add(list, TD_T(out), "out", 1) < 0) return -1;
    }
    return 0;
}

/* Does the tensor lie in memory that the call was given? */
static int was_given(const td_frame *f, const td_tensor *t)
{
    for (int k = 0; k < f->schema->nparams; k++) {
        const td_arg *a = &f->call.args[k];
        if (a->kind == TD_ARG_TENSOR && a->tensor->storage == t->storage) return 1;
        for (int64_t i = 0; a->kind == TD_ARG_TENSORS && i < a->n; i++)
            if (a->tensors[i] && a->tensors[i]->storage == t->storage) return 1;
    }
    return f->out != NULL;
}

/* *fresh: results in memory of their own; *given: in memory that the call was given */
static int add_result(PyObject *list, const td_frame *f, PyObject *o, int *fresh, int *given)
{
    if (!o || !td_is_tensor(o)) return 0;
    int *count = was_given(f, TD_T(o)) ? given : fresh;
    ++*count;
    return count == given ? 0 : add(list, TD_T(o), "the result", 1);
}

static int add_results(PyObject *list, const td_frame *f, const td_made *made, int *fresh,
                       int *given)
{
    Py_ssize_t n = made->list && PyTuple_Check(made->list) ? PyTuple_Size(made->list) : 0;
    for (int k = 0; k < made->n; k++)
        if (add_result(list, f, made->outs[k], fresh, given) < 0) return -1;
    for (Py_ssize_t k = 0; k < n; k++)
        if (add_result(list, f, PyTuple_GetItem(made->list, k), fresh, given) < 0) return -1;
    return 0;
}

/* A view touches no memory, and neither does what answers with its argument. */
static int touches(const td_frame *f, int fresh, int given)
{
    int writes = !(f->schema->flags & TD_F_VIEW) &&
                 (f->inplace || f->out || f->schema->flags & TD_F_MUTATES);
    return writes || fresh || !given;
}

int td_tell_accesses(const td_frame *f, const td_made *made, int64_t number)
{
    static PyObject *worked;
    PyObject *list = PyList_New(0), *answer = NULL;
    int fresh = 0, given = 0, status = list ? 0 : -1;
    if (!status) status = add_arguments(list, f);
    if (!status) status = add_results(list, f, made, &fresh, &given);
    if (!status && touches(f, fresh, given)) {
        if (td_python_function(&worked, "taeda.cuda._sanitizer", "worked"))
            answer = PyObject_CallFunction(worked, "LsO", (long long)number, f->schema->text, list);
        status = answer ? 0 : -1;
    }
    Py_XDECREF(answer);
    Py_XDECREF(list);
    return status;
}

/* ---- what a recording keeps ---- */
static void keep_object(int ordinal, PyObject *o)
{
    if (o && td_is_tensor(o)) td_recorded(ordinal, TD_T(o)->storage);
}

void td_tell_recorded(const td_frame *f, int ordinal, const td_made *made)
{
    for (int k = 0; k < f->schema->nparams; k++) {
        const td_arg *a = &f->call.args[k];
        if (a->kind == TD_ARG_TENSOR) td_recorded(ordinal, a->tensor->storage);
        for (int64_t i = 0; a->kind == TD_ARG_TENSORS && i < a->n; i++)
            if (a->tensors[i]) td_recorded(ordinal, a->tensors[i]->storage);
    }
    for (int k = 0; f->out && k < f->schema->nreturns; k++) keep_object(ordinal, td_out_item(f, k));
    for (int k = 0; k < made->n; k++) keep_object(ordinal, made->outs[k]);
    Py_ssize_t n = made->list && PyTuple_Check(made->list) ? PyTuple_Size(made->list) : 0;
    for (Py_ssize_t k = 0; k < n; k++) keep_object(ordinal, PyTuple_GetItem(made->list, k));
}
