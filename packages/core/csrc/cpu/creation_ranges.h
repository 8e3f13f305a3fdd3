/* creation_ranges.h - numbers at equal steps, where a device makes them (TD_WORK_RANGE). */
#ifndef TD_RANGES_H
#define TD_RANGES_H
#include "runtime/tensor.h"
#include "runtime/work.h"

typedef struct td_range_job {
    td_tensor *out;     /* dense: int64, float32 or float64 */
    int64_t first, by;  /* of int64, which wraps */
    double start, step; /* of floats: start + i * step in float64, rounded once */
} td_range_job;

#endif
