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
#endif
