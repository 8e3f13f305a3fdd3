/* unchanged.c - core.unchanged: do objects hold the very objects that they held? What guards of a
 * compiled program ask at each call.
 *
 *   (0, owner, name, value)       owner.name is value
 *   (1, dict, key, value)         dict[key] is value
 *   (2, dict, keys, values)       the dict has these keys and values, in this order
 *   (3, list, items, None)        the list has these items
 *   (4, dict, key, None)          the dict has no such key
 *   (5, dict, keys, None)         the dict has these keys, in this order */
#include "object/py.h"

enum { ATTRIBUTE, ITEM, DICT, LIST, ABSENT, KEYS };

static int same_attribute(PyObject *owner, PyObject *name, PyObject *value)
{
    PyObject *found = PyObject_GetAttr(owner, name);
    Py_XDECREF(found); /* only its identity is asked; the guard keeps the value alive */
    return found == value;
}

static int same_dict(PyObject *dict, PyObject *keys, PyObject *values) /* values NULL: whichever */
{
    PyObject *key, *value;
    Py_ssize_t at = 0, i = 0, n = PyTuple_Size(keys);
    if (PyDict_Size(dict) != n || (values && PyTuple_Size(values) != n)) return 0;
    while (PyDict_Next(dict, &at, &key, &value)) {
        if (i == n || key != PyTuple_GetItem(keys, i) ||
            (values && value != PyTuple_GetItem(values, i)))
            return 0;
        i++;
    }
    return i == n;
}

static int same_list(PyObject *list, PyObject *items)
{
    Py_ssize_t n = PyList_Size(list);
    if (n != PyTuple_Size(items)) return 0;
    for (Py_ssize_t i = 0; i < n; i++)
        if (PyList_GetItem(list, i) != PyTuple_GetItem(items, i)) return 0;
    return 1;
}

static int holds(PyObject *entry)
{
    long kind = PyLong_AsLong(PyTuple_GetItem(entry, 0));
    PyObject *owner = PyTuple_GetItem(entry, 1), *which = PyTuple_GetItem(entry, 2),
             *value = PyTuple_GetItem(entry, 3);
    if (kind == ATTRIBUTE) return same_attribute(owner, which, value);
    if (kind == LIST) return PyList_Check(owner) && PyTuple_Check(which) && same_list(owner, which);
    if (!PyDict_Check(owner)) return 0;
    if (kind == ITEM) return PyDict_GetItemWithError(owner, which) == value;
    if (kind == ABSENT) return PyDict_GetItemWithError(owner, which) == NULL;
    if (kind == KEYS) return PyTuple_Check(which) && same_dict(owner, which, NULL);
    return kind == DICT && PyTuple_Check(which) && PyTuple_Check(value) &&
           same_dict(owner, which, value);
}

/* unchanged(entries): True if every one holds; an exception on the way means no */
PyObject *td_unchanged(PyObject *m, PyObject *entries)
{
    Py_ssize_t n = PyTuple_Check(entries) ? PyTuple_Size(entries) : -1;
    if (n < 0)
        return PyErr_Format(PyExc_TypeError, "unchanged: wanted a tuple, got %R", Py_TYPE(entries));
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *entry = PyTuple_GetItem(entries, i);
        int yes = PyTuple_Check(entry) && PyTuple_Size(entry) == 4 && holds(entry);
        if (PyErr_Occurred()) PyErr_Clear(), yes = 0;
        if (!yes) Py_RETURN_FALSE;
    }
    Py_RETURN_TRUE;
}
