/* host.h - page-locked memory of the host, from which and to which devices copy on their own. */
#ifndef TD_CUDA_HOST_H
#define TD_CUDA_HOST_H
#include "cuda/count.h"
#include "cuda/device.h"

typedef struct td_cuda_host_stats {
    struct td_cuda_count allocation, segment;             /* blocks in use, blocks held */
    struct td_cuda_count allocated_bytes, reserved_bytes; /* of the same */
    int64_t host_alloc_us, host_free_us;                  /* spent in the driver, in microseconds */
    int64_t host_allocs, host_frees;                      /* calls of it */
} td_cuda_host_stats;

/* `t` is on the cpu and nobody else knows its memory yet: the bytes move to page-locked memory. */
td_status td_cuda_pin(td_tensor *t);
bool td_cuda_is_pinned(const td_tensor *t);

/* Does page-locked memory of ours hold this address? Then a stream works on it from now on. */
bool td_cuda_host_used(const void *address, int ordinal, void *stream, td_status *status);

td_status td_cuda_host_trim(void); /* give unused blocks back to the system */
void td_cuda_host_stats_of(td_cuda_host_stats *out);
void td_cuda_host_reset(bool peaks);

#endif
