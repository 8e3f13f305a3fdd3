/* product_run.c - products of blocks inside a factorisation. To our row-major kernels they are C^T
 * = B^T A^T. */
#include "cpu/matmul/gemm_run.h"
#include "cpu/linalg/linalg.h"

static td_gemm turned(td_block_way way, int64_t m, int64_t n, int64_t k, const char *a, int64_t lda,
                      const char *b, int64_t ldb, char *c, int64_t ldc)
{
    return (td_gemm){.m = n,
                     .n = m,
                     .k = k,
                     .a = b,
                     .a_row = ldb,
                     .a_col = 1,
                     .b = a,
                     .b_row = lda,
                     .b_col = 1,
                     .c = c,
                     .c_row = ldc,
                     .alpha = way == TD_TAKE ? -1 : 1,
                     .add = way == TD_TAKE};
}

/* A kernel packs either factor into panels, which round one size up to a tile. What it asks for
 * itself does not grow with the sizes: more rows may be cut into more and smaller blocks. */
int64_t td_block_product_work(td_dtype d, int64_t m, int64_t n, int64_t k)
{
    if (td_is_complex(d)) return 64;
    const td_gemm_kernel *kernel = td_gemm_kernel_of(d == TD_F64);
    return ((n + kernel->mr + m + kernel->nr) * k + 128) * td_itemsize(d);
}

void td_block_product(const td_lapack *la, td_dtype d, td_block_way way, int64_t m, int64_t n,
                      int64_t k, const char *a, int64_t lda, const char *b, int64_t ldb, char *c,
                      int64_t ldc, void *work)
{
    if (td_is_complex(d)) {
        static const double zero[2];
        const void *alpha = way == TD_TAKE ? td_linalg_minus_one(d) : td_linalg_one(d),
                   *beta = way == TD_TAKE ? td_linalg_one(d) : zero;
        la->gemm("N", "N", &m, &n, &k, alpha, a, &lda, b, &ldb, beta, c, &ldc, 1, 1);
        return;
    }
    const td_gemm_kernel *kernel = td_gemm_kernel_of(d == TD_F64);
    td_gemm g = turned(way, m, n, k, a, lda, b, ldb, c, ldc);
    g.way = kernel->plan(&g);
    kernel->run(&g, work);
}
