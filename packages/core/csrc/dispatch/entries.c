/* entries.c - a Python function and a method for each name of the op table. */
#include "dispatch/dispatch.h"

#define TD_ENTRY(g)                                                                      \
    static PyObject *td_call_function_##g(PyObject *m, PyObject *const *a, Py_ssize_t n, \
                                          PyObject *k)                                   \
    {                                                                                    \
        return td_call_entry(&td_functions[g], NULL, a, n, k);                           \
    }                                                                                    \
    static PyObject *td_call_method_##g(PyObject *s, PyObject *const *a, Py_ssize_t n,   \
                                        PyObject *k)                                     \
    {                                                                                    \
        return td_call_entry(&td_functions[g], s, a, n, k);                              \
    }
typedef PyObject *(*td_fast)(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);
typedef struct td_entry {
    td_fast function, method;
    const char *function_doc, *method_doc; /* both begin with the signature that Python reads */
} td_entry;
#include "entries.gen.h"

static PyObject **function_objects;
PyObject *td_function_object(const td_function *f)
{
    return f->object ? f->object : function_objects[f - td_functions];
}

/* the module that a function of a namespace names as its own, where pickles find it again */
static PyObject *module_of(const char *space)
{
    if (!*space) return PyUnicode_FromString("taeda");
    if (!strcmp(space, "nn")) return PyUnicode_FromString("taeda._C._nn");
    return PyUnicode_FromFormat("taeda.%s", space);
}

/* {"": {"add": <function>}, "nn": {...}}: what the package's namespaces are filled from */
PyObject *td_function_tables(void)
{
    PyMethodDef *defs = PyMem_Calloc((size_t)td_function_count + 1, sizeof *defs);
    function_objects = PyMem_Calloc((size_t)td_function_count + 1, sizeof *function_objects);
    PyObject *tables = PyDict_New();
    if (!defs || !function_objects || !tables) return td_no_memory();
    for (int i = 0; i < td_function_count; i++) {
        const td_function *f = &td_functions[i];
        PyObject *table = PyDict_GetItemString(tables, f->namespace_);
        if (!table) {
            if (!(table = PyDict_New()) || PyDict_SetItemString(tables, f->namespace_, table) < 0)
                return NULL;
            Py_DECREF(table);
        }
        defs[i] = (PyMethodDef){f->name, (PyCFunction)(void (*)(void))td_entries[i].function,
                                METH_FASTCALL | METH_KEYWORDS, td_entries[i].function_doc};
        PyObject *module = module_of(f->namespace_);
        if (!module) return NULL;
        function_objects[i] = PyCFunction_NewEx(&defs[i], NULL, module);
        Py_DECREF(module);
        if (!function_objects[i]) return NULL;
        if (f->is_function && PyDict_SetItemString(table, f->name, function_objects[i]) < 0)
            return NULL;
    }
    return tables;
}

PyMethodDef *td_entry_methods(PyMethodDef *own)
{
    PyMethodDef *defs = PyMem_Calloc((size_t)td_function_count + 256, sizeof *defs);
    int n = 0;
    for (int i = 0; defs && i < td_function_count; i++)
        if (td_functions[i].is_method)
            defs[n++] = (PyMethodDef){td_functions[i].name,
                                      (PyCFunction)(void (*)(void))td_entries[i].method,
                                      METH_FASTCALL | METH_KEYWORDS, td_entries[i].method_doc};
    for (; defs && own->ml_name; own++) defs[n++] = *own;
    return defs;
}
