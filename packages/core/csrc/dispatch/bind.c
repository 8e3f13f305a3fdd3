/* bind.c - one Python object as the value of one parameter: td_bind says 1 (it fits), 0 (wrong
 * type) or -1 (exception). */
#include "dispatch/arguments.h"
#include "dispatch/custom.h"
#include "runtime/device.h"
#include "object/watch.h"

int td_has_override(PyObject *o)
{
    if (td_is_exact(o) || PyLong_Check(o) || PyFloat_Check(o) || o == Py_None ||
        PyUnicode_Check(o) || PyTuple_Check(o) || PyList_Check(o))
        return 0;
    PyObject *type = (PyObject *)Py_TYPE(o),
             *method = PyObject_GetAttrString(type, "__torch_function__");
    if (!method) {
        PyErr_Clear(); /* no such attribute: the object takes no part in overrides */
        return 0;
    }
    static PyObject *disabled; /* what a class sets that takes no part, though its base does */
    if (!td_python_function(&disabled, "taeda._layers.dispatch", "disabled_torch_function"))
        PyErr_Clear();
    int on = method != disabled;
    Py_DECREF(method);
    return on;
}

static void take_subclass(td_frame *f, PyObject *o)
{
    if (td_has_override(o)) f->overridden |= TD_OVERRIDDEN;
}

/* The handle that the call works with, or NULL with an exception. */
static inline td_tensor *take_tensor(td_frame *f, PyObject *o)
{
    if (!td_is_exact(o)) take_subclass(f, o); /* asks Python, so the handle is read after it */
    f->dispatches |= ((PyTensor *)o)->dispatches;
    f->overridden |= ((PyTensor *)o)->named;
    /* of inference tensors alone nothing is recorded */
    f->any_grad |=
        (uint8_t)(!(TD_T(o)->flags & TD_FLAG_INFERENCE) && td_requires_grad((PyTensor *)o));
    td_tensor *t = td_frame_pin(f, o);
    if (!t) return NULL;
    f->bits |= t->flags & (TD_FLAG_CONJ | TD_FLAG_NEG);
    f->devices |= t->device;
    return t;
}

static int bind_number_as_tensor(td_frame *f, td_arg *arg, PyObject *o)
{
    td_scalar s;
    int status = td_scalar_from(o, &s);
    if (status != 1) return status;
    td_tensor *t;
    /* from 2**63 on: int64 would take it for a negative number */
    int large = s.kind == TD_S_INT && s.i < 0 && s.re > 0;
    td_dtype d = s.kind == TD_S_FLOAT     ? TD_F64
                 : s.kind == TD_S_COMPLEX ? TD_C128
                 : s.kind == TD_S_BOOL    ? TD_BOOL
                 : large                  ? TD_U64
                                          : TD_I64;
    td_status made = td_tensor_from_scalar(&t, &s, d);
    if (made || !td_frame_temp(f, t)) return td_raised(made ? made : TD_RUNTIME_ERROR);
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
        arg->tensor = take_tensor(f, o);
        return arg->tensor ? 1 : -1;
    }
    if (p->flags & TD_P_NUMBER && td_is_number(o)) return bind_number_as_tensor(f, arg, o);
    /* a duck: the override layer takes the call before anybody looks at the handle */
    if (td_has_override(o)) {
        f->overridden |= TD_OVERRIDDEN;
        arg->kind = TD_ARG_NONE;
        return 1;
    }
    return 0;
}

static int bind_tensors(td_frame *f, int k, PyObject *o)
{
    const td_param *p = &f->schema->params[k];
    if (td_list_length(o) < 0) return 0;
    Py_ssize_t n;
    td_tensor **list = td_frame_list(f, k, o, &n);
    if (!list || td_frame_more_pins(f, n) < 0) return -1;
    f->call.args[k] = (td_arg){TD_ARG_TENSORS, n, {.tensors = list}};
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = td_frame_item(f, k, i);
        list[i] = NULL;
        if (item == Py_None && p->flags & TD_P_ELEMENT_OPTIONAL) continue;
        if (td_is_tensor(item)) {
            if (!(list[i] = take_tensor(f, item))) return -1;
        } else if (td_has_override(item)) f->overridden |= TD_OVERRIDDEN;
        else return 0;
    }
    return 1;
}

/* The i-th item of `*list`, a list of `n` or one value for all. One that is no plain number may run
 * Python when it is asked for its value, and Python may take it out of the list: from there on the
 * items are those of a tuple. NULL with an exception. */
static PyObject *number_item(td_frame *f, PyObject **list, Py_ssize_t n, Py_ssize_t i)
{
    if (td_list_length(*list) < 0) return *list;
    PyObject *item = td_list_item(*list, i);
    if (!PyList_Check(*list) || PyLong_CheckExact(item) || PyFloat_CheckExact(item)) return item;
    *list = td_frame_tuple(f, *list);
    if (!*list || PyTuple_Size(*list) == n) return *list ? PyTuple_GetItem(*list, i) : NULL;
    PyErr_SetString(PyExc_RuntimeError, "the list changed while it was read");
    return NULL;
}

/* Operators of users take True for an int and an int for a bool, as bindings of C++ do; a kernel
 * finds the number that its schema says. Rows of the table keep the two apart, because overloads
 * there do. */
int td_is_lenient(const td_frame *f) { return td_is_defined(f->schema->custom); }

static int bool_from(const td_frame *f, PyObject *o, int64_t *out)
{
    *out = o == Py_True;
    if (PyBool_Check(o)) return 1;
    if (!PyLong_Check(o) || !td_is_lenient(f)) return 0;
    int truth = PyObject_IsTrue(o);
    *out = truth;
    return truth < 0 ? -1 : 1;
}

static int int_from(const td_frame *f, PyObject *o, int64_t *out)
{
    if (!PyBool_Check(o) || !td_is_lenient(f)) return td_int_from(o, out);
    *out = o == Py_True;
    return 1;
}

int td_entry_from(const td_frame *f, PyObject *o, int64_t *out)
{
    PyObject *self = f->obj[0];
    bool nested = self && td_is_tensor(self) && ((PyTensor *)self)->layout;
    return nested && td_is_ragged(o) ? td_size_from(o, out) : int_from(f, o, out);
}

/* bool[3] is three answers, of which a kernel reads every one. The length of other lists is how
 * often one number is repeated, and kernels look at how many came. */
static int wrong_length(const td_frame *f, const td_param *p, Py_ssize_t n)
{
    if (p->type != TD_T_BOOL || !p->length || n == p->length) return 0;
    PyErr_Format(PyExc_RuntimeError,
                 "%s: argument '%s' is a list of %zd bools, and a list of %d is wanted",
                 f->schema->text, p->name, n, p->length);
    return 1;
}

static int bind_int_list(td_frame *f, const td_param *p, td_arg *arg, PyObject *o)
{
    Py_ssize_t n = td_list_length(o), bare = n < 0;
    if (bare && !p->length) return 0;
    if (bare) n = p->length;
    if (wrong_length(f, p, n)) return -1;
    int64_t *list = td_room_ints(f, n);
    if (!list) return -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = number_item(f, &o, n, i);
        int status = !item                  ? -1
                     : p->type == TD_T_BOOL ? bool_from(f, item, &list[i])
                                            : td_entry_from(f, item, &list[i]);
        if (status != 1) return status;
    }
    *arg = (td_arg){p->type == TD_T_BOOL ? TD_ARG_BOOLS : TD_ARG_INTS, n, {.ints = list}};
    return 1;
}

static int is_number(PyObject *o) /* a tensor that is welcome where a number is wanted */
{
    const PyTensor *p = (PyTensor *)o;
    return !p->t->ndim && (!td_is_meta(p->t) || p->dispatches) && !td_requires_grad(p) && !p->dual;
}

/* the one element of a tensor, fetched from its device; 0 with an exception if that fails */
static int number_of(PyObject *o, td_scalar *out)
{
    const td_tensor *t = TD_T(o);
    _Alignas(16) char element[16];
    if (((PyTensor *)o)->dispatches) {
        PyObject *item = td_item_of(o);
        int status = item ? td_scalar_from(item, out) : -1;
        if (status == 0)
            PyErr_Format(PyExc_TypeError, "the one element of a %R is %R, which is no number",
                         Py_TYPE(o), Py_TYPE(item));
        Py_XDECREF(item);
        return status == 1;
    }
    td_note_untraced("a tensor is an argument that wants a number");
    td_status status = td_element(t, element);
    if (status != TD_OK) return td_raise(status), 0;
    *out = td_meant_number(t, td_scalar_load((td_dtype)t->dtype, element));
    return 1;
}

static int double_from(PyObject *o, double *out)
{
    td_scalar s;
    if (td_is_tensor(o)) {
        if (!is_number(o)) return 0;
        if (!number_of(o, &s)) return -1;
    } else {
        int status = td_scalar_from(o, &s);
        if (status != 1) return status;
    }
    *out = s.re;
    return s.kind != TD_S_COMPLEX;
}

static int bind_float_list(td_frame *f, const td_param *p, td_arg *arg, PyObject *o)
{
    Py_ssize_t n = td_list_length(o), bare = n < 0;
    if (bare && !p->length) return 0;
    if (bare) n = p->length;
    double *list = (double *)td_room_ints(f, n);
    if (!list) return -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = number_item(f, &o, n, i);
        int status = item ? double_from(item, &list[i]) : -1;
        if (status != 1) return status;
    }
    *arg = (td_arg){TD_ARG_FLOATS, n, {.floats = list}};
    return 1;
}

static int bind_scalar(td_arg *arg, PyObject *o)
{
    arg->kind = TD_ARG_SCALAR;
    if (td_is_tensor(o)) {
        if (!is_number(o)) return 0;
        return number_of(o, &arg->scalar) ? 1 : -1;
    }
    return td_scalar_from(o, &arg->scalar);
}

static int bind_constant(td_frame *f, const td_param *p, td_arg *arg, PyObject *o)
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
            if ((status = td_device_from(o, &device)) != 1) return status;
            *arg = (td_arg){TD_ARG_DEVICE, 0, {.i = device}};
            f->devices |= device;
            return 1;
        case TD_T_LAYOUT:
            if (Py_TYPE(o) != LayoutT) return 0;
            if (!td_layout_from(o, &code)) return 0;
            if (code != TD_STRIDED) f->dispatches |= TD_DISPATCHES_LAYOUT;
            *arg = (td_arg){TD_ARG_LAYOUT, 0, {.i = code}};
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

/* A list that is empty unless it is given: None says the same, as in `stride=None`. */
static int is_empty_by_default(const td_param *p)
{
    return p->flags & TD_P_LIST && p->flags & TD_P_DEFAULT && p->value.kind == TD_ARG_INTS &&
           p->value.n == 0;
}

int td_bind(td_frame *f, int k, PyObject *o)
{
    const td_param *p = &f->schema->params[k];
    td_arg *arg = &f->call.args[k];
    f->obj[k] = o;
    if (o == Py_None && is_empty_by_default(p)) {
        f->obj[k] = NULL;
        *arg = p->value;
        return 1;
    }
    if (o == Py_None) {
        if (p->type == TD_T_GENERATOR)
            *arg = (td_arg){TD_ARG_GENERATOR, 0, {.generator = &td_default_generator}};
        else arg->kind = TD_ARG_NONE;
        return (p->flags & TD_P_OPTIONAL) != 0;
    }
    if (p->flags & TD_P_LIST) {
        if (p->type == TD_T_TENSOR) return bind_tensors(f, k, o);
        if (p->type == TD_T_FLOAT || p->type == TD_T_SCALAR) return bind_float_list(f, p, arg, o);
        return bind_int_list(f, p, arg, o);
    }
    int64_t truth;
    int status;
    switch (p->type) {
        case TD_T_TENSOR: return bind_tensor(f, p, arg, o);
        case TD_T_SCALAR: return bind_scalar(arg, o);
        case TD_T_INT: arg->kind = TD_ARG_INT; return int_from(f, o, &arg->i);
        case TD_T_FLOAT: arg->kind = TD_ARG_FLOAT; return double_from(o, &arg->f);
        case TD_T_BOOL:
            if ((truth = numpy_bool(o)) < 0 && (status = bool_from(f, o, &truth)) != 1)
                return status;
            *arg = (td_arg){TD_ARG_BOOL, 0, {.i = truth}};
            return 1;
        case TD_T_STR:
            if (!PyUnicode_Check(o)) return 0;
            arg->kind = TD_ARG_STR;
            arg->str = PyUnicode_AsUTF8AndSize(o, NULL);
            return arg->str ? 1 : -1;
        default: return bind_constant(f, p, arg, o);
    }
}
