/* pool_count.c - where the allocator's memory comes from, and its statistics. */
#include "cuda/graph.h"
#include "cuda/pool_blocks.h"

td_cuda_stats td_cuda_pool_counts[TD_DEVICE_ORDINALS];
static td_cuda_stats *counts(int ordinal) { return &td_cuda_pool_counts[ordinal]; }

/* ---- memory of the driver, or of somebody's functions ---- */
int td_cuda_memory_take(const td_cuda_private *home, int direct, int64_t bytes, int ordinal,
                        void *stream, char **out)
{
    uint64_t address = 0;
    td_cuda_give give = home->give;
    if (give) return (*out = give(bytes, ordinal, stream)) ? 0 : TD_CUDA_NO_MEMORY;
    /* a capture allows allocations only where a thread says that it knows what it does */
    int mode = td_cuda_relax();
    int code = direct == TD_CUDA_ASYNC ? td_cu.cuMemAllocAsync(&address, (size_t)bytes, stream)
                                       : td_cu.cuMemAlloc_v2(&address, (size_t)bytes);
    td_cuda_strict(mode);
    *out = (char *)(uintptr_t)address;
    counts(ordinal)->driver_allocs += !code;
    return code;
}

int td_cuda_memory_give(const td_cuda_private *home, int direct, char *data, int64_t bytes,
                        int ordinal, void *stream)
{
    td_cuda_take take = home->take;
    if (take) return take(data, bytes, ordinal, stream), 0;
    int code = direct == TD_CUDA_ASYNC ? td_cu.cuMemFreeAsync((uint64_t)(uintptr_t)data, stream)
                                       : td_cu.cuMemFree_v2((uint64_t)(uintptr_t)data);
    counts(ordinal)->driver_frees += !code;
    return code;
}

int td_cuda_memory_trim(int ordinal)
{
    void *pool;
    int device, code = td_cu.cuDeviceGet(&device, ordinal);
    if (!code) code = td_cu.cuDeviceGetDefaultMemPool(&pool, device);
    if (!code) code = td_cu.cuCtxSynchronize();
    return code ? code : td_cu.cuMemPoolTrimTo(pool, 0);
}

/* ---- statistics ---- */
void td_cuda_pool_stats(int ordinal, td_cuda_stats *out)
{
    pthread_mutex_lock(&td_cuda_pool_lock);
    *out = *counts(ordinal);
    pthread_mutex_unlock(&td_cuda_pool_lock);
}

void td_cuda_pool_reset(int ordinal, bool peaks)
{
    pthread_mutex_lock(&td_cuda_pool_lock);
    td_cuda_stats *s = counts(ordinal);
#define RESET(name) \
    for (int k = 0; k < TD_CUDA_KINDS; k++) td_cuda_count_reset(&s->name[k], peaks);
    TD_CUDA_COUNTS(RESET)
#undef RESET
    td_cuda_count_reset(&s->oversize_allocations, peaks);
    td_cuda_count_reset(&s->oversize_segments, peaks);
    if (!peaks) s->retries = s->ooms = s->waits = s->driver_allocs = s->driver_frees = 0;
    pthread_mutex_unlock(&td_cuda_pool_lock);
}
