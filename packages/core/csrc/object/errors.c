/* errors.c - a status of the runtime becomes a Python exception. */
#include "object/py.h"
#include "runtime/alloc.h"
#include <string.h>

PyObject *td_linalg_error, *td_out_of_memory;

static const char out_of_memory_doc[] =
    "There is not enough memory. A RuntimeError for programs that know PyTorch, a MemoryError for "
    "those that know Python.";

int td_add_errors(PyObject *module)
{
    PyObject *bases = PyTuple_Pack(2, PyExc_RuntimeError, PyExc_MemoryError);
    td_out_of_memory =
        bases ? PyErr_NewExceptionWithDoc("taeda.OutOfMemoryError", out_of_memory_doc, bases, NULL)
              : NULL;
    Py_XDECREF(bases);
    return td_out_of_memory ? PyModule_AddObjectRef(module, "OutOfMemoryError", td_out_of_memory)
                            : -1;
}

PyObject *td_no_memory(void)
{
    PyErr_SetString(td_out_of_memory, "out of memory: a small allocation failed");
    return NULL;
}

/* what says who holds memory, or NULL: a callable that returns a text */
static PyObject *memory_table;
/* bytes: what is smaller fails in loops over all places */
#define WORTH_A_TABLE ((int64_t)1 << 20)

PyObject *td_set_memory_table(PyObject *module, PyObject *callable)
{
    (void)module;
    Py_XSETREF(memory_table, Py_NewRef(callable));
    Py_RETURN_NONE;
}

/* The exception of memory that is out, with the table where much was asked for. */
static void raise_out_of_memory(void)
{
    PyObject *text = NULL,
             *message = PyUnicode_DecodeUTF8(td_error_message(),
                                             (Py_ssize_t)strlen(td_error_message()), "replace");
    PyObject *table = memory_table;
    if (td_alloc_refused() >= WORTH_A_TABLE && table && message) {
        memory_table = NULL; /* the table itself may run out of memory */
        text = PyObject_CallFunctionObjArgs(table, NULL);
        memory_table = table;
        if (!text && !PyErr_ExceptionMatches(PyExc_Exception)) { /* Ctrl-C goes on */
            Py_DECREF(message);
            return;
        }
        if (!text) PyErr_Clear();
    }
    if (text && PyUnicode_Check(text) && PyUnicode_GetLength(text) > 0)
        PyErr_Format(td_out_of_memory, "%U\n%U", message, text);
    else if (message) PyErr_SetObject(td_out_of_memory, message);
    Py_XDECREF(text);
    Py_XDECREF(message);
}

PyObject *td_raise(td_status status)
{
    PyObject *type = NULL;
    switch (status) {
        case TD_PYTHON_ERROR: return NULL; /* already set */
        case TD_TYPE_ERROR: type = PyExc_TypeError; break;
        case TD_VALUE_ERROR: type = PyExc_ValueError; break;
        case TD_INDEX_ERROR: type = PyExc_IndexError; break;
        case TD_NOT_IMPLEMENTED: type = PyExc_NotImplementedError; break;
        case TD_MEMORY_ERROR: raise_out_of_memory(); return NULL;
        case TD_LINALG_ERROR: type = td_linalg_error ? td_linalg_error : PyExc_RuntimeError; break;
        default: type = PyExc_RuntimeError;
    }
    PyErr_Format(type, "%s", td_error_message()); /* what is no UTF-8 becomes U+FFFD */
    return NULL;
}

/* in Python, which also says what to do with an object of another library */
PyObject *td_type_name(PyObject *o)
{
    static PyObject *hook;
    if (!td_python_function(&hook, "taeda._layers.foreign", "named")) return NULL;
    return PyObject_CallFunctionObjArgs(hook, o, NULL);
}

PyObject *td_refuse_type(const char *text, PyObject *o)
{
    PyObject *type = td_type_name(o);
    PyErr_Format(PyExc_TypeError, text, type, "?");
    Py_XDECREF(type);
    return NULL;
}
