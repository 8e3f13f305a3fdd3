/* half_rows.h - dense rows of float16 and bfloat16 as float32 and back, eight or sixteen numbers at
 * a time where the processor has words for it. The numbers are those of half.h. */
#ifndef TD_HALF_ROWS_H
#define TD_HALF_ROWS_H
#include "cpu/simd/half.h"
#if defined(__F16C__) || defined(__AVX2__)
#include <immintrin.h>
#endif

/* GCC's own code for wider vectors is as good. */
#if defined(__AVX2__) && !defined(__AVX512F__)
static inline __m256 td_bf16_widen_8(const uint16_t *x)
{
    __m256i v = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)x));
    return _mm256_castsi256_ps(_mm256_slli_epi32(v, 16));
}

/* td_bf16_store in the low halves of 32 bits */
static inline __m256i td_bf16_narrow_8(const float *x)
{
    __m256 f = _mm256_loadu_ps(x);
    __m256i u = _mm256_castps_si256(f), even = _mm256_srli_epi32(u, 16);
    __m256i half =
        _mm256_add_epi32(_mm256_and_si256(even, _mm256_set1_epi32(1)), _mm256_set1_epi32(0x7fff));
    __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(u, half), 16);
    __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(f, f, _CMP_UNORD_Q));
    return _mm256_blendv_epi8(rounded, _mm256_set1_epi32(0xffc0), nan);
}
#define TD_BF16_BY_8 1
#endif

static inline void td_bf16_widen(float *restrict out, const uint16_t *restrict x, int64_t n)
{
    int64_t i = 0;
#ifdef TD_BF16_BY_8
    for (; i + 16 <= n; i += 16) {
        __m256 low = td_bf16_widen_8(x + i), high = td_bf16_widen_8(x + i + 8);
        _mm256_storeu_ps(out + i, low);
        _mm256_storeu_ps(out + i + 8, high);
    }
    for (; i + 8 <= n; i += 8) _mm256_storeu_ps(out + i, td_bf16_widen_8(x + i));
#endif
    for (; i < n; i++) out[i] = td_bf16_load(x[i]);
}

static inline void td_bf16_narrow(uint16_t *restrict out, const float *restrict x, int64_t n)
{
    int64_t i = 0;
#ifdef TD_BF16_BY_8
    for (; i + 16 <= n; i += 16) {
        __m256i low = td_bf16_narrow_8(x + i), high = td_bf16_narrow_8(x + i + 8);
        __m256i both = _mm256_permute4x64_epi64(_mm256_packus_epi32(low, high), 0xd8);
        _mm256_storeu_si256((__m256i *)(out + i), both);
    }
    for (; i + 8 <= n; i += 8) {
        __m256i one = td_bf16_narrow_8(x + i);
        _mm_storeu_si128((__m128i *)(out + i), _mm_packus_epi32(_mm256_castsi256_si128(one),
                                                                _mm256_extracti128_si256(one, 1)));
    }
#endif
    for (; i < n; i++) out[i] = td_bf16_store(x[i]);
}

/* One number as the processor converts it: a row's last ones have the bits of the others, NaN too.
 */
#ifdef __F16C__
static inline float td_f16_widen_1(uint16_t h) { return _cvtsh_ss(h); }
static inline uint16_t td_f16_narrow_1(float f) { return _cvtss_sh(f, 0); }
#else
static inline float td_f16_widen_1(uint16_t h) { return td_f16_load(h); }
static inline uint16_t td_f16_narrow_1(float f) { return td_f16_store(f); }
#endif

static inline void td_f16_widen(float *restrict out, const uint16_t *restrict x, int64_t n)
{
    int64_t i = 0;
#ifdef __F16C__
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(x + i))));
#endif
    for (; i < n; i++) out[i] = td_f16_widen_1(x[i]);
}

static inline void td_f16_narrow(uint16_t *restrict out, const float *restrict x, int64_t n)
{
    int64_t i = 0;
#ifdef __F16C__
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((__m128i *)(out + i), _mm256_cvtps_ph(_mm256_loadu_ps(x + i), 0));
#endif
    for (; i < n; i++) out[i] = td_f16_narrow_1(x[i]);
}

#endif
