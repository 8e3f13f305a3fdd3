/* arguments.c - Python arguments to a td_call, by the schema's parameters.
 * Overloads are tried in order. A parameter is set from an object by td_bind; what does not fit is reported with the
 * function, the argument, its position and the type that came. */
#include "python/py.h"

static const char *const type_words[] = {"Tensor", "Number", "int", "float", "bool", "str", "taeda.dtype", "taeda.layout",
                                         "taeda.device", "taeda.memory_format", "taeda.Generator"};

void td_frame_open(td_frame *f)
{
    f->out = f->requires_grad = NULL;
    f->ntemps = f->nheap = f->nheld = f->nints = f->ntensors = 0;
    f->inplace = f->overridden = f->any_grad = f->bits = 0;
}

void td_frame_close(td_frame *f)
{
    for (int i = 0; i < f->ntemps; i++) td_tensor_free(f->temps[i]);
    for (int i = 0; i < f->nheap; i++) PyMem_Free(f->heap[i]);
    for (int i = 0; i < f->nheld; i++) Py_DECREF(f->held[i]);
    f->ntemps = f->nheap = f->nheld = 0;
}

td_tensor *td_frame_temp(td_frame *f, td_tensor *t)
{
    if (f->ntemps < TD_MAX_TEMPS) return f->temps[f->ntemps++] = t;
    td_tensor_free(t);
    td_fail(TD_RUNTIME_ERROR, "%s: too many temporaries in one call", f->schema->op.name);
    return NULL;
}

/* room for n items of `size` bytes: from the frame's pool while it lasts, then from the heap */
static void *frame_heap(td_frame *f, size_t bytes)
{
    if (f->nheap == TD_MAX_TEMPS) return NULL;
    void *p = PyMem_Malloc(bytes ? bytes : 1);
    if (p) f->heap[f->nheap++] = p;
    else PyErr_NoMemory();
    return p;
}
static int64_t *room_ints(td_frame *f, Py_ssize_t n)
{
    if (f->nints + n > TD_POOL_INTS) return frame_heap(f, (size_t)n * sizeof(int64_t));
    f->nints += (int)n;
    return f->ints + f->nints - n;
}
static td_tensor **room_tensors(td_frame *f, Py_ssize_t n)
{
    if (f->ntensors + n > TD_POOL_TENSORS) return frame_heap(f, (size_t)n * sizeof(td_tensor *));
    f->ntensors += (int)n;
    return f->tensors + f->ntensors - n;
}

/* A list, tuple or Size: borrowed items. Other sequences are no lists here. */
static Py_ssize_t sequence_length(PyObject *o)
{
    return PyTuple_Check(o) ? PyTuple_Size(o) : PyList_Check(o) ? PyList_Size(o) : -1;
}
static PyObject *sequence_item(PyObject *o, Py_ssize_t i)
{
    return PyTuple_Check(o) ? PyTuple_GetItem(o, i) : PyList_GetItem(o, i);
}

int td_has_override(PyObject *o)
{
    if (td_is_exact(o) || PyLong_Check(o) || PyFloat_Check(o) || o == Py_None || PyUnicode_Check(o) || PyTuple_Check(o) || PyList_Check(o)) return 0;
    PyObject *type = (PyObject *)Py_TYPE(o), *method = PyObject_GetAttrString(type, "__torch_function__");
    if (!method) {
        PyErr_Clear(); /* no such attribute: the object takes no part in overrides */
        return 0;
    }
    PyObject *disabled = PyObject_GetAttrString(type, "_taeda_no_override");
    if (!disabled) PyErr_Clear();
    int on = !disabled;
    Py_XDECREF(disabled);
    Py_DECREF(method);
    return on;
}

static int note_tensor(td_frame *f, PyObject *o)
{
    const PyTensor *p = (PyTensor *)o;
    if (!td_is_exact(o) && td_has_override(o)) f->overridden = 1;
    f->any_grad |= (uint8_t)td_requires_grad(p);
    f->bits |= p->t->flags & (TD_FLAG_CONJ | TD_FLAG_NEG);
    return 1;
}

static int bind_number_as_tensor(td_frame *f, td_arg *arg, PyObject *o)
{
    td_scalar s;
    int status = td_scalar_from(o, &s);
    if (status != 1) return status;
    td_tensor *t;
    td_dtype d = s.kind == TD_S_FLOAT ? TD_F64 : s.kind == TD_S_COMPLEX ? TD_C128 : s.kind == TD_S_BOOL ? TD_BOOL : TD_I64;
    td_status made = td_tensor_from_scalar(&t, &s, d);
    if (made || !td_frame_temp(f, t)) return td_raise(made ? made : TD_RUNTIME_ERROR), -1;
    arg->kind = TD_ARG_TENSOR;
    arg->tensor = t;
    return 1;
}

int td_bind_number(td_frame *f, int k, PyObject *o)
{
    f->obj[k] = o;
    return bind_number_as_tensor(f, &f->call.args[k], o);
}

static int bind_tensor(td_frame *f, const td_param *p, td_arg *arg, PyObject *o)
{
    if (td_is_tensor(o)) {
        arg->kind = TD_ARG_TENSOR;
        arg->tensor = TD_T(o);
        return note_tensor(f, o);
    }
    if (p->flags & TD_P_NUMBER && td_is_number(o)) return bind_number_as_tensor(f, arg, o);
    if (td_has_override(o)) { /* a duck: the override layer takes the call before anybody looks at the handle */
        f->overridden = 1;
        arg->kind = TD_ARG_NONE;
        return 1;
    }
    return 0;
}

static int bind_tensors(td_frame *f, const td_param *p, td_arg *arg, PyObject *o)
{
    Py_ssize_t n = sequence_length(o);
    if (n < 0) return 0;
    td_tensor **list = room_tensors(f, n);
    if (!list) return -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = sequence_item(o, i);
        list[i] = NULL;
        if (item == Py_None && p->flags & TD_P_ELEMENT_OPTIONAL) continue;
        if (td_is_tensor(item)) {
            list[i] = TD_T(item);
            note_tensor(f, item);
        } else if (td_has_override(item)) f->overridden = 1;
        else return 0;
    }
    *arg = (td_arg){TD_ARG_TENSORS, n, {.tensors = list}};
    return 1;
}

static int bind_int_list(td_frame *f, const td_param *p, td_arg *arg, PyObject *o)
{
    Py_ssize_t n = sequence_length(o), bare = n < 0;
    if (bare && !p->length) return 0;
    if (bare) n = p->length;
    int64_t *list = room_ints(f, n);
    if (!list) return -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = bare ? o : sequence_item(o, i);
        int status = p->type == TD_T_BOOL ? (PyBool_Check(item) ? (list[i] = item == Py_True, 1) : 0) : td_int_from(item, &list[i]);
        if (status != 1) return status;
    }
    *arg = (td_arg){p->type == TD_T_BOOL ? TD_ARG_BOOLS : TD_ARG_INTS, n, {.ints = list}};
    return 1;
}

static int double_from(PyObject *o, double *out)
{
    td_scalar s;
    if (td_is_tensor(o)) {
        const td_tensor *t = TD_T(o);
        if (t->ndim || td_is_meta(t) || td_requires_grad((PyTensor *)o)) return 0;
        s = td_scalar_load((td_dtype)t->dtype, td_data(t));
    } else {
        int status = td_scalar_from(o, &s);
        if (status != 1) return status;
    }
    *out = s.re;
    return s.kind != TD_S_COMPLEX;
}

static int bind_float_list(td_frame *f, const td_param *p, td_arg *arg, PyObject *o)
{
    Py_ssize_t n = sequence_length(o), bare = n < 0;
    if (bare && !p->length) return 0;
    if (bare) n = p->length;
    double *list = (double *)room_ints(f, n);
    if (!list) return -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        int status = double_from(bare ? o : sequence_item(o, i), &list[i]);
        if (status != 1) return status;
    }
    *arg = (td_arg){TD_ARG_FLOATS, n, {.floats = list}};
    return 1;
}

static int bind_scalar(td_arg *arg, PyObject *o)
{
    arg->kind = TD_ARG_SCALAR;
    if (td_is_tensor(o)) {
        const td_tensor *t = TD_T(o);
        if (t->ndim || td_is_meta(t) || td_requires_grad((PyTensor *)o)) return 0;
        arg->scalar = td_scalar_load((td_dtype)t->dtype, td_data(t));
        return 1;
    }
    return td_scalar_from(o, &arg->scalar);
}

static int bind_constant(const td_param *p, td_arg *arg, PyObject *o)
{
    td_dtype dtype;
    td_device device;
    int status, code;
    switch (p->type) {
    case TD_T_DTYPE:
        if (!td_dtype_from(o, &dtype)) return 0;
        *arg = (td_arg){TD_ARG_DTYPE, 0, {.i = dtype}};
        return 1;
    case TD_T_DEVICE:
        if ((status = td_device_from(o, &device)) == 1) *arg = (td_arg){TD_ARG_DEVICE, 0, {.i = device}};
        return status;
    case TD_T_LAYOUT:
        if (Py_TYPE(o) != LayoutT) return 0;
        if (o != td_layout_object()) {
            PyErr_Format(PyExc_RuntimeError, "layout %R is not available here: tensors are strided", o);
            return -1;
        }
        *arg = (td_arg){TD_ARG_LAYOUT, 0, {.i = 0}};
        return 1;
    case TD_T_MEMORY_FORMAT:
        if (!td_memory_format_from(o, &code)) return 0;
        *arg = (td_arg){TD_ARG_MEMORY_FORMAT, 0, {.i = code}};
        return 1;
    default: /* TD_T_GENERATOR */
        if (Py_TYPE(o) != GeneratorT && !td_generator_from(o)) return 0;
        *arg = (td_arg){TD_ARG_GENERATOR, 0, {.generator = td_generator_from(o)}};
        return 1;
    }
}

static int numpy_bool(PyObject *o) /* 1 true, 0 false, -1 not one */
{
    td_scalar s;
    if (PyBool_Check(o)) return o == Py_True;
    if (PyLong_Check(o) || PyFloat_Check(o) || td_is_tensor(o) || !td_is_number(o)) return -1;
    return td_scalar_from(o, &s) == 1 && s.kind == TD_S_BOOL ? s.i != 0 : -1;
}

int td_bind(td_frame *f, int k, PyObject *o)
{
    const td_param *p = &f->schema->params[k];
    td_arg *arg = &f->call.args[k];
    f->obj[k] = o;
    if (o == Py_None) {
        if (p->type == TD_T_GENERATOR) *arg = (td_arg){TD_ARG_GENERATOR, 0, {.generator = &td_default_generator}};
        else arg->kind = TD_ARG_NONE;
        return (p->flags & TD_P_OPTIONAL) != 0;
    }
    if (p->flags & TD_P_LIST) {
        if (p->type == TD_T_TENSOR) return bind_tensors(f, p, arg, o);
        if (p->type == TD_T_FLOAT || p->type == TD_T_SCALAR) return bind_float_list(f, p, arg, o);
        return bind_int_list(f, p, arg, o);
    }
    int truth, status;
    switch (p->type) {
    case TD_T_TENSOR: return bind_tensor(f, p, arg, o);
    case TD_T_SCALAR: return bind_scalar(arg, o);
    case TD_T_INT:
        arg->kind = TD_ARG_INT;
        return td_int_from(o, &arg->i);
    case TD_T_FLOAT:
        arg->kind = TD_ARG_FLOAT;
        return double_from(o, &arg->f);
    case TD_T_BOOL:
        if ((truth = numpy_bool(o)) < 0) return 0;
        *arg = (td_arg){TD_ARG_BOOL, 0, {.i = truth}};
        return 1;
    case TD_T_STR:
        if (!PyUnicode_Check(o)) return 0;
        arg->kind = TD_ARG_STR;
        arg->str = PyUnicode_AsUTF8AndSize(o, NULL);
        return arg->str ? 1 : -1;
    default:
        status = bind_constant(p, arg, o);
        return status;
    }
}

/* ---- matching one overload ---- */
typedef struct Attempt {
    PyObject *self, *const *args, *kwnames;
    Py_ssize_t npos, nkw;
    int missing, bad, surplus; /* index of the parameter, or -1 */
    PyObject *unknown;         /* keyword nobody knows, borrowed */
} Attempt;

/* numpy's words are accepted for the field's: axis, keepdims, x, a, x1, x2, and `input` for self */
static int same_name(const char *param, const char *given)
{
    if (!strcmp(param, given)) return 1;
    switch (given[0]) {
    case 'i': return !strcmp(given, "input") && !strcmp(param, "self");
    case 'a': return (!strcmp(given, "axis") && !strcmp(param, "dim")) || (!strcmp(given, "a") && (!strcmp(param, "self") || !strcmp(param, "input")));
    case 'k': return !strcmp(given, "keepdims") && !strcmp(param, "keepdim");
    case 'x':
        if (!strcmp(given, "x2")) return !strcmp(param, "other");
        return (!strcmp(given, "x") || !strcmp(given, "x1")) && (!strcmp(param, "self") || !strcmp(param, "input"));
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
        f->out = value == Py_None ? NULL : value;
        return 1;
    }
    if (!strcmp(name, "requires_grad") && f->schema->flags & TD_F_FACTORY) {
        f->requires_grad = value;
        return PyBool_Check(value);
    }
    return 0;
}

/* (1, 2, 3) spread over an int[] that is the first free positional parameter: view(1, 2, 3), zeros(2, 3) */
static int spread_ints(td_frame *f, Attempt *a, int k)
{
    const td_param *p = &f->schema->params[k];
    if (!(p->flags & TD_P_LIST) || p->type != TD_T_INT || p->length) return 0;
    if (a->npos == 0 || sequence_length(a->args[0]) >= 0) return 0;
    int64_t *list = room_ints(f, a->npos);
    if (!list) return -1;
    for (Py_ssize_t i = 0; i < a->npos; i++) {
        int status = td_int_from(a->args[i], &list[i]);
        if (status != 1) return status;
    }
    PyObject *tuple = PyTuple_New(a->npos);
    for (Py_ssize_t i = 0; tuple && i < a->npos; i++) PyTuple_SetItem(tuple, i, Py_NewRef(a->args[i]));
    if (!tuple || f->nheld == TD_MAX_TEMPS) return -1;
    f->held[f->nheld++] = tuple;
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
    f->schema = s;
    f->call.op = &s->op;
    f->call.nargs = s->nparams;
    f->call.nout = s->nreturns;
    memset(f->obj, 0, sizeof(PyObject *) * s->nparams);
    memset(f->call.out, 0, sizeof f->call.out);
    f->call.outs = NULL;
}

static int fill_positional(td_frame *f, Attempt *a)
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
        if (i == 0 && (a->npos > 1 || (a->args[0] != Py_None && sequence_length(a->args[0]) < 0))) {
            int spread = spread_ints(f, a, k);
            if (spread < 0) return -1;
            if (spread) return 1;
        }
        int status = td_bind(f, k, a->args[i]);
        if (status != 1) return a->bad = k, status;
    }
    return 1;
}

static int fill_keywords(td_frame *f, Attempt *a)
{
    for (Py_ssize_t i = 0; i < a->nkw; i++) {
        PyObject *key = PyTuple_GetItem(a->kwnames, i), *value = a->args[a->npos + i];
        const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
        if (!name) return -1;
        int k = find_keyword(f->schema, name);
        if (k < 0) {
            if (special_keyword(f, name, value)) continue;
            return a->unknown = key, 0;
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

static int fill_defaults(td_frame *f, Attempt *a)
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
    return 1;
}

static int attempt(td_frame *f, const td_schema *s, Attempt *a)
{
    reset(f, s);
    a->missing = a->bad = a->surplus = -1;
    a->unknown = NULL;
    int status = fill_positional(f, a);
    if (status == 1) status = fill_keywords(f, a);
    if (status == 1) status = fill_defaults(f, a);
    return status;
}

/* ---- reports ---- */
PyObject *td_type_name(PyObject *o)
{
    return PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__name__");
}

static const char *wanted(const td_param *p, char buffer[64])
{
    snprintf(buffer, 64, "%s%s", p->flags & TD_P_LIST ? "tuple of " : "", type_words[p->type]);
    if (p->flags & TD_P_LIST) strncat(buffer, "s", 2);
    return buffer;
}

static void report_one(const td_frame *f, const Attempt *a, const char *name)
{
    const td_schema *s = f->schema;
    char buffer[64];
    if (a->bad >= 0) {
        const td_param *p = &s->params[a->bad];
        const char *shown = strcmp(p->name, "self") ? p->name : "input";
        PyObject *type = td_type_name(f->obj[a->bad]);
        PyErr_Format(PyExc_TypeError, "%s(): argument '%s' (position %d) must be %s, not %V", name, shown,
                     a->bad + (a->self ? 0 : 1), wanted(p, buffer), type, "?");
        Py_XDECREF(type);
    } else if (a->missing >= 0) {
        const char *shown = strcmp(s->params[a->missing].name, "self") ? s->params[a->missing].name : "input";
        PyErr_Format(PyExc_TypeError, "%s() missing 1 required positional arguments: \"%s\"", name, shown);
    } else if (a->unknown)
        PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", name, a->unknown);
    else
        PyErr_Format(PyExc_TypeError, "%s() takes at most %d positional arguments, but %d were given", name,
                     s->npositional - (a->self != NULL), a->surplus);
}

static PyObject *type_list(const Attempt *a)
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

static void report_all(const td_function *fn, const Attempt *a)
{
    PyObject *types = type_list(a), *text = types ? PyUnicode_FromFormat(
        "%s() received an invalid combination of arguments - got (%U), but expected one of:", fn->name, types) : NULL;
    for (int i = 0; text && i < fn->count; i++) {
        PyObject *line = PyUnicode_FromString("\n * ("), *next;
        const td_schema *s = fn->overloads[i];
        for (int k = a->self != NULL; line && k < s->nparams; k++) {
            char buffer[64];
            next = PyUnicode_FromFormat("%U%s%s %s", line, k > (a->self != NULL) ? ", " : "", wanted(&s->params[k], buffer),
                                        strcmp(s->params[k].name, "self") ? s->params[k].name : "input");
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

int td_parse(td_frame *f, const td_function *fn, PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    Attempt a = {self, args, kwnames, nargs, kwnames ? PyTuple_Size(kwnames) : 0, -1, -1, -1, NULL};
    f->function = fn;
    for (int i = 0; i < fn->count; i++) {
        int status = attempt(f, fn->overloads[i], &a);
        if (status == 1) return 0;
        if (status < 0 && (fn->count == 1 || !PyErr_ExceptionMatches(PyExc_RuntimeError) || i == fn->count - 1)) goto failed;
        PyErr_Clear(); /* an overload that does not fit: the next one is tried */
    }
    if (fn->count == 1) report_one(f, &a, fn->name);
    else report_all(fn, &a);
failed:
    td_frame_close(f);
    return -1;
}

/* ---- back to objects: for Python implementations and for rules ---- */
static PyObject *floats_object(Py_ssize_t n, const double *v)
{
    PyObject *made = PyTuple_New(n);
    for (Py_ssize_t i = 0; made && i < n; i++) PyTuple_SetItem(made, i, PyFloat_FromDouble(v[i]));
    return made;
}
static PyObject *bools_object(Py_ssize_t n, const int64_t *v)
{
    PyObject *made = PyTuple_New(n);
    for (Py_ssize_t i = 0; made && i < n; i++) PyTuple_SetItem(made, i, PyBool_FromLong(v[i] != 0));
    return made;
}

PyObject *td_argument_object(const td_frame *f, int k)
{
    const td_arg *a = &f->call.args[k];
    if (f->obj[k] && (a->kind == TD_ARG_TENSOR || a->kind == TD_ARG_TENSORS || a->kind == TD_ARG_NONE)) return Py_NewRef(f->obj[k]);
    switch (a->kind) {
    case TD_ARG_INT: return PyLong_FromLongLong(a->i);
    case TD_ARG_BOOL: return PyBool_FromLong(a->i != 0);
    case TD_ARG_FLOAT: return PyFloat_FromDouble(a->f);
    case TD_ARG_STR: return PyUnicode_FromString(a->str);
    case TD_ARG_SCALAR: return td_scalar_object(&a->scalar);
    case TD_ARG_INTS: return td_ints_object((int)a->n, a->ints);
    case TD_ARG_BOOLS: return bools_object(a->n, a->ints);
    case TD_ARG_FLOATS: return floats_object(a->n, a->floats);
    case TD_ARG_TENSORS: return PyTuple_New(0);
    case TD_ARG_DTYPE: return td_dtype_object((td_dtype)a->i);
    case TD_ARG_DEVICE: return td_device_object((td_device)a->i);
    case TD_ARG_MEMORY_FORMAT: return td_memory_format_object((int)a->i);
    case TD_ARG_LAYOUT: return td_layout_object();
    case TD_ARG_GENERATOR: return Py_NewRef(f->obj[k] && f->obj[k] != Py_None ? f->obj[k] : td_default_generator_object);
    default: return Py_NewRef(Py_None);
    }
}

int td_fits_broadcast(const td_frame *f, const td_tensor *t)
{
    int64_t sizes[TD_MAX_DIMS];
    int ndim = 0;
    for (int k = 0; k < f->schema->nparams; k++) {
        const td_arg *a = &f->call.args[k];
        if (a->kind == TD_ARG_TENSOR && td_broadcast(ndim, sizes, a->tensor->ndim, a->tensor->sizes, &ndim, sizes)) return 0;
    }
    return ndim == t->ndim && !memcmp(sizes, t->sizes, sizeof(int64_t) * (size_t)ndim);
}
