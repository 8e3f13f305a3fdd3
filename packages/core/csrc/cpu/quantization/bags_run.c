/* bags_run.c - a bag is one thread's, its rows in order, so threads change no bit. */
#include "cpu/quantization/bags_run.h"
#include <stdatomic.h>
#include <string.h>
#include "runtime/pool.h"

#define GRAIN (1 << 14) /* numbers of a thread, at least */
#define AHEAD 4         /* rows, of a table that no cache holds */

typedef struct job {
    const td_bags *b;
    const td_bags_kernels *kernels;
    _Atomic int64_t wrong;
} job;

static void prefetch(const td_bags *b, int64_t at)
{
    int64_t row = at < b->count ? b->indices[at] : -1;
    if (row < 0 || row >= b->rows) return;
    __builtin_prefetch(b->scales + row);
    __builtin_prefetch(b->shifts + row);
    for (int64_t i = 0; i < b->columns; i += 64)
        __builtin_prefetch(b->table + row * b->columns + i);
}

static void sum(job *j, int64_t begin, int64_t end, float *to)
{
    const td_bags *b = j->b;
    memset(to, 0, (size_t)b->columns * sizeof *to);
    for (int64_t i = begin; i < end; i++) {
        int64_t row = b->indices[i];
        float weight = b->weights ? b->weights[i] : 1;
        if (row < 0 || row >= b->rows) {
            atomic_store_explicit(&j->wrong, i, memory_order_relaxed);
            return;
        }
        prefetch(b, i + AHEAD);
        j->kernels->add(b->table + row * b->columns, b->scales[row] * weight,
                        b->shifts[row] * weight, b->columns, to);
    }
}

static void run(void *context, int64_t begin, int64_t end)
{
    job *j = context;
    const td_bags *b = j->b;
    for (int64_t i = begin; i < end; i++) {
        int64_t first = b->starts ? b->starts[i] : i, last = b->starts ? b->starts[i + 1] : i + 1;
        if (first < 0 || first > last || last > b->count)
            atomic_store_explicit(&j->wrong, i, memory_order_relaxed);
        else sum(j, first, last, b->out + i * b->columns);
    }
}

int64_t td_bags_sum(const td_bags *b)
{
    job j = {b, TD_PICK(td_bags_kernels), TD_BAGS_DONE};
    int64_t each = b->bags ? (b->count / b->bags + 1) * b->columns : 1;
    void *token = td_heavy_begin((double)b->count * (double)b->columns / 4);
    td_parallel(b->bags, 1 + GRAIN / (each ? each : 1), run, &j);
    td_heavy_end(token);
    return atomic_load(&j.wrong);
}
