/* arguments.c - the arguments of a call by the schema's parameters: overloads are tried in order.
 */
#include "dispatch/arguments.h"

/* numpy's words are accepted for the field's: axis, keepdims, x, a, x1, x2; and `input` and
 * `tensor` for self, and both names that PyTorch has for the sizes of split */
static int same_name(const char *param, const char *given)
{
    if (!strcmp(param, given)) return 1;
    switch (given[0]) {
        case 'i': return !strcmp(given, "input") && !strcmp(param, "self");
        case 'a':
            return (!strcmp(given, "axis") && !strcmp(param, "dim")) ||
                   (!strcmp(given, "a") && (!strcmp(param, "self") || !strcmp(param, "input")));
        case 's': return !strcmp(given, "split_size_or_sections") && !strcmp(param, "split_size");
        case 't': return !strcmp(given, "tensor") && !strcmp(param, "self");
        case 'k': return !strcmp(given, "keepdims") && !strcmp(param, "keepdim");
        case 'x':
            if (!strcmp(given, "x2")) return !strcmp(param, "other");
            return (!strcmp(given, "x") || !strcmp(given, "x1")) &&
                   (!strcmp(param, "self") || !strcmp(param, "input"));
        default: return 0;
    }
}

static int find_keyword(const td_schema *s, const char *given)
{
    for (int k = 0; k < s->nparams; k++)
        if (same_name(s->params[k].name, given)) return k;
    return -1;
}

static int special_keyword(td_frame *f, const char *name, PyObject *value)
{
    if (!strcmp(name, "out") && f->schema->flags & TD_F_OUT && !f->inplace) {
        if (value == Py_None) return f->out = NULL, 1;
        f->out = td_frame_tuple(f, value);
        return f->out ? 1 : -1;
    }
    if (!strcmp(name, "requires_grad") && f->schema->flags & TD_F_FACTORY) {
        f->requires_grad = value;
        return PyBool_Check(value);
    }
    return 0;
}

/* (1, 2, 3) spread over an int[] that is the first free positional parameter: view(1, 2, 3),
 * zeros(2, 3) */
static int spread_ints(td_frame *f, td_attempt *a, int k)
{
    const td_param *p = &f->schema->params[k];
    if (!(p->flags & TD_P_LIST) || p->type != TD_T_INT || p->length) return 0;
    if (td_list_length(a->args[0]) >= 0) return 0;
    int64_t *list = td_room_ints(f, a->npos);
    if (!list) return -1;
    for (Py_ssize_t i = 0; i < a->npos; i++) {
        int status = td_entry_from(f, a->args[i], &list[i]);
        if (status != 1) return status;
    }
    PyObject *tuple = PyTuple_New(a->npos);
    for (Py_ssize_t i = 0; tuple && i < a->npos; i++)
        PyTuple_SetItem(tuple, i, Py_NewRef(a->args[i]));
    if (!tuple || !(tuple = td_frame_hold(f, tuple))) return -1;
    f->obj[k] = tuple;
    f->call.args[k] = (td_arg){TD_ARG_INTS, a->npos, {.ints = list}};
    return 1;
}

static void reset(td_frame *f, const td_schema *s)
{
    td_frame_close(f);
    uint8_t inplace = f->inplace;
    td_frame_open(f);
    f->inplace = inplace;
    td_frame_row(f, f->function, s);
    memset(f->obj, 0, sizeof(PyObject *) * s->nparams);
}

static int fill_positional(td_frame *f, td_attempt *a)
{
    const td_schema *s = f->schema;
    int k = 0;
    if (a->self) {
        int self_at = 0;
        while (self_at < s->nparams && strcmp(s->params[self_at].name, "self")) self_at++;
        if (self_at == s->nparams) self_at = 0;
        int status = td_bind(f, self_at, a->self);
        if (status != 1) return a->bad = self_at, status;
    }
    for (Py_ssize_t i = 0; i < a->npos; i++, k++) {
        while (k < s->npositional && f->obj[k]) k++;
        if (k >= s->npositional) return a->surplus = (int)a->npos, 0;
        if (i == 0 && (a->npos > 1 || (a->args[0] != Py_None && td_list_length(a->args[0]) < 0))) {
            int spread = spread_ints(f, a, k);
            if (spread < 0) return -1;
            if (spread) return 1;
        }
        int status = td_bind(f, k, a->args[i]);
        if (status != 1) return a->bad = k, status;
    }
    return 1;
}

static int fill_keywords(td_frame *f, td_attempt *a)
{
    for (Py_ssize_t i = 0; i < a->nkw; i++) {
        PyObject *key = PyTuple_GetItem(a->kwnames, i), *value = a->args[a->npos + i];
        const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
        if (!name) return -1;
        int k = find_keyword(f->schema, name);
        if (k < 0) {
            int special = special_keyword(f, name, value);
            if (special == 1) continue;
            return a->unknown = key, special;
        }
        if (f->obj[k]) return a->unknown = key, 0;
        int status = td_bind(f, k, value);
        if (status != 1) return a->bad = k, status;
    }
    return 1;
}

static void fill_device(td_frame *f) /* of a factory that follows no tensor */
{
    const td_schema *s = f->schema;
    for (int k = 0; k < s->nparams; k++) {
        if (s->params[k].type == TD_T_TENSOR) return;
        if (s->params[k].type == TD_T_DEVICE && f->call.args[k].kind == TD_ARG_NONE)
            f->call.args[k] = (td_arg){TD_ARG_DEVICE, 0, {.i = td_here.default_device}};
    }
}

/* Factories, and sums and products that convert their elements first, compute in the dtype of out=,
 * where no other is asked for. */
static bool follows_out(const td_schema *s)
{
    static const char *const names[] = {"sum", "nansum", "prod", "cumsum", "cumprod"};
    if (s->flags & TD_F_FACTORY) return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(s->op.name, names[i])) return true;
    return false;
}

static void fill_dtype(td_frame *f)
{
    const td_schema *s = f->schema;
    if (!td_is_tensor(f->out) || !follows_out(s)) return;
    for (int k = 0; k < s->nparams; k++)
        if (s->params[k].type == TD_T_DTYPE && f->call.args[k].kind == TD_ARG_NONE)
            f->call.args[k] = (td_arg){TD_ARG_DTYPE, 0, {.i = TD_T(f->out)->dtype}};
}

static int fill_defaults(td_frame *f, td_attempt *a)
{
    const td_schema *s = f->schema;
    for (int k = 0; k < s->nparams; k++) {
        if (f->obj[k]) continue;
        if (!(s->params[k].flags & TD_P_DEFAULT)) return a->missing = k, 0;
        f->call.args[k] = s->params[k].value;
        if (s->params[k].type == TD_T_GENERATOR)
            f->call.args[k] = (td_arg){TD_ARG_GENERATOR, 0, {.generator = &td_default_generator}};
    }
    if (td_here.default_device && s->flags & TD_F_FACTORY) fill_device(f);
    if (f->out) fill_dtype(f);
    return 1;
}

static int attempt(td_frame *f, const td_schema *s, td_attempt *a)
{
    reset(f, s);
    a->missing = a->bad = a->surplus = -1;
    a->unknown = NULL;
    int status = fill_positional(f, a);
    if (status == 1) status = fill_keywords(f, a);
    if (status == 1) status = fill_defaults(f, a);
    return status;
}

/* The call in the order of older programs: 1 if it is one and fits, 0 if not, -1 with an exception.
 */
static int attempt_sorted(td_frame *f, const td_function *fn, const td_attempt *a)
{
    PyObject *args[TD_MOST_SORTED];
    td_attempt sorted;
    int status = td_numbers_first(fn, a, args, &sorted);
    if (status != 1) return status;
    status = attempt(f, fn->overloads[0], &sorted);
    Py_DECREF(sorted.kwnames);
    if (status == 1 && td_warn_numbers_first(fn) < 0) return -1;
    return status;
}

int td_parse(td_frame *f, const td_function *fn, PyObject *self, PyObject *const *args,
             Py_ssize_t nargs, PyObject *kwnames)
{
    td_attempt a = {self, args, kwnames, nargs, kwnames ? PyTuple_Size(kwnames) : 0,
                    -1,   -1,   -1,      NULL};
    f->function = fn;
    for (int i = 0; i < fn->count; i++) {
        int status = attempt(f, fn->overloads[i], &a);
        if (status == 1) return 0;
        int fits_not = status == 0 || (PyErr_ExceptionMatches(PyExc_RuntimeError) &&
                                       !PyErr_ExceptionMatches(PyExc_MemoryError));
        if (status < 0 && (fn->count == 1 || !fits_not || i == fn->count - 1)) goto failed;
        PyErr_Clear(); /* an overload that does not fit: the next one is tried */
    }
    int sorted = attempt_sorted(f, fn, &a);
    if (sorted == 1) return 0;
    if (sorted < 0) goto failed;
    attempt(f, fn->overloads[fn->count - 1], &a); /* what is reported is this order's fault */
    td_report_mismatch(f, &a);
failed:
    td_frame_close(f);
    return -1;
}
