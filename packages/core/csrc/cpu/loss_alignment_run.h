/* loss_alignment_run.h - log-probabilities of the states of many sequences, along all alignments.
 */
#ifndef TD_LOSS_ALIGNMENT_RUN_H
#define TD_LOSS_ALIGNMENT_RUN_H
#include "runtime/tensor.h"

/* All dense: emitted and out (steps, batch, states) of float32 or float64; skips (batch, states) of
 * bool; states and steps (batch) of int64. RuntimeError for
 * one that is negative or larger than the size. */
typedef struct td_alignments {
    const td_tensor *emitted, *skips, *states, *steps;
    bool back; /* from each state to the end, instead of from the start to it */
} td_alignments;

typedef struct td_alignment_job { /* what a device computes, after the check */
    const td_alignments *a;
    td_tensor *out;
} td_alignment_job;

/* RuntimeError for numbers of states and steps, on the host, beyond the sizes of the results. */
td_status td_alignments_check(const td_tensor *states, const td_tensor *steps,
                              const td_tensor *out);
td_status td_alignments_run(const td_alignments *a, td_tensor *out);

#endif
