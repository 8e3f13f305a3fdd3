/* host.c - the caching allocator of page-locked memory.
 *
 * Locking pages takes the driver long, so blocks are kept: in sizes of four steps to a doubling,
 * each served again when the copies that streams had with it are done. All blocks stand in an array
 * by address, so that a copy knows whether the driver can do it on its own. */
#include "cuda/host.h"
#include "cuda/capture.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "cuda/users.h"
#include "runtime/alloc.h"

#define LEAST 4096  /* a page */
#define PORTABLE 1  /* page-locked for every context */
#define CLASSES 224 /* four for each power of two */

typedef struct block {
    struct block *next; /* in a list of free ones, or of those whose copies go on */
    char *data;
    int64_t bytes, asked;
    td_cuda_user *users;
    int class;
    bool in_use;
} block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static block *unused[CLASSES], *busy; /* busy: released, but streams still copy */
static block **sorted;                /* all, by address */
static int64_t nsorted, room;
static td_cuda_host_stats stats;

/* ---- sizes ---- */
static int class_of(int64_t bytes, int64_t *rounded)
{
    int64_t size = bytes < LEAST ? LEAST : bytes;
    int power = 63 - __builtin_clzll((unsigned long long)size);
    int64_t step = ((int64_t)1 << power) / 4, over = size - ((int64_t)1 << power);
    int64_t quarter = (over + step - 1) / step;
    *rounded = ((int64_t)1 << power) + quarter * step;
    return 4 * (power - 12) + (int)quarter; /* the fourth quarter is the next power */
}

static int64_t microseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* ---- the array by address ---- */
static int64_t place_of(const char *address) /* of the last block that begins at or before */
{
    int64_t low = 0, high = nsorted;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (sorted[middle]->data <= address) low = middle + 1;
        else high = middle;
    }
    return low - 1;
}

static block *holding(const void *address)
{
    int64_t at = place_of(address);
    return at >= 0 && (const char *)address < sorted[at]->data + sorted[at]->bytes ? sorted[at]
                                                                                   : NULL;
}

static bool insert(block *b)
{
    if (nsorted == room) {
        int64_t more = room ? 2 * room : 64;
        block **grown = realloc(sorted, (size_t)more * sizeof *grown);
        if (!grown) return false;
        sorted = grown;
        room = more;
    }
    int64_t at = place_of(b->data) + 1;
    memmove(sorted + at + 1, sorted + at, (size_t)(nsorted - at) * sizeof *sorted);
    sorted[at] = b;
    nsorted++;
    return true;
}

static void take_out(const block *b)
{
    int64_t at = place_of(b->data);
    nsorted--;
    memmove(sorted + at, sorted + at + 1, (size_t)(nsorted - at) * sizeof *sorted);
}

/* ---- blocks ---- */
static void settle(bool wait) /* those whose copies are done serve again */
{
    for (block **at = &busy; *at;) {
        block *b = *at;
        if (wait) td_cuda_users_wait(&b->users);
        if (!td_cuda_users_done(&b->users)) {
            at = &b->next;
            continue;
        }
        *at = b->next;
        b->next = unused[b->class];
        unused[b->class] = b;
    }
}

static int give_back(block *b)
{
    int64_t begin = microseconds();
    int code = td_cu.cuMemFreeHost(b->data);
    if (code) return code;
    stats.host_free_us += microseconds() - begin;
    stats.host_frees++;
    td_cuda_counted(&stats.segment, -1);
    td_cuda_counted(&stats.reserved_bytes, -b->bytes);
    take_out(b);
    td_free_struct(b, sizeof *b);
    return 0;
}

static int trim(void)
{
    int code = 0;
    /* waits and frees would end a capture */
    if (__atomic_load_n(&td_cuda_captures, __ATOMIC_RELAXED)) return 0;
    settle(true);
    for (int k = 0; k < CLASSES; k++)
        for (block *b; !code && (b = unused[k]);) {
            block *rest = b->next;
            if (!(code = give_back(b))) unused[k] = rest;
        }
    return code;
}

static int new_block(block *b)
{
    void *address = NULL;
    int64_t begin = microseconds();
    int mode = td_cuda_relax();
    int code = td_cu.cuMemHostAlloc(&address, (size_t)b->bytes, PORTABLE);
    if (code == TD_CUDA_NO_MEMORY && !trim())
        code = td_cu.cuMemHostAlloc(&address, (size_t)b->bytes, PORTABLE);
    td_cuda_strict(mode);
    if (code) return code;
    stats.host_alloc_us += microseconds() - begin;
    stats.host_allocs++;
    b->data = address;
    if (!insert(b)) return td_cu.cuMemFreeHost(address), TD_CUDA_NO_MEMORY;
    td_cuda_counted(&stats.segment, 1);
    td_cuda_counted(&stats.reserved_bytes, b->bytes);
    return 0;
}

static td_status refused(int code, int64_t bytes)
{
    if (code != TD_CUDA_NO_MEMORY) return td_cuda_failed(code, "locking pages of host memory");
    return td_fail(
        TD_MEMORY_ERROR,
        "pin_memory: the system locks no more pages: %lld bytes were asked for, and %lld are held "
        "in %lld blocks. Pin less, or leave pin_memory out: copies then wait",
        (long long)bytes, (long long)stats.reserved_bytes.current,
        (long long)stats.segment.current);
}

static td_status take(block **out, int64_t bytes)
{
    int64_t rounded;
    int class = class_of(bytes, &rounded);
    if (busy) settle(false);
    block *b = unused[class];
    if (b) {
        unused[class] = b->next;
    } else {
        b = td_alloc_struct(sizeof *b);
        if (!b) return td_fail(TD_MEMORY_ERROR, "no memory to keep a block of pinned memory");
        *b = (block){.bytes = rounded, .class = class};
        int code = new_block(b);
        if (code) return td_free_struct(b, sizeof *b), refused(code, bytes);
    }
    b->in_use = true;
    b->asked = bytes;
    td_cuda_counted(&stats.allocation, 1);
    td_cuda_counted(&stats.allocated_bytes, b->bytes);
    *out = b;
    return TD_OK;
}

/* From any thread. In a forked child the memory is a copy and the locking is the parent's. */
static void release(void *context, char *data, int64_t bytes)
{
    block *b = context;
    if (td_cuda_forked()) return;
    pthread_mutex_lock(&lock);
    b->in_use = false;
    td_cuda_counted(&stats.allocation, -1);
    td_cuda_counted(&stats.allocated_bytes, -b->bytes);
    block **list = b->users ? &busy : &unused[b->class];
    td_cuda_users_mark(&b->users);
    b->next = *list;
    *list = b;
    pthread_mutex_unlock(&lock);
}

/* ---- for tensors ---- */
td_status td_cuda_pin(td_tensor *t)
{
    td_storage *s = t->storage;
    block *b = NULL;
    if (s->nbytes == 0) return TD_OK;
    if (s->nbytes > INT64_MAX / 4) return refused(TD_CUDA_NO_MEMORY, s->nbytes);
    TD_TRY(td_device_open(TD_CUDA));
    TD_TRY(td_cuda_use(td_cuda_current()));
    pthread_mutex_lock(&lock);
    td_status status = take(&b, s->nbytes);
    pthread_mutex_unlock(&lock);
    TD_TRY(status);
    memcpy(b->data, s->data, (size_t)s->nbytes);
    if (s->release) s->release(s->context, s->data, s->nbytes);
    else if (s->data) td_free(s->data, s->nbytes);
    s->data = b->data;
    s->context = b;
    s->release = release;
    return TD_OK;
}

bool td_cuda_is_pinned(const td_tensor *t) { return t->storage->release == release; }

bool td_cuda_host_used(const void *address, int ordinal, void *stream, td_status *status)
{
    *status = TD_OK;
    pthread_mutex_lock(&lock);
    block *b = nsorted ? holding(address) : NULL;
    if (b && b->in_use) *status = td_cuda_users_add(&b->users, ordinal, stream);
    pthread_mutex_unlock(&lock);
    return b != NULL;
}

td_status td_cuda_host_trim(void)
{
    if (!td_cuda_started() || td_cuda_forked()) return TD_OK;
    TD_TRY(td_cuda_use(td_cuda_current()));
    pthread_mutex_lock(&lock);
    int code = trim();
    pthread_mutex_unlock(&lock);
    TD_CU(code, "giving pinned memory back");
    return TD_OK;
}

void td_cuda_host_stats_of(td_cuda_host_stats *out)
{
    pthread_mutex_lock(&lock);
    *out = stats;
    pthread_mutex_unlock(&lock);
}

void td_cuda_host_reset(bool peaks)
{
    pthread_mutex_lock(&lock);
    td_cuda_count_reset(&stats.allocation, peaks);
    td_cuda_count_reset(&stats.segment, peaks);
    td_cuda_count_reset(&stats.allocated_bytes, peaks);
    td_cuda_count_reset(&stats.reserved_bytes, peaks);
    if (!peaks) stats.host_alloc_us = stats.host_free_us = stats.host_allocs = stats.host_frees = 0;
    pthread_mutex_unlock(&lock);
}
