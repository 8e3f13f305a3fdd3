/* gradients.c - a gradient on its way to where it is added up. */
#include "dispatch/dispatch.h"
#include "backward/backward.h"

static int is_there(const OutMeta *m, const PyTensor *p)
{
    return p->t->device == m->device || td_claimed_device(p) == m->device;
}

int td_gradient_fits(const OutMeta *m, PyObject *grad)
{
    const td_tensor *t = TD_T(grad);
    return t->ndim == m->ndim && t->dtype == m->dtype && is_there(m, (PyTensor *)grad) &&
           !memcmp(t->sizes, m->sizes, (size_t)m->ndim * sizeof(int64_t));
}

/* Has the gradient only leading dimensions too many, as that of a bias? */
static int has_leading(const OutMeta *m, PyObject *grad)
{
    const td_tensor *t = TD_T(grad);
    int extra = t->ndim - m->ndim;
    return extra > 0 && t->dtype == m->dtype && is_there(m, (PyTensor *)grad) && t->numel > 0 &&
           !memcmp(t->sizes + extra, m->sizes, (size_t)m->ndim * sizeof(int64_t));
}

static PyObject *sum_leading(PyObject *grad, int extra) /* takes grad over */
{
    static const td_function *sum;
    if (!sum) sum = td_find_function("", "sum");
    PyObject *dims = PyTuple_New(extra), *made = NULL;
    for (int i = 0; dims && i < extra; i++) PyTuple_SetItem(dims, i, PyLong_FromLong(i));
    if (dims && sum) made = td_apply(sum, 2, (PyObject *const[]){grad, dims});
    Py_XDECREF(dims);
    Py_DECREF(grad);
    return made;
}

PyObject *td_fit_gradient(const Node *from, int index, const OutMeta *m, PyObject *grad)
{
    if (td_gradient_fits(m, grad)) return grad;
    if (has_leading(m, grad)) return sum_leading(grad, TD_T(grad)->ndim - m->ndim);
    PyObject *call = td_engine_helper("fit_gradient"), *made = NULL;
    if (call) {
        PyObject *size = td_size_object(m->ndim, m->sizes),
                 *dtype = td_dtype_object((td_dtype)m->dtype),
                 *device = td_device_object((td_device)m->device);
        PyObject *number = PyLong_FromLong(index);
        if (size && device && number)
            made = PyObject_CallFunctionObjArgs(call, grad, size, dtype, device,
                                                from ? (PyObject *)from : Py_None, number, NULL);
        Py_XDECREF(size);
        Py_XDECREF(dtype);
        Py_XDECREF(device);
        Py_XDECREF(number);
    }
    Py_XDECREF(call);
    Py_DECREF(grad);
    return made;
}

PyObject *td_add_into(PyObject *sum, PyObject *grad)
{
    static const td_function *add_;
    if (!add_ && !(add_ = td_find_function("", "add_")))
        return PyErr_Format(PyExc_RuntimeError, "the op table has no add_");
    PyObject *args[] = {sum, grad};
    return td_apply(add_, 2, args);
}
