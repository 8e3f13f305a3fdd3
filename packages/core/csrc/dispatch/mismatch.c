/* mismatch.c - the TypeError of a call that no overload takes: the function, the argument, its
 * position, the type that came. */
#include "dispatch/arguments.h"

static const char *const type_words[] = {"Tensor",
                                         "Number",
                                         "int",
                                         "float",
                                         "bool",
                                         "str",
                                         "taeda.dtype",
                                         "taeda.layout",
                                         "taeda.device",
                                         "taeda.memory_format",
                                         "taeda.Generator"};

/* the name that users know a parameter by */
static const char *shown(const td_param *p) { return strcmp(p->name, "self") ? p->name : "input"; }

static const char *wanted(const td_param *p, char buffer[64])
{
    snprintf(buffer, 64, "%s%s", p->flags & TD_P_LIST ? "tuple of " : "", type_words[p->type]);
    if (p->flags & TD_P_LIST) strncat(buffer, "s", 2);
    return buffer;
}

/* ---- an argument of the wrong type ---- */
static int fits(const td_frame *f, const td_param *p, PyObject *entry) /* in a list */
{
    int64_t ignored;
    int whole = p->type == TD_T_INT || p->type == TD_T_BOOL;
    if (whole && PyBool_Check(entry) && td_is_lenient(f)) return 1;
    int status = 1;
    if (p->type == TD_T_TENSOR)
        return td_is_tensor(entry) || (entry == Py_None && p->flags & TD_P_ELEMENT_OPTIONAL) ||
               td_has_override(entry);
    if (p->type == TD_T_INT) status = td_int_from(entry, &ignored);
    if (p->type == TD_T_BOOL)
        return PyBool_Check(entry) || (PyLong_Check(entry) && td_is_lenient(f));
    if (p->type == TD_T_FLOAT || p->type == TD_T_SCALAR)
        return td_is_number(entry) || td_is_tensor(entry);
    if (status < 0) PyErr_Clear(); /* too large: no int that fits */
    return status == 1;
}

static Py_ssize_t first_misfit(const td_frame *f, const td_param *p, PyObject *list)
{
    for (Py_ssize_t i = 0; i < td_list_length(list); i++) {
        PyObject *entry = Py_XNewRef(td_list_item(list, i));
        int good = entry && fits(f, p, entry);
        Py_XDECREF(entry);
        if (!good) return i;
    }
    return -1;
}

/* reshape(2, 2.0): the sizes stand one by one */
static Py_ssize_t first_misplaced(const td_frame *f, const td_param *p, const td_attempt *a)
{
    if (!(p->flags & TD_P_LIST) || p->type != TD_T_INT || p->length) return -1;
    for (Py_ssize_t i = 0; i < a->npos; i++)
        if (!fits(f, p, a->args[i])) return i;
    return -1;
}

static void report_entry(const char *start, const char *where, Py_ssize_t i, PyObject *entry)
{
    PyObject *type = entry ? td_type_name(entry) : NULL;
    PyErr_Format(PyExc_TypeError, "%s, but %s %zd is %V", start, where, i, type, "?");
    Py_XDECREF(type);
}

static void report_type(const td_frame *f, const td_attempt *a, const char *name)
{
    const td_param *p = &f->schema->params[a->bad];
    PyObject *o = f->obj[a->bad];
    char buffer[64], position[32] = "", start[256];
    if (a->bad < f->schema->npositional)
        snprintf(position, sizeof position, " (position %d)", a->bad + (a->self ? 0 : 1));
    snprintf(start, sizeof start, "%s(): argument '%s'%s must be %s", name, shown(p), position,
             wanted(p, buffer));
    int is_list = p->flags & TD_P_LIST && td_list_length(o) >= 0;
    Py_ssize_t i = is_list ? first_misfit(f, p, o) : -1;
    if (i >= 0) {
        report_entry(start, "its entry", i, td_list_item(o, i));
        return;
    }
    i = is_list || a->npos < 2 ? -1 : first_misplaced(f, p, a);
    if (i > 0) {
        report_entry(start, "what stands at position", i + 1, a->args[i]);
        return;
    }
    PyObject *type = td_type_name(o);
    PyErr_Format(PyExc_TypeError, "%s, not %V", start, type, "?");
    Py_XDECREF(type);
}

static void report_one(const td_frame *f, const td_attempt *a, const char *name)
{
    const td_schema *s = f->schema;
    if (a->bad >= 0) report_type(f, a, name);
    else if (a->missing >= 0)
        PyErr_Format(PyExc_TypeError, "%s() missing 1 required positional arguments: \"%s\"", name,
                     shown(&s->params[a->missing]));
    else if (a->unknown)
        PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", name,
                     a->unknown);
    else
        PyErr_Format(PyExc_TypeError,
                     "%s() takes at most %d positional arguments, but %d were given", name,
                     s->npositional - (a->self != NULL), a->surplus);
}

static PyObject *type_list(const td_attempt *a)
{
    PyObject *names = PyList_New(0);
    for (Py_ssize_t i = 0; names && i < a->npos + a->nkw; i++) {
        PyObject *type = td_type_name(a->args[i]);
        PyObject *text =
            !type ? NULL
            : i < a->npos
                ? Py_NewRef(type)
                : PyUnicode_FromFormat("%U=%U", PyTuple_GetItem(a->kwnames, i - a->npos), type);
        Py_XDECREF(type);
        if (!text || PyList_Append(names, text) < 0) Py_CLEAR(names);
        Py_XDECREF(text);
    }
    PyObject *comma = PyUnicode_FromString(", "),
             *joined = names && comma ? PyUnicode_Join(comma, names) : NULL;
    Py_XDECREF(comma);
    Py_XDECREF(names);
    return joined;
}

/* what a parameter is without an argument, as it is written in Python */
static const char *default_text(const td_param *p, char buffer[64])
{
    const td_arg *v = &p->value;
    if (!(p->flags & TD_P_DEFAULT)) return "";
    switch (v->kind) {
        case TD_ARG_NONE: return "=None";
        case TD_ARG_BOOL: return v->i ? "=True" : "=False";
        case TD_ARG_INT: return snprintf(buffer, 64, "=%lld", (long long)v->i), buffer;
        case TD_ARG_FLOAT: return snprintf(buffer, 64, "=%g", v->f), buffer;
        case TD_ARG_STR: return snprintf(buffer, 64, "='%.50s'", v->str), buffer;
        case TD_ARG_SCALAR:
            return snprintf(buffer, 64, "=%g",
                            v->scalar.kind == TD_S_FLOAT ? v->scalar.re : (double)v->scalar.i),
                   buffer;
        default: return "=...";
    }
}

static PyObject *signature(const td_schema *s, int first)
{
    PyObject *line = PyUnicode_FromString("\n * ("), *next;
    for (int k = first; line && k < s->nparams; k++) {
        char type[64], value[64];
        next = PyUnicode_FromFormat("%U%s%s%s %s%s", line, k > first ? ", " : "",
                                    k == s->npositional ? "*, " : "", wanted(&s->params[k], type),
                                    shown(&s->params[k]), default_text(&s->params[k], value));
        Py_SETREF(line, next);
    }
    return line;
}

static void report_all(const td_function *fn, const td_attempt *a)
{
    PyObject *types = type_list(a),
             *text = types ? PyUnicode_FromFormat("%s() received an invalid combination of "
                                                  "arguments - got (%U), but expected one of:",
                                                  fn->name, types)
                           : NULL;
    for (int i = 0; text && i < fn->count; i++) {
        PyObject *line = signature(fn->overloads[i], a->self != NULL), *next;
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
