/* statistics_run.c - a bisection along every axis, shared out among threads; then one thread adds,
 * so that the sums do not depend on their number. */
#include "cpu/statistics_run.h"
#include <stddef.h>
#include "cpu/sorting/bisect.h"
#include "runtime/pool.h"

#define STEP_NS 8.0 /* of a point along one axis */
#define GRAIN 512   /* points worth a thread */

typedef struct job {
    const td_grid_counts *grid;
    const void *x;
    int64_t *at;
} job;

#define CELLS(name, T)                                                                    \
    /* the bin of v among n edges, -1 outside of them; a NaN lies nowhere */              \
    static int64_t bin_##name(const T *edges, int64_t n, T v)                             \
    {                                                                                     \
        if (!(v >= edges[0] && v <= edges[n - 1])) return -1;                             \
        return v == edges[n - 1] ? n - 2 : td_bisect_##name(edges, NULL, n, v, true) - 1; \
    }                                                                                     \
                                                                                          \
    static void cells_##name(void *context, int64_t begin, int64_t end)                   \
    {                                                                                     \
        const job *j = context;                                                           \
        const td_grid_counts *g = j->grid;                                                \
        for (int64_t i = begin; i < end; i++) {                                           \
            const T *point = (const T *)j->x + i * g->dims;                               \
            int64_t cell = 0;                                                             \
            for (int d = 0; d < g->dims && cell >= 0; d++) {                              \
                int64_t bin = bin_##name((const T *)g->edges[d], g->counts[d], point[d]); \
                cell = bin < 0 ? -1 : cell * (g->counts[d] - 1) + bin;                    \
            }                                                                             \
            j->at[i] = cell;                                                              \
        }                                                                                 \
    }
CELLS(f32, float)
CELLS(f64, double)

void td_grid_cells(td_tensor *at, const td_tensor *x, const td_grid_counts *grid)
{
    job j = {grid, td_data(x), td_data(at)};
    void *token = td_heavy_begin(STEP_NS * (double)x->numel);
    td_parallel(at->numel, GRAIN, x->dtype == TD_F64 ? cells_f64 : cells_f32, &j);
    td_heavy_end(token);
}

/* Sums are doubles: a float stops counting at 16,777,216. */
#define ADD(name, T)                                                               \
    static void name(double *sums, const int64_t *at, const T *weights, int64_t n) \
    {                                                                              \
        for (int64_t i = 0; i < n; i++)                                            \
            if (at[i] >= 0) sums[at[i]] += weights ? (double)weights[i] : 1;       \
    }
ADD(add_f32, float)
ADD(add_f64, double)

void td_grid_add(td_tensor *sums, const td_tensor *at, const td_tensor *weights)
{
    const void *w = weights ? td_data(weights) : NULL;
    void *token = td_heavy_begin(2.0 * (double)at->numel);
    if (weights && weights->dtype == TD_F32) add_f32(td_data(sums), td_data(at), w, at->numel);
    else add_f64(td_data(sums), td_data(at), w, at->numel);
    td_heavy_end(token);
}
