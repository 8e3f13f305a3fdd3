/* tensor.c - the Tensor type: a Python object that owns a handle, a gradient and a place in the graph. */
#include "autograd/forward.h"
#include "autograd/node.h"

PyTypeObject *TensorT, *ParameterT;
static allocfunc tensor_alloc;
static freefunc tensor_free;

int td_is_tensor(PyObject *o) { return td_is_exact(o) || PyObject_TypeCheck(o, TensorT); }

PyObject *td_wrap(td_tensor *t) { return td_wrap_as(TensorT, t); }

PyObject *td_wrap_as(PyTypeObject *type, td_tensor *t)
{
    PyTensor *p = (PyTensor *)(type == TensorT ? tensor_alloc(TensorT, 0) : ((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0));
    if (!p) {
        td_tensor_free(t);
        return NULL;
    }
    p->t = t; /* the rest is zero */
    return (PyObject *)p;
}

static int tensor_clear(PyObject *o)
{
    PyTensor *p = (PyTensor *)o;
    Py_CLEAR(p->grad);
    Py_CLEAR(p->node);
    Py_CLEAR(p->base);
    if (p->dual) td_set_tangent(p, NULL);
    Py_CLEAR(p->hooks);
    Py_CLEAR(p->dict);
    return 0;
}

static int tensor_traverse(PyObject *o, visitproc visit, void *arg)
{
    PyTensor *p = (PyTensor *)o;
    Py_VISIT((PyObject *)p->grad);
    Py_VISIT((PyObject *)p->node);
    Py_VISIT((PyObject *)p->base);
    if (p->dual) Py_VISIT((PyObject *)p->dual->tangent);
    Py_VISIT(p->hooks);
    Py_VISIT(p->dict);
    Py_VISIT((PyObject *)Py_TYPE(o));
    return 0;
}

static void tensor_dealloc(PyObject *o)
{
    PyTensor *p = (PyTensor *)o;
    PyTypeObject *type = Py_TYPE(o);
    PyObject_GC_UnTrack(o);
    if (p->weaklist) PyObject_ClearWeakRefs(o);
    tensor_clear(o);
    td_tensor_free(p->t);
    (type == TensorT ? tensor_free : (freefunc)PyType_GetSlot(type, Py_tp_free))(o);
    Py_DECREF(type);
}

static PyObject *tensor_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    PyObject *module = PyImport_ImportModule("taeda._legacy_types"), *call = module ? PyObject_GetAttrString(module, "legacy_new") : NULL;
    Py_XDECREF(module);
    if (!call) return NULL;
    Py_ssize_t n = PyTuple_Size(args);
    PyObject *all = PyTuple_New(n + 1), *made = NULL;
    if (all) {
        PyTuple_SetItem(all, 0, Py_NewRef((PyObject *)type));
        for (Py_ssize_t i = 0; i < n; i++) PyTuple_SetItem(all, i + 1, Py_NewRef(PyTuple_GetItem(args, i)));
        made = PyObject_Call(call, all, kw);
        Py_DECREF(all);
    }
    Py_DECREF(call);
    return made;
}

static int tensor_init(PyObject *o, PyObject *args, PyObject *kw) { return 0; } /* all is done in new */

/* ---- facts ---- */
#define SELF ((PyTensor *)o)
static PyObject *get_shape(PyObject *o, void *c) { return td_size_object(SELF->t->ndim, SELF->t->sizes); }
static PyObject *get_dtype(PyObject *o, void *c) { return td_dtype_object((td_dtype)SELF->t->dtype); }
static PyObject *get_device(PyObject *o, void *c) { return td_device_object((td_device)SELF->t->device); }
static PyObject *get_layout(PyObject *o, void *c) { return td_layout_object(); }
static PyObject *get_ndim(PyObject *o, void *c) { return PyLong_FromLong(SELF->t->ndim); }
static PyObject *get_itemsize(PyObject *o, void *c) { return PyLong_FromLongLong(td_itemsize((td_dtype)SELF->t->dtype)); }
static PyObject *get_nbytes(PyObject *o, void *c) { return PyLong_FromLongLong(SELF->t->numel * td_itemsize((td_dtype)SELF->t->dtype)); }
static PyObject *get_version(PyObject *o, void *c)
{
    if (SELF->t->flags & TD_FLAG_INFERENCE) return PyErr_Format(PyExc_RuntimeError, "Inference tensors do not track version counter.");
    return PyLong_FromUnsignedLong(td_version_of(SELF->t));
}
static PyObject *get_base(PyObject *o, void *c) { return Py_NewRef(SELF->base ? (PyObject *)SELF->base : Py_None); }
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
static PyObject *get_requires_grad(PyObject *o, void *c) { return PyBool_FromLong(td_requires_grad(SELF)); }
static PyObject *get_retains_grad(PyObject *o, void *c) { return PyBool_FromLong(SELF->retains_grad); }
static PyObject *get_hooks(PyObject *o, void *c) { return Py_NewRef(SELF->hooks ? SELF->hooks : Py_None); }
static int set_hooks(PyObject *o, PyObject *v, void *c) { Py_XSETREF(SELF->hooks, v ? Py_NewRef(v) : NULL); return 0; }

static int set_requires_grad(PyObject *o, PyObject *v, void *c)
{
    if (!v || !PyBool_Check(v)) return PyErr_Format(PyExc_RuntimeError, "requires_grad must be a bool"), -1;
    int on = v == Py_True;
    td_dtype d = (td_dtype)SELF->t->dtype;
    if (SELF->node && !on) {
        PyErr_SetString(PyExc_RuntimeError, "you can only change requires_grad flags of leaf variables. If you want to use a computed variable "
                        "in a subgraph that doesn't require differentiation use var_no_grad = var.detach().");
        return -1;
    }
    if (SELF->node) return 0;
    if (on && !td_is_floating(d) && !td_is_complex(d)) {
        PyErr_Format(PyExc_RuntimeError, "only Tensors of floating point and complex dtype can require gradients, this one is %s", td_dtypes[d].name);
        return -1;
    }
    if (on && SELF->t->flags & TD_FLAG_INFERENCE && !td_here.inference_mode) {
        PyErr_SetString(PyExc_RuntimeError, "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
        return -1;
    }
    if (on && td_load_rules() < 0) return -1;
    SELF->requires_grad = (uint8_t)on;
    return 0;
}

static PyObject *get_grad(PyObject *o, void *c)
{
    if (!SELF->grad && SELF->node && !SELF->retains_grad &&
        PyErr_WarnEx(PyExc_UserWarning, "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
                     "populated during autograd.backward(). Call .retain_grad() on the non-leaf Tensor to have it.", 1) < 0) return NULL;
    return Py_NewRef(SELF->grad ? (PyObject *)SELF->grad : Py_None);
}

static int set_grad(PyObject *o, PyObject *v, void *c)
{
    if (!v || v == Py_None) {
        Py_CLEAR(SELF->grad);
        return 0;
    }
    char have[TD_SHAPE_TEXT], want[TD_SHAPE_TEXT];
    if (!td_is_tensor(v)) return PyErr_Format(PyExc_TypeError, "assigned grad expected to be a Tensor or None but got grad of type %S", Py_TYPE(v)), -1;
    const td_tensor *g = TD_T(v), *t = SELF->t;
    if (v == o) PyErr_SetString(PyExc_RuntimeError, "can't assign Variable as its own grad");
    else if (g->dtype != t->dtype)
        PyErr_Format(PyExc_RuntimeError, "assigned grad has data of a different type: %s, wanted %s", td_dtypes[g->dtype].name, td_dtypes[t->dtype].name);
    else if (g->device != t->device) PyErr_SetString(PyExc_RuntimeError, "assigned grad has data located on a different device");
    else if (!td_same_shape(g, t))
        PyErr_Format(PyExc_RuntimeError, "assigned grad has data of a different size: %s, wanted %s", td_shape_text(g->ndim, g->sizes, have),
                     td_shape_text(t->ndim, t->sizes, want));
    if (PyErr_Occurred()) return -1;
    Py_XSETREF(SELF->grad, (PyTensor *)Py_NewRef(v));
    return 0;
}

/* .data: the same memory with a version counter of its own, so that writes through it go unnoticed */
static PyObject *get_data(PyObject *o, void *c)
{
    td_tensor *t;
    TD_PY(td_tensor_alias(&t, SELF->t));
    td_status status = td_tensor_detach_version(t);
    if (!status) return td_wrap(t);
    td_tensor_free(t);
    return td_raise(status);
}

static int set_data(PyObject *o, PyObject *v, void *c)
{
    td_tensor *t;
    if (!v || !td_is_tensor(v)) return PyErr_Format(PyExc_TypeError, "Variable data has to be a tensor, but got %S", v ? (PyObject *)Py_TYPE(v) : Py_None), -1;
    if (td_requires_grad(SELF) && !td_is_floating((td_dtype)TD_T(v)->dtype) && !td_is_complex((td_dtype)TD_T(v)->dtype)) {
        PyErr_SetString(PyExc_RuntimeError, "data set to a tensor that requires gradients must be floating point or complex dtype");
        return -1;
    }
    td_status status = td_tensor_alias(&t, TD_T(v));
    if (status) return td_raised(status);
    td_tensor_free(SELF->t);
    SELF->t = t;
    Py_CLEAR(SELF->base);
    if (SELF->accumulate) return td_node_set_out(SELF->accumulate, 0, t);
    return 0;
}

/* ---- methods ---- */
static PyObject *m_size(PyObject *o, PyObject *const *a, Py_ssize_t n, PyObject *kw)
{
    PyObject *which = n ? a[0] : kw && PyTuple_Size(kw) ? a[n] : Py_None;
    if (which == Py_None) return get_shape(o, NULL);
    int64_t dim, at;
    int status = td_int_from(which, &dim);
    if (status != 1) return status < 0 ? NULL : PyErr_Format(PyExc_TypeError, "size(): argument 'dim' must be int, not %S", Py_TYPE(which));
    if (!SELF->t->ndim) return PyErr_Format(PyExc_IndexError, "Dimension specified as %lld but tensor has no dimensions", (long long)dim);
    TD_PY(td_wrap_dim(dim, SELF->t->ndim, &at));
    return PyLong_FromLongLong(SELF->t->sizes[at]);
}
static PyObject *m_stride(PyObject *o, PyObject *const *a, Py_ssize_t n, PyObject *kw)
{
    PyObject *which = n ? a[0] : kw && PyTuple_Size(kw) ? a[n] : Py_None;
    if (which == Py_None) return td_ints_object(SELF->t->ndim, SELF->t->strides);
    int64_t dim, at;
    int status = td_int_from(which, &dim);
    if (status != 1) return status < 0 ? NULL : PyErr_Format(PyExc_TypeError, "stride(): argument 'dim' must be int, not %S", Py_TYPE(which));
    if (!SELF->t->ndim) return PyErr_Format(PyExc_IndexError, "Dimension specified as %lld but tensor has no dimensions", (long long)dim);
    TD_PY(td_wrap_dim(dim, SELF->t->ndim, &at));
    return PyLong_FromLongLong(SELF->t->strides[at]);
}
static PyObject *m_dim(PyObject *o, PyObject *u) { return PyLong_FromLong(SELF->t->ndim); }
static PyObject *m_numel(PyObject *o, PyObject *u) { return PyLong_FromLongLong(SELF->t->numel); }
static PyObject *m_element_size(PyObject *o, PyObject *u) { return get_itemsize(o, NULL); }
static PyObject *m_storage_offset(PyObject *o, PyObject *u) { return PyLong_FromLongLong(SELF->t->offset); }
static PyObject *m_data_ptr(PyObject *o, PyObject *u) { return PyLong_FromVoidPtr(SELF->t->numel ? td_data(SELF->t) : NULL); }
static PyObject *m_item(PyObject *o, PyObject *u) { return td_item(SELF->t); }
static PyObject *m_tolist(PyObject *o, PyObject *u) { return td_tolist(SELF->t); }
static PyObject *m_is_floating(PyObject *o, PyObject *u) { return PyBool_FromLong(td_is_floating((td_dtype)SELF->t->dtype)); }
static PyObject *m_is_complex(PyObject *o, PyObject *u) { return PyBool_FromLong(td_is_complex((td_dtype)SELF->t->dtype)); }
static PyObject *m_is_signed(PyObject *o, PyObject *u) { return PyBool_FromLong(td_dtypes[SELF->t->dtype].is_signed); }
static PyObject *m_is_conj(PyObject *o, PyObject *u) { return PyBool_FromLong((SELF->t->flags & TD_FLAG_CONJ) != 0); }
static PyObject *m_is_neg(PyObject *o, PyObject *u) { return PyBool_FromLong((SELF->t->flags & TD_FLAG_NEG) != 0); }
static PyObject *m_is_inference(PyObject *o, PyObject *u) { return PyBool_FromLong((SELF->t->flags & TD_FLAG_INFERENCE) != 0); }
static PyObject *m_get_device(PyObject *o, PyObject *u) { return PyLong_FromLong(-1); }
static PyObject *m_is_view(PyObject *o, PyObject *u) { return PyBool_FromLong(SELF->base != NULL); }

static PyObject *m_is_contiguous(PyObject *o, PyObject *args, PyObject *kw)
{
    static char *names[] = {"memory_format", NULL};
    PyObject *format = NULL;
    int code = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kw, "|O:is_contiguous", names, &format)) return NULL;
    if (format && format != Py_None && !td_memory_format_from(format, &code))
        return PyErr_Format(PyExc_TypeError, "is_contiguous(): memory_format must be taeda.memory_format, not %S", Py_TYPE(format));
    if (code == 1) return PyErr_Format(PyExc_RuntimeError, "preserve memory format is unsupported by the contiguous operator");
    if (code == 2 || code == 3) return PyBool_FromLong(SELF->t->ndim == code + 2 && td_is_channels_last(SELF->t));
    return PyBool_FromLong(td_is_contiguous(SELF->t));
}

static PyObject *m_requires_grad_(PyObject *o, PyObject *const *a, Py_ssize_t n, PyObject *kw)
{
    PyObject *on = n ? a[0] : kw && PyTuple_Size(kw) ? a[n] : Py_True;
    return set_requires_grad(o, on, NULL) < 0 ? NULL : Py_NewRef(o);
}
static PyObject *m_set_retains(PyObject *o, PyObject *on)
{
    SELF->retains_grad = on == Py_True;
    Py_RETURN_NONE;
}
static PyObject *m_bump(PyObject *o, PyObject *u)
{
    td_version_bump(SELF->t);
    Py_RETURN_NONE;
}
static PyObject *m_is_set_to(PyObject *o, PyObject *other)
{
    if (!td_is_tensor(other)) return PyErr_Format(PyExc_TypeError, "is_set_to(): wanted a Tensor, got %S", Py_TYPE(other));
    return PyBool_FromLong(td_same_layout(SELF->t, TD_T(other)));
}

/* _make_subclass(cls, data, requires_grad=False): an object of `cls` on the memory of `data`, outside its history */
static PyObject *m_make_subclass(PyObject *unused, PyObject *args)
{
    PyObject *cls, *o;
    int on = 0;
    if (!PyArg_ParseTuple(args, "OO|p:_make_subclass", &cls, &o, &on)) return NULL;
    if (!PyType_Check(cls) || !PyType_IsSubtype((PyTypeObject *)cls, TensorT))
        return PyErr_Format(PyExc_TypeError, "_make_subclass: wanted a subclass of Tensor, got %R", cls);
    if (!td_is_tensor(o)) return PyErr_Format(PyExc_TypeError, "_make_subclass: wanted a Tensor, got %S", Py_TYPE(o));
    td_tensor *t;
    TD_PY(td_tensor_alias(&t, SELF->t));
    t->flags &= (uint8_t)~TD_FLAG_WRAPPED;
    PyObject *made = td_wrap_as((PyTypeObject *)cls, t);
    if (made && on && set_requires_grad(made, Py_True, NULL) < 0) Py_CLEAR(made);
    return made;
}

/* _swap(other): exchange everything but identity, attributes and weak references (swap_tensors) */
static PyObject *m_swap(PyObject *o, PyObject *other)
{
    if (!td_is_tensor(other)) return PyErr_Format(PyExc_TypeError, "_swap: wanted a Tensor, got %S", Py_TYPE(other));
    PyTensor *a = SELF, *b = (PyTensor *)other;
    if (a->accumulate || b->accumulate) return PyErr_Format(PyExc_RuntimeError, "cannot swap a tensor that a live graph refers to");
#define TD_SWAP(type, field) do { type keep = a->field; a->field = b->field; b->field = keep; } while (0)
    TD_SWAP(td_tensor *, t);
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
    td_move_duals(a, b);
    Py_RETURN_NONE;
}

int td_resize_handle(td_tensor *t, int ndim, const int64_t *sizes)
{
    int64_t numel, bytes;
    td_status status = td_numel(ndim, sizes, &numel);
    if (!status && (td_add_overflows(numel, t->offset, &bytes) || td_mul_overflows(bytes, td_itemsize((td_dtype)t->dtype), &bytes)))
        status = td_fail(TD_RUNTIME_ERROR, "resize_: the new size overflows 64 bits");
    if (!status && bytes > t->storage->nbytes) status = td_storage_resize(t->storage, bytes);
    if (!status) status = td_tensor_resize_dims(t, ndim, sizes);
    return status ? td_raised(status) : 0;
}

static PyObject *m_resize(PyObject *o, PyObject *sizes) /* _resize(tuple) */
{
    int64_t list[TD_MAX_DIMS];
    Py_ssize_t n = PyTuple_Check(sizes) ? PyTuple_Size(sizes) : -1;
    if (n < 0 || n > TD_MAX_DIMS) return PyErr_Format(PyExc_TypeError, "resize_: wanted a tuple of at most 64 sizes");
    for (Py_ssize_t i = 0; i < n; i++)
        if (td_int_from(PyTuple_GetItem(sizes, i), &list[i]) != 1)
            return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "resize_: sizes must be ints");
    if (td_requires_grad(SELF)) return PyErr_Format(PyExc_RuntimeError, "cannot resize variables that require grad");
    if (td_resize_handle(SELF->t, (int)n, list) < 0) return NULL;
    td_version_bump(SELF->t);
    return Py_NewRef(o);
}

/* _set(source, sizes, strides, offset): become a view of the storage of `source` */
static PyObject *m_set(PyObject *o, PyObject *args)
{
    PyObject *source, *view;
    if (!PyArg_ParseTuple(args, "OO", &source, &view)) return NULL;
    if (!td_is_tensor(view)) return PyErr_Format(PyExc_TypeError, "_set: wanted a Tensor");
    td_tensor *t;
    TD_PY(td_tensor_alias(&t, TD_T(view)));
    td_version_bump(SELF->t);
    td_tensor_free(SELF->t);
    SELF->t = t;
    td_version_bump(t);
    return Py_NewRef(o);
}

static Py_ssize_t tensor_length(PyObject *o)
{
    if (SELF->t->ndim) return (Py_ssize_t)SELF->t->sizes[0];
    PyErr_SetString(PyExc_TypeError, "len() of a 0-d tensor");
    return -1;
}

/* ---- buffer protocol: numpy and memoryview share the memory ---- */
static const char *const formats[TD_NDTYPES] = {
    [TD_BOOL] = "?", [TD_U8] = "B", [TD_I8] = "b", [TD_I16] = "h", [TD_I32] = "i", [TD_I64] = "q", [TD_U16] = "H", [TD_U32] = "I",
    [TD_U64] = "Q", [TD_F16] = "e", [TD_F32] = "f", [TD_F64] = "d", [TD_C64] = "Zf", [TD_C128] = "Zd"};

/* A reader of the buffer sees numbers: no other ones than the tensor's, and no write behind autograd's back. */
static int may_share(PyObject *o)
{
    const td_tensor *t = SELF->t;
    if (td_is_meta(t) || !formats[t->dtype])
        PyErr_Format(PyExc_BufferError, "a %s tensor of dtype %s has no memory to share", td_is_meta(t) ? "meta" : "cpu", td_dtypes[t->dtype].name);
    else if (t->flags & (TD_FLAG_CONJ | TD_FLAG_NEG))
        PyErr_SetString(PyExc_BufferError, "a tensor with conjugate or negative bit does not hold its own values: use resolve_conj().resolve_neg()");
    else if (td_requires_grad(SELF)) PyErr_SetString(PyExc_BufferError, "a tensor that requires grad shares its memory by detach() only");
    else return 1;
    return 0;
}

static int get_buffer(PyObject *o, Py_buffer *view, int flags)
{
    const td_tensor *t = SELF->t;
    view->obj = NULL;
    if (!may_share(o)) return -1;
    t->storage->fixed = t->storage->exported = 1; /* somebody holds the address from now on: the memory may not move */
    Py_ssize_t *dims = PyMem_Malloc(sizeof *dims * 2 * (size_t)(t->ndim + 1));
    if (!dims) return PyErr_NoMemory(), -1;
    int64_t size = td_itemsize((td_dtype)t->dtype);
    for (int i = 0; i < t->ndim; i++) {
        dims[i] = (Py_ssize_t)t->sizes[i];
        dims[t->ndim + i] = (Py_ssize_t)(t->strides[i] * size);
    }
    static char nothing[16];
    *view = (Py_buffer){.buf = td_data(t) ? td_data(t) : nothing, .obj = Py_NewRef(o), .len = (Py_ssize_t)(t->numel * size), .itemsize = (Py_ssize_t)size,
                        .ndim = t->ndim, .format = (char *)formats[t->dtype], .shape = dims, .strides = dims + t->ndim, .internal = dims};
    return 0;
}
static void release_buffer(PyObject *o, Py_buffer *view) { PyMem_Free(view->internal); }

static Py_hash_t tensor_hash(PyObject *o) { return (Py_hash_t)((uintptr_t)o >> 4); }

static PyGetSetDef fields[] = {
    {"shape", get_shape, 0, "Sizes of the dimensions, a taeda.Size.", 0},
    {"dtype", get_dtype, 0, "Type of the elements.", 0},
    {"device", get_device, 0, "Where the memory is.", 0},
    {"layout", get_layout, 0, "taeda.strided.", 0},
    {"ndim", get_ndim, 0, "Number of dimensions.", 0},
    {"itemsize", get_itemsize, 0, "Bytes of one element.", 0},
    {"nbytes", get_nbytes, 0, "Bytes of all elements.", 0},
    {"requires_grad", get_requires_grad, set_requires_grad, "True if gradients are wanted for this tensor.", 0},
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

/* ---- attributes of subclasses: __torch_function__ is asked with Tensor.shape.__get__ and the like ---- */
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

static int is_asked(PyObject *o)
{
    if (td_here.layers & ~td_here.excluded & TD_LAYER_FUNCTION_MODE) return 1;
    return !td_is_exact(o) && !(td_here.excluded & TD_LAYER_OVERRIDE) && own_override(o);
}

static PyObject *ask(PyObject *o, const char *name, const char *slot, PyObject *value)
{
    PyObject *module = PyImport_ImportModule("taeda._dispatch"), *made = NULL;
    PyObject *field = PyObject_GetAttrString((PyObject *)TensorT, name), *call = field ? PyObject_GetAttrString(field, slot) : NULL;
    PyObject *args = value ? PyTuple_Pack(2, o, value) : PyTuple_Pack(1, o);
    if (module && call && args) made = PyObject_CallMethod(module, "dispatch_override", "OO{}", call, args);
    Py_XDECREF(module);
    Py_XDECREF(field);
    Py_XDECREF(call);
    Py_XDECREF(args);
    return made;
}

static PyObject *guarded_get(PyObject *o, void *field)
{
    const PyGetSetDef *own = field;
    return is_asked(o) ? ask(o, own->name, "__get__", NULL) : own->get(o, NULL);
}

static int guarded_set(PyObject *o, PyObject *value, void *field)
{
    const PyGetSetDef *own = field;
    if (!value || !is_asked(o)) return own->set(o, value, NULL);
    PyObject *made = ask(o, own->name, "__set__", value);
    Py_XDECREF(made);
    return made ? 0 : -1;
}

/* what the type gets in place of `fields`; names that begin with an underscore are seen by nobody, but for _base and _version */
static PyGetSetDef *guarded_fields(void)
{
    enum { N = sizeof fields / sizeof *fields };
    static PyGetSetDef guarded[N];
    for (int i = 0; i < N; i++) {
        guarded[i] = fields[i];
        if (!fields[i].name || !strcmp(fields[i].name, "__dict__") || !strcmp(fields[i].name, "_hooks")) continue;
        guarded[i].get = guarded_get;
        guarded[i].set = fields[i].set ? guarded_set : NULL;
        guarded[i].closure = &fields[i];
    }
    return guarded;
}

static PyMemberDef members[] = {{"__weaklistoffset__", T_PYSSIZET, offsetof(PyTensor, weaklist), READONLY},
                                {"__dictoffset__", T_PYSSIZET, offsetof(PyTensor, dict), READONLY}, {0}};
#define FAST(f) (PyCFunction)(void (*)(void))f, METH_FASTCALL | METH_KEYWORDS
static PyMethodDef methods[] = {
    {"size", FAST(m_size), "size(dim=None): a taeda.Size, or one of its entries."},
    {"stride", FAST(m_stride), "stride(dim=None): steps between neighbours, in elements."},
    {"dim", m_dim, METH_NOARGS, "Number of dimensions."},
    {"ndimension", m_dim, METH_NOARGS, "Number of dimensions."},
    {"numel", m_numel, METH_NOARGS, "Number of elements."},
    {"nelement", m_numel, METH_NOARGS, "Number of elements."},
    {"element_size", m_element_size, METH_NOARGS, "Bytes of one element."},
    {"storage_offset", m_storage_offset, METH_NOARGS, "First element's place in the storage, in elements."},
    {"data_ptr", m_data_ptr, METH_NOARGS, "Address of the first element."},
    {"is_contiguous", (PyCFunction)(void (*)(void))m_is_contiguous, METH_VARARGS | METH_KEYWORDS, "Row-major without gaps?"},
    {"item", m_item, METH_NOARGS, "The one element as a Python number."},
    {"tolist", m_tolist, METH_NOARGS, "Nested lists of Python numbers; a number for a 0-dim tensor."},
    {"is_floating_point", m_is_floating, METH_NOARGS, "Is the dtype a real floating-point one?"},
    {"is_complex", m_is_complex, METH_NOARGS, "Is the dtype complex?"},
    {"is_signed", m_is_signed, METH_NOARGS, "Can the dtype hold negative numbers?"},
    {"is_conj", m_is_conj, METH_NOARGS, "Is the conjugate bit set?"},
    {"is_neg", m_is_neg, METH_NOARGS, "Is the negative bit set?"},
    {"is_inference", m_is_inference, METH_NOARGS, "Was it made in inference mode?"},
    {"get_device", m_get_device, METH_NOARGS, "Ordinal of the accelerator; -1 for the cpu."},
    {"requires_grad_", FAST(m_requires_grad_), "Ask for gradients (or not); returns the tensor."},
    {"is_set_to", m_is_set_to, METH_O, "Same storage, offset, sizes and strides?"},
    {"_is_view", m_is_view, METH_NOARGS, "Is it a view that autograd knows?"},
    {"_set_retains_grad", m_set_retains, METH_O, "Note that .grad is filled for this non-leaf."},
    {"_bump_version", m_bump, METH_NOARGS, "Count a write that went around the operations."},
    {"_make_subclass", m_make_subclass, METH_VARARGS | METH_STATIC, "An object of a subclass on the same memory."},
    {"_swap", m_swap, METH_O, "Exchange contents with another tensor."},
    {"_resize", m_resize, METH_O, "Change sizes, growing the storage."},
    {"_set", m_set, METH_VARARGS, "Take over the storage and geometry of another tensor."},
    {0}};
PyMethodDef *td_tensor_methods(void) { return methods; }

int td_add_tensor_type(PyObject *module)
{
    PyType_Slot own[] = {{Py_tp_new, tensor_new}, {Py_tp_init, tensor_init}, {Py_tp_dealloc, tensor_dealloc}, {Py_tp_traverse, tensor_traverse},
                         {Py_tp_clear, tensor_clear}, {Py_tp_getset, guarded_fields()}, {Py_tp_members, members}, {Py_tp_hash, tensor_hash},
                         {Py_tp_methods, td_entry_methods()}, {Py_sq_length, tensor_length}, {Py_mp_length, tensor_length},
                         {Py_mp_subscript, td_getitem}, {Py_mp_ass_subscript, td_setitem}, {Py_bf_getbuffer, get_buffer},
                         {Py_bf_releasebuffer, release_buffer},
                         {Py_tp_doc, "A multi-dimensional array of one dtype, with a place in the graph that backward walks."}, {0}};
    PyType_Slot slots[80];
    int n = 0;
    for (PyType_Slot *s = own; s->slot; s++) slots[n++] = *s;
    for (PyType_Slot *s = td_number_slots; s->slot; s++) slots[n++] = *s;
    slots[n] = (PyType_Slot){0};
    PyType_Spec spec = {"taeda.Tensor", sizeof(PyTensor), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
    if (!(TensorT = (PyTypeObject *)PyType_FromSpec(&spec))) return -1;
    tensor_alloc = (allocfunc)PyType_GetSlot(TensorT, Py_tp_alloc);
    tensor_free = (freefunc)PyType_GetSlot(TensorT, Py_tp_free);
    return PyModule_AddObjectRef(module, "Tensor", (PyObject *)TensorT);
}
