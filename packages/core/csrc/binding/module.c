/* module.c - puts the C types and functions into the module taeda._native.core. */
#include "binding/cuda.h"
#include "binding/module.h"
#include "abi/abi.h"
#include "backward/backward.h"
#include "binding/binding.h"
#include "object/dlpack.h"
#include "backward/forward.h"
#include "runtime/cpu.h"
#include "graph/node.h"
#include "cpu/fft/fft_plan.h"
#include "dispatch/custom.h"
#include "dispatch/noted.h"
#include "runtime/alloc.h"
#include "runtime/alloc_events.h"
#include "cpu/run/blas.h"
#include "runtime/thread_local.h"

/* ---- the interpreter lock around heavy kernels: only a thread that entered through the dispatcher
 * holds it ---- */
static TD_THREAD_LOCAL int unlocked;
static void *unlock(void)
{
    if (unlocked || td_in_parallel()) return NULL;
    unlocked = 1;
    return PyEval_SaveThread();
}
static void relock(void *token)
{
    unlocked = 0;
    PyEval_RestoreThread(token);
}

static PyObject *register_parameter_type(PyObject *m, PyObject *type)
{
    if (!PyType_Check(type) || !PyType_IsSubtype((PyTypeObject *)type, TensorT))
        return PyErr_Format(PyExc_TypeError, "wanted a subclass of Tensor, got %R", type);
    Py_XSETREF(ParameterT, (PyTypeObject *)Py_NewRef(type));
    Py_RETURN_NONE;
}
static PyObject *register_linalg_error(PyObject *m, PyObject *type)
{
    Py_XSETREF(td_linalg_error, Py_NewRef(type));
    Py_RETURN_NONE;
}
static PyObject *set_blas_path(PyObject *m, PyObject *args)
{
    const char *text;
    int shared;
    if (!PyArg_ParseTuple(args, "sp:set_blas_path", &text, &shared)) return NULL;
    td_blas_set_path(text, shared);
    Py_RETURN_NONE;
}
static PyObject *memory_stats(PyObject *m, PyObject *unused)
{
    td_alloc_stats s;
    td_alloc_get_stats(&s);
    return Py_BuildValue("{s:L,s:L,s:L,s:L,s:L,s:L,s:L}", "allocated", (long long)s.allocated,
                         "peak", (long long)s.peak, "cached", (long long)s.cached, "limit",
                         (long long)s.limit, "calls", (long long)s.calls, "mapped",
                         (long long)s.mapped, "fft_plans", (long long)td_fft_cached_bytes());
}
static PyObject *memory_reset_peak(PyObject *m, PyObject *unused)
{
    td_alloc_reset_peak();
    Py_RETURN_NONE;
}
static PyObject *memory_trim(PyObject *m, PyObject *unused)
{
    td_alloc_trim();
    Py_RETURN_NONE;
}
static PyObject *memory_set_limit(PyObject *m, PyObject *bytes)
{
    long long n = PyLong_AsLongLong(bytes);
    if (n == -1 && PyErr_Occurred()) return NULL;
    if (n < 0)
        return PyErr_Format(PyExc_ValueError, "a memory limit is at least 0 bytes, got %lld", n);
    td_alloc_set_limit(n);
    Py_RETURN_NONE;
}
static PyObject *memory_note(PyObject *m, PyObject *on)
{
    int yes = PyObject_IsTrue(on);
    if (yes < 0) return NULL;
    td_alloc_note_on(yes);
    Py_RETURN_NONE;
}
/* memory_noted() -> (lost, [(nanoseconds, block, bytes)]): what happened since the last call */
static PyObject *memory_noted(PyObject *m, PyObject *unused)
{
    td_alloc_event events[256];
    int64_t n = 0, lost = 0, all = 0;
    PyObject *made = PyList_New(0);
    do {
        n = made ? td_alloc_fetch(events, 256, &lost) : 0;
        all += lost;
        for (int64_t i = 0; made && i < n; i++) {
            PyObject *row = Py_BuildValue("(LLL)", (long long)events[i].when,
                                          (long long)events[i].block, (long long)events[i].bytes);
            if (!row || PyList_Append(made, row) < 0) Py_CLEAR(made);
            Py_XDECREF(row);
        }
    } while (n == 256);
    return made ? Py_BuildValue("(LN)", (long long)all, made) : NULL;
}
static PyObject *memory_fail_at(PyObject *m, PyObject *count)
{
    long long n = PyLong_AsLongLong(count);
    if (n == -1 && PyErr_Occurred()) return NULL;
    td_alloc_fail_at(n);
    Py_RETURN_NONE;
}
static PyObject *memory_guard(PyObject *m, PyObject *mode)
{
    long n = PyLong_AsLong(mode);
    if (n == -1 && PyErr_Occurred()) return NULL;
    if (n < TD_GUARD_OFF || n > TD_GUARD_BEFORE)
        return PyErr_Format(PyExc_ValueError,
                            "a guard is 0 (off), 1 (behind) or 2 (before), got %ld", n);
    int64_t written = td_alloc_guard((td_guard)n);
    return written < 0 ? PyErr_NoMemory() : PyLong_FromLongLong(written);
}
/* Callgrind counts what happens inside this function: it finds it by name (--toggle-collect), so it
 * is exported and stays one. */
__attribute__((visibility("default"), noinline)) PyObject *taeda_measured_region(PyObject *callable)
{
    PyObject *result = PyObject_CallObject(callable, NULL);
    __asm__ volatile(
        "" ::
            : "memory"); /* no tail call: the function must be on the stack until the end */
    return result;
}
static PyObject *measured_region(PyObject *m, PyObject *callable)
{
    return taeda_measured_region(callable);
}
/* op_rows() -> [(qualified name, family, kind, namespace, tags, tensor argument names)]: for tests
 * over the table */
static PyObject *op_rows(PyObject *m, PyObject *unused)
{
    static const char *const kinds[] = {"pointwise", "c", "python", "composite"};
    PyObject *made = PyList_New(0);
    for (int i = 0; made && i < td_schema_count; i++) {
        const td_schema *s = &td_schemas[i];
        PyObject *row = Py_BuildValue("(sssssi)", s->text, s->family, kinds[s->kind], s->namespace_,
                                      s->target, (int)s->flags);
        if (!row || PyList_Append(made, row) < 0) Py_CLEAR(made);
        Py_XDECREF(row);
    }
    return made;
}
static PyObject *op_parameters(PyObject *m, PyObject *name)
{
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    const td_schema *s = text ? td_find_schema(text) : NULL;
    if (!s) return text ? PyErr_Format(PyExc_ValueError, "the op table has no '%s'", text) : NULL;
    PyObject *made = PyTuple_New(s->nparams);
    for (int k = 0; made && k < s->nparams; k++) {
        int kind = s->params[k].type != TD_T_TENSOR ? 0 : s->params[k].flags & TD_P_LIST ? 2 : 1;
        PyObject *pair = Py_BuildValue("(si)", s->params[k].name, kind);
        if (!pair) Py_CLEAR(made);
        else PyTuple_SetItem(made, k, pair);
    }
    return made;
}
static PyObject *has_rule(PyObject *m, PyObject *name)
{
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    td_schema *s = text ? td_find_schema(text) : NULL;
    if (!text) return NULL;
    return PyBool_FromLong(s && td_rule(s));
}

static PyMethodDef methods[] = {
    {"rename_privateuse1", td_rename_privateuse1, METH_O, "A name for the private type of device."},
    {"privateuse1_name", td_privateuse1_name, METH_NOARGS,
     "The name of the private type of device."},
    {"device_host", td_device_host, METH_NOARGS,
     "Addresses of what a device in a library of its own may use."},
    {"register_privateuse1", td_register_privateuse1, METH_O,
     "The device table at an address serves the private type of device."},
    {"register_parameter_type", register_parameter_type, METH_O,
     "The subclass that takes the fast path."},
    {"register_linalg_error", register_linalg_error, METH_O,
     "The exception of failing factorisations."},
    {"set_blas_path", set_blas_path, METH_VARARGS,
     "set_blas_path(path, shared): where the BLAS library is, for when the first large product "
     "comes."},
    {"memory_stats", memory_stats, METH_NOARGS, "Bytes and blocks of the allocator."},
    {"memory_reset_peak", memory_reset_peak, METH_NOARGS,
     "Let the peak begin again at what is allocated now."},
    {"memory_trim", memory_trim, METH_NOARGS, "Give cached memory back to the system."},
    {"memory_set_limit", memory_set_limit, METH_O, "Most bytes that freed blocks may keep."},
    {"memory_set_table", td_set_memory_table, METH_O,
     "A callable whose text stands below errors of memory that is out."},
    {"memory_note", memory_note, METH_O, "Note what the allocator takes and gives back, or not."},
    {"memory_noted", memory_noted, METH_NOARGS,
     "(lost, [(nanoseconds, block, bytes)]) since the last call; bytes below 0 were given back."},
    {"memory_fail_at", memory_fail_at, METH_O,
     "Tests: the n-th allocation from now fails; 0 is off."},
    {"memory_guard", memory_guard, METH_O,
     "Tests: blocks end (1) or begin (2) at a page nobody may touch; how many were written behind "
     "so far."},
    {"measured_region", measured_region, METH_O,
     "Call a callable inside the function that Callgrind watches."},
    {"call_backend", td_call_backend, METH_VARARGS,
     "call_backend(op, arguments): run a kernel below every layer."},
    {"op_parameters", op_parameters, METH_O,
     "((name, 0 a value, 1 a Tensor, 2 a Tensor[]), ...) of an op."},
    {"load_extension", td_load_extension, METH_O,
     "load_extension(path): (kernels by name, names of operators) of a library built against "
     "taeda/abi.h."},
    {"call_kernel", td_call_kernel, METH_VARARGS, "call_kernel(kernel, tensors): run one of them."},
    {"kernel_counts", td_kernel_counts, METH_O, "How many tensors one takes and gives."},
    {"basic_view", td_basic_view, METH_VARARGS,
     "basic_view(tensor, key): one view, or None for an advanced key."},
    {"result_types", td_result_types, METH_NOARGS, "The named-tuple types of results, by name."},
    {"op_rows", op_rows, METH_NOARGS,
     "(name, family, kind, namespace, target, flags) of every op."},
    {"has_rule", has_rule, METH_O, "Has this op a derivative rule (or a stated reason why not)?"},
    {0}};

static const char *capability(void)
{
    switch (td_isa()) {
        case TD_ISA_AVX512: return "AVX512";
        case TD_ISA_AVX2: return "AVX2";
        default: return "DEFAULT";
    }
}

static int fill(PyObject *m)
{
    PyMethodDef *tables[] = {methods,
                             td_state_methods(),
                             td_noted_methods(),
                             td_engine_methods(),
                             td_task_methods(),
                             td_node_functions(),
                             td_forward_functions(),
                             td_array_methods(),
                             td_dlpack_methods(),
                             td_dlpack_table_methods(),
                             td_exchange_methods(),
                             td_living_methods(),
                             td_sequence_methods(),
                             td_numpy_methods(),
                             td_checksum_methods(),
                             td_shared_methods(),
                             td_files_methods(),
                             td_layout_methods()};
    td_put_dispatcher();
    td_load_loops();
    td_load_fast_rules();
    if (td_add_errors(m) < 0 || td_add_flags(m) < 0 || td_add_constants(m) < 0 ||
        td_add_device(m) < 0 || td_add_switches(m) < 0 || td_add_size(m) < 0 ||
        td_add_node_type(m) < 0 || td_add_saved_tensor(m) < 0 || td_add_tensor_type(m) < 0 ||
        td_add_generator(m) < 0 || td_add_operator(m) < 0 || td_add_program(m) < 0 ||
        td_add_cuda(m) < 0 || PyModule_AddStringConstant(m, "cpu_capability", capability()) < 0)
        return -1;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (PyModule_AddFunctions(m, tables[i]) < 0) return -1;
    PyObject *functions = td_function_tables();
    if (!functions || PyModule_AddObjectRef(m, "functions", functions) < 0) return -1;
    td_unlock_hook = unlock;
    td_relock_hook = relock;
    return 0;
}

void td_register(void) /* cffi released the lock around this call: take it back */
{
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *m = PyImport_AddModule("taeda._native.core");
    if (!m || fill(m) < 0) {
        PyObject_SetAttrString(m, "failed", Py_True);
        PyErr_Print();
    }
    PyGILState_Release(state);
}
