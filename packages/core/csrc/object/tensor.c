/* tensor.c - a tensor as a Python object: it owns a handle, a gradient and a place in the graph;
 * its life, and its memory as a buffer. */
#include "runtime/device.h"
#include "object/forward.h"
#include "runtime/thread_local.h"

PyTypeObject *TensorT, *ParameterT;
uint64_t td_gradients_set;
static allocfunc tensor_alloc;
static freefunc tensor_free;

int td_is_tensor(PyObject *o) { return td_is_exact(o) || PyObject_TypeCheck(o, TensorT); }

/* Has it a __torch_dispatch__ of its own? Tensor's only says that there is none. Rare, so kept out
 * of line. */
static __attribute__((noinline)) int type_dispatches(PyTypeObject *type)
{
    PyObject *own = PyObject_GetAttrString((PyObject *)type, "__torch_dispatch__");
    PyObject *none = own ? PyObject_GetAttrString((PyObject *)TensorT, "__torch_dispatch__") : NULL;
    if (!none) PyErr_Clear(); /* while the module starts */
    int yes = none && own != none;
    Py_XDECREF(own);
    Py_XDECREF(none);
    return yes;
}

static inline PyObject *hold(PyTensor *p, td_tensor *t)
{
    if (!p) {
        td_tensor_free(t);
        return NULL;
    }
    p->t = t; /* the rest is zero */
    return (PyObject *)p;
}

PyObject *td_wrap(td_tensor *t) { return hold((PyTensor *)tensor_alloc(TensorT, 0), t); }

PyObject *td_wrap_claiming(PyTypeObject *type, td_tensor *t, td_device device)
{
    PyObject *o = hold((PyTensor *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0), t);
    if (o) ((PyTensor *)o)->dispatches = (uint8_t)(TD_DISPATCHES_CLAIM + device);
    return o;
}

PyObject *td_wrap_as(PyTypeObject *type, td_tensor *t)
{
    if (type == TensorT) return td_wrap(t);
    PyObject *o = hold((PyTensor *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0), t);
    if (o && type != ParameterT && type_dispatches(type))
        ((PyTensor *)o)->dispatches = TD_DISPATCHES;
    return o;
}

static int tensor_clear(PyObject *o)
{
    PyTensor *p = (PyTensor *)o;
    Py_CLEAR(p->grad);
    Py_CLEAR(p->node);
    Py_CLEAR(p->base);
    if (p->dual) td_forward.set_tangent(p, NULL);
    Py_CLEAR(p->hooks);
    Py_CLEAR(p->dict);
    Py_CLEAR(p->parts);
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
    Py_VISIT(p->parts);
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

/* Tensors that hold tensors (.grad, the base, a tangent) die one by one from this list, as nodes
 * do: dealloc never recurses along a chain. The list is linked through `accumulate`, which is NULL
 * in a dead tensor: such a node would keep the tensor. */
static TD_THREAD_LOCAL PyTensor *dead;
static TD_THREAD_LOCAL int burying;
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

PyObject *td_refuse_memory(PyObject *o, const char *what)
{
    if (((PyTensor *)o)->layout == TD_QUANTIZED)
        return PyErr_Format(
            PyExc_RuntimeError,
            ".%s is not supported for a quantized tensor: ask its int_repr() or dequantize()",
            what);
    if (((PyTensor *)o)->layout >= TD_JAGGED)
        return PyErr_Format(PyExc_RuntimeError,
                            ".%s is not supported for a %S: it has no memory of its own. Ask the "
                            "tensors that it is made of",
                            what, Py_TYPE(o));
    if (td_has_parts((PyTensor *)o)) {
        PyObject *layout = td_layout_object(((PyTensor *)o)->layout);
        PyErr_Format(PyExc_RuntimeError,
                     ".%s is not supported for a tensor of layout %S: it has no memory of its own. "
                     "Ask its indices and values, or to_dense()",
                     what, layout);
        Py_DECREF(layout);
        return NULL;
    }
    return PyErr_Format(
        PyExc_RuntimeError,
        ".%s is not supported for tensor subclasses whose operators run in __torch_dispatch__, got "
        "%R: its memory, if it has some, is not what it stands for. Ask the tensors inside it",
        what, Py_TYPE(o));
}

PyObject *td_refuse_names(const char *what)
{
    return PyErr_Format(PyExc_RuntimeError,
                        "%s: the dimensions of this tensor have names, and would become others. "
                        "Take the names away first: tensor.rename_(None)",
                        what);
}

static Py_hash_t tensor_hash(PyObject *o) { return (Py_hash_t)((uintptr_t)o >> 4); }

static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyTensor, weaklist), READONLY},
    {"__dictoffset__", T_PYSSIZET, offsetof(PyTensor, dict), READONLY},
    {0}};

/* what a tensor is as an object, whatever its fields and methods */
PyType_Slot td_object_slots[] = {{Py_tp_dealloc, tensor_dealloc},
                                 {Py_tp_traverse, tensor_traverse},
                                 {Py_tp_clear, tensor_clear},
                                 {Py_tp_members, members},
                                 {Py_tp_hash, tensor_hash},
                                 {Py_bf_getbuffer, td_get_buffer},
                                 {Py_bf_releasebuffer, td_release_buffer},
                                 {0}};

void td_set_tensor_type(PyTypeObject *type)
{
    TensorT = type;
    tensor_alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    tensor_free = (freefunc)PyType_GetSlot(type, Py_tp_free);
}
