/* operator.c - core.Operator: an object that calls one overload, or the first of several that fits.
 * taeda._library derives its OpOverload, OpOverloadPacket and CustomOpDef from it, so that a call
 * is C from the first instruction. */
#include "dispatch/custom.h"

typedef struct Operator {
    PyObject_HEAD td_function function;
    td_schema **overloads;
    PyObject *name, *dict, *weaklist;
} Operator;

static int set_overloads(Operator *self, PyObject *texts)
{
    Py_ssize_t n = PyTuple_Size(texts);
    td_schema **found = PyMem_Calloc((size_t)n + 1, sizeof *found);
    if (!found) return td_no_memory(), -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        const char *text = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(texts, i), NULL);
        if (text && (found[i] = td_find_schema(text))) continue;
        if (text) PyErr_Format(PyExc_ValueError, "there is no operator '%s'", text);
        PyMem_Free(found);
        return -1;
    }
    self->overloads = found; /* an earlier list may be in use by a call that runs: it is kept */
    self->function.overloads = found;
    self->function.count = (int)n;
    return 0;
}

/* Operator(name, (texts of the overloads), in place?) */
static PyObject *operator_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    PyObject *name, *texts;
    int inplace = 0;
    if (!PyArg_ParseTuple(args, "UO!|p", &name, &PyTuple_Type, &texts, &inplace)) return NULL;
    Operator *self = (Operator *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self) return NULL;
    self->name = Py_NewRef(name);
    self->function = (td_function){PyUnicode_AsUTF8AndSize(name, NULL),
                                   "",
                                   "",
                                   NULL,
                                   0,
                                   1,
                                   0,
                                   (uint8_t)inplace,
                                   (PyObject *)self};
    if (!self->function.name || set_overloads(self, texts) < 0) Py_CLEAR(self);
    return (PyObject *)self;
}

/* all is done in new */
static int operator_init(PyObject *o, PyObject *args, PyObject *kw) { return 0; }

static int operator_traverse(PyObject *o, visitproc visit, void *arg)
{
    Py_VISIT(((Operator *)o)->dict);
    Py_VISIT((PyObject *)Py_TYPE(o));
    return 0;
}
static int operator_clear(PyObject *o)
{
    Py_CLEAR(((Operator *)o)->dict);
    return 0;
}
static void operator_dealloc(PyObject *o)
{
    Operator *self = (Operator *)o;
    PyTypeObject *type = Py_TYPE(o);
    PyObject_GC_UnTrack(o);
    if (self->weaklist) PyObject_ClearWeakRefs(o);
    if (self->function.object != o) Py_XDECREF(self->function.object);
    operator_clear(o);
    Py_XDECREF(self->name);
    PyMem_Free(self->overloads);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(o);
    Py_DECREF(type);
}

/* ---- calls ---- */
enum { FEW = 24 };
static int add_keywords(PyObject *kw, PyObject **values,
                        PyObject *names) /* borrowed values after the positional ones */
{
    PyObject *key, *value;
    Py_ssize_t at = 0, i = 0;
    while (PyDict_Next(kw, &at, &key, &value)) {
        PyTuple_SetItem(names, i, Py_NewRef(key));
        values[i++] = value;
    }
    return 0;
}

static PyObject *operator_call(PyObject *o, PyObject *args, PyObject *kw)
{
    Py_ssize_t n = PyTuple_Size(args), named = kw ? PyDict_Size(kw) : 0;
    PyObject *few[FEW],
        **values = n + named > FEW ? PyMem_Malloc((size_t)(n + named) * sizeof *values) : few;
    PyObject *names = named ? PyTuple_New(named) : NULL, *made = NULL;
    if (!values) return td_no_memory();
    for (Py_ssize_t i = 0; i < n; i++) values[i] = PyTuple_GetItem(args, i);
    if (!named || (names && add_keywords(kw, values + n, names) == 0))
        made = td_call_entry(&((Operator *)o)->function, NULL, values, n, names);
    Py_XDECREF(names);
    if (values != few) PyMem_Free(values);
    return made;
}

/* _stand_for(object): what __torch_function__ is told was called */
static PyObject *stand_for(PyObject *o, PyObject *other)
{
    td_function *f = &((Operator *)o)->function;
    PyObject *before = f->object;
    f->object = other == o ? o : Py_NewRef(other);
    if (before != o) Py_XDECREF(before);
    Py_RETURN_NONE;
}

/* _set_overloads((texts)): what a call tries from now on, in this order */
static PyObject *operator_set(PyObject *o, PyObject *texts)
{
    if (!PyTuple_Check(texts))
        return PyErr_Format(PyExc_TypeError, "wanted a tuple, got %R", Py_TYPE(texts));
    if (set_overloads((Operator *)o, texts) < 0) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"_stand_for", stand_for, METH_O, "The object that __torch_function__ is told was called."},
    {"_set_overloads", operator_set, METH_O, "The overloads that a call tries, in order."},
    {0}};
static PyMemberDef members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(Operator, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Operator, weaklist), READONLY, NULL},
    {0}};

static PyGetSetDef getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL}, {0}};

int td_add_operator(PyObject *module)
{
    static PyType_Slot slots[] = {{Py_tp_new, operator_new},
                                  {Py_tp_init, operator_init},
                                  {Py_tp_dealloc, operator_dealloc},
                                  {Py_tp_traverse, operator_traverse},
                                  {Py_tp_clear, operator_clear},
                                  {Py_tp_call, operator_call},
                                  {Py_tp_methods, methods},
                                  {Py_tp_members, members},
                                  {Py_tp_getset, getset},
                                  {Py_tp_doc, "An operator of the table."},
                                  {0}};
    static PyType_Spec spec = {"taeda._native.core.Operator", sizeof(Operator), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                               slots};
    PyObject *type = PyType_FromSpec(&spec);
    int status = type ? PyModule_AddObjectRef(module, "Operator", type) : -1;
    if (status == 0) status = PyModule_AddFunctions(module, td_custom_methods());
    Py_XDECREF(type);
    return status;
}
