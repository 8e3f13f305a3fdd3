/* custom.c - the table of operators that are defined at run time: from the facts that Python parsed
 * to a td_schema. */
#include "dispatch/custom.h"

static char *copy_text(const char *text)
{
    char *made = PyMem_Malloc(strlen(text) + 1);
    return made ? strcpy(made, text) : NULL;
}

void td_custom_changed(td_schema *s)
{
    static uint64_t stamps;
    if (s->custom) s->custom->stamp = __atomic_add_fetch(&stamps, 1, __ATOMIC_RELAXED);
}

/* ---- parameters: (name, type, flags, length, default) each ---- */
static int read_param(td_param *p, PyObject *facts, PyObject **value)
{
    const char *name;
    int type, flags, length;
    if (!PyArg_ParseTuple(facts, "siiiO", &name, &type, &flags, &length, value)) return -1;
    *p = (td_param){copy_text(name), (uint8_t)type, (uint8_t)flags, (int16_t)length, {0}};
    return p->name ? 0 : (td_no_memory(), -1);
}

/* a default is read as an argument would be, by a frame that lives as long as the operator */
static int read_default(td_custom *c, td_param *p, int k, PyObject *value)
{
    if (!c->frame) {
        if (!(c->frame = PyMem_Calloc(1, sizeof *c->frame))) return td_no_memory(), -1;
        td_frame_open(c->frame);
        c->frame->schema = &c->schema;
    }
    int status = td_bind(c->frame, k, value);
    if (status == 0)
        PyErr_Format(PyExc_ValueError, "%s: the default %R does not fit argument '%s'",
                     c->schema.text, value, p->name);
    if (status == 1) p->value = c->frame->call.args[k];
    return status == 1 ? 0 : -1;
}

static int read_params(td_custom *c, PyObject *list)
{
    int n = (int)PyTuple_Size(list);
    td_param *params = PyMem_Calloc((size_t)n + 1, sizeof *params);
    if (!params) return td_no_memory(), -1;
    c->schema.params = params;
    c->schema.nparams = (uint8_t)n;
    c->defaults = Py_NewRef(list);
    for (int k = 0; k < n; k++) {
        PyObject *value;
        if (read_param(&params[k], PyTuple_GetItem(list, k), &value) < 0) return -1;
        if (!(params[k].flags & TD_P_KEYWORD)) c->schema.npositional = (uint8_t)(k + 1);
        if (params[k].flags & TD_P_DEFAULT && read_default(c, &params[k], k, value) < 0) return -1;
        if (params[k].flags & TD_P_MUTATED) c->schema.flags |= TD_F_MUTATES;
    }
    return 0;
}

/* ---- results: (type, flags, index of the argument that it is or -1, its text) each ---- */
static int read_results(td_custom *c, PyObject *list)
{
    td_schema *s = &c->schema;
    int tensors = 0;
    s->nreturns = (uint8_t)PyTuple_Size(list);
    for (int k = 0; k < s->nreturns; k++) {
        int type, flags, alias;
        const char *text;
        if (!PyArg_ParseTuple(PyTuple_GetItem(list, k), "iiis", &type, &flags, &alias, &text))
            return -1;
        c->results[k] = (td_promise){(uint8_t)type, (uint8_t)flags, copy_text(text)};
        if (!c->results[k].text) return td_no_memory(), -1;
        s->return_alias[k] = (int8_t)alias;
        tensors += type == TD_T_TENSOR;
    }
    s->list_result = s->nreturns == 1 && c->results[0].flags & TD_P_LIST && tensors;
    s->other_result = s->nreturns == 1 && !tensors;
    return 0;
}

/* define_op(text, name, overload, parameters, results, strict, view): a row without kernels, in
 * place of one of that text */
static PyObject *define_op(PyObject *m, PyObject *args)
{
    const char *text, *name, *overload;
    PyObject *params, *results;
    int strict, view;
    if (!PyArg_ParseTuple(args, "sssO!O!pp", &text, &name, &overload, &PyTuple_Type, &params,
                          &PyTuple_Type, &results, &strict, &view))
        return NULL;
    if (PyTuple_Size(params) > TD_MAX_ARGS || PyTuple_Size(results) > TD_MAX_OUTS)
        return PyErr_Format(
            PyExc_ValueError,
            "%s: an operator has at most %d arguments and %d results, this has %zd and %zd", text,
            TD_MAX_ARGS, TD_MAX_OUTS, PyTuple_Size(params), PyTuple_Size(results));
    td_custom *c = PyMem_Calloc(1, sizeof *c); /* never freed */
    if (!c) return td_no_memory();
    td_schema *s = &c->schema;
    c->of = s;
    c->strict = (uint8_t)strict;
    s->custom = c;
    s->op = (td_op){
        .name = copy_text(name), .overload = copy_text(overload), .id = (uint16_t)td_schema_count};
    s->text = copy_text(text);
    s->family = s->target = s->namespace_ = s->return_names = "";
    s->kind = TD_KIND_PYTHON;
    s->flags = view ? TD_F_VIEW : 0;
    if (!s->op.name || !s->op.overload || !s->text) return td_no_memory();
    if (read_params(c, params) < 0 || read_results(c, results) < 0) return NULL;
    if (td_enter_custom(s) < 0) return NULL;
    td_custom_changed(s);
    Py_RETURN_NONE;
}

static PyObject *forget_op(PyObject *m, PyObject *text)
{
    const char *name = PyUnicode_AsUTF8AndSize(text, NULL);
    if (!name) return NULL;
    td_forget_custom(name);
    Py_RETURN_NONE;
}

/* ---- kernels and derivatives ---- */
static td_custom *
custom_of(td_schema *s) /* a built-in row gets a place for kernels that override its own */
{
    if (s->custom) return s->custom;
    td_custom *c = PyMem_Calloc(1, sizeof *c);
    if (!c) return (td_custom *)td_no_memory();
    c->of = s;
    /* of several results one that was not asked for may be missing (output_mask) */
    int flags = (s->list_result ? TD_P_LIST : 0) | (s->nreturns > 1 ? TD_P_OPTIONAL : 0);
    for (int k = 0; k < s->nreturns && k < TD_MAX_OUTS; k++)
        c->results[k] = (td_promise){s->other_result ? TD_ANY_TYPE : TD_T_TENSOR, (uint8_t)flags,
                                     s->list_result ? "Tensor[]" : "Tensor"};
    return s->custom = c;
}

static td_schema *wanted(const char *text)
{
    td_schema *s = td_find_schema(text);
    if (!s) PyErr_Format(PyExc_ValueError, "there is no operator '%s'", text);
    return s;
}

/* set_kernel(text, slot, callable or None) */
static PyObject *set_kernel(PyObject *m, PyObject *args)
{
    const char *text;
    int slot;
    PyObject *kernel;
    if (!PyArg_ParseTuple(args, "siO", &text, &slot, &kernel)) return NULL;
    td_schema *s = wanted(text);
    td_custom *c = s ? custom_of(s) : NULL;
    if (!c) return NULL;
    if (slot < 0 || slot >= TD_SLOTS)
        return PyErr_Format(PyExc_ValueError, "%s: no slot %d", text, slot);
    Py_XSETREF(c->python[slot], kernel == Py_None ? NULL : Py_NewRef(kernel));
    if (td_is_defined(c))
        s->kind = c->python[TD_SLOT_COMPOSITE] ? TD_KIND_COMPOSITE : TD_KIND_PYTHON;
    if (s->kind == TD_KIND_COMPOSITE && td_is_defined(c))
        Py_XSETREF(s->callable, Py_NewRef(c->python[TD_SLOT_COMPOSITE]));
    td_custom_changed(s);
    Py_RETURN_NONE;
}

/* set_kernel_enabled(text, slot, on) -> was it? */
static PyObject *set_kernel_enabled(PyObject *m, PyObject *args)
{
    const char *text;
    int slot, on;
    if (!PyArg_ParseTuple(args, "sip", &text, &slot, &on)) return NULL;
    td_schema *s = wanted(text);
    td_custom *c = s ? custom_of(s) : NULL;
    if (!c) return NULL;
    if (slot < 0 || slot >= TD_SLOTS)
        return PyErr_Format(PyExc_ValueError, "%s: no slot %d", text, slot);
    int before = !(c->disabled >> slot & 1);
    c->disabled = (uint8_t)(on ? c->disabled & ~(1 << slot) : c->disabled | 1 << slot);
    return PyBool_FromLong(before);
}

/* set_cast(text, number): what autocast does with an operator that is defined at run time */
static PyObject *set_cast(PyObject *m, PyObject *args)
{
    const char *text;
    int number;
    if (!PyArg_ParseTuple(args, "si", &text, &number)) return NULL;
    td_schema *s = wanted(text);
    td_custom *c = s ? custom_of(s) : NULL;
    if (!c) return NULL;
    if (c->of != &c->schema)
        return PyErr_Format(PyExc_ValueError, "%s is built in: autocast knows what it does", text);
    if (number != TD_CAST_AS_GIVEN && number != TD_CAST_OWN)
        return PyErr_Format(PyExc_ValueError, "%s: no cast %d", text, number);
    s->autocast = (uint8_t)number;
    td_custom_changed(s);
    Py_RETURN_NONE;
}

/* set_cuda_cast(name, number) -> how many rows of the table have that name: what autocast does with
 * them on CUDA devices, four bits above what it does on the cpu */
static PyObject *set_cuda_cast(PyObject *m, PyObject *args)
{
    const char *name;
    int number, rows = 0;
    if (!PyArg_ParseTuple(args, "si", &name, &number)) return NULL;
    if (number < TD_CAST_AS_GIVEN || number > TD_CAST_PROMOTE)
        return PyErr_Format(PyExc_ValueError, "%s: no cast %d", name, number);
    for (int i = 0; i < td_schema_count; i++) {
        td_schema *s = &td_schemas[i];
        if (strcmp(s->op.name, name)) continue;
        s->autocast = (uint8_t)((s->autocast & 15) | number << 4);
        rows++;
    }
    return PyLong_FromLong(rows);
}

/* set_autograd(text, object or None): what taeda.autograd._custom_ops.record gets with each
 * recorded call */
static PyObject *set_autograd(PyObject *m, PyObject *args)
{
    const char *text;
    PyObject *object;
    if (!PyArg_ParseTuple(args, "sO", &text, &object)) return NULL;
    td_schema *s = wanted(text);
    td_custom *c = s ? custom_of(s) : NULL;
    if (!c) return NULL;
    Py_XSETREF(c->autograd, object == Py_None ? NULL : Py_NewRef(object));
    s->records_itself = c->autograd != NULL;
    td_custom_changed(s);
    Py_RETURN_NONE;
}

/* op_kernels(text) -> tuple of bools: which slots are filled */
static PyObject *op_kernels(PyObject *m, PyObject *name)
{
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    td_schema *s = text ? wanted(text) : NULL;
    PyObject *made = s ? PyTuple_New(TD_SLOTS) : NULL;
    for (int i = 0; made && i < TD_SLOTS; i++)
        PyTuple_SetItem(
            made, i,
            PyBool_FromLong(s->custom && (s->custom->python[i] || s->custom->native[i].call)));
    return made;
}

/* op_stamp(text) -> a number that is another one after each registration; 0 if there is none */
static PyObject *op_stamp(PyObject *m, PyObject *name)
{
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    td_schema *s = text ? td_find_schema(text) : NULL;
    if (!text) return NULL;
    return PyLong_FromUnsignedLongLong(s && s->custom ? s->custom->stamp : 0);
}

static PyMethodDef methods[] = {
    {"define_op", define_op, METH_VARARGS, "Add a row to the op table; see taeda._library."},
    {"forget_op", forget_op, METH_O, "Take a row that was defined at run time out of the table."},
    {"set_kernel", set_kernel, METH_VARARGS, "set_kernel(op, slot, function or None)."},
    {"set_kernel_enabled", set_kernel_enabled, METH_VARARGS,
     "set_kernel_enabled(op, slot, on): was it on before?"},
    {"set_cast", set_cast, METH_VARARGS, "set_cast(op, a number of core.casts)."},
    {"set_cuda_cast", set_cuda_cast, METH_VARARGS,
     "set_cuda_cast(name, a number of core.casts): of the table's rows on CUDA devices."},
    {"set_autograd", set_autograd, METH_VARARGS, "set_autograd(op, object or None)."},
    {"op_kernels", op_kernels, METH_O, "Which slots of an operator hold a kernel."},
    {"op_stamp", op_stamp, METH_O, "A number that changes when something is registered for it."},
    {0}};
PyMethodDef *td_custom_methods(void) { return methods; }
