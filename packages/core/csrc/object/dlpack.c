/* dlpack.c - memory shared with other array libraries through DLPack capsules, both ways.
 *
 *   to_dlpack    capsule ──▶ struct ──context──▶ an alias of the tensor      one struct holds one reference to the storage
 *   from_dlpack  storage ──context──▶ struct of the producer                 and gives it back by its deleter, once
 *
 * A capsule whose name is still the first one belongs to the interpreter, and its end is the
 * struct's end; whoever takes the struct renames the capsule. Everything is checked before that, so
 * a refused capsule stays whole. */
#include "object/dlpack.h"
#include "object/watch.h"
#include "runtime/address.h"
#include "runtime/device.h"

static const dl_type types[TD_NDTYPES] = {[TD_BOOL] = {DL_BOOL, 8, 1},
                                          [TD_U8] = {DL_UINT, 8, 1},
                                          [TD_I8] = {DL_INT, 8, 1},
                                          [TD_I16] = {DL_INT, 16, 1},
                                          [TD_I32] = {DL_INT, 32, 1},
                                          [TD_I64] = {DL_INT, 64, 1},
                                          [TD_U16] = {DL_UINT, 16, 1},
                                          [TD_U32] = {DL_UINT, 32, 1},
                                          [TD_U64] = {DL_UINT, 64, 1},
                                          [TD_F16] = {DL_FLOAT, 16, 1},
                                          [TD_BF16] = {DL_BFLOAT, 16, 1},
                                          [TD_F32] = {DL_FLOAT, 32, 1},
                                          [TD_F64] = {DL_FLOAT, 64, 1},
                                          [TD_C32] = {DL_COMPLEX, 32, 1},
                                          [TD_C64] = {DL_COMPLEX, 64, 1},
                                          [TD_C128] = {DL_COMPLEX, 128, 1},
                                          [TD_F8_E4M3FN] = {DL_E4M3FN, 8, 1},
                                          [TD_F8_E5M2] = {DL_E5M2, 8, 1},
                                          [TD_F8_E4M3FNUZ] = {DL_E4M3FNUZ, 8, 1},
                                          /* lanes 0: no such thing there */
                                          [TD_F8_E5M2FNUZ] = {DL_E5M2FNUZ, 8, 1},
                                          [TD_F8_E8M0FNU] = {DL_E8M0FNU, 8, 1}};

/* ---- out ---- */
static void end_managed(dl_managed *m)
{
    td_tensor_free(m->context);
    free(m);
}
static void end_versioned(dl_versioned *m)
{
    td_tensor_free(m->context);
    free(m);
}
static void end_capsule(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, DL_NAME)) end_managed(PyCapsule_GetPointer(capsule, DL_NAME));
    else if (PyCapsule_IsValid(capsule, DL_VERSIONED_NAME))
        end_versioned(PyCapsule_GetPointer(capsule, DL_VERSIONED_NAME));
}

static dl_device place_of(td_device device)
{
    return td_device_type(device) == TD_CUDA ? (dl_device){DL_CUDA, td_device_index(device)}
                                             : (dl_device){DL_CPU, 0};
}

static dl_tensor described(const td_tensor *t)
{
    return (dl_tensor){.data = td_data(t),
                       .device = place_of((td_device)t->device),
                       .ndim = t->ndim,
                       .type = types[t->dtype],
                       .shape = t->sizes,
                       .strides = t->strides};
}

static PyObject *old_capsule(td_tensor *alias)
{
    dl_managed *m = calloc(1, sizeof *m);
    if (!m) return td_no_memory();
    *m = (dl_managed){.tensor = described(alias), .context = alias, .deleter = end_managed};
    PyObject *capsule = PyCapsule_New(m, DL_NAME, end_capsule);
    if (!capsule) free(m);
    return capsule;
}
static dl_versioned *versioned(td_tensor *alias, uint64_t flags)
{
    dl_versioned *m = calloc(1, sizeof *m);
    if (!m) return td_no_memory(), NULL;
    *m = (dl_versioned){.version = {DL_MAJOR, DL_MINOR},
                        .context = alias,
                        .deleter = end_versioned,
                        .flags = flags,
                        .tensor = described(alias)};
    return m;
}
static PyObject *versioned_capsule(td_tensor *alias, uint64_t flags)
{
    dl_versioned *m = versioned(alias, flags);
    if (!m) return NULL;
    PyObject *capsule = PyCapsule_New(m, DL_VERSIONED_NAME, end_capsule);
    if (!capsule) free(m);
    return capsule;
}

static int may_leave(const td_tensor *t)
{
    if (t->device != TD_CPU && td_device_type((td_device)t->device) != TD_CUDA)
        PyErr_SetString(PyExc_BufferError, "a tensor of this device has no memory that could be "
                                           "exported: meta has none, others offer no exchange");
    else if (t->flags & (TD_FLAG_CONJ | TD_FLAG_NEG))
        PyErr_SetString(PyExc_BufferError, "Can't export tensors with the conjugate or negative "
                                           "bit set; use tensor.resolve_conj().resolve_neg()");
    else if (!types[t->dtype].lanes)
        PyErr_Format(PyExc_BufferError, "DLPack has no type for taeda.%s",
                     td_dtypes[t->dtype].name);
    else return 1;
    return 0;
}

/* another handle on its memory, which may not move from now on: somebody holds the address */
static td_tensor *exported(const td_tensor *t)
{
    td_note_untraced("memory is shared");
    td_tensor *alias; /* no version counter goes along: the last owner may be in another thread */
    td_status status = td_tensor_on_storage(&alias, t->storage, (td_dtype)t->dtype, t->ndim,
                                            t->sizes, t->strides, t->offset);
    if (status) return td_raise(status), NULL;
    alias->storage->fixed = alias->storage->exported = 1;
    return alias;
}

int td_dlpack_describe(const td_tensor *t, dl_tensor *out)
{
    if (!may_leave(t)) return 0;
    td_note_untraced("memory is shared");
    *out = described(t);
    return 1;
}

dl_versioned *td_dlpack_of(const td_tensor *t)
{
    td_tensor *alias = may_leave(t) ? exported(t) : NULL;
    dl_versioned *made = alias ? versioned(alias, 0) : NULL;
    if (!made) td_tensor_free(alias);
    return made;
}

/* to_dlpack(tensor, versioned, copied): a capsule on the tensor's memory, whatever its gradient
 * says */
static PyObject *to_dlpack(PyObject *m, PyObject *args)
{
    PyObject *o;
    int versioned, copied;
    if (!PyArg_ParseTuple(args, "Opp", &o, &versioned, &copied)) return NULL;
    if (!td_is_tensor(o))
        return PyErr_Format(PyExc_TypeError, "to_dlpack: wanted a Tensor, got %S", Py_TYPE(o));
    if (td_has_parts((PyTensor *)o))
        return PyErr_Format(PyExc_BufferError, "a tensor that is not strided is not exported: "
                                               "export its indices and values, or to_dense()");
    if (((PyTensor *)o)->dispatches)
        return PyErr_Format(PyExc_BufferError,
                            "a %R is not exported: its operators run in __torch_dispatch__. Export "
                            "the tensors inside it",
                            Py_TYPE(o));
    if (!may_leave(TD_T(o))) return NULL;
    td_tensor *alias = exported(TD_T(o));
    if (!alias) return NULL;
    PyObject *capsule =
        versioned ? versioned_capsule(alias, copied ? DL_COPIED : 0) : old_capsule(alias);
    if (!capsule) td_tensor_free(alias);
    return capsule;
}

/* ---- in ---- */
typedef struct Incoming {
    dl_tensor *tensor;
    dl_managed *old; /* one of the two */
    dl_versioned *new;
    td_dtype dtype;
    td_device device;
    /* elements; bytes from the first element to the end of the last */
    int64_t strides[TD_MAX_DIMS], extent;
} Incoming;

static void release_dlpack(void *context, int versioned)
{
    PyGILState_STATE state = PyGILState_Ensure(); /* many a producer's deleter expects the lock */
    if (versioned) {
        dl_versioned *m = context;
        if (m->deleter) m->deleter(m);
    } else {
        dl_managed *m = context;
        if (m->deleter) m->deleter(m);
    }
    PyGILState_Release(state);
}
static void release_old(void *context, char *data, int64_t nbytes) { release_dlpack(context, 0); }
static void release_versioned(void *context, char *data, int64_t nbytes)
{
    release_dlpack(context, 1);
}

static int refused(const char *why) { return PyErr_SetString(PyExc_BufferError, why), 0; }

static int of_our_version(const dl_versioned *m)
{
    if (m->version.major == DL_MAJOR) return 1;
    return PyErr_Format(PyExc_BufferError,
                        "from_dlpack: the capsule is of DLPack %u.%u; version %d is understood: "
                        "ask for it with max_version",
                        m->version.major, m->version.minor, DL_MAJOR),
           0;
}

static int opened(Incoming *in, PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, DL_VERSIONED_NAME)) {
        in->new = PyCapsule_GetPointer(capsule, DL_VERSIONED_NAME);
        if (!of_our_version(in->new)) return 0;
        in->tensor = &in->new->tensor;
    } else if (PyCapsule_IsValid(capsule, DL_NAME)) {
        in->old = PyCapsule_GetPointer(capsule, DL_NAME);
        in->tensor = &in->old->tensor;
    } else {
        return PyErr_Format(PyExc_RuntimeError,
                            "from_dlpack received an invalid capsule: wanted a DLPack capsule that "
                            "nobody has consumed, or an object with __dlpack__, got %R. A capsule "
                            "can be consumed only once.",
                            capsule),
               0;
    }
    return 1;
}

int td_device_of_dlpack(dl_device place, td_device *out)
{
    *out = TD_CPU;
    if (place.type == DL_CPU || place.type == DL_CUDA_HOST) return 1;
    if (place.type != DL_CUDA)
        return PyErr_Format(PyExc_BufferError,
                            "from_dlpack: the memory is on DLPack device %d, and only the cpu (1) "
                            "and cuda (2) are reachable: copy it to the cpu first",
                            place.type),
               0;
    if (td_device_open(TD_CUDA) != TD_OK)
        return PyErr_Format(PyExc_BufferError,
                            "from_dlpack: the memory is on DLPack device %d, and %s", place.type,
                            td_error_message()),
               0;
    int count = td_device_count(TD_CUDA);
    if (place.id < 0 || place.id >= count)
        return PyErr_Format(PyExc_BufferError,
                            "from_dlpack: the memory is on CUDA device %d, and there are %d",
                            place.id, count),
               0;
    return *out = td_device_of(TD_CUDA, place.id), 1;
}

int td_dtype_of_dlpack(dl_type wanted, int *out)
{
    for (int d = 0; d < TD_NDTYPES; d++)
        if (types[d].lanes && types[d].code == wanted.code && types[d].bits == wanted.bits &&
            types[d].lanes == wanted.lanes)
            return *out = d, 1;
    return 0;
}

static int known_type(Incoming *in)
{
    dl_type wanted = in->tensor->type;
    int dtype;
    if (td_dtype_of_dlpack(wanted, &dtype)) return in->dtype = (td_dtype)dtype, 1;
    return PyErr_Format(
               PyExc_BufferError,
               "from_dlpack: no dtype here has DLPack's type code %d with %d bits and %d lanes",
               wanted.code, wanted.bits, wanted.lanes),
           0;
}

/* Fills strides and extent; sizes and strides are claims of the producer. */
static int reach(Incoming *in)
{
    const dl_tensor *t = in->tensor;
    int64_t last = 0, step;
    for (int i = 0; i < t->ndim; i++) {
        if (t->shape[i] == 1) continue; /* its stride is never used, whatever it is */
        if (t->strides) in->strides[i] = t->strides[i];
        if (in->strides[i] < 0)
            return PyErr_SetString(PyExc_ValueError,
                                   "from_dlpack: an axis runs backwards, and tensors with negative "
                                   "strides are not supported: copy the array first"),
                   0;
        if (td_mul_overflows(t->shape[i] - 1, in->strides[i], &step) ||
            td_add_overflows(last, step, &last))
            last = INT64_MAX;
    }
    if (td_add_overflows(last, 1, &last) ||
        td_mul_overflows(last, td_itemsize(in->dtype), &in->extent))
        return refused("from_dlpack: shape and strides reach beyond any memory");
    return 1;
}

static int addressed(const Incoming *in)
{
    const char *at = in->tensor->data;
    if (!at) return refused("from_dlpack: the capsule has elements but no memory");
    if (!td_is_aligned(at + in->tensor->byte_offset, in->dtype))
        return refused("from_dlpack: the elements lie at an odd address: copy the array first");
    return 1;
}

static int geometry(Incoming *in)
{
    const dl_tensor *t = in->tensor;
    int64_t numel;
    if (t->ndim < 0 || t->ndim > TD_MAX_DIMS || (t->ndim && !t->shape))
        return PyErr_Format(
                   PyExc_BufferError,
                   "from_dlpack: the capsule says %d dimensions; 0 to %d with a shape are possible",
                   t->ndim, TD_MAX_DIMS),
               0;
    td_status status = td_numel(t->ndim, t->shape, &numel);
    if (status) return td_raise(status), 0;
    td_row_major(t->ndim, t->shape, in->strides);
    /* nothing there: an extent of 0, wherever it lies */
    return !numel || (reach(in) && addressed(in));
}

static td_status on_memory(const Incoming *in, td_tensor **out)
{
    td_storage *s;
    TD_TRY(td_storage_new(&s, 0, TD_CPU)); /* of no bytes: the producer has them */
    s->device = in->device;
    s->data = in->extent ? (char *)in->tensor->data + in->tensor->byte_offset : NULL;
    s->nbytes = in->extent;
    td_status status = td_tensor_on_storage(out, s, in->dtype, in->tensor->ndim, in->tensor->shape,
                                            in->strides, 0);
    if (status == TD_OK) { /* only now is there an owner that will call the deleter */
        s->fixed = 1;
        s->context = in->new ? (void *)in->new : (void *)in->old;
        s->release = in->new ? release_versioned : release_old;
    } else {
        s->data = NULL;
    }
    td_storage_drop(s);
    return status;
}

td_tensor *td_tensor_of_dlpack(dl_versioned *given)
{
    Incoming in = {.new = given};
    td_tensor *t;
    if (!of_our_version(given)) return NULL;
    in.tensor = &given->tensor;
    if (given->flags & DL_READ_ONLY)
        return refused("from_dlpack: the memory may not be written: copy the array first"), NULL;
    if (!td_device_of_dlpack(given->tensor.device, &in.device) || !known_type(&in) ||
        !geometry(&in))
        return NULL;
    td_status status = on_memory(&in, &t);
    return status ? td_raise(status), NULL : t;
}

/* from_dlpack(capsule) -> (tensor on its memory, may it not be written?) */
static PyObject *from_dlpack(PyObject *m, PyObject *capsule)
{
    Incoming in = {0};
    td_tensor *t;
    if (!opened(&in, capsule) || !td_device_of_dlpack(in.tensor->device, &in.device) ||
        !known_type(&in) || !geometry(&in))
        return NULL;
    TD_PY(on_memory(&in, &t));
    PyCapsule_SetName(capsule, in.new ? DL_USED_VERSIONED_NAME : DL_USED_NAME);
    int read_only = in.new && in.new->flags & DL_READ_ONLY;
    return Py_BuildValue("(NO)", td_wrap(t), read_only ? Py_True : Py_False);
}

static PyMethodDef methods[] = {
    {"to_dlpack", to_dlpack, METH_VARARGS,
     "to_dlpack(tensor, versioned, copied): a capsule on the memory of a tensor."},
    {"from_dlpack", from_dlpack, METH_O,
     "from_dlpack(capsule): (a tensor on the memory of a capsule, is it read-only)."},
    {0}};
PyMethodDef *td_dlpack_methods(void) { return methods; }
