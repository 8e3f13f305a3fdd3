/* random_draws.c - samplers that need a number of draws known only when they are done: the walk over the elements. */
#include "ops/random/draws.h"
#include "runtime/pool.h"

/* A contiguous copy of floating numbers as float32 or float64, broadcast to `like`. */
td_status td_widened(td_tensor **out, const td_tensor *t, const td_tensor *like, td_dtype dtype)
{
    TD_TRY(td_tensor_empty(out, dtype, TD_CPU, like->ndim, like->sizes));
    td_status status = td_copy(*out, t);
    if (status != TD_OK) td_tensor_free(*out);
    return status;
}

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
        j->a[i] = j->sample(j->a[i], j->b ? j->b[i] : 0, (td_draws){j->seed, j->block + (uint64_t)i, 0});
}

void td_draw_each(td_tensor *a, const td_tensor *b, td_generator *g, td_drawing sample, double cost)
{
    job j = {td_data(a), b ? td_data(b) : NULL, sample, g->seed, td_generator_take(g, (uint64_t)a->numel)};
    void *token = td_heavy_begin((double)a->numel * cost);
    td_parallel(a->numel, 1024, draw_range, &j);
    td_heavy_end(token);
}
