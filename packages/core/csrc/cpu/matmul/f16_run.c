/* f16_run.c - a float16 matrix times a vector, over threads. A row's sum is one thread's. */
#include "cpu/matmul/f16_run.h"
#include <stddef.h>
#include "cpu/matmul/f16.h"
#include "runtime/pool.h"

typedef struct job {
    const uint16_t *a;
    const float *x;
    float *out;
    int64_t k;
} job;

static void run_rows(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    TD_PICK(td_f16_kernels)
        ->times_vector(j->a + begin * j->k, j->k, j->x, end - begin, j->k, j->out + begin);
}

bool td_multiplies_f16(void) { return TD_PICK(td_f16_kernels)->times_vector != NULL; }

#define GRAIN (1 << 18) /* numbers of the matrix for a thread, at least */

void td_f16_times_vector(const uint16_t *a, const float *x, int64_t m, int64_t k, float *out)
{
    job j = {a, x, out, k};
    void *token = td_heavy_begin((double)m * (double)k / 16);
    td_parallel(m, 1 + GRAIN / (k + 1), run_rows, &j);
    td_heavy_end(token);
}
