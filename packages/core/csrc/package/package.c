/* package.c - the package `taeda` itself, as Python finds it: `taeda/__init__.abi3.so`.
 *
 * Python shows a package to every thread before the first line of its `__init__.py` runs, and
 * others then import parts of it by what is there. All that Python runs earlier is the creation of
 * a compiled module. So there is one, and its creation calls `begin` of `_parts/packages.py`, which
 * makes ready what other threads lean on, and whose module runs `__init__.py` as ever. */
#include "package/quiet.h"

#define BEGIN "taeda._parts.packages" /* imports nothing of taeda, so it runs without it */

/* The folder of BEGIN beside the library that `spec` describes. */
static PyObject *beside(PyObject *spec)
{
    PyObject *path = PyImport_ImportModule("os.path");
    PyObject *origin = PyObject_GetAttrString(spec, "origin"), *folder = NULL, *parts = NULL;
    if (path && origin) folder = PyObject_CallMethod(path, "dirname", "O", origin);
    if (folder) parts = PyObject_CallMethod(path, "join", "Os", folder, "_parts");
    Py_XDECREF(path);
    Py_XDECREF(origin);
    Py_XDECREF(folder);
    return parts;
}

/* The spec of BEGIN, by Python's own finders of what lies in a folder: in a frozen program they
 * read an archive. Its parents are not imported for it. */
static PyObject *search(PyObject *folder)
{
    PyObject *machinery = PyImport_ImportModule("importlib.machinery");
    PyObject *finder = machinery ? PyObject_GetAttrString(machinery, "PathFinder") : NULL;
    PyObject *found =
        finder ? PyObject_CallMethod(finder, "find_spec", "s[O]", BEGIN, folder) : NULL;
    if (found == Py_None) {
        Py_CLEAR(found);
        PyErr_Format(PyExc_ImportError, "taeda is incomplete: there is no module packages in %R",
                     folder);
    }
    Py_XDECREF(machinery);
    Py_XDECREF(finder);
    return found;
}

/* BEGIN as a module that has not run. */
static PyObject *empty(PyObject *spec)
{
    PyObject *util = PyImport_ImportModule("importlib.util");
    PyObject *folder = beside(spec), *module = NULL;
    PyObject *found = util && folder ? search(folder) : NULL;
    if (found) module = PyObject_CallMethod(util, "module_from_spec", "O", found);
    Py_XDECREF(util);
    Py_XDECREF(folder);
    Py_XDECREF(found);
    return module;
}

/* Run it, and let `import` find it when all went well. */
static int run(PyObject *module)
{
    PyObject *loader = PyObject_GetAttrString(module, "__loader__"), *done = NULL;
    if (loader) done = PyObject_CallMethod(loader, "exec_module", "O", module);
    int failed = !done || PyDict_SetItemString(PyImport_GetModuleDict(), BEGIN, module);
    Py_XDECREF(loader);
    Py_XDECREF(done);
    return failed;
}

static PyObject *loaded(PyObject *spec)
{
    PyObject *name = PyUnicode_FromString(BEGIN);
    PyObject *module = name ? PyImport_GetModule(name) : NULL; /* of an import that failed later */
    Py_XDECREF(name);
    if (module || PyErr_Occurred()) return module;
    module = empty(spec);
    if (module && (td_quiet_add_functions(module) || run(module))) Py_CLEAR(module);
    return module;
}

static PyObject *create(PyObject *spec, PyModuleDef *unused)
{
    PyObject *begin = loaded(spec);
    PyObject *made = begin ? PyObject_CallMethod(begin, "begin", "O", spec) : NULL;
    Py_XDECREF(begin);
    return made;
}

PyMODINIT_FUNC PyInit_taeda(void)
{
    static PyModuleDef_Slot slots[] = {{Py_mod_create, (void *)create}, {0, NULL}};
    static PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "taeda", .m_slots = slots};
    return PyModuleDef_Init(&definition);
}
