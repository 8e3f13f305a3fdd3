/* packed_run.h - products with packed matrices, over threads. */
#ifndef TD_PACKED_RUN_H
#define TD_PACKED_RUN_H
#include "cpu/quantization/packed.h"
#include "runtime/tensor.h"

/* out (m x rows) = x (m x 32 pieces) times the transposed matrix, plus a number per column (or
 * NULL) */
td_status td_packed_times(const td_packed *w, const float *x, int64_t m, const float *bias,
                          float *out);
/* the matrix in float32 */
td_status td_packed_expand(const td_packed *w, float *to);
/* Whether m rows of bfloat16 are multiplied as they are, and that product: panels of the matrix are
 * rounded to bfloat16, and sums are float32. */
bool td_packed_takes_bf16(int64_t m);
td_status td_packed_times_bf16(const td_packed *w, const void *x, int64_t m, const float *bias,
                               float *out);
#endif
