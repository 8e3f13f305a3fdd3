/* product_lt.h - products of matrices by cuBLASLt. */
#ifndef TD_CUDA_PRODUCT_LT_H
#define TD_CUDA_PRODUCT_LT_H
#include "cpu/matmul/gemm_run.h"

/* Queue the product on the current stream. *done is false where the library is not there or
 * declines: then nothing was queued, and C is as it was. */
td_status td_cuda_product_lt(const td_product *p, int ordinal, bool *done);

#endif
