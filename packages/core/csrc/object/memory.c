/* memory.c - the memory of a tensor as others see it through the buffer protocol: numpy,
 * memoryview, files.
 *
 *   Py_buffer ──obj──▶ Memory ──t──▶ a handle on the storage     the tensor object may get another storage meanwhile
 *
 * A consumer of the protocol keeps the exporter that it finds in `obj`; numpy keeps it even when it
 * has given the buffer back. */
#include <limits.h>
#include "object/py.h"
#include "runtime/address.h"
#include "runtime/device.h"
#include "object/watch.h"
#include "runtime/wraps.h"

#define FEW 4 /* dimensions whose sizes need no memory of their own */
typedef struct Memory {
    PyObject_HEAD td_tensor *t;
    Py_ssize_t *dims; /* shape, then strides in bytes */
    Py_ssize_t few[2 * FEW];
} Memory;
static PyTypeObject *MemoryT;
static allocfunc memory_alloc;
static freefunc memory_free;

#define TD_LONG (LONG_MAX > INT32_MAX) /* numpy's int64 is the type long where that has 64 bits */
static const char *const formats[TD_NDTYPES] = {
    [TD_BOOL] = "?", [TD_U8] = "B",   [TD_I8] = "b",
    [TD_I16] = "h",  [TD_I32] = "i",  [TD_I64] = TD_LONG ? "l" : "q",
    [TD_U16] = "H",  [TD_U32] = "I",  [TD_U64] = TD_LONG ? "L" : "Q",
    [TD_F16] = "e",  [TD_F32] = "f",  [TD_F64] = "d",
    [TD_C64] = "Zf", [TD_C128] = "Zd"};

/* A reader of the buffer sees numbers: no other ones than the tensor's, and no write behind
 * autograd's back. */
static int may_share(PyObject *o)
{
    const td_tensor *t = TD_T(o);
    char device[TD_DEVICE_TEXT];
    if (td_has_parts((PyTensor *)o))
        PyErr_SetString(PyExc_BufferError, "a tensor that is not strided has no memory to share: "
                                           "ask its indices and values, or to_dense()");
    else if (((PyTensor *)o)->dispatches)
        PyErr_Format(PyExc_BufferError,
                     "a %R shares no memory: its operators run in __torch_dispatch__. Ask the "
                     "tensors inside it",
                     Py_TYPE(o));
    else if (t->device != TD_CPU || !formats[t->dtype])
        PyErr_Format(PyExc_BufferError, "a %s tensor of dtype %s has no memory to share",
                     td_device_text(t->device, device), td_dtypes[t->dtype].name);
    else if (t->flags & (TD_FLAG_CONJ | TD_FLAG_NEG))
        PyErr_SetString(PyExc_BufferError, "a tensor with conjugate or negative bit does not hold "
                                           "its own values: use resolve_conj().resolve_neg()");
    else if (td_requires_grad(((PyTensor *)o)))
        PyErr_SetString(PyExc_BufferError,
                        "a tensor that requires grad shares its memory by detach() only");
    else return 1;
    return 0;
}

PyObject *td_memory_of(PyObject *tensor)
{
    const td_tensor *t = TD_T(tensor);
    td_note_untraced("memory is shared");
    td_tensor *own; /* no version counter goes along: the last owner may be in another thread */
    TD_PY(td_tensor_on_storage(&own, t->storage, (td_dtype)t->dtype, t->ndim, t->sizes, t->strides,
                               t->offset));
    /* somebody holds the address from now on: the memory may not move */
    own->storage->fixed = own->storage->exported = 1;
    Memory *m = (Memory *)memory_alloc(MemoryT, 0);
    if (!m) {
        td_tensor_free(own);
        return NULL;
    }
    m->t = own;
    m->dims = own->ndim <= FEW ? m->few : PyMem_Malloc(sizeof *m->dims * 2 * (size_t)own->ndim);
    if (!m->dims) return Py_DECREF(m), td_no_memory();
    for (int i = 0; i < own->ndim; i++) {
        m->dims[i] = (Py_ssize_t)own->sizes[i];
        m->dims[own->ndim + i] =
            (Py_ssize_t)td_wrapping_mul(own->strides[i], td_itemsize((td_dtype)own->dtype));
    }
    return (PyObject *)m;
}

static void memory_dealloc(PyObject *o)
{
    PyTypeObject *type = Py_TYPE(o);
    Memory *m = (Memory *)o;
    td_tensor_free(m->t);
    if (m->dims != m->few) PyMem_Free(m->dims);
    memory_free(o);
    Py_DECREF(type);
}

/* ---- what a consumer asks for ---- */
static int is_column_major(const td_tensor *t)
{
    int64_t step = 1;
    for (int i = 0; t->numel && i < t->ndim; i++) {
        if (t->sizes[i] == 1) continue;
        if (t->strides[i] != step) return 0;
        step *= t->sizes[i];
    }
    return 1;
}

static int wants(int flags, int what) { return (flags & what) == what; }

static const char *why_not(const td_tensor *t, int flags)
{
    int rows = td_is_contiguous(t);
    if (wants(flags, PyBUF_C_CONTIGUOUS) && !rows)
        return "the tensor is not contiguous; use contiguous()";
    if (wants(flags, PyBUF_F_CONTIGUOUS) && !is_column_major(t))
        return "the tensor is not contiguous in column-major order; use t().contiguous().t()";
    if (wants(flags, PyBUF_ANY_CONTIGUOUS) && !rows && !is_column_major(t))
        return "the tensor is not contiguous; use contiguous()";
    if (!wants(flags, PyBUF_STRIDES) && !rows)
        return "plain bytes are asked for, and the tensor is not contiguous; use contiguous()";
    if (!wants(flags, PyBUF_ND) && wants(flags, PyBUF_FORMAT))
        return "a format is asked for without a shape";
    if (wants(flags, PyBUF_WRITABLE) && td_may_overlap_itself(t))
        return "some elements of the tensor are one place in memory, which is not offered for "
               "writing; use clone()";
    return NULL;
}

static int get_buffer(PyObject *o, Py_buffer *view, int flags)
{
    static char nothing[16];
    Memory *m = (Memory *)o;
    const td_tensor *t = m->t;
    const char *fault = why_not(t, flags);
    view->obj = NULL;
    if (fault) return PyErr_SetString(PyExc_BufferError, fault), -1;
    int64_t size = td_itemsize((td_dtype)t->dtype);
    /* without dimensions the protocol wants no arrays */
    int shaped = wants(flags, PyBUF_ND), dims = shaped && t->ndim;
    *view = (Py_buffer){.buf = td_data(t) ? td_data(t) : nothing,
                        .obj = Py_NewRef(o),
                        .len = (Py_ssize_t)(t->numel * size),
                        .itemsize = (Py_ssize_t)size,
                        .readonly = td_may_overlap_itself(t),
                        .ndim = shaped ? t->ndim : 1,
                        .format = wants(flags, PyBUF_FORMAT) ? (char *)formats[t->dtype] : NULL,
                        .shape = dims ? m->dims : NULL,
                        .strides = dims && wants(flags, PyBUF_STRIDES) ? m->dims + t->ndim : NULL};
    return 0;
}

int td_get_buffer(PyObject *tensor, Py_buffer *view, int flags)
{
    view->obj = NULL;
    PyObject *m = may_share(tensor) ? td_memory_of(tensor) : NULL;
    int status = m ? get_buffer(m, view, flags) : -1;
    Py_XDECREF(m);
    return status;
}

/* Nothing to do, but numpy takes a type that has this slot at its word, and keeps the buffer
 * instead of the tensor. */
void td_release_buffer(PyObject *tensor, Py_buffer *view) {}

int td_add_memory_type(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_dealloc, memory_dealloc},
        {Py_bf_getbuffer, get_buffer},
        {Py_tp_doc, "The memory of a tensor, for as long as a buffer of it is held."},
        {0}};
    static PyType_Spec spec = {"taeda._native.Memory", sizeof(Memory), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
    MemoryT = (PyTypeObject *)PyType_FromSpec(&spec);
    if (!MemoryT) return -1;
    memory_alloc = (allocfunc)PyType_GetSlot(MemoryT, Py_tp_alloc);
    memory_free = (freefunc)PyType_GetSlot(MemoryT, Py_tp_free);
    return 0;
}

int td_sole_owner(PyObject *o)
{
    return Py_REFCNT(o) == 1 && TD_T(o)->storage->refs == 1 && !((PyTensor *)o)->base &&
           Py_TYPE(o) == TensorT && !td_has_parts((PyTensor *)o);
}
