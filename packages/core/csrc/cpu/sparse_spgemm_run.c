/* sparse_spgemm_run.c - a sparse matrix times a sparse one, a row at a time: what it meets is
 * added up in a dense row of numbers, and two levels of bits say where. The bits are walked in
 * order, so places come out sorted. The first pass counts places, the second one fills them. */
#include "cpu/sparse_spgemm_run.h"
#include <stdatomic.h>
#include <string.h>
#include "runtime/alloc.h"
#include "runtime/error.h"
#include "runtime/pool.h"

#define MEET_NS 2 /* of an entry of a row that an entry multiplies */
#define TASK_NS 50000

/* what a task writes to: `bits` has one for each column, `groups` one for each word of bits; both
 * and `sums` are zeros between rows */
typedef struct scratch {
    uint64_t *bits, *groups;
    void *sums;
} scratch;

struct td_csr_spgemm {
    const td_csr *a, *b;
    const int64_t *edges_a, *edges_b;
    const volatile int64_t *cols_a, *cols_b; /* read once, then checked: others may write to them */
    int64_t rows, words, groups, item;
    int64_t *out_edges;
    int64_t tasks, *first; /* the first row of each task, and the end */
    char *memory;          /* scratch of all tasks */
    int64_t bytes, each;
    const void *values_a, *values_b;
    int64_t *out_cols;
    void *out_values;
    void (*row)(td_csr_spgemm *j, const scratch *s, int64_t row);
    _Atomic int wrong; /* 1, 2: a column of a, of b that is none; 3: a row that has other places */
    _Atomic int64_t column;
};

static bool refuse(td_csr_spgemm *j, int why, int64_t column)
{
    atomic_store(&j->column, column);
    atomic_store(&j->wrong, why);
    return false;
}

/* the entries of b that entry k of a multiplies */
static bool meets(td_csr_spgemm *j, int64_t k, int64_t *begin, int64_t *end)
{
    int64_t row = j->cols_a[k], most = j->b->cols->numel;
    if (row < 0 || row >= j->a->columns) return refuse(j, 1, row);
    *begin = td_csr_within(j->edges_b[row], most);
    *end = td_csr_within(j->edges_b[row + 1], most);
    return true;
}

static inline int64_t within_rows(const td_csr_spgemm *j, int64_t row)
{
    return row < 0 || row >= j->a->columns ? 0 : row;
}

/* Rows of b lie anywhere: entries on, where one begins is fetched, and later its first lines. */
#define EDGES_AHEAD 16
#define ROW_AHEAD 6
static inline void fetch(const td_csr_spgemm *j, int64_t k)
{
    int64_t most = j->a->cols->numel, row;
    if (k + EDGES_AHEAD >= most) return;
    __builtin_prefetch(j->edges_b + within_rows(j, j->cols_a[k + EDGES_AHEAD]));
    row = within_rows(j, j->cols_a[k + ROW_AHEAD]);
    int64_t begin = td_csr_within(j->edges_b[row], j->b->cols->numel);
    const int64_t *cols = (const int64_t *)td_data(j->b->cols) + begin;
    __builtin_prefetch(cols);
    __builtin_prefetch(cols + 8);
    if (!j->values_b) return;
    const char *values = (const char *)j->values_b + begin * j->item;
    __builtin_prefetch(values);
    __builtin_prefetch(values + 64);
}

/* 1 if the column is new to the row */
static inline int mark(uint64_t *bits, uint64_t *groups, int64_t column)
{
    int64_t word = column >> 6;
    uint64_t known = bits[word], bit = (uint64_t)1 << (column & 63);
    bits[word] = known | bit;
    groups[word >> 6] |= (uint64_t)1 << (word & 63);
    return !(known & bit);
}

/* all words of bits that are not 0, in order; the body finds `word` and `bits`, and both levels are
 * zeros behind it */
#define WALK(j, s, ...)                                    \
    for (int64_t g_ = 0; g_ < (j)->groups; g_++)           \
        while ((s)->groups[g_]) {                          \
            int64_t word = g_ * 64 + ctz((s)->groups[g_]); \
            uint64_t bits = (s)->bits[word];               \
            (s)->bits[word] = 0;                           \
            (s)->groups[g_] &= (s)->groups[g_] - 1;        \
            __VA_ARGS__                                    \
        }

static int ctz(uint64_t x) { return __builtin_ctzll(x); }

static void count_row(td_csr_spgemm *j, const scratch *s, int64_t row)
{
    int64_t most = j->a->cols->numel, begin, end, columns = j->b->columns, count = 0;
    uint64_t *bits_of = s->bits, *groups = s->groups;
    for (int64_t k = td_csr_within(j->edges_a[row], most),
                 last = td_csr_within(j->edges_a[row + 1], most);
         k < last && meets(j, k, &begin, &end); k++) {
        const volatile int64_t *cols = j->cols_b;
        fetch(j, k);
        for (int64_t e = begin; e < end; e++) {
            int64_t column = cols[e];
            if (column < 0 || column >= columns) refuse(j, 2, column);
            else count += mark(bits_of, groups, column);
        }
    }
    WALK(j, s, (void)bits;)
    j->out_edges[row + 1] = count;
}

#define FILL(suffix, real)                                                                  \
    static void add_row_##suffix(td_csr_spgemm *j, const scratch *s, int64_t row)           \
    {                                                                                       \
        int64_t most = j->a->cols->numel, begin, end, columns = j->b->columns;              \
        const real *a = j->values_a, *b = j->values_b;                                      \
        real *sums = s->sums;                                                               \
        uint64_t *bits_of = s->bits, *groups = s->groups;                                   \
        for (int64_t k = td_csr_within(j->edges_a[row], most),                              \
                     last = td_csr_within(j->edges_a[row + 1], most);                       \
             k < last && meets(j, k, &begin, &end); k++) {                                  \
            const volatile int64_t *cols = j->cols_b;                                       \
            real factor = a[k];                                                             \
            fetch(j, k);                                                                    \
            for (int64_t e = begin; e < end; e++) {                                         \
                int64_t column = cols[e];                                                   \
                if (column < 0 || column >= columns) {                                      \
                    refuse(j, 2, column);                                                   \
                    continue;                                                               \
                }                                                                           \
                mark(bits_of, groups, column);                                              \
                sums[column] += factor * b[e];                                              \
            }                                                                               \
        }                                                                                   \
    }                                                                                       \
    static void fill_row_##suffix(td_csr_spgemm *j, const scratch *s, int64_t row)          \
    {                                                                                       \
        real *sums = s->sums, *values = j->out_values;                                      \
        int64_t to = j->out_edges[row], after = j->out_edges[row + 1], *cols = j->out_cols; \
        add_row_##suffix(j, s, row);                                                        \
        WALK(j, s, {                                                                        \
            for (; bits; bits &= bits - 1) {                                                \
                int64_t column = word * 64 + ctz(bits);                                     \
                if (to < after) {                                                           \
                    cols[to] = column;                                                      \
                    values[to] = sums[column];                                              \
                }                                                                           \
                to++;                                                                       \
                sums[column] = 0;                                                           \
            }                                                                               \
        })                                                                                  \
        if (to != after) refuse(j, 3, 0);                                                   \
    }
FILL(f32, float)
FILL(f64, double)

static void run_tasks(void *context, int64_t begin, int64_t end)
{
    td_csr_spgemm *j = context;
    for (int64_t task = begin; task < end; task++) {
        char *memory = j->memory + task * j->each;
        scratch s = {(uint64_t *)memory, (uint64_t *)memory + j->words,
                     memory + (j->words + j->groups) * 8};
        for (int64_t row = j->first[task]; row < j->first[task + 1]; row++)
            if (!atomic_load_explicit(&j->wrong, memory_order_relaxed)) j->row(j, &s, row);
    }
}

static td_status found_wrong(const td_csr_spgemm *j)
{
    switch (atomic_load(&j->wrong)) {
        case 0: return TD_OK;
        case 1: return td_csr_wrong_column(j->a, atomic_load(&j->column));
        case 2: return td_csr_wrong_column(j->b, atomic_load(&j->column));
        default:
            return td_fail(TD_RUNTIME_ERROR,
                           "%s: indices were written to while the product was computed", j->a->op);
    }
}

/* ---- sharing out ---- */

/* `work` (rows + 1): how many entries rows before this one meet, each row one more */
static td_status count_work(td_csr_spgemm *j, int64_t *work)
{
    int64_t most = j->a->cols->numel, begin, end;
    work[0] = 0;
    for (int64_t row = 0; row < j->rows; row++) {
        int64_t count = 1;
        for (int64_t k = td_csr_within(j->edges_a[row], most),
                     last = td_csr_within(j->edges_a[row + 1], most);
             k < last; k++) {
            if (!meets(j, k, &begin, &end)) return found_wrong(j);
            count += end > begin ? end - begin : 0;
        }
        if (td_add_overflows(work[row], count, &work[row + 1]))
            return td_fail(TD_MEMORY_ERROR, "%s: a product of too many entries", j->a->op);
    }
    return TD_OK;
}

static void share_out(td_csr_spgemm *j, const int64_t *work)
{
    double all = (double)work[j->rows];
    int64_t row = 0;
    for (int64_t task = 0; task < j->tasks; task++) {
        double from = all * (double)task / (double)j->tasks;
        while (row < j->rows && (double)work[row] < from) row++;
        j->first[task] = row;
    }
    j->first[j->tasks] = j->rows;
}

static td_status no_memory(const td_csr_spgemm *j)
{
    return td_fail(TD_MEMORY_ERROR, "%s: no memory for rows of %lld columns", j->a->op,
                   (long long)j->b->columns);
}

/* `tasks`, `first` and `memory` of the job */
static td_status prepare(td_csr_spgemm *j)
{
    int64_t *work = td_alloc((j->rows + 1) * 8), most;
    if (!work) return no_memory(j);
    td_status status = count_work(j, work);
    if (!status) {
        most = (int64_t)((double)work[j->rows] * MEET_NS / TASK_NS) + 1;
        j->tasks = most < td_num_threads() ? most : td_num_threads();
        j->first = td_alloc((j->tasks + 1) * 8);
        status = j->first ? TD_OK : no_memory(j);
    }
    if (!status) {
        share_out(j, work);
        /* a task has lines of the cache of its own */
        j->each = ((j->words + j->groups) * 8 + j->b->columns * j->item + 63) / 64 * 64;
        bool is_large = td_mul_overflows(j->each, j->tasks, &j->bytes);
        j->memory = is_large ? NULL : td_alloc(j->bytes);
        if (j->memory) memset(j->memory, 0, (size_t)j->bytes);
        else status = no_memory(j);
    }
    td_free(work, (j->rows + 1) * 8);
    return status;
}

static td_status run(td_csr_spgemm *j)
{
    void *token = td_heavy_begin((double)j->tasks * TASK_NS);
    td_parallel(j->tasks, 1, run_tasks, j);
    td_heavy_end(token);
    return found_wrong(j);
}

static td_status begin(td_csr_spgemm *j)
{
    TD_TRY(td_csr_check_edges(j->a));
    TD_TRY(td_csr_check_edges(j->b));
    if (j->b->columns > INT64_MAX / 32) return no_memory(j);
    TD_TRY(prepare(j));
    j->row = count_row;
    j->out_edges[0] = 0;
    TD_TRY(run(j));
    for (int64_t row = 0; row < j->rows; row++)
        if (td_add_overflows(j->out_edges[row], j->out_edges[row + 1], &j->out_edges[row + 1]))
            return no_memory(j);
    return TD_OK;
}

td_status td_csr_spgemm_begin(td_csr_spgemm **made, const td_csr *a, const td_csr *b,
                              td_dtype dtype, td_tensor *edges, int64_t *entries)
{
    td_csr_spgemm *j = td_alloc_struct(sizeof *j);
    if (!j) return td_fail(TD_MEMORY_ERROR, "%s: no memory", a->op);
    *j = (td_csr_spgemm){.a = a,
                         .b = b,
                         .edges_a = td_data(a->edges),
                         .edges_b = td_data(b->edges),
                         .cols_a = td_data(a->cols),
                         .cols_b = td_data(b->cols),
                         .rows = a->edges->numel - 1,
                         .words = (b->columns + 63) / 64,
                         .groups = (b->columns + 4095) / 4096,
                         .item = td_itemsize(dtype),
                         .out_edges = td_data(edges)};
    td_status status = begin(j);
    if (status) td_csr_spgemm_end(j);
    else *made = j;
    *entries = status ? 0 : ((const int64_t *)td_data(edges))[edges->numel - 1];
    return status;
}

td_status td_csr_spgemm_fill(td_csr_spgemm *j, const td_tensor *a, const td_tensor *b,
                             td_tensor *cols, td_tensor *values)
{
    j->values_a = td_data(a);
    j->values_b = td_data(b);
    j->out_cols = td_data(cols);
    j->out_values = td_data(values);
    j->row = values->dtype == TD_F64 ? fill_row_f64 : fill_row_f32;
    return run(j);
}

void td_csr_spgemm_end(td_csr_spgemm *j)
{
    if (j->memory) td_free(j->memory, j->bytes);
    if (j->first) td_free(j->first, (j->tasks + 1) * 8);
    td_free_struct(j, sizeof *j);
}
