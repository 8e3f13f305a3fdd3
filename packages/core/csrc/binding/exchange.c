/* exchange.c - storages as objects, and promotion for Python. */
#include "binding/binding.h"
#include "ops/promotion.h"
#include "runtime/address.h"

/* from_dlpack-free alias of a tensor's whole storage as bytes: (tensor) -> uint8 tensor */
static PyObject *storage_bytes(PyObject *m, PyObject *o)
{
    if (!td_is_tensor(o))
        return PyErr_Format(PyExc_TypeError, "wanted a Tensor, got %S", Py_TYPE(o));
    td_tensor *t;
    if (td_has_parts((PyTensor *)o)) return td_refuse_memory(o, "untyped_storage()");
    int64_t n = TD_T(o)->storage->nbytes, one = 1;
    TD_PY(td_tensor_on_storage(&t, TD_T(o)->storage, TD_U8, 1, &n, &one, 0));
    return td_wrap(t);
}
static PyObject *storage_address(PyObject *m, PyObject *o)
{
    if (!td_is_tensor(o))
        return PyErr_Format(PyExc_TypeError, "wanted a Tensor, got %S", Py_TYPE(o));
    return PyLong_FromVoidPtr(TD_T(o)->storage);
}

/* storage_owners(tensor): how many tensors of this process lie on its storage, itself included */
static PyObject *storage_owners(PyObject *m, PyObject *o)
{
    if (!td_is_tensor(o))
        return PyErr_Format(PyExc_TypeError, "wanted a Tensor, got %S", Py_TYPE(o));
    return PyLong_FromLongLong(
        (long long)__atomic_load_n(&TD_T(o)->storage->refs, __ATOMIC_ACQUIRE));
}

/* storage_resize(tensor, bytes): the storage of a tensor grows or shrinks */
static PyObject *storage_resize(PyObject *m, PyObject *args)
{
    PyObject *o;
    long long bytes;
    if (!PyArg_ParseTuple(args, "OL", &o, &bytes)) return NULL;
    if (!td_is_tensor(o))
        return PyErr_Format(PyExc_TypeError, "wanted a Tensor, got %S", Py_TYPE(o));
    if (td_has_parts((PyTensor *)o)) return td_refuse_memory(o, "untyped_storage()");
    if (bytes < TD_T(o)->storage->nbytes)
        return PyErr_Format(PyExc_RuntimeError,
                            "a storage of %lld bytes cannot shrink to %lld: tensors may still view "
                            "what lies behind; make a new one",
                            (long long)TD_T(o)->storage->nbytes, bytes);
    TD_PY(td_storage_resize(TD_T(o)->storage, bytes));
    Py_RETURN_NONE;
}

/* on_storage(tensor, dtype, sizes, strides, offset): a tensor on the storage of another, checked to
 * lie inside it */
static PyObject *on_storage(PyObject *m, PyObject *args)
{
    PyObject *o, *dtype_object, *sizes_object, *strides_object;
    long long offset;
    td_dtype dtype;
    int64_t sizes[TD_MAX_DIMS], strides[TD_MAX_DIMS], last = 0, step;
    if (!PyArg_ParseTuple(args, "OOO!O!L", &o, &dtype_object, &PyTuple_Type, &sizes_object,
                          &PyTuple_Type, &strides_object, &offset))
        return NULL;
    if (!td_is_tensor(o) || !td_dtype_from(dtype_object, &dtype))
        return PyErr_Format(PyExc_TypeError, "on_storage: wanted a Tensor and a dtype");
    if (td_has_parts((PyTensor *)o)) return td_refuse_memory(o, "set_()");
    Py_ssize_t n = PyTuple_Size(sizes_object);
    if (n > TD_MAX_DIMS || n != PyTuple_Size(strides_object) || offset < 0)
        return PyErr_Format(PyExc_ValueError, "on_storage: bad geometry");
    int empty = 0, bad = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        if (td_int_from(PyTuple_GetItem(sizes_object, i), &sizes[i]) != 1 ||
            td_int_from(PyTuple_GetItem(strides_object, i), &strides[i]) != 1)
            return PyErr_Occurred() ? NULL
                                    : PyErr_Format(PyExc_TypeError,
                                                   "on_storage: sizes and strides must be ints");
        bad |= sizes[i] < 0 || strides[i] < 0;
        empty |= sizes[i] == 0;
        bad |= !empty && (td_mul_overflows(sizes[i] - 1, strides[i], &step) ||
                          td_add_overflows(last, step, &last));
    }
    bad |= td_add_overflows(last, offset, &last) || td_add_overflows(last, 1, &last) ||
           td_mul_overflows(last, td_itemsize(dtype), &last);
    if (bad || (!empty && last > TD_T(o)->storage->nbytes))
        return PyErr_Format(PyExc_RuntimeError,
                            "setStorage: sizes %S, strides %S, storage offset %lld, and itemsize "
                            "%lld reach outside of a storage of %lld bytes",
                            sizes_object, strides_object, offset, (long long)td_itemsize(dtype),
                            (long long)TD_T(o)->storage->nbytes);
    td_tensor *t;
    TD_PY(td_tensor_on_storage(&t, TD_T(o)->storage, dtype, (int)n, sizes, strides, offset));
    if (t->numel && !td_is_aligned(td_data(t), dtype)) {
        td_tensor_free(t);
        return PyErr_Format(PyExc_ValueError,
                            "the elements would lie at an address that is not a multiple of what "
                            "%s needs: copy the memory first",
                            td_dtypes[dtype].name);
    }
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
    int both = td_promoted(a, b);
    return both < 0 ? NULL : td_dtype_object((td_dtype)both);
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
    if (status == 0)
        PyErr_Format(PyExc_TypeError, "result_type(): wanted a Tensor or a number, got %S",
                     Py_TYPE(o));
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
    if ((operands[0] = as_operand(x, &own[0])) && (operands[1] = as_operand(y, &own[1])))
        status = td_result_type(2, operands, &made);
    td_tensor_free(own[0]);
    td_tensor_free(own[1]);
    return status ? td_raise(status) : td_dtype_object(made);
}

static PyMethodDef methods[] = {
    {"promote", promote, METH_VARARGS, "promote(dtype, dtype): the dtype that both fit in."},
    {"can_cast", can_cast, METH_VARARGS, "can_cast(from, to): may a result be written so?"},
    {"result_type", result_type, METH_VARARGS,
     "result_type(a, b): the dtype of an elementwise result."},
    {"storage_bytes", storage_bytes, METH_O, "The whole storage of a tensor, as bytes."},
    {"storage_address", storage_address, METH_O, "Identity of a tensor's storage."},
    {"storage_owners", storage_owners, METH_O, "How many tensors lie on a tensor's storage."},
    {"storage_resize", storage_resize, METH_VARARGS,
     "storage_resize(tensor, bytes): grow the storage of a tensor."},
    {"on_storage", on_storage, METH_VARARGS,
     "on_storage(tensor, dtype, sizes, strides, offset): another tensor on the same storage."},
    {0}};
PyMethodDef *td_exchange_methods(void) { return methods; }
