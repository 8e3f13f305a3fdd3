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

static Py_hash_t tensor_hash(PyObject *o) { return (Py_hash_t)((uintptr_t)o >> 4); }

static PyMemberDef members[] = {{"__weaklistoffset__", T_PYSSIZET, offsetof(PyTensor, weaklist), READONLY},
                                {"__dictoffset__", T_PYSSIZET, offsetof(PyTensor, dict), READONLY}, {0}};

int td_add_tensor_type(PyObject *module)
{
    PyType_Slot own[] = {{Py_tp_new, tensor_new}, {Py_tp_init, tensor_init}, {Py_tp_dealloc, tensor_dealloc}, {Py_tp_traverse, tensor_traverse},
                         {Py_tp_clear, tensor_clear}, {Py_tp_getset, td_tensor_fields()}, {Py_tp_members, members}, {Py_tp_hash, tensor_hash},
                         {Py_tp_methods, td_entry_methods()}, {Py_sq_length, tensor_length}, {Py_mp_length, tensor_length},
                         {Py_mp_subscript, td_getitem}, {Py_mp_ass_subscript, td_setitem}, {Py_bf_getbuffer, td_get_buffer},
                         {Py_bf_releasebuffer, td_release_buffer},
                         {Py_tp_doc, "A multi-dimensional array of one dtype, with a place in the graph that backward walks."}, {0}};
    PyType_Slot slots[80];
    int n = 0;
    for (PyType_Slot *s = own; s->slot; s++) slots[n++] = *s;
    for (PyType_Slot *s = td_number_slots; s->slot; s++) slots[n++] = *s;
    slots[n] = (PyType_Slot){0};
    PyType_Spec spec = {"taeda.Tensor", sizeof(PyTensor), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
    if (!(TensorT = (PyTypeObject *)PyType_FromSpec(&spec)) || td_add_memory_type(module) < 0) return -1;
    tensor_alloc = (allocfunc)PyType_GetSlot(TensorT, Py_tp_alloc);
    tensor_free = (freefunc)PyType_GetSlot(TensorT, Py_tp_free);
    return PyModule_AddObjectRef(module, "Tensor", (PyObject *)TensorT);
}
