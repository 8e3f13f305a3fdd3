/* distance_run.h - distances between the rows of batches of matrices, shared out among threads. */
#ifndef TD_DISTANCE_RUN_H
#define TD_DISTANCE_RUN_H
#include "runtime/tensor.h"

/* All dense and of one dtype, float32 or float64: x (batches, rows, n), y (batches, others, n),
 * distances and grad (batches, rows, others). */
typedef struct td_distances {
    const td_tensor *x, *y;
    int64_t batches, rows, others, n;
    double p;
} td_distances;

/* what a device computes: distances, or slopes where there is `grad` */
typedef struct td_distance_job {
    const td_distances *d;
    const td_tensor *grad, *distance;
    td_tensor *out;
} td_distance_job;

td_status td_distances_run(const td_distances *d, td_tensor *out);
/* of x; out as x */
td_status td_distances_pull(const td_distances *d, const td_tensor *grad, const td_tensor *distance,
                            td_tensor *out);

#endif
