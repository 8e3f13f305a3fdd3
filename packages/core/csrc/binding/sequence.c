/* sequence.c - nested lists of numbers as tensors.
 *
 * A leaf is a Python number, a scalar of numpy or a tensor of one element. Every leaf has a dtype
 * (a Python number: the default one of its kind), and the entries of a list promote to that of the
 * list (an empty one: the default float). Lists that hold anything longer (arrays, tensors, other
 * sequences) are left to taeda._tensor.creation. */
#include "binding/binding.h"
#include "object/watch.h"

typedef struct Survey {
    int64_t sizes[TD_MAX_DIMS];
    int ndim;
    int dtype;    /* of the entries so far of the list that is read, or -1 */
    int floating; /* that of a float */
    int given;    /* the dtype is the caller's: leaves do not change it */
    int other;    /* there is a leaf that is not for this file */
} Survey;

static int is_list(PyObject *o) { return PyList_Check(o) || PyTuple_Check(o); }
static Py_ssize_t length(PyObject *o) { return PyList_Check(o) ? PyList_Size(o) : PyTuple_Size(o); }

static PyObject *
item(PyObject *o,
     Py_ssize_t i) /* new reference: what reads it may run code that changes the list */
{
    PyObject *found = PyList_Check(o) ? PyList_GetItem(o, i) : PyTuple_GetItem(o, i);
    return Py_XNewRef(found);
}

static int is_single(PyObject *o) /* a tensor that is a number */
{
    return td_is_tensor(o) && TD_T(o)->numel == 1 &&
           (!td_is_meta(TD_T(o)) || ((PyTensor *)o)->dispatches);
}

static int default_dtype(int kind)
{
    td_scalar any = {.kind = (td_scalar_kind)kind};
    return (int)td_scalar_dtype(&any);
}

/* the dtype of a leaf, or -1 */
static int leaf_dtype(PyObject *o, const Survey *s)
{
    td_dtype dtype;
    if (PyFloat_CheckExact(o)) return s->floating;
    if (PyBool_Check(o)) return TD_BOOL;
    if (PyLong_Check(o)) return TD_I64;
    /* before float and complex: two of them are subclasses */
    if (td_numpy_scalar_dtype(o, &dtype)) return (int)dtype;
    if (is_single(o)) return TD_T(o)->dtype;
    if (PyFloat_Check(o)) return s->floating;
    return PyComplex_Check(o) ? default_dtype(TD_S_COMPLEX) : -1;
}

static int join(Survey *s, int dtype) /* one more entry */
{
    /* that one holds every number */
    if (s->given || dtype == s->dtype || s->dtype == TD_C128) return 0;
    s->dtype = s->dtype < 0 ? dtype : td_promoted((td_dtype)s->dtype, (td_dtype)dtype);
    return s->dtype < 0 ? -1 : 0;
}

/* 0, or what ends the survey: 1, a leaf that is not for this file; -1, an exception */
static int survey_leaf(PyObject *o, int depth, Survey *s)
{
    int dtype = leaf_dtype(o, s);
    if (dtype < 0 || (depth != s->ndim && td_is_tensor(o))) return s->other = 1;
    if (depth != s->ndim)
        return PyErr_Format(PyExc_TypeError,
                            "not a sequence: a %R stands where its neighbours are sequences",
                            Py_TYPE(o)),
               -1;
    return join(s, dtype);
}

static int survey(PyObject *o, int depth, Survey *s)
{
    if (!is_list(o)) return survey_leaf(o, depth, s);
    if (depth == s->ndim)
        return PyErr_Format(PyExc_TypeError,
                            "must be a number, not a sequence: entries at depth %d differ", depth),
               -1;
    if (length(o) != s->sizes[depth])
        return PyErr_Format(PyExc_ValueError,
                            "expected sequence of length %lld at dim %d (got %zd)",
                            (long long)s->sizes[depth], depth, length(o)),
               -1;
    int status = 0, before = s->dtype;
    s->dtype = -1;
    for (Py_ssize_t i = 0; status == 0 && i < s->sizes[depth]; i++) {
        PyObject *entry = item(o, i);
        status = entry ? survey(entry, depth + 1, s) : -1;
        Py_XDECREF(entry);
    }
    int own = s->dtype < 0 ? s->floating : s->dtype;
    s->dtype = before;
    return status ? status : join(s, own);
}

/* the sizes along the first entries; whether the leaf there is one */
static int first_path(PyObject *data, Survey *s)
{
    PyObject *o = Py_NewRef(data), *next;
    while (o && is_list(o)) {
        if (s->ndim == TD_MAX_DIMS) {
            PyErr_Format(PyExc_ValueError, "too many dimensions: nested deeper than %d",
                         TD_MAX_DIMS);
            return Py_DECREF(o), -1;
        }
        s->sizes[s->ndim++] = length(o);
        if (!length(o)) break;
        next = item(o, 0);
        Py_SETREF(o, next);
    }
    if (!o) return -1;
    s->other = !is_list(o) && leaf_dtype(o, s) < 0;
    Py_DECREF(o);
    return 0;
}

/* a leaf as a scalar; an integer that exceeds 64 bits is still a float where one is wanted */
static int number(PyObject *o, td_dtype dtype, td_scalar *v)
{
    int status = td_scalar_from(o, v);
    if (status == 0 && is_single(o)) {
        PyObject *plain = td_item_of(o);
        status = plain ? td_scalar_from(plain, v) : -1;
        Py_XDECREF(plain);
    }
    if (status >= 0 || !PyLong_Check(o) || td_is_ragged(o)) return status;
    PyErr_Clear();
    if (td_is_integral(dtype))
        return PyErr_Format(PyExc_ValueError,
                            "Overflow when unpacking long long: %R does not fit 64 bits", o),
               -1;
    *v = td_scalar_float(PyLong_AsDouble(o));
    return PyErr_Occurred() ? -1 : 1;
}

static int beyond_int64(const td_scalar *v) { return v->kind == TD_S_INT && v->i < 0 && v->re > 0; }

static int store(PyObject *o, td_dtype dtype, char *at)
{
    td_scalar v;
    int status = number(o, dtype, &v);
    if (status < 0) return -1;
    if (!status) return PyErr_Format(PyExc_TypeError, "must be a number, not %S", Py_TYPE(o)), -1;
    if (v.kind == TD_S_COMPLEX && !td_is_complex(dtype) && dtype != TD_BOOL)
        return PyErr_Format(PyExc_TypeError, "must be a real number for dtype %s, not complex: %R",
                            td_dtypes[dtype].name, o),
               -1;
    if (dtype == TD_I64 && beyond_int64(&v))
        return PyErr_Format(PyExc_ValueError,
                            "Overflow when unpacking long long: %R does not fit int64", o),
               -1;
    if (td_is_integral(dtype) && !td_scalar_fits_integer(&v, dtype))
        return PyErr_Format(PyExc_RuntimeError,
                            "value cannot be converted to type %s without overflow: %R",
                            td_dtypes[dtype].name, o),
               -1;
    td_scalar_store(&v, dtype, at);
    return 0;
}

static int fill(PyObject *o, const Survey *s, int depth, td_dtype dtype, char **at)
{
    if (depth == s->ndim) {
        if (store(o, dtype, *at) < 0) return -1;
        *at += td_itemsize(dtype);
        return 0;
    }
    if (!is_list(o) || length(o) != s->sizes[depth])
        return PyErr_SetString(PyExc_RuntimeError, "the sequence changed while it was read"), -1;
    int status = 0;
    for (Py_ssize_t i = 0; status == 0 && i < s->sizes[depth]; i++) {
        PyObject *entry = item(o, i);
        status = entry ? fill(entry, s, depth + 1, dtype, at) : -1;
        Py_XDECREF(entry);
    }
    return status;
}

/* from_sequence(data, dtype or None): a new tensor, or None if some leaf is no number (an array, a
 * longer tensor) */
static PyObject *from_sequence(PyObject *m, PyObject *args)
{
    PyObject *data, *dtype_object;
    td_dtype dtype = TD_F32;
    if (!PyArg_ParseTuple(args, "OO", &data, &dtype_object)) return NULL;
    Survey s = {.dtype = -1,
                .floating = default_dtype(TD_S_FLOAT),
                .given = td_dtype_from(dtype_object, &dtype)};
    if (first_path(data, &s) < 0 || (!s.other && survey(data, 0, &s) < 0)) return NULL;
    if (s.other) Py_RETURN_NONE;
    if (!s.given) dtype = s.dtype < 0 ? (td_dtype)s.floating : (td_dtype)s.dtype;
    td_tensor *t;
    TD_PY(td_tensor_empty(&t, dtype, TD_CPU, s.ndim, s.sizes));
    char *at = td_data(t);
    if (t->numel && fill(data, &s, 0, dtype, &at) < 0) {
        td_tensor_free(t);
        return NULL;
    }
    PyObject *made = td_wrap(t);
    if (made && td_watched()) td_tell_made(made);
    return made;
}

static PyMethodDef methods[] = {
    {"from_sequence", from_sequence, METH_VARARGS,
     "from_sequence(data, dtype): a tensor of nested lists, or None if they hold other things."},
    {0}};
PyMethodDef *td_sequence_methods(void) { return methods; }
