/* device.c - taeda.device: a type of device and an ordinal. The grammar knows every documented
 * name; tensors live on cpu, meta and what has a table in runtime/device.h; a request for another
 * device says that it is not available. */
#include "object/py.h"
#include "runtime/device.h"
#include "runtime/thread_local.h"

typedef struct Device {
    PyObject_HEAD int type, index; /* index -1: none given */
} Device;

PyTypeObject *DeviceT;
static const char *type_names[] = {
    "cpu",    "meta",   "cuda",  "mps", "xpu", "xla",  "mtia", "hpu",  "ipu",    "mkldnn",
    "opengl", "opencl", "ideep", "hip", "ve",  "fpga", "maia", "lazy", "vulkan", "privateuseone"};
enum { TYPES = sizeof type_names / sizeof *type_names, PRIVATEUSEONE = TYPES - 1 };

/* The names begin with the types that runtime/tensor.h knows, in its order; the private one comes
 * last. */
_Static_assert(TD_CPU == 0 && TD_META == 1 && TD_CUDA == 2,
               "names of device types stand in the order of their numbers");
static int runtime_type(int type)
{
    return type <= TD_CUDA ? type : type == PRIVATEUSEONE ? TD_PRIVATEUSE1 : -1;
}
static int name_of(int runtime) { return runtime <= TD_CUDA ? runtime : PRIVATEUSEONE; }

static PyObject *device_make(int type, int index)
{
    Device *made = PyObject_New(Device, DeviceT);
    if (!made) return NULL;
    made->type = type;
    made->index = index;
    return (PyObject *)made;
}

PyObject *td_device_object(td_device d)
{
    int type = td_device_type(d);
    return device_make(name_of(type), type == TD_CPU || type == TD_META ? -1 : td_device_index(d));
}

/* in words that array_api_compat takes the device types from */
static int unknown_type(const char *text)
{
    if (!*text) {
        PyErr_SetString(PyExc_RuntimeError, "Device string must not be empty");
        return -1;
    }
    char names[256];
    int n = snprintf(names, sizeof names, "%s", type_names[0]);
    for (int t = 1; t < TYPES; t++)
        n += snprintf(names + n, sizeof names - (size_t)n, ", %.16s", type_names[t]);
    PyErr_Format(PyExc_RuntimeError, "Expected one of %s device type at start of device string: %s",
                 names, text);
    return -1;
}

static int parse_text(const char *text, int *type, int *index)
{
    const char *colon = strchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    *index = -1;
    for (*type = 0; *type < TYPES; ++*type)
        if (strlen(type_names[*type]) == length && !strncmp(type_names[*type], text, length)) break;
    if (*type == TYPES) return unknown_type(text);
    int bad = 0;
    if (colon) {
        char *end;
        long value = strtol(colon + 1, &end, 10);
        bad = colon[1] < '0' || colon[1] > '9' || *end || value > 127 ||
              (colon[1] == '0' && colon[2]);
        *index = (int)value;
    }
    if (bad)
        PyErr_Format(PyExc_RuntimeError,
                     "Invalid device string: '%s'; wanted a device type such as cpu, cuda or meta, "
                     "with an optional ordinal up to 127 as in 'cuda:0'",
                     text);
    return bad ? -1 : 0;
}

/* "'cpu', 'meta' or 'npu'": where tensors can live in this process */
static const char *present(char text[128])
{
    int n = snprintf(text, 128, "'cpu'");
    for (int t = TD_CUDA; t < TD_DEVICE_TYPES; t++)
        if (td_device_tables[t])
            n += snprintf(text + n, (size_t)(128 - n), ", '%.16s'", type_names[name_of(t)]);
    snprintf(text + n, (size_t)(128 - n), " or 'meta'");
    return text;
}

static int unavailable(int type)
{
    char where[128];
    PyErr_Format(PyExc_RuntimeError,
                 "device '%s' is not available in this build of taeda: tensors live on %s",
                 type_names[type], present(where));
    return -1;
}

static int not_opened(void)
{
    char where[128];
    PyErr_Format(PyExc_RuntimeError, "%s; tensors live on %s", td_error_message(), present(where));
    return -1;
}

static int check_index(int type, int index)
{
    int count = td_device_tables[runtime_type(type)]->count();
    if (index < count) return 1;
    if (type == TD_CPU)
        PyErr_Format(PyExc_RuntimeError, "there is one cpu device, with ordinal 0; got 'cpu:%d'",
                     index);
    else
        PyErr_Format(PyExc_RuntimeError,
                     "there are %d devices of type '%s', with ordinals from 0; got '%s:%d'", count,
                     type_names[type], type_names[type], index);
    return -1;
}

/* A bare ordinal means the accelerator that is there. */
static int parse_ordinal(PyObject *o, int *type, int *index)
{
    (void)td_device_open(TD_CUDA); /* without a driver the others are asked */
    for (int t = TD_CUDA; t < TD_DEVICE_TYPES; t++) {
        if (!td_device_tables[t]) continue;
        long value = PyLong_AsLong(o);
        if (value == -1 && PyErr_Occurred()) return -1;
        if (value < 0 || value > 127)
            return PyErr_Format(PyExc_RuntimeError, "device index must lie in [0, 127], got %ld",
                                value),
                   -1;
        *type = name_of(t);
        *index = (int)value;
        return 1;
    }
    PyErr_SetString(PyExc_RuntimeError, "a bare device ordinal means the current accelerator, and "
                                        "none is available here; name a device such as 'cpu'");
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
    return PyLong_Check(o) && !PyBool_Check(o) ? parse_ordinal(o, type, index) : 0;
}

int td_device_from(PyObject *o, td_device *out)
{
    int type, index, status = parse_object(o, &type, &index);
    if (status != 1) return status;
    int known = runtime_type(type);
    if (known == TD_META) return *out = TD_META, 1;
    if (known >= 0 && td_device_openers[known]) { /* opened by who first asks for it */
        td_status status = td_device_open(known);
        if (status != TD_OK) return status == TD_RUNTIME_ERROR ? not_opened() : td_raised(status);
    }
    if (known < 0 || !td_device_tables[known]) return unavailable(type);
    if (index < 0) index = td_device_current(known);
    if (check_index(type, index) < 0) return -1;
    *out = td_device_of(known, index);
    return 1;
}

/* rename_privateuse1(name): the private type of device is called so from now on; once, before a
 * tensor lives there. */
PyObject *td_rename_privateuse1(PyObject *m, PyObject *name)
{
    static char chosen[24];
    Py_ssize_t length;
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, &length) : NULL;
    if (!text)
        return PyErr_Occurred() ? NULL
                                : PyErr_Format(PyExc_TypeError,
                                               "rename_privateuse1_backend: wanted a str, got %R",
                                               Py_TYPE(name));
    if (!strcmp(text, type_names[PRIVATEUSEONE])) Py_RETURN_NONE;
    if (chosen[0])
        return PyErr_Format(
            PyExc_RuntimeError,
            "the private device type has been renamed to '%s' already; it can be renamed once",
            chosen);
    int bad = length == 0 || length >= (Py_ssize_t)sizeof chosen;
    for (Py_ssize_t i = 0; i < length; i++)
        bad |= !(text[i] == '_' || (text[i] >= 'a' && text[i] <= 'z') ||
                 (i && text[i] >= '0' && text[i] <= '9'));
    for (int t = 0; t < TYPES; t++) bad |= !strcmp(text, type_names[t]);
    if (bad)
        return PyErr_Format(PyExc_RuntimeError,
                            "a name of a device type has 1 to %d lower-case letters, digits and _, "
                            "and is no other type's; got '%s'",
                            (int)sizeof chosen - 1, text);
    memcpy(chosen, text, (size_t)length + 1);
    type_names[PRIVATEUSEONE] = chosen;
    Py_RETURN_NONE;
}

PyObject *td_privateuse1_name(PyObject *m, PyObject *unused)
{
    return PyUnicode_FromString(type_names[PRIVATEUSEONE]);
}

/* device_host() -> addresses of the processor's table, td_walk_copy, td_walk_free and
 * td_op_register: what a device in a library of its own may use */
PyObject *td_device_host(PyObject *m, PyObject *unused)
{
    return Py_BuildValue("(NNNN)", PyLong_FromVoidPtr((void *)td_device_tables[TD_CPU]),
                         PyLong_FromVoidPtr((void *)td_walk_copy),
                         PyLong_FromVoidPtr((void *)td_walk_free),
                         PyLong_FromVoidPtr((void *)td_op_register));
}

/* register_privateuse1(address): the td_device_table at this address serves the private type of
 * device. Whoever calls it vouches for the address, as whoever loads a library vouches for its
 * code. */
PyObject *td_register_privateuse1(PyObject *m, PyObject *address)
{
    const td_device_table *table = PyLong_AsVoidPtr(address);
    if (!table)
        return PyErr_Occurred()
                   ? NULL
                   : PyErr_Format(PyExc_ValueError, "the address of a device table must not be 0");
    TD_PY(td_device_register(TD_PRIVATEUSE1, table));
    Py_RETURN_NONE;
}

static PyObject *device_new(PyTypeObject *t, PyObject *args, PyObject *kw)
{
    char *names[] = {"type", "index", NULL};
    PyObject *spec, *ordinal = Py_None;
    if (PyTuple_Size(args) == 0 && kw && PyDict_GetItemString(kw, "device")) names[0] = "device";
    if (!PyArg_ParseTupleAndKeywords(args, kw, "O|O:device", names, &spec, &ordinal)) return NULL;
    int type, index, status = parse_object(spec, &type, &index);
    if (status < 0) return NULL;
    if (status == 0) return td_refuse_type("device(): wanted a string or a device, got %V", spec);
    if (ordinal != Py_None) {
        if (index >= 0)
            return PyErr_Format(
                PyExc_RuntimeError,
                "type (string) must not include an index because index was passed explicitly: %S",
                spec);
        long value = PyLong_AsLong(ordinal);
        if (value == -1 && PyErr_Occurred()) return NULL;
        if (value < 0 || value > 127)
            return PyErr_Format(PyExc_RuntimeError, "device index must lie in [0, 127], got %ld",
                                value);
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
    return d->index < 0
               ? PyUnicode_FromFormat("device(type='%s')", type_names[d->type])
               : PyUnicode_FromFormat("device(type='%s', index=%d)", type_names[d->type], d->index);
}
static Py_hash_t device_hash(PyObject *o)
{
    return ((Device *)o)->type * 1000 + ((Device *)o)->index + 7;
}
static PyObject *device_compare(PyObject *a, PyObject *b, int how)
{
    if ((how != Py_EQ && how != Py_NE) || Py_TYPE(b) != DeviceT) Py_RETURN_NOTIMPLEMENTED;
    int same =
        ((Device *)a)->type == ((Device *)b)->type && ((Device *)a)->index == ((Device *)b)->index;
    return PyBool_FromLong(how == Py_EQ ? same : !same);
}
static PyObject *device_type(PyObject *o, void *c)
{
    return PyUnicode_FromString(type_names[((Device *)o)->type]);
}
static PyObject *device_index(PyObject *o, void *c)
{
    return ((Device *)o)->index < 0 ? Py_NewRef(Py_None) : PyLong_FromLong(((Device *)o)->index);
}
static PyObject *device_reduce(PyObject *o, PyObject *unused)
{
    return Py_BuildValue("O(N)", (PyObject *)DeviceT, device_text((Device *)o));
}

/* `with device("meta"):` - factories without device= allocate there; entered values form a stack
 * per thread */
static TD_THREAD_LOCAL uint8_t entered[64];
static TD_THREAD_LOCAL int depth;
static PyObject *device_enter(PyObject *o, PyObject *unused)
{
    td_device d;
    if (td_device_from(o, &d) != 1) return NULL;
    if (depth == 64)
        return PyErr_Format(PyExc_RuntimeError, "device contexts are nested 64 deep already");
    entered[depth++] = td_here.default_device;
    td_here.default_device = (uint8_t)d;
    return Py_NewRef(o);
}
static PyObject *device_exit(PyObject *o, PyObject *args)
{
    if (depth) td_here.default_device = entered[--depth];
    Py_RETURN_NONE;
}

static PyMethodDef device_methods[] = {
    {"__reduce__", device_reduce, METH_NOARGS, "Pickled as its text."},
    {"__enter__", device_enter, METH_NOARGS, "Factories allocate here until the exit."},
    {"__exit__", device_exit, METH_VARARGS, "Back to the device of before."},
    {0}};
static PyGetSetDef device_fields[] = {{"type", device_type, 0, "'cpu', 'meta', 'cuda', ...", 0},
                                      {"index", device_index, 0, "Ordinal, or None.", 0},
                                      {0}};

int td_add_device(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_new, device_new},
        {Py_tp_repr, device_repr},
        {Py_tp_str, device_text},
        {Py_tp_hash, device_hash},
        {Py_tp_richcompare, device_compare},
        {Py_tp_methods, device_methods},
        {Py_tp_getset, device_fields},
        {Py_tp_doc, "device(type, index=None)\n--\n\nWhere a tensor's memory is.\n\n"
                    "Args:\n"
                    "    type: the kind of device, such as 'cpu', 'cuda' or 'meta', with a number\n"
                    "        or without, such as 'cuda:1'; a device; or a number, which means the\n"
                    "        current accelerator. RuntimeError for a kind that nobody knows.\n"
                    "    index: the number among devices of the kind, from 0 to 127, unless the\n"
                    "        text holds one; None for the current one (default: None)\n\n"
                    ">>> taeda.device(\"cuda\", 1)\ndevice(type='cuda', index=1)\n"
                    ">>> taeda.device(\"cpu\").type\n'cpu'\n"
                    ">>> taeda.device(\"cuda:1\") == taeda.device(\"cuda:0\")\nFalse"},
        {0}};
    static PyType_Spec spec = {"taeda.device", sizeof(Device), 0, Py_TPFLAGS_DEFAULT, slots};
    DeviceT = (PyTypeObject *)PyType_FromSpec(&spec);
    return DeviceT ? PyModule_AddObjectRef(module, "device", (PyObject *)DeviceT) : -1;
}
