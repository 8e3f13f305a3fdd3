/* cuda_memory.c - what taeda.cuda asks of the allocators of device memory and of pinned memory.
 * Arguments are checked by the Python that calls. */
#include "binding/cuda.h"
#include "cuda/fault.h"
#include "cuda/host.h"
#include "cuda/ipc.h"
#include "cuda/pool.h"
#include "cuda/pool_settings.h"

/* ---- memory ---- */
static int put(PyObject *d, const char *name, const char *part, int64_t value)
{
    char key[96];
    snprintf(key, sizeof key, "%s%s", name, part);
    PyObject *number = PyLong_FromLongLong(value);
    int status = number ? PyDict_SetItemString(d, key, number) : -1;
    Py_XDECREF(number);
    return status;
}
static int put_count(PyObject *d, const char *name, const char *pool, const struct td_cuda_count *c)
{
    char start[64];
    snprintf(start, sizeof start, "%s%s", name, pool);
    return put(d, start, ".current", c->current) || put(d, start, ".peak", c->peak) ||
           put(d, start, ".allocated", c->allocated) || put(d, start, ".freed", c->freed);
}
static int put_counts(PyObject *d, const char *name, const struct td_cuda_count c[TD_CUDA_KINDS])
{
    return put_count(d, name, ".all", &c[TD_CUDA_ALL]) ||
           put_count(d, name, ".small_pool", &c[TD_CUDA_SMALL]) ||
           put_count(d, name, ".large_pool", &c[TD_CUDA_LARGE]);
}
static int put_stats(PyObject *d, const td_cuda_stats *s)
{
    int64_t most = td_cuda_settings.max_split;
#define PUT(name) \
    if (put_counts(d, #name, s->name)) return -1;
    TD_CUDA_COUNTS(PUT)
#undef PUT
    return put_count(d, "oversize_allocations", "", &s->oversize_allocations) ||
           put_count(d, "oversize_segments", "", &s->oversize_segments) ||
           put(d, "max_split_size", "", most == INT64_MAX ? -1 : most) ||
           put(d, "num_alloc_retries", "", s->retries) || put(d, "num_ooms", "", s->ooms) ||
           put(d, "num_sync_all_streams", "", s->waits) ||
           put(d, "num_device_alloc", "", s->driver_allocs) ||
           put(d, "num_device_free", "", s->driver_frees);
}
static PyObject *stats(PyObject *m, PyObject *ordinal)
{
    long k = PyLong_AsLong(ordinal);
    if (k == -1 && PyErr_Occurred()) return NULL;
    td_cuda_stats s;
    td_cuda_pool_stats((int)k, &s);
    PyObject *made = PyDict_New();
    if (made && put_stats(made, &s)) Py_CLEAR(made);
    return made;
}
static PyObject *reset(PyObject *m, PyObject *args)
{
    int ordinal, peaks;
    if (!PyArg_ParseTuple(args, "ip", &ordinal, &peaks)) return NULL;
    td_cuda_pool_reset(ordinal, peaks);
    Py_RETURN_NONE;
}
static PyObject *trim(PyObject *m, PyObject *ordinal)
{
    long k = PyLong_AsLong(ordinal);
    if (k == -1 && PyErr_Occurred()) return NULL;
    TD_PY(td_cuda_pool_trim((int)k));
    Py_RETURN_NONE;
}
static PyObject *memory(PyObject *m, PyObject *ordinal)
{
    long k = PyLong_AsLong(ordinal);
    size_t unused, total;
    if (k == -1 && PyErr_Occurred()) return NULL;
    TD_PY(td_cuda_use((int)k));
    int code = td_cu.cuMemGetInfo_v2(&unused, &total);
    if (code) return td_raise(td_cuda_failed(code, "asking for free memory"));
    return Py_BuildValue("(nn)", (Py_ssize_t)unused, (Py_ssize_t)total);
}

/* ---- pinned memory ---- */
static PyObject *is_pinned(PyObject *m, PyObject *o)
{
    if (!td_is_tensor(o))
        return PyErr_Format(PyExc_TypeError, "wanted a Tensor, got %S", Py_TYPE(o));
    return PyBool_FromLong(td_cuda_is_pinned(TD_T(o)));
}
static PyObject *host_trim(PyObject *m, PyObject *unused)
{
    TD_PY(td_cuda_host_trim());
    Py_RETURN_NONE;
}
static PyObject *host_stats(PyObject *m, PyObject *unused)
{
    td_cuda_host_stats s;
    td_cuda_host_stats_of(&s);
    PyObject *made = PyDict_New();
    if (!made || put_count(made, "allocation", ".all", &s.allocation) ||
        put_count(made, "segment", ".all", &s.segment) ||
        put_count(made, "allocated_bytes", ".all", &s.allocated_bytes) ||
        put_count(made, "reserved_bytes", ".all", &s.reserved_bytes) ||
        put(made, "num_host_alloc", "", s.host_allocs) ||
        put(made, "num_host_free", "", s.host_frees) ||
        put(made, "host_alloc_time.total", "", s.host_alloc_us) ||
        put(made, "host_free_time.total", "", s.host_free_us))
        Py_CLEAR(made);
    return made;
}
static PyObject *host_reset(PyObject *m, PyObject *peaks)
{
    td_cuda_host_reset(PyObject_IsTrue(peaks) == 1);
    Py_RETURN_NONE;
}

/* ---- how the allocator works ---- */
static PyObject *settings(PyObject *m, PyObject *text)
{
    const char *utf8 = PyUnicode_AsUTF8AndSize(text, NULL);
    if (!utf8) return NULL;
    TD_PY(td_cuda_settings_read(utf8));
    Py_RETURN_NONE;
}
static PyObject *backend(PyObject *m, PyObject *unused)
{
    return PyUnicode_FromString(td_cuda_settings.async ? "cudaMallocAsync" : "native");
}
static PyObject *limit(PyObject *m, PyObject *args) /* (ordinal, bytes); bytes -1: none */
{
    int ordinal;
    long long bytes;
    if (!PyArg_ParseTuple(args, "iL", &ordinal, &bytes)) return NULL;
    td_cuda_pool_limit(ordinal, bytes < 0 ? INT64_MAX : bytes);
    Py_RETURN_NONE;
}
static PyObject *uncached(PyObject *m, PyObject *yes)
{
    td_cuda_pool_uncached(PyObject_IsTrue(yes) == 1);
    Py_RETURN_NONE;
}

/* ---- blocks without a tensor: (address, handle) ---- */
static PyObject *raw_new(PyObject *m, PyObject *args)
{
    int ordinal;
    long long bytes;
    unsigned long long stream;
    char *data;
    void *block;
    if (!PyArg_ParseTuple(args, "iLK", &ordinal, &bytes, &stream)) return NULL;
    void *before = td_cuda_stream(ordinal);
    td_cuda_set_stream(ordinal, (void *)(uintptr_t)stream);
    td_status status = td_cuda_alloc(&data, bytes, td_device_of(TD_CUDA, ordinal), &block);
    td_cuda_set_stream(ordinal, before);
    TD_PY(status);
    return Py_BuildValue("(NN)", PyLong_FromVoidPtr(data), PyLong_FromVoidPtr(block));
}
static PyObject *raw_free(PyObject *m, PyObject *handle)
{
    void *block = PyLong_AsVoidPtr(handle);
    if (!block && PyErr_Occurred()) return NULL;
    td_cuda_release(block, NULL, 0);
    Py_RETURN_NONE;
}

/* ---- functions of somebody else, and private pools, by address ---- */
static PyObject *replace(PyObject *m, PyObject *args)
{
    unsigned long long give, take;
    if (!PyArg_ParseTuple(args, "KK", &give, &take)) return NULL;
    TD_PY(td_cuda_pool_replace((td_cuda_give)(uintptr_t)give, (td_cuda_take)(uintptr_t)take));
    Py_RETURN_NONE;
}
static PyObject *pool_new(PyObject *m, PyObject *args)
{
    unsigned long long give, take;
    td_cuda_private *p;
    if (!PyArg_ParseTuple(args, "KK", &give, &take)) return NULL;
    TD_PY(td_cuda_private_new(&p, (td_cuda_give)(uintptr_t)give, (td_cuda_take)(uintptr_t)take));
    return Py_BuildValue("(NL)", PyLong_FromVoidPtr(p), (long long)td_cuda_private_id(p));
}
static PyObject *pool_drop(PyObject *m, PyObject *handle)
{
    td_cuda_private *p = PyLong_AsVoidPtr(handle);
    if (!p && PyErr_Occurred()) return NULL;
    td_cuda_private_drop(p);
    Py_RETURN_NONE;
}
static PyObject *pool_owners(PyObject *m, PyObject *handle)
{
    td_cuda_private *p = PyLong_AsVoidPtr(handle);
    if (!p && PyErr_Occurred()) return NULL;
    return PyLong_FromLong(td_cuda_private_owners(p));
}
static PyObject *pool_enter(PyObject *m, PyObject *args) /* (ordinal, handle or 0) -> before */
{
    int ordinal;
    unsigned long long handle;
    if (!PyArg_ParseTuple(args, "iK", &ordinal, &handle)) return NULL;
    td_cuda_private *before, *chosen = (td_cuda_private *)(uintptr_t)handle;
    if (td_cuda_private_enter(ordinal, chosen, &before) != TD_OK) return td_raise(TD_MEMORY_ERROR);
    return PyLong_FromVoidPtr(before);
}

/* ---- what there is ---- */
/* Where Python is: a number of taeda.cuda._history. An exception of the caller stays. */
static int64_t stack(void)
{
    static PyObject *here;
    if (!Py_IsInitialized()) return -1;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *type, *value, *trace, *made = NULL;
    PyErr_Fetch(&type, &value, &trace);
    if (td_python_function(&here, "taeda.cuda._history", "here"))
        made = PyObject_CallFunction(here, "z", td_running);
    int64_t number = made ? PyLong_AsLongLong(made) : -1;
    if (PyErr_Occurred()) PyErr_WriteUnraisable(here);
    Py_XDECREF(made);
    PyErr_Restore(type, value, trace);
    PyGILState_Release(state);
    return number;
}
static void stack_text(int64_t number, char *text, int room)
{
    static PyObject *line;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *made = NULL;
    if (td_python_function(&line, "taeda.cuda._history", "line"))
        made = PyObject_CallFunction(line, "L", (long long)number);
    const char *utf8 = made ? PyUnicode_AsUTF8AndSize(made, NULL) : NULL;
    snprintf(text, (size_t)room, "%s", utf8 ? utf8 : "of an unknown place");
    if (PyErr_Occurred()) PyErr_WriteUnraisable(line);
    Py_XDECREF(made);
    PyGILState_Release(state);
}
static void fault_place(char text[TD_CUDA_PLACE_TEXT])
{
    static PyObject *place;
    if (!Py_IsInitialized()) return;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *type, *value, *trace, *made = NULL;
    PyErr_Fetch(&type, &value, &trace);
    if (td_python_function(&place, "taeda.cuda._faults", "place"))
        made = PyObject_CallNoArgs(place);
    const char *utf8 = made ? PyUnicode_AsUTF8AndSize(made, NULL) : NULL;
    snprintf(text, TD_CUDA_PLACE_TEXT, "%s", utf8 ? utf8 : "");
    if (PyErr_Occurred()) PyErr_WriteUnraisable(place);
    Py_XDECREF(made);
    PyErr_Restore(type, value, trace);
    PyGILState_Release(state);
}
/* tensors that only a circle of references holds, what CuPy keeps, and what other processes gave
 * back */
static void collect(void)
{
    static PyObject *function;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *type, *value, *trace, *made = NULL;
    PyErr_Fetch(&type, &value, &trace);
    if (td_python_function(&function, "taeda.cuda._memory", "collect_unused"))
        made = PyObject_CallNoArgs(function);
    if (!made) PyErr_WriteUnraisable(function);
    Py_XDECREF(made);
    td_cuda_ipc_collect();
    PyErr_Restore(type, value, trace);
    PyGILState_Release(state);
}
static PyObject *record(PyObject *m, PyObject *args)
{
    long long most;
    int recording;
    if (!PyArg_ParseTuple(args, "Li", &most, &recording)) return NULL;
    td_cuda_pool_record(most, recording);
    Py_RETURN_NONE;
}
/* a list of n tuples, which `one` makes; the items are freed */
static PyObject *listed(void *items, int64_t n, PyObject *(*one)(const void *items, int64_t k))
{
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (int64_t k = 0; list && k < n; k++) {
        PyObject *item = one(items, k);
        if (!item) Py_CLEAR(list);
        else PyList_SetItem(list, (Py_ssize_t)k, item);
    }
    free(items);
    return list;
}
static PyObject *seen_item(const void *items, int64_t k)
{
    const td_cuda_seen *s = (const td_cuda_seen *)items + k;
    return Py_BuildValue("(KKLLLLLKiii)", (unsigned long long)s->segment,
                         (unsigned long long)s->address, (long long)s->bytes, (long long)s->asked,
                         (long long)s->stack, (long long)s->segment_bytes, (long long)s->pool,
                         (unsigned long long)(uintptr_t)s->stream, s->ordinal, s->state, s->small);
}
static PyObject *seen(PyObject *m, PyObject *unused)
{
    int64_t n;
    td_cuda_seen *all = td_cuda_pool_seen(&n);
    return listed(all, n, seen_item);
}
static PyObject *step_item(const void *items, int64_t k)
{
    const td_cuda_step *s = (const td_cuda_step *)items + k;
    return Py_BuildValue("(sKLLLKi)", s->action, (unsigned long long)s->address,
                         (long long)s->bytes, (long long)s->time_us, (long long)s->stack,
                         (unsigned long long)(uintptr_t)s->stream, s->ordinal);
}
static PyObject *steps(PyObject *m, PyObject *unused)
{
    int64_t n;
    td_cuda_step *all = td_cuda_pool_steps(&n);
    return listed(all, n, step_item);
}

static PyMethodDef methods[] = {
    {"cuda_stats", stats, METH_O, "Statistics of the allocator."},
    {"cuda_reset", reset, METH_VARARGS, "Peaks, or sums, start from what is held now."},
    {"cuda_trim", trim, METH_O, "Give unused segments back."},
    {"cuda_memory", memory, METH_O, "Free and total bytes as the driver sees them."},
    {"cuda_is_pinned", is_pinned, METH_O, "Does the tensor lie in page-locked memory of ours?"},
    {"cuda_host_trim", host_trim, METH_NOARGS, "Give unused pinned memory back."},
    {"cuda_host_stats", host_stats, METH_NOARGS, "Statistics of pinned memory."},
    {"cuda_host_reset", host_reset, METH_O, "Peaks, or sums, start from what is held now."},
    {"cuda_pool_settings", settings, METH_O, "Read settings of the allocator."},
    {"cuda_pool_backend", backend, METH_NOARGS, "native or cudaMallocAsync."},
    {"cuda_pool_limit", limit, METH_VARARGS, "The most bytes of a device; -1: no limit."},
    {"cuda_pool_uncached", uncached, METH_O, "Does every allocation come from the driver?"},
    {"cuda_raw_new", raw_new, METH_VARARGS, "A block without a tensor: address and handle."},
    {"cuda_raw_free", raw_free, METH_O, "Give such a block back, by its handle."},
    {"cuda_pool_replace", replace, METH_VARARGS, "Two functions allocate from now on."},
    {"cuda_pool_new", pool_new, METH_VARARGS, "A private pool: handle and number."},
    {"cuda_pool_drop", pool_drop, METH_O, "The maker of a private pool is gone."},
    {"cuda_pool_owners", pool_owners, METH_O, "Its maker, and who allocates from it."},
    {"cuda_pool_enter", pool_enter, METH_VARARGS, "This thread allocates from it; the one before."},
    {"cuda_pool_record", record, METH_VARARGS, "Keep steps and places, by flags."},
    {"cuda_pool_seen", seen, METH_NOARGS, "All blocks, by address."},
    {"cuda_pool_steps", steps, METH_NOARGS, "The steps that were kept, oldest first."},
    {NULL, NULL, 0, NULL},
};

int td_add_cuda_memory(PyObject *module)
{
    td_cuda_stack = stack;
    td_cuda_stack_text = stack_text;
    td_cuda_collect = collect;
    td_cuda_fault_place = fault_place;
    return PyModule_AddFunctions(module, methods);
}
