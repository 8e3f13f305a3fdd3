/* tensor_methods.c - methods of Tensor that are no operations: questions, identity, storage. */
#include "binding/binding.h"
#include "backward/forward.h"
#include "binding/samples.h"
#include "graph/node.h"
#include "object/watch.h"

#define SELF ((PyTensor *)o)
/* size(dim), stride(dim) */
static PyObject *entry(const PyTensor *p, PyObject *which, const char *name, int strides)
{
    static PyObject *hook;
    int64_t dim, at;
    if (PyUnicode_Check(which)) {
        PyObject *place = td_python_function(&hook, "taeda._names.calls", "place")
                              ? PyObject_CallFunction(hook, "OO", (PyObject *)p, which)
                              : NULL;
        PyObject *said = place ? entry(p, place, name, strides) : NULL;
        Py_XDECREF(place);
        return said;
    }
    int status = td_int_from(which, &dim); /* may run Python: the handle is looked at afterwards */
    if (status != 1)
        return status < 0
                   ? NULL
                   : PyErr_Format(PyExc_TypeError, "%s(): argument 'dim' must be int, not %S", name,
                                  Py_TYPE(which));
    if (!p->t->ndim)
        return PyErr_Format(PyExc_IndexError,
                            "Dimension specified as %lld but tensor has no dimensions",
                            (long long)dim);
    TD_PY(td_wrap_dim(dim, p->t->ndim, &at));
    return PyLong_FromLongLong((strides ? p->t->strides : p->t->sizes)[at]);
}
/* The one argument, by place or by name, into `value`, which keeps what it is without any. */
static int only(const char *method, const char *argument, PyObject *const *a, Py_ssize_t n,
                PyObject *kw, PyObject **value)
{
    Py_ssize_t named = kw ? PyTuple_Size(kw) : 0;
    if (n + named > 1) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most 1 argument (%zd given)", method,
                     n + named);
        return -1;
    }
    PyObject *name = named ? PyTuple_GetItem(kw, 0) : NULL;
    if (name && PyUnicode_CompareWithASCIIString(name, argument)) {
        PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'; it takes %s",
                     method, name, argument);
        return -1;
    }
    if (n + named) *value = a[0];
    return 0;
}
/* What a quantized tensor says of its memory: what its integers say, asked with `argument` unless
 * that is None. */
static PyObject *ask_integers(PyObject *o, const char *name, PyObject *argument)
{
    PyObject *integers = PyObject_GetAttrString(SELF->parts, "integers");
    PyObject *said = !integers             ? NULL
                     : argument == Py_None ? PyObject_CallMethod(integers, name, NULL)
                                           : PyObject_CallMethod(integers, name, "O", argument);
    Py_XDECREF(integers);
    return said;
}
static PyObject *m_size(PyObject *o, PyObject *const *a, Py_ssize_t n, PyObject *kw)
{
    PyObject *which = Py_None;
    if (only("size", "dim", a, n, kw, &which) < 0) return NULL;
    return which == Py_None ? td_size_object(SELF->t->ndim, SELF->t->sizes)
                            : entry(SELF, which, "size", 0);
}
static PyObject *m_stride(PyObject *o, PyObject *const *a, Py_ssize_t n, PyObject *kw)
{
    PyObject *which = Py_None;
    if (only("stride", "dim", a, n, kw, &which) < 0) return NULL;
    if (SELF->layout == TD_QUANTIZED) return ask_integers(o, "stride", which);
    if (td_has_parts(SELF)) return td_refuse_memory(o, "stride()");
    return which == Py_None ? td_dims_object(SELF->t->ndim, SELF->t->strides)
                            : entry(SELF, which, "stride", 1);
}
static PyObject *m_dim(PyObject *o, PyObject *u) { return PyLong_FromLong(SELF->t->ndim); }
static PyObject *m_numel(PyObject *o, PyObject *u) { return PyLong_FromLongLong(SELF->t->numel); }
static PyObject *m_element_size(PyObject *o, PyObject *u)
{
    return PyLong_FromLongLong(td_itemsize((td_dtype)SELF->t->dtype));
}
static PyObject *m_storage_offset(PyObject *o, PyObject *u)
{
    if (SELF->layout == TD_QUANTIZED) return ask_integers(o, "storage_offset", Py_None);
    if (td_has_parts(SELF)) return td_refuse_memory(o, "storage_offset()");
    return PyLong_FromLongLong(SELF->t->offset);
}
static PyObject *m_data_ptr(PyObject *o, PyObject *u)
{
    td_note_untraced("an address is read");
    if (SELF->layout == TD_QUANTIZED) return ask_integers(o, "data_ptr", Py_None);
    if (td_has_parts(SELF)) return td_refuse_memory(o, "data_ptr()");
    return PyLong_FromVoidPtr(SELF->t->numel ? td_data(SELF->t) : NULL);
}
static PyObject *m_item(PyObject *o, PyObject *u) { return td_item_of(o); }
static PyObject *m_tolist(PyObject *o, PyObject *u) { return td_tolist(o); }
static PyObject *m_is_floating(PyObject *o, PyObject *u)
{
    return PyBool_FromLong(td_is_floating((td_dtype)SELF->t->dtype));
}
static PyObject *m_is_complex(PyObject *o, PyObject *u)
{
    return PyBool_FromLong(td_is_complex((td_dtype)SELF->t->dtype));
}
static PyObject *m_is_signed(PyObject *o, PyObject *u)
{
    return PyBool_FromLong(td_dtypes[SELF->t->dtype].is_signed);
}
static PyObject *m_is_conj(PyObject *o, PyObject *u)
{
    return PyBool_FromLong((SELF->t->flags & TD_FLAG_CONJ) != 0);
}
static PyObject *m_is_neg(PyObject *o, PyObject *u)
{
    return PyBool_FromLong((SELF->t->flags & TD_FLAG_NEG) != 0);
}
static PyObject *m_is_inference(PyObject *o, PyObject *u)
{
    return PyBool_FromLong((SELF->t->flags & TD_FLAG_INFERENCE) != 0);
}
static PyObject *m_get_device(PyObject *o, PyObject *u) { return PyLong_FromLong(-1); }
static PyObject *m_is_view(PyObject *o, PyObject *u) { return PyBool_FromLong(SELF->base != NULL); }

static PyObject *m_is_contiguous(PyObject *o, PyObject *const *a, Py_ssize_t n, PyObject *kw)
{
    PyObject *format = NULL;
    int code = 0;
    if (only("is_contiguous", "memory_format", a, n, kw, &format) < 0) return NULL;
    if (format && !td_memory_format_from(format, &code))
        return PyErr_Format(PyExc_TypeError,
                            "is_contiguous(): memory_format must be taeda.memory_format, not %S",
                            Py_TYPE(format));
    if (SELF->layout == TD_QUANTIZED)
        return ask_integers(o, "is_contiguous", format ? format : Py_None);
    if (td_has_parts(SELF)) Py_RETURN_FALSE;
    if (code == 1)
        return PyErr_Format(PyExc_RuntimeError,
                            "preserve memory format is unsupported by the contiguous operator");
    if (code == 2 || code == 3)
        return PyBool_FromLong(SELF->t->ndim == code + 2 && td_is_channels_last(SELF->t));
    return PyBool_FromLong(td_is_contiguous(SELF->t));
}

static PyObject *m_requires_grad_(PyObject *o, PyObject *const *a, Py_ssize_t n, PyObject *kw)
{
    PyObject *yes = Py_True;
    if (only("requires_grad_", "requires_grad", a, n, kw, &yes) < 0) return NULL;
    return td_set_requires_grad(o, yes, NULL) < 0 ? NULL : Py_NewRef(o);
}
static PyObject *m_set_retains(PyObject *o, PyObject *on)
{
    SELF->retains_grad = on == Py_True;
    Py_RETURN_NONE;
}
static PyObject *m_bump(PyObject *o, PyObject *u)
{
    td_note_untraced("a version is counted up");
    td_version_bump(SELF->t);
    Py_RETURN_NONE;
}
static PyObject *m_is_set_to(PyObject *o, PyObject *other)
{
    if (!td_is_tensor(other))
        return PyErr_Format(PyExc_TypeError, "is_set_to(): wanted a Tensor, got %S",
                            Py_TYPE(other));
    return PyBool_FromLong(td_same_layout(SELF->t, TD_T(other)));
}

/* _make_subclass(cls, data, requires_grad=False): an object of `cls` on the memory of `data`,
 * outside its history */
static PyObject *m_make_subclass(PyObject *unused, PyObject *args)
{
    PyObject *cls, *o;
    int on = 0;
    if (!PyArg_ParseTuple(args, "OO|p:_make_subclass", &cls, &o, &on)) return NULL;
    if (!PyType_Check(cls) || !PyType_IsSubtype((PyTypeObject *)cls, TensorT))
        return PyErr_Format(PyExc_TypeError, "_make_subclass: wanted a subclass of Tensor, got %R",
                            cls);
    if (!td_is_tensor(o))
        return PyErr_Format(PyExc_TypeError, "_make_subclass: wanted a Tensor, got %S", Py_TYPE(o));
    int same = td_has_parts(SELF) && (cls == (PyObject *)TensorT || cls == (PyObject *)ParameterT);
    if (SELF->dispatches >= TD_DISPATCHES_CLAIM && !same)
        return td_refuse_memory(o, "_make_subclass()");
    td_tensor *t;
    TD_PY(td_tensor_alias(&t, SELF->t));
    t->flags &= (uint8_t)~TD_FLAG_WRAPPED;
    PyObject *made = td_wrap_as((PyTypeObject *)cls, t);
    if (made && same) td_give_parts((PyTensor *)made, SELF->layout, SELF->dispatches, SELF->parts);
    if (made && SELF->named) td_give_names((PyTensor *)made, SELF->parts);
    if (made && on && td_set_requires_grad(made, Py_True, NULL) < 0) Py_CLEAR(made);
    return made;
}

/* _make_wrapper(cls, sizes, strides or None, offset, dtype, device, requires_grad): a tensor
 * without memory that says it has all these */
static PyObject *m_make_wrapper(PyObject *unused, PyObject *args)
{
    PyObject *cls, *size, *stride, *dtype, *device;
    int64_t sizes[TD_MAX_DIMS], strides[TD_MAX_DIMS];
    long long offset;
    td_dtype d;
    td_device place;
    int on;
    if (!PyArg_ParseTuple(args, "OO!OLOOp:_make_wrapper", &cls, &PyTuple_Type, &size, &stride,
                          &offset, &dtype, &device, &on))
        return NULL;
    if (!PyType_Check(cls) || !PyType_IsSubtype((PyTypeObject *)cls, TensorT))
        return PyErr_Format(PyExc_TypeError,
                            "_make_wrapper_subclass: wanted a subclass of Tensor, got %R", cls);
    if (!td_dtype_from(dtype, &d))
        return PyErr_Format(PyExc_TypeError,
                            "_make_wrapper_subclass: dtype must be taeda.dtype, not %R",
                            Py_TYPE(dtype));
    int known = td_device_from(device, &place);
    if (known != 1)
        return known < 0
                   ? NULL
                   : PyErr_Format(PyExc_TypeError,
                                  "_make_wrapper_subclass: device must be taeda.device, not %R",
                                  Py_TYPE(device));
    Py_ssize_t n = PyTuple_Size(size);
    if (n > TD_MAX_DIMS)
        return PyErr_Format(PyExc_RuntimeError, "a tensor has at most %d dimensions, but got %zd",
                            TD_MAX_DIMS, n);
    if (stride != Py_None && (!PyTuple_Check(stride) || PyTuple_Size(stride) != n))
        return PyErr_Format(
            PyExc_RuntimeError,
            "dimensionality of sizes (%zd) must match dimensionality of strides, got %R", n,
            stride);
    for (Py_ssize_t i = 0; i < n; i++) {
        int got = td_int_from(PyTuple_GetItem(size, i), &sizes[i]);
        if (got == 1 && stride != Py_None)
            got = td_int_from(PyTuple_GetItem(stride, i), &strides[i]);
        if (got != 1)
            return got < 0 ? NULL
                           : PyErr_Format(PyExc_TypeError,
                                          "_make_wrapper_subclass: sizes and strides are ints");
    }
    if (offset < 0)
        return PyErr_Format(PyExc_RuntimeError,
                            "_make_wrapper_subclass: storage_offset must not be negative, got %lld",
                            offset);
    td_tensor *t;
    if (stride == Py_None) TD_PY(td_tensor_empty(&t, d, TD_META, (int)n, sizes));
    else TD_PY(td_tensor_empty_strided(&t, d, TD_META, (int)n, sizes, strides));
    t->offset = offset;
    PyObject *made = td_wrap_as((PyTypeObject *)cls, t);
    if (made && !((PyTensor *)made)->dispatches) {
        PyErr_Format(PyExc_TypeError,
                     "_make_wrapper_subclass: %R must define __torch_dispatch__: its tensors have "
                     "no memory, so nothing else could compute with them",
                     cls);
        Py_CLEAR(made);
    }
    if (made) ((PyTensor *)made)->dispatches = (uint8_t)(TD_DISPATCHES_CLAIM + place);
    if (made && on && td_set_requires_grad(made, Py_True, NULL) < 0) Py_CLEAR(made);
    return made;
}

/* _dispatches(): does __torch_dispatch__ of the type compute what is called on this tensor? */
static PyObject *m_dispatches(PyObject *o, PyObject *u)
{
    return PyBool_FromLong(SELF->dispatches != TD_DISPATCHES_NOT);
}

/* _swap(other): exchange everything but identity, attributes and weak references (swap_tensors) */
static PyObject *m_swap(PyObject *o, PyObject *other)
{
    if (!td_is_tensor(other))
        return PyErr_Format(PyExc_TypeError, "_swap: wanted a Tensor, got %S", Py_TYPE(other));
    if (td_check_samples(o, other, "swap_tensors()") < 0) return NULL;
    PyTensor *a = SELF, *b = (PyTensor *)other;
    td_note_untraced("tensors are swapped");
    if (a->accumulate || b->accumulate)
        return PyErr_Format(PyExc_RuntimeError, "cannot swap a tensor that a live graph refers to");
    td_tensor *of_a, *of_b; /* the handles themselves stay with whoever uses them */
    TD_PY(td_tensor_alias(&of_a, a->t));
    td_status status = td_tensor_alias(&of_b, b->t);
    if (status) return td_tensor_free(of_a), td_raise(status);
    td_publish(o, of_b);
    td_publish(other, of_a);
#define TD_SWAP(type, field)  \
    do {                      \
        type keep = a->field; \
        a->field = b->field;  \
        b->field = keep;      \
    } while (0)
    TD_SWAP(PyTensor *, grad);
    TD_SWAP(Node *, node);
    TD_SWAP(PyTensor *, base);
    TD_SWAP(PyObject *, hooks);
    TD_SWAP(PyObject *, dict);
    TD_SWAP(uint32_t, nr);
    TD_SWAP(uint32_t, node_version);
    TD_SWAP(uint8_t, requires_grad);
    TD_SWAP(uint8_t, creation);
    TD_SWAP(uint8_t, retains_grad);
    TD_SWAP(uint8_t, apart);
    TD_SWAP(uint8_t, dispatches);
    TD_SWAP(uint8_t, layout);
    TD_SWAP(uint8_t, named);
    TD_SWAP(PyObject *, parts);
    td_move_duals(a, b);
    Py_RETURN_NONE;
}

static PyObject *m_resize(PyObject *o, PyObject *sizes) /* _resize(tuple) */
{
    int64_t list[TD_MAX_DIMS];
    Py_ssize_t n = PyTuple_Check(sizes) ? PyTuple_Size(sizes) : -1;
    if (n < 0 || n > TD_MAX_DIMS)
        return PyErr_Format(PyExc_TypeError, "resize_: wanted a tuple of at most 64 sizes");
    for (Py_ssize_t i = 0; i < n; i++)
        if (td_int_from(PyTuple_GetItem(sizes, i), &list[i]) != 1)
            return PyErr_Occurred() ? NULL
                                    : PyErr_Format(PyExc_TypeError, "resize_: sizes must be ints");
    if (td_check_samples(o, NULL, "resize_()") < 0) return NULL;
    if (SELF->dispatches) return td_refuse_memory(o, "resize_()");
    if (td_requires_grad(SELF))
        return PyErr_Format(PyExc_RuntimeError, "cannot resize variables that require grad");
    if (n == SELF->t->ndim && !memcmp(list, SELF->t->sizes, (size_t)n * sizeof *list))
        return Py_NewRef(o);
    if (SELF->named) return td_refuse_names("resize_()");
    if (td_resize(o, (int)n, list) < 0) return NULL;
    td_version_bump(SELF->t);
    return Py_NewRef(o);
}

/* Other memory is no function of what was there: gradients would go where no number came from. */
static int check_history(PyObject *o, PyObject *source)
{
    if (!td_here.grad_mode) return 0;
    if (td_check_inplace((PyTensor *)o, "set_") < 0) return -1;
    if (!td_requires_grad((PyTensor *)o) &&
        !(td_is_tensor(source) && td_requires_grad((PyTensor *)source)))
        return 0;
    PyErr_SetString(PyExc_RuntimeError,
                    "set_: a tensor that takes other memory has no derivative, and one of these "
                    "requires grad: call it under no_grad(), or of detach()ed tensors");
    return -1;
}

/* _set(source, sizes, strides, offset): become a view of the storage of `source` */
static PyObject *m_set(PyObject *o, PyObject *args)
{
    PyObject *source, *view;
    if (!PyArg_ParseTuple(args, "OO", &source, &view)) return NULL;
    if (!td_is_tensor(view)) return PyErr_Format(PyExc_TypeError, "_set: wanted a Tensor");
    if (td_check_samples(o, view, "set_()") < 0) return NULL;
    if (SELF->dispatches) return td_refuse_memory(o, "set_()");
    if (((PyTensor *)view)->dispatches) return td_refuse_memory(view, "set_()");
    if (SELF->named) return td_refuse_names("set_()");
    if (check_history(o, source) < 0) return NULL;
    td_tensor *t;
    td_note_untraced("a tensor gets other memory");
    TD_PY(td_tensor_alias(&t, TD_T(view)));
    td_version_bump(SELF->t);
    td_publish(o, t);
    td_version_bump(t);
    return Py_NewRef(o);
}

/* ---- what modes and subclasses with a __torch_function__ answer in place of these ---- */
#define ASKED(c_name, name)                                          \
    static PyObject *asked_##c_name(PyObject *o, PyObject *argument) \
    {                                                                \
        if (td_is_asked(o)) return td_ask(o, name, argument);        \
        return m_##c_name(o, argument);                              \
    }
ASKED(dim, "dim")
ASKED(numel, "numel")
ASKED(element_size, "element_size")
ASKED(storage_offset, "storage_offset")
ASKED(data_ptr, "data_ptr")
ASKED(item, "item")
ASKED(tolist, "tolist")
ASKED(is_floating, "is_floating_point")
ASKED(is_complex, "is_complex")
ASKED(is_signed, "is_signed")
ASKED(is_conj, "is_conj")
ASKED(is_neg, "is_neg")
ASKED(is_inference, "is_inference")
ASKED(get_device, "get_device")
ASKED(is_set_to, "is_set_to")

#define ASKED_WITH(c_name)                                                                       \
    static PyObject *asked_##c_name(PyObject *o, PyObject *const *a, Py_ssize_t n, PyObject *kw) \
    {                                                                                            \
        if (td_is_asked(o)) return td_ask_with(o, #c_name, a, n, kw);                            \
        return m_##c_name(o, a, n, kw);                                                          \
    }
ASKED_WITH(size)
ASKED_WITH(stride)
ASKED_WITH(requires_grad_)
ASKED_WITH(is_contiguous)

#define FAST(f) (PyCFunction)(void (*)(void)) f, METH_FASTCALL | METH_KEYWORDS
static PyMethodDef methods[] = {
    {"size", FAST(asked_size),
     "size($self, /, dim=None)\n--\n\nA taeda.Size, or one of its entries.\n\n"
     "Args:\n"
     "    dim: the dimension whose size is wanted, from -n to n - 1 of n, or its name: an int is\n"
     "        returned; None for all (default: None). IndexError outside of the range."},
    {"stride", FAST(asked_stride),
     "stride($self, /, dim=None)\n--\n\nSteps between neighbours, in elements: a tuple, or one of "
     "its entries.\n\n"
     "Args:\n"
     "    dim: the dimension whose step is wanted, from -n to n - 1 of n, or its name: an int is\n"
     "        returned; None for all (default: None). IndexError outside of the range."},
    {"dim", asked_dim, METH_NOARGS, "dim($self, /)\n--\n\nNumber of dimensions."},
    {"ndimension", asked_dim, METH_NOARGS, "ndimension($self, /)\n--\n\nNumber of dimensions."},
    {"numel", asked_numel, METH_NOARGS, "numel($self, /)\n--\n\nNumber of elements."},
    {"nelement", asked_numel, METH_NOARGS, "nelement($self, /)\n--\n\nNumber of elements."},
    {"element_size", asked_element_size, METH_NOARGS,
     "element_size($self, /)\n--\n\nBytes of one element."},
    {"storage_offset", asked_storage_offset, METH_NOARGS,
     "storage_offset($self, /)\n--\n\nFirst element's place in the storage, in elements."},
    {"data_ptr", asked_data_ptr, METH_NOARGS,
     "data_ptr($self, /)\n--\n\nAddress of the first element."},
    {"is_contiguous", FAST(asked_is_contiguous),
     "is_contiguous($self, /, memory_format=...)\n--\n\nRow-major without gaps, or in another "
     "order of dimensions?\n\n"
     "Args:\n"
     "    memory_format: the order that is asked for: taeda.contiguous_format,\n"
     "        taeda.channels_last for four dimensions or taeda.channels_last_3d for five; False "
     "for\n"
     "        tensors with another number of them (default: taeda.contiguous_format).\n"
     "        RuntimeError for taeda.preserve_format, which names no order."},
    {"item", asked_item, METH_NOARGS, "item($self, /)\n--\n\nThe one element as a Python number."},
    {"tolist", asked_tolist, METH_NOARGS,
     "tolist($self, /)\n--\n\nNested lists of Python numbers; a number for a 0-dim tensor."},
    {"is_floating_point", asked_is_floating, METH_NOARGS,
     "is_floating_point($self, /)\n--\n\nIs the dtype a real floating-point one?"},
    {"is_complex", asked_is_complex, METH_NOARGS,
     "is_complex($self, /)\n--\n\nIs the dtype complex?"},
    {"is_signed", asked_is_signed, METH_NOARGS,
     "is_signed($self, /)\n--\n\nCan the dtype hold negative numbers?"},
    {"is_conj", asked_is_conj, METH_NOARGS, "is_conj($self, /)\n--\n\nIs the conjugate bit set?"},
    {"is_neg", asked_is_neg, METH_NOARGS, "is_neg($self, /)\n--\n\nIs the negative bit set?"},
    {"is_inference", asked_is_inference, METH_NOARGS,
     "is_inference($self, /)\n--\n\nWas it made in inference mode?"},
    {"get_device", asked_get_device, METH_NOARGS,
     "get_device($self, /)\n--\n\nOrdinal of the accelerator; -1 for the cpu."},
    {"requires_grad_", FAST(asked_requires_grad_),
     "requires_grad_($self, /, requires_grad=True)\n--\n\nAsk for gradients (or not); returns the "
     "tensor.\n\n"
     "Args:\n"
     "    requires_grad: whether operations on the tensor are recorded (default: True).\n"
     "        RuntimeError for True with integers or booleans, and for False with a result that\n"
     "        was recorded, which detach() takes out."},
    {"is_set_to", asked_is_set_to, METH_O,
     "is_set_to($self, tensor, /)\n--\n\nSame storage, offset, sizes and strides?\n\n"
     "Args:\n"
     "    tensor: the tensor to compare with, of any dtype. TypeError for what is no tensor."},
    {"_is_view", m_is_view, METH_NOARGS,
     "_is_view($self, /)\n--\n\nIs it a view that autograd knows?"},
    {"_set_retains_grad", m_set_retains, METH_O, "Note that .grad is filled for this non-leaf."},
    {"_bump_version", m_bump, METH_NOARGS,
     "_bump_version($self, /)\n--\n\nCount a write that went around the operations."},
    {"_make_subclass", m_make_subclass, METH_VARARGS | METH_STATIC,
     "An object of a subclass on the same memory."},
    {"_make_wrapper", m_make_wrapper, METH_VARARGS | METH_STATIC,
     "A tensor of a subclass without memory; see _make_wrapper_subclass."},
    {"_dispatches", m_dispatches, METH_NOARGS,
     "_dispatches($self, /)\n--\n\nDoes __torch_dispatch__ of its type run its operators?"},
    {"_swap", m_swap, METH_O, "Exchange contents with another tensor."},
    {"_resize", m_resize, METH_O, "Change sizes, growing the storage."},
    {"_set", m_set, METH_VARARGS, "Take over the storage and geometry of another tensor."},
    {0}};
PyMethodDef *td_tensor_methods(void) { return methods; }
