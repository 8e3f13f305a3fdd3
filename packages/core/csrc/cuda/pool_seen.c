/* pool_seen.c - what the allocator holds: blocks, history, and the message when there is no more.
 */
#include "cuda/pool_blocks.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- what there is ---- */
static int64_t count_seen(const td_cuda_private *p)
{
    int64_t n = 0;
    for (int k = 0; k < TD_DEVICE_ORDINALS; k++)
        for (const td_cuda_segment *s = p->devices[k].segments; s; s = s->after)
            for (const td_cuda_block *b = s->first; b; b = b->next) n++;
    return n;
}

static int64_t fill_seen(const td_cuda_private *p, td_cuda_seen *out)
{
    int64_t n = 0;
    for (int k = 0; k < TD_DEVICE_ORDINALS; k++)
        for (const td_cuda_segment *s = p->devices[k].segments; s; s = s->after)
            for (const td_cuda_block *b = s->first; b; b = b->next)
                out[n++] = (td_cuda_seen){.segment = (uint64_t)(uintptr_t)s->data,
                                          .address = (uint64_t)(uintptr_t)b->data,
                                          .bytes = b->bytes,
                                          .asked = b->asked,
                                          .stack = b->stack,
                                          .segment_bytes = s->bytes,
                                          .pool = p->id,
                                          .stream = b->stream,
                                          .ordinal = b->ordinal,
                                          .state = b->state,
                                          .small = b->small};
    return n;
}

static int by_address(const void *a, const void *b)
{
    uint64_t x = ((const td_cuda_seen *)a)->address, y = ((const td_cuda_seen *)b)->address;
    return (x > y) - (x < y);
}

td_cuda_seen *td_cuda_pool_seen(int64_t *n)
{
    pthread_mutex_lock(&td_cuda_pool_lock);
    int64_t most = count_seen(&td_cuda_common), found = 0;
    for (td_cuda_private *p = td_cuda_privates; p; p = p->next) most += count_seen(p);
    td_cuda_seen *made = most ? malloc((size_t)most * sizeof *made) : NULL;
    if (made) {
        found = fill_seen(&td_cuda_common, made);
        for (td_cuda_private *p = td_cuda_privates; p; p = p->next)
            found += fill_seen(p, made + found);
    }
    pthread_mutex_unlock(&td_cuda_pool_lock);
    if (made) qsort(made, (size_t)found, sizeof *made, by_address);
    *n = found;
    return made;
}

td_cuda_step *td_cuda_pool_steps(int64_t *n)
{
    pthread_mutex_lock(&td_cuda_pool_lock);
    td_cuda_step *made = td_cuda_history_copy(n);
    if (td_cuda_recording & TD_CUDA_STEPS)
        td_cuda_history_add((td_cuda_step){.action = "snapshot", .stack = -1});
    pthread_mutex_unlock(&td_cuda_pool_lock);
    return made;
}

void td_cuda_pool_record(int64_t most, int recording)
{
    pthread_mutex_lock(&td_cuda_pool_lock);
    td_cuda_history_start(most, recording);
    pthread_mutex_unlock(&td_cuda_pool_lock);
}

/* ---- when there is none left ---- */
static const char *size_text(char text[32], int64_t bytes)
{
    if (bytes < 1 << 20) snprintf(text, 32, "%.2f KiB", (double)bytes / 1024);
    else if (bytes < 1 << 30) snprintf(text, 32, "%.2f MiB", (double)bytes / (1 << 20));
    else snprintf(text, 32, "%.2f GiB", (double)bytes / (1 << 30));
    return text;
}

#define HOLDERS 5
typedef struct holder { /* blocks of one size, or made at one place */
    int64_t bytes, n, size, stack;
} holder;

static int by_bytes(const void *a, const void *b) /* the largest first */
{
    int64_t x = ((const holder *)a)->bytes, y = ((const holder *)b)->bytes;
    return (x < y) - (x > y);
}
static int by_kind(const void *a, const void *b)
{
    const holder *x = a, *y = b;
    if (x->stack != y->stack) return x->stack < y->stack ? -1 : 1;
    return (x->size > y->size) - (x->size < y->size);
}

/* Blocks whose place is known are one by place, the others by size. Returns how many kinds. */
static int64_t gather(const td_cuda_seen *seen, int64_t n, int ordinal, holder *h)
{
    int64_t m = 0, kinds = 0;
    for (int64_t k = 0; k < n; k++)
        if (seen[k].state != TD_CUDA_FREE && seen[k].ordinal == ordinal)
            h[m++] =
                (holder){seen[k].bytes, 1, seen[k].stack < 0 ? seen[k].bytes : 0, seen[k].stack};
    if (m) qsort(h, (size_t)m, sizeof *h, by_kind);
    for (int64_t k = 0; k < m; k++) {
        if (kinds && !by_kind(&h[kinds - 1], &h[k]))
            h[kinds - 1].bytes += h[k].bytes, h[kinds - 1].n++;
        else h[kinds++] = h[k];
    }
    if (kinds) qsort(h, (size_t)kinds, sizeof *h, by_bytes);
    return kinds;
}

static void holders_text(int ordinal, char *text, size_t room)
{
    int64_t n, kinds = 0;
    size_t used = 0;
    td_cuda_seen *seen = td_cuda_pool_seen(&n);
    holder *h = n ? malloc((size_t)n * sizeof *h) : NULL;
    text[0] = 0;
    if (h) kinds = gather(seen, n, ordinal, h);
    for (int64_t k = 0; k < kinds && k < HOLDERS && used < room; k++) {
        char a[32], b[32], place[160] = "";
        if (h[k].stack >= 0) td_cuda_stack_text(h[k].stack, place, sizeof place);
        else snprintf(place, sizeof place, "of %s each", size_text(b, h[k].size));
        used += (size_t)snprintf(text + used, room - used, "\n    %-12s in %lld blocks %s",
                                 size_text(a, h[k].bytes), (long long)h[k].n, place);
    }
    free(h);
    free(seen);
}

td_status td_cuda_no_memory(int ordinal, int64_t bytes)
{
    size_t unused = 0, total = 0;
    char a[32], b[32], c[32], d[32], e[32], f[32], g[32], h[32], limit[96] = "", table[1000];
    td_cuda_stats s;
    td_cuda_pool_stats(ordinal, &s);
    holders_text(ordinal, table, sizeof table);
    td_cu.cuMemGetInfo_v2(&unused, &total);
    if (td_cuda_limits[ordinal])
        snprintf(limit, sizeof limit, "\n  limit of this process      %s",
                 size_text(h, td_cuda_limits[ordinal]));
    int64_t held = s.reserved_bytes[TD_CUDA_ALL].current,
            others = (int64_t)total - (int64_t)unused - held;
    return td_fail(TD_MEMORY_ERROR,
                   "CUDA out of memory. Tried to allocate %s on cuda:%d.\n"
                   "  capacity of the device     %s\n  free                       %s\n"
                   "  other programs and CUDA    %s%s\n"
                   "  held by taeda              %s in %lld segments\n"
                   "  of it in use by tensors    %s in %lld blocks (peak %s)%s\n"
                   "Smaller batches need less; taeda.cuda.empty_cache() gives unused segments back "
                   "to other programs; taeda.cuda.memory._record_memory_history() lets this "
                   "message name the lines that hold memory",
                   size_text(a, bytes), ordinal, size_text(b, (int64_t)total),
                   size_text(c, (int64_t)unused), size_text(g, others > 0 ? others : 0), limit,
                   size_text(d, held), (long long)s.segment[TD_CUDA_ALL].current,
                   size_text(e, s.allocated_bytes[TD_CUDA_ALL].current),
                   (long long)s.allocation[TD_CUDA_ALL].current,
                   size_text(f, s.allocated_bytes[TD_CUDA_ALL].peak), table);
}
