/* norm_job.h - what a device with kernels of its own is asked for (TD_WORK_NORM): the passes of
 * rows_run.h and channels_run.h, and the numbers between them. */
#ifndef TD_NORM_JOB_H
#define TD_NORM_JOB_H
#include "cpu/norm/numbers.h"
#include "cpu/norm/rows_run.h"
#include "runtime/work.h"

typedef struct td_norm_job {
    enum {
        TD_NORM_ROWS,
        TD_NORM_ROWS_BACKWARD,
        TD_NORM_SCALE,
        TD_NORM_MIX,
        TD_NORM_SUMS,
        TD_NORM_MOMENTS,
        TD_NORM_NUMBERS
    } what;
    const td_norm_forward *forward;
    const td_norm_backward *backward;
    td_tensor *dweight, *dbias;
    const td_channels *shape;
    td_tensor *out[2]; /* of moments: standard deviation and mean */
    const td_tensor *grad, *x, *numbers;
    double *sums; /* on the device */
    bool together;
    enum td_number_kind kind;
    const struct td_norm_numbers *of;
} td_norm_job;

/* Column sums are cut into so many chunks of rows, gradients of weights into such ones. */
int64_t td_column_chunks(const td_channels *shape);
int64_t td_row_chunks(const td_norm_row *row);

/* Numbers between the passes, one after the other. */
void td_numbers_run(enum td_number_kind kind, const struct td_norm_numbers *of);

#endif
