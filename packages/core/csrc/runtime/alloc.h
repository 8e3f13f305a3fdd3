/* alloc.h - the caching allocator of tensor memory.
 * Blocks are 64-byte aligned. Size classes: 64-byte steps to 1 KiB, then four a power of two.
 * Blocks from 4 MiB are 2 MiB aligned with huge pages. Freed blocks are kept for the next call, up
 * to a byte limit. Thread-safe, fork-safe. */
#ifndef TD_ALLOC_H
#define TD_ALLOC_H
#include <stdint.h>

typedef struct td_alloc_stats {
    int64_t allocated; /* bytes handed out now */
    int64_t peak;      /* its maximum since the last reset */
    int64_t cached;    /* bytes kept in free lists */
    int64_t limit;     /* most bytes the free lists keep */
    int64_t calls;     /* blocks handed out so far */
    int64_t mapped;    /* blocks that had to come from the system */
} td_alloc_stats;

void *td_alloc(int64_t bytes); /* NULL when memory is out; bytes >= 0 */
/* How many bytes this thread's last refused call asked for, since it was asked that; 0: none was
 * refused, or by td_alloc_fail_at. */
int64_t td_alloc_refused(void);
void td_free(void *block, int64_t bytes); /* the same number of bytes */
/* the same for the runtime's own structs: not in the statistics */
void *td_alloc_struct(int64_t bytes);
void td_free_struct(void *block, int64_t bytes);
void td_alloc_trim(void); /* give cached blocks back to the system */
void td_alloc_set_limit(int64_t bytes);
void td_alloc_get_stats(td_alloc_stats *out);
void td_alloc_reset_peak(void);
/* tests: the n-th call from now returns NULL; 0 switches it off */
void td_alloc_fail_at(int64_t n);

/* Tests: from now on td_alloc gives blocks that end (behind) or begin (before) at a page nobody may
 * touch, and td_free takes all rights to a block away for ever. Returns how many blocks were found
 * written to between their end and that page so far; -1 if address space is out. Written in
 * runtime/guard.c. */
typedef enum td_guard { TD_GUARD_OFF, TD_GUARD_BEHIND, TD_GUARD_BEFORE } td_guard;
int64_t td_alloc_guard(td_guard mode);

#endif
