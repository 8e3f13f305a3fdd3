/* wide_run.h - loops of short floats with operands that are wider: numbers which 16 bits cannot
 * hold. */
#ifndef TD_WIDE_RUN_H
#define TD_WIDE_RUN_H
#include "runtime/loops.h"

/* What td_wide_loop is given instead of the arguments of the call. */
typedef struct td_wide {
    td_loop loop;   /* of the wide dtype, td_row_dtype */
    td_loop number; /* of td_number_loops, for where all lies side by side; NULL: none */
    const void *context;
    int nop;
    uint8_t dtypes[TD_MAX_OPERANDS]; /* as they lie in memory, the output's first */
} td_wide;

/* Do 16-bit operands lie side by side before a number, or one behind it? */
static inline bool td_beside_number(int nop, const int64_t *strides)
{
    if (nop == 3 && strides[1] == 0) return strides[0] == 2 && strides[2] == 2;
    for (int k = 0; k < nop - 1; k++)
        if (strides[k] != 2) return false;
    return strides[nop - 1] == 0;
}

/* A td_loop: short operands are widened block by block, and a short result is rounded once. */
void td_wide_loop(char *const *data, const int64_t *strides, int64_t n, const void *wide);

/* The loops of this name that take a number; NULL: there are none. */
const td_number_loops *td_find_numbers(const char *name);

#endif
