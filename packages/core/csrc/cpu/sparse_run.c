/* sparse_run.c - rows of a sparse matrix in threads: each thread gets as many entries, whatever
 * rows they are in. */
#include "cpu/sparse_run.h"
#include <stdatomic.h>
#include <string.h>
#include "cpu/sparse.h"
#include "runtime/alloc.h"
#include "runtime/cpu.h"
#include "runtime/error.h"
#include "runtime/pool.h"

#define NUMBER_NS 0.1 /* of a number that an entry multiplies */
#define ENTRY_NS 2
#define TASK_NS 20000
#define NEAR (1 << 19)   /* bytes of a dense matrix of which nothing is fetched ahead */
#define FAR (1 << 22)    /* bytes from which on panels are worth their copies */
#define SECOND (1 << 20) /* bytes of a panel that a second cache holds */
#define PANEL 256        /* bytes of a row of a panel */

typedef struct job {
    const td_csr *m;
    const int64_t *edges;
    int64_t rows, entries, n, tasks;
    int64_t at, width; /* the columns that are computed: all, or those of a panel */
    bool is_near;
    td_sparse_kernel kernel;
    int64_t item;
    const char *values, *row, *dense; /* of `add`; of `dot`; of both */
    const char *whole;                /* what panels are copied from */
    char *out;
    _Atomic bool is_wrong; /* a column that is none: `wrong` */
    _Atomic int64_t wrong;
} job;

/* the row in which task `i` begins: the first that begins at its first entry or later */
static int64_t row_of(const job *j, int64_t i)
{
    int64_t from = 0, to = j->rows,
            entry = (int64_t)((double)j->entries * (double)i / (double)j->tasks);
    if (i == 0 || i == j->tasks) return i ? j->rows : 0;
    while (from < to) {
        int64_t middle = from + (to - from) / 2;
        if (j->edges[middle] < entry) from = middle + 1;
        else to = middle;
    }
    return from;
}

/* Columns of entries that follow each other, of however many rows: copied and checked, since
 * another thread may write to what was looked at. */
#define WINDOW 256
typedef struct window {
    int64_t begin, count;
    int64_t cols[WINDOW];
} window;

static bool take_columns(job *j, window *w, int64_t begin, int64_t end)
{
    w->begin = begin;
    w->count = end - begin < WINDOW ? end - begin : WINDOW;
    memcpy(w->cols, (const int64_t *)td_data(j->m->cols) + begin,
           (size_t)w->count * sizeof *w->cols);
    for (int64_t k = 0; k < w->count; k++)
        if (w->cols[k] < 0 || w->cols[k] >= j->m->columns) {
            atomic_store(&j->wrong, w->cols[k]);
            atomic_store(&j->is_wrong, true);
            return false;
        }
    return true;
}

static void add(job *j, int64_t row, int64_t entry, const int64_t *cols, int64_t count,
                int64_t known)
{
    j->kernel.add(j->out + (row * j->n + j->at) * j->item, j->dense, cols,
                  j->values + entry * j->item, count, j->is_near ? 0 : known, j->width);
}

static void dot(job *j, int64_t row, int64_t entry, const int64_t *cols, int64_t count,
                int64_t known)
{
    j->kernel.dot(j->out + entry * j->item, j->row + row * j->n * j->item, j->dense, cols, count,
                  known, j->n);
}

/* The entries of a row, by pieces that the window holds; `last` is the end of those that the task
 * has. */
static bool run_row(job *j, window *w, int64_t row, int64_t last)
{
    int64_t begin = td_csr_within(j->edges[row], last),
            end = td_csr_within(j->edges[row + 1], last), count;
    if (j->values && j->width)
        memset(j->out + (row * j->n + j->at) * j->item, 0, (size_t)(j->width * j->item));
    for (; begin < end; begin += count) {
        if ((begin < w->begin || begin >= w->begin + w->count) && !take_columns(j, w, begin, last))
            return false;
        int64_t at = begin - w->begin, known = w->count - at;
        count = end - begin < known ? end - begin : known;
        (j->values ? add : dot)(j, row, begin, w->cols + at, count, known);
    }
    return true;
}

static void run_tasks(void *context, int64_t begin, int64_t end)
{
    job *j = context;
    window w = {0};
    int64_t row = row_of(j, begin), after = row_of(j, end);
    int64_t last = td_csr_within(j->edges[after], j->entries);
    while (row < after && run_row(j, &w, row, last)) row++;
}

td_status td_csr_check_edges(const td_csr *m)
{
    const int64_t *edges = td_data(m->edges);
    int64_t rows = m->edges->numel - 1, entries = m->cols->numel;
    for (int64_t k = 0; k <= rows; k++)
        if (edges[k] < (k ? edges[k - 1] : 0) || edges[k] > entries ||
            edges[k] != (k == rows ? entries
                         : k       ? edges[k]
                                   : 0))
            return td_fail(TD_RUNTIME_ERROR,
                           "%s: the offsets of rows rise from 0 to %lld, the number of entries, "
                           "but there is %lld at %lld",
                           m->op, (long long)entries, (long long)edges[k], (long long)k);
    return TD_OK;
}

td_status td_csr_wrong_column(const td_csr *m, int64_t column)
{
    return td_fail(TD_INDEX_ERROR, "%s: column %lld is out of range for a matrix of %lld columns",
                   m->op, (long long)column, (long long)m->columns);
}

static td_status run(job *j)
{
    TD_TRY(td_csr_check_edges(j->m));
    double cost = (double)(j->entries + j->rows) * (ENTRY_NS + NUMBER_NS * (double)j->width);
    j->tasks = (int64_t)(cost / TASK_NS) + 1;
    if (j->tasks > 4 * td_num_threads()) j->tasks = 4 * td_num_threads();
    void *token = td_heavy_begin(cost);
    td_parallel(j->tasks, 1, run_tasks, j);
    td_heavy_end(token);
    return atomic_load(&j->is_wrong) ? td_csr_wrong_column(j->m, atomic_load(&j->wrong)) : TD_OK;
}

static job job_of(const td_csr *m, td_tensor *out, const td_tensor *dense)
{
    bool is_double = dense->dtype == TD_F64;
    return (job){.m = m,
                 .edges = td_data(m->edges),
                 .rows = m->edges->numel - 1,
                 .entries = m->cols->numel,
                 .n = dense->sizes[1],
                 .width = dense->sizes[1],
                 .is_near = dense->numel * td_itemsize((td_dtype)dense->dtype) <= NEAR,
                 .kernel = TD_PICK(td_sparse_kernels)->of[is_double],
                 .item = td_itemsize((td_dtype)dense->dtype),
                 .dense = td_data(dense),
                 .out = td_data(out)};
}

static void pack_rows(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    size_t bytes = (size_t)(j->width * j->item);
    for (int64_t k = begin; k < end; k++)
        memcpy((char *)j->dense + (size_t)k * bytes, j->whole + (k * j->n + j->at) * j->item,
               bytes);
}

/* A matrix beyond the second cache of which a panel of columns is not, and whose rows are read
 * often enough to be worth a copy. */
static bool wants_panels(const job *j)
{
    int64_t columns = j->m->columns;
    return columns * PANEL <= SECOND && columns * j->n * j->item > FAR && j->entries > 8 * columns;
}

static td_status run_panels(job *j)
{
    int64_t most = PANEL / j->item, bytes = j->m->columns * PANEL;
    char *panel = td_alloc(bytes);
    if (!panel) return run(j); /* slower, and as right */
    td_status status = TD_OK;
    j->whole = j->dense;
    j->dense = panel;
    j->is_near = true;
    for (; !status && j->at < j->n; j->at += most) {
        j->width = j->n - j->at < most ? j->n - j->at : most;
        td_parallel(j->m->columns, 256, pack_rows, j);
        status = run(j);
    }
    td_free(panel, bytes);
    return status;
}

td_status td_csr_times(const td_csr *m, td_tensor *out, const td_tensor *values,
                       const td_tensor *dense)
{
    static const char none; /* without entries there may be no address */
    job j = job_of(m, out, dense);
    j.values = values->numel ? td_data(values) : &none;
    return wants_panels(&j) ? run_panels(&j) : run(&j);
}

td_status td_csr_sampled(const td_csr *m, td_tensor *out, const td_tensor *a, const td_tensor *b)
{
    job j = job_of(m, out, b);
    j.row = td_data(a);
    return run(&j);
}

/* ---- by columns ---- */
/* edges[c + 1] = how many entries are in column c, then edges[c] = where they begin */
static td_status count_columns(const td_csr *m, int64_t *edges, const int64_t *cols)
{
    memset(edges, 0, (size_t)(m->columns + 1) * sizeof *edges);
    for (int64_t k = 0; k < m->cols->numel; k++) {
        int64_t column = ((const volatile int64_t *)cols)[k];
        if (column < 0 || column >= m->columns) return td_csr_wrong_column(m, column);
        edges[column + 1]++;
    }
    for (int64_t c = 0; c < m->columns; c++) edges[c + 1] += edges[c];
    return TD_OK;
}

/* `next[c]` is where the next entry of column c goes; a place that is none (a column was written
 * to meanwhile) is not used */
static void place_entries(const td_csr *m, int64_t *next, int64_t *rows, int64_t *order)
{
    const int64_t *edges = td_data(m->edges);
    const volatile int64_t *cols = td_data(m->cols);
    int64_t entries = m->cols->numel;
    for (int64_t row = 0; row < m->edges->numel - 1; row++)
        for (int64_t k = td_csr_within(edges[row], entries),
                     end = td_csr_within(edges[row + 1], entries);
             k < end; k++) {
            int64_t column = cols[k];
            if (column < 0 || column >= m->columns || next[column] >= entries) continue;
            int64_t at = next[column]++;
            rows[at] = row;
            order[at] = k;
        }
}

td_status td_csr_turned(const td_csr *m, td_tensor *edges, td_tensor *rows, td_tensor *order)
{
    int64_t entries = m->cols->numel, bytes = (m->columns + 1) * (int64_t)sizeof(int64_t);
    TD_TRY(td_csr_check_edges(m)); /* `bytes` are those of a tensor that there is */
    int64_t *next = td_alloc(bytes);
    if (!next)
        return td_fail(TD_MEMORY_ERROR, "%s: no memory for %lld columns", m->op,
                       (long long)m->columns);
    void *token = td_heavy_begin((double)entries * 5);
    td_status status = count_columns(m, td_data(edges), td_data(m->cols));
    if (!status) {
        memcpy(next, td_data(edges), (size_t)bytes);
        /* what a race leaves out is a place that there is */
        if (entries) memset(td_data(rows), 0, (size_t)entries * sizeof(int64_t));
        if (entries) memset(td_data(order), 0, (size_t)entries * sizeof(int64_t));
        place_entries(m, next, td_data(rows), td_data(order));
    }
    td_heavy_end(token);
    td_free(next, bytes);
    return status;
}
