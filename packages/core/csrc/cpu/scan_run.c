/* scan_run.c - how threads share a scan.
 * A tensor is outer * n * inner elements, scanned along n. A long row is cut into pieces of fixed
 * length, so that several threads can take part and still give the same bits: first the sum of
 * every piece, then each from what lies before it. */
#include "cpu/scan_run.h"
#include "runtime/alloc.h"
#include "runtime/cpu.h"
#include "runtime/pool.h"

#define PIECE 65536
#define SHORT_ROW 32 /* elements: rows up to here are taken many at a time */
#define ELEMENT_NS 1.0

typedef struct job {
    td_scan scan;
    char *out;
    const char *x;
    int64_t *indices;
    int64_t outer, n, inner, strip, strips, itemsize;
    double *before; /* pieces of a long row: what lies before each */
} job;

/* Strips are columns of the inner dimension, or short rows side by side. */
static void scan_strips(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    int64_t pitch = j->inner == 1 ? j->n : 1, columns = j->inner == 1 ? j->outer : j->inner;
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i % j->strips * j->strip, left = columns - first;
        int64_t at = i / j->strips * j->n * j->inner + first * pitch;
        j->scan(j->out + at * j->itemsize, j->indices ? j->indices + at : NULL,
                j->x + at * j->itemsize, j->n, j->inner, left < j->strip ? left : j->strip, pitch,
                NULL);
    }
}

static void scan_pieces(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    for (int64_t i = begin; i < end; i++) {
        double carry[2] = {j->before[i], 0};
        int64_t at = i * PIECE, left = j->n - at;
        j->scan(j->out + at * j->itemsize, NULL, j->x + at * j->itemsize,
                left < PIECE ? left : PIECE, 1, 1, 1, carry);
    }
}

static void sum_pieces(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    for (int64_t i = begin; i < end; i++)
        j->before[i + 1] = TD_PICK(td_scan_kernels)
                               ->total[j->itemsize == 8](j->x + i * PIECE * j->itemsize, PIECE);
}

static td_status run_long_row(job *j)
{
    int64_t pieces = (j->n + PIECE - 1) / PIECE, bytes = pieces * (int64_t)sizeof(double);
    if (!(j->before = td_alloc(bytes)))
        return td_fail(TD_MEMORY_ERROR, "no memory for %lld bytes of partial sums",
                       (long long)bytes);
    void *token = td_heavy_begin((double)j->n * ELEMENT_NS);
    td_parallel(pieces - 1, 1, sum_pieces, j);
    j->before[0] = 0;
    for (int64_t i = 1; i < pieces; i++) j->before[i] += j->before[i - 1];
    td_parallel(pieces, 1, scan_pieces, j);
    td_heavy_end(token);
    td_free(j->before, bytes);
    return TD_OK;
}

td_status td_scan_run(td_scan_kind kind, td_tensor *out, td_tensor *indices, const td_tensor *x,
                      int64_t dim)
{
    job j = {.scan = TD_PICK(td_scan_kernels)->scan[kind][x->dtype],
             .out = td_data(out),
             .x = td_data(x),
             .indices = indices ? td_data(indices) : NULL,
             .outer = 1,
             .n = x->ndim ? x->sizes[dim] : 1,
             .inner = 1,
             .itemsize = td_itemsize((td_dtype)x->dtype)};
    if (x->numel == 0) return TD_OK;
    for (int64_t d = 0; d < dim; d++) j.outer *= x->sizes[d];
    for (int64_t d = dim + 1; d < x->ndim; d++) j.inner *= x->sizes[d];
    bool rows = j.inner == 1;
    int64_t columns = rows ? j.outer : j.inner;
    j.strip = rows && j.n > SHORT_ROW ? 1 : TD_SCAN_STRIP;
    j.strips = (columns + j.strip - 1) / j.strip;
    if (kind == TD_CUMSUM && j.outer * j.inner == 1 && j.n > PIECE &&
        td_is_floating((td_dtype)x->dtype))
        return run_long_row(&j);
    int64_t grain = 8192 / (j.n * (columns < j.strip ? columns : j.strip));
    void *token = td_heavy_begin((double)x->numel * ELEMENT_NS);
    td_parallel(rows ? j.strips : j.outer * j.strips, grain > 1 ? grain : 1, scan_strips, &j);
    td_heavy_end(token);
    return TD_OK;
}

bool td_scan_has(td_scan_kind kind, td_dtype dtype)
{
    return dtype <= TD_C128 && TD_PICK(td_scan_kernels)->scan[kind][dtype];
}
