/* pool.c - the caching allocator of device memory.
 *
 *   segment of the driver   |  block in use  | free |  block in use  |      free       |
 *                              prev <------------ neighbours ------------> next
 *
 * A free block waits in a list by its size, the device, and the stream that used it: work of one
 * stream is in order, so the next owner on that stream needs no wait. Small blocks (up to 1 MiB)
 * come from segments of 2 MiB, larger ones from segments of 20 MiB or of their own. Neighbours that
 * are free become one. */
#include "cuda/pool.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "cuda/users.h"
#include "runtime/alloc.h"

#define GRAIN 512
#define SMALL ((int64_t)1 << 20)
#define SMALL_SEGMENT ((int64_t)2 << 20)
#define LARGE_SEGMENT ((int64_t)20 << 20)
#define OWN_SEGMENT                                                                              \
    ((int64_t)10 << 20) /* from here on a segment is made for the block alone, in steps of 2 MiB \
                         */
#define BINS 48

typedef struct block {
    struct block *prev, *next;    /* neighbours in the segment */
    struct block *before, *after; /* in the list of free ones */
    char *data;
    int64_t bytes, asked;
    void *stream;
    td_cuda_user *users; /* streams that work on it beside `stream` */
    uint8_t ordinal, small, in_use;
} block;

typedef struct pool {
    block *bins[2][BINS]; /* small and large; bin k: sizes from GRAIN << k on */
    block *busy;          /* released, but other streams still work on them */
    td_cuda_stats stats;
} pool;

static pool pools[TD_CUDA_DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- statistics ---- */
static void count_block(pool *p, const block *b, int sign)
{
    td_cuda_counted(&p->stats.allocation, sign);
    td_cuda_counted(&p->stats.allocated_bytes, sign * b->bytes);
    td_cuda_counted(&p->stats.requested_bytes, sign * b->asked);
}

static void count_segment(pool *p, int64_t bytes, int sign)
{
    td_cuda_counted(&p->stats.segment, sign);
    td_cuda_counted(&p->stats.reserved_bytes, sign * bytes);
}

void td_cuda_pool_stats(int ordinal, td_cuda_stats *out)
{
    pthread_mutex_lock(&lock);
    *out = pools[ordinal].stats;
    pthread_mutex_unlock(&lock);
}

void td_cuda_pool_reset(int ordinal, bool peaks)
{
    pthread_mutex_lock(&lock);
    td_cuda_stats *s = &pools[ordinal].stats;
    struct td_cuda_count *all[] = {&s->allocation,     &s->segment,         &s->allocated_bytes,
                                   &s->reserved_bytes, &s->requested_bytes, &s->active,
                                   &s->active_bytes};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) td_cuda_count_reset(all[k], peaks);
    if (!peaks) s->retries = s->ooms = 0;
    pthread_mutex_unlock(&lock);
}

/* ---- lists of free blocks ---- */
static int bin_of(int64_t bytes)
{
    int k = 63 - __builtin_clzll((unsigned long long)(bytes / GRAIN));
    return k < BINS ? k : BINS - 1;
}

static void enlist(pool *p, block *b)
{
    block **first = &p->bins[!b->small][bin_of(b->bytes)];
    b->before = NULL;
    b->after = *first;
    if (*first) (*first)->before = b;
    *first = b;
}

static void delist(pool *p, block *b)
{
    if (b->before) b->before->after = b->after;
    else p->bins[!b->small][bin_of(b->bytes)] = b->after;
    if (b->after) b->after->before = b->before;
}

/* the smallest that is large enough */
static block *find(pool *p, int64_t bytes, bool small, void *stream)
{
    for (int k = bin_of(bytes); k < BINS; k++) {
        block *best = NULL;
        for (block *b = p->bins[!small][k]; b; b = b->after) {
            if (b->bytes < bytes || b->stream != stream) continue;
            if (!best || b->bytes < best->bytes) best = b;
            if (best->bytes == bytes) return best;
        }
        if (best) return best;
    }
    return NULL;
}

/* ---- splitting and merging ---- */
static void split(pool *p, block *b, int64_t bytes)
{
    int64_t rest = b->bytes - bytes;
    if (rest < (b->small ? GRAIN : SMALL)) return;
    block *other = td_alloc_struct(sizeof *other);
    if (!other) return; /* the whole block serves as well */
    *other = (block){.prev = b,
                     .next = b->next,
                     .data = b->data + bytes,
                     .bytes = rest,
                     .stream = b->stream,
                     .ordinal = b->ordinal,
                     .small = b->small};
    if (b->next) b->next->prev = other;
    b->next = other;
    b->bytes = bytes;
    enlist(p, other);
}

/* `b` takes its free neighbour `n` in */
static void absorb(pool *p, block *b, block *n)
{
    delist(p, n);
    if (n == b->prev) {
        b->data = n->data;
        b->prev = n->prev;
        if (n->prev) n->prev->next = b;
    } else {
        b->next = n->next;
        if (n->next) n->next->prev = b;
    }
    b->bytes += n->bytes;
    td_free_struct(n, sizeof *n);
}

/* ---- released blocks ---- */
static void serve_again(pool *p, block *b)
{
    td_cuda_counted(&p->stats.active, -1);
    td_cuda_counted(&p->stats.active_bytes, -b->bytes);
    b->in_use = 0;
    if (b->prev && !b->prev->in_use && b->prev->stream == b->stream) absorb(p, b, b->prev);
    if (b->next && !b->next->in_use && b->next->stream == b->stream) absorb(p, b, b->next);
    enlist(p, b);
}

static void settle(pool *p, bool wait) /* those whose streams are done */
{
    for (block **at = &p->busy; *at;) {
        block *b = *at;
        if (wait) td_cuda_users_wait(&b->users);
        if (!td_cuda_users_done(&b->users)) {
            at = &b->after;
            continue;
        }
        *at = b->after;
        serve_again(p, b);
    }
}

/* ---- segments ---- */
static int64_t segment_bytes(int64_t bytes, bool small)
{
    if (small) return SMALL_SEGMENT;
    return bytes < OWN_SEGMENT ? LARGE_SEGMENT
                               : (bytes + SMALL_SEGMENT - 1) / SMALL_SEGMENT * SMALL_SEGMENT;
}

static int trim(pool *p)
{
    int code = 0, synced = 0;
    settle(p, true);
    for (int large = 0; large < 2; large++)
        for (int k = 0; k < BINS; k++)
            for (block *b = p->bins[large][k], *after; b && !code; b = after) {
                after = b->after;
                if (b->prev || b->next) continue;
                if (!synced) code = td_cu.cuCtxSynchronize(), synced = 1;
                if (code || (code = td_cu.cuMemFree_v2((uint64_t)(uintptr_t)b->data))) break;
                delist(p, b);
                count_segment(p, b->bytes, -1);
                td_free_struct(b, sizeof *b);
            }
    return code;
}

td_status td_cuda_pool_trim(int ordinal)
{
    TD_TRY(td_cuda_use(ordinal));
    pthread_mutex_lock(&lock);
    int code = trim(&pools[ordinal]);
    pthread_mutex_unlock(&lock);
    TD_CU(code, "giving memory back");
    return TD_OK;
}

static block *new_segment(pool *p, int ordinal, int64_t bytes, bool small, void *stream, int *code)
{
    block *b = td_alloc_struct(sizeof *b);
    uint64_t address = 0;
    int64_t whole = segment_bytes(bytes, small);
    if (!b) return *code = TD_CUDA_NO_MEMORY, NULL;
    *code = td_cu.cuMemAlloc_v2(&address, (size_t)whole);
    if (*code == TD_CUDA_NO_MEMORY) {
        p->stats.retries++;
        trim(p);
        *code = td_cu.cuMemAlloc_v2(&address, (size_t)whole);
        if (*code == TD_CUDA_NO_MEMORY && !small && whole > bytes)
            *code = td_cu.cuMemAlloc_v2(&address, (size_t)(whole = bytes));
    }
    if (*code) return td_free_struct(b, sizeof *b), NULL;
    *b = (block){.data = (char *)(uintptr_t)address,
                 .bytes = whole,
                 .stream = stream,
                 .ordinal = (uint8_t)ordinal,
                 .small = small};
    count_segment(p, whole, 1);
    enlist(p, b);
    return b;
}

/* ---- what the table of devices offers ---- */
static const char *size_text(char text[32], int64_t bytes)
{
    if (bytes < 1 << 20) snprintf(text, 32, "%.2f KiB", (double)bytes / 1024);
    else if (bytes < 1 << 30) snprintf(text, 32, "%.2f MiB", (double)bytes / (1 << 20));
    else snprintf(text, 32, "%.2f GiB", (double)bytes / (1 << 30));
    return text;
}

static td_status no_memory(const td_cuda_stats *s, int ordinal, int64_t bytes)
{
    size_t unused = 0, total = 0;
    char a[32], b[32], c[32], d[32], e[32], f[32];
    td_cu.cuMemGetInfo_v2(&unused, &total);
    return td_fail(TD_MEMORY_ERROR,
                   "CUDA out of memory. Tried to allocate %s on cuda:%d.\n"
                   "  capacity of the device     %s\n  free                       %s\n"
                   "  held by taeda              %s in %lld segments\n  of it in use by tensors    "
                   "%s in %lld blocks (peak %s)\n"
                   "Smaller batches need less; taeda.cuda.empty_cache() gives unused segments back "
                   "to other programs",
                   size_text(a, bytes), ordinal, size_text(b, (int64_t)total),
                   size_text(c, (int64_t)unused), size_text(d, s->reserved_bytes.current),
                   (long long)s->segment.current, size_text(e, s->allocated_bytes.current),
                   (long long)s->allocation.current, size_text(f, s->allocated_bytes.peak));
}

td_status td_cuda_alloc(char **out, int64_t bytes, td_device device, void **context)
{
    int ordinal = td_device_index(device), code = 0;
    TD_TRY(td_cuda_use(ordinal));
    if (bytes > INT64_MAX / 2)
        return td_fail(TD_MEMORY_ERROR, "CUDA out of memory. Tried to allocate %lld bytes",
                       (long long)bytes);
    int64_t rounded = bytes > 0 ? (bytes + GRAIN - 1) / GRAIN * GRAIN : GRAIN;
    bool small = rounded <= SMALL;
    void *stream = td_cuda_stream(ordinal);
    pool *p = &pools[ordinal];
    pthread_mutex_lock(&lock);
    if (p->busy) settle(p, false); /* of this device, as the blocks are */
    block *b = find(p, rounded, small, stream);
    if (!b) b = new_segment(p, ordinal, rounded, small, stream, &code);
    if (!b) {
        p->stats.ooms++;
        td_cuda_stats seen = p->stats;
        pthread_mutex_unlock(&lock);
        return code == TD_CUDA_NO_MEMORY ? no_memory(&seen, ordinal, bytes)
                                         : td_cuda_failed(code, "allocating memory");
    }
    delist(p, b);
    split(p, b, rounded);
    b->in_use = 1;
    b->asked = bytes;
    count_block(p, b, 1);
    td_cuda_counted(&p->stats.active, 1);
    td_cuda_counted(&p->stats.active_bytes, b->bytes);
    pthread_mutex_unlock(&lock);
    *out = b->data;
    *context = b;
    return TD_OK;
}

td_status td_cuda_pool_used(const td_tensor *t, void *stream)
{
    const td_storage *s = t->storage;
    if (s->release != td_cuda_release || !s->context) return TD_OK; /* not of this pool */
    block *b = s->context;
    if (b->stream == stream) return TD_OK;
    pthread_mutex_lock(&lock);
    td_status status = td_cuda_users_add(&b->users, b->ordinal, stream);
    pthread_mutex_unlock(&lock);
    return status;
}

/* From any thread. In a forked child the memory is the parent's. */
void td_cuda_release(void *context, char *data, int64_t bytes)
{
    block *b = context;
    if (!b || td_cuda_forked()) return;
    pool *p = &pools[b->ordinal];
    pthread_mutex_lock(&lock);
    count_block(p, b, -1);
    if (b->users) {
        td_cuda_users_mark(&b->users);
        b->after = p->busy;
        p->busy = b;
    } else {
        serve_again(p, b);
    }
    pthread_mutex_unlock(&lock);
}
