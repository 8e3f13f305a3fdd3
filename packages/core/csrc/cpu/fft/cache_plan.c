/* cache_plan.c - plans that were used lately, up to a number and a sum of bytes. The one used
 * longest ago goes first; a plan in use outlives its place. Building happens outside the lock: two
 * threads that want the same new length both build it. */
#include <pthread.h>
#include "cpu/fft/fft_plan.h"

#define PLACES 64

static struct {
    pthread_mutex_t lock;
    td_fft_plan *plans[PLACES];
    int64_t bytes, clock;
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A child of fork finds the lock free, whoever held it. */
static void lock(void) { pthread_mutex_lock(&cache.lock); }
static void unlock(void) { pthread_mutex_unlock(&cache.lock); }
static void register_fork_handlers(void) { pthread_atfork(lock, unlock, unlock); }

static void drop(td_fft_plan *p)
{
    if (p && --p->refs == 0) td_fft_plan_free(p);
}

static td_fft_plan *find(int64_t n, int type)
{
    for (int i = 0; i < PLACES; i++) {
        td_fft_plan *p = cache.plans[i];
        if (!p || p->n != n || p->type != type) continue;
        p->used = ++cache.clock;
        p->refs++;
        return p;
    }
    return NULL;
}

static int oldest(void)
{
    int at = 0;
    for (int i = 0; i < PLACES; i++) {
        if (!cache.plans[i]) return i;
        if (cache.plans[i]->used < cache.plans[at]->used) at = i;
    }
    return at;
}

static void evict(int at)
{
    if (!cache.plans[at]) return;
    cache.bytes -= cache.plans[at]->bytes;
    drop(cache.plans[at]);
    cache.plans[at] = NULL;
}

static int oldest_plan(void)
{
    int at = -1;
    for (int i = 0; i < PLACES; i++)
        if (cache.plans[i] && (at < 0 || cache.plans[i]->used < cache.plans[at]->used)) at = i;
    return at;
}

static void keep(td_fft_plan *p)
{
    if (p->bytes > TD_FFT_CACHE_BYTES) return;
    while (cache.bytes + p->bytes > TD_FFT_CACHE_BYTES) evict(oldest_plan());
    int at = oldest();
    evict(at);
    p->refs++;
    p->used = ++cache.clock;
    cache.plans[at] = p;
    cache.bytes += p->bytes;
}

td_status td_fft_plan_get(td_fft_plan **out, int64_t n, int type)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_fork_handlers);
    lock();
    *out = find(n, type);
    unlock();
    if (*out) return TD_OK;
    TD_TRY(td_fft_plan_new(out, n, type));
    lock();
    td_fft_plan *other = find(n, type);
    if (other) drop(other);
    else keep(*out);
    unlock();
    return TD_OK;
}

void td_fft_plan_give(td_fft_plan *p)
{
    if (!p) return;
    lock();
    drop(p);
    unlock();
}

int64_t td_fft_cached_bytes(void)
{
    lock();
    int64_t bytes = cache.bytes;
    unlock();
    return bytes;
}
