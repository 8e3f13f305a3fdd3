/* tensor_fields.c - attributes of Tensor: facts, place in the graph, gradient, data; and subclasses
 * that want to see them read. */
#include "binding/binding.h"
#include "dispatch/dispatch.h"
#include "backward/backward.h"
#include "binding/samples.h"
#include "object/watch.h"

#define SELF ((PyTensor *)o)
static PyObject *get_shape(PyObject *o, void *c)
{
    return td_size_object(SELF->t->ndim, SELF->t->sizes);
}
static PyObject *get_dtype(PyObject *o, void *c)
{
    return td_dtype_object((td_dtype)SELF->t->dtype);
}
static PyObject *get_device(PyObject *o, void *c)
{
    return td_device_object(td_claimed_device(SELF));
}
/* a quantized tensor is exactly a Tensor, and its integers are strided */
static PyObject *get_layout(PyObject *o, void *c)
{
    return td_layout_object(SELF->layout == TD_QUANTIZED ? TD_STRIDED : SELF->layout);
}
static PyObject *get_ndim(PyObject *o, void *c) { return PyLong_FromLong(SELF->t->ndim); }
static PyObject *get_itemsize(PyObject *o, void *c)
{
    return PyLong_FromLongLong(td_itemsize((td_dtype)SELF->t->dtype));
}
static PyObject *get_nbytes(PyObject *o, void *c)
{
    return PyLong_FromLongLong(SELF->t->numel * td_itemsize((td_dtype)SELF->t->dtype));
}
static PyObject *get_version(PyObject *o, void *c)
{
    if (SELF->t->flags & TD_FLAG_INFERENCE)
        return PyErr_Format(PyExc_RuntimeError, "Inference tensors do not track version counter.");
    unsigned long own = td_version_of(SELF->t), shared = 0;
    PyObject *parts = td_has_parts(SELF) ? SELF->parts : NULL;
    if (parts && PyObject_HasAttrString(parts, "version")) { /* of memory that others see, too */
        PyObject *count = PyObject_GetAttrString(parts, "version");
        shared = count ? PyLong_AsUnsignedLong(count) : 0;
        Py_XDECREF(count);
        if (PyErr_Occurred()) return NULL;
    }
    return PyLong_FromUnsignedLong(own + shared);
}
static PyObject *get_base(PyObject *o, void *c)
{
    return Py_NewRef(SELF->base ? (PyObject *)SELF->base : Py_None);
}
static PyObject *get_output_nr(PyObject *o, void *c) { return PyLong_FromUnsignedLong(SELF->nr); }
static PyObject *get_is_leaf(PyObject *o, void *c)
{
    int failed;
    Node *n = td_grad_fn(SELF, &failed);
    return failed ? NULL : PyBool_FromLong(!n);
}
static PyObject *get_grad_fn(PyObject *o, void *c)
{
    int failed;
    Node *n = td_grad_fn(SELF, &failed);
    return failed ? NULL : td_node_shown(n);
}
static PyObject *get_requires_grad(PyObject *o, void *c)
{
    return PyBool_FromLong(td_requires_grad(SELF));
}
static PyObject *get_retains_grad(PyObject *o, void *c)
{
    return PyBool_FromLong(SELF->retains_grad);
}
static PyObject *get_hooks(PyObject *o, void *c)
{
    return Py_NewRef(SELF->hooks ? SELF->hooks : Py_None);
}
static int set_hooks(PyObject *o, PyObject *v, void *c)
{
    Py_XSETREF(SELF->hooks, v ? Py_NewRef(v) : NULL);
    return 0;
}

int td_set_requires_grad(PyObject *o, PyObject *v, void *c)
{
    if (!v || !PyBool_Check(v))
        return PyErr_Format(PyExc_RuntimeError, "requires_grad must be a bool"), -1;
    int on = v == Py_True;
    td_dtype d = (td_dtype)SELF->t->dtype;
    if (SELF->node && !on) {
        PyErr_SetString(PyExc_RuntimeError,
                        "you can only change requires_grad flags of leaf variables. If you want to "
                        "use a computed variable in a subgraph that doesn't require "
                        "differentiation use var_no_grad = var.detach().");
        return -1;
    }
    if (SELF->node) return 0;
    if (on && !td_is_floating(d) && !td_is_complex(d)) {
        PyErr_Format(PyExc_RuntimeError,
                     "only Tensors of floating point and complex dtype can require gradients, this "
                     "one is %s",
                     td_dtypes[d].name);
        return -1;
    }
    if (on && SELF->t->flags & TD_FLAG_INFERENCE && !td_here.inference_mode) {
        PyErr_SetString(
            PyExc_RuntimeError,
            "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
        return -1;
    }
    if (on && td_load_rules() < 0) return -1;
    SELF->requires_grad = (uint8_t)on;
    return 0;
}

static PyObject *get_grad(PyObject *o, void *c)
{
    if (!SELF->grad && SELF->node && !SELF->retains_grad &&
        PyErr_WarnEx(PyExc_UserWarning,
                     "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. "
                     "Its .grad attribute won't be populated during autograd.backward(). Call "
                     ".retain_grad() on the non-leaf Tensor to have it.",
                     1) < 0)
        return NULL;
    return Py_NewRef(SELF->grad ? (PyObject *)SELF->grad : Py_None);
}

static int set_grad(PyObject *o, PyObject *v, void *c)
{
    if (!v || v == Py_None) {
        td_gradients_set++;
        Py_CLEAR(SELF->grad);
        return 0;
    }
    char have[TD_SHAPE_TEXT], want[TD_SHAPE_TEXT];
    if (!td_is_tensor(v))
        return PyErr_Format(PyExc_TypeError,
                            "assigned grad expected to be a Tensor or None but got grad of type %S",
                            Py_TYPE(v)),
               -1;
    const td_tensor *g = TD_T(v), *t = SELF->t;
    if (v == o) PyErr_SetString(PyExc_RuntimeError, "can't assign Variable as its own grad");
    else if (g->dtype != t->dtype)
        PyErr_Format(PyExc_RuntimeError,
                     "assigned grad has data of a different type: %s, wanted %s",
                     td_dtypes[g->dtype].name, td_dtypes[t->dtype].name);
    else if (td_claimed_device((PyTensor *)v) != td_claimed_device(SELF))
        PyErr_SetString(PyExc_RuntimeError, "assigned grad has data located on a different device");
    else if (!td_same_shape(g, t))
        PyErr_Format(
            PyExc_RuntimeError, "assigned grad has data of a different size: %s, wanted %s",
            td_shape_text(g->ndim, g->sizes, have), td_shape_text(t->ndim, t->sizes, want));
    if (PyErr_Occurred()) return -1;
    td_gradients_set++;
    Py_XSETREF(SELF->grad, (PyTensor *)Py_NewRef(v));
    return 0;
}

/* a new tensor of the same dimensions as `p`, with its names */
static PyObject *with_names(PyObject *made, const PyTensor *p)
{
    if (made && p->named) td_give_names((PyTensor *)made, p->parts);
    return made;
}

/* .data: the same memory with a version counter of its own, so that writes through it go unnoticed
 */
static PyObject *get_data(PyObject *o, void *c)
{
    td_tensor *t;
    if (SELF->dispatches) return td_below(td_detach_function(), o);
    TD_PY(td_tensor_alias(&t, SELF->t));
    td_status status = td_tensor_detach_version(t);
    if (!status) return with_names(td_wrap(t), SELF);
    td_tensor_free(t);
    return td_raise(status);
}

/* What a tensor stands for whose operators run in __torch_dispatch__ is in its attributes: these go
 * along. */
static int take_over(PyObject *o, PyObject *v)
{
    static PyObject *hook;
    if (SELF->layout != ((PyTensor *)v)->layout)
        return PyErr_SetString(PyExc_RuntimeError,
                               "Attempted to call `variable.set_data(tensor)`, but `variable` and "
                               "`tensor` have different layouts. Use utils.swap_tensors"),
               -1;
    if (td_has_parts(SELF)) {
        Py_XSETREF(SELF->parts, Py_XNewRef(((PyTensor *)v)->parts));
        SELF->dispatches = ((PyTensor *)v)->dispatches;
        return 0;
    }
    if (Py_TYPE(o) != Py_TYPE(v))
        return PyErr_Format(
                   PyExc_RuntimeError,
                   "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` "
                   "have incompatible tensor type: %S and %S. Use utils.swap_tensors",
                   Py_TYPE(o), Py_TYPE(v)),
               -1;
    if (!td_python_function(&hook, "taeda._layers.dispatch", "take_attributes")) return -1;
    PyObject *done = PyObject_CallFunctionObjArgs(hook, o, v, NULL);
    Py_XDECREF(done);
    if (done) SELF->dispatches = ((PyTensor *)v)->dispatches;
    return done ? 0 : -1;
}

static int set_data(PyObject *o, PyObject *v, void *c)
{
    td_tensor *t;
    if (!v || !td_is_tensor(v))
        return PyErr_Format(PyExc_TypeError, "Variable data has to be a tensor, but got %S",
                            v ? (PyObject *)Py_TYPE(v) : Py_None),
               -1;
    if (td_requires_grad(SELF) && !td_is_floating((td_dtype)TD_T(v)->dtype) &&
        !td_is_complex((td_dtype)TD_T(v)->dtype)) {
        PyErr_SetString(
            PyExc_RuntimeError,
            "data set to a tensor that requires gradients must be floating point or complex dtype");
        return -1;
    }
    if (td_check_samples(o, v, "an assignment to .data") < 0) return -1;
    td_note_untraced("a tensor gets other memory");
    if ((SELF->dispatches || ((PyTensor *)v)->dispatches) && take_over(o, v) < 0) return -1;
    td_status status = td_tensor_alias(&t, TD_T(v));
    if (status) return td_raised(status);
    td_publish(o, t);
    if (SELF->named || ((PyTensor *)v)->named) /* parts of other layouts are taken over above */
        td_give_names(SELF, ((PyTensor *)v)->named ? ((PyTensor *)v)->parts : NULL);
    Py_CLEAR(SELF->base);
    if (SELF->accumulate) return td_node_set_out_of(SELF->accumulate, 0, SELF);
    return 0;
}

static PyGetSetDef fields[] = {
    {"shape", get_shape, 0, "Sizes of the dimensions, a taeda.Size.", 0},
    {"dtype", get_dtype, 0, "Type of the elements.", 0},
    {"device", get_device, 0, "Where the memory is.", 0},
    {"layout", get_layout, 0, "How the elements are laid out: taeda.strided, or one of another.",
     0},
    {"ndim", get_ndim, 0, "Number of dimensions.", 0},
    {"itemsize", get_itemsize, 0, "Bytes of one element.", 0},
    {"nbytes", get_nbytes, 0, "Bytes of all elements.", 0},
    {"requires_grad", get_requires_grad, td_set_requires_grad,
     "True if gradients are wanted for this tensor.", 0},
    {"grad", get_grad, set_grad, "The accumulated gradient, or None.", 0},
    {"grad_fn", get_grad_fn, 0, "The node that computed this tensor, or None for a leaf.", 0},
    {"is_leaf", get_is_leaf, 0, "True if no recorded operation computed this tensor.", 0},
    {"retains_grad", get_retains_grad, 0, "True for a non-leaf whose .grad is filled.", 0},
    {"data", get_data, set_data, "The same memory, outside autograd and its checks.", 0},
    {"output_nr", get_output_nr, 0, "Which output of grad_fn this is.", 0},
    {"_version", get_version, 0, "Count of in-place writes to the memory.", 0},
    {"_base", get_base, 0, "The tensor this is a view of, or None.", 0},
    {"_hooks", get_hooks, set_hooks, "Hooks by kind, or None.", 0},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, 0, 0},
    {0}};

/* ---- attributes of subclasses: __torch_function__ is asked with Tensor.shape.__get__ and the like
 * ---- */
static int own_override(PyObject *o) /* has its type a __torch_function__ that is not Tensor's? */
{
    static PyObject *tensors;
    PyObject *method = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__torch_function__");
    PyObject *function = method ? PyObject_GetAttrString(method, "__func__") : NULL;
    if (!tensors) {
        PyObject *own = PyObject_GetAttrString((PyObject *)TensorT, "__torch_function__");
        tensors = own ? PyObject_GetAttrString(own, "__func__") : NULL;
        Py_XDECREF(own);
    }
    if (!function) PyErr_Clear(); /* no method of a class: the Python side says what it is */
    int own = method && function != tensors;
    Py_XDECREF(function);
    Py_XDECREF(method);
    return own;
}

int td_is_asked(PyObject *o)
{
    if (td_here.layers & ~td_here.excluded & TD_LAYER_FUNCTION_MODE) return 1;
    if (td_is_exact(o) || td_here.excluded & TD_LAYER_OVERRIDE) return 0;
    return td_has_override(o) && own_override(o);
}

static PyObject *ask(PyObject *callable, PyObject *args,
                     PyObject *keywords) /* takes the first two over */
{
    static PyObject *hook;
    PyObject *made = NULL, *named = keywords ? Py_NewRef(keywords) : PyDict_New();
    if (callable && args && named &&
        td_python_function(&hook, "taeda._layers.dispatch", "dispatch_override"))
        made = PyObject_CallFunctionObjArgs(hook, callable, args, named, NULL);
    Py_XDECREF(callable);
    Py_XDECREF(args);
    Py_XDECREF(named);
    return made;
}

PyObject *td_ask(PyObject *o, const char *name, PyObject *argument)
{
    PyObject *args = argument ? PyTuple_Pack(2, o, argument) : PyTuple_Pack(1, o);
    return ask(PyObject_GetAttrString((PyObject *)TensorT, name), args, NULL);
}

PyObject *td_ask_with(PyObject *o, const char *name, PyObject *const *a, Py_ssize_t n,
                      PyObject *names)
{
    PyObject *args = PyTuple_New(n + 1), *keywords = PyDict_New(), *made = NULL;
    if (args && keywords) {
        PyTuple_SetItem(args, 0, Py_NewRef(o));
        for (Py_ssize_t i = 0; i < n; i++) PyTuple_SetItem(args, i + 1, Py_NewRef(a[i]));
        for (Py_ssize_t i = 0; names && i < PyTuple_Size(names); i++)
            PyDict_SetItem(keywords, PyTuple_GetItem(names, i), a[n + i]);
        made = ask(PyObject_GetAttrString((PyObject *)TensorT, name), Py_NewRef(args), keywords);
    }
    Py_XDECREF(args);
    Py_XDECREF(keywords);
    return made;
}

static PyObject *ask_field(PyObject *o, const char *name, const char *slot, PyObject *value)
{
    PyObject *field = PyObject_GetAttrString((PyObject *)TensorT, name);
    PyObject *callable = field ? PyObject_GetAttrString(field, slot) : NULL;
    Py_XDECREF(field);
    return ask(callable, value ? PyTuple_Pack(2, o, value) : PyTuple_Pack(1, o), NULL);
}

/* .data is a tensor of the same kind: Tensor's own __torch_function__ makes it one, which other
 * fields need not ask */
static int makes_kind(PyObject *o, const PyGetSetDef *field)
{
    return field->get == get_data && !td_is_exact(o) && !(td_here.excluded & TD_LAYER_OVERRIDE) &&
           td_has_override(o);
}

static PyObject *guarded_get(PyObject *o, void *field)
{
    const PyGetSetDef *own = field;
    int is_asked = td_is_asked(o) || makes_kind(o, own);
    return is_asked ? ask_field(o, own->name, "__get__", NULL) : own->get(o, NULL);
}

static int guarded_set(PyObject *o, PyObject *value, void *field)
{
    const PyGetSetDef *own = field;
    if (!value || !td_is_asked(o)) return own->set(o, value, NULL);
    PyObject *made = ask_field(o, own->name, "__set__", value);
    Py_XDECREF(made);
    return made ? 0 : -1;
}

/* what the type gets in place of `fields`; names that begin with an underscore are seen by nobody,
 * but for _base and _version */
PyGetSetDef *td_tensor_fields(void)
{
    enum { N = sizeof fields / sizeof *fields };
    static PyGetSetDef guarded[N];
    for (int i = 0; i < N; i++) {
        guarded[i] = fields[i];
        if (!fields[i].name || !strcmp(fields[i].name, "__dict__") ||
            !strcmp(fields[i].name, "_hooks"))
            continue;
        guarded[i].get = guarded_get;
        guarded[i].set = fields[i].set ? guarded_set : NULL;
        guarded[i].closure = &fields[i];
    }
    return guarded;
}
