/* pool.h - the thread pool. The caller takes part, chunks come from an atomic counter, a nested or
 * concurrent use runs serially, a forked child starts fresh. Work bodies never touch Python objects
 * and never fail. */
#ifndef TD_POOL_H
#define TD_POOL_H
#include <stdint.h>

typedef void (*td_range_fn)(void *context, int64_t begin, int64_t end);

/* Run fn over [0, n) in chunks of at least `grain`; returns when all is done. n <= grain runs in
 * the caller at once. */
void td_parallel(int64_t n, int64_t grain, td_range_fn fn, void *context);
int td_num_threads(void);
void td_set_num_threads(int n); /* n >= 1 */
int td_in_parallel(void);       /* 1 inside a body */

/* The interpreter lock around heavy work. The Python layer sets the pair; both are NULL in a
 * process without Python. td_heavy_begin releases the lock (if this thread holds it and work is
 * worth it), td_heavy_end takes it back. */
extern void *(*td_unlock_hook)(void);
extern void (*td_relock_hook)(void *token);
/* estimated nanoseconds of work below which the lock is kept */
#define TD_HEAVY_NS 50000
static inline void *td_heavy_begin(double nanoseconds)
{
    return (nanoseconds > TD_HEAVY_NS && td_unlock_hook) ? td_unlock_hook() : (void *)0;
}
static inline void td_heavy_end(void *token)
{
    if (token) td_relock_hook(token);
}

#endif
