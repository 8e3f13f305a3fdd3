/* dropout_job.h - what a device with kernels of its own is asked for (TD_WORK_DROPOUT). All dense,
 * in logical order. */
#ifndef TD_DROPOUT_JOB_H
#define TD_DROPOUT_JOB_H
#include "cpu/random/sample_run.h"
#include "runtime/work.h"

typedef struct td_dropout_job {
    bool backward; /* then the mask is read, and nothing drawn */
    td_tensor *out;
    const td_tensor *x; /* or the gradient */
    td_tensor *mask;
    uint64_t seed, block; /* whole groups from here on are taken */
    uint32_t threshold;   /* kept where the word is below */
    double scale;
} td_dropout_job;

#endif
