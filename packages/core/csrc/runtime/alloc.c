/* alloc.c - the caching allocator.
 *
 *   td_alloc ── this thread's lists (blocks up to 64 KiB) ── the shared lists (lock) ── malloc ── up to 64 KiB
 *                                                                                   ├─ a region (regions.c) ── up to 4 MiB
 *                                                                                   └─ mmap ──── larger
 *
 * A free block keeps the link to the next one in its own first bytes. A block freed by another
 * thread than the one that got it joins the freeing thread's list; lists that grow too long hand
 * half to the shared ones, and a thread that ends hands over everything. When a freed block would
 * take the shared lists over their limit, they are emptied first: what a program frees now is
 * likelier to be wanted again than what it freed long ago.
 *
 * Threads count for themselves and settle with the shared counters every 64 KiB, so `peak` is exact
 * to 64 KiB a thread; all other figures are exact. Under the address sanitizer nothing is kept or
 * mapped apart, so that it sees every use after free and both ends of every block; canary.h watches
 * what lies behind the bytes asked for. */
#define _GNU_SOURCE
#include "runtime/alloc.h"
#include "runtime/alloc_events.h"
#include "runtime/canary.h"
#include "runtime/guard.h"
#include "runtime/regions.h"
#include "runtime/size_classes.h"
#include "runtime/thread_local.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define KEEP_BLOCKS false
#else
#define KEEP_BLOCKS true
#endif

#define MAPPED_FROM ((int64_t)4 << 20)
#define THREAD_BYTES \
    ((int64_t)32 << 10) /* kept in one class by one thread, but four blocks at least */
#define SETTLE_BYTES ((int64_t)64 << 10)

typedef struct block {
    struct block *next;
} block;

/* ---- the shared lists ---- */
static struct {
    pthread_mutex_t lock;
    block *free[CLASSES];
    int64_t cached, limit; /* limit 0: not asked yet */
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

static atomic_llong total_allocated, total_peak, total_calls, total_mapped, fail_countdown;

/* ---- memory of the system ---- */
static void *system_take_once(int64_t bytes)
{
    if (KEEP_BLOCKS && bytes >= MAPPED_FROM) return td_map_huge(bytes);
    return KEEP_BLOCKS && td_region_holds(bytes) ? td_region_take(bytes)
                                                 : aligned_alloc(64, (size_t)bytes);
}

static void *system_take(int64_t bytes)
{
    void *b = system_take_once(bytes);
    if (!b) {
        td_alloc_trim();
        b = system_take_once(bytes);
    }
    if (b) atomic_fetch_add_explicit(&total_mapped, 1, memory_order_relaxed);
    return b;
}

static void system_give(void *b, int64_t bytes)
{
    if (KEEP_BLOCKS && bytes >= MAPPED_FROM) munmap(b, (size_t)bytes);
    else if (KEEP_BLOCKS && td_region_holds(bytes)) td_region_give(b, bytes);
    else free(b);
}

/* ---- the lists of a thread ---- */
typedef struct thread_list {
    block *free;
    atomic_int count; /* written by the owner only, as are the counters below */
    int room;         /* most blocks it keeps */
} thread_list;

typedef struct thread_cache {
    thread_list lists[THREAD_CLASSES];
    atomic_llong allocated, calls;     /* since the last settling */
    int64_t refused;                   /* bytes that were not to be had */
    struct thread_cache *next, **link; /* all threads' caches, under the shared lock */
} thread_cache;

static thread_cache *all_caches;
static pthread_key_t exit_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static TD_THREAD_LOCAL thread_cache *mine;

static int list_room(int k)
{
    int n = (int)(THREAD_BYTES / td_class_bytes(k));
    return !KEEP_BLOCKS ? 0 : n < 4 ? 4 : n;
}

static inline int64_t peek(atomic_llong *c)
{
    return atomic_load_explicit(c, memory_order_relaxed);
}
static inline void put(atomic_llong *c, int64_t v)
{
    atomic_store_explicit(c, v, memory_order_relaxed);
}
static inline int length(thread_list *l)
{
    return atomic_load_explicit(&l->count, memory_order_relaxed);
}
static inline void set_length(thread_list *l, int n)
{
    atomic_store_explicit(&l->count, n, memory_order_relaxed);
}

static void note_peak(int64_t now)
{
    long long peak = peek(&total_peak);
    while (now > peak && !atomic_compare_exchange_weak(&total_peak, &peak, now)) {}
}

static void settle(thread_cache *t)
{
    int64_t allocated = peek(&t->allocated);
    put(&t->allocated, 0);
    note_peak(atomic_fetch_add(&total_allocated, allocated) + allocated);
    atomic_fetch_add_explicit(&total_calls, peek(&t->calls), memory_order_relaxed);
    put(&t->calls, 0);
}

/* `n` blocks of class k leave a thread's list for the shared one, which the caller has locked. */
static void hand_over(thread_list *l, int k, int n)
{
    for (int i = 0; i < n; i++) {
        block *b = l->free;
        l->free = b->next;
        b->next = shared.free[k];
        shared.free[k] = b;
    }
    set_length(l, length(l) - n);
    shared.cached += n * td_class_bytes(k);
}

static void thread_ends(void *cache)
{
    thread_cache *t = cache;
    mine = NULL;
    pthread_mutex_lock(&shared.lock);
    settle(t);
    for (int k = 0; k < THREAD_CLASSES; k++) hand_over(&t->lists[k], k, length(&t->lists[k]));
    *t->link = t->next;
    if (t->next) t->next->link = t->link;
    pthread_mutex_unlock(&shared.lock);
    free(t);
}

static void lock_shared(void)
{
    pthread_mutex_lock(&shared.lock);
    td_region_lock();
}

static void unlock_shared(void)
{
    td_region_unlock();
    pthread_mutex_unlock(&shared.lock);
}

static void start(void)
{
    pthread_key_create(&exit_key, thread_ends);
    pthread_atfork(lock_shared, unlock_shared, unlock_shared); /* a child finds the lists whole */
}

static thread_cache *make_cache(void)
{
    pthread_once(&once, start);
    thread_cache *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    for (int k = 0; k < THREAD_CLASSES; k++) t->lists[k].room = list_room(k);
    pthread_mutex_lock(&shared.lock);
    t->next = all_caches;
    t->link = &all_caches;
    if (t->next) t->next->link = &t->next;
    all_caches = t;
    pthread_mutex_unlock(&shared.lock);
    pthread_setspecific(exit_key, t);
    return mine = t;
}

static inline thread_cache *my_cache(void) { return mine ? mine : make_cache(); }

/* ---- counting ---- */
static inline void count(thread_cache *t, int64_t bytes, int calls)
{
    if (!t) { /* no memory even for the lists */
        note_peak(atomic_fetch_add(&total_allocated, bytes) + bytes);
        atomic_fetch_add(&total_calls, calls);
        return;
    }
    int64_t now = peek(&t->allocated) + bytes;
    put(&t->allocated, now);
    put(&t->calls, peek(&t->calls) + calls);
    if (now > SETTLE_BYTES || now < -SETTLE_BYTES) settle(t);
}

static bool must_fail(void)
{
    return peek(&fail_countdown) > 0 && atomic_fetch_sub(&fail_countdown, 1) == 1;
}

/* ---- taking ---- */
static block *take_shared(int k)
{
    pthread_mutex_lock(&shared.lock);
    block *b = shared.free[k];
    if (b) {
        shared.free[k] = b->next;
        shared.cached -= td_class_bytes(k);
    }
    pthread_mutex_unlock(&shared.lock);
    return b;
}

/* Fetch up to half a list's worth at once, so that threads which only take meet the lock rarely. */
static block *refill(thread_list *l, int k)
{
    int n = 0;
    pthread_mutex_lock(&shared.lock);
    for (block *b; n < l->room / 2 && (b = shared.free[k]); n++) {
        shared.free[k] = b->next;
        b->next = l->free;
        l->free = b;
    }
    shared.cached -= n * td_class_bytes(k);
    pthread_mutex_unlock(&shared.lock);
    set_length(l, length(l) + n);
    return l->free;
}

static inline void *take(thread_cache *t, int k)
{
    if (!t || k >= THREAD_CLASSES) {
        block *b = take_shared(k);
        return b ? (void *)b : system_take(td_class_bytes(k));
    }
    thread_list *l = &t->lists[k];
    block *b = l->free;
    if (__builtin_expect(!b, 0) && !(b = refill(l, k))) return system_take(td_class_bytes(k));
    l->free = b->next;
    set_length(l, length(l) - 1);
    return b;
}

/* ---- giving back ---- */
static int64_t default_limit(void)
{
    int64_t pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? pages / 4 * size : (int64_t)1 << 30;
}

static void detach_all(block *lists[CLASSES])
{
    for (int k = 0; k < CLASSES; k++) {
        lists[k] = shared.free[k];
        shared.free[k] = NULL;
    }
    shared.cached = 0;
}

static void release_all(block *lists[CLASSES])
{
    for (int k = 0; k < CLASSES; k++)
        for (block *b = lists[k], *next; b; b = next) {
            next = b->next;
            system_give(b, td_class_bytes(k));
        }
}

static void give_shared(block *b, int k)
{
    block *old[CLASSES] = {NULL};
    int64_t bytes = td_class_bytes(k);
    pthread_mutex_lock(&shared.lock);
    if (!shared.limit) shared.limit = default_limit();
    if (shared.cached + bytes > shared.limit) detach_all(old);
    bool keep = KEEP_BLOCKS && bytes <= shared.limit;
    if (keep) {
        b->next = shared.free[k];
        shared.free[k] = b;
        shared.cached += bytes;
    }
    pthread_mutex_unlock(&shared.lock);
    release_all(old);
    if (!keep) system_give(b, bytes);
}

static void halve(thread_list *l, int k)
{
    pthread_mutex_lock(&shared.lock);
    hand_over(l, k, length(l) / 2);
    pthread_mutex_unlock(&shared.lock);
}

static inline void give(thread_cache *t, block *b, int k)
{
    if (!t || k >= THREAD_CLASSES || t->lists[k].room == 0) {
        give_shared(b, k);
        return;
    }
    thread_list *l = &t->lists[k];
    if (__builtin_expect(length(l) >= l->room, 0)) halve(l, k);
    b->next = l->free;
    l->free = b;
    set_length(l, length(l) + 1);
}

/* ---- the interface ---- */
static inline void *take_watched(thread_cache *t, int64_t bytes)
{
    int k = td_class_of(bytes + TD_CANARY_BYTES);
    void *b = take(t, k);
    if (b) td_canary_begin(b, bytes, td_class_bytes(k));
    return b;
}

static inline void give_watched(thread_cache *t, void *b, int64_t bytes)
{
    int k = td_class_of(bytes + TD_CANARY_BYTES);
    td_canary_end(b, bytes, td_class_bytes(k));
    give(t, b, k);
}

static void refuse(thread_cache *t, int64_t bytes)
{
    if (t) t->refused = bytes;
}

int64_t td_alloc_refused(void)
{
    int64_t bytes = mine ? mine->refused : 0;
    if (mine) mine->refused = 0;
    return bytes;
}

void *td_alloc(int64_t bytes)
{
    if (must_fail()) return NULL;
    thread_cache *t = my_cache();
    if (bytes < 0 || bytes > td_class_bytes(CLASSES - 1) - TD_CANARY_BYTES) {
        refuse(t, bytes);
        return NULL;
    }
    void *b = __builtin_expect(td_guard_mode, 0) ? td_guard_take(bytes) : take_watched(t, bytes);
    if (b) count(t, bytes, 1);
    else refuse(t, bytes);
    if (__builtin_expect(td_alloc_noting, 0) && b) td_alloc_note(b, bytes);
    return b;
}

void td_free(void *b, int64_t bytes)
{
    if (!b) return;
    thread_cache *t = my_cache();
    count(t, -bytes, 0);
    if (__builtin_expect(td_alloc_noting, 0)) td_alloc_note(b, -bytes);
    if (__builtin_expect(td_is_guarded(b), 0)) td_guard_give(b, bytes);
    else give_watched(t, b, bytes);
}

void *td_alloc_struct(int64_t bytes)
{
    return must_fail() ? NULL : take_watched(my_cache(), bytes);
}

void td_free_struct(void *b, int64_t bytes)
{
    if (b) give_watched(my_cache(), b, bytes);
}

void td_alloc_trim(void)
{
    block *lists[CLASSES];
    pthread_mutex_lock(&shared.lock);
    for (int k = 0; mine && k < THREAD_CLASSES; k++)
        hand_over(&mine->lists[k], k, length(&mine->lists[k]));
    detach_all(lists);
    pthread_mutex_unlock(&shared.lock);
    release_all(lists);
}

void td_alloc_set_limit(int64_t bytes)
{
    pthread_mutex_lock(&shared.lock);
    shared.limit = bytes > 0 ? bytes : 1; /* 1: no block is that small, so nothing is kept */
    bool full = shared.cached > shared.limit;
    pthread_mutex_unlock(&shared.lock);
    if (full) td_alloc_trim();
}

void td_alloc_get_stats(td_alloc_stats *out)
{
    pthread_mutex_lock(&shared.lock);
    *out = (td_alloc_stats){.allocated = peek(&total_allocated),
                            .cached = shared.cached,
                            .calls = peek(&total_calls),
                            .limit = shared.limit ? shared.limit : default_limit(),
                            .mapped = peek(&total_mapped)};
    for (thread_cache *t = all_caches; t; t = t->next) {
        out->allocated += peek(&t->allocated);
        out->calls += peek(&t->calls);
        for (int k = 0; k < THREAD_CLASSES; k++)
            out->cached += length(&t->lists[k]) * td_class_bytes(k);
    }
    pthread_mutex_unlock(&shared.lock);
    note_peak(out->allocated);
    out->peak = peek(&total_peak);
}

void td_alloc_reset_peak(void)
{
    td_alloc_stats now;
    td_alloc_get_stats(&now);
    put(&total_peak, now.allocated);
}

void td_alloc_fail_at(int64_t n) { put(&fail_countdown, n > 0 ? n : 0); }
