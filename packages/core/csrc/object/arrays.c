/* arrays.c - memory shared with numpy and with whatever has a buffer, both ways. */
#include "object/py.h"
#include "runtime/address.h"

/* ---- buffers: the storage holds the Py_buffer until the last tensor on it dies ---- */
static void release_view(void *context, char *data, int64_t nbytes)
{
    PyGILState_STATE state = PyGILState_Ensure();
    PyBuffer_Release(context);
    free(context);
    PyGILState_Release(state);
}

static int element_geometry(const Py_buffer *v, td_dtype dtype, int64_t *sizes, int64_t *strides,
                            int64_t *extent)
{
    int64_t size = td_itemsize(dtype), last = 0;
    for (int i = 0; i < v->ndim; i++) {
        sizes[i] = v->shape ? v->shape[i] : (int64_t)v->len / size;
        int64_t step = v->strides ? v->strides[i] : size;
        if (step < 0)
            return PyErr_SetString(PyExc_ValueError,
                                   "At least one stride in the given numpy array is negative, and "
                                   "tensors with negative strides are not supported. (Make a copy "
                                   "of the array: array.copy().)"),
                   -1;
        if (step % size)
            return PyErr_Format(PyExc_ValueError,
                                "given numpy array strides not a multiple of the element byte size "
                                "(%lld). Copy the numpy array to reallocate the memory.",
                                (long long)size),
                   -1;
        strides[i] = step / size;
        if (sizes[i] > 1 && (td_mul_overflows(sizes[i] - 1, strides[i], &step) ||
                             td_add_overflows(last, step, &last)))
            last = INT64_MAX;
    }
    if (!td_add_overflows(last, 1, &last) && !td_mul_overflows(last, size, extent)) return 0;
    return PyErr_SetString(PyExc_ValueError,
                           "from_buffer: shape and strides reach beyond any memory"),
           -1;
}

static int check_address(const Py_buffer *v, td_dtype dtype)
{
    if (!v->len || td_is_aligned(v->buf, dtype)) return 0;
    PyErr_Format(PyExc_ValueError,
                 "the elements of the given array or buffer lie at an address that is not a "
                 "multiple of what %s needs. Copy it: array.copy().",
                 td_dtypes[dtype].name);
    return -1;
}

/* A tensor on the memory of a buffer, which it takes over; a new reference, or NULL with the buffer
 * given back. */
static PyObject *on_view(Py_buffer *view, td_dtype dtype)
{
    int64_t sizes[TD_MAX_DIMS], strides[TD_MAX_DIMS], extent = 0;
    td_storage *s;
    td_tensor *t;
    if (view->ndim > TD_MAX_DIMS || view->itemsize != td_itemsize(dtype)) {
        PyErr_Format(PyExc_ValueError,
                     "from_buffer: the buffer has items of %zd bytes, %s has %lld", view->itemsize,
                     td_dtypes[dtype].name, (long long)td_itemsize(dtype));
        goto refused;
    }
    if (element_geometry(view, dtype, sizes, strides, &extent) < 0 ||
        check_address(view, dtype) < 0)
        goto refused;
    td_status status = td_storage_new(&s, 0, TD_CPU);
    if (status) {
        td_raise(status);
        goto refused;
    }
    s->data = view->buf;
    s->nbytes = view->len ? extent : 0;
    s->fixed = 1;
    s->release = release_view;
    s->context = view;
    status = td_tensor_on_storage(&t, s, dtype, view->ndim, sizes, strides, 0);
    td_storage_drop(s);
    return status ? td_raise(status) : td_wrap(t);
refused:
    PyBuffer_Release(view);
    free(view);
    return NULL;
}

static Py_buffer *view_of(PyObject *o, int flags)
{
    Py_buffer *view = calloc(1, sizeof *view);
    if (!view) return (void *)td_no_memory();
    if (PyObject_GetBuffer(o, view, flags) == 0) return view;
    free(view);
    return NULL;
}

/* from_buffer(object, dtype): a tensor on the memory of an object with the buffer protocol */
static PyObject *from_buffer(PyObject *m, PyObject *args)
{
    PyObject *o, *dtype_object;
    td_dtype dtype;
    if (!PyArg_ParseTuple(args, "OO", &o, &dtype_object)) return NULL;
    if (!td_dtype_from(dtype_object, &dtype))
        return PyErr_Format(PyExc_TypeError, "from_buffer: wanted a dtype, got %R", dtype_object);
    Py_buffer *view = view_of(o, PyBUF_STRIDES | PyBUF_FORMAT);
    return view ? on_view(view, dtype) : NULL;
}

/* ---- numpy: both ways have a short path for what is usual, and answer None for the rest ---- */

static PyObject *ndarray(void)
{
    static PyObject *type;
    return td_numpy(&type, "ndarray");
}

static td_dtype integer_of(Py_ssize_t size, int is_signed)
{
    static const td_dtype with_sign[] = {TD_I8, TD_I16, TD_I32, TD_I64},
                          without[] = {TD_U8, TD_U16, TD_U32, TD_U64};
    int log2 = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
    return is_signed ? with_sign[log2] : without[log2];
}

/* the dtype of a format of one letter in the machine's byte order; 0 for others */
static int dtype_of_format(const Py_buffer *view, td_dtype *out)
{
    const char *f = view->format;
    if (!f || f[0] == 0 || (f[1] && !(f[0] == 'Z' && f[2] == 0))) return 0;
    switch (f[0]) {
        case '?': return *out = TD_BOOL, 1;
        case 'e': return *out = TD_F16, 1;
        case 'f': return *out = TD_F32, 1;
        case 'd': return *out = TD_F64, 1;
        case 'b':
        case 'h':
        case 'i':
        case 'l':
        case 'q': return *out = integer_of(view->itemsize, 1), 1;
        case 'B':
        case 'H':
        case 'I':
        case 'L':
        case 'Q': return *out = integer_of(view->itemsize, 0), 1;
        case 'Z': return *out = f[1] == 'f' ? TD_C64 : TD_C128, f[1] == 'f' || f[1] == 'd';
        default: return 0;
    }
}

/* from_array(array): a tensor on a writable numpy array of a usual dtype; None for anything else */
static PyObject *from_array(PyObject *m, PyObject *o)
{
    td_dtype dtype;
    if ((PyObject *)Py_TYPE(o) != ndarray()) Py_RETURN_NONE;
    Py_buffer *view = view_of(o, PyBUF_STRIDES | PyBUF_FORMAT | PyBUF_WRITABLE);
    if (!view) {
        PyErr_Clear(); /* read-only, or of a dtype that has no format */
        Py_RETURN_NONE;
    }
    if (dtype_of_format(view, &dtype)) return on_view(view, dtype);
    PyBuffer_Release(view);
    free(view);
    Py_RETURN_NONE;
}

static PyObject *numpy_dtype(td_dtype dtype)
{
    static PyObject *known[TD_NDTYPES];
    static PyObject *maker;
    static const char *const letters[TD_NDTYPES] = {
        [TD_BOOL] = "?", [TD_U8] = "u1",  [TD_I8] = "i1",  [TD_I16] = "i2",  [TD_I32] = "i4",
        [TD_I64] = "i8", [TD_U16] = "u2", [TD_U32] = "u4", [TD_U64] = "u8",  [TD_F16] = "f2",
        [TD_F32] = "f4", [TD_F64] = "f8", [TD_C64] = "c8", [TD_C128] = "c16"};
    if (known[dtype] || !letters[dtype] || !td_numpy(&maker, "dtype")) return known[dtype];
    known[dtype] = PyObject_CallFunction(maker, "s", letters[dtype]);
    if (!known[dtype]) PyErr_Clear();
    return known[dtype];
}

/* to_array(tensor): a numpy array on a tensor that is contiguous and plain; None for anything else
 */
static PyObject *to_array(PyObject *m, PyObject *o)
{
    if (!td_is_exact(o) || !ndarray()) Py_RETURN_NONE;
    const td_tensor *t = TD_T(o);
    if (td_requires_grad((PyTensor *)o) || t->flags & (TD_FLAG_CONJ | TD_FLAG_NEG) ||
        t->device != TD_CPU || !t->numel || !td_is_contiguous(t))
        Py_RETURN_NONE;
    PyObject *dtype = numpy_dtype((td_dtype)t->dtype);
    if (!dtype) Py_RETURN_NONE;
    PyObject *shape = td_dims_object(t->ndim, t->sizes);
    if (!shape) return NULL;
    PyObject *memory = td_memory_of(o),
             *made = memory ? PyObject_CallFunctionObjArgs(ndarray(), shape, dtype, memory, NULL)
                            : NULL;
    Py_XDECREF(memory);
    Py_DECREF(shape);
    return made;
}

static PyMethodDef methods[] = {
    {"from_buffer", from_buffer, METH_VARARGS,
     "from_buffer(object, dtype): a tensor on the memory of an object."},
    {"from_array", from_array, METH_O,
     "from_array(array): a tensor on a usual numpy array, or None."},
    {"to_array", to_array, METH_O, "to_array(tensor): a numpy array on a usual tensor, or None."},
    {0}};
PyMethodDef *td_array_methods(void) { return methods; }
