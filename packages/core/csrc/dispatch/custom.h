/* custom.h - operators that are defined at run time, by the module `library` or by an extension.
 *
 *   taeda.ops.mylib.scale ─▶ Operator object ─▶ td_function ─▶ td_custom: schema │ kernels by slot │ derivative
 *
 * A td_custom begins with a td_schema, so that the dispatcher, the recorder and the tracers see a
 * row of the table. It is never freed: graphs and objects may still name an operator that was
 * replaced. */
#ifndef TD_CUSTOM_H
#define TD_CUSTOM_H
#include "dispatch/dispatch.h"
#include "taeda/abi.h"

enum {
    TD_SLOT_CPU,
    TD_SLOT_META,
    TD_SLOT_CUDA,
    /* any device with memory: the function of custom_op without device_types */
    TD_SLOT_MEMORY,
    TD_SLOT_ANY,       /* any device, meta too */
    TD_SLOT_COMPOSITE, /* above the derivative, written in other operations */
    TD_SLOTS,
    TD_SLOT_BUILT_IN = TD_SLOTS
};

typedef struct td_native {
    taeda_kernel call;
    void *user;
    uint32_t minor; /* of the ABI it was built against */
} td_native;

/* What the schema promises of a result. */
typedef struct td_promise {
    uint8_t type;  /* td_type, or TD_ANY_TYPE */
    uint8_t flags; /* TD_P_LIST, TD_P_OPTIONAL, TD_P_ELEMENT_OPTIONAL */
    const char *text;
} td_promise;
#define TD_ANY_TYPE 255

typedef struct td_custom {
    td_schema schema;
    /* the row whose kernels these are: `schema` above, or a built-in row that is overridden */
    const td_schema *of;
    PyObject *python[TD_SLOTS]; /* owned kernels, or NULL */
    td_native native[TD_SLOTS]; /* kernels of an extension */
    PyObject *autograd;         /* owned: what taeda.autograd._custom_ops.record gets, or NULL */
    PyObject *defaults;         /* owned: the objects that default values point into */
    td_frame *frame;            /* owned: the lists that default values point into, or NULL */
    uint8_t disabled;           /* bit mask of slots */
    uint8_t strict;             /* results may not share memory with arguments */
    uint8_t may_omit;           /* a derivative: gradients that are not wanted may be missing */
    uint8_t warned;             /* that it computes on the cpu for tensors of a device */
    uint64_t stamp;             /* another one after each registration, of no other operator */
    td_promise results[TD_MAX_OUTS];
} td_custom;

/* Was the operator defined at run time? What is left of an override belongs to a built-in one,
 * whose kernels these are. */
static inline bool td_is_defined(const td_custom *c) { return c && c->of == &c->schema; }

PyMethodDef *td_custom_methods(void);

/* Something was registered for the operator: graphs that know it as it was are of another one. */
void td_custom_changed(td_schema *s);

/* ---- running one (custom_run.c) ---- */
/* which kernel serves this call, on the cpu or meta (`elsewhere` is TD_CPU) or on another device;
 * TD_SLOT_BUILT_IN; -1 with NotImplementedError */
int td_custom_slot(const td_frame *f, td_device elsewhere);
/* the kernel of a slot, in C or in Python; what a strict operator may not return is refused */
int td_custom_run(td_frame *f, int slot, td_made *made);
/* Is this what the schema promises of a composite? 0, or -1 with RuntimeError */
int td_custom_check(const td_schema *s, PyObject *answer);
/* after the kernel: the graph of a Python derivative */
int td_custom_record(td_frame *f, PyObject *const *outs, int nouts);

/* ---- objects that call (operator.c) ---- */
int td_add_operator(PyObject *module);
#endif
