/* loss_alignment.h - a step of the recursion over alignments (TD_PICK). */
#ifndef TD_LOSS_ALIGNMENT_H
#define TD_LOSS_ALIGNMENT_H
#include "runtime/loops.h"

/* States on either side of a row, whose log-probability is -inf. */
#define TD_ALIGNMENT_PAD 2

/* out[s] = log(exp(before[s]) + exp(before[s + by]) + exp(before[s + 2 by] + skip[s])) + emitted[s]
 * for n states; `by` is 1 or -1, skip 0 or -inf. `before` may be read by TD_ALIGNMENT_PAD states
 * on either side of its n. */
typedef void (*td_alignment_step)(void *out, const void *before, const void *skip,
                                  const void *emitted, int64_t n, int by);

typedef struct td_alignment_kernels {
    td_alignment_step step[2]; /* float, double */
} td_alignment_kernels;

extern const td_alignment_kernels td_alignment_kernels_generic;
#ifdef __x86_64__
extern const td_alignment_kernels td_alignment_kernels_avx2;
extern const td_alignment_kernels td_alignment_kernels_avx512;
#endif

#endif
