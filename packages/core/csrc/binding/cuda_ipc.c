/* cuda_ipc.c - memory and events of other processes, as functions of the native module. */
#include "binding/cuda.h"
#include "cuda/ipc.h"

/* cuda_ipc_send(bytes of a storage) -> what another process makes the storage of */
static PyObject *ipc_send(PyObject *m, PyObject *o)
{
    td_cuda_parcel parcel;
    if (!td_is_tensor(o))
        return PyErr_Format(PyExc_TypeError, "wanted a Tensor, got %S", Py_TYPE(o));
    TD_PY(td_cuda_ipc_send(TD_T(o)->storage, &parcel));
    return PyBytes_FromStringAndSize((const char *)&parcel, sizeof parcel);
}

/* cuda_ipc_receive(parcel) -> bytes of the storage */
static PyObject *ipc_receive(PyObject *m, PyObject *given)
{
    td_cuda_parcel parcel;
    td_storage *s;
    td_tensor *t;
    char *bytes;
    Py_ssize_t length;
    if (PyBytes_AsStringAndSize(given, &bytes, &length) < 0) return NULL;
    if (length != sizeof parcel)
        return PyErr_Format(PyExc_ValueError,
                            "a CUDA tensor of another process: %zd bytes describe it where %zu are "
                            "wanted: do both run the same version?",
                            length, sizeof parcel);
    memcpy(&parcel, bytes, sizeof parcel);
    TD_PY(td_cuda_ipc_receive(&parcel, &s));
    int64_t size = s->nbytes, stride = 1;
    td_status status = td_tensor_on_storage(&t, s, TD_U8, 1, &size, &stride, 0);
    td_storage_drop(s);
    return status ? td_raise(status) : td_wrap(t);
}

static PyObject *ipc_collect(PyObject *m, PyObject *unused)
{
    return PyLong_FromLongLong(td_cuda_ipc_collect());
}

/* event_share(ordinal, event) -> handle for another process */
static PyObject *event_share(PyObject *m, PyObject *args)
{
    int ordinal;
    unsigned long long event;
    td_cuda_handle handle;
    if (!PyArg_ParseTuple(args, "iK", &ordinal, &event)) return NULL;
    TD_PY(td_cuda_use(ordinal));
    int code = td_cu.cuIpcGetEventHandle(&handle, (void *)(uintptr_t)event);
    if (code) return td_raise(td_cuda_failed(code, "sharing an event with another process"));
    return PyBytes_FromStringAndSize(handle.bytes, sizeof handle.bytes);
}

/* event_open(ordinal, handle) -> event */
static PyObject *event_open(PyObject *m, PyObject *args)
{
    int ordinal;
    const char *bytes;
    Py_ssize_t length;
    td_cuda_handle handle;
    void *event = NULL;
    if (!PyArg_ParseTuple(args, "iy#", &ordinal, &bytes, &length)) return NULL;
    if (length != sizeof handle.bytes)
        return PyErr_Format(PyExc_ValueError, "the handle of an event has %zu bytes, got %zd",
                            sizeof handle.bytes, length);
    memcpy(handle.bytes, bytes, sizeof handle.bytes);
    TD_PY(td_cuda_use(ordinal));
    int code = td_cu.cuIpcOpenEventHandle(&event, handle);
    if (code) return td_raise(td_cuda_failed(code, "opening the event of another process"));
    return PyLong_FromVoidPtr(event);
}

static PyMethodDef methods[] = {
    {"cuda_ipc_send", ipc_send, METH_O, "What another process makes this storage of."},
    {"cuda_ipc_receive", ipc_receive, METH_O, "The storage that another process sent, as bytes."},
    {"cuda_ipc_collect", ipc_collect, METH_NOARGS,
     "Drop what receivers have released; how many tensors they still have."},
    {"cuda_event_share", event_share, METH_VARARGS, "The handle of an event for other processes."},
    {"cuda_event_open", event_open, METH_VARARGS, "An event of another process by its handle."},
    {NULL, NULL, 0, NULL},
};

int td_add_cuda_ipc(PyObject *module) { return PyModule_AddFunctions(module, methods); }
