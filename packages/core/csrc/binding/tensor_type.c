/* tensor_type.c - the type Tensor, put together: the object, its fields and methods, the operators'
 * methods, number slots, indexing. */
#include "dispatch/dispatch.h"
#include "binding/binding.h"

static PyObject *tensor_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static PyObject *legacy_new;
    if (!td_python_function(&legacy_new, "taeda._tensor.legacy_types", "legacy_new")) return NULL;
    Py_ssize_t n = PyTuple_Size(args);
    PyObject *all = PyTuple_New(n + 1);
    if (!all) return NULL;
    PyTuple_SetItem(all, 0, Py_NewRef((PyObject *)type));
    for (Py_ssize_t i = 0; i < n; i++)
        PyTuple_SetItem(all, i + 1, Py_NewRef(PyTuple_GetItem(args, i)));
    PyObject *made = PyObject_Call(legacy_new, all, kw);
    Py_DECREF(all);
    return made;
}

/* all is done in new */
static int tensor_init(PyObject *o, PyObject *args, PyObject *kw) { return 0; }

int td_add_tensor_type(PyObject *module)
{
    PyType_Slot own[] = {
        {Py_tp_new, tensor_new},
        {Py_tp_init, tensor_init},
        {Py_tp_getset, td_tensor_fields()},
        {Py_tp_methods, td_entry_methods(td_tensor_methods())},
        {Py_mp_subscript, td_getitem},
        {Py_mp_ass_subscript, td_setitem},
        {Py_tp_doc, "Tensor(*args, device=None)\n--\n\nA multi-dimensional array of one dtype, "
                    "with a place in the graph that backward walks."},
        {0}};
    PyType_Slot slots[80], *const parts[] = {own, td_object_slots, td_number_slots};
    int n = 0;
    for (int k = 0; k < 3; k++)
        for (PyType_Slot *s = parts[k]; s->slot; s++) slots[n++] = *s;
    slots[n] = (PyType_Slot){0};
    PyType_Spec spec = {"taeda.Tensor", sizeof(PyTensor), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
    PyObject *type = PyType_FromSpec(&spec);
    if (!type || td_add_memory_type(module) < 0) return -1;
    td_set_tensor_type((PyTypeObject *)type);
    return PyModule_AddObjectRef(module, "Tensor", type);
}
