/* int8_pool_run.c - how threads share rows of outputs. */
#include "cpu/quantization/int8_pool_run.h"
#include "runtime/pool.h"

#define PLACE_NS 0.1 /* for each channel of each place of a window */
#define GRAIN_NS 10000.0

typedef struct job {
    const td_int8_pool *p;
    const void *x;
    void *out;
    td_int8_pool_rows rows;
} job;

static void run_rows(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    j->rows(j->p, j->x, j->out, begin, end);
}

void td_int8_pool_run(const td_int8_pool *p, const void *x, void *out, bool with_sign,
                      int64_t samples, double work)
{
    const td_int8_pool_kernels *k = TD_PICK(td_int8_pool_kernels);
    job j = {p, x, out, with_sign ? k->i8 : k->u8};
    int64_t rows = samples * p->out[0] * p->out[1];
    double each = work * PLACE_NS / (double)rows + 1;
    void *token = td_heavy_begin(each * (double)rows);
    td_parallel(rows, (int64_t)(GRAIN_NS / each) + 1, run_rows, &j);
    td_heavy_end(token);
}
