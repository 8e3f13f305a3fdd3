/* f16.c - a matrix of 16 bits, float16 or bfloat16, times a vector of float32, by its rows or by
 * its columns: numbers become float32 in registers, so that a large matrix is read once and written
 * nowhere. Without instructions for it (F16C, AVX2) the table is empty. */
#include "cpu/matmul/f16.h"
#include <stdbool.h>
#include <stddef.h>
#include "cpu/simd/gemm_vec.h"
#include "runtime/loops.h"

#ifdef __F16C__
#define ROWS 8
#define SLICE 4096 /* numbers of a row at a time, and their order: those of the float32 kernels */

#define COLUMNS 2048 /* of a matrix at a time, where columns are summed: they stay in the cache */
#define DEEP 4       /* rows added to them at once */

#ifdef __AVX512F__
TD_INLINE vf wide(const bool brain, const uint16_t *p)
{
    __m256i x = _mm256_loadu_si256((const void *)p);
    return brain ? _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16))
                 : _mm512_cvtph_ps(x);
}
#else
TD_INLINE vf wide(const bool brain, const uint16_t *p)
{
    __m128i x = _mm_loadu_si128((const void *)p);
    return brain ? _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16))
                 : _mm256_cvtph_ps(x);
}
#endif

/* n < VF_LANES numbers, then zeros */
TD_INLINE vf wide_part(const bool brain, const uint16_t *p, int64_t n)
{
    uint16_t all[VF_LANES] = {0};
    memcpy(all, p, (size_t)n * sizeof *p);
    return wide(brain, all);
}

/* ---- rows: a row's sum is one number ---- */

/* k <= SLICE numbers of `rows` rows, added to out */
TD_INLINE void some_rows(const bool brain, const int rows, const uint16_t *a, int64_t row,
                         const float *x, int64_t k, float *out)
{
    vf sums[ROWS];
    int64_t p = 0;
    TD_UNROLL for (int i = 0; i < rows; i++) sums[i] = vf_zero();
    for (; p + VF_LANES <= k; p += VF_LANES) {
        vf factor = vf_load(x + p);
        TD_UNROLL for (int i = 0; i < rows; i++)
        {
            TD_PREFETCH(a + i * row + p + 256);
            sums[i] = vf_fma(wide(brain, a + i * row + p), factor, sums[i]);
        }
    }
    if (p < k) {
        vf factor = vf_load_part(td_lanes(k - p, VF_LANES), x + p);
        TD_UNROLL for (int i = 0; i < rows; i++) sums[i] =
            vf_fma(wide_part(brain, a + i * row + p, k - p), factor, sums[i]);
    }
    TD_UNROLL for (int i = 0; i < rows; i++) out[i] += vf_sum(sums[i]);
}

TD_INLINE void by_rows(const bool brain, const uint16_t *a, int64_t row, const float *x, int64_t m,
                       int64_t k, float *out)
{
    memset(out, 0, (size_t)m * sizeof *out);
    for (int64_t p = 0; p < k; p += SLICE, a += SLICE, x += SLICE) {
        int64_t n = k - p < SLICE ? k - p : SLICE, i = 0;
        for (; i + ROWS <= m; i += ROWS) some_rows(brain, ROWS, a + i * row, row, x, n, out + i);
        for (; i < m; i++) some_rows(brain, 1, a + i * row, row, x, n, out + i);
    }
}

/* ---- columns: rows are added to a row of sums, each times its number of the vector ---- */

TD_INLINE void add_rows(const bool brain, const int rows, const uint16_t *a, int64_t row,
                        const float *x, int64_t n, float *out)
{
    vf factor[DEEP];
    int64_t j = 0;
    TD_UNROLL for (int i = 0; i < rows; i++) factor[i] = vf_set1(x[i]);
    for (; j + VF_LANES <= n; j += VF_LANES) {
        vf sum = vf_load(out + j);
        TD_UNROLL for (int i = 0; i < rows; i++) sum =
            vf_fma(wide(brain, a + i * row + j), factor[i], sum);
        vf_store(out + j, sum);
    }
    if (j == n) return;
    vf sum = vf_load_part(td_lanes(n - j, VF_LANES), out + j);
    TD_UNROLL for (int i = 0; i < rows; i++) sum =
        vf_fma(wide_part(brain, a + i * row + j, n - j), factor[i], sum);
    vf_store_part(out + j, td_lanes(n - j, VF_LANES), sum);
}

TD_INLINE void by_columns(const bool brain, const uint16_t *a, int64_t row, const float *x,
                          int64_t n, int64_t k, float *out)
{
    memset(out, 0, (size_t)n * sizeof *out);
    for (int64_t j = 0; j < n; j += COLUMNS) {
        int64_t cols = n - j < COLUMNS ? n - j : COLUMNS, p = 0;
        for (; p + DEEP <= k; p += DEEP)
            add_rows(brain, DEEP, a + p * row + j, row, x + p, cols, out + j);
        for (; p < k; p++) add_rows(brain, 1, a + p * row + j, row, x + p, cols, out + j);
    }
}

#define KERNEL(name, way, brain)                                                           \
    static void name(const uint16_t *a, int64_t row, const float *x, int64_t n, int64_t k, \
                     float *out)                                                           \
    {                                                                                      \
        way(brain, a, row, x, n, k, out);                                                  \
    }
KERNEL(rows_half, by_rows, false)
KERNEL(rows_brain, by_rows, true)
KERNEL(columns_half, by_columns, false)
KERNEL(columns_brain, by_columns, true)

const td_f16_kernels TD_SYM(td_f16_kernels) = {{rows_half, rows_brain},
                                               {columns_half, columns_brain}};
#else
const td_f16_kernels TD_SYM(td_f16_kernels) = {{NULL, NULL}, {NULL, NULL}};
#endif
