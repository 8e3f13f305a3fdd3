/* attention_run.h - fused attention, shared out among threads. */
#ifndef TD_ATTENTION_RUN_H
#define TD_ATTENTION_RUN_H
#include "cpu/attention.h"
#include "runtime/tensor.h"

td_status td_attention_run(const td_attention *p, bool backward);

#endif
