/* convert.h - the loops that move and convert elements, one instance per instruction set (TD_PICK).
 */
#ifndef TD_CONVERT_H
#define TD_CONVERT_H
#include "runtime/loops.h"

#define TD_REAL_DTYPES (TD_F64 + 1) /* bool .. float64 come first in td_dtype */

/* Writes the transpose of one plane: element (r, c) of the output, at r * out_stride + c *
 * itemsize, is the one at r * itemsize + c * in_stride of the input. Strides are bytes. */
typedef void (*td_transpose)(char *out, int64_t out_stride, const char *in, int64_t in_stride,
                             int64_t rows, int64_t cols);

typedef struct td_convert_kernels {
    td_loop copy[5];                              /* by log2 of the itemsize */
    td_loop real[TD_REAL_DTYPES][TD_REAL_DTYPES]; /* [to][from]; NULL: go through float32 */
    td_loop truth[3];                             /* complex32, 64, 128 to bool */
    /* in place: data[0] only; float16 or bfloat16, float32, float64 */
    td_loop negate[3];
    td_transpose transpose[5]; /* by log2 of the itemsize */
} td_convert_kernels;

extern const td_convert_kernels td_convert_kernels_generic;
#ifdef __x86_64__
extern const td_convert_kernels td_convert_kernels_avx2;
extern const td_convert_kernels td_convert_kernels_avx512;
#endif

#endif
