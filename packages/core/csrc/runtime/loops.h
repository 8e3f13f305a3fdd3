/* loops.h - the contract between elementwise kernels and the code that drives them.
 *
 * A loop walks `n` elements along one dimension. data[0] is the output, data[1..] the inputs;
 * strides are bytes, of any sign, 0 for a broadcast operand. Operands are either the very same
 * memory (in-place) or disjoint. Shapes and dtypes are already checked. Loops do not allocate,
 * lock, fail or know Python.
 *
 * Every kernel file is compiled once per instruction set with TD_ISA set to its suffix and exports
 * one table TD_TABLE(<file>) of (op name, compute dtype, loop); the best table is chosen at load.
 */
#ifndef TD_LOOPS_H
#define TD_LOOPS_H
#include "runtime/tensor.h"

typedef void (*td_loop)(char *const *data, const int64_t *strides, int64_t n, const void *context);

typedef struct td_loop_entry {
    const char *name; /* op name, as in the op table */
    int dtype;        /* dtype of the computation: that of the first input (td_dtype) */
    td_loop loop;
} td_loop_entry; /* tables end with a row whose name is NULL */

/* The dtype in which loops of `d` compute: short floats, and complex numbers of them, are widened
 * first. */
static inline td_dtype td_row_dtype(td_dtype d)
{
    return d == TD_F16 || d == TD_BF16 ? TD_F32 : d == TD_C32 ? TD_C64 : d;
}

/* Loops of float16 and bfloat16 whose last operand is one float32 number, and whose others lie side
 * by side: operators that are often given such a number need no buffer for it. */
typedef struct td_number_loops {
    const char *name; /* as in a td_loop_entry; NULL at the end */
    td_loop f16, bf16;
    bool first; /* of two operands the first may be the number, too: its stride is 0 then */
} td_number_loops;

/* Every TD_TABLE of the kernel files in the best instruction set of this machine; ends with NULL
 * (generated). */
const td_loop_entry *const *td_loop_tables(void);

#define TD_PASTE_(a, b) a##_##b
#define TD_PASTE(a, b) TD_PASTE_(a, b)
#ifdef TD_ISA
#define TD_TABLE(file) TD_PASTE(td_table_##file, TD_ISA) /* td_table_unary_avx512 */
#define TD_SYM(name) TD_PASTE(name, TD_ISA)              /* td_softmax_f32_avx512 */
#endif

/* ---- n-dimensional iteration: geometry (runtime/nd.c), the walk on the processor (cpu/run/walk.c)
 * ---- */
#define TD_MAX_OPERANDS 8
typedef struct td_nd {
    int ndim, nop;
    int64_t numel;
    int64_t sizes[TD_MAX_DIMS];
    int64_t strides[TD_MAX_DIMS][TD_MAX_OPERANDS]; /* bytes; dimension 0 is the inner one */
    char *data[TD_MAX_OPERANDS];
} td_nd;

/* Operand 0 is the output and has the full shape; the others are broadcast to it. Dimensions of
 * size 1 are dropped, the rest ordered by the output's strides (inner first) and merged where all
 * operands allow it. */
td_status td_nd_init(td_nd *nd, int nop, td_tensor *const *operands);
/* The same from raw strides (bytes): for operands that are no tensors of their own, such as
 * reductions. */
void td_nd_init_raw(td_nd *nd, int nop, char *const *data, int ndim, const int64_t *sizes,
                    const int64_t *const *strides);

/* ---- common whole-tensor helpers (runtime/copy.c), all dtypes, any strides, any device ---- */
/* broadcasts src, converts dtype, resolves conj/neg bits */
td_status td_copy(td_tensor *dst, const td_tensor *src);
/* the same, but what crosses to or from another device may arrive after the call: whoever reads it
 * on the host waits for that device's stream first */
td_status td_copy_queued(td_tensor *dst, const td_tensor *src);
td_status td_fill(td_tensor *dst, const td_scalar *value);
/* alias if already row-major, else a copy */
td_status td_contiguous(td_tensor **out, const td_tensor *src);
/* alias if nothing changes, else a dense copy */
td_status td_cast(td_tensor **out, const td_tensor *src, td_dtype dtype);
/* both: alias if nothing changes, else a row-major copy */
td_status td_cast_contiguous(td_tensor **out, const td_tensor *src, td_dtype dtype);
/* the same; NULL for NULL */
td_status td_cast_optional(td_tensor **out, const td_tensor *src, td_dtype dtype);

#endif
