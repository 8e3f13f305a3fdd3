/* indexing_bags_run.c - sums over bags, shared out among threads: rows are added in the order of
 * their places, so neither threads nor vectors change a bit. */
#include "cpu/indexing_bags_run.h"
#include <stdatomic.h>
#include <string.h>
#include "runtime/error.h"
#include "runtime/pool.h"

#define NUMBER_NS 0.2

typedef struct job {
    const td_tensor *table, *places;
    const int64_t *edges;
    int64_t words, features;
    char *out;
    _Atomic bool is_wrong; /* a place that is no row: `wrong` */
    _Atomic int64_t wrong;
} job;

#define TOGETHER 32 /* features that are added up in registers */
#define PLACES 64   /* rows at a time */

/* The next places of a bag, as rows that there are: how many, -1 if one is no row. Copies, since
 * another thread may write to what was looked at. */
static int64_t take_rows(job *j, int64_t *rows, int64_t begin, int64_t end)
{
    int64_t n = end - begin < PLACES ? end - begin : PLACES;
    memcpy(rows, (const int64_t *)td_data(j->places) + begin, (size_t)n * sizeof *rows);
    for (int64_t k = 0; k < n; k++)
        if (rows[k] < 0 || rows[k] >= j->words) {
            atomic_store(&j->wrong, rows[k]);
            atomic_store(&j->is_wrong, true);
            return -1;
        }
    return n;
}

#define SUM(suffix, real)                                                                  \
    static void add_##suffix(real *restrict out, const real *restrict table,               \
                             const int64_t *restrict rows, int64_t count, int64_t n)       \
    {                                                                                      \
        int64_t at = 0;                                                                    \
        for (; at + TOGETHER <= n; at += TOGETHER) {                                       \
            real sums[TOGETHER];                                                           \
            for (int i = 0; i < TOGETHER; i++) sums[i] = out[at + i];                      \
            for (int64_t k = 0; k < count; k++)                                            \
                for (int i = 0; i < TOGETHER; i++) sums[i] += table[rows[k] * n + at + i]; \
            for (int i = 0; i < TOGETHER; i++) out[at + i] = sums[i];                      \
        }                                                                                  \
        for (int64_t k = 0; k < count; k++)                                                \
            for (int64_t i = at; i < n; i++) out[i] += table[rows[k] * n + i];             \
    }                                                                                      \
    static void sum_##suffix(job *j, int64_t bag, int64_t begin, int64_t end)              \
    {                                                                                      \
        int64_t rows[PLACES], n = j->features, count;                                      \
        real *out = (real *)j->out + bag * n;                                              \
        for (int64_t i = 0; i < n; i++) out[i] = 0; /* `out` may be NULL where `n` is 0 */ \
        for (; begin < end; begin += count) {                                              \
            if ((count = take_rows(j, rows, begin, end)) < 0) return;                      \
            add_##suffix(out, td_data(j->table), rows, count, n);                          \
        }                                                                                  \
    }
SUM(f32, float)
SUM(f64, double)

static int64_t within(int64_t edge, int64_t most)
{
    return edge < 0 ? 0 : edge > most ? most : edge;
}

static void run_bags(void *context, int64_t begin, int64_t end)
{
    job *j = context;
    int64_t most = j->places->numel;
    for (int64_t bag = begin; bag < end; bag++) {
        int64_t from = within(j->edges[bag], most), to = within(j->edges[bag + 1], most);
        if (j->table->dtype == TD_F64) sum_f64(j, bag, from, to);
        else sum_f32(j, bag, from, to);
    }
}

static td_status check_edges(const int64_t *edges, int64_t bags, int64_t most)
{
    for (int64_t k = 0; k <= bags; k++)
        if (edges[k] < (k ? edges[k - 1] : 0) || edges[k] > most)
            return td_fail(TD_RUNTIME_ERROR,
                           "_bag_sums: edges rise from 0 or more to %lld, the number of places, "
                           "got %lld at %lld",
                           (long long)most, (long long)edges[k], (long long)k);
    return TD_OK;
}

td_status td_bags_run(td_tensor *out, const td_tensor *table, const td_tensor *places,
                      const td_tensor *edges)
{
    int64_t bags = out->sizes[0], features = out->sizes[1], words = table->sizes[0];
    job j = {table, places, td_data(edges), words, features, td_data(out), false, 0};
    TD_TRY(check_edges(j.edges, bags, places->numel));
    double each =
        (double)(places->numel + bags) * (double)features * NUMBER_NS / (double)(bags + 1);
    void *token = td_heavy_begin((double)bags * each);
    td_parallel(bags, (int64_t)(8000 / (each + 1)) + 1, run_bags, &j);
    td_heavy_end(token);
    if (!atomic_load(&j.is_wrong)) return TD_OK;
    return td_fail(TD_INDEX_ERROR, "_bag_sums: index %lld is out of bounds for %lld rows",
                   (long long)atomic_load(&j.wrong), (long long)words);
}
