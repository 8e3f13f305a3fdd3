/* order_run.h - one element of every row, by rank or by how often it comes. */
#ifndef TD_ORDER_RUN_H
#define TD_ORDER_RUN_H
#include "cpu/sorting/sort_run.h"

typedef enum td_rank { TD_RANK_KTH, TD_RANK_MEDIAN, TD_RANK_NANMEDIAN, TD_RANK_MODE } td_rank;

/* k counts from 0, for KTH alone; one value a row, and its place, where `indices` is not NULL */
td_status td_rank_run(const td_rows *rows, td_dtype dtype, td_rank what, int64_t k,
                      td_tensor *values, td_tensor *indices);

#endif
