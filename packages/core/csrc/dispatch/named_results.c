/* named_results.c - what a call returns: nothing, a tensor, a tuple or a named tuple. */
#include "dispatch/dispatch.h"

/* taeda.return_types.max(
 * values=tensor(…),
 * indices=tensor(…)) */
static PyObject *named_text(PyObject *results, PyObject *unused)
{
    PyObject *names = PyObject_GetAttrString((PyObject *)Py_TYPE(results), "__match_args__"),
             *lines = PyList_New(0);
    PyObject *made = NULL, *comma = PyUnicode_FromString(",\n"), *text = NULL;
    for (Py_ssize_t i = 0; names && lines && i < PyTuple_Size(names); i++) {
        PyObject *line =
            PyUnicode_FromFormat("%U=%R", PyTuple_GetItem(names, i), PyTuple_GetItem(results, i));
        if (!line || PyList_Append(lines, line) < 0) Py_CLEAR(lines);
        Py_XDECREF(line);
    }
    PyObject *type =
        names ? PyObject_GetAttrString((PyObject *)Py_TYPE(results), "__name__") : NULL;
    if (lines && comma) text = PyUnicode_Join(comma, lines);
    if (type && text) made = PyUnicode_FromFormat("taeda.return_types.%U(\n%U)", type, text);
    Py_XDECREF(names), Py_XDECREF(lines), Py_XDECREF(comma), Py_XDECREF(type), Py_XDECREF(text);
    return made;
}

/* the type of another row of that function: sort and sort.stable give one */
static PyTypeObject *type_of_sibling(const td_schema *s)
{
    for (int i = 0; i < td_schema_count; i++) {
        const td_schema *other = &td_schemas[i];
        if (other->results && !strcmp(other->op.name, s->op.name) &&
            !strcmp(other->namespace_, s->namespace_) &&
            !strcmp(other->return_names, s->return_names))
            return other->results;
    }
    return NULL;
}

static PyTypeObject *result_type(const td_schema *s) /* named tuple "taeda.return_types.max" */
{
    if (s->results) return s->results;
    PyTypeObject *shared = type_of_sibling(s);
    if (shared) return ((td_schema *)s)->results = shared;
    static char names[TD_MAX_OUTS][32];
    PyStructSequence_Field fields[TD_MAX_OUTS + 1] = {{0}};
    const char *at = s->return_names;
    for (int i = 0; i < s->nreturns; i++) {
        size_t n = strcspn(at, " ");
        snprintf(names[i], sizeof names[i], "%.*s", (int)n, at);
        fields[i].name = PyUnicode_AsUTF8AndSize(PyUnicode_InternFromString(names[i]), NULL);
        at += n + (at[n] == ' ');
    }
    char *name = PyMem_Malloc(96);
    if (!name) return (PyTypeObject *)td_no_memory();
    snprintf(name, 96, "taeda.return_types.%s%s%s", s->namespace_, s->namespace_[0] ? "_" : "",
             s->op.name);
    PyStructSequence_Desc desc = {name, "Named results.", fields, s->nreturns};
    PyTypeObject *type = PyStructSequence_NewType(&desc);
    static PyMethodDef repr = {"__repr__", named_text, METH_NOARGS, "One result a line."};
    PyObject *method = type ? PyDescr_NewMethod(type, &repr) : NULL;
    if (method && PyObject_SetAttrString((PyObject *)type, "__repr__", method) == 0)
        ((td_schema *)s)->results = type;
    Py_XDECREF(method);
    return s->results;
}

PyObject *td_result_types(PyObject *m, PyObject *unused) /* every named-tuple type there is */
{
    PyObject *made = PyDict_New();
    for (int i = 0; made && i < td_schema_count; i++) {
        const td_schema *s = &td_schemas[i];
        if (!s->return_names[0]) continue;
        PyTypeObject *type = result_type(s);
        PyObject *name = type ? PyObject_GetAttrString((PyObject *)type, "__name__") : NULL;
        if (!name || PyDict_SetItem(made, name, (PyObject *)type) < 0) Py_CLEAR(made);
        Py_XDECREF(name);
    }
    return made;
}

PyObject *td_pack_results(const td_schema *s, PyObject **outs, int n) /* takes the outs over */
{
    if (n == 1 && !s->list_result) return outs[0];
    if (n == 0) return Py_NewRef(Py_None);
    if (s->return_names[0] && n == s->nreturns) {
        PyTypeObject *type = result_type(s);
        PyObject *made = type ? PyStructSequence_New(type) : NULL;
        for (int i = 0; i < n; i++)
            if (made) PyStructSequence_SetItem(made, i, outs[i]);
            else Py_DECREF(outs[i]);
        return made;
    }
    PyObject *made = PyTuple_New(n);
    for (int i = 0; i < n; i++)
        if (made) PyTuple_SetItem(made, i, outs[i]);
        else Py_DECREF(outs[i]);
    return made;
}
