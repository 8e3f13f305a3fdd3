/* graph_memory.c - a CUDA graph keeps what it works on.
 *
 * A graph holds addresses. Where a tensor of before the capture is given up, its memory would serve
 * another one, and a replay would read or write that. So the graph owns the storages that operators
 * had while it was captured, until it is reset. A storage whose memory moved is refused at replay.
 */
#include "cuda/graph_memory.h"
#include <stdio.h>
#include <stdlib.h>
#include "runtime/streams.h"

static int64_t slot_of(const td_cuda_held *h, const td_storage *s)
{
    uint64_t at = (uint64_t)(uintptr_t)s * 0x9e3779b97f4a7c15ull >> 20;
    int64_t k = (int64_t)(at % (uint64_t)h->nslots);
    while (h->slots[k] && h->kept[h->slots[k] - 1].storage != s) k = (k + 1) % h->nslots;
    return k;
}

static bool grow(td_cuda_held *h)
{
    int64_t room = h->room ? 2 * h->room : 64;
    td_cuda_kept *kept = realloc(h->kept, (size_t)room * sizeof *kept);
    if (!kept) return false;
    h->kept = kept;
    int64_t *slots = calloc((size_t)(2 * room), sizeof *slots);
    if (!slots) return false;
    free(h->slots);
    h->slots = slots;
    h->nslots = 2 * room;
    h->room = room;
    for (int64_t k = 0; k < h->n; k++) h->slots[slot_of(h, h->kept[k].storage)] = k + 1;
    return true;
}

void td_cuda_held_add(td_cuda_held *h, td_storage *s)
{
    if (!s->data) return;
    if (h->n == h->room && !grow(h)) {
        h->lost = true;
        return;
    }
    int64_t slot = slot_of(h, s);
    if (h->slots[slot]) return;
    td_cuda_kept *made = &h->kept[h->n];
    *made = (td_cuda_kept){.storage = td_storage_keep(s), .data = s->data};
    snprintf(made->op, sizeof made->op, "%s", td_running ? td_running : "an operator");
    h->slots[slot] = ++h->n;
}

/* Another one that is held may have it now, by an exchange. */
static bool is_held(const td_cuda_held *h, const char *data)
{
    for (int64_t k = 0; k < h->n; k++)
        if (h->kept[k].storage->data == data) return true;
    return false;
}

td_status td_cuda_held_check(const td_cuda_held *h)
{
    for (int64_t k = 0; k < h->n; k++) {
        const td_cuda_kept *kept = &h->kept[k];
        if (kept->storage->data == kept->data || is_held(h, kept->data)) continue;
        return td_fail(
            TD_RUNTIME_ERROR,
            "a CUDA graph works on memory that is not its tensor's any more: a tensor that %s had "
            "during the capture was resized, or got other memory. Capture the graph again",
            kept->op);
    }
    return TD_OK;
}

void td_cuda_held_drop(td_cuda_held *h)
{
    for (int64_t k = 0; k < h->n; k++) td_storage_drop(h->kept[k].storage);
    free(h->kept);
    free(h->slots);
    *h = (td_cuda_held){0};
}
