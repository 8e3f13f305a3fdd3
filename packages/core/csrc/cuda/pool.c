/* pool.c - the caching allocator of device memory.
 *
 * A free block waits in a list by its size, the device, and the stream that used it: work of one
 * stream is in order, so the next owner on that stream needs no wait. Small blocks (up to 1 MiB)
 * come from segments of 2 MiB, larger ones from segments of 20 MiB or of their own. Neighbours that
 * are free become one. One lock guards everything; Python never runs under it. */
#include "cuda/graph.h"
#include "cuda/pool_blocks.h"
#include "runtime/streams.h"
#include "runtime/alloc.h"

#define GRAIN TD_CUDA_GRAIN
#define BINS TD_CUDA_BINS
#define SMALL ((int64_t)1 << 20)
#define SMALL_SEGMENT ((int64_t)2 << 20)
#define LARGE_SEGMENT ((int64_t)20 << 20)
/* from here on a segment is made for the block alone, in steps of 2 MiB */
#define OWN_SEGMENT ((int64_t)10 << 20)

typedef td_cuda_block block;
typedef td_cuda_lists lists;

void (*td_cuda_collect)(void);
pthread_mutex_t td_cuda_pool_lock = PTHREAD_MUTEX_INITIALIZER;
bool td_cuda_allocated;
static int64_t turns[TD_DEVICE_ORDINALS]; /* allocations so far */

static td_cuda_stats *counts(int ordinal) { return &td_cuda_pool_counts[ordinal]; }

static void note_at(const char *action, const block *b, int64_t bytes, int64_t stack)
{
    if (td_cuda_recording & TD_CUDA_STEPS)
        td_cuda_history_add((td_cuda_step){.action = action,
                                           .address = (uint64_t)(uintptr_t)b->data,
                                           .bytes = bytes,
                                           .stack = stack,
                                           .stream = b->stream,
                                           .ordinal = b->ordinal});
}

static void note(const char *action, const block *b, int64_t bytes)
{
    note_at(action, b, bytes, td_cuda_recording & TD_CUDA_STEP_STACKS ? b->stack : -1);
}

static bool is_oversize(int64_t bytes) { return bytes >= td_cuda_settings.max_split; }

/* ---- statistics ---- */
static void count_block(const block *b, int sign)
{
    TD_CUDA_ADD(b->ordinal, allocation, b->small, sign);
    TD_CUDA_ADD(b->ordinal, allocated_bytes, b->small, sign * b->bytes);
    TD_CUDA_ADD(b->ordinal, requested_bytes, b->small, sign * b->asked);
    if (is_oversize(b->bytes)) td_cuda_counted(&counts(b->ordinal)->oversize_allocations, sign);
}

static void count_active(const block *b, int sign)
{
    TD_CUDA_ADD(b->ordinal, active, b->small, sign);
    TD_CUDA_ADD(b->ordinal, active_bytes, b->small, sign * b->bytes);
}

static void count_segment(const block *b, int64_t bytes, int sign)
{
    TD_CUDA_ADD(b->ordinal, segment, b->small, sign);
    TD_CUDA_ADD(b->ordinal, reserved_bytes, b->small, sign * bytes);
    if (is_oversize(bytes)) td_cuda_counted(&counts(b->ordinal)->oversize_segments, sign);
}

static void count_part(const block *b, int sign) /* a free part of a segment */
{
    if (!b->prev && !b->next) return;
    TD_CUDA_ADD(b->ordinal, inactive_split, b->small, sign);
    TD_CUDA_ADD(b->ordinal, inactive_split_bytes, b->small, sign * b->bytes);
}

/* ---- lists of free blocks ---- */
static int bin_of(int64_t bytes)
{
    int k = 63 - __builtin_clzll((unsigned long long)(bytes / GRAIN));
    return k < BINS ? k : BINS - 1;
}

static void enlist(block *b)
{
    block **first = &b->lists->bins[!b->small][bin_of(b->bytes)];
    b->state = TD_CUDA_FREE;
    b->before = NULL;
    b->after = *first;
    if (*first) (*first)->before = b;
    *first = b;
    count_part(b, 1);
}

static void delist(block *b)
{
    if (b->before) b->before->after = b->after;
    else b->lists->bins[!b->small][bin_of(b->bytes)] = b->after;
    if (b->after) b->after->before = b->before;
    count_part(b, -1);
}

/* A block that is handed out whole must not be much too large, and is not for smaller requests. */
static bool fits(const block *b, int64_t bytes)
{
    if (!is_oversize(b->bytes)) return true;
    if (!is_oversize(bytes)) return b->bytes - bytes < SMALL_SEGMENT; /* its segment was rounded */
    return b->bytes < bytes + td_cuda_settings.max_unsplit;
}

/* the smallest that is large enough */
static block *find(lists *p, int64_t bytes, bool small, void *stream)
{
    for (int k = bin_of(bytes); k < BINS; k++) {
        block *best = NULL;
        for (block *b = p->bins[!small][k]; b; b = b->after) {
            if (b->bytes < bytes || b->stream != stream || !fits(b, bytes)) continue;
            if (!best || b->bytes < best->bytes) best = b;
            if (best->bytes == bytes) return best;
        }
        if (best) return best;
    }
    return NULL;
}

/* ---- splitting and merging ---- */
static void split(block *b, int64_t bytes)
{
    int64_t rest = b->bytes - bytes;
    if (rest < (b->small ? GRAIN : SMALL) || is_oversize(b->bytes)) return;
    block *other = td_alloc_struct(sizeof *other);
    if (!other) return; /* the whole block serves as well */
    *other = *b;
    other->prev = b;
    other->data = b->data + bytes;
    other->bytes = rest;
    other->users = NULL;
    if (b->next) b->next->prev = other;
    b->next = other;
    b->bytes = bytes;
    enlist(other);
}

/* `b` takes its free neighbour `n` in */
static void absorb(block *b, block *n)
{
    delist(n);
    if (n == b->prev) {
        b->data = n->data;
        b->prev = n->prev;
        if (n->prev) n->prev->next = b;
        else b->segment->first = b;
    } else {
        b->next = n->next;
        if (n->next) n->next->prev = b;
    }
    b->bytes += n->bytes;
    td_free_struct(n, sizeof *n);
}

/* ---- released blocks ---- */
static void serve_again(block *b)
{
    note("free_completed", b, b->bytes);
    count_active(b, -1);
    if (b->direct) {
        /* what the driver does not take back stays with it */
        td_cuda_memory_give(b->lists->home, b->direct, b->data, b->bytes, b->ordinal, b->stream);
        count_segment(b, b->bytes, -1);
        td_free_struct(b, sizeof *b);
        return;
    }
    if (b->prev && b->prev->state == TD_CUDA_FREE) absorb(b, b->prev);
    if (b->next && b->next->state == TD_CUDA_FREE) absorb(b, b->next);
    b->freed_at = turns[b->ordinal];
    enlist(b);
}

void td_cuda_settle(lists *p, bool wait) /* those whose streams are done */
{
    for (block **at = &p->busy; *at;) {
        block *b = *at;
        if (wait) td_cuda_users_wait(&b->users);
        if (!td_cuda_users_done(&b->users)) {
            at = &b->after;
            continue;
        }
        *at = b->after;
        serve_again(b);
    }
}

/* ---- segments ---- */
static int64_t segment_bytes(int64_t bytes, bool small)
{
    if (small) return SMALL_SEGMENT;
    return bytes < OWN_SEGMENT ? LARGE_SEGMENT
                               : (bytes + SMALL_SEGMENT - 1) / SMALL_SEGMENT * SMALL_SEGMENT;
}

static int give_segment(block *b)
{
    td_cuda_segment *s = b->segment;
    lists *p = b->lists;
    int code =
        td_cuda_memory_give(p->home, TD_CUDA_CACHED, s->data, s->bytes, b->ordinal, b->stream);
    if (code) return code;
    delist(b);
    note("segment_free", b, b->bytes);
    count_segment(b, b->bytes, -1);
    if (s->before) s->before->after = s->after;
    else p->segments = s->after;
    if (s->after) s->after->before = s->before;
    td_free_struct(s, sizeof *s);
    td_free_struct(b, sizeof *b);
    return 0;
}

int td_cuda_trim(lists *p, int ordinal, int64_t age, int64_t enough)
{
    int code = 0, synced = 0;
    for (int large = 0; large < 2; large++)
        for (int k = 0; k < BINS; k++)
            for (block *b = p->bins[large][k], *after; b && !code && enough > 0; b = after) {
                after = b->after;
                if (b->prev || b->next || turns[ordinal] - b->freed_at < age) continue;
                /* waits and frees would end a capture */
                if (__atomic_load_n(&td_cuda_captures, __ATOMIC_RELAXED)) return 0;
                if (!synced) code = td_cu.cuCtxSynchronize(), counts(ordinal)->waits++, synced = 1;
                if (!code) enough -= b->bytes, code = give_segment(b);
            }
    return code;
}

/* The common pool, and private ones whose maker is gone: the others keep their addresses. */
static int trim(int ordinal)
{
    td_cuda_settle(&td_cuda_common.devices[ordinal], true);
    int code = td_cuda_trim(&td_cuda_common.devices[ordinal], ordinal, 0, INT64_MAX);
    for (td_cuda_private *p = td_cuda_privates; p && !code; p = p->next) {
        td_cuda_settle(&p->devices[ordinal], true);
        if (!p->owners) code = td_cuda_trim(&p->devices[ordinal], ordinal, 0, INT64_MAX);
    }
    return code || !td_cuda_settings.async ? code : td_cuda_memory_trim(ordinal);
}

td_status td_cuda_pool_trim(int ordinal)
{
    TD_TRY(td_cuda_use(ordinal));
    pthread_mutex_lock(&td_cuda_pool_lock);
    int64_t waits = counts(ordinal)->waits;
    int code = trim(ordinal);
    td_cuda_drop_empty();
    pthread_mutex_unlock(&td_cuda_pool_lock);
    TD_CU(code, "giving memory back");
    if (waits != counts(ordinal)->waits)
        td_order_tell(TD_ORDER_DEVICE_DONE, ordinal, NULL, NULL, 0);
    return TD_OK;
}

void td_cuda_relieve(int ordinal)
{
    if (td_cuda_collect) td_cuda_collect();
    pthread_mutex_lock(&td_cuda_pool_lock);
    trim(ordinal);
    td_cuda_drop_empty();
    pthread_mutex_unlock(&td_cuda_pool_lock);
}

static int64_t capacity(int ordinal) /* what the allocator may hold */
{
    size_t unused = 0, total = 0;
    if (td_cuda_limits[ordinal]) return td_cuda_limits[ordinal];
    return td_cu.cuMemGetInfo_v2(&unused, &total) ? INT64_MAX : (int64_t)total;
}

/* Over its threshold the pool gives back what was not used for longest: ages above the mean. */
static void collect_old(lists *p, int ordinal, int64_t more)
{
    if (td_cuda_settings.collect_at <= 0) return;
    double at = td_cuda_settings.collect_at * (double)capacity(ordinal);
    int64_t over = counts(ordinal)->reserved_bytes[TD_CUDA_ALL].current + more - (int64_t)at;
    int64_t n = 0, sum = 0;
    if (over <= 0) return;
    for (int k = 0; k < BINS; k++)
        for (block *b = p->bins[1][k]; b; b = b->after)
            if (!b->prev && !b->next) n++, sum += turns[ordinal] - b->freed_at;
    if (n) td_cuda_trim(p, ordinal, sum / n, over);
}

/* A refusal has a code; too much for the limit counts as memory that is not there. */
static int take(const td_cuda_private *home, int direct, int64_t bytes, int ordinal, void *stream,
                char **out)
{
    int64_t held = counts(ordinal)->reserved_bytes[TD_CUDA_ALL].current;
    if (td_cuda_limits[ordinal] && held + bytes > td_cuda_limits[ordinal]) return TD_CUDA_NO_MEMORY;
    return td_cuda_memory_take(home, direct, bytes, ordinal, stream, out);
}

typedef struct request {
    lists *from;
    int64_t bytes; /* rounded */
    void *stream;
    int ordinal, direct;
    bool small;
} request;

static int take_whole(const request *r, int64_t *whole, char **data)
{
    td_cuda_private *home = r->from->home;
    int code = take(home, r->direct, *whole, r->ordinal, r->stream, data);
    if (code != TD_CUDA_NO_MEMORY) return code;
    counts(r->ordinal)->retries++;
    trim(r->ordinal);
    code = take(home, r->direct, *whole, r->ordinal, r->stream, data);
    if (code == TD_CUDA_NO_MEMORY && !r->small && *whole > r->bytes)
        code = take(home, r->direct, *whole = r->bytes, r->ordinal, r->stream, data);
    return code;
}

static void enter_segment(lists *p, td_cuda_segment *s, block *b)
{
    *s = (td_cuda_segment){.after = p->segments, .first = b, .data = b->data, .bytes = b->bytes};
    if (p->segments) p->segments->before = s;
    p->segments = s;
    b->segment = s;
    note("segment_alloc", b, b->bytes);
    enlist(b);
}

static block *new_memory(const request *r, int64_t stack, int *code)
{
    block *b = td_alloc_struct(sizeof *b);
    td_cuda_segment *s = r->direct ? NULL : td_alloc_struct(sizeof *s);
    int64_t whole = r->direct ? r->bytes : segment_bytes(r->bytes, r->small);
    char *data = NULL;
    *code = TD_CUDA_NO_MEMORY;
    if (b && (s || r->direct)) {
        if (!r->direct) collect_old(r->from, r->ordinal, whole);
        *code = take_whole(r, &whole, &data);
    }
    if (*code) {
        if (b) td_free_struct(b, sizeof *b);
        if (s) td_free_struct(s, sizeof *s);
        return NULL;
    }
    *b = (block){.lists = r->from,
                 .data = data,
                 .bytes = whole,
                 .stack = stack,
                 .stream = r->stream,
                 .ordinal = (uint8_t)r->ordinal,
                 .small = r->small,
                 .direct = (uint8_t)r->direct};
    count_segment(b, whole, 1);
    if (s) enter_segment(r->from, s, b);
    return b;
}

/* ---- what the table of devices offers ---- */
static block *obtain(const request *r, int64_t bytes, int64_t stack, int *code)
{
    if (r->from->busy) td_cuda_settle(r->from, false);
    block *b = r->direct ? NULL : find(r->from, r->bytes, r->small, r->stream);
    if (!b && !(b = new_memory(r, stack, code))) return NULL;
    if (!r->direct) {
        delist(b);
        split(b, r->bytes);
    }
    b->state = TD_CUDA_IN_USE;
    b->asked = bytes;
    b->stack = stack;
    turns[r->ordinal]++;
    count_block(b, 1);
    count_active(b, 1);
    note("alloc", b, b->bytes);
    return b;
}

static void note_failure(const request *r, int64_t stack)
{
    size_t unused = 0, total = 0;
    td_cu.cuMemGetInfo_v2(&unused, &total);
    /* of this step the field says how much the driver still has */
    block none = {.data = (char *)unused,
                  .stack = stack,
                  .stream = r->stream,
                  .ordinal = (uint8_t)r->ordinal};
    counts(r->ordinal)->ooms++;
    note("oom", &none, r->bytes);
}

td_status td_cuda_alloc(char **out, int64_t bytes, td_device device, void **context)
{
    int ordinal = td_device_index(device), code = 0;
    TD_TRY(td_cuda_use(ordinal));
    if (bytes > INT64_MAX / 2)
        return td_fail(TD_MEMORY_ERROR, "CUDA out of memory. Tried to allocate %lld bytes",
                       (long long)bytes);
    int64_t rounded = td_cuda_settings_round(bytes > 0 ? bytes : GRAIN);
    rounded = (rounded + GRAIN - 1) / GRAIN * GRAIN;
    td_cuda_private *home = td_cuda_chosen(ordinal);
    request r = {.from = &home->devices[ordinal],
                 .bytes = rounded,
                 .stream = td_cuda_stream(ordinal),
                 .ordinal = ordinal,
                 .direct = td_cuda_direct(home),
                 .small = rounded <= SMALL};
    int64_t stack = td_cuda_recording & TD_CUDA_STACKS ? td_cuda_stack() : -1;
    block *b = NULL;
    int64_t waits = counts(ordinal)->waits;
    for (int attempt = 0; attempt < 2 && !b; attempt++) {
        if (attempt && td_cuda_collect) td_cuda_collect();
        pthread_mutex_lock(&td_cuda_pool_lock);
        td_cuda_allocated = true;
        r.from->home = home;
        b = obtain(&r, bytes, stack, &code);
        if (!b && attempt) note_failure(&r, stack);
        pthread_mutex_unlock(&td_cuda_pool_lock);
        if (!b && code != TD_CUDA_NO_MEMORY) return td_cuda_failed(code, "allocating memory");
    }
    if (waits != counts(ordinal)->waits) /* segments went back: the device has nothing to do */
        td_order_tell(TD_ORDER_DEVICE_DONE, ordinal, NULL, NULL, 0);
    if (!b) return td_cuda_no_memory(ordinal, bytes);
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
    pthread_mutex_lock(&td_cuda_pool_lock);
    td_status status = td_cuda_users_add(&b->users, b->ordinal, stream);
    pthread_mutex_unlock(&td_cuda_pool_lock);
    return status;
}

/* From any thread. In a forked child the memory is the parent's. */
void td_cuda_release(void *context, char *data, int64_t bytes)
{
    block *b = context;
    if (!b || td_cuda_forked()) return;
    int64_t stack = td_cuda_recording & TD_CUDA_FREE_STACKS ? td_cuda_stack() : -1;
    for (td_cuda_user *u = b->users; u; u = u->next)
        td_order_tell(TD_ORDER_MEMORY_DONE, u->ordinal, u->stream, b->data, b->bytes);
    pthread_mutex_lock(&td_cuda_pool_lock);
    count_block(b, -1);
    note_at("free_requested", b, b->bytes, stack);
    if (b->users) {
        b->state = TD_CUDA_WAITING;
        td_cuda_users_mark(&b->users);
        b->after = b->lists->busy;
        b->lists->busy = b;
    } else {
        if (b->direct) (void)td_cuda_use(b->ordinal);
        serve_again(b);
    }
    pthread_mutex_unlock(&td_cuda_pool_lock);
}
