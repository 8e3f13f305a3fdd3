/* pool.h - device memory: taken from the driver in segments, handed out in blocks that are split
 * and merged. */
#ifndef TD_CUDA_POOL_H
#define TD_CUDA_POOL_H
#include "cuda/count.h"
#include "cuda/device.h"
#include "cuda/pool_history.h"

/* of all blocks, of small ones (up to 1 MiB) and of large ones */
enum { TD_CUDA_ALL, TD_CUDA_SMALL, TD_CUDA_LARGE, TD_CUDA_KINDS };

/* X(name): numbers of blocks and segments, and bytes. active: in use, or waiting for other streams;
 * inactive_split: free parts of segments in use; requested: before rounding */
#define TD_CUDA_COUNTS(X)   \
    X(allocation)           \
    X(segment)              \
    X(active)               \
    X(inactive_split)       \
    X(allocated_bytes)      \
    X(reserved_bytes)       \
    X(active_bytes)         \
    X(inactive_split_bytes) \
    X(requested_bytes)

/* of one device, since it was first used */
typedef struct td_cuda_stats {
#define COUNT(name) struct td_cuda_count name[TD_CUDA_KINDS];
    TD_CUDA_COUNTS(COUNT)
#undef COUNT
    struct td_cuda_count oversize_allocations, oversize_segments;
    int64_t retries, ooms, waits, driver_allocs, driver_frees; /* waits: for all streams */
} td_cuda_stats;

void td_cuda_pool_stats(int ordinal, td_cuda_stats *out);
void td_cuda_pool_reset(int ordinal, bool peaks); /* peaks, or what was allocated and freed */
/* Another stream works on the tensor's memory, too: it serves again when that work is done. */
td_status td_cuda_pool_used(const td_tensor *t, void *stream);
td_status td_cuda_pool_trim(int ordinal); /* give whole unused segments back to the driver */
/* The same, and what Python holds without need: the driver found no memory for what it makes itself
 * (a module, an event, room of a launch). Whatever the answer, the driver is asked once more. */
void td_cuda_relieve(int ordinal);

/* Bytes that the allocator may take from the driver; INT64_MAX: as many as there are. */
void td_cuda_pool_limit(int ordinal, int64_t bytes);
/* Allocations come straight from the driver, without being kept. Blocks that there are go their
 * way. */
void td_cuda_pool_uncached(bool uncached);
extern void (*td_cuda_collect)(void); /* unreferenced tensors of Python; filled by the binding */

/* ---- functions of somebody else ---- */
typedef void *(*td_cuda_give)(int64_t bytes, int ordinal, void *stream);
typedef void (*td_cuda_take)(void *data, int64_t bytes, int ordinal, void *stream);
/* They allocate from now on, instead of this pool. RuntimeError once something was allocated. */
td_status td_cuda_pool_replace(td_cuda_give give, td_cuda_take take);

/* ---- private pools: segments that serve nobody else ---- */
typedef struct td_cuda_private td_cuda_private;
td_status td_cuda_private_new(td_cuda_private **out, td_cuda_give give, td_cuda_take take);
/* Its maker is gone: what tensors hold lives on, and goes back when it is free. */
void td_cuda_private_drop(td_cuda_private *p);
/* Allocations of this thread on a device come from it; NULL: from the common one. *before: the
 * one of before. */
td_status td_cuda_private_enter(int ordinal, td_cuda_private *p, td_cuda_private **before);
/* Does it lie in this pool? */
bool td_cuda_private_owns(const td_cuda_private *p, const td_storage *s);
int64_t td_cuda_private_id(const td_cuda_private *p); /* from 1 on */
int td_cuda_private_owners(const td_cuda_private *p); /* its maker, and who allocates from it */

/* ---- what there is ---- */
enum { TD_CUDA_FREE, TD_CUDA_WAITING, TD_CUDA_IN_USE };
typedef struct td_cuda_seen { /* a block */
    uint64_t segment, address;
    int64_t bytes, asked, stack, segment_bytes, pool;
    void *stream;
    int ordinal, state, small;
} td_cuda_seen;
/* All blocks, segment by segment in order of addresses, to be freed; *n of them. NULL without one.
 */
td_cuda_seen *td_cuda_pool_seen(int64_t *n);
td_cuda_step *td_cuda_pool_steps(int64_t *n);
void td_cuda_pool_record(int64_t most, int recording); /* 0: no longer */

#endif
