/* sort.c - sorting, and places in sorted sequences, as launches of kernels/sort.h. */
#include "cpu/reduction/order_run.h"
#include "cpu/sorting/search_run.h"
#include "cpu/sorting/sort_run.h"
#include "cuda/program.h"
#include "cuda/sort.h"
#include "cuda/workers.h"

typedef struct sort_call { /* laid out as in kernels/sort.h */
    const char *x;
    char *values;
    int64_t *indices;
    td_cuda_keys pairs;
    int64_t units, n, inner, k, width, descending, what;
} sort_call;

enum { MAKE, MERGE, WRITE, RANK };

static td_status launch(int work, td_dtype dtype, sort_call *c, int64_t units, int ordinal)
{
    static const char *names[] = {"make", "merge", "write", "rank"};
    td_cuda_work w = {.kind = "sort", .how = "sort_alone", .name = names[work], .dtype = dtype};
    c->units = units;
    return td_cuda_threads(&w, ordinal, units, c);
}

static void swap(td_cuda_keys *k)
{
    uint64_t *keys = k->keys[0];
    int64_t *places = k->places[0];
    k->keys[0] = k->keys[1];
    k->keys[1] = keys;
    k->places[0] = k->places[1];
    k->places[1] = places;
}

/* what MAKE, or whoever else makes keys, has written becomes what is read */
static td_status merged(sort_call *c, int64_t lines, int ordinal)
{
    swap(&c->pairs);
    for (c->width = 1; c->width < c->n; c->width *= 2) {
        TD_TRY(launch(MERGE, TD_F32, c, lines * c->n, ordinal));
        swap(&c->pairs);
    }
    return TD_OK;
}

td_status td_cuda_sort_keys(td_cuda_keys *pairs, int64_t lines, int64_t n, int ordinal)
{
    sort_call c = {.pairs = *pairs, .n = n};
    TD_TRY(merged(&c, lines, ordinal));
    *pairs = c.pairs;
    return TD_OK;
}

/* `last` over the sorted keys and places of the lines, `units` threads of it */
static td_status run(sort_call *c, td_dtype dtype, int64_t lines, int last, int64_t units,
                     int ordinal)
{
    TD_TRY(launch(MAKE, dtype, c, lines * c->n, ordinal));
    TD_TRY(merged(c, lines, ordinal));
    return launch(last, dtype, c, units, ordinal);
}

static td_status sorted(sort_call *c, td_dtype dtype, int64_t lines, int last, int64_t units,
                        td_device device)
{
    int64_t numel = lines * c->n, bytes = 4 * 8 * numel;
    char *space;
    void *block;
    TD_TRY(td_cuda_use(td_device_index(device)));
    TD_TRY(td_cuda_alloc(&space, bytes, device, &block));
    for (int k = 0; k < 2; k++) {
        c->pairs.keys[k] = (uint64_t *)space + k * numel;
        c->pairs.places[k] = (int64_t *)space + (2 + k) * numel;
    }
    td_status status = run(c, dtype, lines, last, units, td_device_index(device));
    /* the next owner's work comes after, on the same stream */
    td_cuda_release(block, space, bytes);
    return status;
}

td_status td_cuda_sort(const void *job, td_device device)
{
    const td_sort_job *j = job;
    const td_rows *r = j->rows;
    sort_call c = {.x = r->data,
                   .values = td_data(j->values),
                   .indices = td_data(j->indices),
                   .n = r->n,
                   .inner = r->inner,
                   .k = j->k,
                   .descending = j->descending};
    int64_t lines = td_row_count(r);
    return sorted(&c, (td_dtype)j->values->dtype, lines, WRITE, lines * j->k, device);
}

td_status td_cuda_rank(const void *job, td_device device)
{
    const td_rank_job *j = job;
    const td_rows *r = j->rows;
    sort_call c = {.x = r->data,
                   .values = td_data(j->values),
                   .indices = j->indices ? td_data(j->indices) : NULL,
                   .n = r->n,
                   .inner = r->inner,
                   .k = j->k,
                   .what = (int64_t)j->what};
    int64_t lines = td_row_count(r);
    return sorted(&c, j->dtype, lines, RANK, lines, device);
}

/* ---- places in sorted sequences ---- */

typedef struct search_call { /* laid out as in kernels/sort.h */
    const char *sequence, *values;
    const int64_t *sorter;
    char *out;
    int64_t units, n, values_a_row, right, narrow, one_row;
} search_call;

td_status td_cuda_search(const void *job, td_device device)
{
    const td_search_job *j = job;
    const td_tensor *q = j->sequence, *v = j->values;
    search_call c = {.sequence = td_data(q),
                     .values = td_data(v),
                     .sorter = j->sorter ? td_data(j->sorter) : NULL,
                     .out = td_data(j->out),
                     .units = v->numel,
                     .n = q->sizes[q->ndim - 1],
                     .values_a_row = v->ndim ? v->sizes[v->ndim - 1] : 1,
                     .right = j->right,
                     .narrow = j->out->dtype == TD_I32,
                     .one_row = q->ndim == 1};
    td_cuda_work w = {
        .kind = "search", .how = "search_alone", .name = "place", .dtype = (td_dtype)v->dtype};
    TD_TRY(td_cuda_use(td_device_index(device)));
    return td_cuda_threads(&w, td_device_index(device), c.units, &c);
}
