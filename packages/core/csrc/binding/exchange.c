/* exchange.c - nested lists as tensors, and storages as objects. */
#include "object/py.h"
#include "ops/promotion.h"

/* ---- nested lists ---- */
typedef struct Survey { int64_t sizes[TD_MAX_DIMS]; int ndim; int kind; int other; } Survey; /* kind: widest td_scalar_kind seen; other: a leaf that is no plain number */

static int is_list(PyObject *o) { return PyList_Check(o) || PyTuple_Check(o); }
static Py_ssize_t length(PyObject *o) { return PyList_Check(o) ? PyList_Size(o) : PyTuple_Size(o); }
static PyObject *item(PyObject *o, Py_ssize_t i) { return PyList_Check(o) ? PyList_GetItem(o, i) : PyTuple_GetItem(o, i); }

static int leaf_kind(PyObject *o)
{
    if (PyFloat_Check(o)) return TD_S_FLOAT;
    if (PyBool_Check(o)) return TD_S_BOOL;
    if (PyLong_Check(o)) return TD_S_INT;
    return PyComplex_Check(o) ? TD_S_COMPLEX : -1;
}

static int survey(PyObject *o, int depth, Survey *s)
{
    if (!is_list(o)) {
        int kind = leaf_kind(o);
        if (depth != s->ndim) return PyErr_Format(PyExc_TypeError, "not a sequence: a %R stands where its neighbours are sequences", Py_TYPE(o)), -1;
        if (kind < 0) s->other = 1;
        else if (kind > s->kind) s->kind = kind;
        return 0;
    }
    if (depth == s->ndim)
        return PyErr_Format(PyExc_TypeError, "must be a number, not a sequence: entries at depth %d differ", depth), -1;
    if (length(o) != s->sizes[depth])
        return PyErr_Format(PyExc_ValueError, "expected sequence of length %lld at dim %d (got %zd)", (long long)s->sizes[depth], depth, length(o)), -1;
    for (Py_ssize_t i = 0; i < s->sizes[depth]; i++)
        if (survey(item(o, i), depth + 1, s) < 0) return -1;
    return 0;
}

/* a Python number as a scalar; what exceeds 64 bits is still a float where one is wanted */
static int number(PyObject *o, td_dtype dtype, td_scalar *v)
{
    int status = td_scalar_from(o, v);
    if (status >= 0 || !PyLong_Check(o)) return status;
    PyErr_Clear();
    if (td_is_integral(dtype)) return PyErr_Format(PyExc_ValueError, "Overflow when unpacking long long: %R does not fit 64 bits", o), -1;
    *v = td_scalar_float(PyLong_AsDouble(o));
    return PyErr_Occurred() ? -1 : 1;
}

static int beyond_int64(const td_scalar *v) { return v->kind == TD_S_INT && v->i < 0 && v->re > 0; }

static int store(PyObject *o, td_dtype dtype, char *at)
{
    td_scalar v;
    int status = number(o, dtype, &v);
    if (status < 0) return -1;
    if (!status) return PyErr_Format(PyExc_TypeError, "must be a number, not %S", Py_TYPE(o)), -1;
    if (v.kind == TD_S_COMPLEX && !td_is_complex(dtype) && dtype != TD_BOOL)
        return PyErr_Format(PyExc_TypeError, "must be a real number for dtype %s, not complex: %R", td_dtypes[dtype].name, o), -1;
    if (dtype == TD_I64 && beyond_int64(&v)) return PyErr_Format(PyExc_ValueError, "Overflow when unpacking long long: %R does not fit int64", o), -1;
    if (td_is_integral(dtype) && !td_scalar_fits_integer(&v, dtype))
        return PyErr_Format(PyExc_RuntimeError, "value cannot be converted to type %s without overflow: %R", td_dtypes[dtype].name, o), -1;
    td_scalar_store(&v, dtype, at);
    return 0;
}

static int fill(PyObject *o, const Survey *s, int depth, td_dtype dtype, char **at)
{
    if (depth == s->ndim) {
        if (store(o, dtype, *at) < 0) return -1;
        *at += td_itemsize(dtype);
        return 0;
    }
    if (length(o) != s->sizes[depth]) return PyErr_SetString(PyExc_RuntimeError, "the sequence changed while it was read"), -1;
    for (Py_ssize_t i = 0; i < s->sizes[depth]; i++)
        if (fill(item(o, i), s, depth + 1, dtype, at) < 0) return -1;
    return 0;
}

/* from_sequence(data, dtype or None): a new tensor, or None if some leaf is no plain number (a tensor, an array) */
static PyObject *from_sequence(PyObject *m, PyObject *args)
{
    PyObject *data, *dtype_object;
    if (!PyArg_ParseTuple(args, "OO", &data, &dtype_object)) return NULL;
    Survey s = {.kind = -1};
    for (PyObject *o = data; is_list(o);) {
        if (s.ndim == TD_MAX_DIMS) return PyErr_Format(PyExc_ValueError, "too many dimensions: nested deeper than %d", TD_MAX_DIMS);
        s.sizes[s.ndim++] = length(o);
        if (!length(o)) break;
        o = item(o, 0);
    }
    if (survey(data, 0, &s) < 0) return NULL;
    if (s.other) Py_RETURN_NONE;
    td_dtype dtype;
    if (!td_dtype_from(dtype_object, &dtype)) {
        td_scalar any = {.kind = s.kind < 0 ? TD_S_FLOAT : (td_scalar_kind)s.kind};
        dtype = td_scalar_dtype(&any);
    }
    td_tensor *t;
    TD_PY(td_tensor_empty(&t, dtype, TD_CPU, s.ndim, s.sizes));
    char *at = td_data(t);
    if (t->numel && fill(data, &s, 0, dtype, &at) < 0) {
        td_tensor_free(t);
        return NULL;
    }
    return td_wrap(t);
}

/* from_dlpack-free alias of a tensor's whole storage as bytes: (tensor) -> uint8 tensor */
static PyObject *storage_bytes(PyObject *m, PyObject *o)
{
    if (!td_is_tensor(o)) return PyErr_Format(PyExc_TypeError, "wanted a Tensor, got %S", Py_TYPE(o));
    td_tensor *t;
    int64_t n = TD_T(o)->storage->nbytes, one = 1;
    TD_PY(td_tensor_on_storage(&t, TD_T(o)->storage, TD_U8, 1, &n, &one, 0));
    return td_wrap(t);
}
static PyObject *storage_address(PyObject *m, PyObject *o)
{
    if (!td_is_tensor(o)) return PyErr_Format(PyExc_TypeError, "wanted a Tensor, got %S", Py_TYPE(o));
    return PyLong_FromVoidPtr(TD_T(o)->storage);
}

/* storage_owners(tensor): how many tensors of this process lie on its storage, itself included */
static PyObject *storage_owners(PyObject *m, PyObject *o)
{
    if (!td_is_tensor(o)) return PyErr_Format(PyExc_TypeError, "wanted a Tensor, got %S", Py_TYPE(o));
    return PyLong_FromLongLong((long long)__atomic_load_n(&TD_T(o)->storage->refs, __ATOMIC_ACQUIRE));
}

/* storage_resize(tensor, bytes): the storage of a tensor grows or shrinks */
static PyObject *storage_resize(PyObject *m, PyObject *args)
{
    PyObject *o;
    long long bytes;
    if (!PyArg_ParseTuple(args, "OL", &o, &bytes)) return NULL;
    if (!td_is_tensor(o)) return PyErr_Format(PyExc_TypeError, "wanted a Tensor, got %S", Py_TYPE(o));
    if (bytes < TD_T(o)->storage->nbytes)
        return PyErr_Format(PyExc_RuntimeError, "a storage of %lld bytes cannot shrink to %lld: tensors may still view what lies behind; make a new one",
                            (long long)TD_T(o)->storage->nbytes, bytes);
    TD_PY(td_storage_resize(TD_T(o)->storage, bytes));
    Py_RETURN_NONE;
}

/* on_storage(tensor, dtype, sizes, strides, offset): a tensor on the storage of another, checked to lie inside it */
static PyObject *on_storage(PyObject *m, PyObject *args)
{
    PyObject *o, *dtype_object, *sizes_object, *strides_object;
    long long offset;
    td_dtype dtype;
    int64_t sizes[TD_MAX_DIMS], strides[TD_MAX_DIMS], last = 0, step;
    if (!PyArg_ParseTuple(args, "OOO!O!L", &o, &dtype_object, &PyTuple_Type, &sizes_object, &PyTuple_Type, &strides_object, &offset)) return NULL;
    if (!td_is_tensor(o) || !td_dtype_from(dtype_object, &dtype)) return PyErr_Format(PyExc_TypeError, "on_storage: wanted a Tensor and a dtype");
    Py_ssize_t n = PyTuple_Size(sizes_object);
    if (n > TD_MAX_DIMS || n != PyTuple_Size(strides_object) || offset < 0) return PyErr_Format(PyExc_ValueError, "on_storage: bad geometry");
    int empty = 0, bad = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        if (td_int_from(PyTuple_GetItem(sizes_object, i), &sizes[i]) != 1 || td_int_from(PyTuple_GetItem(strides_object, i), &strides[i]) != 1)
            return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "on_storage: sizes and strides must be ints");
        bad |= sizes[i] < 0 || strides[i] < 0;
        empty |= sizes[i] == 0;
        bad |= !empty && (td_mul_overflows(sizes[i] - 1, strides[i], &step) || td_add_overflows(last, step, &last));
    }
    bad |= td_add_overflows(last, offset + 1, &last) || td_mul_overflows(last, td_itemsize(dtype), &last);
    if (bad || (!empty && last > TD_T(o)->storage->nbytes))
        return PyErr_Format(PyExc_RuntimeError, "setStorage: sizes %S, strides %S, storage offset %lld, and itemsize %lld reach outside of a storage of %lld bytes",
                            sizes_object, strides_object, offset, (long long)td_itemsize(dtype), (long long)TD_T(o)->storage->nbytes);
    td_tensor *t;
    TD_PY(td_tensor_on_storage(&t, TD_T(o)->storage, dtype, (int)n, sizes, strides, offset));
    return td_wrap(t);
}

/* ---- promotion ---- */
static int two_dtypes(PyObject *args, td_dtype *a, td_dtype *b)
{
    PyObject *x, *y;
    if (!PyArg_ParseTuple(args, "OO", &x, &y)) return 0;
    if (td_dtype_from(x, a) && td_dtype_from(y, b)) return 1;
    PyErr_Format(PyExc_TypeError, "wanted two dtypes, got %S and %S", Py_TYPE(x), Py_TYPE(y));
    return 0;
}
static PyObject *promote(PyObject *m, PyObject *args)
{
    td_dtype a, b;
    if (!two_dtypes(args, &a, &b)) return NULL;
    int both = td_promote(a, b);
    if (both < 0)
        return PyErr_Format(PyExc_RuntimeError, "Promotion for %s and %s is not supported: cast one of them first", td_dtypes[a].name, td_dtypes[b].name);
    return td_dtype_object((td_dtype)both);
}
static PyObject *can_cast(PyObject *m, PyObject *args)
{
    td_dtype a, b;
    return two_dtypes(args, &a, &b) ? PyBool_FromLong(td_can_cast(a, b)) : NULL;
}
static td_tensor *as_operand(PyObject *o, td_tensor **owned)
{
    td_scalar s;
    *owned = NULL;
    if (td_is_tensor(o)) return TD_T(o);
    int status = td_scalar_from(o, &s);
    if (status == 0) PyErr_Format(PyExc_TypeError, "result_type(): wanted a Tensor or a number, got %S", Py_TYPE(o));
    if (status != 1) return NULL;
    td_status made = td_tensor_from_scalar(owned, &s, td_scalar_dtype(&s));
    if (made) td_raise(made);
    return *owned;
}
static PyObject *result_type(PyObject *m, PyObject *args)
{
    PyObject *x, *y;
    td_tensor *own[2] = {0}, *operands[2];
    td_dtype made;
    if (!PyArg_ParseTuple(args, "OO", &x, &y)) return NULL;
    td_status status = TD_PYTHON_ERROR;
    if ((operands[0] = as_operand(x, &own[0])) && (operands[1] = as_operand(y, &own[1]))) status = td_result_type(2, operands, &made);
    td_tensor_free(own[0]);
    td_tensor_free(own[1]);
    return status ? td_raise(status) : td_dtype_object(made);
}

static PyMethodDef methods[] = {
    {"promote", promote, METH_VARARGS, "promote(dtype, dtype): the dtype that both fit in."},
    {"can_cast", can_cast, METH_VARARGS, "can_cast(from, to): may a result be written so?"},
    {"result_type", result_type, METH_VARARGS, "result_type(a, b): the dtype of an elementwise result."},
    {"from_sequence", from_sequence, METH_VARARGS, "from_sequence(data, dtype): a tensor of nested lists, or None if they hold other things."},
    {"storage_bytes", storage_bytes, METH_O, "The whole storage of a tensor, as bytes."},
    {"storage_address", storage_address, METH_O, "Identity of a tensor's storage."},
    {"storage_owners", storage_owners, METH_O, "How many tensors lie on a tensor's storage."},
    {"storage_resize", storage_resize, METH_VARARGS, "storage_resize(tensor, bytes): grow the storage of a tensor."},
    {"on_storage", on_storage, METH_VARARGS, "on_storage(tensor, dtype, sizes, strides, offset): another tensor on the same storage."},
    {0}};
PyMethodDef *td_exchange_methods(void) { return methods; }
