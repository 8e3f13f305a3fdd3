/* state.c - what is switched on in this thread: grad mode, layers, saved-tensor hooks. */
#include "cpu/matmul/gemm.h"
#include "object/forward.h"
#include "ops/creation.h"
#include "runtime/float_mode.h"
#include "runtime/thread_local.h"

TD_THREAD_LOCAL td_state td_here = {.grad_mode = 1};
int td_anomaly;
int td_dual_level;
td_forward_hooks td_forward;
td_dispatcher_hooks td_dispatcher;

static PyObject *get_grad_mode(PyObject *m, PyObject *unused)
{
    return PyBool_FromLong(td_here.grad_mode);
}
static PyObject *set_grad_mode(PyObject *m, PyObject *on) /* what it was */
{
    int v = PyObject_IsTrue(on);
    if (v < 0) return NULL;
    PyObject *before = PyBool_FromLong(td_here.grad_mode);
    td_here.grad_mode = (uint8_t)v;
    return before;
}
static PyObject *get_inference_mode(PyObject *m, PyObject *unused)
{
    return PyBool_FromLong(td_here.inference_mode);
}
static PyObject *set_layer_flag(PyObject *m, PyObject *args)
{
    unsigned int bit;
    int on;
    if (!PyArg_ParseTuple(args, "Ip", &bit, &on)) return NULL;
    int before = (td_here.layers & bit) != 0;
    td_here.layers = on ? td_here.layers | bit : td_here.layers & ~bit;
    return PyBool_FromLong(before);
}
/* both facts at once: a handler of a signal may raise between two calls */
static PyObject *set_tracing(PyObject *m, PyObject *state)
{
    long n = PyLong_AsLong(state);
    if (n == -1 && PyErr_Occurred()) return NULL;
    td_here.layers = n ? td_here.layers | TD_LAYER_TRACE : td_here.layers & ~TD_LAYER_TRACE;
    td_here.noting = n == 2;
    Py_RETURN_NONE;
}
static PyObject *get_layers(PyObject *m, PyObject *unused)
{
    return PyLong_FromUnsignedLong(td_here.layers);
}
static PyObject *get_excluded(PyObject *m, PyObject *unused)
{
    return PyLong_FromUnsignedLong(td_here.excluded);
}

static PyObject *set_anomaly(PyObject *m, PyObject *on)
{
    int v = (int)PyLong_AsLong(on); /* 0 off, 1 on, 2 on with the check for NaN */
    if (v == -1 && PyErr_Occurred()) return NULL;
    PyObject *before = PyLong_FromLong(td_anomaly);
    td_anomaly = v;
    return before;
}
static PyObject *get_anomaly(PyObject *m, PyObject *unused) { return PyLong_FromLong(td_anomaly); }

static PyObject *set_saved_hooks(PyObject *m, PyObject *args) /* returns the pair of before */
{
    PyObject *pack, *unpack;
    if (!PyArg_ParseTuple(args, "OO", &pack, &unpack)) return NULL;
    PyObject *before = PyTuple_Pack(2, td_here.pack_hook ? td_here.pack_hook : Py_None,
                                    td_here.unpack_hook ? td_here.unpack_hook : Py_None);
    Py_XSETREF(td_here.pack_hook, pack == Py_None ? NULL : Py_NewRef(pack));
    Py_XSETREF(td_here.unpack_hook, unpack == Py_None ? NULL : Py_NewRef(unpack));
    return before;
}

static PyObject *set_default_dtype(PyObject *m, PyObject *o)
{
    td_dtype d;
    if (!td_dtype_from(o, &d) || Py_TYPE(o) != DtypeT)
        return td_refuse_type("set_default_dtype(): wanted a taeda.dtype, got %V", o);
    if (!td_is_floating(d) || td_is_float8(d))
        return PyErr_Format(PyExc_TypeError,
                            "only floating-point types are supported as the default type, got %R",
                            o);
    td_default_dtype = d;
    Py_RETURN_NONE;
}
static PyObject *get_default_dtype(PyObject *m, PyObject *unused)
{
    return td_dtype_object(td_default_dtype);
}
static PyObject *get_default_device(PyObject *m, PyObject *unused)
{
    return td_device_object((td_device)td_here.default_device);
}
static PyObject *set_default_device(PyObject *m, PyObject *o)
{
    td_device d = TD_CPU;
    if (o != Py_None && td_device_from(o, &d) != 1)
        return PyErr_Occurred()
                   ? NULL
                   : PyErr_Format(PyExc_TypeError, "set_default_device(): got %R", Py_TYPE(o));
    td_here.default_device = (uint8_t)d;
    Py_RETURN_NONE;
}
static PyObject *get_num_threads(PyObject *m, PyObject *unused)
{
    return PyLong_FromLong(td_num_threads());
}
static PyObject *set_num_threads(PyObject *m, PyObject *o)
{
    if (!PyLong_Check(o) || PyBool_Check(o))
        return PyErr_Format(PyExc_TypeError, "set_num_threads expects an int, but got %S",
                            Py_TYPE(o));
    long n = PyLong_AsLong(o);
    if (n == -1 && PyErr_Occurred()) return NULL;
    if (n < 1 || n > 1024)
        return PyErr_Format(PyExc_RuntimeError,
                            "set_num_threads expects a positive integer up to 1024, got %ld", n);
    td_set_num_threads((int)n);
    Py_RETURN_NONE;
}

_Thread_local bool td_copies_inference;
static PyObject *set_copies_inference(PyObject *m, PyObject *on)
{
    bool before = td_copies_inference;
    td_copies_inference = PyObject_IsTrue(on);
    return PyBool_FromLong(before);
}
static PyObject *set_fill_fresh(PyObject *m, PyObject *on)
{
    td_fill_fresh = PyObject_IsTrue(on);
    Py_RETURN_NONE;
}
static PyObject *set_batch_invariant(PyObject *m, PyObject *on)
{
    td_batch_invariant = PyObject_IsTrue(on);
    Py_RETURN_NONE;
}
static PyObject *set_flush_denormal(PyObject *m, PyObject *on)
{
    return PyBool_FromLong(td_flush_denormal(PyObject_IsTrue(on)));
}

static PyObject *has_saved_hooks(PyObject *m, PyObject *unused)
{
    return PyBool_FromLong(td_here.pack_hook != NULL);
}

static PyMethodDef methods[] = {
    {"is_grad_enabled", get_grad_mode, METH_NOARGS,
     "is_grad_enabled()\n--\n\nTrue if operations record for backward in this thread.\n\n"
     ">>> with taeda.no_grad():\n"
     "...     taeda.is_grad_enabled()\n"
     "False"},
    {"_set_grad_enabled", set_grad_mode, METH_O, "Switch grad mode; returns the mode of before."},
    {"is_inference_mode_enabled", get_inference_mode, METH_NOARGS,
     "is_inference_mode_enabled()\n--\n\nTrue inside inference_mode.\n\n"
     ">>> with taeda.inference_mode():\n"
     "...     taeda.is_inference_mode_enabled()\n"
     "True"},
    {"_set_copies_inference", set_copies_inference, METH_O,
     "Are inference tensors saved as copies? Returns the answer of before."},
    {"set_layer_flag", set_layer_flag, METH_VARARGS,
     "set_layer_flag(bit, on): a layer wants to see calls; returns before."},
    {"set_tracing", set_tracing, METH_O,
     "Tracers of this thread: 0 none, 1 some, 2 one that reads its calls from noted_calls."},
    {"get_layers", get_layers, METH_NOARGS, "Bits of the active layers."},
    {"get_excluded", get_excluded, METH_NOARGS, "Bits of the hidden layers."},
    {"_set_anomaly", set_anomaly, METH_O,
     "0 off, 1 on, 2 on with a check for NaN; returns before."},
    {"_get_anomaly", get_anomaly, METH_NOARGS, "The anomaly setting."},
    {"_set_saved_hooks", set_saved_hooks, METH_VARARGS,
     "Innermost pack and unpack hooks; returns the pair of before."},
    {"has_saved_hooks", has_saved_hooks, METH_NOARGS,
     "True if a hook gets what operations save for backward in this thread."},
    {"set_default_dtype", set_default_dtype, METH_O,
     "set_default_dtype(d, /)\n--\n\ndtype of float factories and of Python floats.\n\n"
     "Args:\n"
     "    d: taeda.float32 (at the start), float64, float16 or bfloat16. TypeError for others.\n\n"
     ">>> taeda.set_default_dtype(taeda.float64)\n"
     ">>> taeda.ones(1).dtype\n"
     "taeda.float64\n"
     ">>> taeda.set_default_dtype(taeda.float32)"},
    {"get_default_dtype", get_default_dtype, METH_NOARGS,
     "get_default_dtype()\n--\n\ndtype of float factories and of Python floats.\n\n"
     ">>> taeda.get_default_dtype()\n"
     "taeda.float32"},
    {"get_default_device", get_default_device, METH_NOARGS,
     "get_default_device()\n--\n\nDevice of factories without device=.\n\n"
     ">>> with taeda.device(\"meta\"):\n"
     "...     taeda.get_default_device()\n"
     "device(type='meta')"},
    {"set_default_device", set_default_device, METH_O,
     "set_default_device(device, /)\n--\n\nDevice of factories without device=; None is the "
     "cpu.\n\n"
     "Args:\n"
     "    device: a device, its name, or the number of an accelerator; None for the cpu.\n"
     "        RuntimeError for one that is not there.\n\n"
     ">>> taeda.set_default_device(\"meta\")\n"
     ">>> taeda.ones(2).is_meta\n"
     "True\n"
     ">>> taeda.set_default_device(None)"},
    {"set_fill_fresh", set_fill_fresh, METH_O,
     "Fill what empty gives with a value that shows, or do not."},
    {"set_batch_invariant", set_batch_invariant, METH_O,
     "Compute a sample in the same way in any batch, or in the fastest way."},
    {"set_flush_denormal", set_flush_denormal, METH_O,
     "Treat tiny numbers as 0 in this thread; can the processor?"},
    {"get_num_threads", get_num_threads, METH_NOARGS,
     "get_num_threads()\n--\n\nThreads that one operation may use.\n\n"
     ">>> taeda.get_num_threads() >= 1\n"
     "True"},
    {"set_num_threads", set_num_threads, METH_O,
     "set_num_threads(count, /)\n--\n\nThreads that one operation may use.\n\n"
     "Args:\n"
     "    count: how many, from 1 to 1024. RuntimeError for others, TypeError for what is no "
     "int.\n\n"
     ">>> before = taeda.get_num_threads()\n"
     ">>> taeda.set_num_threads(2)\n"
     ">>> taeda.get_num_threads()\n"
     "2\n"
     ">>> taeda.set_num_threads(before)"},
    {0}};
PyMethodDef *td_state_methods(void) { return methods; }
