/* f16.c - rows of float16 numbers times a vector of float32: they become float32 in registers, so
 * that a large matrix is read once and written nowhere. Without an instruction for it (F16C) the
 * table is empty. */
#include "cpu/matmul/f16.h"
#include <stddef.h>
#include "cpu/simd/gemm_vec.h"
#include "runtime/loops.h"

#ifdef __F16C__
#define ROWS 8
#define SLICE 4096 /* numbers of a row at a time, and their order: those of the float32 kernels */

#ifdef __AVX512F__
TD_INLINE vf wide(const uint16_t *p)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const void *)p));
}
#else
TD_INLINE vf wide(const uint16_t *p) { return _mm256_cvtph_ps(_mm_loadu_si128((const void *)p)); }
#endif

/* n < VF_LANES numbers, then zeros */
TD_INLINE vf wide_part(const uint16_t *p, int64_t n)
{
    uint16_t all[VF_LANES] = {0};
    memcpy(all, p, (size_t)n * sizeof *p);
    return wide(all);
}

/* k <= SLICE numbers of `rows` rows, added to out */
TD_INLINE void some_rows(const int rows, const uint16_t *a, int64_t row, const float *x, int64_t k,
                         float *out)
{
    vf sums[ROWS];
    int64_t p = 0;
    TD_UNROLL for (int i = 0; i < rows; i++) sums[i] = vf_zero();
    for (; p + VF_LANES <= k; p += VF_LANES) {
        vf factor = vf_load(x + p);
        TD_UNROLL for (int i = 0; i < rows; i++)
        {
            TD_PREFETCH(a + i * row + p + 256);
            sums[i] = vf_fma(wide(a + i * row + p), factor, sums[i]);
        }
    }
    if (p < k) {
        vf factor = vf_load_part(td_lanes(k - p, VF_LANES), x + p);
        TD_UNROLL for (int i = 0; i < rows; i++) sums[i] =
            vf_fma(wide_part(a + i * row + p, k - p), factor, sums[i]);
    }
    TD_UNROLL for (int i = 0; i < rows; i++) out[i] += vf_sum(sums[i]);
}

static void times_vector(const uint16_t *a, int64_t row, const float *x, int64_t m, int64_t k,
                         float *out)
{
    memset(out, 0, (size_t)m * sizeof *out);
    for (int64_t p = 0; p < k; p += SLICE, a += SLICE, x += SLICE) {
        int64_t n = k - p < SLICE ? k - p : SLICE, i = 0;
        for (; i + ROWS <= m; i += ROWS) some_rows(ROWS, a + i * row, row, x, n, out + i);
        for (; i < m; i++) some_rows(1, a + i * row, row, x, n, out + i);
    }
}

const td_f16_kernels TD_SYM(td_f16_kernels) = {times_vector};
#else
const td_f16_kernels TD_SYM(td_f16_kernels) = {NULL};
#endif
