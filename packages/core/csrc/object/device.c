/* device.c - taeda.device: a type of device and an ordinal. The grammar knows every documented name; tensors live on
 * cpu and meta, and a request for another device says that it is not available. */
#include "object/py.h"

typedef struct Device {
    PyObject_HEAD
    int type, index; /* index -1: none given */
} Device;

PyTypeObject *DeviceT;
static const char *const type_names[] = {"cpu", "meta", "cuda", "mps", "xpu", "xla", "mtia", "hpu", "ipu", "mkldnn",
                                         "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "lazy", "vulkan", "privateuseone"};
enum { TYPES = sizeof type_names / sizeof *type_names };

static PyObject *device_make(int type, int index)
{
    Device *made = PyObject_New(Device, DeviceT);
    if (!made) return NULL;
    made->type = type;
    made->index = index;
    return (PyObject *)made;
}

PyObject *td_device_object(td_device d) { return device_make(d == TD_META, -1); }

static int parse_text(const char *text, int *type, int *index)
{
    const char *colon = strchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    *index = -1;
    for (*type = 0; *type < TYPES; ++*type)
        if (strlen(type_names[*type]) == length && !strncmp(type_names[*type], text, length)) break;
    int bad = *type == TYPES;
    if (!bad && colon) {
        char *end;
        long value = strtol(colon + 1, &end, 10);
        bad = colon[1] < '0' || colon[1] > '9' || *end || value > 127 || (colon[1] == '0' && colon[2]);
        *index = (int)value;
    }
    if (bad)
        PyErr_Format(PyExc_RuntimeError, "Invalid device string: '%s'; wanted a device type such as cpu, cuda or meta, "
                     "with an optional ordinal as in 'cuda:0'", text);
    return bad ? -1 : 0;
}

static int unavailable(int type)
{
    PyErr_Format(PyExc_RuntimeError, "device '%s' is not available in this build of taeda: tensors live on 'cpu' or 'meta'; "
                 "test with taeda.%s.is_available() before asking for it", type_names[type], type_names[type]);
    return -1;
}

static int parse_object(PyObject *o, int *type, int *index)
{
    if (Py_TYPE(o) == DeviceT) {
        *type = ((Device *)o)->type;
        *index = ((Device *)o)->index;
        return 1;
    }
    if (PyUnicode_Check(o)) {
        const char *text = PyUnicode_AsUTF8AndSize(o, NULL);
        return text && parse_text(text, type, index) == 0 ? 1 : -1;
    }
    if (PyLong_Check(o) && !PyBool_Check(o)) {
        PyErr_SetString(PyExc_RuntimeError, "a bare device ordinal means the current accelerator, and none is available here; "
                        "name a device such as 'cpu'");
        return -1;
    }
    return 0;
}

int td_device_from(PyObject *o, td_device *out)
{
    int type, index, status = parse_object(o, &type, &index);
    if (status != 1) return status;
    if (type > 1) return unavailable(type);
    if (index > 0 && type == 0) {
        PyErr_Format(PyExc_RuntimeError, "there is one cpu device, with ordinal 0; got 'cpu:%d'", index);
        return -1;
    }
    *out = type ? TD_META : TD_CPU;
    return 1;
}

static PyObject *device_new(PyTypeObject *t, PyObject *args, PyObject *kw)
{
    char *names[] = {"type", "index", NULL};
    PyObject *spec, *ordinal = Py_None;
    if (PyTuple_Size(args) == 0 && kw && PyDict_GetItemString(kw, "device")) names[0] = "device";
    if (!PyArg_ParseTupleAndKeywords(args, kw, "O|O:device", names, &spec, &ordinal)) return NULL;
    int type, index, status = parse_object(spec, &type, &index);
    if (status < 0) return NULL;
    if (status == 0)
        return PyErr_Format(PyExc_TypeError, "device(): wanted a string or a device, got %R", Py_TYPE(spec));
    if (ordinal != Py_None) {
        if (index >= 0)
            return PyErr_Format(PyExc_RuntimeError, "type (string) must not include an index because index was passed "
                                "explicitly: %S", spec);
        long value = PyLong_AsLong(ordinal);
        if (value == -1 && PyErr_Occurred()) return NULL;
        if (value < 0 || value > 127) return PyErr_Format(PyExc_RuntimeError, "device index must lie in [0, 127], got %ld", value);
        index = (int)value;
    }
    return device_make(type, index);
}

static PyObject *device_text(Device *d)
{
    return d->index < 0 ? PyUnicode_FromString(type_names[d->type])
                        : PyUnicode_FromFormat("%s:%d", type_names[d->type], d->index);
}
static PyObject *device_repr(PyObject *o)
{
    Device *d = (Device *)o;
    return d->index < 0 ? PyUnicode_FromFormat("device(type='%s')", type_names[d->type])
                        : PyUnicode_FromFormat("device(type='%s', index=%d)", type_names[d->type], d->index);
}
static Py_hash_t device_hash(PyObject *o) { return ((Device *)o)->type * 1000 + ((Device *)o)->index + 7; }
static PyObject *device_compare(PyObject *a, PyObject *b, int how)
{
    if ((how != Py_EQ && how != Py_NE) || Py_TYPE(b) != DeviceT) Py_RETURN_NOTIMPLEMENTED;
    int same = ((Device *)a)->type == ((Device *)b)->type && ((Device *)a)->index == ((Device *)b)->index;
    return PyBool_FromLong(how == Py_EQ ? same : !same);
}
static PyObject *device_type(PyObject *o, void *c) { return PyUnicode_FromString(type_names[((Device *)o)->type]); }
static PyObject *device_index(PyObject *o, void *c)
{
    return ((Device *)o)->index < 0 ? Py_NewRef(Py_None) : PyLong_FromLong(((Device *)o)->index);
}
static PyObject *device_reduce(PyObject *o, PyObject *unused)
{
    return Py_BuildValue("O(N)", (PyObject *)DeviceT, device_text((Device *)o));
}

/* `with device("meta"):` - factories without device= allocate there; entered values form a stack per thread */
static _Thread_local uint8_t entered[64];
static _Thread_local int depth;
static PyObject *device_enter(PyObject *o, PyObject *unused)
{
    td_device d;
    if (td_device_from(o, &d) != 1) return NULL;
    if (depth == 64) return PyErr_Format(PyExc_RuntimeError, "device contexts are nested 64 deep already");
    entered[depth++] = td_here.default_device;
    td_here.default_device = (uint8_t)d;
    return Py_NewRef(o);
}
static PyObject *device_exit(PyObject *o, PyObject *args)
{
    if (depth) td_here.default_device = entered[--depth];
    Py_RETURN_NONE;
}

static PyMethodDef device_methods[] = {{"__reduce__", device_reduce, METH_NOARGS, "Pickled as its text."},
                                       {"__enter__", device_enter, METH_NOARGS, "Factories allocate here until the exit."},
                                       {"__exit__", device_exit, METH_VARARGS, "Back to the device of before."},
                                       {0}};
static PyGetSetDef device_fields[] = {{"type", device_type, 0, "'cpu', 'meta', 'cuda', ...", 0},
                                      {"index", device_index, 0, "Ordinal, or None.", 0}, {0}};

int td_add_device(PyObject *module)
{
    static PyType_Slot slots[] = {{Py_tp_new, device_new}, {Py_tp_repr, device_repr}, {Py_tp_str, device_text},
                                  {Py_tp_hash, device_hash}, {Py_tp_richcompare, device_compare},
                                  {Py_tp_methods, device_methods}, {Py_tp_getset, device_fields},
                                  {Py_tp_doc, "device(type, index=None): where a tensor's memory is."}, {0}};
    static PyType_Spec spec = {"taeda.device", sizeof(Device), 0, Py_TPFLAGS_DEFAULT, slots};
    DeviceT = (PyTypeObject *)PyType_FromSpec(&spec);
    return DeviceT ? PyModule_AddObjectRef(module, "device", (PyObject *)DeviceT) : -1;
}
