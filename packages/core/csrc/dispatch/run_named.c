/* run_named.c - calls with tensors whose dimensions have names. A row says by a word what becomes
 * of the names (taeda/_names/rules.py); its call runs as one on tensors without names does, on the
 * same objects, so that autograd and kernels never see a name. */
#include "dispatch/arguments.h"
#include "object/watch.h"

static const char *const words[] = {
#define TD_NAMING_TEXT(name) #name,
    TD_NAMING(TD_NAMING_TEXT)
#undef TD_NAMING_TEXT
};

/* taeda._names.rules.infer(row, word, arguments, in place?, out=): the names of every result, or
 * None; raises where names clash, and where the row has no rule */
static PyObject *infer(const td_frame *f, PyObject *args)
{
    static PyObject *hook;
    if (!td_python_function(&hook, "taeda._names.rules", "infer")) return NULL;
    return PyObject_CallFunction(hook, "ssOOO", f->schema->text, words[f->schema->names], args,
                                 f->inplace ? Py_True : Py_False, f->out ? f->out : Py_None);
}

/* taeda._names.rules.put(results, names, arguments, written?): the results, with these names */
static PyObject *put(const td_frame *f, PyObject *made, PyObject *names, PyObject *args)
{
    static PyObject *hook;
    if (!td_python_function(&hook, "taeda._names.rules", "put")) return NULL;
    int written = f->inplace || f->out || f->schema->flags & TD_F_MUTATES;
    return PyObject_CallFunction(hook, "OOOO", made, names, args, written ? Py_True : Py_False);
}

int td_names_before(td_frame *f, td_naming *n)
{
    *n = (td_naming){NULL, NULL, td_here.excluded};
    if (!(f->overridden & TD_NAMED) || n->excluded & TD_LAYER_NAMES) return 0;
    n->args = td_arguments_tuple(f);
    td_here.excluded |= TD_LAYER_NAMES;
    n->names = n->args ? infer(f, n->args) : NULL;
    if (n->names) return td_note_untraced("dimensions have names"), 0;
    td_here.excluded = n->excluded;
    Py_CLEAR(n->args);
    return -1;
}

PyObject *td_names_after(td_frame *f, td_naming *n, PyObject *made)
{
    if (!n->args) return made;
    PyObject *result = made ? put(f, made, n->names, n->args) : NULL;
    td_here.excluded = n->excluded;
    Py_DECREF(n->args);
    Py_DECREF(n->names);
    Py_XDECREF(made);
    return result;
}

/* ---- text where a dimension is wanted ---- */
static int holds_text(PyObject *o)
{
    if (PyUnicode_Check(o)) return 1;
    for (Py_ssize_t i = 0; i < td_list_length(o); i++) {
        PyObject *item = td_list_item(o, i);
        if (PyUnicode_Check(item) || (PyTuple_Check(item) && PyTuple_Size(item) &&
                                      PyUnicode_Check(PyTuple_GetItem(item, 0))))
            return 1;
    }
    return 0;
}

int td_asks_by_name(PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    Py_ssize_t more = kwnames ? PyTuple_Size(kwnames) : 0;
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) return 0;
    for (Py_ssize_t i = 0; i < nargs + more; i++)
        if (holds_text(args[i])) return 1;
    for (Py_ssize_t i = 0; i < more; i++)
        if (!PyUnicode_CompareWithASCIIString(PyTuple_GetItem(kwnames, i), "names")) return 1;
    return 0;
}

/* ---- for Python ---- */
static PyTensor *tensor_from(PyObject *o)
{
    if (td_is_tensor(o)) return (PyTensor *)o;
    PyErr_Format(PyExc_TypeError, "wanted a Tensor, got %S", Py_TYPE(o));
    return NULL;
}

PyObject *td_names_of(PyObject *m, PyObject *o)
{
    PyTensor *p = tensor_from(o);
    return p ? Py_NewRef(p->named ? p->parts : Py_None) : NULL;
}

PyObject *td_set_names(PyObject *m, PyObject *args)
{
    PyObject *o, *names;
    if (!PyArg_ParseTuple(args, "OO:set_names", &o, &names)) return NULL;
    PyTensor *p = tensor_from(o);
    if (!p) return NULL;
    if (td_has_parts(p) ||
        (names != Py_None && (!PyTuple_Check(names) || PyTuple_Size(names) != p->t->ndim)))
        return PyErr_Format(PyExc_ValueError,
                            "set_names: wanted a strided tensor and a tuple of %d names, got %R",
                            p->t->ndim, names);
    td_note_untraced("dimensions have names");
    td_give_names(p, names == Py_None ? NULL : names);
    Py_RETURN_NONE;
}

PyObject *td_op_names(PyObject *m, PyObject *row)
{
    const char *text = PyUnicode_AsUTF8AndSize(row, NULL);
    const td_schema *s = text ? td_find_schema(text) : NULL;
    if (!s) return text ? PyErr_Format(PyExc_ValueError, "the op table has no '%s'", text) : NULL;
    return PyUnicode_FromString(words[s->names]);
}
