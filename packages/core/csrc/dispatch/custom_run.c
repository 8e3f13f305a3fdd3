/* custom_run.c - one call of an operator that was defined at run time: which kernel, its arguments,
 * its results, its graph. */
#include "graph/node.h"
#include "dispatch/custom.h"
#include "runtime/device.h"

/* ---- which kernel ---- */
static td_device device_of(const td_frame *f) /* cpu or meta */
{
    td_device device = TD_CPU;
    for (int k = 0; k < f->schema->nparams; k++) {
        const td_arg *a = &f->call.args[k];
        if (a->kind == TD_ARG_DEVICE && a->i == TD_META) device = TD_META;
        if (a->kind == TD_ARG_TENSOR && td_is_meta(a->tensor)) return TD_META;
        for (int64_t i = 0; a->kind == TD_ARG_TENSORS && i < a->n; i++)
            if (a->tensors[i] && td_is_meta(a->tensors[i])) return TD_META;
    }
    return device;
}

static int has(const td_custom *c, int slot)
{
    return !(c->disabled >> slot & 1) && (c->python[slot] || c->native[slot].call);
}

static int refuse(const td_schema *s, td_device device)
{
    char text[TD_DEVICE_TEXT];
    if (device == TD_META)
        PyErr_Format(PyExc_NotImplementedError,
                     "%s: there was no fake impl registered for it, which calls on meta tensors "
                     "need. Give one with library.register_fake(\"%s\", function)",
                     s->text, s->text);
    else
        PyErr_Format(PyExc_NotImplementedError,
                     "%s: no kernel is registered for device '%s', or it is disabled. Give one "
                     "with library.register_kernel(\"%s\", \"%s\", function)",
                     s->text, td_device_text(device, text), s->text,
                     device == TD_CPU ? "cpu" : "cuda");
    return -1;
}

int td_custom_slot(const td_frame *f, td_device elsewhere)
{
    static const int own[TD_DEVICE_TYPES] = {
        [TD_CPU] = TD_SLOT_CPU, [TD_META] = TD_SLOT_META, [TD_CUDA] = TD_SLOT_CUDA};
    const td_schema *s = f->schema;
    const td_custom *c = s->custom;
    td_device device = elsewhere ? elsewhere : device_of(f);
    int type = td_device_type(device);
    if ((type <= TD_CUDA) && has(c, own[type])) return own[type];
    if (type != TD_META && has(c, TD_SLOT_MEMORY)) return TD_SLOT_MEMORY;
    if (has(c, TD_SLOT_ANY)) return TD_SLOT_ANY;
    return c->of == &c->schema ? refuse(s, device) : TD_SLOT_BUILT_IN;
}

/* ---- a kernel in Python ---- */
static PyObject *argument(const td_frame *f, int k) /* lists are lists, as the annotation says */
{
    const td_arg *a = &f->call.args[k];
    if (a->kind == TD_ARG_TENSOR) return td_plain_tensor(f->obj[k], a->tensor);
    if (a->kind != TD_ARG_TENSORS) {
        PyObject *o = td_argument_object(f, k), *list = NULL;
        if (!o || !(f->schema->params[k].flags & TD_P_LIST) || o == Py_None) return o;
        list = PySequence_List(o);
        Py_DECREF(o);
        return list;
    }
    PyObject *made = PyList_New((Py_ssize_t)a->n);
    for (Py_ssize_t i = 0; made && i < a->n; i++) {
        PyObject *item = td_plain_tensor(NULL, a->tensors[i]);
        if (!item) Py_CLEAR(made);
        else PyList_SetItem(made, i, item);
    }
    return made;
}

static PyObject *keyword_arguments(const td_frame *f)
{
    PyObject *made = PyDict_New();
    for (int k = f->schema->npositional; made && k < f->schema->nparams; k++) {
        PyObject *o = argument(f, k);
        if (!o || PyDict_SetItemString(made, f->schema->params[k].name, o) < 0) Py_CLEAR(made);
        Py_XDECREF(o);
    }
    return made;
}

static PyObject *call_kernel(const td_frame *f, PyObject *kernel)
{
    int n = f->schema->npositional, keywords = n < f->schema->nparams;
    PyObject *args = PyTuple_New(n), *named = NULL, *made = NULL;
    for (int k = 0; args && k < n; k++) {
        PyObject *o = argument(f, k);
        if (!o) Py_CLEAR(args);
        else PyTuple_SetItem(args, k, o);
    }
    if (args && (!keywords || (named = keyword_arguments(f))))
        made = PyObject_Call(kernel, args, named);
    Py_XDECREF(args);
    Py_XDECREF(named);
    return made;
}

static int wrong_result(const td_frame *f, int k, PyObject *o)
{
    const td_custom *c = f->schema->custom;
    int bad = c->result_is_list[k] ? !PyList_Check(o) && !PyTuple_Check(o)
                                   : c->result_is_tensor[k] && !td_is_tensor(o) && o != Py_None;
    if (bad)
        PyErr_Format(PyExc_RuntimeError,
                     "%s: its kernel returned %R as result %d where the schema says %s%s",
                     f->schema->text, Py_TYPE(o), k, c->result_is_tensor[k] ? "Tensor" : "a value",
                     c->result_is_list[k] ? "[]" : "");
    return bad;
}

static int wrong_count(const td_frame *f, PyObject *made)
{
    PyErr_Format(PyExc_RuntimeError, "%s: its kernel returned %R where the schema says %d results",
                 f->schema->text, Py_TYPE(made), f->schema->nreturns);
    return -1;
}

static int split(const td_frame *f, PyObject *answer, td_made *made)
{
    int n = f->schema->nreturns;
    if (n == 0) return answer == Py_None ? 0 : wrong_count(f, answer);
    if (n > 1 &&
        ((!PyTuple_Check(answer) && !PyList_Check(answer)) || PySequence_Size(answer) != n))
        return wrong_count(f, answer);
    for (; made->n < n; made->n++) {
        PyObject *o = n == 1 ? Py_NewRef(answer) : PySequence_GetItem(answer, made->n);
        if (!o || wrong_result(f, made->n, o)) return Py_XDECREF(o), -1;
        int alias = f->schema->return_alias[made->n];
        made->outs[made->n] = o;
        /* (a!): the argument itself */
        if (alias >= 0 && f->obj[alias]) Py_SETREF(made->outs[made->n], Py_NewRef(f->obj[alias]));
    }
    return 0;
}

static int custom_python(td_frame *f, td_made *made)
{
    const td_schema *s = f->schema;
    PyObject *kernel = Py_NewRef(s->custom->python[f->call.slot]); /* it may replace itself */
    td_outside was = td_go_below();
    PyObject *answer = call_kernel(f, kernel);
    td_come_back(was);
    Py_DECREF(kernel);
    if (!answer) return -1;
    if (s->list_result || s->other_result) {
        if (s->list_result && wrong_result(f, 0, answer)) return Py_DECREF(answer), -1;
        return made->list = answer, 0;
    }
    int status = split(f, answer, made);
    Py_DECREF(answer);
    return status;
}

/* ---- results that share memory although the schema does not say so ---- */
static int check_results(const td_frame *f, const td_made *made);

int td_custom_run(td_frame *f, int slot, td_made *made)
{
    f->call.slot = slot;
    int status = f->schema->custom->native[slot].call ? td_run_c(f, f->schema->op.impl, made)
                                                      : custom_python(f, made);
    return status < 0 || made->list ? status : check_results(f, made);
}

static int shares(const td_frame *f, const td_storage *s)
{
    if (!s->data) return 0;
    for (int k = 0; k < f->schema->nparams; k++) {
        const td_arg *a = &f->call.args[k];
        if (a->kind == TD_ARG_TENSOR && a->tensor->storage == s) return 1;
        for (int64_t i = 0; a->kind == TD_ARG_TENSORS && i < a->n; i++)
            if (a->tensors[i] && a->tensors[i]->storage == s) return 1;
    }
    return 0;
}

static int check_results(const td_frame *f, const td_made *made)
{
    const td_schema *s = f->schema;
    if (!s->custom->strict || s->flags & TD_F_VIEW) return 0;
    for (int k = 0; k < made->n; k++) {
        if (s->return_alias[k] >= 0 || !td_is_tensor(made->outs[k])) continue;
        const td_storage *mine = TD_T(made->outs[k])->storage;
        int bad = shares(f, mine);
        for (int j = 0; j < k && !bad; j++)
            bad = mine->data && td_is_tensor(made->outs[j]) && TD_T(made->outs[j])->storage == mine;
        if (!bad) continue;
        PyErr_Format(PyExc_RuntimeError,
                     "%s: result %d shares memory with an argument or another result, which the "
                     "schema does not say. The output of a custom operator must not also be an "
                     "input, nor may alias any inputs or other results: return a clone()",
                     s->text, k);
        return -1;
    }
    return 0;
}

/* ---- the graph of a derivative in Python ---- */
static PyObject *inputs(const td_frame *f)
{
    PyObject *made = PyTuple_New(f->schema->nparams);
    for (int k = 0; made && k < f->schema->nparams; k++) {
        PyObject *o = td_argument_object(f, k);
        if (o && f->schema->params[k].flags & TD_P_LIST && o != Py_None)
            Py_SETREF(o, PySequence_List(o));
        if (!o) Py_CLEAR(made);
        else PyTuple_SetItem(made, k, o);
    }
    return made;
}

int td_custom_record(td_frame *f, PyObject *const *outs, int nouts)
{
    static PyObject *hook;
    if (!td_here.grad_mode || !f->any_grad || td_here.inference_mode) return 0;
    if (!td_python_function(&hook, "taeda.autograd._custom_ops", "record")) return -1;
    PyObject *results = PyTuple_New(nouts), *args = inputs(f), *made = NULL;
    for (int k = 0; results && k < nouts; k++) PyTuple_SetItem(results, k, Py_NewRef(outs[k]));
    if (results && args)
        made = PyObject_CallFunctionObjArgs(hook, f->schema->custom->autograd, args, results, NULL);
    Py_XDECREF(results);
    Py_XDECREF(args);
    Py_XDECREF(made);
    return made ? 0 : -1;
}
