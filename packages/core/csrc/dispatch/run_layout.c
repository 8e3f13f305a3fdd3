/* run_layout.c - calls with a tensor whose layout is not strided: (layout, row) -> rule. A rule is
 * a Python function that gets the arguments of the row's schema as they are, and works above
 * autograd on the strided tensors that such a tensor is made of. A row without a rule is refused:
 * no kernel, no composite and no formula of a derivative meets a tensor without memory. */
#include "object/forward.h"
#include "dispatch/dispatch.h"

/* by layout: rules of calls that make new tensors, of those in place */
static PyObject *rules[TD_LAYOUTS][2];

/* layout_rules(layout, in place?) -> {text of the row: function}, to be filled */
PyObject *td_layout_rules(PyObject *m, PyObject *args)
{
    PyObject *layout;
    int code, inplace;
    if (!PyArg_ParseTuple(args, "Op:layout_rules", &layout, &inplace)) return NULL;
    if (!td_layout_from(layout, &code) || code == TD_STRIDED)
        return PyErr_Format(PyExc_ValueError, "layout_rules: wanted a layout with rules, got %R",
                            layout);
    PyObject **kept = &rules[code][inplace];
    if (!*kept) *kept = PyDict_New();
    return Py_XNewRef(*kept);
}

static int note(PyObject *o, uint32_t *seen)
{
    if (!o || !td_is_tensor(o)) return 0;
    const PyTensor *p = (PyTensor *)o;
    *seen |= 1u << p->layout;
    return p->dual != NULL;
}

/* The layouts of all tensors of a call and the one that it asks for, a bit for each; -1 if one of
 * the tensors has a tangent. */
static int survey(const td_frame *f, uint32_t *seen)
{
    int duals = 0;
    for (int k = 0; k < f->schema->nparams; k++) {
        const td_arg *a = &f->call.args[k];
        duals |= note(f->obj[k], seen);
        if (a->kind == TD_ARG_LAYOUT) *seen |= 1u << a->i;
        for (int64_t i = 0; a->kind == TD_ARG_TENSORS && i < a->n; i++)
            duals |= f->obj[k] ? note(td_frame_item(f, k, (Py_ssize_t)i), seen) : 0;
    }
    for (int k = 0; f->out && k < f->schema->nreturns; k++) duals |= note(td_out_item(f, k), seen);
    return duals ? -1 : 0;
}

static PyObject *layouts_of(uint32_t seen)
{
    PyObject *layouts = PyList_New(0);
    for (int code = 0; layouts && code < TD_LAYOUTS; code++) {
        PyObject *layout = seen & 1u << code ? td_layout_object(code) : NULL;
        if (layout && PyList_Append(layouts, layout) < 0) Py_CLEAR(layouts);
        Py_XDECREF(layout);
    }
    return layouts;
}

/* Rules come with a package, which a call that makes its first tensor of a layout has to load. */
static int load_rules(uint32_t seen)
{
    static PyObject *hook;
    uint32_t missing = 0;
    for (int code = TD_STRIDED + 1; code < TD_LAYOUTS; code++)
        missing |= rules[code][0] ? 0 : seen & 1u << code;
    if (!missing) return 0;
    if (!td_python_function(&hook, "taeda._layers.layouts", "load")) return -1;
    PyObject *layouts = layouts_of(missing);
    PyObject *done = layouts ? PyObject_CallFunction(hook, "O", layouts) : NULL;
    Py_XDECREF(layouts);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

static PyObject *refuse(const td_frame *f, uint32_t seen, const char *why)
{
    static PyObject *hook;
    if (!td_python_function(&hook, "taeda._layers.layouts", "refuse")) return NULL;
    PyObject *layouts = layouts_of(seen);
    PyObject *made =
        layouts ? PyObject_CallFunction(hook, "sOis", f->schema->text, layouts, f->inplace, why)
                : NULL;
    Py_XDECREF(layouts);
    if (made) PyErr_SetString(PyExc_SystemError, "refuse() did not raise");
    Py_XDECREF(made);
    return NULL;
}

/* What the rules of the layouts answer, the first that does not return NotImplemented; borrowed
 * `args`. */
static PyObject *ask_rules(const td_frame *f, uint32_t seen, PyObject *args)
{
    for (int code = TD_STRIDED + 1; code < TD_LAYOUTS; code++) {
        PyObject *known = seen & 1u << code ? rules[code][f->inplace] : NULL;
        PyObject *rule = known ? PyDict_GetItemString(known, f->schema->text) : NULL;
        if (!rule) continue;
        Py_INCREF(rule);
        PyObject *made = PyObject_CallObject(rule, args);
        Py_DECREF(rule);
        if (made != Py_NotImplemented) return made;
        Py_DECREF(made);
    }
    return refuse(f, seen, "");
}

/* Factories by example (zeros_like) are asked for gradients of what they make. */
static int set_requires_grad(const td_frame *f, PyObject *made)
{
    if (f->requires_grad != Py_True) return 0;
    PyObject *done = PyObject_CallMethod(made, "requires_grad_", NULL);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

/* Results that have names come in a named tuple, whatever tuple a rule made; takes `made` over. */
static PyObject *with_names(const td_schema *s, PyObject *made)
{
    if (!made || !s->return_names[0] || Py_TYPE(made) != &PyTuple_Type ||
        PyTuple_Size(made) != s->nreturns)
        return made;
    PyObject *outs[TD_MAX_OUTS];
    for (int i = 0; i < s->nreturns; i++) outs[i] = Py_NewRef(PyTuple_GetItem(made, i));
    Py_DECREF(made);
    return td_pack_results(s, outs, s->nreturns);
}

PyObject *td_run_layout(td_frame *f)
{
    uint32_t seen = 0;
    if (survey(f, &seen) < 0) return refuse(f, seen, "forward mode");
    if (f->out) return refuse(f, seen, "out=");
    if (load_rules(seen) < 0) return NULL;
    PyObject *args = td_arguments_tuple(f);
    PyObject *made = with_names(f->schema, args ? ask_rules(f, seen, args) : NULL);
    Py_XDECREF(args);
    if (made && set_requires_grad(f, made) < 0) Py_CLEAR(made);
    return made;
}

int td_refuse_layout(const td_frame *f)
{
    uint32_t seen = 0;
    survey(f, &seen);
    refuse(f, seen, "");
    return -1;
}
