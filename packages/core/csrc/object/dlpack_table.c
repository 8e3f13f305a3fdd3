/* dlpack_table.c - the exchange of tensors from C: a table of functions that consumers find in
 * Tensor.__dlpack_c_exchange_api__ and call with objects, without a call of Python's between.
 * A gradient is not carried along, and not asked for: kernels read parameters. */
#include "object/dlpack.h"
#include "object/watch.h"
#include "runtime/address.h"
#include "runtime/device.h"

static td_tensor *tensor_of(PyObject *o)
{
    if (!td_is_tensor(o)) {
        PyErr_Format(PyExc_TypeError, "DLPack exchange: wanted a Tensor, got %S", Py_TYPE(o));
        return NULL;
    }
    if (td_has_parts((PyTensor *)o)) {
        PyErr_SetString(PyExc_BufferError, "a tensor that is not strided is not exported: export "
                                           "its indices and values, or to_dense()");
        return NULL;
    }
    if (((PyTensor *)o)->dispatches) {
        PyErr_Format(PyExc_BufferError,
                     "a %R is not exported: its operators run in __torch_dispatch__. Export the "
                     "tensors inside it",
                     Py_TYPE(o));
        return NULL;
    }
    return TD_T(o);
}

static int from_object(void *object, dl_versioned **out)
{
    td_tensor *t = tensor_of(object);
    dl_versioned *made = t ? td_dlpack_of(t) : NULL;
    if (made) *out = made;
    return made ? 0 : -1;
}

static int describe(void *object, dl_tensor *out)
{
    td_tensor *t = tensor_of(object);
    return t && td_dlpack_describe(t, out) ? 0 : -1;
}

static int to_object(dl_versioned *given, void **out)
{
    td_tensor *t = td_tensor_of_dlpack(given);
    PyObject *object = t ? td_wrap(t) : NULL;
    if (object) *out = object;
    return object ? 0 : -1;
}

static int current_stream(int32_t device_type, int32_t device_id, void **out)
{
    td_device device;
    if (!td_device_of_dlpack((dl_device){device_type, device_id}, &device)) return -1;
    /* work of the cpu is done when its call returns */
    *out = td_device_stream(device);
    return 0;
}

static dl_versioned *allocated(const dl_tensor *like)
{
    td_tensor *t;
    int dtype;
    td_device device;
    if (!td_device_of_dlpack(like->device, &device)) return NULL;
    if (!td_dtype_of_dlpack(like->type, &dtype))
        return PyErr_Format(
                   PyExc_BufferError,
                   "DLPack exchange: no dtype here has type code %d with %d bits and %d lanes",
                   like->type.code, like->type.bits, like->type.lanes),
               NULL;
    if (like->ndim < 0 || like->ndim > TD_MAX_DIMS || (like->ndim && !like->shape))
        return PyErr_Format(PyExc_BufferError,
                            "DLPack exchange: %d dimensions were asked for; 0 to %d with a shape "
                            "are possible",
                            like->ndim, TD_MAX_DIMS),
               NULL;
    td_status status = td_tensor_empty(&t, (td_dtype)dtype, device, like->ndim, like->shape);
    if (status) return td_raise(status), NULL;
    dl_versioned *made = td_dlpack_of(t);
    td_tensor_free(t);
    return made;
}

/* The exception that is set, in the caller's own words for errors. */
static void tell(void *context, dl_set_error set_error)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject *kind = type ? PyObject_GetAttrString(type, "__name__") : NULL;
    PyObject *text = value ? PyObject_Str(value) : NULL;
    const char *name = kind ? PyUnicode_AsUTF8AndSize(kind, NULL) : NULL;
    const char *message = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    if (set_error)
        set_error(context, name ? name : "MemoryError", message ? message : "out of memory");
    PyErr_Clear();
    Py_XDECREF(kind);
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

static int allocate(dl_tensor *prototype, dl_versioned **out, void *context, dl_set_error set_error)
{
    PyGILState_STATE state = PyGILState_Ensure();
    dl_versioned *made = allocated(prototype);
    if (made) *out = made;
    else tell(context, set_error);
    PyGILState_Release(state);
    return made ? 0 : -1;
}

static dl_table table = {.header = {.version = {DL_MAJOR, DL_TABLE_MINOR}},
                         .allocate = allocate,
                         .from_object = from_object,
                         .to_object = to_object,
                         .describe = describe,
                         .current_stream = current_stream};

static PyObject *dlpack_table(PyObject *m, PyObject *unused)
{
    return PyCapsule_New(&table, DL_TABLE_NAME, NULL);
}

static PyMethodDef methods[] = {
    {"dlpack_table", dlpack_table, METH_NOARGS,
     "dlpack_table(): the capsule on the functions by which C exchanges tensors."},
    {0}};
PyMethodDef *td_dlpack_table_methods(void) { return methods; }
