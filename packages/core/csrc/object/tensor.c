/* tensor.c - the Tensor type: a Python object that owns a handle, a gradient and a place in the graph. */
#include "runtime/device.h"
#include "backward/forward.h"
#include "graph/node.h"

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

static void bury(PyTensor *p)
{
    PyObject *o = (PyObject *)p;
    PyTypeObject *type = Py_TYPE(o);
    tensor_clear(o);
    td_tensor_free(p->t);
    (type == TensorT ? tensor_free : (freefunc)PyType_GetSlot(type, Py_tp_free))(o);
    Py_DECREF(type);
}

/* Tensors that hold tensors (.grad, the base, a tangent) die one by one from this list, as nodes do: dealloc never recurses along a
 * chain. The list is linked through `accumulate`, which is NULL in a dead tensor: such a node would keep the tensor. */
static _Thread_local PyTensor *dead;
static _Thread_local int burying;
static void tensor_dealloc(PyObject *o)
{
    PyTensor *p = (PyTensor *)o;
    PyObject_GC_UnTrack(o);
    if (p->weaklist) PyObject_ClearWeakRefs(o);
    if (!p->grad && !p->base && !p->dual) {
        bury(p);
        return;
    }
    p->accumulate = (Node *)dead;
    dead = p;
    if (burying) return;
    burying = 1;
    while ((p = dead)) {
        dead = (PyTensor *)p->accumulate;
        p->accumulate = NULL;
        bury(p);
    }
    burying = 0;
}

static PyObject *tensor_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static PyObject *legacy_new;
    if (!td_python_function(&legacy_new, "taeda._legacy_types", "legacy_new")) return NULL;
    Py_ssize_t n = PyTuple_Size(args);
    PyObject *all = PyTuple_New(n + 1);
    if (!all) return NULL;
    PyTuple_SetItem(all, 0, Py_NewRef((PyObject *)type));
    for (Py_ssize_t i = 0; i < n; i++) PyTuple_SetItem(all, i + 1, Py_NewRef(PyTuple_GetItem(args, i)));
    PyObject *made = PyObject_Call(legacy_new, all, kw);
    Py_DECREF(all);
    return made;
}

static int tensor_init(PyObject *o, PyObject *args, PyObject *kw) { return 0; } /* all is done in new */

static Py_ssize_t tensor_length(PyObject *o)
{
    if (TD_T(o)->ndim) return (Py_ssize_t)TD_T(o)->sizes[0];
    PyErr_SetString(PyExc_TypeError, "len() of a 0-d tensor");
    return -1;
}

/* ---- buffer protocol: numpy and memoryview share the memory ---- */
#define TD_LONG (LONG_MAX > INT32_MAX) /* numpy's int64 is the type long where that has 64 bits */
static const char *const formats[TD_NDTYPES] = {
    [TD_BOOL] = "?", [TD_U8] = "B", [TD_I8] = "b", [TD_I16] = "h", [TD_I32] = "i", [TD_I64] = TD_LONG ? "l" : "q", [TD_U16] = "H",
    [TD_U32] = "I", [TD_U64] = TD_LONG ? "L" : "Q", [TD_F16] = "e", [TD_F32] = "f", [TD_F64] = "d", [TD_C64] = "Zf", [TD_C128] = "Zd"};

/* A reader of the buffer sees numbers: no other ones than the tensor's, and no write behind autograd's back. */
static int may_share(PyObject *o)
{
    const td_tensor *t = TD_T(o);
    char device[TD_DEVICE_TEXT];
    if (t->device != TD_CPU || !formats[t->dtype])
        PyErr_Format(PyExc_BufferError, "a %s tensor of dtype %s has no memory to share", td_device_text(t->device, device), td_dtypes[t->dtype].name);
    else if (t->flags & (TD_FLAG_CONJ | TD_FLAG_NEG))
        PyErr_SetString(PyExc_BufferError, "a tensor with conjugate or negative bit does not hold its own values: use resolve_conj().resolve_neg()");
    else if (td_requires_grad(((PyTensor *)o))) PyErr_SetString(PyExc_BufferError, "a tensor that requires grad shares its memory by detach() only");
    else return 1;
    return 0;
}

static int get_buffer(PyObject *o, Py_buffer *view, int flags)
{
    const td_tensor *t = TD_T(o);
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

static PyMemberDef members[] = {{"__weaklistoffset__", T_PYSSIZET, offsetof(PyTensor, weaklist), READONLY},
                                {"__dictoffset__", T_PYSSIZET, offsetof(PyTensor, dict), READONLY}, {0}};

int td_add_tensor_type(PyObject *module)
{
    PyType_Slot own[] = {{Py_tp_new, tensor_new}, {Py_tp_init, tensor_init}, {Py_tp_dealloc, tensor_dealloc}, {Py_tp_traverse, tensor_traverse},
                         {Py_tp_clear, tensor_clear}, {Py_tp_getset, td_tensor_fields()}, {Py_tp_members, members}, {Py_tp_hash, tensor_hash},
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
