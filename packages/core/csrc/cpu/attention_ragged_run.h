/* attention_ragged_run.h - fused attention of sequences that lie one after the other. */
#ifndef TD_ATTENTION_RAGGED_RUN_H
#define TD_ATTENTION_RAGGED_RUN_H
#include "cpu/attention_run.h"

/* Sequence i has the rows ends[i] .. ends[i + 1] of queries and of keys. */
typedef struct td_ragged_attention {
    td_attention all; /* of one batch: all queries and all keys */
    int64_t sequences, itemsize;
    const int64_t *query_ends, *key_ends; /* sequences + 1 each, that never fall */
} td_ragged_attention;

/* The attention of one sequence. Its logsumexp lies behind those of the sequences before it. */
td_attention td_ragged_attention_of(const td_ragged_attention *r, int64_t sequence);

td_status td_ragged_attention_run(const td_ragged_attention *r, bool backward);

#endif
