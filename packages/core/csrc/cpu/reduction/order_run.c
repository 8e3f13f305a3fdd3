/* order_run.c - how a row is picked from: by its keys in order, NaN counted apart. */
#include "cpu/reduction/order_run.h"
#include <string.h>

typedef struct job {
    const td_rows *rows;
    td_scratch scratch;
    td_dtype dtype;
    td_rank what;
    int64_t k; /* TD_RANK_KTH: 0 for the smallest */
    char *values;
    int64_t *indices; /* may be NULL */
} job;

/* ---- NaN ---- */

#define COUNT_NAN(T, TEST)            \
    for (int64_t i = 0; i < n; i++) { \
        T v = ((const T *)x)[i];      \
        if (!(TEST)) continue;        \
        if (count++ == 0) *first = i; \
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
            nans = j->what == TD_RANK_MEDIAN || j->what == TD_RANK_NANMEDIAN
                       ? count_nan(row, r->n, j->dtype, &first_nan)
                       : 0;
    if (j->what == TD_RANK_MEDIAN && nans) return first_nan;
    if (j->what == TD_RANK_NANMEDIAN && nans == r->n) return 0;
    r->element->make(packs, row, 0, r->n, 0);
    if (j->what == TD_RANK_MODE)
        return most_frequent(r->pack, td_sort_packs(r->pack, packs, spare, r->n), r->n);
    if (j->what != TD_RANK_KTH) k = (r->n - nans - 1) / 2;
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

td_status td_rank_run(const td_rows *rows, td_dtype dtype, td_rank what, int64_t k,
                      td_tensor *values, td_tensor *indices)
{
    job j = {.rows = rows,
             .dtype = dtype,
             .what = what,
             .k = k,
             .values = td_data(values),
             .indices = indices ? td_data(indices) : NULL};
    return run(&j);
}
