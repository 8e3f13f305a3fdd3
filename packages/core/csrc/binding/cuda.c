/* cuda.c - what taeda.cuda asks of csrc/cuda, as functions of the native module. Arguments are
 * checked by the Python that calls. */
#include "binding/cuda.h"
#include "cuda/fault.h"
#include "cuda/graph.h"
#include "runtime/streams.h"
#include "cuda/pool.h"
#include "cuda/program.h"
#include "cuda/start.h"

/* ---- programs: compiled by Python ---- */
static td_status ask_python(const td_cuda_program *want, int arch, bool anew, void **image,
                            char **symbol)
{
    static PyObject *program;
    PyObject *made = NULL;
    char *bytes;
    const char *name;
    Py_ssize_t length;
    if (td_python_function(&program, "taeda.cuda._programs", "program"))
        made = PyObject_CallFunction(program, "ssiisii", want->kind, want->name, want->dtype,
                                     want->from, want->how, arch, (int)anew);
    int good = made && PyArg_ParseTuple(made, "y#s;program() gives bytes and a name", &bytes,
                                        &length, &name);
    *image = good ? malloc((size_t)length + 1) : NULL;
    *symbol = good ? strdup(name) : NULL;
    if (*image) memcpy(*image, bytes, (size_t)length), ((char *)*image)[length] = 0;
    Py_XDECREF(made);
    if (*image && *symbol) return TD_OK;
    free(*image);
    free(*symbol);
    if (!PyErr_Occurred()) PyErr_NoMemory();
    return TD_PYTHON_ERROR;
}

/* A walk may run without the interpreter's lock; an exception stays with the thread until it is
 * raised. */
static td_status compile(const td_cuda_program *want, int arch, bool anew, void **image,
                         char **symbol)
{
    PyGILState_STATE state = PyGILState_Ensure();
    td_status status = ask_python(want, arch, anew, image, symbol);
    PyGILState_Release(state);
    return status;
}

/* ---- devices ---- */
static PyObject *count(PyObject *m, PyObject *unused) { return PyLong_FromLong(td_cuda_count()); }
static PyObject *started(PyObject *m, PyObject *unused)
{
    return PyBool_FromLong(td_cuda_started() && !td_cuda_forked());
}
static PyObject *start(PyObject *m, PyObject *unused)
{
    TD_PY(td_device_open(TD_CUDA));
    TD_PY(td_cuda_use(td_cuda_current()));
    Py_RETURN_NONE;
}
static PyObject *current(PyObject *m, PyObject *unused)
{
    return PyLong_FromLong(td_cuda_current());
}
static PyObject *set_current(PyObject *m, PyObject *ordinal)
{
    long value = PyLong_AsLong(ordinal);
    if (value == -1 && PyErr_Occurred()) return NULL;
    TD_PY(td_cuda_use((int)value));
    td_cuda_set_current((int)value);
    Py_RETURN_NONE;
}
static PyObject *synchronize(PyObject *m, PyObject *ordinal)
{
    long value = PyLong_AsLong(ordinal);
    if (value == -1 && PyErr_Occurred()) return NULL;
    TD_PY(td_cuda_synchronize(td_device_of(TD_CUDA, (int)value)));
    Py_RETURN_NONE;
}
/* facts(ordinal) -> name, bytes, compute capability, multiprocessors, threads of a warp and of a
 * block and of a multiprocessor */
static PyObject *facts(PyObject *m, PyObject *ordinal)
{
    long k = PyLong_AsLong(ordinal);
    char name[128] = "";
    size_t bytes = 0;
    int device;
    if (k == -1 && PyErr_Occurred()) return NULL;
    if (td_cu.cuDeviceGet(&device, (int)k) || td_cu.cuDeviceGetName(name, sizeof name, device) ||
        td_cu.cuDeviceTotalMem_v2(&bytes, device))
        return PyErr_Format(PyExc_RuntimeError, "the driver does not tell the name of cuda:%ld", k);
    int a[] = {75, 76, 16, 10, 1, 39}, v[6];
    for (int i = 0; i < 6; i++) v[i] = td_cuda_attribute((int)k, a[i]);
    return Py_BuildValue("(snii iiii)", name, (Py_ssize_t)bytes, v[0], v[1], v[2], v[3], v[4],
                         v[5]);
}

/* record_stream(tensor, stream): the stream works on the tensor's memory */
static PyObject *record_stream(PyObject *m, PyObject *args)
{
    PyObject *o;
    unsigned long long stream;
    if (!PyArg_ParseTuple(args, "OK", &o, &stream)) return NULL;
    if (!td_is_tensor(o))
        return PyErr_Format(PyExc_TypeError, "wanted a Tensor, got %S", Py_TYPE(o));
    TD_PY(td_cuda_pool_used(TD_T(o), (void *)(uintptr_t)stream));
    Py_RETURN_NONE;
}

/* ---- waits ---- */
static td_status warn(const char *text)
{
    PyGILState_STATE state = PyGILState_Ensure();
    int status = PyErr_WarnEx(PyExc_UserWarning, text, 1);
    PyGILState_Release(state);
    return status ? TD_PYTHON_ERROR : TD_OK;
}
static PyObject *sync_mode(PyObject *m, PyObject *mode)
{
    long value = PyLong_AsLong(mode);
    if (value == -1 && PyErr_Occurred()) return NULL;
    if (value >= 0) td_cuda_sync_mode = (int)value;
    return PyLong_FromLong(td_cuda_sync_mode);
}

/* ---- peers and names ---- */
static PyObject *can_reach(PyObject *m, PyObject *args)
{
    int ordinal, other, here, there, can = 0;
    if (!PyArg_ParseTuple(args, "ii", &ordinal, &other)) return NULL;
    int code = td_cu.cuDeviceGet(&here, ordinal);
    if (!code) code = td_cu.cuDeviceGet(&there, other);
    if (!code) code = td_cu.cuDeviceCanAccessPeer(&can, here, there);
    if (code) return td_raise(td_cuda_failed(code, "asking for peer access"));
    return PyBool_FromLong(can);
}
/* names(ordinal) -> the 16 bytes of the UUID, the bus address */
static PyObject *names(PyObject *m, PyObject *ordinal)
{
    long k = PyLong_AsLong(ordinal);
    char uuid[16], bus[32] = "";
    int device;
    if (k == -1 && PyErr_Occurred()) return NULL;
    int code = td_cu.cuDeviceGet(&device, (int)k);
    if (!code) code = td_cu.cuDeviceGetUuid_v2(uuid, device);
    if (!code) code = td_cu.cuDeviceGetPCIBusId(bus, sizeof bus, device);
    if (code) return td_raise(td_cuda_failed(code, "asking for the name of a device"));
    return Py_BuildValue("(y#s)", uuid, (Py_ssize_t)16, bus);
}
/* priorities(ordinal) -> the least and the greatest of streams */
static PyObject *priorities(PyObject *m, PyObject *ordinal)
{
    long k = PyLong_AsLong(ordinal);
    int least, greatest;
    if (k == -1 && PyErr_Occurred()) return NULL;
    TD_PY(td_cuda_use((int)k));
    int code = td_cu.cuCtxGetStreamPriorityRange(&least, &greatest);
    if (code) return td_raise(td_cuda_failed(code, "asking for priorities of streams"));
    return Py_BuildValue("(ii)", least, greatest);
}
static PyObject *attribute(PyObject *m, PyObject *args)
{
    int ordinal, which;
    if (!PyArg_ParseTuple(args, "ii", &ordinal, &which)) return NULL;
    return PyLong_FromLong(td_cuda_attribute(ordinal, which));
}

/* ---- streams and events: addresses as integers, owned by the Python objects ---- */
static PyObject *answer(int code, const char *doing, PyObject *made)
{
    if (!code) return made ? made : Py_NewRef(Py_None);
    Py_XDECREF(made);
    return td_raise(td_cuda_failed(code, doing));
}
static int is_late(int code) { return code == TD_CUDA_NOT_READY; }
static PyObject *stream_new(PyObject *m, PyObject *args)
{
    int ordinal, priority;
    void *stream = NULL;
    if (!PyArg_ParseTuple(args, "ii", &ordinal, &priority)) return NULL;
    TD_PY(td_cuda_use(ordinal));
    int code = td_cu.cuStreamCreateWithPriority(&stream, 1, priority);
    return answer(code, "making a stream", code ? NULL : PyLong_FromVoidPtr(stream));
}
static PyObject *stream_get(PyObject *m, PyObject *ordinal)
{
    long k = PyLong_AsLong(ordinal);
    return k == -1 && PyErr_Occurred() ? NULL : PyLong_FromVoidPtr(td_cuda_stream((int)k));
}
static PyObject *stream_priority(PyObject *m, PyObject *args)
{
    int ordinal, priority = 0;
    unsigned long long stream;
    if (!PyArg_ParseTuple(args, "iK", &ordinal, &stream)) return NULL;
    if (stream == 0) return PyLong_FromLong(0);
    TD_PY(td_cuda_use(ordinal));
    int code = td_cu.cuStreamGetPriority((void *)(uintptr_t)stream, &priority);
    return answer(code, "asking a stream for its priority",
                  code ? NULL : PyLong_FromLong(priority));
}
static PyObject *stream_set(PyObject *m, PyObject *args)
{
    int ordinal;
    unsigned long long stream;
    if (!PyArg_ParseTuple(args, "iK", &ordinal, &stream)) return NULL;
    td_cuda_set_stream(ordinal, (void *)(uintptr_t)stream);
    Py_RETURN_NONE;
}
/* The driver said how it went; what is done, whoever watches hears. */
static int told(int code, td_order what, int ordinal, const void *stream, const void *event)
{
    if (!code) td_order_tell(what, ordinal, stream, event, 0);
    return code;
}
/* stream_is_captured(ordinal, stream): by whomever */
static PyObject *stream_is_captured(PyObject *m, PyObject *args)
{
    int ordinal, status = 0;
    unsigned long long stream;
    if (!PyArg_ParseTuple(args, "iK", &ordinal, &stream)) return NULL;
    if (!stream) Py_RETURN_FALSE; /* the default stream never is */
    TD_PY(td_cuda_use(ordinal));
    int code = td_cu.cuStreamIsCapturing((void *)(uintptr_t)stream, &status);
    return answer(code, "asking a stream for its capture", code ? NULL : PyBool_FromLong(status));
}
/* stream_do(what, ordinal, stream, event, outside): "synchronize", "query" or "wait". `outside`:
 * the stream is captured, and each replay waits anew. */
static PyObject *stream_do(PyObject *m, PyObject *args)
{
    const char *what;
    int ordinal, code, outside = 0;
    unsigned long long stream, event;
    if (!PyArg_ParseTuple(args, "siKK|p", &what, &ordinal, &stream, &event, &outside)) return NULL;
    TD_PY(td_cuda_use(ordinal));
    void *s = (void *)(uintptr_t)stream, *e = (void *)(uintptr_t)event;
    if (what[0] != 'w') TD_PY(td_cuda_not_captured(ordinal, "waiting for a stream"));
    if (what[0] == 'q')
        return is_late(code = told(td_cu.cuStreamQuery(s), TD_ORDER_STREAM_DONE, ordinal, s, NULL))
                   ? PyBool_FromLong(0)
                   : answer(code, "asking a stream", PyBool_FromLong(1));
    if (what[0] == 'w')
        return answer(
            told(td_cu.cuStreamWaitEvent(s, e, (unsigned)outside), TD_ORDER_WAIT, ordinal, s, e),
            "waiting for an event", NULL);
    Py_BEGIN_ALLOW_THREADS
    code = td_cu.cuStreamSynchronize(s);
    Py_END_ALLOW_THREADS
    told(code, TD_ORDER_STREAM_DONE, ordinal, s, NULL);
    if (!code) TD_PY(td_cuda_fault_check());
    return answer(code, "waiting for a stream", NULL);
}
static PyObject *event_new(PyObject *m, PyObject *args)
{
    int ordinal, flags; /* 1: waiting threads sleep, 2: without times, 4: for other processes */
    void *event = NULL;
    if (!PyArg_ParseTuple(args, "ii", &ordinal, &flags)) return NULL;
    TD_PY(td_cuda_use(ordinal));
    int code = td_cu.cuEventCreate(&event, (unsigned)flags);
    if (code == TD_CUDA_NO_MEMORY) {
        td_cuda_relieve(ordinal);
        code = td_cu.cuEventCreate(&event, (unsigned)flags);
    }
    return answer(code, "making an event", code ? NULL : PyLong_FromVoidPtr(event));
}
/* event_do(what, ordinal, event, stream, outside): "record", "query", "synchronize" or "free".
 * `outside`: the stream is captured, and each replay records the event. */
static PyObject *event_do(PyObject *m, PyObject *args)
{
    const char *what;
    int ordinal, code, outside = 0;
    unsigned long long event, stream;
    if (!PyArg_ParseTuple(args, "siKK|p", &what, &ordinal, &event, &stream, &outside)) return NULL;
    void *e = (void *)(uintptr_t)event, *s = (void *)(uintptr_t)stream;
    if (td_cuda_forked() && what[0] == 'f') Py_RETURN_NONE;
    TD_PY(td_cuda_use(ordinal));
    if (what[0] == 'q' || what[0] == 's')
        TD_PY(td_cuda_not_captured(ordinal, "waiting for an event"));
    if (what[0] == 'q')
        return is_late(code = told(td_cu.cuEventQuery(e), TD_ORDER_EVENT_DONE, ordinal, NULL, e))
                   ? PyBool_FromLong(0)
                   : answer(code, "asking an event", PyBool_FromLong(1));
    if (what[0] == 'r') {
        code = outside ? td_cu.cuEventRecordWithFlags(e, s, 1) : td_cu.cuEventRecord(e, s);
        return answer(told(code, TD_ORDER_RECORD, ordinal, s, e), "recording an event", NULL);
    }
    if (what[0] == 'f') { /* a driver that refuses keeps the event */
        told(td_cu.cuEventDestroy_v2(e), TD_ORDER_FORGET, ordinal, NULL, e);
        Py_RETURN_NONE;
    }
    Py_BEGIN_ALLOW_THREADS
    code = td_cu.cuEventSynchronize(e);
    Py_END_ALLOW_THREADS
    told(code, TD_ORDER_EVENT_DONE, ordinal, NULL, e);
    if (!code) TD_PY(td_cuda_fault_check());
    return answer(code, "waiting for an event", NULL);
}
/* watch(yes): taeda.cuda._sanitizer.ordered(what, number of the work so far, ordinal, stream,
 * other, bytes) hears from now on, or no longer. An exception of the caller stays. */
static void heard(td_order what, int ordinal, const void *stream, const void *other, int64_t bytes)
{
    static PyObject *ordered;
    if (!Py_IsInitialized()) return;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *type, *value, *trace, *made = NULL;
    PyErr_Fetch(&type, &value, &trace);
    if (td_python_function(&ordered, "taeda.cuda._sanitizer", "ordered"))
        made = PyObject_CallFunction(ordered, "iLiKKL", (int)what,
                                     (long long)__atomic_load_n(&td_order_work, __ATOMIC_RELAXED),
                                     ordinal, (unsigned long long)(uintptr_t)stream,
                                     (unsigned long long)(uintptr_t)other, (long long)bytes);
    if (!made) PyErr_WriteUnraisable(ordered);
    Py_XDECREF(made);
    PyErr_Restore(type, value, trace);
    PyGILState_Release(state);
}
static PyObject *watch(PyObject *m, PyObject *yes)
{
    int on = PyObject_IsTrue(yes);
    if (on < 0) return NULL;
    td_order_heard = on ? heard : NULL;
    Py_RETURN_NONE;
}
static PyObject *event_elapsed(PyObject *m, PyObject *args)
{
    unsigned long long a, b;
    float ms = 0;
    int ordinal; /* of the first: a fresh thread has no context */
    if (!PyArg_ParseTuple(args, "iKK", &ordinal, &a, &b)) return NULL;
    TD_PY(td_cuda_use(ordinal));
    int code = td_cu.cuEventElapsedTime(&ms, (void *)(uintptr_t)a, (void *)(uintptr_t)b);
    return answer(code, "measuring between events", code ? NULL : PyFloat_FromDouble((double)ms));
}

static int is_set(const char *name)
{
    const char *text = getenv(name);
    return text && *text && strcmp(text, "0");
}

static PyMethodDef methods[] = {
    {"cuda_count", count, METH_NOARGS,
     "How many CUDA devices the driver shows; 0 without a driver."},
    {"cuda_started", started, METH_NOARGS, "Is the device type registered?"},
    {"cuda_start", start, METH_NOARGS, "Open the driver and the current device, or say why not."},
    {"cuda_current", current, METH_NOARGS, "The current device of this thread."},
    {"cuda_set_current", set_current, METH_O, "Choose it."},
    {"cuda_synchronize", synchronize, METH_O, "Wait for all work of a device."},
    {"cuda_facts", facts, METH_O, "Name, bytes, capability and sizes of a device."},
    {"cuda_record_stream", record_stream, METH_VARARGS, "A stream works on a tensor's memory."},
    {"cuda_watch", watch, METH_O, "Tell taeda.cuda._sanitizer what orders streams, or no longer."},
    {"cuda_sync_mode", sync_mode, METH_O,
     "Set what waits do: 0 nothing, 1 warn, 2 raise; -1 only asks. The mode."},
    {"cuda_can_reach", can_reach, METH_VARARGS, "Can a device read another's memory?"},
    {"cuda_names", names, METH_O, "UUID and bus address of a device."},
    {"cuda_priorities", priorities, METH_O, "Least and greatest priority of streams."},
    {"cuda_attribute", attribute, METH_VARARGS, "An attribute of a device by its number."},
    {"cuda_stream_new", stream_new, METH_VARARGS,
     "A stream of a device with a priority, as an address."},
    {"cuda_stream_get", stream_get, METH_O, "The current stream of this thread on a device."},
    {"cuda_stream_priority", stream_priority, METH_VARARGS, "The priority of a stream."},
    {"cuda_stream_set", stream_set, METH_VARARGS, "Choose it."},
    {"cuda_stream_is_captured", stream_is_captured, METH_VARARGS, "Does its work go into a graph?"},
    {"cuda_stream_do", stream_do, METH_VARARGS, "synchronize, query, wait."},
    {"cuda_event_new", event_new, METH_VARARGS, "An event of a device, with the driver's flags."},
    {"cuda_event_do", event_do, METH_VARARGS, "record, query, synchronize, free."},
    {"cuda_event_elapsed", event_elapsed, METH_VARARGS, "Milliseconds between two events."},
    {NULL, NULL, 0, NULL},
};

int td_add_cuda(PyObject *module)
{
    td_device_openers[TD_CUDA] = &td_cuda_opener;
    td_cuda_compile = compile;
    td_cuda_warn = warn;
    if (is_set("TAEDA_CUDA_SANITIZER") || is_set("TORCH_CUDA_SANITIZER")) td_order_heard = heard;
    if (td_add_cuda_memory(module) < 0 || td_add_cuda_ipc(module) < 0 ||
        td_add_cuda_products(module) < 0 || td_add_cuda_graphs(module) < 0)
        return -1;
    return PyModule_AddFunctions(module, methods);
}
