/* loss_run.c - how threads share pairs: chunks of fixed length, so that sums do not depend on the
 * number of threads. */
#include "cpu/loss_run.h"
#include "runtime/alloc.h"
#include "runtime/cpu.h"
#include "runtime/pool.h"

#define CHUNK 32768 /* elements of one partial sum */
#define ELEMENT_NS 1.0

typedef struct job {
    const td_pair_problem *p;
    const td_pair_kernel *kernel;
    char *out;
    const char *x, *t, *g;
    int64_t itemsize, g_step;
    double scale, *partial;
} job;

static job job_of(const td_pair_problem *p)
{
    return (job){.p = p,
                 .kernel = &TD_PICK(td_loss_kernels)->pair[p->kind][p->x->dtype == TD_F64],
                 .x = td_data(p->x),
                 .t = td_data(p->t),
                 .itemsize = td_itemsize((td_dtype)p->x->dtype)};
}

static int64_t run(job *j, td_range_fn fn)
{
    int64_t n = j->p->x->numel, chunks = n / CHUNK + (n % CHUNK != 0);
    void *token = td_heavy_begin((double)n * ELEMENT_NS);
    td_parallel(chunks, 1, fn, j);
    td_heavy_end(token);
    return chunks;
}

static int64_t length_of(const job *j, int64_t chunk)
{
    int64_t left = j->p->x->numel - chunk * CHUNK;
    return left < CHUNK ? left : CHUNK;
}

static void each_chunk(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    for (int64_t c = begin; c < end; c++) {
        int64_t at = c * CHUNK * j->itemsize;
        j->kernel->each(j->out + at, j->x + at, j->t + at, length_of(j, c), j->p->parameter);
    }
}

static void sum_chunk(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    for (int64_t c = begin; c < end; c++) {
        int64_t at = c * CHUNK * j->itemsize;
        j->partial[c] = j->kernel->sum(j->x + at, j->t + at, length_of(j, c), j->p->parameter);
    }
}

static void gradient_chunk(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    for (int64_t c = begin; c < end; c++) {
        int64_t at = c * CHUNK * j->itemsize;
        j->kernel->gradient(j->out + at, j->g + j->g_step * at, j->g_step, j->scale, j->x + at,
                            j->t + at, length_of(j, c), j->p->parameter);
    }
}

td_status td_pair_total(const td_pair_problem *p, double *out)
{
    job j = job_of(p);
    int64_t n = p->x->numel, bytes = (n / CHUNK + 1) * (int64_t)sizeof(double);
    *out = 0;
    if (n == 0) return TD_OK;
    if (!(j.partial = td_alloc(bytes)))
        return td_fail(TD_MEMORY_ERROR, "no memory for %lld bytes of partial sums",
                       (long long)bytes);
    int64_t chunks = run(&j, sum_chunk);
    for (int64_t c = 0; c < chunks; c++) *out += j.partial[c];
    td_free(j.partial, bytes);
    return TD_OK;
}

void td_pair_each(const td_pair_problem *p, td_tensor *out)
{
    job j = job_of(p);
    j.out = td_data(out);
    run(&j, each_chunk);
}

void td_pair_gradient(const td_pair_problem *p, td_tensor *out, const td_tensor *g, bool each,
                      double scale)
{
    job j = job_of(p);
    j.out = td_data(out);
    j.g = td_data(g);
    j.g_step = each;
    j.scale = scale;
    run(&j, gradient_chunk);
}

#define OUTSIDE(T)                            \
    for (int64_t i = 0; i < x->numel; i++) {  \
        T value = ((const T *)td_data(x))[i]; \
        outside |= (value < 0) | (value > 1); \
    }

bool td_outside_one(const td_tensor *x)
{
    bool outside = false;
    if (x->dtype == TD_F64) OUTSIDE(double)
    else OUTSIDE(float)
    return outside;
}
