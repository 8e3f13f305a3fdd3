/* scan_run.h - running sums and their relatives over dense tensors, shared out among threads. */
#ifndef TD_SCAN_RUN_H
#define TD_SCAN_RUN_H
#include "cpu/scan.h"
#include "runtime/tensor.h"
#include "runtime/work.h"

bool td_scan_has(td_scan_kind kind, td_dtype dtype);
/* x and out dense, of one dtype that there is a kernel for; indices of int64, for cummax and
 * cummin, else NULL */
td_status td_scan_run(td_scan_kind kind, td_tensor *out, td_tensor *indices, const td_tensor *x,
                      int64_t dim);

/* What a device with kernels of its own is asked for (TD_WORK_SCAN). */
typedef struct td_scan_job {
    td_scan_kind kind;
    td_tensor *out, *indices;
    const td_tensor *x;
    int64_t dim;
} td_scan_job;

#endif
