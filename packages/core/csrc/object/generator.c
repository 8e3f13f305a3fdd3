/* generator.c - taeda.Generator: a Python handle on a Philox stream. */
#include "object/py.h"
#include <sys/random.h>
#include "runtime/device.h"

typedef struct Generator {
    PyObject_HEAD td_generator own, *stream; /* stream: &own, or the process-wide default */
    td_device device;                        /* what it says; its numbers are the same on all */
} Generator;

PyTypeObject *GeneratorT;
PyObject *td_default_generator_object;

td_generator *td_generator_from(PyObject *o)
{
    return PyObject_TypeCheck(o, GeneratorT) ? ((Generator *)o)->stream : NULL;
}

PyObject *td_generator_object(td_generator *g)
{
    if (g == &td_default_generator) return Py_NewRef(td_default_generator_object);
    return Py_NewRef((PyObject *)((char *)g - offsetof(Generator, own)));
}

static PyObject *generator_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"device", NULL};
    PyObject *device = Py_None;
    td_device d = TD_CPU;
    if (!PyArg_ParseTupleAndKeywords(args, kw, "|O:Generator", names, &device)) return NULL;
    if (device != Py_None && td_device_from(device, &d) != 1)
        return PyErr_Occurred()
                   ? NULL
                   : PyErr_Format(PyExc_TypeError,
                                  "Generator(): device must be a device or a string, got %R",
                                  Py_TYPE(device));
    if (d != TD_CPU && td_device_type(d) != TD_CUDA)
        return PyErr_Format(PyExc_RuntimeError,
                            "Generator(): device must be 'cpu' or 'cuda', got %R", device);
    Generator *g = (Generator *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!g) return NULL;
    g->own = (td_generator){67280421310721ull, 0}; /* the field's documented default seed */
    g->stream = &g->own;
    g->device = d;
    return (PyObject *)g;
}

static void generator_dealloc(PyObject *o)
{
    PyTypeObject *type = Py_TYPE(o);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(o);
    Py_DECREF(type);
}

static PyObject *set_seed(PyObject *o, uint64_t seed)
{
    *((Generator *)o)->stream = (td_generator){seed, 0};
    return Py_NewRef(o);
}

static PyObject *generator_manual_seed(PyObject *o, PyObject *value)
{
    if (!PyLong_Check(value) || PyBool_Check(value))
        return PyErr_Format(PyExc_RuntimeError, "manual_seed expected a long, but got %S",
                            Py_TYPE(value));
    int overflow;
    long long as_signed = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (!overflow) return set_seed(o, (uint64_t)as_signed);
    unsigned long long seed = PyLong_AsUnsignedLongLong(value);
    if (seed == (unsigned long long)-1 && PyErr_Occurred())
        return PyErr_Format(
            PyExc_ValueError,
            "Overflow when unpacking long: a seed lies in [-2**63, 2**64 - 1], got %R", value);
    return set_seed(o, seed);
}

static PyObject *generator_seed(PyObject *o, PyObject *unused)
{
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        return PyErr_Format(PyExc_RuntimeError, "the operating system gave no random seed");
    Py_XDECREF(set_seed(o, seed >> 11)); /* 53 bits: a seed that every JSON reader keeps exactly */
    return PyLong_FromUnsignedLongLong(((Generator *)o)->stream->seed);
}

static PyObject *generator_initial_seed(PyObject *o, PyObject *unused)
{
    return PyLong_FromUnsignedLongLong(((Generator *)o)->stream->seed);
}

static PyObject *generator_get_state(PyObject *o, PyObject *unused)
{
    td_tensor *t;
    int64_t n = sizeof(td_generator);
    TD_PY(td_tensor_empty(&t, TD_U8, TD_CPU, 1, &n));
    memcpy(td_data(t), ((Generator *)o)->stream, sizeof(td_generator));
    return td_wrap(t);
}

static PyObject *generator_set_state(PyObject *o, PyObject *state)
{
    if (!td_is_tensor(state) || TD_T(state)->dtype != TD_U8)
        return PyErr_Format(PyExc_TypeError, "a generator's state is a uint8 tensor, got %R",
                            Py_TYPE(state));
    const td_tensor *t = TD_T(state);
    if (t->numel != sizeof(td_generator) || !td_is_contiguous(t) || t->device != TD_CPU)
        return PyErr_Format(PyExc_RuntimeError,
                            "a generator's state has %zd contiguous bytes on the cpu, got %lld",
                            sizeof(td_generator), (long long)t->numel);
    memcpy(((Generator *)o)->stream, td_data(t), sizeof(td_generator));
    return Py_NewRef(o);
}

static PyObject *generator_clone(PyObject *o, PyObject *unused)
{
    PyObject *made = PyObject_CallObject((PyObject *)GeneratorT, NULL);
    if (!made) return NULL;
    *((Generator *)made)->stream = *((Generator *)o)->stream;
    ((Generator *)made)->device = ((Generator *)o)->device;
    return made;
}

static PyObject *not_for_graphs(const char *name)
{
    return PyErr_Format(PyExc_NotImplementedError,
                        "Generator.%s serves the capture of CUDA graphs, and there are none yet: "
                        "use get_state, set_state or clone_state",
                        name);
}
static PyObject *generator_graphsafe_get_state(PyObject *o, PyObject *unused)
{
    return not_for_graphs("graphsafe_get_state");
}
static PyObject *generator_graphsafe_set_state(PyObject *o, PyObject *state)
{
    if (!PyObject_TypeCheck(state, GeneratorT))
        return PyErr_Format(PyExc_TypeError,
                            "graphsafe_set_state takes a generator whose state to share, got %R",
                            Py_TYPE(state));
    return not_for_graphs("graphsafe_set_state");
}

static PyObject *generator_device(PyObject *o, void *c)
{
    return td_device_object(((Generator *)o)->device);
}
static PyObject *generator_reduce(PyObject *o, PyObject *unused)
{
    const Generator *g = (Generator *)o;
    unsigned long long seed = g->stream->seed, offset = g->stream->offset;
    char device[TD_DEVICE_TEXT];
    if (g->device == TD_CPU) return Py_BuildValue("O()(KK)", GeneratorT, seed, offset);
    return Py_BuildValue("O(s)(KK)", GeneratorT, td_device_text(g->device, device), seed, offset);
}
static PyObject *generator_setstate(PyObject *o, PyObject *pair)
{
    unsigned long long seed, offset;
    if (!PyArg_ParseTuple(pair, "KK", &seed, &offset)) return NULL;
    *((Generator *)o)->stream = (td_generator){seed, offset};
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"manual_seed", generator_manual_seed, METH_O,
     "Start the stream of a seed; returns the generator."},
    {"seed", generator_seed, METH_NOARGS,
     "Start the stream of a seed from the operating system; returns the seed."},
    {"initial_seed", generator_initial_seed, METH_NOARGS, "The seed of the stream."},
    {"get_state", generator_get_state, METH_NOARGS, "The state as a uint8 tensor."},
    {"set_state", generator_set_state, METH_O, "Go to a state that get_state gave."},
    {"clone_state", generator_clone, METH_NOARGS, "An independent generator at the same place."},
    {"graphsafe_get_state", generator_graphsafe_get_state, METH_NOARGS,
     "A generator that shares this one's state, for CUDA graphs: NotImplementedError, for there "
     "are none yet."},
    {"graphsafe_set_state", generator_graphsafe_set_state, METH_O,
     "Share a generator's state, for CUDA graphs: NotImplementedError, for there are none yet."},
    {"__reduce__", generator_reduce, METH_NOARGS, "Pickled as seed and offset."},
    {"__setstate__", generator_setstate, METH_O, "Back to a pickled state."},
    {0}};
static PyGetSetDef fields[] = {
    {"device", generator_device, 0, "Where it was made for: cpu or cuda.", 0}, {0}};

int td_add_generator(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_new, generator_new},
        {Py_tp_dealloc, generator_dealloc},
        {Py_tp_methods, methods},
        {Py_tp_getset, fields},
        {Py_tp_doc,
         "Generator(device='cpu')\n--\n\nA stream of random numbers, made by Philox4x32-10: the "
         "same numbers on every device.\n\n"
         "Args:\n"
         "    device: where its numbers are drawn, 'cpu' or 'cuda', or a device of them\n"
         "        (default: 'cpu'). RuntimeError for other kinds, and for one that is not "
         "there.\n\n"
         ">>> a, b = (taeda.Generator().manual_seed(7) for _ in range(2))\n"
         ">>> taeda.equal(taeda.rand(3, generator=a), taeda.rand(3, generator=b))\nTrue"},
        {0}};
    static PyType_Spec spec = {"taeda.Generator", sizeof(Generator), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    if (!(GeneratorT = (PyTypeObject *)PyType_FromSpec(&spec))) return -1;
    Generator *g = (Generator *)PyObject_CallObject((PyObject *)GeneratorT, NULL);
    if (!g) return -1;
    td_default_generator = g->own;
    g->stream = &td_default_generator;
    td_default_generator_object = (PyObject *)g;
    if (PyModule_AddObjectRef(module, "default_generator", (PyObject *)g) < 0) return -1;
    return PyModule_AddObjectRef(module, "Generator", (PyObject *)GeneratorT);
}
