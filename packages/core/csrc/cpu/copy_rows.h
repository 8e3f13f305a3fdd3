/* copy_rows.h - copies of many rows at once: a loop called for each of many short rows takes longer
 * to begin than to run. One instance per instruction set (TD_PICK). */
#ifndef TD_COPY_ROWS_H
#define TD_COPY_ROWS_H
#include <stdint.h>
#include "runtime/cpu.h"

/* Copies `rows` rows of `cols` elements. Strides are bytes of any sign: [0] from column to column,
 * [1] from row to row. The two memories are disjoint. */
typedef void (*td_copy_rows)(char *out, const int64_t *out_strides, const char *in,
                             const int64_t *in_strides, int64_t cols, int64_t rows);

typedef td_copy_rows td_copy_rows_kernels[5]; /* by log2 of the itemsize */

extern const td_copy_rows_kernels td_copy_rows_kernels_generic;
#ifdef __x86_64__
extern const td_copy_rows_kernels td_copy_rows_kernels_avx2;
extern const td_copy_rows_kernels td_copy_rows_kernels_avx512;
#endif

#endif
