/* python_module.c - makes a library that is an extension of taeda importable by `import`, too.
 *
 * BuildExtension links it into every extension. Its module is filled by taeda.utils.cpp_extension
 * with the functions that the extension offers. Sources with a PyInit function of their own keep
 * it: BuildExtension has the compiler call it taeda_own_start, and here the operators of the
 * library are registered before it runs, as torch's are by loading it. Limited API of 3.11. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <Python.h>
#include <dlfcn.h>
#include <stdint.h>

#define JOIN(a, b) a##b
#define TEXT(a) #a
#define NAME(name) TEXT(name)
#define INIT(name) JOIN(PyInit_, name) /* two steps, so that the name is replaced first */

extern __attribute__((weak)) int32_t taeda_ext_init(const void *api);
extern __attribute__((weak)) PyObject *taeda_own_start(void);

static int fill(PyObject *module)
{
    if (!taeda_ext_init) {
        PyErr_SetString(PyExc_ImportError,
                        "the library has neither taeda_ext_init nor a PyInit function: nothing can "
                        "be imported from it. Write TAEDA_EXTENSION(m) { m.def(...); }");
        return -1;
    }
    PyObject *ours = PyImport_ImportModule("taeda.utils.cpp_extension._module");
    PyObject *done = ours ? PyObject_CallMethod(ours, "fill", "O", module) : NULL;
    Py_XDECREF(ours);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)fill}, {0, NULL}};
static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "taeda extension", NULL, 0, NULL, slots, NULL, NULL, NULL};

static int registered(void)
{
    Dl_info here;
    if (!dladdr((void *)&definition, &here)) {
        PyErr_SetString(PyExc_ImportError, "the loader does not say where this library lies");
        return 0;
    }
    PyObject *ours = PyImport_ImportModule("taeda.utils.cpp_extension._module");
    PyObject *done = ours ? PyObject_CallMethod(ours, "import_library", "ss",
                                                NAME(TAEDA_EXTENSION_NAME), here.dli_fname)
                          : NULL;
    Py_XDECREF(ours);
    Py_XDECREF(done);
    return done != NULL;
}

__attribute__((weak)) PyMODINIT_FUNC INIT(TAEDA_EXTENSION_NAME)(void)
{
    if (taeda_own_start) return taeda_ext_init && !registered() ? NULL : taeda_own_start();
    return PyModuleDef_Init(&definition);
}
