/* int8_run.h - the product of two int8 matrices in int32. */
#ifndef TD_MATMUL_INT8_RUN_H
#define TD_MATMUL_INT8_RUN_H
#include "cpu/matmul/int8.h"
#include "runtime/tensor.h"

/* Has this processor an instruction for it? */
bool td_multiplies_int8(void);
/* over all threads; m, n, k > 0 */
td_status td_int8_run(const td_int8_gemm *g);
#endif
