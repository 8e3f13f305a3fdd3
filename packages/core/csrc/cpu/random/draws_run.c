/* draws_run.c - the walk over the elements, each with draws of its own. */
#include "cpu/random/draws_run.h"
#include "runtime/pool.h"

typedef struct job {
    double *a;
    const double *b;
    td_drawing sample;
    uint64_t seed, block;
} job;

static void draw_range(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    for (int64_t i = begin; i < end; i++)
        j->a[i] =
            j->sample(j->a[i], j->b ? j->b[i] : 0, (td_draws){j->seed, j->block + (uint64_t)i, 0});
}

void td_draw_each(td_tensor *a, const td_tensor *b, td_generator *g, td_drawing sample, double cost)
{
    job j = {td_data(a), b ? td_data(b) : NULL, sample, g->seed,
             td_generator_take(g, (uint64_t)a->numel)};
    void *token = td_heavy_begin((double)a->numel * cost);
    td_parallel(a->numel, 1024, draw_range, &j);
    td_heavy_end(token);
}
