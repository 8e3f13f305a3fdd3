/* softmax_run.h - softmax and its relatives over dense tensors, shared out among threads. */
#ifndef TD_SOFTMAX_RUN_H
#define TD_SOFTMAX_RUN_H
#include "cpu/softmax.h"
#include "runtime/tensor.h"

/* What a device gets (runtime/work.h): the arguments of td_softmax_run, all on one device. A kernel
 * looks at `edges`; whoever waits next is told of bad ones. */
typedef struct td_softmax_job {
    td_softmax_kind kind;
    td_tensor *out;
    const td_tensor *a, *b;
    int64_t dim;
    const td_tensor *edges; /* else NULL: the arguments of td_softmax_segments, and no `dim` */
} td_softmax_job;

/* Along `dim`; `a` and `b` (may be `a`) are dense, of `out`'s dtype, float32 or float64. */
void td_softmax_run(td_softmax_kind kind, td_tensor *out, const td_tensor *a, const td_tensor *b,
                    int64_t dim);
/* The same of any kind but logsumexp, of matrices, along segments of their rows. edges (segments +
 * 1) of int64 say where they begin; another thread may write to them. RuntimeError if they do not
 * rise from 0 to the length of a row. */
td_status td_softmax_segments(td_softmax_kind kind, td_tensor *out, const td_tensor *a,
                              const td_tensor *b, const td_tensor *edges);
/* One number for each of out->numel rows of n elements, one behind the other; of complex128 as
 * well. */
void td_logsumexp_rows(td_tensor *out, const td_tensor *x, int64_t n);

#endif
