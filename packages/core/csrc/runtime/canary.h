/* canary.h - what lies behind a block of memory, watched: in libraries built with TAEDA_DEBUG or
 * the address sanitizer; else nothing.
 *
 *   | the bytes asked for | guarded bytes, TD_CANARY_BYTES at least |
 *
 * Guarded bytes hold a pattern, which is looked at when the block is given back: that shows writes
 * of code that is not instrumented, such as a BLAS. Under the address sanitizer they are poisoned
 * too, and it stops at the very access. A block in use begins with bytes 0xff (NaN as a
 * floating-point number), so that what is read before it was written shows in the result. */
#ifndef TD_CANARY_H
#define TD_CANARY_H
#include <stdint.h>

#if defined(TAEDA_DEBUG) || defined(__SANITIZE_ADDRESS__)
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define TD_CANARY_BYTES 64
#define TD_CANARY_PATTERN 0xa5
#define TD_CANARY_SEEN                                                                             \
    ((int64_t)4096) /* of the guarded bytes: larger blocks have more of them than are worth a look \
                     */
#define TD_CANARY_FILLED ((int64_t)64 << 20)

#if defined(__SANITIZE_ADDRESS__)
void __asan_poison_memory_region(void const volatile *start, size_t bytes);
void __asan_unpoison_memory_region(void const volatile *start, size_t bytes);
#define TD_POISON(start, bytes) __asan_poison_memory_region(start, bytes)
#define TD_UNPOISON(start, bytes) __asan_unpoison_memory_region(start, bytes)
#else
#define TD_POISON(start, bytes) ((void)(start), (void)(bytes))
#define TD_UNPOISON(start, bytes) ((void)(start), (void)(bytes))
#endif

/* `block` of `whole` bytes, of which the first `used` are handed out */
static inline void td_canary_begin(void *block, int64_t used, int64_t whole)
{
    int64_t rest = whole - used;
    TD_UNPOISON(block, (size_t)whole);
    memset(block, 0xff, (size_t)(used < TD_CANARY_FILLED ? used : TD_CANARY_FILLED));
    memset((char *)block + used, TD_CANARY_PATTERN,
           (size_t)(rest < TD_CANARY_SEEN ? rest : TD_CANARY_SEEN));
    TD_POISON((char *)block + used, (size_t)rest);
}

/* ... and given back. Its bytes can be used until someone hides them. */
static inline void td_canary_end(void *block, int64_t used, int64_t whole)
{
    int64_t rest = whole - used;
    TD_UNPOISON(block, (size_t)whole);
    const unsigned char *behind = (const unsigned char *)block + used;
    for (int64_t i = 0; i < rest && i < TD_CANARY_SEEN; i++)
        if (behind[i] != TD_CANARY_PATTERN) {
            fprintf(stderr, "taeda: byte %lld behind a block of %lld bytes was written\n",
                    (long long)i, (long long)used);
            abort();
        }
}

static inline void td_canary_hide(void *block, int64_t whole) { TD_POISON(block, (size_t)whole); }
static inline void td_canary_show(void *block, int64_t whole) { TD_UNPOISON(block, (size_t)whole); }
#else
#define TD_CANARY_BYTES 0
static inline void td_canary_begin(void *block, int64_t used, int64_t whole)
{
    (void)block, (void)used, (void)whole;
}
static inline void td_canary_end(void *block, int64_t used, int64_t whole)
{
    (void)block, (void)used, (void)whole;
}
static inline void td_canary_hide(void *block, int64_t whole) { (void)block, (void)whole; }
static inline void td_canary_show(void *block, int64_t whole) { (void)block, (void)whole; }
#endif
#endif
