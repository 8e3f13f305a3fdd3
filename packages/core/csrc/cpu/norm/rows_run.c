/* rows_run.c - how threads share rows; in the backward pass chunks of rows, each with weight
 * gradients of its own. */
#include "cpu/norm/norm_job.h"
#include "cpu/convert.h"
#include <string.h>
#include "runtime/alloc.h"
#include "runtime/cpu.h"
#include "runtime/pool.h"

#define ROW_NS 0.5 /* per element and thread */
#define CHUNKS 16
#define CHUNK_ELEMENTS 32768

typedef struct forward_job {
    const td_norm_forward *p;
    const td_norm_kernel *kernel;
    int64_t itemsize;
} forward_job;

static void convert(td_dtype to, char *out, td_dtype from, const char *in, int64_t n)
{
    TD_PICK(td_convert_kernels)
        ->real[to][from]((char *const[]){out, (char *)in},
                         (int64_t[]){td_itemsize(to), td_itemsize(from)}, n, NULL);
}

/* A few rows at a time become float32, so that they are read and written once, in 16 bits. */
static void forward_short_rows(const forward_job *j, int64_t begin, int64_t end)
{
    const td_norm_forward *p = j->p;
    _Alignas(64) char rows[TD_NORM_SHORT * sizeof(float)];
    int64_t n = p->row.n, some = n ? TD_NORM_SHORT / n : end - begin, size = td_itemsize(p->stored);
    td_norm_row part = p->row;
    for (int64_t r = begin; r < end; r += some) {
        part.rows = some < end - r ? some : end - r;
        int64_t at = r * n * size, stat = r * j->itemsize;
        convert(p->dtype, rows, p->stored, p->x + at, part.rows * n);
        j->kernel->rows(&part, rows, p->mean ? p->mean + stat : NULL, p->rstd + stat, rows,
                        p->weight, p->bias);
        convert(p->stored, p->out + at, p->dtype, rows, part.rows * n);
    }
}

static void forward_rows(void *context, int64_t begin, int64_t end)
{
    const forward_job *j = context;
    const td_norm_forward *p = j->p;
    if (p->stored != p->dtype) {
        forward_short_rows(j, begin, end);
        return;
    }
    td_norm_row part = p->row;
    int64_t at = begin * part.n * j->itemsize, stat = begin * j->itemsize;
    part.rows = end - begin;
    j->kernel->rows(&part, p->out + at, p->mean ? p->mean + stat : NULL, p->rstd + stat, p->x + at,
                    p->weight, p->bias);
}

void td_norm_rows_run(const td_norm_forward *p)
{
    forward_job j = {p, td_norm_kernel_for(p->dtype), td_itemsize(p->dtype)};
    int64_t grain = p->row.n ? 8192 / p->row.n : 1;
    void *token = td_heavy_begin((double)p->row.rows * (double)p->row.n * ROW_NS);
    td_parallel(p->row.rows, grain > 1 ? grain : 1, forward_rows, &j);
    td_heavy_end(token);
}

typedef struct backward_job {
    const td_norm_backward *p;
    const td_norm_kernel *kernel;
    int64_t itemsize, chunks;
    char *partial; /* a row of weight gradients, then one of bias gradients, for every chunk */
    bool wants_weight, wants_bias;
} backward_job;

static void backward_chunks(void *context, int64_t begin, int64_t end)
{
    const backward_job *j = context;
    const td_norm_backward *p = j->p;
    int64_t bytes = p->row.n * j->itemsize;
    for (int64_t c = begin; c < end; c++) {
        int64_t first = c * p->row.rows / j->chunks, at = first * bytes, stat = first * j->itemsize;
        td_norm_row part = p->row;
        part.rows = (c + 1) * p->row.rows / j->chunks - first;
        char *dw = j->wants_weight ? j->partial + 2 * c * bytes : NULL,
             *db = j->wants_bias ? j->partial + (2 * c + 1) * bytes : NULL;
        if (dw) memset(dw, 0, (size_t)bytes);
        if (db) memset(db, 0, (size_t)bytes);
        j->kernel->rows_backward(&part, p->dx ? p->dx + at : NULL, dw, db, p->grad + at, p->x + at,
                                 p->mean ? p->mean + stat : NULL, p->rstd + stat, p->weight);
    }
}

/* Add the chunks' rows `which` (0 weight, 1 bias) into out. */
static void join_chunks(const backward_job *j, td_tensor *out, int which)
{
    for (int64_t i = 0; i < j->p->row.n; i++) {
        double total = 0;
        for (int64_t c = 0; c < j->chunks; c++) {
            const char *row = j->partial + (2 * c + which) * j->p->row.n * j->itemsize;
            total += j->itemsize == 8 ? ((const double *)row)[i] : (double)((const float *)row)[i];
        }
        td_norm_write(out, i, total);
    }
}

int64_t td_row_chunks(const td_norm_row *row)
{
    int64_t chunks = row->rows * row->n / CHUNK_ELEMENTS;
    return chunks < 1 ? 1 : chunks > CHUNKS ? CHUNKS : chunks;
}

static td_status run_backward(backward_job *j, td_tensor *dweight, td_tensor *dbias)
{
    int64_t work = j->p->row.rows * j->p->row.n;
    j->chunks = td_row_chunks(&j->p->row);
    int64_t bytes = 2 * j->chunks * j->p->row.n * j->itemsize;
    if ((j->wants_weight || j->wants_bias) && !(j->partial = td_alloc(bytes)))
        return td_fail(TD_MEMORY_ERROR, "no memory for %lld bytes of partial gradients",
                       (long long)bytes);
    void *token = td_heavy_begin((double)work * ROW_NS);
    td_parallel(j->chunks, 1, backward_chunks, j);
    if (dweight) join_chunks(j, dweight, 0);
    if (dbias) join_chunks(j, dbias, 1);
    td_heavy_end(token);
    if (j->partial) td_free(j->partial, bytes);
    return TD_OK;
}

td_status td_norm_rows_backward_run(const td_norm_backward *p, td_tensor *dweight, td_tensor *dbias)
{
    backward_job j = {p,
                      td_norm_kernel_for(p->dtype),
                      td_itemsize(p->dtype),
                      0,
                      NULL,
                      dweight != NULL,
                      dbias != NULL};
    return run_backward(&j, dweight, dbias);
}
