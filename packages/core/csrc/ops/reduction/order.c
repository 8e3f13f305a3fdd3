/* order.c - picking by rank or frequency along a dimension: kthvalue, median, nanmedian, mode. */
#include <math.h>
#include <string.h>
#include "ops/sorting/sort.h"

#define SELF TD_TENSOR(0)

typedef enum rank { KTH, MEDIAN, NANMEDIAN, MODE } rank;

typedef struct job {
    const td_rows *rows;
    td_scratch scratch;
    td_dtype dtype;
    rank what;
    int64_t k; /* KTH: 0 for the smallest */
    char *values;
    int64_t *indices; /* may be NULL */
} job;

/* ---- NaN ---- */

#define COUNT_NAN(T, TEST)                             \
    for (int64_t i = 0; i < n; i++) {                  \
        T v = ((const T *)x)[i];                       \
        if (!(TEST)) continue;                         \
        if (count++ == 0) *first = i;                  \
    }
/* How many NaN a row holds, and where the first one is. */
static int64_t count_nan(const char *x, int64_t n, td_dtype dtype, int64_t *first)
{
    int64_t count = 0;
    *first = 0;
    if (dtype == TD_F32) COUNT_NAN(float, v != v)
    if (dtype == TD_F64) COUNT_NAN(double, v != v)
    if (dtype == TD_F16) COUNT_NAN(uint16_t, (v & 0x7fff) > 0x7c00)
    if (dtype == TD_BF16) COUNT_NAN(uint16_t, (v & 0x7fff) > 0x7f80)
    return count;
}

/* ---- one row ---- */

static uint64_t key_of(const td_pack_kernel *k, const char *packs, int64_t i)
{
    return k->size == 8 ? ((const uint64_t *)packs)[i] >> 32
                        : (uint64_t)(((const td_wide_pack *)packs)[i] >> 64);
}

static int64_t index_of(const td_pack_kernel *k, const char *packs, int64_t i)
{
    return k->size == 8 ? (int64_t)(((const uint64_t *)packs)[i] & UINT32_MAX)
                        : (int64_t)((const td_wide_pack *)packs)[i];
}

/* The last place of the value that comes most often, the smallest of several. */
static int64_t most_frequent(const td_pack_kernel *k, const char *sorted, int64_t n)
{
    int64_t best = 0, at = 0;
    for (int64_t i = 0, run = 0; i < n; i++) {
        run = i && key_of(k, sorted, i) == key_of(k, sorted, i - 1) ? run + 1 : 1;
        if (run <= best) continue;
        best = run;
        at = i;
    }
    return index_of(k, sorted, at);
}

static int64_t pick(const job *j, const char *row, char *packs, char *spare)
{
    const td_rows *r = j->rows;
    int64_t k = j->k, first_nan,
            nans = j->what == MEDIAN || j->what == NANMEDIAN ? count_nan(row, r->n, j->dtype, &first_nan) : 0;
    if (j->what == MEDIAN && nans) return first_nan;
    if (j->what == NANMEDIAN && nans == r->n) return 0;
    r->element->make(packs, row, 0, r->n, 0);
    if (j->what == MODE) return most_frequent(r->pack, td_sort_packs(r->pack, packs, spare, r->n), r->n);
    if (j->what != KTH) k = (r->n - nans - 1) / 2;
    r->pack->select(packs, r->n, k);
    return index_of(r->pack, packs, k);
}

static void pick_rows(void *context, int64_t begin, int64_t end)
{
    job *j = context;
    const td_rows *r = j->rows;
    char *packs = td_scratch_take(&j->scratch), *spare = packs + r->n * r->pack->size,
         *space = spare + r->n * r->pack->size;
    for (int64_t i = begin; i < end; i++) {
        const char *row = td_row_data(r, i, space);
        int64_t at = pick(j, row, packs, spare);
        memcpy(j->values + i * r->itemsize, row + at * r->itemsize, (size_t)r->itemsize);
        if (j->indices) j->indices[i] = at;
    }
    td_scratch_give(&j->scratch, packs);
}

/* ---- operators ---- */

static td_status run(job *j)
{
    const td_rows *r = j->rows;
    int64_t count = td_row_count(r), grain = 2048 / (r->n + 1);
    TD_TRY(td_scratch_begin(&j->scratch, r->n * (2 * r->pack->size + r->itemsize) + 64));
    void *token = td_heavy_begin((double)count * (double)r->n * 10);
    td_parallel(count, grain > 1 ? grain : 1, pick_rows, j);
    td_heavy_end(token);
    td_scratch_end(&j->scratch);
    return TD_OK;
}

static td_status check(const char *op, const td_tensor *x, rank what)
{
    td_dtype d = (td_dtype)x->dtype;
    if (td_is_complex(d) || td_is_float8(d) || (d == TD_BOOL && what != MODE))
        return td_fail(TD_NOT_IMPLEMENTED, "%s is not implemented for '%s'", op, td_dtypes[d].type_name);
    return TD_OK;
}

/* values and indices of shape without `dim` (or with 1 there) */
static td_status pick_along(td_call *call, const char *op, rank what, int64_t k, int64_t dim, bool keepdim)
{
    td_rows rows;
    td_tensor *x;
    int64_t sizes[TD_MAX_DIMS], ndim = 0;
    TD_TRY(td_wrap_dim(dim, SELF->ndim, &dim));
    int64_t n = SELF->ndim ? SELF->sizes[dim] : 1;
    if (n == 0)
        return td_fail(TD_INDEX_ERROR, "%s(): Expected reduction dim %lld to have non-zero size.", op,
                       (long long)dim);
    if (what == KTH && (k < 1 || k > n))
        return td_fail(
            TD_RUNTIME_ERROR,
            "%s(): selected number k out of range for dimension %lld: k is %lld, there are %lld elements", op,
            (long long)dim, (long long)k, (long long)n);
    TD_TRY(check(op, SELF, what));
    for (int d = 0; d < SELF->ndim; d++)
        if (d != dim || keepdim) sizes[ndim++] = d == dim ? 1 : SELF->sizes[d];
    TD_TRY(td_tensor_empty(&call->out[0], (td_dtype)SELF->dtype, (td_device)SELF->device, (int)ndim, sizes));
    TD_TRY(td_tensor_empty(&call->out[1], TD_I64, (td_device)SELF->device, (int)ndim, sizes));
    if (td_is_meta(SELF)) return TD_OK;
    TD_TRY(td_contiguous(&x, SELF));
    td_status status = td_rows_of(&rows, op, x, dim);
    if (status == TD_OK && x->numel) {
        job j = {.rows = &rows,
                 .dtype = (td_dtype)x->dtype,
                 .what = what,
                 .k = k - 1,
                 .values = td_data(call->out[0]),
                 .indices = td_data(call->out[1])};
        status = run(&j);
    }
    td_tensor_free(x);
    return status;
}

/* (self, k, dim, keepdim); (self, dim, keepdim) */
td_status td_op_kthvalue(td_call *call)
{
    return pick_along(call, "kthvalue", KTH, TD_INT(1), TD_INT(2), TD_BOOLEAN(3));
}
td_status td_op_mode(td_call *call) { return pick_along(call, "mode", MODE, 1, TD_INT(1), TD_BOOLEAN(2)); }
td_status td_op_median_dim(td_call *call)
{
    return pick_along(call, "median", MEDIAN, 1, TD_INT(1), TD_BOOLEAN(2));
}
td_status td_op_nanmedian_dim(td_call *call)
{
    return pick_along(call, "nanmedian", NANMEDIAN, 1, TD_INT(1), TD_BOOLEAN(2));
}

/* Of all elements; of none it is NaN, or the smallest number where there is no NaN. */
static td_status median_of_all(td_call *call, const char *op, rank what)
{
    td_rows rows;
    td_tensor *x, *flat;
    td_dtype dtype = (td_dtype)SELF->dtype;
    TD_TRY(check(op, SELF, what));
    TD_TRY(td_tensor_empty(&call->out[0], dtype, (td_device)SELF->device, 0, NULL));
    if (td_is_meta(SELF)) return TD_OK;
    if (SELF->numel == 0) {
        int64_t least = td_dtypes[dtype].is_signed ? INT64_MIN >> (64 - 8 * td_itemsize(dtype)) : 0;
        td_scalar none = td_is_floating(dtype) ? td_scalar_float(NAN) : td_scalar_int(least);
        return td_fill(call->out[0], &none);
    }
    TD_TRY(td_contiguous(&x, SELF));
    td_status status = td_view_sizes(&flat, x, 1, &x->numel);
    if (status == TD_OK) {
        status = td_rows_of(&rows, op, flat, 0);
        job j = {.rows = &rows, .dtype = dtype, .what = what, .values = td_data(call->out[0])};
        if (status == TD_OK) status = run(&j);
        td_tensor_free(flat);
    }
    td_tensor_free(x);
    return status;
}

td_status td_op_median(td_call *call) { return median_of_all(call, "median", MEDIAN); }
td_status td_op_nanmedian(td_call *call) { return median_of_all(call, "nanmedian", NANMEDIAN); }
