/* scan.c - running results and triangles of matrices as launches of kernels/scan.h. */
#include "cuda/scan.h"
#include "cpu/scan_run.h"
#include "cpu/creation_run.h"
#include "cuda/program.h"
#include "cuda/workers.h"

#define PIECE 65536 /* as in cpu/scan_run.c */

typedef struct scan_call { /* laid out as in kernels/scan.h */
    char *out;
    const char *x;
    int64_t *where;
    double *before;
    int64_t units;
    int64_t n, inner;
    int64_t piece, pieces;
    int64_t columns, diagonal, upper;
} scan_call;

enum { TOTAL = TD_SCAN_KINDS, BEFORE, TRIANGLE, EXPONENTS };

static td_status launch(int work, td_dtype dtype, scan_call *c, int64_t units, int ordinal)
{
    static const char *names[] = {
        [TD_CUMSUM] = "sum", [TD_CUMPROD] = "prod",   [TD_LOGCUMSUMEXP] = "logsumexp",
        [TD_CUMMAX] = "max", [TD_CUMMIN] = "min",     [TOTAL] = "total",
        [BEFORE] = "before", [TRIANGLE] = "triangle", [EXPONENTS] = "exponents",
    };
    td_cuda_work w = {.kind = "scan", .how = "scan_alone", .name = names[work], .dtype = dtype};
    c->units = units;
    return td_cuda_threads(&w, ordinal, units, c);
}

/* One long line, in pieces that threads can take apart. */
static td_status long_line(td_dtype dtype, scan_call *c, td_device device)
{
    void *block;
    char *before;
    int ordinal = td_device_index(device);
    c->piece = PIECE;
    c->pieces = (c->n + PIECE - 1) / PIECE;
    int64_t bytes = c->pieces * (int64_t)sizeof(double);
    TD_TRY(td_cuda_alloc(&before, bytes, device, &block));
    c->before = (double *)before;
    td_status status = launch(TOTAL, dtype, c, c->pieces - 1, ordinal);
    if (status == TD_OK) status = launch(BEFORE, dtype, c, 1, ordinal);
    if (status == TD_OK) status = launch(TD_CUMSUM, dtype, c, c->pieces, ordinal);
    td_cuda_release(block, before, bytes);
    return status;
}

td_status td_cuda_scan(const void *job, td_device device)
{
    const td_scan_job *j = job;
    const td_tensor *x = j->x;
    td_dtype dtype = (td_dtype)x->dtype;
    scan_call c = {.out = td_data(j->out),
                   .x = td_data(x),
                   .where = j->indices ? td_data(j->indices) : NULL,
                   .n = x->ndim ? x->sizes[j->dim] : 1,
                   .inner = 1,
                   .pieces = 1};
    int64_t outer = 1;
    if (x->numel == 0) return TD_OK;
    if (td_is_complex(dtype) && j->kind != TD_CUMPROD && j->kind != TD_LOGCUMSUMEXP)
        return td_fail(TD_NOT_IMPLEMENTED,
                       "scans of '%s' are not implemented for device 'cuda'; move the tensor with "
                       ".cpu() before the call",
                       td_dtypes[dtype].type_name);
    for (int64_t d = 0; d < j->dim; d++) outer *= x->sizes[d];
    for (int64_t d = j->dim + 1; d < x->ndim; d++) c.inner *= x->sizes[d];
    c.piece = c.n;
    TD_TRY(td_cuda_use(td_device_index(device)));
    if (j->kind == TD_CUMSUM && outer * c.inner == 1 && c.n > PIECE && td_is_floating(dtype))
        return long_line(dtype, &c, device);
    return launch((int)j->kind, dtype, &c, outer * c.inner, td_device_index(device));
}

td_status td_cuda_complex_logsumexp(td_tensor *out, const td_tensor *rows, td_device device)
{
    scan_call c = {.out = td_data(out),
                   .x = td_data(rows),
                   .n = rows->sizes[1],
                   .inner = 1,
                   .piece = rows->sizes[1],
                   .pieces = 1};
    TD_TRY(td_cuda_use(td_device_index(device)));
    return launch(EXPONENTS, TD_C128, &c, rows->sizes[0], td_device_index(device));
}

/* elements as bits, by a dtype of that size */
static td_dtype of_size(int64_t bytes)
{
    switch (bytes) {
        case 1: return TD_U8;
        case 2: return TD_I16;
        case 4: return TD_I32;
        case 8: return TD_I64;
        default: return TD_C128;
    }
}

td_status td_cuda_triangle(const void *job, td_device device)
{
    const td_triangle_job *j = job;
    const td_triangle *t = j->triangle;
    scan_call c = {.out = t->to,
                   .x = t->from,
                   .n = t->rows,
                   .columns = t->columns,
                   .diagonal = t->diagonal,
                   .upper = t->upper};
    TD_TRY(td_cuda_use(td_device_index(device)));
    return launch(TRIANGLE, of_size(t->itemsize), &c, j->numel, td_device_index(device));
}
