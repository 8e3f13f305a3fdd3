/* scan.c - cumsum, cumprod, logcumsumexp, cummax and cummin as operators.
 * A tensor is outer * n * inner elements, scanned along n. A long row is cut into pieces of fixed length, so
 * that several threads can take part and still give the same bits: first the sum of every piece, then each
 * from what lies before it. */
#include "cpu/scan.h"
#include "ops/view/view.h"
#include "runtime/alloc.h"
#include "runtime/cpu.h"
#include "runtime/pool.h"

#define SELF TD_TENSOR(0)
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
        j->scan(j->out + at * j->itemsize, j->indices ? j->indices + at : NULL, j->x + at * j->itemsize, j->n,
                j->inner, left < j->strip ? left : j->strip, pitch, NULL);
    }
}

static void scan_pieces(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    for (int64_t i = begin; i < end; i++) {
        double carry[2] = {j->before[i], 0};
        int64_t at = i * PIECE, left = j->n - at;
        j->scan(j->out + at * j->itemsize, NULL, j->x + at * j->itemsize, left < PIECE ? left : PIECE, 1, 1,
                1, carry);
    }
}

static void sum_pieces(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    for (int64_t i = begin; i < end; i++)
        j->before[i + 1] =
            TD_PICK(td_scan_kernels)->total[j->itemsize == 8](j->x + i * PIECE * j->itemsize, PIECE);
}

static td_status run_long_row(job *j)
{
    int64_t pieces = (j->n + PIECE - 1) / PIECE, bytes = pieces * (int64_t)sizeof(double);
    if (!(j->before = td_alloc(bytes)))
        return td_fail(TD_MEMORY_ERROR, "no memory for %lld bytes of partial sums", (long long)bytes);
    void *token = td_heavy_begin((double)j->n * ELEMENT_NS);
    td_parallel(pieces - 1, 1, sum_pieces, j);
    j->before[0] = 0;
    for (int64_t i = 1; i < pieces; i++) j->before[i] += j->before[i - 1];
    td_parallel(pieces, 1, scan_pieces, j);
    td_heavy_end(token);
    td_free(j->before, bytes);
    return TD_OK;
}

/* x and out dense, of the kernel's dtype */
static td_status run(td_scan_kind kind, td_tensor *out, td_tensor *indices, const td_tensor *x, int64_t dim)
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
    if (kind == TD_CUMSUM && j.outer * j.inner == 1 && j.n > PIECE && td_is_floating((td_dtype)x->dtype))
        return run_long_row(&j);
    int64_t grain = 8192 / (j.n * (columns < j.strip ? columns : j.strip));
    void *token = td_heavy_begin((double)x->numel * ELEMENT_NS);
    td_parallel(rows ? j.strips : j.outer * j.strips, grain > 1 ? grain : 1, scan_strips, &j);
    td_heavy_end(token);
    return TD_OK;
}

/* ---- operators ---- */

static td_dtype kernel_dtype(td_scan_kind kind, td_dtype d)
{
    if (d == TD_F16 || d == TD_BF16) return TD_F32;
    if (d == TD_C32) return TD_C64;
    if (td_is_integral(d) && kind != TD_LOGCUMSUMEXP && d != TD_U64) return TD_I64;
    return d == TD_U64 && kind < TD_CUMMAX ? TD_I64 : d;
}

static td_status cannot(const char *op, td_dtype d)
{
    return td_fail(TD_NOT_IMPLEMENTED, "%s is not implemented for '%s'", op, td_dtypes[d].type_name);
}

/* Complex sums are sums of their parts: one more, innermost dimension. */
static td_status sum_parts(td_tensor *out, const td_tensor *x, int64_t dim)
{
    td_tensor *from = NULL, *to = NULL;
    TD_TRY(td_view_as_real(&from, x));
    td_status status = td_view_as_real(&to, out);
    if (status == TD_OK) status = x->ndim ? run(TD_CUMSUM, to, NULL, from, dim) : td_copy(out, x);
    td_tensor_free(from);
    td_tensor_free(to);
    return status;
}

static td_status accumulate(td_call *call, const char *op, td_scan_kind kind, td_dtype result)
{
    int64_t dim;
    td_tensor *x, *cast, *made = NULL;
    td_dtype compute = kernel_dtype(kind, result);
    bool parts = kind == TD_CUMSUM && td_is_complex(result);
    TD_TRY(td_wrap_dim(TD_INT(1), SELF->ndim, &dim));
    if (compute > TD_C128 || (!parts && !TD_PICK(td_scan_kernels)->scan[kind][compute]))
        return cannot(op, result);
    if (td_is_meta(SELF)) return td_tensor_empty(&call->out[0], result, TD_META, SELF->ndim, SELF->sizes);
    TD_TRY(td_cast(&cast, SELF, result)); /* dtype= converts before it accumulates */
    td_status status = td_cast_contiguous(&x, cast, compute);
    td_tensor_free(cast);
    if (status != TD_OK) return status;
    status = td_tensor_empty(&made, compute, TD_CPU, x->ndim, x->sizes);
    if (status == TD_OK) status = parts ? sum_parts(made, x, dim) : run(kind, made, NULL, x, dim);
    if (status == TD_OK) status = td_cast(&call->out[0], made, result);
    td_tensor_free(made);
    td_tensor_free(x);
    return status;
}

static td_dtype accumulated(const td_call *call)
{
    td_dtype own = (td_dtype)call->args[0].tensor->dtype;
    return call->args[2].kind != TD_ARG_NONE ? (td_dtype)call->args[2].i : td_is_integral(own) ? TD_I64 : own;
}

td_status td_op_cumsum(td_call *call) { return accumulate(call, "cumsum", TD_CUMSUM, accumulated(call)); }
td_status td_op_cumprod(td_call *call) { return accumulate(call, "cumprod", TD_CUMPROD, accumulated(call)); }
td_status td_op_logcumsumexp(td_call *call)
{
    return accumulate(call, "logcumsumexp", TD_LOGCUMSUMEXP, (td_dtype)SELF->dtype);
}

static td_status extremum(td_call *call, const char *op, td_scan_kind kind)
{
    int64_t dim;
    td_tensor *x, *values = NULL;
    td_dtype own = (td_dtype)SELF->dtype, compute = kernel_dtype(kind, own);
    TD_TRY(td_wrap_dim(TD_INT(1), SELF->ndim, &dim));
    if (compute > TD_C128 || !TD_PICK(td_scan_kernels)->scan[kind][compute]) return cannot(op, own);
    if (td_is_meta(SELF)) {
        TD_TRY(td_tensor_empty(&call->out[0], own, TD_META, SELF->ndim, SELF->sizes));
        return td_tensor_empty(&call->out[1], TD_I64, TD_META, SELF->ndim, SELF->sizes);
    }
    TD_TRY(td_cast_contiguous(&x, SELF, compute));
    td_status status = td_tensor_empty(&values, compute, TD_CPU, x->ndim, x->sizes);
    if (status == TD_OK) status = td_tensor_empty(&call->out[1], TD_I64, TD_CPU, x->ndim, x->sizes);
    if (status == TD_OK) status = run(kind, values, call->out[1], x, dim);
    if (status == TD_OK) status = td_cast(&call->out[0], values, own);
    td_tensor_free(values);
    td_tensor_free(x);
    return status;
}

td_status td_op_cummax(td_call *call) { return extremum(call, "cummax", TD_CUMMAX); }
td_status td_op_cummin(td_call *call) { return extremum(call, "cummin", TD_CUMMIN); }
