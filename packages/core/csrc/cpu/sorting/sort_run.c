/* sort_run.c - sort and topk of rows. Many rows are shared out; a long row is sorted by all threads
 * together: every pass of the radix sort counts and moves fixed pieces of the row, and a stable
 * sort has one result however it is cut. */
#include "cpu/sorting/sort_run.h"
#include <string.h>
#include "runtime/cpu.h"

#define FEW 48         /* elements that insertion sorts faster */
#define LONG_ROW 65536 /* elements worth several threads */
#define PIECES 16      /* of a long row */
#define SORT_NS 20.0   /* per element, about */

/* ---- rows ---- */

td_status td_rows_of(td_rows *rows, const char *op, const td_tensor *x, int64_t dim)
{
    const td_sort_kernels *kernels = TD_PICK(td_sort_kernels);
    if (x->dtype > TD_F64 || !kernels->of[x->dtype].make)
        return td_fail(TD_NOT_IMPLEMENTED, "%s is not implemented for '%s'", op,
                       td_dtypes[x->dtype].type_name);
    *rows = (td_rows){&kernels->of[x->dtype],
                      &kernels->pack[kernels->of[x->dtype].wide],
                      td_data(x),
                      1,
                      x->ndim ? x->sizes[dim] : 1,
                      1,
                      td_itemsize((td_dtype)x->dtype)};
    for (int64_t d = 0; d < dim; d++) rows->outer *= x->sizes[d];
    for (int64_t d = dim + 1; d < x->ndim; d++) rows->inner *= x->sizes[d];
    if (rows->n > UINT32_MAX && rows->pack->size == 8)
        return td_fail(
            TD_RUNTIME_ERROR,
            "%s: a dimension of %lld elements of dtype %s is too long; convert to a 64-bit dtype",
            op, (long long)rows->n, td_dtypes[x->dtype].name);
    return TD_OK;
}

#define GATHER(T) \
    for (int64_t k = 0; k < r->n; k++) ((T *)space)[k] = ((const T *)at)[k * r->inner]
const char *td_row_data(const td_rows *r, int64_t i, char *space)
{
    const char *at = r->data + td_row_start(r, i, r->n) * r->itemsize;
    if (r->inner == 1) return at;
    switch (r->itemsize) {
        case 1: GATHER(uint8_t); break;
        case 2: GATHER(uint16_t); break;
        case 4: GATHER(uint32_t); break;
        default: GATHER(uint64_t); break;
    }
    return space;
}

/* ---- sorting packs ---- */

static bool in_one_bucket(const int64_t *counts, int64_t n)
{
    for (int d = 0; d < TD_RADIX; d++)
        if (counts[d]) return counts[d] == n;
    return true;
}

char *td_sort_packs(const td_pack_kernel *k, char *packs, char *spare, int64_t n)
{
    if (n <= FEW) {
        k->insertion(packs, n);
        return packs;
    }
    int64_t counts[8 * TD_RADIX] = {0};
    k->count(counts, packs, n);
    for (int d = 0; d < k->digits; d++) {
        int64_t *digit = counts + d * TD_RADIX, next = 0;
        if (in_one_bucket(digit, n)) continue;
        for (int b = 0; b < TD_RADIX; b++) {
            int64_t count = digit[b];
            digit[b] = next;
            next += count;
        }
        k->scatter(spare, packs, n, k->first_shift + 8 * d, digit);
        char *swap = packs;
        packs = spare;
        spare = swap;
    }
    return packs;
}

typedef struct long_row {
    const td_rows *rows;
    const char *data;
    char *packs, *spare;
    int64_t counts[PIECES][TD_RADIX];
    int shift, descending;
    char *values;
    int64_t *indices, step;
} long_row;

static int64_t piece_start(const long_row *j, int64_t p) { return p * j->rows->n / PIECES; }
static int64_t piece_length(const long_row *j, int64_t p)
{
    return piece_start(j, p + 1) - piece_start(j, p);
}

static void make_pieces(void *context, int64_t begin, int64_t end)
{
    long_row *j = context;
    for (int64_t p = begin; p < end; p++)
        j->rows->element->make(j->packs + piece_start(j, p) * j->rows->pack->size, j->data,
                               piece_start(j, p), piece_length(j, p), j->descending);
}

static void count_pieces(void *context, int64_t begin, int64_t end)
{
    long_row *j = context;
    for (int64_t p = begin; p < end; p++) {
        memset(j->counts[p], 0, sizeof j->counts[p]);
        j->rows->pack->count_digit(j->counts[p], j->packs + piece_start(j, p) * j->rows->pack->size,
                                   piece_length(j, p), j->shift);
    }
}

static void scatter_pieces(void *context, int64_t begin, int64_t end)
{
    long_row *j = context;
    for (int64_t p = begin; p < end; p++)
        j->rows->pack->scatter(j->spare, j->packs + piece_start(j, p) * j->rows->pack->size,
                               piece_length(j, p), j->shift, j->counts[p]);
}

static void write_pieces(void *context, int64_t begin, int64_t end)
{
    long_row *j = context;
    for (int64_t p = begin; p < end; p++) {
        int64_t at = piece_start(j, p);
        j->rows->element->write(j->values + at * j->step * j->rows->itemsize, j->step,
                                j->indices + at * j->step, j->step,
                                j->packs + at * j->rows->pack->size, j->data, piece_length(j, p));
    }
}

/* Counts become places: digit by digit, within a digit piece by piece. False if there is nothing to
 * move. */
static bool place(long_row *j)
{
    int64_t next = 0;
    for (int d = 0; d < TD_RADIX; d++) {
        int64_t before = next;
        for (int p = 0; p < PIECES; p++) {
            int64_t count = j->counts[p][d];
            j->counts[p][d] = next;
            next += count;
        }
        if (next - before == j->rows->n) return false;
    }
    return true;
}

static void sort_long_row(long_row *j)
{
    td_parallel(PIECES, 1, make_pieces, j);
    for (int d = 0; d < j->rows->pack->digits; d++) {
        j->shift = j->rows->pack->first_shift + 8 * d;
        td_parallel(PIECES, 1, count_pieces, j);
        if (!place(j)) continue;
        td_parallel(PIECES, 1, scatter_pieces, j);
        char *swap = j->packs;
        j->packs = j->spare;
        j->spare = swap;
    }
    td_parallel(PIECES, 1, write_pieces, j);
}

/* ---- sort ---- */

typedef struct sort_job {
    const td_rows *rows;
    td_scratch scratch;
    char *values;
    int64_t *indices, k; /* results of a row: n for sort, k for topk */
    int descending;
} sort_job;

static void sort_rows(void *context, int64_t begin, int64_t end)
{
    sort_job *j = context;
    const td_rows *r = j->rows;
    char *packs = td_scratch_take(&j->scratch), *spare = packs + r->n * r->pack->size,
         *space = spare + r->n * r->pack->size;
    for (int64_t i = begin; i < end; i++) {
        const char *row = td_row_data(r, i, space);
        int64_t at = td_row_start(r, i, r->n);
        r->element->make(packs, row, 0, r->n, j->descending);
        char *sorted = td_sort_packs(r->pack, packs, spare, r->n);
        r->element->write(j->values + at * r->itemsize, r->inner, j->indices + at, r->inner, sorted,
                          row, r->n);
    }
    td_scratch_give(&j->scratch, packs);
}

static void sort_long_rows(sort_job *j)
{
    const td_rows *r = j->rows;
    char *packs = td_scratch_take(&j->scratch), *spare = packs + r->n * r->pack->size,
         *space = spare + r->n * r->pack->size;
    long_row *row = (long_row *)(space + (r->n * r->itemsize + 63) / 64 * 64);
    for (int64_t i = 0; i < td_row_count(r); i++) {
        int64_t at = td_row_start(r, i, r->n);
        *row = (long_row){.rows = r,
                          .data = td_row_data(r, i, space),
                          .packs = packs,
                          .spare = spare,
                          .descending = j->descending,
                          .values = j->values + at * r->itemsize,
                          .indices = j->indices + at,
                          .step = r->inner};
        sort_long_row(row);
    }
    td_scratch_give(&j->scratch, packs);
}

static td_status run_sort(sort_job *j)
{
    const td_rows *r = j->rows;
    int64_t count = td_row_count(r),
            bytes = r->n * (2 * r->pack->size + r->itemsize) + (int64_t)sizeof(long_row) + 128;
    bool together = r->n >= LONG_ROW && count < 2 * td_num_threads();
    TD_TRY(td_scratch_begin(&j->scratch, bytes));
    int64_t grain = 1024 / (r->n + 1);
    void *token = td_heavy_begin((double)count * (double)r->n * SORT_NS);
    if (together) sort_long_rows(j);
    else td_parallel(count, grain > 1 ? grain : 1, sort_rows, j);
    td_heavy_end(token);
    td_scratch_end(&j->scratch);
    return TD_OK;
}

td_status td_sort_run(const td_rows *rows, td_tensor *values, td_tensor *indices, bool descending)
{
    sort_job j = {.rows = rows,
                  .values = td_data(values),
                  .indices = td_data(indices),
                  .k = rows->n,
                  .descending = descending};
    return run_sort(&j);
}

/* ---- topk ---- */

static bool takes_all(const td_rows *r, int64_t k) { return td_top_capacity(k) >= r->n; }

static void top_rows(void *context, int64_t begin, int64_t end)
{
    sort_job *j = context;
    const td_rows *r = j->rows;
    int64_t capacity = takes_all(r, j->k) ? r->n : td_top_capacity(j->k);
    char *packs = td_scratch_take(&j->scratch), *spare = packs + capacity * r->pack->size,
         *space = spare + j->k * r->pack->size;
    for (int64_t i = begin; i < end; i++) {
        const char *row = td_row_data(r, i, space);
        int64_t at = td_row_start(r, i, j->k);
        if (takes_all(r, j->k)) {
            r->element->make(packs, row, 0, r->n, j->descending);
            if (j->k < r->n) r->pack->select(packs, r->n, j->k - 1);
        } else {
            r->element->top(packs, row, r->n, j->k, j->descending);
        }
        char *sorted = td_sort_packs(r->pack, packs, spare, j->k);
        r->element->write(j->values + at * r->itemsize, r->inner, j->indices + at, r->inner, sorted,
                          row, j->k);
    }
    td_scratch_give(&j->scratch, packs);
}

static td_status run_top(sort_job *j)
{
    const td_rows *r = j->rows;
    int64_t capacity = takes_all(r, j->k) ? r->n : td_top_capacity(j->k);
    TD_TRY(
        td_scratch_begin(&j->scratch, (capacity + j->k) * r->pack->size + r->n * r->itemsize + 64));
    int64_t count = td_row_count(r), grain = 8192 / (r->n + 1);
    void *token = td_heavy_begin((double)count * (double)r->n);
    td_parallel(count, grain > 1 ? grain : 1, top_rows, j);
    td_heavy_end(token);
    td_scratch_end(&j->scratch);
    return TD_OK;
}

td_status td_top_run(const td_rows *rows, td_tensor *values, td_tensor *indices, int64_t k,
                     bool descending)
{
    sort_job j = {.rows = rows,
                  .values = td_data(values),
                  .indices = td_data(indices),
                  .k = k,
                  .descending = descending};
    return run_top(&j);
}
