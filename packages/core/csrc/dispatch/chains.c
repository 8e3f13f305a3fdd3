/* chains.c - what Python sees of chains of elementwise work (ops/pointwise/chains.h), and who is
 * asked for their functions. */
#include "dispatch/chains.h"
#include "ops/pointwise/chains.h"

static PyObject *listener; /* called without arguments; NULL: nobody */
static int heard;          /* of td_chains_asked */

int td_tell_of_chains(void)
{
    if (!listener || heard == td_chains_asked()) return 0;
    heard = td_chains_asked();
    PyObject *made = PyObject_CallNoArgs(listener);
    if (!made && !PyErr_ExceptionMatches(PyExc_Exception)) return -1; /* an interrupt */
    if (!made) PyErr_WriteUnraisable(listener); /* no affair of the program that runs */
    Py_XDECREF(made);
    return 0;
}

static PyObject *listen_for_chains(PyObject *m, PyObject *function)
{
    if (function != Py_None && !PyCallable_Check(function))
        return PyErr_Format(PyExc_TypeError, "listen_for_chains: wanted a function, got %R",
                            Py_TYPE(function));
    Py_XSETREF(listener, function == Py_None ? NULL : Py_NewRef(function));
    Py_RETURN_NONE;
}

static td_chain *chain_of(PyObject *number)
{
    long n = PyLong_AsLong(number);
    if (n == -1 && PyErr_Occurred()) return NULL;
    if (n >= 0 && n < td_chain_count()) return td_chain_at((int)n);
    PyErr_Format(PyExc_IndexError, "there is no chain %ld; there are %d", n, td_chain_count());
    return NULL;
}

static int put(PyObject *tuple, Py_ssize_t i, PyObject *made) /* takes it over */
{
    if (!made) return -1;
    return PyTuple_SetItem(tuple, i, made);
}

/* (name, dtype, whether the result has it, ranges (-1: a number, -2: one of float32 beside short
 * floats), (kind, fact) of each argument) */
static PyObject *loop_at(const uint8_t **at)
{
    const uint8_t *from = *at;
    const td_loop_entry *entry;
    memcpy(&entry, from, sizeof entry);
    from += sizeof entry;
    int nop = *from & 15, same = *from++ >> 4;
    PyObject *ranges = PyTuple_New(nop), *args = NULL;
    int status = ranges ? 0 : -1;
    for (int k = 0; status == 0 && k < nop; k++, from++)
        status = put(ranges, k,
                     PyLong_FromLong(*from == TD_CHAIN_NUMBER ? -1
                                     : *from == TD_CHAIN_WIDE ? -2
                                                              : *from));
    int nargs = status == 0 ? *from++ : 0;
    if (status == 0 && !(args = PyTuple_New(nargs))) status = -1;
    for (int k = 0; status == 0 && k < nargs; k++, from += 2)
        status = put(args, k, Py_BuildValue("ii", from[0], from[1]));
    *at = from;
    PyObject *made = status < 0 ? NULL
                                : Py_BuildValue("siOOO", entry->name, entry->dtype,
                                                same ? Py_True : Py_False, ranges, args);
    Py_XDECREF(ranges);
    Py_XDECREF(args);
    return made;
}

static PyObject *get_chain(PyObject *m, PyObject *number)
{
    const td_chain *c = chain_of(number);
    if (!c) return NULL;
    const uint8_t *at = c->key;
    PyObject *loops = PyTuple_New(c->nloops), *kept = PyTuple_New(c->nranges);
    int status = loops && kept ? 0 : -1;
    for (int i = 0; status == 0 && i < c->nloops; i++) status = put(loops, i, loop_at(&at));
    for (int i = 0; status == 0 && i < c->nranges; i++)
        status = put(kept, i, PyBool_FromLong(!*at++));
    PyObject *made = status < 0 ? NULL
                                : Py_BuildValue("OOidd", loops, kept, (int)c->state, c->seconds[0],
                                                c->seconds[1]);
    Py_XDECREF(loops);
    Py_XDECREF(kept);
    return made;
}

static PyObject *get_asked_chains(PyObject *m, PyObject *ignored)
{
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < td_chain_count(); i++) {
        PyObject *n = td_chain_at(i)->state == TD_CHAIN_ASKED ? PyLong_FromLong(i) : NULL;
        if (n && PyList_Append(list, n) < 0) Py_CLEAR(list);
        Py_XDECREF(n);
    }
    return list;
}

static PyObject *give_chain(PyObject *m, PyObject *given)
{
    PyObject *number;
    unsigned long long address;
    int at_once;
    if (!PyArg_ParseTuple(given, "OKp", &number, &address, &at_once)) return NULL;
    td_chain *c = chain_of(number);
    if (!c) return NULL;
    td_chain_give(c, (td_chain_function)(uintptr_t)address, at_once);
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"listen_for_chains", listen_for_chains, METH_O,
     "A function without arguments that is called when chains wait to be compiled; None: nobody."},
    {"get_chain", get_chain, METH_O,
     "get_chain(number): loops, which ranges are kept, state, seconds of an element both ways."},
    {"get_asked_chains", get_asked_chains, METH_NOARGS, "Numbers of the chains that wait."},
    {"give_chain", give_chain, METH_VARARGS,
     "give_chain(number, address of its function or 0, whether it is used untimed)."},
    {0}};

int td_add_chains(PyObject *module) { return PyModule_AddFunctions(module, functions); }
