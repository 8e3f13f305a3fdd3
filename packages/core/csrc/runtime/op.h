/* op.h - what an operator implementation in C receives and returns (csrc/ops/<family>.c).
 *
 * The op table (src/taeda/_table) names an implementation; the function here is
 * td_op_<name>(td_call *). Arguments arrive in schema order, parsed and type-checked, with defaults
 * filled in; all tensors on one device (cpu or meta), conj and neg bits resolved unless the row
 * says otherwise. The function checks shapes, dtypes and values, makes its outputs, and on a meta
 * device stops there. It never sees Python objects, forms of the op (in-place, out=) or autograd:
 * the dispatcher copies or records around it. Inputs are never written unless the schema marks them
 * (a!). */
#ifndef TD_OP_H
#define TD_OP_H
#include <stdlib.h>
#include "runtime/loops.h"
#include "runtime/random.h"

#define TD_MAX_ARGS 16
#define TD_MAX_OUTS 16

typedef enum td_arg_kind {
    TD_ARG_NONE,
    TD_ARG_TENSOR,
    TD_ARG_TENSORS,
    TD_ARG_SCALAR,
    TD_ARG_INT,
    TD_ARG_INTS,
    TD_ARG_FLOAT,
    TD_ARG_FLOATS,
    TD_ARG_BOOL,
    TD_ARG_BOOLS,
    TD_ARG_STR,
    TD_ARG_DTYPE,
    TD_ARG_DEVICE,
    TD_ARG_LAYOUT,
    TD_ARG_MEMORY_FORMAT,
    TD_ARG_GENERATOR
} td_arg_kind;

typedef struct td_arg {
    td_arg_kind kind; /* TD_ARG_NONE when an optional argument is None */
    int64_t n;        /* length of tensors, ints, floats */
    union {
        td_tensor *tensor;
        td_tensor **tensors; /* an entry of Tensor?[] may be NULL */
        td_scalar scalar;
        int64_t i; /* int, bool, dtype, device, memory format */
        const int64_t *ints;
        double f;
        const double *floats;
        const char *str;
        td_generator *generator; /* never NULL: the default one stands for None */
    };
} td_arg;

typedef struct td_call td_call;
typedef td_status (*td_impl)(td_call *call);

/* How a pointwise op turns the dtypes of its operands into the dtype it computes in and the dtype
 * it returns. */
typedef enum td_promotion {
    TD_PROMOTE_NONE,
    TD_PROMOTE_SAME,    /* common dtype in and out: add, maximum */
    TD_PROMOTE_FLOAT,   /* common dtype, integral ones to the default float: exp, div */
    TD_PROMOTE_COMPARE, /* common dtype in, bool out: eq, lt */
    TD_PROMOTE_BOOL,    /* operands' truth values in their common dtype, bool out: logical_and */
    TD_PROMOTE_REAL,    /* complex in gives its real part's dtype out: abs, angle */
    TD_PROMOTE_FIRST,   /* the first operand's dtype, others are cast to it */
} td_promotion;

/* What is found once, when the module is loaded, for a pointwise op. */
typedef struct td_op_loops {
    const td_loop_entry *entries[TD_NDTYPES]; /* NULL where there is none */
    const td_number_loops *numbers;           /* NULL: it has none */
} td_op_loops;

typedef struct td_op {
    const char *name;     /* "add" */
    const char *overload; /* "Tensor", or "" */
    td_impl impl;         /* NULL: implemented in Python */
    const char *loop;     /* pointwise ops: the name their loops are registered under */
    td_op_loops *loops;   /* the same */
    float cost;           /* nanoseconds per element and thread, about */
    uint8_t promotion;    /* td_promotion */
    uint8_t writes_out : 1;
    /* pointwise ops: a number beside short floats is rounded to them before the loop runs, because
     * it compares its operands or chooses among them; all others get it as wide as they compute */
    uint8_t rounds_numbers : 1;
    uint16_t id;
} td_op;
/* Every call reads its row: more than six words of it take the cache another line. */
_Static_assert(sizeof(td_op) <= 6 * sizeof(void *), "td_op has grown");

struct td_call {
    const td_op *op;
    int nargs, nout;
    bool pinned; /* a factory was asked for page-locked memory: its result moves there */
    /* ops defined at run time: which of its kernels this is (dispatch/custom.h) */
    int slot;
    td_arg args[TD_MAX_ARGS];
    td_tensor
        *out[TD_MAX_OUTS]; /* results: the function makes them, the caller owns them.
                            * Rows marked `writes_out` may find a ready target here and then write
                            * into it. out[0] may be the very argument self (fill_, contiguous,
                            * resolve_conj): then the result is that object itself. */
    td_tensor *
        *outs; /* a Tensor[] result: `nout` tensors in an array made by td_outs, NULL otherwise. The
                * caller owns and frees both, after a failure too (entries may then be NULL). */
};

/* Make room for a Tensor[] result of n tensors; a list longer than any memory holds is refused at
 * once. */
#define TD_MAX_LIST (1 << 24)
static inline td_status td_outs(td_call *call, int64_t n)
{
    call->outs = n >= 0 && n <= TD_MAX_LIST
                     ? (td_tensor **)calloc((size_t)n + 1, sizeof(td_tensor *))
                     : NULL;
    if (!call->outs)
        return td_fail(TD_MEMORY_ERROR, "no memory for a list of %lld tensors", (long long)n);
    call->nout = (int)n;
    return TD_OK;
}

/* short names for implementations */
#define TD_TENSOR(k) (call->args[k].tensor)
#define TD_OPT_TENSOR(k) (call->args[k].kind == TD_ARG_TENSOR ? call->args[k].tensor : NULL)
#define TD_HAS(k) (call->args[k].kind != TD_ARG_NONE)
#define TD_INT(k) (call->args[k].i)
#define TD_BOOLEAN(k) (call->args[k].i != 0)
#define TD_INTS(k) (call->args[k].ints)
#define TD_LEN(k) (call->args[k].n)
#define TD_FLOAT(k) (call->args[k].f)
#define TD_SCALAR(k) (call->args[k].scalar)
#define TD_DTYPE_OR(k, otherwise) (TD_HAS(k) ? (td_dtype)call->args[k].i : (otherwise))

#endif
