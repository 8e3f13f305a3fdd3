/* callkey.c - core.call_key, core.gradients_are: what a compiled function asks at each call of its
 * arguments and of the leaves that it assigns gradients to. */
#include "dispatch/dispatch.h"
#include "graph/node.h"

/* Where a tensor is among those before it; -1 if it is none of them. */
static Py_ssize_t place_of(PyObject *tensor, PyObject *tensors)
{
    Py_ssize_t n = PyList_Size(tensors);
    for (Py_ssize_t i = 0; i < n; i++)
        if (PyList_GetItem(tensors, i) == tensor) return i;
    return -1;
}

/* The word of one argument, new: the type of tensors, or ("again", place) for one that was there.
 */
static PyObject *word_of(PyObject *tensor, PyObject *tensors)
{
    Py_ssize_t at = place_of(tensor, tensors);
    if (at >= 0) return Py_BuildValue("(sn)", "again", at);
    return PyList_Append(tensors, tensor) < 0 ? NULL : Py_NewRef((PyObject *)TensorT);
}

/* ((number of arguments, word of each...), tensors), where all arguments are tensors */
static PyObject *key_of(PyObject *args, Py_ssize_t n)
{
    PyObject *key = PyTuple_New(n + 1), *tensors = PyList_New(0), *made = NULL;
    PyObject *word = key && tensors ? PyLong_FromSsize_t(n) : NULL;
    for (Py_ssize_t i = 0; word && i <= n; i++) {
        PyTuple_SetItem(key, i, word);
        if (i < n) word = word_of(PyTuple_GetItem(args, i), tensors);
    }
    if (word) made = PyTuple_Pack(2, key, tensors);
    Py_XDECREF(key);
    Py_XDECREF(tensors);
    return made;
}

/* call_key(args): None if an argument is no plain tensor */
PyObject *td_call_key(PyObject *module, PyObject *args)
{
    if (!PyTuple_Check(args))
        return PyErr_Format(PyExc_TypeError, "call_key: wanted a tuple, got %R", Py_TYPE(args));
    Py_ssize_t n = PyTuple_Size(args);
    for (Py_ssize_t i = 0; i < n; i++)
        if (Py_TYPE(PyTuple_GetItem(args, i)) != TensorT ||
            td_has_parts((PyTensor *)PyTuple_GetItem(args, i)) ||
            ((PyTensor *)PyTuple_GetItem(args, i))->named)
            Py_RETURN_NONE;
    return key_of(args, n);
}

/* Whether an object is a leaf that has a gradient, or has none; -1 with an exception. */
static int is_leaf_with(PyObject *tensor, int gradient)
{
    int failed = 0;
    if (!tensor || !td_is_tensor(tensor)) return PyErr_Occurred() ? -1 : 0;
    if (td_grad_fn((PyTensor *)tensor, &failed)) return 0;
    return failed ? -1 : (((PyTensor *)tensor)->grad != NULL) == gradient;
}

/* gradients_are(tensors, numbers, there): whether those of these numbers are leaves with a
 * gradient, or all without one */
PyObject *td_gradients_are(PyObject *module, PyObject *args)
{
    PyObject *tensors, *numbers;
    int there;
    if (!PyArg_ParseTuple(args, "O!O!p:gradients_are", &PyList_Type, &tensors, &PyTuple_Type,
                          &numbers, &there))
        return NULL;
    Py_ssize_t n = PyTuple_Size(numbers);
    for (Py_ssize_t i = 0; i < n; i++) {
        Py_ssize_t number = PyLong_AsSsize_t(PyTuple_GetItem(numbers, i));
        if (number == -1 && PyErr_Occurred()) return NULL;
        int yes = is_leaf_with(PyList_GetItem(tensors, number), there);
        if (yes < 0) return NULL;
        if (!yes) Py_RETURN_FALSE;
    }
    Py_RETURN_TRUE;
}
