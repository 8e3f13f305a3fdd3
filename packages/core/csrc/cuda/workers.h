/* workers.h - the families that CUDA devices compute with kernels of their own (runtime/work.h), a
 * line each. */
#ifndef TD_CUDA_WORKERS_H
#define TD_CUDA_WORKERS_H
#include "runtime/work.h"

#define TD_CUDA_WORKERS(X)                    \
    X(TD_WORK_PLACES, td_cuda_places)         \
    X(TD_WORK_PAIR_LOSS, td_cuda_pair_loss)   \
    X(TD_WORK_CLASS_LOSS, td_cuda_class_loss) \
    X(TD_WORK_MARGINS, td_cuda_margins)       \
    X(TD_WORK_CONV, td_cuda_conv)             \
    X(TD_WORK_NORM, td_cuda_norm)             \
    X(TD_WORK_SEARCH, td_cuda_search)         \
    X(TD_WORK_RESAMPLE, td_cuda_resample)     \
    X(TD_WORK_GRID, td_cuda_resample_grid)    \
    X(TD_WORK_SORT, td_cuda_sort)             \
    X(TD_WORK_RANK, td_cuda_rank)             \
    X(TD_WORK_SCAN, td_cuda_scan)             \
    X(TD_WORK_TRIANGLE, td_cuda_triangle)     \
    X(TD_WORK_ATTENTION, td_cuda_attention)   \
    X(TD_WORK_OPTIM, td_cuda_optim)           \
    X(TD_WORK_DROPOUT, td_cuda_dropout)       \
    X(TD_WORK_RECURRENCE, td_cuda_recurrence) \
    X(TD_WORK_POOLING, td_cuda_pool_windows)  \
    X(TD_WORK_DISTANCE, td_cuda_distance)     \
    X(TD_WORK_RANGE, td_cuda_range)           \
    X(TD_WORK_ALIGNMENT, td_cuda_alignment)   \
    X(TD_WORK_SOFTMAX, td_cuda_softmax)

#define DECLARE(work, worker) td_status worker(const void *job, td_device device);
TD_CUDA_WORKERS(DECLARE)
#undef DECLARE
#endif
