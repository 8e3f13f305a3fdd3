/* optim_run.h - lists of tensors as one flat index space, shared out among threads. */
#ifndef TD_OPTIM_RUN_H
#define TD_OPTIM_RUN_H
#include "cpu/optim.h"
#include "runtime/tensor.h"
#include "runtime/work.h"

/* Elements of a chunk; fixed, so that sums over chunks do not depend on the number of threads. */
#define TD_CHUNK 8192

typedef struct td_flat {
    td_slice *slices;
    /* first[i]: number of the first chunk of slice i; first[count]: of all chunks */
    int64_t *first;
    /* [count * nlists]: row-major stand-ins of tensors whose memory does not fit the others' */
    td_tensor **temps;
    td_tensor **lists[5];
    int64_t count, bytes;
    int nlists;
    bool only_read; /* then elements may share memory */
    /* what scales gradients and what leaves the step out, where they are float32 numbers of a
     * device */
    const void *grad_scale, *found_inf;
} td_flat;

typedef enum td_flat_work {
    TD_FLAT_SGD,
    TD_FLAT_ADAM,
    TD_FLAT_ADAGRAD,
    TD_FLAT_MULTIPLY,
    TD_FLAT_DIVIDE,
    TD_FLAT_ADD
} td_flat_work;

/* params: of the kernels in cpu/optim.h */
void td_flat_run(const td_flat *f, td_flat_work work, const void *params);
/* sum |x|^p, or what p = 0 and infinities mean, of every chunk */
void td_flat_power_sums(const td_flat *f, double p, double *partial);

/* What a device with kernels of its own is asked for (TD_WORK_OPTIM): the two above. */
typedef struct td_optim_job {
    const td_flat *flat;
    td_flat_work work;
    const void *params; /* NULL: power sums */
    double p, *partial; /* in the host's memory */
} td_optim_job;

/* The kind of a dtype in the kernels' tables, or -1. */
int td_optim_kind(td_dtype d);

#endif
