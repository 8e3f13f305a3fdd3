/* guard.h - blocks between pages that nobody may touch: how the allocator asks for them. */
#ifndef TD_GUARD_H
#define TD_GUARD_H
#include <stdbool.h>
#include <stdint.h>
#include "runtime/alloc.h"

extern td_guard td_guard_mode; /* set between calls, never during one */
/* all guarded blocks lie here; empty in a process that never asked */
extern char *td_guard_range;
extern int64_t td_guard_size;

static inline bool td_is_guarded(const void *b)
{
    return (uint64_t)((const char *)b - td_guard_range) < (uint64_t)td_guard_size;
}
void *td_guard_take(int64_t bytes);
void td_guard_give(void *b, int64_t bytes);
#endif
