/* int8_pool_run.h - pooling of integers, over threads. */
#ifndef TD_INT8_POOL_RUN_H
#define TD_INT8_POOL_RUN_H
#include "cpu/quantization/int8_pool.h"

/* work: places of all windows of all samples, times channels */
void td_int8_pool_run(const td_int8_pool *p, const void *x, void *out, bool with_sign,
                      int64_t samples, double work);
#endif
