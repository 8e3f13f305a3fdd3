/* product_lt.h - products of matrices by cuBLASLt. */
#ifndef TD_CUDA_PRODUCT_LT_H
#define TD_CUDA_PRODUCT_LT_H
#include "cpu/matmul/gemm_run.h"

/* Queue the product on the current stream. Unless it is done nothing was queued, and C is as it
 * was: the library is not there or does not compute such products, or it declined. */
typedef enum td_lt_end { TD_LT_NOT_FOR_IT, TD_LT_DECLINED, TD_LT_DONE } td_lt_end;
td_status td_cuda_product_lt(const td_product *p, int ordinal, td_lt_end *end);

#endif
