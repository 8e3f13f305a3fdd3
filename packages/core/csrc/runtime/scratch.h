/* scratch.h - work memory for the bodies of one parallel loop: one block a thread, taken before the
 * loop, because a body cannot fail. A body takes a free block and gives it back. */
#ifndef TD_SCRATCH_H
#define TD_SCRATCH_H
#include <stdatomic.h>
#include "runtime/alloc.h"
#include "runtime/error.h"
#include "runtime/canary.h"
#include "runtime/pool.h"

typedef struct td_scratch {
    char *memory; /* the blocks, then a flag for each */
    /* a block may be used up to `used`; the next one begins `each` behind it */
    int64_t used, each, bytes;
    int count;
} td_scratch;

/* `count` blocks: as many as bodies that run at once */
static inline td_status td_scratch_begin_some(td_scratch *s, int count, int64_t each)
{
    if (each > INT64_MAX / count - 192 - TD_CANARY_BYTES)
        return td_fail(TD_MEMORY_ERROR, "no memory for %d blocks of %lld bytes of work space",
                       count, (long long)each);
    s->count = count;
    s->used = each > 0 ? each : 0;
    /* never 0: the place of a block says which flag is its own */
    s->each = (each > 0 ? (each + 63) / 64 * 64 : 64) + TD_CANARY_BYTES;
    s->bytes = s->count * (s->each + 64);
    s->memory = td_alloc(s->bytes);
    if (!s->memory)
        return td_fail(TD_MEMORY_ERROR, "no memory for %lld bytes of work space",
                       (long long)s->bytes);
    for (int i = 0; i < s->count; i++)
        atomic_init((atomic_int *)(s->memory + s->count * s->each + i * 64), 0);
    td_canary_hide(s->memory, s->count * s->each);
    return TD_OK;
}

static inline td_status td_scratch_begin(td_scratch *s, int64_t each)
{
    return td_scratch_begin_some(s, td_in_parallel() ? 1 : td_num_threads(), each);
}

static inline void td_scratch_end(td_scratch *s)
{
    td_canary_show(s->memory, s->count * s->each);
    td_free(s->memory, s->bytes);
}

static inline atomic_int *td_scratch_flag(const td_scratch *s, int slot)
{
    return (atomic_int *)(s->memory + s->count * s->each + slot * 64);
}

/* There are as many blocks as bodies can run at once, so a free one is found. */
static inline void *td_scratch_take(const td_scratch *s)
{
    for (int slot = 0;; slot = (slot + 1) % s->count)
        if (!atomic_exchange_explicit(td_scratch_flag(s, slot), 1, memory_order_acquire)) {
            td_canary_begin(s->memory + slot * s->each, s->used, s->each);
            return s->memory + slot * s->each;
        }
}

static inline void td_scratch_give(const td_scratch *s, void *block)
{
    int slot = (int)(((char *)block - s->memory) / s->each);
    td_canary_end(block, s->used, s->each);
    td_canary_hide(block, s->each);
    atomic_store_explicit(td_scratch_flag(s, slot), 0, memory_order_release);
}
#endif
