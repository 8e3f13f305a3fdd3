/* py.h - the Python side of the core: objects, conversions, the dispatcher's frame.
 * Everything here runs with the interpreter lock held. */
#ifndef TD_PY_H
#define TD_PY_H
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "object/schema.h"
#include "runtime/pool.h"
#include "runtime/thread_local.h"

/* Headers of Python 3.12 and later return these without a reference of their own, as the objects
 * are immortal there. Python 3.11 runs the same library, and counts: it ends when one of them is
 * gone. */
#undef Py_RETURN_NONE
#undef Py_RETURN_TRUE
#undef Py_RETURN_FALSE
#undef Py_RETURN_NOTIMPLEMENTED
#define Py_RETURN_NONE return Py_NewRef(Py_None)
#define Py_RETURN_TRUE return Py_NewRef(Py_True)
#define Py_RETURN_FALSE return Py_NewRef(Py_False)
#define Py_RETURN_NOTIMPLEMENTED return Py_NewRef(Py_NotImplemented)

/* the limited API has no safe replacement of a reference: the old value dies last */
#define Py_XSETREF(place, value)                \
    do {                                        \
        PyObject *td_old = (PyObject *)(place); \
        (place) = (void *)(value);              \
        Py_XDECREF(td_old);                     \
    } while (0)
#define Py_SETREF(place, value) Py_XSETREF(place, value)

/* ---- the tensor object (object/tensor.c) ---- */
typedef struct Node Node;
typedef struct PyTensor {
    PyObject_HEAD td_tensor *t;
    struct PyTensor *grad; /* owned, or NULL */
    Node *node;            /* owned: what computed this tensor, or NULL */
    Node *accumulate;      /* borrowed: the node that adds into grad, while a graph holds it */
    struct PyTensor *base; /* owned: the tensor this is a view of, or NULL */
    struct Dual *dual;     /* its tangent in forward mode (backward/forward.h), or NULL */
    PyObject *hooks;       /* owned: dict of hook kinds, or NULL */
    PyObject *weaklist, *dict;
    /* owned: what a tensor of another layout is made of; of a strided one the names of its
     * dimensions, a tuple of str and None; or NULL */
    PyObject *parts;
    uint32_t nr;           /* which output of node */
    uint32_t node_version; /* the storage version that `node` describes; not of leaves */
    uint8_t requires_grad; /* as asked for on a leaf */
    uint8_t creation;      /* enum below: how a view was made */
    uint8_t retains_grad;
    /* a dual tensor, or a view of one: without part in the tangent of `base` */
    uint8_t apart;
    /* enum td_dispatching: does __torch_dispatch__ of its type compute what is called on it? */
    uint8_t dispatches;
    uint8_t layout; /* enum td_layout: other than strided, `parts` are what it stands for */
    uint8_t named;  /* TD_NAMED: its dimensions have names (dispatch/run_named.c); or 0 */
} PyTensor;
/* TD_DISPATCHES_CLAIM and above: it has no memory of its own, its handle is one of meta, and it
 * claims to lie on the device of this number less TD_DISPATCHES_CLAIM (_make_wrapper_subclass).
 * TD_DISPATCHES_LAYOUT is set besides where its layout is another than strided: rules of this
 * layout compute, whatever the type (dispatch/run_layout.c). */
enum td_dispatching {
    TD_DISPATCHES_NOT,
    TD_DISPATCHES,
    TD_DISPATCHES_CLAIM,
    TD_DISPATCHES_LAYOUT = 0x80
};
/* what the arguments of a call ask for before it runs: a frame's `overridden` */
enum td_overriding {
    TD_OVERRIDDEN = 1, /* a type has a __torch_function__ of its own */
    TD_NAMED = 2       /* dimensions have names */
};
enum td_layout {
    TD_STRIDED,
    TD_SPARSE_COO,
    TD_SPARSE_CSR,
    TD_SPARSE_CSC,
    TD_SPARSE_BSR,
    TD_SPARSE_BSC,
    TD_JAGGED,
    TD_MASKED,    /* strided for its user: what has values and a mask */
    TD_QUANTIZED, /* strided for its user: integers, scales and zero points */
    TD_NESTED,    /* strided for its user: a batch of tensors of any sizes */
    TD_LAYOUTS
};
enum { TD_VIEW_PLAIN, TD_VIEW_MULTI, TD_VIEW_NO_GRAD, TD_VIEW_INFERENCE };

extern PyTypeObject *TensorT, *ParameterT; /* ParameterT: NULL until taeda.nn registers it */
static inline int td_is_exact(PyObject *o)
{
    return Py_TYPE(o) == TensorT || Py_TYPE(o) == ParameterT;
}
int td_is_tensor(PyObject *o); /* a Tensor or a subclass */
#define TD_T(object) (((PyTensor *)(object))->t)

/* A tensor gets another handle, which is taken over; whoever uses the old one goes on with it. */
static inline void td_publish(PyObject *tensor, td_tensor *t)
{
    td_tensor *old = TD_T(tensor);
    TD_T(tensor) = t;
    td_tensor_retire(old, old->storage);
}

extern uint64_t td_gradients_set; /* how often a .grad was assigned */

/* Wrap a handle (takes it over, also on failure). */
PyObject *td_wrap(td_tensor *t);
/* What a tensor of another layout than strided is made of, on a handle of meta that nobody uses;
 * `dispatches` says what device it claims. */
static inline void td_give_parts(PyTensor *p, int layout, int dispatches, PyObject *parts)
{
    p->layout = (uint8_t)layout;
    p->dispatches = (uint8_t)(dispatches | TD_DISPATCHES_LAYOUT);
    Py_XSETREF(p->parts, Py_NewRef(parts));
}
/* The names of the dimensions of a strided tensor, borrowed: a tuple of as many str and None as it
 * has dimensions; NULL takes them away. */
static inline void td_give_names(PyTensor *p, PyObject *names)
{
    p->named = names ? TD_NAMED : 0;
    Py_XSETREF(p->parts, Py_XNewRef(names));
}
/* of a type that is known to dispatch: it claims to lie on this device */
PyObject *td_wrap_claiming(PyTypeObject *type, td_tensor *t, td_device device);
/* asks the type whether its tensors dispatch */
PyObject *td_wrap_as(PyTypeObject *type, td_tensor *t);
static inline td_device td_claimed_device(const PyTensor *p) /* what tensor.device says */
{
    int claim = p->dispatches & ~TD_DISPATCHES_LAYOUT;
    return (td_device)(claim >= TD_DISPATCHES_CLAIM ? claim - TD_DISPATCHES_CLAIM : p->t->device);
}
/* its layout is not strided: there is no memory to show, and no kernel for its handle */
static inline int td_has_parts(const PyTensor *p) { return p->layout != TD_STRIDED; }
/* raises: a tensor that dispatches shows no memory; NULL */
PyObject *td_refuse_memory(PyObject *tensor, const char *what);
/* raises: the call would change the dimensions of a tensor whose dimensions have names; NULL */
PyObject *td_refuse_names(const char *what);
/* a view whose base came to require grad later (by a write through another view) requires it too */
static inline int td_requires_grad(const PyTensor *p)
{
    for (; p; p = p->creation <= TD_VIEW_MULTI ? p->base : NULL)
        if (p->requires_grad || p->node) return 1;
    return 0;
}

/* ---- buffers (object/memory.c) ---- */
/* exports the memory that the tensor has now, and holds it */
PyObject *td_memory_of(PyObject *tensor);
int td_get_buffer(PyObject *tensor, Py_buffer *view, int flags);
void td_release_buffer(PyObject *tensor, Py_buffer *view);
int td_sole_owner(PyObject *tensor); /* can nobody else see its memory? */
int td_add_memory_type(PyObject *module);

/* ---- errors (object/errors.c) ---- */
/* sets the exception of the pending message; returns NULL */
PyObject *td_raise(td_status status);
static inline int td_raised(td_status status) { return td_raise(status), -1; }
#define TD_PY(call)                                               \
    do {                                                          \
        td_status td_py_status = (call);                          \
        if (td_py_status != TD_OK) return td_raise(td_py_status); \
    } while (0)
extern PyObject *td_linalg_error;  /* exception type, or NULL */
extern PyObject *td_out_of_memory; /* taeda.OutOfMemoryError: a RuntimeError and a MemoryError */
PyObject *td_no_memory(void);      /* raises it; NULL */
PyObject *td_set_memory_table(PyObject *module, PyObject *callable); /* text below that */
int td_add_errors(PyObject *module);
PyObject *td_type_name(PyObject *o); /* "Tensor", for messages: new reference */
/* TypeError of a text with one %V, which is the name of o's type; NULL */
PyObject *td_refuse_type(const char *text, PyObject *o);

/* ---- small objects (object/dtype.c, device.c, size.c, generator.c) ---- */
extern PyTypeObject *DtypeT, *DeviceT, *LayoutT, *MemoryFormatT, *SizeT, *GeneratorT, *NodeT;
PyObject *td_dtype_object(td_dtype d); /* new reference */
/* 1 yes, 0 not a dtype; also float, int, bool, complex */
int td_dtype_from(PyObject *o, td_dtype *out);
PyObject *td_layout_object(int code); /* an enum td_layout; 0 is taeda.strided */
int td_layout_from(PyObject *o, int *code);
PyObject *td_memory_format_object(int code);
int td_memory_format_from(PyObject *o, int *code);
PyObject *td_device_object(td_device d);
PyObject *td_rename_privateuse1(PyObject *module, PyObject *name);
PyObject *td_privateuse1_name(PyObject *module, PyObject *unused);
PyObject *td_device_host(PyObject *module, PyObject *unused);
PyObject *td_register_privateuse1(PyObject *module, PyObject *address);
/* 1 yes, 0 not a device, -1 exception (unknown or unavailable) */
int td_device_from(PyObject *o, td_device *out);
PyObject *td_size_object(int ndim, const int64_t *sizes);
PyObject *td_ints_object(int n, const int64_t *values); /* tuple */
/* tuple; of a handle that nobody need have pinned */
PyObject *td_dims_object(int ndim, const int64_t *dims);
td_generator *td_generator_from(PyObject *o);   /* NULL if not a Generator */
PyObject *td_generator_object(td_generator *g); /* the opposite: new reference */
extern PyObject *td_default_generator_object;

/* what the module gets of them */
int td_add_constants(PyObject *module);
int td_add_device(PyObject *module);
int td_add_size(PyObject *module);
int td_add_generator(PyObject *module);
PyMethodDef *td_array_methods(void); /* arrays.c */
PyMethodDef *td_dlpack_methods(void), *td_dlpack_table_methods(void);
int td_add_unchanged(PyObject *module);
int td_add_switches(PyObject *module);

/* ---- numbers (object/numbers.c) ---- */
/* the common dtype, or -1 with RuntimeError */
int td_promoted(td_dtype a, td_dtype b);
/* bool, int, float, complex or a numpy scalar */
int td_is_number(PyObject *o);
/* 1, 0 not a number, -1 exception (too large) */
int td_scalar_from(PyObject *o, td_scalar *out);
PyObject *td_scalar_object(const td_scalar *s);
/* 1, 0, -1; no bools, no floats; 0-dim integer tensors */
int td_int_from(PyObject *o, int64_t *out);
/* the size of a ragged dimension, which is an int that has no value */
bool td_is_ragged(PyObject *o);
/* as td_int_from; of a ragged dimension the number that stands for it */
int td_size_from(PyObject *o, int64_t *out);
PyObject *td_item(const td_tensor *t); /* the one element as a Python number */
/* the same of an object, which may dispatch */
PyObject *td_item_of(PyObject *tensor);
PyObject *td_tolist(PyObject *tensor);

/* ---- numpy, once it is loaded (object/numpy.c); nothing here imports it ---- */
/* an attribute, borrowed and kept; NULL without exception */
PyObject *td_numpy(PyObject **kept, const char *name);
int td_is_array(PyObject *o); /* a numpy array, also of a subclass */
int td_is_numpy_scalar(PyObject *o);
/* 1, or 0: no scalar of numpy, or of no dtype of ours */
int td_numpy_scalar_dtype(PyObject *o, td_dtype *out);
PyMethodDef *td_numpy_methods(void);

/* ---- thread state (object/state.c) ---- */
typedef struct td_state {
    uint8_t grad_mode, inference_mode;
    uint8_t default_device;            /* td_device of factories without device= */
    uint8_t noting;                    /* the one tracer reads its calls from dispatch/noted.c */
    uint32_t layers;                   /* active layers, enum below */
    uint32_t excluded;                 /* layers switched off while one of them runs */
    uint32_t caller_excluded;          /* those of who called the walk of the engine that runs */
    uint8_t walking;                   /* such a walk runs */
    PyObject *pack_hook, *unpack_hook; /* innermost saved-tensor hooks, owned */
} td_state;
#define TD_LAYERS(X) /* Python knows them by these names: core.layers */         \
    X(FUNCTION_MODE, 1)                                                          \
    X(TRANSFORM, 2)                                                              \
    X(AUTOCAST, 4)                                                               \
    X(DISPATCH_MODE, 8)                                                          \
    X(TRACE, 16)                                                                 \
    X(OVERRIDE, 32) /* excluded only: __torch_function__ of subclasses is off */ \
    X(DUAL, 64)     /* excluded only: operations do not propagate tangents */    \
    X(NAMES, 128)   /* excluded only: names of dimensions are left alone */
#define TD_LAYER(name, bit) TD_LAYER_##name = bit,
enum { TD_LAYERS(TD_LAYER) };
#undef TD_LAYER
extern TD_THREAD_LOCAL td_state td_here;
/* Hooks that a walk of the engine calls see the modes and subclasses that its caller sees, and no
 * names. Returns what td_here.excluded has to be again. */
static inline uint32_t td_as_caller(void)
{
    uint32_t was = td_here.excluded;
    if (td_here.walking) td_here.excluded = td_here.caller_excluded | TD_LAYER_NAMES;
    return was;
}
extern int td_anomaly; /* process-wide */
/* process-wide: number of the open level of forward mode, 0 while none is */
extern int td_dual_level;
PyMethodDef *td_state_methods(void);

/* ---- arguments of a call (object/frame.c) ---- */
#define TD_MAX_TEMPS 16
#define TD_POOL_INTS 96
#define TD_POOL_TENSORS 48
#define TD_FEW_PINS 8
typedef struct td_frame {
    const td_schema *schema;
    const td_function *function;
    PyObject *obj[TD_MAX_ARGS]; /* the caller's, or in `held`; NULL where the default holds */
    PyObject *out;              /* out= argument: a Tensor, or a tuple of them; NULL */
    PyObject *requires_grad;    /* factories: requires_grad= argument, or NULL */
    td_tensor *temps[TD_MAX_TEMPS];
    void *heap[TD_MAX_TEMPS];     /* overlong lists */
    PyObject *held[TD_MAX_TEMPS]; /* sequences turned into tuples, kept until the frame closes */
    /* of the tensors that are bound, pinned until the frame closes: few_pins, or on the heap */
    td_storage **pins;
    int ntemps, nheap, nheld, nints, ntensors, npins, room_pins;
    uint8_t inplace;    /* the result goes into argument 0 */
    uint8_t overridden; /* enum td_overriding of the arguments, or-ed */
    uint8_t dispatches; /* some tensor's type computes by __torch_dispatch__ */
    uint8_t any_grad;   /* some tensor argument requires grad */
    uint8_t bits;       /* some tensor argument has a conj or neg bit */
    /* the devices of all arguments or-ed: above TD_META if some lives elsewhere than on cpu and
     * meta */
    uint8_t devices;
    int64_t ints[TD_POOL_INTS];
    td_tensor *tensors[TD_POOL_TENSORS];
    PyObject *items[TD_POOL_TENSORS]; /* owned: the objects of `tensors` */
    td_storage *few_pins[TD_FEW_PINS];
    td_call call;
} td_frame;

void td_frame_open(td_frame *frame);
void td_frame_close(td_frame *frame);
static inline void td_frame_row(td_frame *f, const td_function *function,
                                const td_schema *s) /* the overload that is called */
{
    f->function = function;
    f->schema = s;
    f->call.op = &s->op;
    f->call.nargs = s->nparams;
    f->call.nout = s->nreturns;
    memset(f->call.out, 0, sizeof f->call.out);
    f->call.outs = NULL;
    f->call.pinned = false;
}
PyObject *td_argument_object(const td_frame *frame, int k); /* new reference; defaults too */
PyObject *td_arguments_tuple(const td_frame *frame);        /* of all of them */
td_tensor *td_frame_temp(td_frame *frame, td_tensor *t);    /* freed when the frame closes */
/* room for n more; 0, or -1 with MemoryError */
int td_frame_more_pins(td_frame *frame, Py_ssize_t n);
/* takes it over until the frame closes; NULL with an exception */
PyObject *td_frame_hold(td_frame *frame, PyObject *o);
/* itself, or its items in a tuple that the frame owns */
PyObject *td_frame_tuple(td_frame *frame, PyObject *sequence);
/* A list or tuple becomes argument k: the frame owns its items. Room for as many handles, or NULL
 * with an exception. */
td_tensor **td_frame_list(td_frame *frame, int k, PyObject *sequence, Py_ssize_t *n);
/* borrowed: item i of an argument that is a list of tensors */
PyObject *td_frame_item(const td_frame *frame, int k, Py_ssize_t i);
/* borrowed: the k-th tensor of out=, or NULL */
static inline PyObject *td_out_item(const td_frame *f, int k)
{
    if (!f->out) return NULL;
    if (PyTuple_Check(f->out)) return k < PyTuple_Size(f->out) ? PyTuple_GetItem(f->out, k) : NULL;
    if (PyList_Check(f->out)) return k < PyList_Size(f->out) ? PyList_GetItem(f->out, k) : NULL;
    return k == 0 ? f->out : NULL;
}
/* The handle of a tensor, which lasts until the frame closes, whatever becomes of the object; NULL
 * with MemoryError. */
static inline td_tensor *td_frame_pin(td_frame *f, PyObject *tensor)
{
    td_tensor *t = TD_T(tensor);
    if (f->npins == f->room_pins && td_frame_more_pins(f, 1) < 0) return NULL;
    f->pins[f->npins++] = td_pin(t->storage);
    return t;
}

/* ---- frame.c: room for n entries, until the frame closes: from its pool while that lasts, then
 * from the heap; NULL with an exception ---- */
int64_t *td_room_ints(td_frame *f, Py_ssize_t n);

/* ---- what object and graph ask of the dispatcher above them, which puts its functions here when
 * the module starts (td_put_dispatcher) ---- */
typedef struct td_dispatcher_hooks {
    /* Call an op from C on objects: positional arguments only, NULL stands for the default. New
     * reference or NULL. */
    PyObject *(*apply)(const td_function *f, int n, PyObject *const *args);
    /* What autograd keeps or hands out for a tensor that dispatches: `function` (detach, clone)
     * called on it below every layer but tracers. */
    PyObject *(*below)(const td_function *function, PyObject *tensor);
} td_dispatcher_hooks;
extern td_dispatcher_hooks td_dispatcher; /* object/state.c */

/* ---- functions of Python (object/lookup.c) ---- */
/* borrowed: looked up once, kept in `slot` */
PyObject *td_python_function(PyObject **slot, const char *module, const char *name);

/* ---- the op table (object/table.c) ---- */
const td_function *td_find_function(const char *namespace_, const char *name);
/* what core itself calls */
const td_function *td_clone_function(void), *td_copy_function(void), *td_detach_function(void);
td_schema *td_find_schema(const char *qualified); /* "add.Tensor" */
/* one defined at run time, "mylib::scale.overload", or NULL */
td_schema *td_find_custom(const char *text);
/* in place of one of that text; 0 or -1 with an exception */
int td_enter_custom(td_schema *s);
void td_forget_custom(const char *text);
/* The C function of a row on a type of device. Later calls replace it; TD_VALUE_ERROR if there is
 * no such row. */
td_status td_op_register(const char *qualified, int device_type, td_impl impl);
void td_load_loops(void);

/* ---- the type's parts (object/tensor.c) ---- */
extern PyType_Slot td_object_slots[];
void td_set_tensor_type(PyTypeObject *type);
/* row-major, keeps the bytes; 0 or -1 with an exception */
int td_resize(PyObject *tensor, int ndim, const int64_t *sizes);

#endif
