/* numbers.c - Python numbers to C scalars and back; tensors to Python lists. */
#include "object/py.h"
#include "runtime/device.h"
#include "object/watch.h"

int td_promoted(td_dtype a, td_dtype b)
{
    int both = td_promote(a, b);
    if (both < 0)
        PyErr_Format(PyExc_RuntimeError,
                     "Promotion for %s and %s is not supported: cast one of them first",
                     td_dtypes[a].name, td_dtypes[b].name);
    return both;
}

int td_is_number(PyObject *o)
{
    return PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o) || td_is_numpy_scalar(o);
}

bool td_is_ragged(PyObject *o)
{
    return PyLong_Check(o) && !PyLong_CheckExact(o) && PyObject_HasAttrString(o, "__ragged__");
}

static int has_no_value(PyObject *size)
{
    PyErr_Format(PyExc_TypeError,
                 "%R is the size of a ragged dimension, which stands for lengths that differ from "
                 "row to row: no number can take its place. x.offsets().diff() has the lengths",
                 size);
    return -1;
}

static int scalar_from_int(PyObject *o, td_scalar *out)
{
    if (td_is_ragged(o)) return has_no_value(o);
    int overflow;
    long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (v == -1 && !overflow && PyErr_Occurred()) return -1;
    if (overflow > 0) {
        unsigned long long u = PyLong_AsUnsignedLongLong(o);
        if (!(u == (unsigned long long)-1 && PyErr_Occurred())) {
            *out = (td_scalar){TD_S_INT, (int64_t)u, (double)u, 0};
            return 1;
        }
        PyErr_Clear();
    }
    if (overflow) {
        PyErr_Format(PyExc_RuntimeError,
                     "the integer %R does not fit 64 bits (Overflow when unpacking long)", o);
        return -1;
    }
    *out = td_scalar_int(v);
    return 1;
}

static int scalar_from_numpy(PyObject *o, td_scalar *out)
{
    PyObject *plain = PyObject_CallMethod(o, "item", NULL);
    if (!plain) return -1;
    int status =
        Py_TYPE(plain) == Py_TYPE(o) || td_is_numpy_scalar(plain) ? 0 : td_scalar_from(plain, out);
    if (status == 0) {
        PyErr_Clear();
        PyObject *f = PyNumber_Float(o); /* ml_dtypes scalars have no Python twin */
        if (f) {
            *out = td_scalar_float(PyFloat_AsDouble(f));
            status = 1;
            Py_DECREF(f);
        } else if (PyErr_ExceptionMatches(PyExc_TypeError)) PyErr_Clear(); /* no number */
        else status = -1;
    }
    Py_DECREF(plain);
    return status;
}

int td_scalar_from(PyObject *o, td_scalar *out)
{
    if (PyFloat_Check(o)) *out = td_scalar_float(PyFloat_AsDouble(o));
    else if (PyBool_Check(o)) *out = td_scalar_bool(o == Py_True);
    else if (PyLong_Check(o)) return scalar_from_int(o, out);
    else if (PyComplex_Check(o))
        *out = td_scalar_complex(PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o));
    else if (td_is_numpy_scalar(o)) return scalar_from_numpy(o, out);
    else return 0;
    return 1;
}

PyObject *td_scalar_object(const td_scalar *s)
{
    switch (s->kind) {
        case TD_S_BOOL: return PyBool_FromLong(s->i != 0);
        case TD_S_INT: return PyLong_FromLongLong(s->i);
        case TD_S_FLOAT: return PyFloat_FromDouble(s->re);
        default: return PyComplex_FromDoubles(s->re, s->im);
    }
}

static int int_from_tensor(PyObject *o, int64_t *out)
{
    const td_tensor *t = TD_T(o);
    if (t->numel != 1 || !td_is_integral((td_dtype)t->dtype) || t->dtype == TD_BOOL) return 0;
    if (((PyTensor *)o)->dispatches) {
        PyObject *item = td_item_of(o);
        *out = item ? PyLong_AsLongLong(item) : -1;
        Py_XDECREF(item);
        return PyErr_Occurred() ? -1 : 1;
    }
    if (td_is_meta(t)) return 0;
    _Alignas(16) char element[16];
    td_note_untraced("a tensor is an argument that wants a number");
    td_status status = td_element(t, element);
    if (status != TD_OK) return td_raised(status);
    *out = td_scalar_load((td_dtype)t->dtype, element).i;
    return 1;
}

int td_size_from(PyObject *o, int64_t *out)
{
    if (!td_is_ragged(o)) return td_int_from(o, out);
    *out = PyLong_AsLongLong(o);
    return *out == -1 && PyErr_Occurred() ? -1 : 1;
}

int td_int_from(PyObject *o, int64_t *out)
{
    if (PyBool_Check(o) || PyFloat_Check(o)) return 0;
    if (td_is_ragged(o)) return has_no_value(o);
    if (PyLong_Check(o)) {
        int overflow;
        *out = PyLong_AsLongLongAndOverflow(o, &overflow);
        if (!overflow) return *out == -1 && PyErr_Occurred() ? -1 : 1;
        PyErr_Format(PyExc_RuntimeError,
                     "the integer %R does not fit 64 bits (Overflow when unpacking long)", o);
        return -1;
    }
    if (td_is_tensor(o)) return int_from_tensor(o, out);
    if (!PyIndex_Check(o)) return 0;
    PyObject *plain = PyNumber_Index(o);
    if (!plain) {
        /* what a program raises there is its own */
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
        /* an object whose __index__ refuses is no int: the caller names what it wanted */
        PyErr_Clear();
        return 0;
    }
    int status = td_int_from(plain, out);
    Py_DECREF(plain);
    return status;
}

static PyObject *element_object(td_dtype dtype, const char *at)
{
    switch (dtype) {
        case TD_BOOL: return PyBool_FromLong(*(const uint8_t *)at != 0);
        case TD_I64: return PyLong_FromLongLong(*(const int64_t *)at);
        case TD_U64: return PyLong_FromUnsignedLongLong(*(const uint64_t *)at);
        case TD_F32: return PyFloat_FromDouble(*(const float *)at);
        case TD_F64: return PyFloat_FromDouble(*(const double *)at);
        default: {
            td_scalar s = td_scalar_load(dtype, at);
            return td_scalar_object(&s);
        }
    }
}

/* the conj and neg bits change the number that the memory stands for */
static PyObject *resolved(const td_tensor *t, PyObject *o)
{
    if (!o || !(t->flags & (TD_FLAG_CONJ | TD_FLAG_NEG))) return o;
    PyObject *next = o;
    if (t->flags & TD_FLAG_CONJ && PyComplex_Check(o))
        next = PyComplex_FromDoubles(PyComplex_RealAsDouble(o), -PyComplex_ImagAsDouble(o));
    else Py_INCREF(next);
    Py_DECREF(o);
    if (next && t->flags & TD_FLAG_NEG) {
        PyObject *negated = PyNumber_Negative(next);
        Py_DECREF(next);
        next = negated;
    }
    return next;
}

PyObject *td_item(const td_tensor *t)
{
    if (t->numel != 1) {
        char shape[TD_SHAPE_TEXT];
        return PyErr_Format(PyExc_RuntimeError,
                            "a Tensor with %lld elements cannot be converted to Scalar: its shape "
                            "is %s, and item() wants exactly one element",
                            (long long)t->numel, td_shape_text(t->ndim, t->sizes, shape));
    }
    if (td_is_meta(t))
        return PyErr_Format(PyExc_RuntimeError,
                            "Tensor.item() cannot be called on meta tensors: they have no values");
    if (!(t->flags & TD_FLAG_WRAPPED))
        td_note_untraced("a value is read"); /* that one was a Python number before */
    if (td_on_host(t)) return resolved(t, element_object((td_dtype)t->dtype, td_data(t)));
    _Alignas(16) char element[16];
    TD_PY(td_element(t, element));
    return resolved(t, element_object((td_dtype)t->dtype, element));
}

PyObject *td_item_of(PyObject *o)
{
    static const td_function *local;
    if (!((PyTensor *)o)->dispatches || TD_T(o)->numel != 1) return td_item(TD_T(o));
    if (!local && !(local = td_find_function("", "_local_scalar_dense")))
        return PyErr_Format(PyExc_RuntimeError, "the op table has no _local_scalar_dense");
    PyObject *made = td_dispatcher.apply(local, 1, &o);
    if (!made || PyFloat_Check(made) || PyLong_Check(made) || PyComplex_Check(made)) return made;
    PyErr_Format(
        PyExc_TypeError,
        "%R.__torch_dispatch__ answered aten._local_scalar_dense with %R where a number is wanted",
        Py_TYPE(o), Py_TYPE(made));
    Py_DECREF(made);
    return NULL;
}

static PyObject *nested(const td_tensor *t, int dim, const char *at)
{
    if (dim == t->ndim) return resolved(t, element_object((td_dtype)t->dtype, at));
    PyObject *list = PyList_New((Py_ssize_t)t->sizes[dim]);
    /* without elements there may be no memory, and no address in it */
    int64_t step = t->numel ? t->strides[dim] * td_itemsize((td_dtype)t->dtype) : 0;
    for (int64_t i = 0; list && i < t->sizes[dim]; i++) {
        PyObject *item = nested(t, dim + 1, at + i * step);
        if (!item) Py_CLEAR(list);
        else PyList_SetItem(list, (Py_ssize_t)i, item);
    }
    return list;
}

PyObject *td_tolist(PyObject *o)
{
    const td_tensor *t = TD_T(o);
    if (((PyTensor *)o)->dispatches) return td_refuse_memory(o, "tolist()");
    td_note_untraced("values are read");
    if (td_is_meta(t))
        return PyErr_Format(PyExc_NotImplementedError, "Cannot copy out of meta tensor; no data!");
    if (t->device != TD_CPU) {
        td_tensor *host;
        TD_PY(td_to_host(&host, t));
        PyObject *fetched = nested(host, 0, td_data(host));
        td_tensor_free(host);
        return fetched;
    }
    td_storage *pin = td_pin(t->storage); /* lists are made, and with them finalizers run */
    PyObject *made = nested(t, 0, td_data(t));
    td_unpin(pin);
    return made;
}
