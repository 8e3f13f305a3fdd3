/* f16_run.c - a matrix of 16 bits times a vector, over threads. A sum is one thread's. */
#include "cpu/matmul/f16_run.h"
#include <stddef.h>
#include "cpu/matmul/f16.h"
#include "runtime/pool.h"

#define COLUMNS 64 /* of a thread are a multiple: threads share no cache line */

static void run_rows(void *context, int64_t begin, int64_t end)
{
    const td_f16_product *p = context;
    TD_PICK(td_f16_kernels)
        ->rows[p->brain](p->a + begin * p->row, p->row, p->x, end - begin, p->k, p->out + begin);
}

static void run_columns(void *context, int64_t begin, int64_t end)
{
    const td_f16_product *p = context;
    int64_t first = begin * COLUMNS, last = end * COLUMNS < p->n ? end * COLUMNS : p->n;
    TD_PICK(td_f16_kernels)
        ->columns[p->brain](p->a + first, p->row, p->x, last - first, p->k, p->out + first);
}

bool td_multiplies_f16(void) { return TD_PICK(td_f16_kernels)->rows[0] != NULL; }

#define GRAIN (1 << 18) /* numbers of the matrix for a thread, at least */

void td_f16_times_vector(const td_f16_product *p)
{
    void *token = td_heavy_begin((double)p->n * (double)p->k / 16);
    int64_t grain = 1 + GRAIN / (p->k + 1);
    if (p->by_column)
        td_parallel((p->n + COLUMNS - 1) / COLUMNS, 1 + grain / COLUMNS, run_columns, (void *)p);
    else td_parallel(p->n, grain, run_rows, (void *)p);
    for (int64_t i = 0; p->bias && i < p->n; i++) p->out[i] += p->bias[i];
    td_heavy_end(token);
}
