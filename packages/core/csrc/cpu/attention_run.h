/* attention_run.h - fused attention, shared out among threads. */
#ifndef TD_ATTENTION_RUN_H
#define TD_ATTENTION_RUN_H
#include "cpu/attention.h"
#include "runtime/tensor.h"
#include "runtime/work.h"

td_status td_attention_run(const td_attention *p, bool backward);

double td_attention_cost(const td_attention *p, bool backward); /* nanoseconds, about */
int64_t td_attention_grain(int64_t tasks, double cost);         /* tasks worth a thread */

/* What a device with kernels of its own is asked for (TD_WORK_ATTENTION). */
typedef struct td_attention_job {
    const td_attention *problem;
    td_dtype dtype; /* of heads: float32, or float16 and bfloat16, whatever td_heads says */
    bool backward;
} td_attention_job;

#endif
