/* pool.h - device memory: taken from the driver in segments, handed out in blocks that are split
 * and merged. */
#ifndef TD_CUDA_POOL_H
#define TD_CUDA_POOL_H
#include "cuda/count.h"
#include "cuda/device.h"

/* of one device, since it was first used */
typedef struct td_cuda_stats {
    /* numbers of blocks in use and of segments held */
    struct td_cuda_count allocation, segment;
    /* bytes of blocks in use and of segments held */
    struct td_cuda_count allocated_bytes, reserved_bytes;
    struct td_cuda_count requested_bytes; /* what was asked for, before rounding */
    /* of blocks in use, and of those that other streams still work on */
    struct td_cuda_count active, active_bytes;
    int64_t retries, ooms;
} td_cuda_stats;

void td_cuda_pool_stats(int ordinal, td_cuda_stats *out);
void td_cuda_pool_reset(int ordinal, bool peaks); /* peaks, or what was allocated and freed */
/* Another stream works on the tensor's memory, too: it serves again when that work is done. */
td_status td_cuda_pool_used(const td_tensor *t, void *stream);
td_status td_cuda_pool_trim(int ordinal); /* give whole unused segments back to the driver */

#endif
