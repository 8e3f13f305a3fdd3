/* abi.c - the table of taeda/abi.h, and loading extensions that use it. */
#include <dlfcn.h>
#include "python/py.h"
#include "runtime/loops.h"
#include "taeda/abi.h"

_Static_assert(offsetof(taeda_api, facts) == 16, "released slots do not move");
_Static_assert(offsetof(taeda_api, register_kernel) == 16 + 6 * sizeof(void *), "released slots do not move");
_Static_assert((int)TAEDA_BOOL == (int)TD_BOOL && (int)TAEDA_INT64 == (int)TD_I64 && (int)TAEDA_FLOAT32 == (int)TD_F32 &&
                   (int)TAEDA_COMPLEX128 == (int)TD_C128, "dtype numbers are part of the ABI");
_Static_assert((int)TAEDA_MEMORY_ERROR == (int)TD_MEMORY_ERROR, "error codes are part of the ABI");

static td_tensor *inner(const taeda_tensor *t) { return (td_tensor *)t; }

static int32_t abi_fail(taeda_error *error, int32_t code, const char *message)
{
    error->code = code;
    snprintf(error->message, sizeof error->message, "%s", message);
    return code;
}

static int32_t status_of(td_status status, taeda_error *error)
{
    return status ? abi_fail(error, (int32_t)status, td_error_message()) : 0;
}

static int32_t abi_facts(const taeda_tensor *tensor, taeda_facts *facts)
{
    const td_tensor *t = inner(tensor);
    if (facts->size < sizeof(taeda_facts)) return TAEDA_VALUE_ERROR;
    facts->dtype = t->dtype;
    facts->ndim = t->ndim;
    facts->on_cpu = !td_is_meta(t);
    facts->numel = t->numel;
    facts->sizes = t->sizes;
    facts->strides = t->strides;
    facts->data = td_data(t);
    return 0;
}

static int32_t abi_empty(int32_t dtype, int32_t ndim, const int64_t *sizes, int32_t on_cpu, taeda_tensor **out, taeda_error *error)
{
    td_tensor *t;
    if (dtype < 0 || dtype > TAEDA_COMPLEX128) return abi_fail(error, TAEDA_VALUE_ERROR, "empty: no such dtype");
    td_status status = td_tensor_empty(&t, (td_dtype)dtype, on_cpu ? TD_CPU : TD_META, ndim, sizes);
    if (!status) *out = (taeda_tensor *)t;
    return status_of(status, error);
}

static int32_t abi_contiguous(const taeda_tensor *tensor, taeda_tensor **out, taeda_error *error)
{
    td_tensor *t;
    td_status status = td_contiguous(&t, inner(tensor));
    if (!status) *out = (taeda_tensor *)t;
    return status_of(status, error);
}

static void abi_release(taeda_tensor *tensor) { td_tensor_free(inner(tensor)); }

/* ---- registration: kernels of the library that is being loaded ---- */
typedef struct Kernel { taeda_kernel call; void *user; int32_t inputs, outputs; char name[64]; } Kernel;
static PyObject *loading; /* dict of the library being loaded, or NULL */

static void kernel_free(PyObject *capsule) { free(PyCapsule_GetPointer(capsule, "taeda.kernel")); }

static int32_t abi_register(const char *name, int32_t inputs, int32_t outputs, taeda_kernel kernel, void *user)
{
    if (!loading || !kernel || inputs < 0 || inputs > TD_MAX_ARGS || outputs < 1 || outputs > TD_MAX_OUTS || strlen(name) >= 64) return TAEDA_VALUE_ERROR;
    Kernel *k = malloc(sizeof *k);
    if (!k) return TAEDA_MEMORY_ERROR;
    *k = (Kernel){kernel, user, inputs, outputs, {0}};
    snprintf(k->name, sizeof k->name, "%s", name);
    PyObject *capsule = PyCapsule_New(k, "taeda.kernel", kernel_free);
    int bad = !capsule || PyDict_SetItemString(loading, name, capsule) < 0;
    Py_XDECREF(capsule);
    return bad ? TAEDA_RUNTIME_ERROR : 0;
}

static const taeda_api api = {
    .size = sizeof(taeda_api), .major = TAEDA_ABI_MAJOR, .minor = TAEDA_ABI_MINOR, .facts = abi_facts, .empty = abi_empty,
    .contiguous = abi_contiguous, .release = abi_release, .fail = abi_fail, .parallel_for = td_parallel, .register_kernel = abi_register};

static int check_version(const char *path, uint32_t wanted)
{
    uint32_t major = wanted >> 16, minor = wanted & 0xffff;
    if (major == api.major && minor <= api.minor) return 0;
    PyErr_Format(PyExc_ImportError, "%s needs taeda ABI %u.%u, this core has %u.%u: build the extension against this core's headers, or "
                 "install a core that fits", path, major, minor, api.major, api.minor);
    return -1;
}

/* load_extension(path) -> {name: kernel} */
PyObject *td_load_extension(PyObject *m, PyObject *path_object)
{
    const char *path = PyUnicode_AsUTF8AndSize(path_object, NULL);
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!path) return NULL;
    if (!library) return PyErr_Format(PyExc_ImportError, "cannot open the extension: %s", dlerror());
    uint32_t (*abi)(void);
    int32_t (*init)(const taeda_api *);
    *(void **)&abi = dlsym(library, "taeda_ext_abi");
    *(void **)&init = dlsym(library, "taeda_ext_init");
    if (!abi || !init)
        return PyErr_Format(PyExc_ImportError, "%s is no taeda extension: it lacks %s", path, abi ? "taeda_ext_init" : "taeda_ext_abi");
    if (check_version(path, abi()) < 0) return NULL;
    PyObject *made = loading = PyDict_New();
    int32_t code = made ? init(&api) : TAEDA_MEMORY_ERROR;
    loading = NULL;
    if (!code) return made;
    Py_XDECREF(made);
    return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ImportError, "%s: taeda_ext_init returned %d", path, code);
}

static PyObject *results(Kernel *k, taeda_tensor **outputs)
{
    PyObject *made = k->outputs == 1 ? NULL : PyTuple_New(k->outputs);
    for (int i = 0; i < k->outputs; i++) {
        PyObject *o = td_wrap(inner(outputs[i]));
        if (k->outputs == 1) return o;
        if (made && o) PyTuple_SetItem(made, i, o);
        else Py_XDECREF(o);
    }
    return made;
}

/* call_kernel(kernel, tensors) -> tensor or tuple */
PyObject *td_call_kernel(PyObject *m, PyObject *args)
{
    PyObject *capsule, *tensors;
    if (!PyArg_ParseTuple(args, "OO!", &capsule, &PyTuple_Type, &tensors)) return NULL;
    Kernel *k = PyCapsule_GetPointer(capsule, "taeda.kernel");
    if (!k) return NULL;
    if (PyTuple_Size(tensors) != k->inputs)
        return PyErr_Format(PyExc_TypeError, "%s takes %d tensors, got %zd", k->name, k->inputs, PyTuple_Size(tensors));
    const taeda_tensor *inputs[TD_MAX_ARGS];
    taeda_tensor *outputs[TD_MAX_OUTS] = {0};
    for (int i = 0; i < k->inputs; i++) {
        PyObject *o = PyTuple_GetItem(tensors, i);
        if (!td_is_tensor(o)) return PyErr_Format(PyExc_TypeError, "%s: argument %d must be a Tensor, not %R", k->name, i, Py_TYPE(o));
        inputs[i] = (const taeda_tensor *)TD_T(o);
    }
    taeda_error error = {0};
    taeda_call call = {sizeof call, k->inputs, k->outputs, inputs, outputs, k->user, &error};
    int32_t code = k->call(&call);
    for (int i = 0; !code && i < k->outputs; i++)
        if (!outputs[i]) code = abi_fail(&error, TAEDA_RUNTIME_ERROR, "the kernel succeeded but made no output");
    if (!code) return results(k, outputs);
    for (int i = 0; i < k->outputs; i++) td_tensor_free(inner(outputs[i]));
    error.message[sizeof error.message - 1] = 0;
    return td_raise(td_fail(code > 0 && code <= TAEDA_MEMORY_ERROR ? (td_status)code : TD_RUNTIME_ERROR, "%s: %s", k->name, error.message));
}
