/* reduce_run.c - a planned reduction on the processor: blocks over the threads, then the parts of
 * long rows joined in order. */
#include "cpu/reduction/reduce_plan.h"
#include "runtime/alloc.h"
#include "runtime/pool.h"

#define ELEMENT_NS 0.4

typedef struct job {
    const td_reduce_plan *p;
    char *partial; /* accumulators of every (output strip, chunk), if there are several chunks */
} job;

static int64_t offset_of(const td_axis *axes, int n, int64_t index, bool of_out)
{
    int64_t offset = 0;
    for (int i = n - 1; i > 0; i--) {
        offset += index % axes[i].size * (of_out ? axes[i].out : axes[i].x);
        index /= axes[i].size;
    }
    return n ? offset + index * (of_out ? axes[0].out : axes[0].x) : 0;
}

/* The accumulators of one strip over pieces [begin, end) of the reduced space. */
static void accumulate(const td_reduce_plan *p, char *acc, char *spare, const char *x, int64_t m,
                       int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i % p->pieces * p->piece, n = p->n.size - first;
        const char *at =
            x + offset_of(p->reduce, p->reduced, i / p->pieces, false) + first * p->n.x;
        p->reducer->block(i == begin ? acc : spare, at, m, p->m.x, n < p->piece ? n : p->piece,
                          p->n.x, first, p->context);
        if (i != begin) p->reducer->join(acc, spare, m);
    }
}

static void finish(const td_reduce_plan *p, const char *acc, int64_t task, int64_t m)
{
    int64_t at = offset_of(p->keep, p->kept, task / p->strips, true) +
                 task % p->strips * p->strip * p->m.out;
    for (int k = 0; k < 2; k++)
        if (p->out[k])
            p->reducer->finish[k](p->out[k] + at * p->out_size[k], p->m.out * p->out_size[k], acc,
                                  m, p->context);
}

static int64_t strip_length(const td_reduce_plan *p, int64_t task)
{
    int64_t left = p->m.size - task % p->strips * p->strip;
    return left < p->strip ? left : p->strip;
}

static void run_tasks(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    const td_reduce_plan *p = j->p;
    _Alignas(64) char stack[TD_COLUMN_STRIP * TD_MAX_ACCUMULATOR],
        spare[TD_COLUMN_STRIP * TD_MAX_ACCUMULATOR];
    for (int64_t i = begin; i < end; i++) {
        int64_t task = i / p->chunks, chunk = i % p->chunks, all = p->pieces * p->outer_reduced,
                m = strip_length(p, task);
        const char *x = p->x + offset_of(p->keep, p->kept, task / p->strips, false) +
                        task % p->strips * p->strip * p->m.x;
        char *acc = j->partial ? j->partial + i * p->strip * p->reducer->size : stack;
        int64_t first =
            all / p->chunks * chunk + (chunk < all % p->chunks ? chunk : all % p->chunks);
        accumulate(p, acc, spare, x, m, first, first + all / p->chunks + (chunk < all % p->chunks));
        if (!j->partial) finish(p, acc, task, m);
    }
}

static void join_chunks(const td_reduce_plan *p, char *partial)
{
    int64_t bytes = p->strip * p->reducer->size;
    for (int64_t task = 0; task < p->outer_kept * p->strips; task++) {
        char *acc = partial + task * p->chunks * bytes;
        for (int64_t c = 1; c < p->chunks; c++)
            p->reducer->join(acc, acc + c * bytes, strip_length(p, task));
        finish(p, acc, task, strip_length(p, task));
    }
}

td_status td_cpu_reduce(const td_reduce_plan *p)
{
    int64_t tasks = p->outer_kept * p->strips * p->chunks,
            bytes = tasks * p->strip * p->reducer->size;
    job j = {p, NULL};
    if (p->chunks > 1 && !(j.partial = td_alloc(bytes)))
        return td_fail(TD_MEMORY_ERROR, "no memory for %lld bytes of partial results",
                       (long long)bytes);
    int64_t grain = (int64_t)(16384 / (p->numel / tasks + 1));
    void *token = td_heavy_begin((double)p->numel * ELEMENT_NS);
    td_parallel(tasks, grain > 1 ? grain : 1, run_tasks, &j);
    if (j.partial) join_chunks(p, j.partial);
    td_heavy_end(token);
    if (j.partial) td_free(j.partial, bytes);
    return TD_OK;
}
