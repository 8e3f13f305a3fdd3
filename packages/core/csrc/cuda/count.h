/* count.h - a number that goes up and down, with its peak and its sums. */
#ifndef TD_CUDA_COUNT_H
#define TD_CUDA_COUNT_H
#include <stdbool.h>
#include <stdint.h>

struct td_cuda_count {
    int64_t current, peak, allocated, freed;
};

static inline void td_cuda_counted(struct td_cuda_count *c, int64_t change)
{
    c->current += change;
    if (change > 0) c->allocated += change;
    else c->freed -= change;
    if (c->current > c->peak) c->peak = c->current;
}

/* The peak, or the sums, start from now. */
static inline void td_cuda_count_reset(struct td_cuda_count *c, bool peak)
{
    if (peak) c->peak = c->current;
    else c->allocated = c->freed = 0;
}

#endif
