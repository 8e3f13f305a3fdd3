/* mismatch.c - the TypeError of a call that no overload takes: the function, the argument, its position, the type that came. */
#include "dispatch/arguments.h"

static const char *const type_words[] = {"Tensor", "Number", "int", "float", "bool", "str", "taeda.dtype", "taeda.layout",
                                         "taeda.device", "taeda.memory_format", "taeda.Generator"};

/* the name that users know a parameter by */
static const char *shown(const td_param *p) { return strcmp(p->name, "self") ? p->name : "input"; }

static const char *wanted(const td_param *p, char buffer[64])
{
    snprintf(buffer, 64, "%s%s", p->flags & TD_P_LIST ? "tuple of " : "", type_words[p->type]);
    if (p->flags & TD_P_LIST) strncat(buffer, "s", 2);
    return buffer;
}

static void report_one(const td_frame *f, const td_attempt *a, const char *name)
{
    const td_schema *s = f->schema;
    char buffer[64];
    if (a->bad >= 0) {
        const td_param *p = &s->params[a->bad];
        PyObject *type = td_type_name(f->obj[a->bad]);
        PyErr_Format(PyExc_TypeError, "%s(): argument '%s' (position %d) must be %s, not %V", name, shown(p),
                     a->bad + (a->self ? 0 : 1), wanted(p, buffer), type, "?");
        Py_XDECREF(type);
    } else if (a->missing >= 0)
        PyErr_Format(PyExc_TypeError, "%s() missing 1 required positional arguments: \"%s\"", name, shown(&s->params[a->missing]));
    else if (a->unknown)
        PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", name, a->unknown);
    else
        PyErr_Format(PyExc_TypeError, "%s() takes at most %d positional arguments, but %d were given", name,
                     s->npositional - (a->self != NULL), a->surplus);
}

static PyObject *type_list(const td_attempt *a)
{
    PyObject *names = PyList_New(0);
    for (Py_ssize_t i = 0; names && i < a->npos + a->nkw; i++) {
        PyObject *type = td_type_name(a->args[i]);
        PyObject *text = !type ? NULL : i < a->npos ? Py_NewRef(type)
                       : PyUnicode_FromFormat("%U=%U", PyTuple_GetItem(a->kwnames, i - a->npos), type);
        Py_XDECREF(type);
        if (!text || PyList_Append(names, text) < 0) Py_CLEAR(names);
        Py_XDECREF(text);
    }
    PyObject *comma = PyUnicode_FromString(", "), *joined = names && comma ? PyUnicode_Join(comma, names) : NULL;
    Py_XDECREF(comma);
    Py_XDECREF(names);
    return joined;
}

static void report_all(const td_function *fn, const td_attempt *a)
{
    PyObject *types = type_list(a), *text = types ? PyUnicode_FromFormat(
        "%s() received an invalid combination of arguments - got (%U), but expected one of:", fn->name, types) : NULL;
    for (int i = 0; text && i < fn->count; i++) {
        PyObject *line = PyUnicode_FromString("\n * ("), *next;
        const td_schema *s = fn->overloads[i];
        for (int k = a->self != NULL; line && k < s->nparams; k++) {
            char buffer[64];
            next = PyUnicode_FromFormat("%U%s%s %s", line, k > (a->self != NULL) ? ", " : "", wanted(&s->params[k], buffer),
                                        shown(&s->params[k]));
            Py_SETREF(line, next);
        }
        next = line ? PyUnicode_FromFormat("%U%U)", text, line) : NULL;
        Py_XDECREF(line);
        Py_SETREF(text, next);
    }
    if (text) PyErr_SetObject(PyExc_TypeError, text);
    Py_XDECREF(types);
    Py_XDECREF(text);
}

void td_report_mismatch(const td_frame *f, const td_attempt *a)
{
    if (f->function->count == 1) report_one(f, a, f->function->name);
    else report_all(f->function, a);
}
