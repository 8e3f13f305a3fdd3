/* dtype.c - the Python objects of dtypes, layouts and memory formats: constants, compared by
 * identity. */
#include "object/py.h"

typedef struct Constant {
    PyObject_HEAD int code;
    const char *name;
} Constant;

PyTypeObject *DtypeT, *LayoutT, *MemoryFormatT;
static PyObject *dtype_objects[TD_NDTYPES];
static const char *const layout_names[] = {"strided",    "sparse_coo", "sparse_csr", "sparse_csc",
                                           "sparse_bsr", "sparse_bsc", "jagged",     "_masked",
                                           "_quantized", "_nested"};
static const char *const format_names[] = {"contiguous_format", "preserve_format", "channels_last",
                                           "channels_last_3d"};
static PyObject *layout_objects[TD_LAYOUTS], *format_objects[4];

PyObject *td_dtype_object(td_dtype d) { return Py_NewRef(dtype_objects[d]); }
PyObject *td_layout_object(int code) { return Py_NewRef(layout_objects[code]); }
int td_layout_from(PyObject *o, int *code)
{
    if (Py_TYPE(o) != LayoutT) return 0;
    *code = ((Constant *)o)->code;
    return 1;
}
PyObject *td_memory_format_object(int code) { return Py_NewRef(format_objects[code]); }

int td_dtype_from(PyObject *o, td_dtype *out)
{
    if (Py_TYPE(o) == DtypeT) *out = (td_dtype)((Constant *)o)->code;
    else if (o == (PyObject *)&PyFloat_Type) *out = TD_F64;
    else if (o == (PyObject *)&PyLong_Type) *out = TD_I64;
    else if (o == (PyObject *)&PyBool_Type) *out = TD_BOOL;
    else if (o == (PyObject *)&PyComplex_Type) *out = TD_C128;
    else return 0;
    return 1;
}

int td_memory_format_from(PyObject *o, int *code)
{
    if (Py_TYPE(o) != MemoryFormatT) return 0;
    *code = ((Constant *)o)->code;
    return 1;
}

static PyObject *constant_repr(PyObject *o)
{
    return PyUnicode_FromFormat("taeda.%s", ((Constant *)o)->name);
}
static PyObject *constant_reduce(PyObject *o, PyObject *unused)
{
    return PyUnicode_FromString(((Constant *)o)->name);
}
static PyObject *constant_copy(PyObject *o, PyObject *unused) { return Py_NewRef(o); }
static PyMethodDef constant_methods[] = {
    {"__reduce__", constant_reduce, METH_NOARGS, "Pickled by name."},
    {"__copy__", constant_copy, METH_NOARGS, "Constants are not copied."},
    {"__deepcopy__", constant_copy, METH_O, "Constants are not copied."},
    {0}};

static td_dtype code_of(PyObject *o) { return (td_dtype)((Constant *)o)->code; }
static PyObject *dtype_itemsize(PyObject *o, void *c)
{
    return PyLong_FromLong((long)td_itemsize(code_of(o)));
}
static PyObject *dtype_is_floating(PyObject *o, void *c)
{
    return PyBool_FromLong(td_is_floating(code_of(o)));
}
static PyObject *dtype_is_complex(PyObject *o, void *c)
{
    return PyBool_FromLong(td_is_complex(code_of(o)));
}
static PyObject *dtype_is_signed(PyObject *o, void *c)
{
    return PyBool_FromLong(td_dtypes[code_of(o)].is_signed);
}
static PyObject *dtype_to_complex(PyObject *o, PyObject *c)
{
    return td_dtype_object(td_to_complex(code_of(o)));
}
static PyObject *dtype_to_real(PyObject *o, PyObject *c)
{
    return td_dtype_object(td_to_real(code_of(o)));
}
static PyGetSetDef dtype_fields[] = {
    {"itemsize", dtype_itemsize, 0, "Bytes of one element.", 0},
    {"is_floating_point", dtype_is_floating, 0, "True for real floating-point dtypes.", 0},
    {"is_complex", dtype_is_complex, 0, "True for complex dtypes.", 0},
    {"is_signed", dtype_is_signed, 0, "True if negative numbers can be held.", 0},
    {0}};
static PyMethodDef dtype_methods[] = {
    {"__reduce__", constant_reduce, METH_NOARGS, "Pickled by name."},
    {"__copy__", constant_copy, METH_NOARGS, "Constants are not copied."},
    {"__deepcopy__", constant_copy, METH_O, "Constants are not copied."},
    {"to_complex", dtype_to_complex, METH_NOARGS, "The complex dtype of this precision."},
    {"to_real", dtype_to_real, METH_NOARGS, "The real dtype of this precision."},
    {0}};

static PyTypeObject *constant_type(PyObject *module, const char *qualified, const char *doc,
                                   PyMethodDef *methods, PyGetSetDef *fields)
{
    PyType_Slot slots[] = {{Py_tp_repr, constant_repr},
                           {Py_tp_methods, methods},
                           {Py_tp_doc, (void *)doc},
                           {fields ? Py_tp_getset : 0, fields},
                           {0}};
    PyType_Spec spec = {qualified, sizeof(Constant), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
    PyTypeObject *type = (PyTypeObject *)PyType_FromSpec(&spec);
    if (type && PyModule_AddObjectRef(module, strchr(qualified, '.') + 1, (PyObject *)type) < 0)
        return NULL;
    return type;
}

static PyObject *constant_new(PyObject *module, PyTypeObject *type, int code, const char *name)
{
    Constant *made = PyObject_New(Constant, type);
    if (!made) return NULL;
    made->code = code;
    made->name = name;
    return PyModule_AddObjectRef(module, name, (PyObject *)made) < 0 ? NULL : (PyObject *)made;
}

static int add_dtype_aliases(PyObject *module)
{
    static const struct {
        const char *name;
        td_dtype dtype;
    } aliases[] = {{"float", TD_F32},  {"double", TD_F64},   {"half", TD_F16},
                   {"long", TD_I64},   {"int", TD_I32},      {"short", TD_I16},
                   {"cfloat", TD_C64}, {"cdouble", TD_C128}, {"chalf", TD_C32}};
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (PyModule_AddObjectRef(module, aliases[i].name, dtype_objects[aliases[i].dtype]) < 0)
            return -1;
    return 0;
}

int td_add_constants(PyObject *module)
{
    DtypeT = constant_type(module, "taeda.dtype",
                           "The type of a tensor's elements.\n\n"
                           ">>> taeda.float16.itemsize, taeda.int64.is_floating_point\n"
                           "(2, False)\n"
                           ">>> taeda.zeros(2, dtype=taeda.int8).dtype\ntaeda.int8",
                           dtype_methods, dtype_fields);
    LayoutT = constant_type(module, "taeda.layout",
                            "How a tensor's elements are laid out.\n\n"
                            ">>> taeda.ones(2).layout\ntaeda.strided",
                            constant_methods, NULL);
    MemoryFormatT = constant_type(module, "taeda.memory_format",
                                  "An order of dimensions in memory.\n\n"
                                  ">>> x = taeda.ones(1, 3, 4, 4)\n"
                                  ">>> x.to(memory_format=taeda.channels_last).stride()\n"
                                  "(48, 1, 12, 3)",
                                  constant_methods, NULL);
    if (!DtypeT || !LayoutT || !MemoryFormatT) return -1;
    for (int d = 0; d < TD_NDTYPES; d++)
        if (!(dtype_objects[d] = constant_new(module, DtypeT, d, td_dtypes[d].name))) return -1;
    for (int i = 0; i < TD_LAYOUTS; i++)
        if (!(layout_objects[i] = constant_new(module, LayoutT, i, layout_names[i]))) return -1;
    for (int i = 0; i < 4; i++)
        if (!(format_objects[i] = constant_new(module, MemoryFormatT, i, format_names[i])))
            return -1;
    return add_dtype_aliases(module);
}
