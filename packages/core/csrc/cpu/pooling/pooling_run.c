/* pooling_run.c - how threads share rows of outputs; planes, where gradients are added. */
#include "cpu/pooling/pooling_run.h"
#include "runtime/cpu.h"
#include "runtime/pool.h"

static const td_pooling_loops *loops_of(td_dtype dtype, bool pixels)
{
    bool real = dtype == TD_F32 || dtype == TD_F64;
    const td_pooling_kernels *k = real ? TD_PICK(td_pooling_kernels) : &td_pooling_integers;
    return pixels ? &k->pixels : &k->planes;
}

static td_pool_forward forward_of(td_pool_kind kind, td_dtype dtype, bool pixels)
{
    const td_pooling_loops *k = loops_of(dtype, pixels);
    switch (kind) {
        case TD_POOL_MAX: return k->max[dtype];
        case TD_POOL_AVERAGE: return k->average[dtype];
        case TD_POOL_ADAPTIVE_MAX: return k->adaptive_max[dtype];
        default: return k->adaptive_average[dtype];
    }
}

static td_pool_backward backward_of(td_pool_kind kind, td_dtype dtype, bool pixels)
{
    const td_pooling_loops *k = loops_of(dtype, pixels);
    switch (kind) {
        case TD_POOL_MAX: return k->max_backward[dtype];
        case TD_POOL_AVERAGE: return k->average_backward[dtype];
        default: return k->adaptive_average_backward[dtype];
    }
}

bool td_pool_has(td_pool_kind kind, td_dtype dtype, bool backward)
{
    return backward ? backward_of(kind, dtype, false) != NULL
                    : forward_of(kind, dtype, false) != NULL;
}

typedef struct job {
    const td_pool *pool;
    const char *in, *grad;
    char *out;
    int64_t *where;
    td_pool_forward forward;
    td_pool_backward backward;
} job;

static void run_part(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    if (j->forward) j->forward(j->pool, j->in, j->out, j->where, begin, end);
    else j->backward(j->pool, j->in, j->grad, j->out, begin, end);
}

#define ELEMENT_NS 0.3 /* for each place of each window */
#define GRAIN_NS 10000.0

static void run(job *j, int64_t units, double unit)
{
    double each = unit * ELEMENT_NS + 1;
    void *token = td_heavy_begin(each * (double)units);
    td_parallel(units, (int64_t)(GRAIN_NS / each) + 1, run_part, j);
    td_heavy_end(token);
}

void td_pool_forward_run(td_pool_kind kind, const td_pool *pool, int64_t planes, double unit,
                         const td_tensor *x, td_tensor *out, td_tensor *where)
{
    job j = {pool,
             td_data(x),
             NULL,
             td_data(out),
             where ? td_data(where) : NULL,
             forward_of(kind, (td_dtype)x->dtype, pool->channels > 0),
             NULL};
    int64_t side_by_side = pool->channels ? pool->channels : 1,
            rows = planes / side_by_side * pool->out[0] * pool->out[1];
    run(&j, rows, unit * (double)(pool->out[2] * side_by_side));
}

void td_pool_backward_run(td_pool_kind kind, const td_pool *pool, int64_t planes, double unit,
                          const td_tensor *x, const td_tensor *grad, td_tensor *out)
{
    job j = {pool,
             td_data(x),
             td_data(grad),
             td_data(out),
             NULL,
             NULL,
             backward_of(kind, (td_dtype)x->dtype, pool->channels > 0)};
    int64_t blocks = (pool->channels + TD_POOL_BLOCK - 1) / TD_POOL_BLOCK,
            units = pool->channels ? planes / pool->channels * blocks : planes;
    double outputs = (double)(pool->out[0] * pool->out[1] * pool->out[2]) * (double)planes;
    run(&j, units, (unit * outputs + (double)x->numel) / (double)units);
}
