/* abi_ops.c - operators across the boundary: an extension's kernel as the implementation of a row,
 * and calls of any row by an extension. */
#include "abi/abi.h"
#include "runtime/device.h"

/* ---- an extension's kernel serves a row ---- */
static void scalar_value(taeda_value *v, const td_scalar *s)
{
    switch (s->kind) {
        case TD_S_BOOL:
            v->kind = TAEDA_KIND_BOOL;
            v->as.integer = s->i;
            break;
        case TD_S_INT:
            v->kind = s->i < 0 && s->re > 0 ? TAEDA_KIND_UINT : TAEDA_KIND_INT;
            v->as.integer = s->i; /* the same bits as as.natural */
            break;
        case TD_S_FLOAT:
            v->kind = TAEDA_KIND_FLOAT;
            v->as.real = s->re;
            break;
        default:
            v->kind = TAEDA_KIND_COMPLEX;
            v->as.pair[0] = s->re;
            v->as.pair[1] = s->im;
    }
}

static void list_value(taeda_value *v, int32_t kind, const td_arg *a)
{
    v->kind = kind;
    v->count = a->n;
    v->as.integers = a->ints; /* every list is a pointer, and lies where this does */
}

static void value_of(taeda_value *v, const td_arg *a)
{
    static const int32_t plain[] = {[TD_ARG_INT] = TAEDA_KIND_INT,
                                    [TD_ARG_BOOL] = TAEDA_KIND_BOOL,
                                    [TD_ARG_DTYPE] = TAEDA_KIND_DTYPE,
                                    [TD_ARG_MEMORY_FORMAT] = TAEDA_KIND_MEMORY_FORMAT};
    *v = (taeda_value){0};
    switch (a->kind) {
        case TD_ARG_TENSOR:
            v->kind = TAEDA_KIND_TENSOR;
            v->as.tensor = td_outer(a->tensor);
            break;
        case TD_ARG_TENSORS: list_value(v, TAEDA_KIND_TENSORS, a); break;
        case TD_ARG_SCALAR: scalar_value(v, &a->scalar); break;
        case TD_ARG_FLOAT:
            v->kind = TAEDA_KIND_FLOAT;
            v->as.real = a->f;
            break;
        case TD_ARG_STR:
            v->kind = TAEDA_KIND_STRING;
            v->as.string = a->str;
            break;
        case TD_ARG_INTS: list_value(v, TAEDA_KIND_INTS, a); break;
        case TD_ARG_BOOLS: list_value(v, TAEDA_KIND_BOOLS, a); break;
        case TD_ARG_FLOATS: list_value(v, TAEDA_KIND_FLOATS, a); break;
        case TD_ARG_DEVICE:
            v->kind = TAEDA_KIND_DEVICE;
            v->as.integer = td_abi_device((td_device)a->i);
            break;
        case TD_ARG_INT:
        case TD_ARG_BOOL:
        case TD_ARG_DTYPE:
        case TD_ARG_MEMORY_FORMAT:
            v->kind = plain[a->kind];
            v->as.integer = a->i;
            break;
        case TD_ARG_GENERATOR:
            if (a->generator == &td_default_generator) break;
            v->kind = TAEDA_KIND_GENERATOR;
            v->as.generator = (taeda_generator *)a->generator;
            break;
        default: break; /* None, and a layout, of which there is one */
    }
}

/* A library is sent no kind that it cannot know. */
static td_status check_known(const td_schema *s, int k, const taeda_value *v, uint32_t minor)
{
    if (v->kind <= TAEDA_KIND_FLOATS || minor >= 2) return TD_OK;
    return td_fail(TD_TYPE_ERROR,
                   "%s: argument '%s' is %s, which a library built against taeda ABI 1.%u cannot "
                   "receive: build the extension against this core's headers",
                   s->op.name, s->params[k].name,
                   v->kind == TAEDA_KIND_UINT ? "an int above 2**63 - 1" : "a generator", minor);
}

static int is_input(const td_call *call, const td_tensor *t)
{
    for (int k = 0; k < call->nargs; k++) {
        const td_arg *a = &call->args[k];
        if (a->kind == TD_ARG_TENSOR && a->tensor == t) return 1;
        for (int64_t i = 0; a->kind == TD_ARG_TENSORS && i < a->n; i++)
            if (a->tensors[i] == t) return 1;
    }
    return 0;
}

/* Did the kernel leave outputs beyond the call's results? Asked at each call. */
static inline bool has_surplus(const td_call *call, const td_abi_outputs *o)
{
    uintptr_t any = (uintptr_t)o->canary ^ (uintptr_t)o;
    for (int k = call->nout; k < TD_ABI_OUTPUTS; k++) any |= (uintptr_t)o->given[k];
    return any != 0;
}

static __attribute__((cold, noinline)) const char *drop_surplus(const td_call *call,
                                                                td_abi_outputs *o)
{
    char *text = o->said;
    int count = 0;
    for (int k = call->nout; k < TD_ABI_OUTPUTS; k++) {
        taeda_tensor *t = o->given[k];
        if (!t) continue;
        count = k + 1;
        int known = is_input(call, td_inner(t));
        for (int j = 0; j < k; j++) known |= o->given[j] == t;
        if (!known) td_tensor_free(td_inner(t));
    }
    /* of the rest nothing is known */
    if (o->canary != (taeda_tensor *)o) count = TD_ABI_OUTPUTS + 1;
    snprintf(text, sizeof o->said, "the kernel made %s%d outputs, and the schema has %d results",
             count > TD_ABI_OUTPUTS ? "at least " : "", count, call->nout);
    return text;
}

const char *td_abi_disown(const td_call *call, td_abi_outputs *o)
{
    taeda_tensor **outputs = o->given;
    const char *fault = has_surplus(call, o) ? drop_surplus(call, o) : NULL;
    for (int k = 0; k < call->nout; k++) {
        int twice = 0;
        for (int j = 0; j < k; j++) twice |= outputs[k] && outputs[j] == outputs[k];
        if (twice)
            fault = "the kernel gave one tensor as two outputs: make another handle with view, or "
                    "a copy";
        else if (outputs[k] && is_input(call, td_inner(outputs[k])))
            fault = "the kernel gave an input back as an output: make another handle with view, or "
                    "a copy";
        else continue;
        outputs[k] = NULL;
    }
    return fault;
}

/* take the outputs over, or release them */
static td_status take(td_call *call, const td_schema *s, int32_t code, td_abi_outputs *made,
                      taeda_error *error)
{
    taeda_tensor **outputs = made->given;
    const char *fault = td_abi_disown(call, made);
    for (int k = 0; k < call->nout && !fault && !code; k++) {
        if (outputs[k] && s->return_alias[k] >= 0)
            fault = "the kernel made an output where the schema says that an argument is written: "
                    "leave it empty";
        else if (!outputs[k] && s->return_alias[k] < 0 && !s->custom->may_omit &&
                 !(s->custom->results[k].flags & TD_P_OPTIONAL))
            fault = "the kernel succeeded but made no output";
    }
    if (fault && !code) code = td_abi_fail(error, TAEDA_RUNTIME_ERROR, fault);
    for (int k = 0; k < call->nout; k++)
        if (code) td_tensor_free(td_inner(outputs[k]));
        else call->out[k] = td_inner(outputs[k]);
    return code ? td_abi_code(code, s->op.name, error) : TD_OK;
}

static td_device device_of(const td_call *call) /* the first that is neither cpu nor meta */
{
    for (int k = 0; k < call->nargs; k++) {
        const td_arg *a = &call->args[k];
        td_device d = a->kind == TD_ARG_TENSOR   ? (td_device)a->tensor->device
                      : a->kind == TD_ARG_DEVICE ? (td_device)a->i
                                                 : TD_CPU;
        if (a->kind == TD_ARG_TENSORS) d = td_common_device((int)a->n, a->tensors);
        if (d > TD_META) return d;
    }
    return TD_CPU;
}

/* Where the kernel computes: *device. A CUDA device becomes current. */
static td_status find_device(const td_call *call, uint32_t minor, td_device *device)
{
    *device = call->slot == TD_SLOT_META ? TD_META : TD_CPU;
    if (call->slot != TD_SLOT_CUDA) return TD_OK;
    if (minor < 3)
        return td_fail(TD_NOT_IMPLEMENTED,
                       "%s: its library was built against taeda ABI 1.%u, which has no streams: "
                       "build the extension against this core's headers",
                       call->op->name, minor);
    *device = device_of(call);
    return td_device_use(*device);
}

td_status td_op_extension(td_call *call)
{
    const td_schema *s = (const td_schema *)call->op;
    const td_native *kernel = &s->custom->native[call->slot];
    td_device device;
    TD_TRY(find_device(call, kernel->minor, &device));
    const taeda_tensor *inputs[TD_MAX_ARGS];
    td_abi_outputs outputs;
    taeda_value values[TD_MAX_ARGS];
    int ninputs = 0;
    for (int k = 0; k < call->nargs; k++) {
        value_of(&values[k], &call->args[k]);
        TD_TRY(check_known(s, k, &values[k], kernel->minor));
        if (s->params[k].type == TD_T_TENSOR && !(s->params[k].flags & TD_P_LIST))
            inputs[ninputs++] = values[k].kind == TAEDA_KIND_TENSOR ? values[k].as.tensor : NULL;
    }
    taeda_error error;
    error.code = 0;
    error.message[0] = 0;
    if (s->list_result) call->nout = 0; /* until list_outputs is called */
    taeda_call given = {sizeof given,
                        ninputs,
                        call->nout,
                        inputs,
                        td_abi_outputs_open(&outputs),
                        kernel->user,
                        &error,
                        call->nargs,
                        td_abi_device(device),
                        values,
                        s->list_result ? call : NULL};
    int32_t code = td_abi_run(kernel->call, &given);
    return s->list_result ? td_abi_take_list(call, s, code, &outputs, &error)
                          : take(call, s, code, &outputs, &error);
}

/* ---- an extension calls a row ---- */
struct taeda_op {
    td_function function;
    td_schema *schema;
};
/* dict: name -> capsule of a taeda_op; they live as long as the process */
static PyObject *handles;

static td_schema *schema_of(const char *name, int *inplace)
{
    char plain[128];
    td_schema *s = td_find_schema(name);
    const char *dot = strchr(name, '.');
    size_t stem = dot ? (size_t)(dot - name) : strlen(name);
    *inplace = 0;
    if (s || !stem || name[stem - 1] != '_' || strlen(name) >= sizeof plain) return s;
    snprintf(plain, sizeof plain, "%.*s%s", (int)stem - 1, name,
             dot ? dot : ""); /* "add_.Tensor" is add.Tensor, in place */
    s = td_find_schema(plain);
    *inplace = 1;
    return s && s->flags & TD_F_INPLACE ? s : NULL;
}

/* "fill_" of the table has overloads: those that a name without one may have meant */
static int32_t unknown(const char *name, taeda_error *error)
{
    char stem[64], list[160] = "";
    size_t length = strlen(name), end = 0;
    bool inplace = length > 1 && name[length - 1] == '_';
    snprintf(stem, sizeof stem, "%.*s", (int)(length - inplace), name);
    for (int i = 0; i < td_schema_count && end < sizeof list - 1; i++) {
        const td_op *op = &td_schemas[i].op;
        bool written = inplace && td_schemas[i].flags & TD_F_INPLACE && !strcmp(op->name, stem);
        if ((written || !strcmp(op->name, name)) && op->overload[0])
            end += (size_t)snprintf(list + end, sizeof list - end, "%s%s.%s", end ? ", " : "", name,
                                    op->overload);
    }
    return td_abi_error(error, TAEDA_VALUE_ERROR, "find_op: there is no operator '%s'; %s%s", name,
                        list[0] ? "its overloads are " : "names are like ",
                        list[0] ? list : "add.Tensor, sum or mylib::scale");
}

static int32_t find(const char *name, const taeda_op **out, taeda_error *error)
{
    PyObject *known = handles ? PyDict_GetItemString(handles, name) : NULL;
    int inplace;
    td_schema *s = schema_of(name, &inplace);
    taeda_op *op = known ? PyCapsule_GetPointer(known, "taeda.op") : NULL;
    if (!s) return unknown(name, error);
    if (op && op->schema == s) return *out = op, 0;
    op = PyMem_Calloc(1, sizeof *op);
    PyObject *capsule = op ? PyCapsule_New(op, "taeda.op", NULL) : NULL;
    if (!handles) handles = PyDict_New();
    if (!capsule || !handles || PyDict_SetItemString(handles, name, capsule) < 0)
        return Py_XDECREF(capsule), td_abi_exception(error);
    Py_DECREF(capsule);
    op->schema = s;
    op->function =
        (td_function){s->op.name, s->namespace_, "", &op->schema, 1, 1, 0, (uint8_t)inplace, NULL};
    *out = op;
    return 0;
}

int32_t td_abi_find_op(const char *name, const taeda_op **out, taeda_error *error)
{
    int32_t code;
    TD_NO_UNWIND_BEGIN
    PyGILState_STATE state = PyGILState_Ensure();
    code = find(name, out, error);
    PyGILState_Release(state);
    TD_NO_UNWIND_END
    return code;
}

static PyObject *tensor_object(const taeda_tensor *tensor)
{
    td_tensor *alias;
    if (!tensor) return Py_NewRef(Py_None);
    TD_PY(td_tensor_alias(&alias, td_inner(tensor)));
    return td_wrap(alias);
}

static PyObject *list_object(const taeda_value *v)
{
    PyObject *made = PyTuple_New((Py_ssize_t)v->count);
    for (Py_ssize_t i = 0; made && i < v->count; i++) {
        PyObject *item = v->kind == TAEDA_KIND_TENSORS ? tensor_object(v->as.tensors[i])
                         : v->kind == TAEDA_KIND_BOOLS ? PyBool_FromLong(v->as.integers[i] != 0)
                         : v->kind == TAEDA_KIND_INTS  ? PyLong_FromLongLong(v->as.integers[i])
                                                       : PyFloat_FromDouble(v->as.reals[i]);
        if (!item) Py_CLEAR(made);
        else PyTuple_SetItem(made, i, item);
    }
    return made;
}

static PyObject *device_value(int64_t number)
{
    td_device device;
    taeda_error error;
    int32_t given = number == (int32_t)number ? (int32_t)number : INT32_MIN;
    return td_abi_device_from("call_op", given, &device, &error)
               ? PyErr_Format(PyExc_ValueError, "%s", error.message)
               : td_device_object(device);
}

static PyObject *value_object(const taeda_value *v)
{
    int64_t i = v->as.integer;
    switch (v->kind) {
        case TAEDA_KIND_NONE: return Py_NewRef(Py_None);
        case TAEDA_KIND_TENSOR: return tensor_object(v->as.tensor);
        case TAEDA_KIND_BOOL: return PyBool_FromLong(i != 0);
        case TAEDA_KIND_INT: return PyLong_FromLongLong(i);
        case TAEDA_KIND_FLOAT: return PyFloat_FromDouble(v->as.real);
        case TAEDA_KIND_COMPLEX: return PyComplex_FromDoubles(v->as.pair[0], v->as.pair[1]);
        case TAEDA_KIND_UINT: return PyLong_FromUnsignedLongLong(v->as.natural);
        case TAEDA_KIND_GENERATOR: return td_generator_object((td_generator *)v->as.generator);
        case TAEDA_KIND_STRING: return PyUnicode_FromString(v->as.string);
        case TAEDA_KIND_DTYPE:
            if (i >= 0 && i < TD_NDTYPES) return td_dtype_object((td_dtype)i);
            break;
        case TAEDA_KIND_DEVICE: return device_value(i);
        case TAEDA_KIND_MEMORY_FORMAT:
            if (i >= 0 && i <= 3) return td_memory_format_object((int)i);
            break;
        case TAEDA_KIND_TENSORS:
        case TAEDA_KIND_BOOLS:
        case TAEDA_KIND_INTS:
        case TAEDA_KIND_FLOATS: return list_object(v);
        default: break;
    }
    return PyErr_Format(PyExc_ValueError,
                        "an argument of kind %d with the number %lld stands for nothing", v->kind,
                        (long long)i);
}

/* arguments as the entry of an op takes them: positional until one is left out, then by name */
typedef struct Given {
    PyObject *values[TD_MAX_ARGS];
    PyObject *names;
    int n, positional;
} Given;

static int give(Given *g, const td_schema *s, const taeda_op_call *call)
{
    PyObject *names = PyList_New(0);
    for (int k = 0; names && k < call->arg_count; k++) {
        const taeda_value *v = &call->args[k];
        if (v->kind == TAEDA_KIND_NONE && s->params[k].flags & TD_P_DEFAULT) continue;
        PyObject *name =
            k < s->npositional && g->n == k ? NULL : PyUnicode_FromString(s->params[k].name);
        if (!(g->values[g->n] = value_object(v)) || (name && PyList_Append(names, name) < 0))
            Py_CLEAR(names);
        else if (!name) g->positional++;
        Py_XDECREF(name);
        if (names || g->values[g->n]) g->n++;
    }
    g->names = names && PyList_Size(names) ? PyList_AsTuple(names) : NULL;
    int bad = !names || (PyList_Size(names) && !g->names);
    Py_XDECREF(names);
    return bad ? -1 : 0;
}

static PyObject *run(const taeda_op *op, const taeda_op_call *call)
{
    Given g = {0};
    uint8_t mode = td_here.grad_mode;
    uint32_t excluded = td_here.excluded;
    uint8_t usual = td_here.default_device;
    td_here.grad_mode = 0;
    td_here.default_device = TD_CPU; /* a kernel's own tensors are where it says */
    td_here.excluded |=
        TD_LAYER_FUNCTION_MODE | TD_LAYER_OVERRIDE | TD_LAYER_TRACE | TD_LAYER_DISPATCH_MODE;
    PyObject *made = give(&g, op->schema, call) < 0
                         ? NULL
                         : td_call_entry(&op->function, NULL, g.values, g.positional, g.names);
    td_here.grad_mode = mode;
    td_here.excluded = excluded;
    td_here.default_device = usual;
    for (int k = 0; k < g.n; k++) Py_XDECREF(g.values[k]);
    Py_XDECREF(g.names);
    return made;
}

static int result_value(taeda_value *v, PyObject *o)
{
    td_scalar s;
    *v = (taeda_value){0};
    if (o == Py_None) return 0;
    if (td_is_tensor(o)) {
        td_tensor *alias;
        if (td_has_parts((PyTensor *)o)) return td_refuse_memory(o, "a handle in C"), -1;
        td_status status = td_tensor_alias(&alias, TD_T(o));
        if (status) return td_raised(status);
        v->kind = TAEDA_KIND_TENSOR;
        v->as.tensor = td_outer(alias);
        return 0;
    }
    int status = td_scalar_from(o, &s);
    if (status == 1) return scalar_value(v, &s), 0;
    if (status == 0)
        PyErr_Format(PyExc_TypeError, "call_op: a result of type %R has no kind", Py_TYPE(o));
    return -1;
}

static int make_room(taeda_op_call *call, Py_ssize_t n)
{
    bool asks = call->size >= sizeof *call && call->room && n <= INT32_MAX;
    taeda_value *results = asks ? call->room(call->context, (int32_t)n) : NULL;
    if (results) call->results = results;
    return results != NULL;
}

static int deliver(taeda_op_call *call, PyObject *made) /* takes made over */
{
    PyObject *all = PyTuple_Check(made) || PyList_Check(made) ? PySequence_Tuple(made)
                    : made == Py_None                         ? PyTuple_New(0)
                                                              : PyTuple_Pack(1, made);
    Py_DECREF(made);
    Py_ssize_t n = all ? PyTuple_Size(all) : 0, done = 0;
    int bad = !all || (n > call->result_capacity && !make_room(call, n));
    if (all && bad)
        PyErr_Format(PyExc_ValueError, "call_op: %zd results come, and there is room for %d", n,
                     call->result_capacity);
    for (; !bad && done < n; done++)
        bad = result_value(&call->results[done], PyTuple_GetItem(all, done)) < 0;
    Py_XDECREF(all);
    if (!bad) return call->result_count = (int32_t)n, 0;
    for (Py_ssize_t i = 0; i < done; i++)
        if (call->results[i].kind == TAEDA_KIND_TENSOR)
            td_tensor_free(td_inner(call->results[i].as.tensor));
    return -1;
}

int32_t td_abi_call_op(taeda_op_call *call)
{
    taeda_error *error = call->error;
    int32_t code =
        td_abi_size("taeda_op_call", call, offsetof(taeda_op_call, room), sizeof *call, error);
    if (code) return code;
    if (call->arg_count < 0 || call->arg_count > call->op->schema->nparams)
        return td_abi_error(error, TAEDA_TYPE_ERROR,
                            "call_op: %s takes at most %d arguments, got %d",
                            call->op->schema->text, call->op->schema->nparams, call->arg_count);
    TD_NO_UNWIND_BEGIN
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *made = run(call->op, call);
    if (!made || deliver(call, made) < 0) code = td_abi_exception(error);
    PyGILState_Release(state);
    TD_NO_UNWIND_END
    return code;
}
