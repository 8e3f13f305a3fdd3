/* order_run.h - one element of every row, by rank or by how often it comes. */
#ifndef TD_ORDER_RUN_H
#define TD_ORDER_RUN_H
#include "cpu/sorting/sort_run.h"

typedef enum td_rank { TD_RANK_KTH, TD_RANK_MEDIAN, TD_RANK_NANMEDIAN, TD_RANK_MODE } td_rank;

/* k counts from 0, for KTH alone; one value a row, and its place, where `indices` is not NULL */
td_status td_rank_run(const td_rows *rows, td_dtype dtype, td_rank what, int64_t k,
                      td_tensor *values, td_tensor *indices);

/* What a device with kernels of its own is asked for (TD_WORK_RANK). */
typedef struct td_rank_job {
    const td_rows *rows;
    td_dtype dtype;
    td_rank what;
    int64_t k;
    td_tensor *values, *indices;
} td_rank_job;

#endif
