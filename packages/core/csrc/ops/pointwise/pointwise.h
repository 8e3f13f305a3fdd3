/* pointwise.h - what operators that end in an elementwise loop share. */
#ifndef TD_POINTWISE_H
#define TD_POINTWISE_H
#include "ops/promotion.h"
#include "runtime/device.h"

typedef struct td_operands {
    int n;
    td_tensor *t[TD_MAX_OPERANDS];
} td_operands;

/* One elementwise computation. Operands that have another dtype than `compute` are converted first,
 * those whose bit is set in `keep` are passed as they are. `context` goes to the loop: most times
 * the arguments of the call. */
typedef struct td_pointwise {
    td_operands in;
    const td_loop_entry *entry;
    td_dtype compute, result;
    uint32_t keep;
    /* Numbers that are not rounded to `compute`, a bit each, but converted to the dtype in which
     * its loops compute (td_row_dtype): these are short floats. Then the loop of that dtype, too.
     */
    uint32_t wide;
    const td_loop_entry *wide_entry;
    /* where one operand alone is wide and there is one for it, of td_number_loops */
    td_loop number;
    double cost;
    const void *context;
    int64_t context_bytes;
} td_pointwise;

static inline int64_t td_context_bytes(const td_call *call)
{
    return call->nargs * (int64_t)sizeof(td_arg);
}

/* The dtype to which operand k is converted, if it is. */
static inline td_dtype td_dtype_of_operand(const td_pointwise *p, int k)
{
    return p->wide >> k & 1 ? td_row_dtype(p->compute) : p->compute;
}

/* The dtypes of the result and of the operands behind it, once they are converted. */
void td_dtypes_in_memory(const td_pointwise *p, uint8_t *dtypes);

/* Broadcast, make or check *out (NULL: a new tensor; else written into), run. */
td_status td_pointwise_run(td_pointwise *p, td_tensor **out);

/* The loop of `name` for a dtype, from the best instruction set's tables; NULL if there is none. */
td_loop td_find_loop(const char *name, td_dtype dtype);
const td_loop_entry *td_find_entry(const char *name, td_dtype dtype);
/* The same, as a refusal that names the op and the dtype. */
td_status td_require_entry(const char *op, const char *name, td_dtype dtype,
                           const td_loop_entry **out);

/* What one operator asks before it computes (ops/pointwise/checks.c): NULL for most. It may also
 * change the dtypes. */
typedef td_status (*td_pointwise_check)(const td_call *call, td_pointwise *p);
/* of every row, by its id (generated from the op table) */
extern const td_pointwise_check td_row_checks[];
td_status td_row_check_divisor(const td_call *call, td_pointwise *p);

/* The way of td_op_pointwise with another op's promotion and loops. */
td_status td_pointwise_as(td_call *call, const td_op *op, td_pointwise_check check);

#endif
