/* any.c - products of integers and complex numbers, written for the compiler's vectorizer: a block
 * of B is copied once, then rows of A add multiples of its rows to a row of sums. */
#include "cpu/matmul/any.h"
#include "runtime/loops.h"

#define DEPTH TD_ANY_DEPTH
#define WIDTH TD_ANY_WIDTH

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Unsigned arithmetic: wrapping is defined, and the low bits are those of the signed type. wide: at
 * least as wide as int, because narrower operands would be multiplied as signed ints. */
#define INTEGER_GEMM(symbol, type, wide)                                                        \
    static void symbol##_copy(const td_any_gemm *g, type *block, int64_t p, int64_t depth,      \
                              int64_t j, int64_t width)                                         \
    {                                                                                           \
        const type *b = (const type *)g->b + p * g->b_row + j * g->b_col;                       \
        for (int64_t q = 0; q < depth; q++)                                                     \
            for (int64_t x = 0; x < WIDTH; x++)                                                 \
                block[q * WIDTH + x] = x < width ? b[q * g->b_row + x * g->b_col] : 0;          \
    }                                                                                           \
    static void symbol##_row(const td_any_gemm *g, const type *block, int64_t i, int64_t p,     \
                             int64_t depth, int64_t j, int64_t width)                           \
    {                                                                                           \
        type sum[WIDTH] = {0};                                                                  \
        wide alpha = *(const type *)g->alpha, beta = *(const type *)g->beta;                    \
        const type *a = (const type *)g->a + i * g->a_row + p * g->a_col;                       \
        type *c = (type *)g->c + i * g->c_row + j;                                              \
        for (int64_t q = 0; q < depth; q++) {                                                   \
            wide x = a[q * g->a_col];                                                           \
            for (int k = 0; k < WIDTH; k++) sum[k] = (type)(sum[k] + x * block[q * WIDTH + k]); \
        }                                                                                       \
        for (int64_t k = 0; k < width; k++) {                                                   \
            type old = p ? c[k] : beta ? (type)(beta * c[k]) : 0;                               \
            c[k] = (type)(old + alpha * sum[k]);                                                \
        }                                                                                       \
    }                                                                                           \
    static void symbol(const td_any_gemm *g, int64_t begin, int64_t end, void *work)            \
    {                                                                                           \
        for (int64_t j = 0; j < g->n; j += WIDTH)                                               \
            for (int64_t p = 0; p == 0 || p < g->k; p += DEPTH) {                               \
                int64_t width = least(WIDTH, g->n - j), depth = least(DEPTH, g->k - p);         \
                symbol##_copy(g, work, p, depth, j, width);                                     \
                for (int64_t i = begin; i < end; i++)                                           \
                    symbol##_row(g, work, i, p, depth, j, width);                               \
            }                                                                                   \
    }
INTEGER_GEMM(gemm_8, uint8_t, uint32_t)
INTEGER_GEMM(gemm_16, uint16_t, uint32_t)
INTEGER_GEMM(gemm_32, uint32_t, uint32_t)
INTEGER_GEMM(gemm_64, uint64_t, uint64_t)

/* Complex numbers as two planes, so that the inner loop is plain arithmetic on vectors. */
#define COMPLEX_GEMM(symbol, real)                                                          \
    static void symbol##_copy(const td_any_gemm *g, real *block, int64_t p, int64_t depth,  \
                              int64_t j, int64_t width)                                     \
    {                                                                                       \
        const real *b = (const real *)g->b + 2 * (p * g->b_row + j * g->b_col);             \
        for (int64_t q = 0; q < depth; q++, block += 2 * WIDTH)                             \
            for (int64_t x = 0; x < WIDTH; x++) {                                           \
                const real *from = b + 2 * (q * g->b_row + x * g->b_col);                   \
                block[x] = x < width ? from[0] : 0;                                         \
                block[x + WIDTH] = x < width ? from[1] : 0;                                 \
            }                                                                               \
    }                                                                                       \
    static void symbol##_row(const td_any_gemm *g, const real *block, int64_t i, int64_t p, \
                             int64_t depth, int64_t j, int64_t width)                       \
    {                                                                                       \
        real re[WIDTH] = {0}, im[WIDTH] = {0};                                              \
        const real *alpha = (const real *)g->alpha, *beta = (const real *)g->beta;          \
        const real *a = (const real *)g->a + 2 * (i * g->a_row + p * g->a_col);             \
        real *c = (real *)g->c + 2 * (i * g->c_row + j);                                    \
        for (int64_t q = 0; q < depth; q++, block += 2 * WIDTH) {                           \
            real x = a[2 * q * g->a_col], y = a[2 * q * g->a_col + 1];                      \
            for (int k = 0; k < WIDTH; k++) {                                               \
                re[k] += x * block[k] - y * block[k + WIDTH];                               \
                im[k] += x * block[k + WIDTH] + y * block[k];                               \
            }                                                                               \
        }                                                                                   \
        for (int64_t k = 0; k < width; k++, c += 2) {                                       \
            real old_re = p ? c[0] : 0, old_im = p ? c[1] : 0;                              \
            if (!p && (beta[0] != 0 || beta[1] != 0)) {                                     \
                old_re = beta[0] * c[0] - beta[1] * c[1];                                   \
                old_im = beta[0] * c[1] + beta[1] * c[0];                                   \
            }                                                                               \
            c[0] = old_re + (alpha[0] * re[k] - alpha[1] * im[k]);                          \
            c[1] = old_im + (alpha[0] * im[k] + alpha[1] * re[k]);                          \
        }                                                                                   \
    }                                                                                       \
    static void symbol(const td_any_gemm *g, int64_t begin, int64_t end, void *work)        \
    {                                                                                       \
        for (int64_t j = 0; j < g->n; j += WIDTH)                                           \
            for (int64_t p = 0; p == 0 || p < g->k; p += DEPTH) {                           \
                int64_t width = least(WIDTH, g->n - j), depth = least(DEPTH, g->k - p);     \
                symbol##_copy(g, work, p, depth, j, width);                                 \
                for (int64_t i = begin; i < end; i++)                                       \
                    symbol##_row(g, work, i, p, depth, j, width);                           \
            }                                                                               \
    }
COMPLEX_GEMM(gemm_c64, float)
COMPLEX_GEMM(gemm_c128, double)

const td_any_kernels TD_SYM(td_any_kernels) = {{
    [TD_U8] = gemm_8,
    [TD_I8] = gemm_8,
    [TD_I16] = gemm_16,
    [TD_U16] = gemm_16,
    [TD_I32] = gemm_32,
    [TD_U32] = gemm_32,
    [TD_I64] = gemm_64,
    [TD_U64] = gemm_64,
    [TD_C64] = gemm_c64,
    [TD_C128] = gemm_c128,
}};
