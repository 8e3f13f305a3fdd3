/* Tensors that stand for a sample of vmap, where a call would change what memory a tensor has.
 *
 * Operations come to the map by the dispatcher. What does not pass it must ask here first: a tensor
 * would become the wrapper's, which has no memory. Inside of the map's own rules the layer is
 * hidden. */
#ifndef TAEDA_BINDING_SAMPLES_H
#define TAEDA_BINDING_SAMPLES_H
#include "object/py.h"

/* Whether a map is at work and `o` stands for its samples. */
static inline int td_is_of_samples(PyObject *o)
{
    if (!(td_here.layers & ~td_here.excluded & TD_LAYER_TRANSFORM)) return 0;
    return PyObject_HasAttrString((PyObject *)Py_TYPE(o), "_of_samples");
}

/* -1, with an exception, if one of the two does; `what` is the call. */
static inline int td_check_samples(PyObject *a, PyObject *b, const char *what)
{
    if (!td_is_of_samples(a) && !(b && td_is_of_samples(b))) return 0;
    PyErr_Format(
        PyExc_RuntimeError,
        "vmap: %s is not possible, as it changes what memory a tensor has, and the samples of a "
        "map share theirs: compute a new tensor instead, or take the call out of vmap",
        what);
    return -1;
}

#endif
