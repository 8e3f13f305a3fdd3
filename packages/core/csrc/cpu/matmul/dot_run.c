/* dot_run.c - long vectors in pieces, whose sums are added in a fixed order. */
#include "cpu/matmul/dot_run.h"
#include "cpu/matmul/gemm.h"
#include "cpu/matmul/gemm_run.h"
#include "runtime/alloc.h"
#include "runtime/pool.h"

#define DOT_PIECE 16384

typedef struct dot_job {
    const td_gemm_kernel *kernel;
    const char *a, *b;
    int64_t n, a_step, b_step, item;
    double *sums;
} dot_job;

static void run_pieces(void *context, int64_t begin, int64_t end)
{
    dot_job *j = context;
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i * DOT_PIECE, n = j->n - first < DOT_PIECE ? j->n - first : DOT_PIECE;
        const char *a = j->a + first * j->a_step * j->item, *b = j->b + first * j->b_step * j->item;
        j->sums[i] = j->kernel->dot(n, a, j->a_step, b, j->b_step);
    }
}

static double sum_pairs(double *sums, int64_t n)
{
    for (; n > 1; n = (n + 1) / 2)
        for (int64_t i = 0; i < n / 2 + n % 2; i++)
            sums[i] = 2 * i + 1 < n ? sums[2 * i] + sums[2 * i + 1] : sums[2 * i];
    return n ? sums[0] : 0;
}

td_status td_dot_run(td_tensor *out, const td_tensor *a, const td_tensor *b)
{
    int64_t n = a->sizes[0], pieces = (n + DOT_PIECE - 1) / DOT_PIECE,
            bytes = pieces * (int64_t)sizeof(double);
    double one = 0, *sums = pieces > 1 ? td_alloc(bytes) : &one;
    if (!sums)
        return td_fail(TD_MEMORY_ERROR, "dot: no memory for %lld partial sums", (long long)pieces);
    dot_job j = {td_gemm_kernel_of(out->dtype == TD_F64),
                 td_data(a),
                 td_data(b),
                 n,
                 a->strides[0],
                 b->strides[0],
                 td_itemsize((td_dtype)out->dtype),
                 sums};
    void *token = td_heavy_begin((double)n * 0.5);
    td_parallel(pieces, 4, run_pieces, &j);
    td_heavy_end(token);
    double sum = sum_pairs(sums, pieces);
    if (out->dtype == TD_F64) *(double *)td_data(out) = sum;
    else *(float *)td_data(out) = (float)sum;
    if (pieces > 1) td_free(sums, bytes);
    return TD_OK;
}
