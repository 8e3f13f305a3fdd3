/* pool_private.c - limits, somebody else's functions, and private pools. */
#include "cuda/graph.h"
#include "cuda/pool_blocks.h"
#include <stdlib.h>
#include "runtime/thread_local.h"

td_cuda_private td_cuda_common;
td_cuda_private *td_cuda_privates;
int64_t td_cuda_limits[TD_DEVICE_ORDINALS];
/* by ordinal; NULL, as nearly always: this thread has chosen none */
static TD_THREAD_LOCAL td_cuda_private **chosen;
static bool uncached;

td_cuda_private *td_cuda_chosen(int ordinal)
{
    td_cuda_graph *graph = td_cuda_capturing(ordinal); /* whatever thread works on its stream */
    if (graph) return td_cuda_graph_pool(graph);
    return chosen && chosen[ordinal] ? chosen[ordinal] : &td_cuda_common;
}

int td_cuda_direct(const td_cuda_private *home)
{
    if (home != &td_cuda_common) return TD_CUDA_CACHED;
    if (home->give) return TD_CUDA_FOREIGN;
    return td_cuda_settings.async ? TD_CUDA_ASYNC : uncached ? TD_CUDA_PLAIN : TD_CUDA_CACHED;
}

/* ---- choices ---- */
void td_cuda_pool_limit(int ordinal, int64_t bytes)
{
    pthread_mutex_lock(&td_cuda_pool_lock);
    td_cuda_limits[ordinal] = bytes == INT64_MAX ? 0 : bytes > 0 ? bytes : 1;
    pthread_mutex_unlock(&td_cuda_pool_lock);
}

void td_cuda_pool_uncached(bool yes) { uncached = yes; }

td_status td_cuda_pool_replace(td_cuda_give give, td_cuda_take take_back)
{
    pthread_mutex_lock(&td_cuda_pool_lock);
    bool late = td_cuda_allocated;
    if (!late) td_cuda_common.give = give, td_cuda_common.take = take_back;
    pthread_mutex_unlock(&td_cuda_pool_lock);
    return late ? td_fail(TD_RUNTIME_ERROR,
                          "Can't swap an already initialized allocator: call "
                          "change_current_allocator before the first tensor of a device is made")
                : TD_OK;
}

/* ---- private pools ---- */
td_status td_cuda_private_new(td_cuda_private **out, td_cuda_give give, td_cuda_take take_back)
{
    static int64_t last;
    td_cuda_private *p = calloc(1, sizeof *p);
    if (!p) return td_fail(TD_MEMORY_ERROR, "no memory for a pool of device memory");
    p->give = give;
    p->take = take_back;
    p->owners = 1;
    pthread_mutex_lock(&td_cuda_pool_lock);
    p->id = ++last;
    p->next = td_cuda_privates;
    td_cuda_privates = p;
    pthread_mutex_unlock(&td_cuda_pool_lock);
    *out = p;
    return TD_OK;
}

void td_cuda_drop_empty(void)
{
    for (td_cuda_private **at = &td_cuda_privates; *at;) {
        td_cuda_private *p = *at;
        bool used = p->owners > 0;
        for (int k = 0; k < TD_DEVICE_ORDINALS && !used; k++)
            used = p->devices[k].segments || p->devices[k].busy;
        if (used) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        free(p);
    }
}

bool td_cuda_private_owns(const td_cuda_private *p, const td_storage *s)
{
    const td_cuda_block *b = s->release == td_cuda_release ? s->context : NULL;
    return b && b->lists->home == p;
}

static void disown(td_cuda_private *p)
{
    if (--p->owners) return;
    for (int k = 0; k < TD_DEVICE_ORDINALS; k++) {
        if (!p->devices[k].segments || td_cuda_use(k) != TD_OK) continue;
        td_cuda_settle(&p->devices[k], false);
        td_cuda_trim(&p->devices[k], k, 0, INT64_MAX);
    }
    td_cuda_drop_empty();
}

void td_cuda_private_drop(td_cuda_private *p)
{
    if (td_cuda_forked()) return;
    pthread_mutex_lock(&td_cuda_pool_lock);
    disown(p);
    pthread_mutex_unlock(&td_cuda_pool_lock);
}

static void forget_if_none_is_chosen(void)
{
    for (int k = 0; k < TD_DEVICE_ORDINALS; k++)
        if (chosen[k]) return;
    free(chosen);
    chosen = NULL;
}

td_status td_cuda_private_enter(int ordinal, td_cuda_private *p, td_cuda_private **before)
{
    if (!chosen && !(chosen = calloc(TD_DEVICE_ORDINALS, sizeof *chosen)))
        return td_fail(TD_MEMORY_ERROR, "no memory for the choice of a pool");
    *before = chosen[ordinal];
    pthread_mutex_lock(&td_cuda_pool_lock);
    if (p) p->owners++;
    chosen[ordinal] = p;
    if (*before) disown(*before);
    pthread_mutex_unlock(&td_cuda_pool_lock);
    forget_if_none_is_chosen();
    return TD_OK;
}

int64_t td_cuda_private_id(const td_cuda_private *p) { return p->id; }
int td_cuda_private_owners(const td_cuda_private *p) { return p->owners; }
