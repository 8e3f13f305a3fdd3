/* gemm_vec256.h - the operations of gemm_vec.h on AVX2 with FMA: 8 floats or 4 doubles. */
#include <immintrin.h>

#define VF_LANES 8
#define VD_LANES 4
typedef __m256 vf;
typedef __m256d vd;

TD_INLINE __m256i vf_mask(uint32_t bits)
{
    const __m256i lane = _mm256_set_epi32(128, 64, 32, 16, 8, 4, 2, 1);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)bits), lane), lane);
}
TD_INLINE vf vf_zero(void) { return _mm256_setzero_ps(); }
TD_INLINE vf vf_set1(float x) { return _mm256_set1_ps(x); }
TD_INLINE vf vf_load(const float *p) { return _mm256_loadu_ps(p); }
TD_INLINE void vf_store(float *p, vf v) { _mm256_storeu_ps(p, v); }
TD_INLINE vf vf_load_part(uint32_t bits, const float *p)
{
    return _mm256_maskload_ps(p, vf_mask(bits));
}
TD_INLINE vf vf_load_onto(vf rest, uint32_t bits, const float *p)
{
    return _mm256_or_ps(rest, vf_load_part(bits, p));
}
/* A masked store takes 12 cycles on Zen: whole vectors and the 6 rows of a tile go without. */
TD_INLINE void vf_store_part(float *p, uint32_t bits, vf v)
{
    if (bits == 0xff) {
        _mm256_storeu_ps(p, v);
    } else if (bits == 0x3f) {
        _mm_storeu_ps(p, _mm256_castps256_ps128(v));
        _mm_storel_epi64((__m128i *)(p + 4), _mm_castps_si128(_mm256_extractf128_ps(v, 1)));
    } else {
        _mm256_maskstore_ps(p, vf_mask(bits), v);
    }
}
TD_INLINE vf vf_fma(vf a, vf b, vf c) { return _mm256_fmadd_ps(a, b, c); }
TD_INLINE vf vf_fnma(vf a, vf b, vf c) { return _mm256_fnmadd_ps(a, b, c); }
TD_INLINE vf vf_add(vf a, vf b) { return _mm256_add_ps(a, b); }
TD_INLINE vf vf_sub(vf a, vf b) { return _mm256_sub_ps(a, b); }
TD_INLINE vf vf_mul(vf a, vf b) { return _mm256_mul_ps(a, b); }
TD_INLINE vf vf_max(vf a, vf b) { return _mm256_max_ps(a, b); }
/* The larger of a, a magnitude, and |b|, as their bits are ordered: a NaN is above infinity. */
TD_INLINE vf vf_wider(vf a, vf b)
{
    __m256i magnitude = _mm256_and_si256(_mm256_castps_si256(b), _mm256_set1_epi32(0x7fffffff));
    return _mm256_castsi256_ps(_mm256_max_epi32(_mm256_castps_si256(a), magnitude));
}
/* the smaller of |a| and |b|, by the same order */
TD_INLINE vf vf_narrower(vf a, vf b)
{
    const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
    return _mm256_castsi256_ps(
        _mm256_min_epi32(_mm256_and_si256(_mm256_castps_si256(a), magnitude),
                         _mm256_and_si256(_mm256_castps_si256(b), magnitude)));
}
TD_INLINE vf vf_select(uint32_t bits, vf a, vf b)
{
    return _mm256_blendv_ps(b, a, _mm256_castsi256_ps(vf_mask(bits)));
}
/* a, but minus infinity where the mask is: a score that is hidden counts for nothing, NaN or not */
TD_INLINE vf vf_hidden(vf mask, vf a)
{
    vf hide = _mm256_set1_ps(-INFINITY);
    return _mm256_blendv_ps(a, hide, _mm256_cmp_ps(mask, hide, _CMP_EQ_OQ));
}
TD_INLINE vf vf_round(vf a)
{
    return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
TD_INLINE vf vf_scale(vf a, vf n) /* n from -127 to 0; -127 gives 0 */
{
    __m256i exponent = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
    return _mm256_mul_ps(a, _mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23)));
}
TD_INLINE float vf_sum(vf a)
{
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_shuffle_ps(s, s, 1)));
}
TD_INLINE float vf_top(vf a)
{
    __m128 s = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_max_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_max_ss(s, _mm_shuffle_ps(s, s, 1)));
}
TD_INLINE vf vf_or(vf a, vf b) { return _mm256_or_ps(a, b); }
TD_INLINE vf vf_even(vf a, vf b)
{
    __m256d pairs = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0x88));
    return _mm256_castpd_ps(_mm256_permute4x64_pd(pairs, 0xd8));
}
/* any stride: places of 64 bits, half a vector at a time */
TD_INLINE vf vf_gather_far(uint32_t bits, const float *p, int64_t stride)
{
    uint64_t s = (uint64_t)stride;
    __m256i low = _mm256_set_epi64x((int64_t)(3 * s), (int64_t)(2 * s), stride, 0);
    __m256i high = _mm256_add_epi64(low, _mm256_set1_epi64x((int64_t)(4 * s)));
    __m256 mask = _mm256_castsi256_ps(vf_mask(bits));
    __m128 a = _mm256_mask_i64gather_ps(_mm_setzero_ps(), p, low, _mm256_castps256_ps128(mask), 4);
    __m128 b =
        _mm256_mask_i64gather_ps(_mm_setzero_ps(), p, high, _mm256_extractf128_ps(mask, 1), 4);
    return _mm256_insertf128_ps(_mm256_castps128_ps256(a), b, 1);
}
TD_INLINE vf vf_gather(uint32_t bits, const float *p, int64_t stride)
{
    if (td_is_far(stride)) return vf_gather_far(bits, p, stride);
    __m256i index = _mm256_mullo_epi32(_mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0),
                                       _mm256_set1_epi32((int)stride));
    return _mm256_mask_i32gather_ps(_mm256_setzero_ps(), p, index,
                                    _mm256_castsi256_ps(vf_mask(bits)), 4);
}
TD_INLINE void vf_transpose(vf *r)
{
    vf t[8];
    TD_UNROLL for (int i = 0; i < 8; i += 2)
    {
        t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
    TD_UNROLL for (int i = 0; i < 8; i += 4)
    {
        r[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
        r[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
        r[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
        r[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
    }
    TD_UNROLL for (int i = 0; i < 4; i++)
    {
        vf low = r[i], high = r[i + 4];
        r[i] = _mm256_permute2f128_ps(low, high, 0x20);
        r[i + 4] = _mm256_permute2f128_ps(low, high, 0x31);
    }
}

TD_INLINE __m256i vd_mask(uint32_t bits)
{
    const __m256i lane = _mm256_set_epi64x(8, 4, 2, 1);
    return _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(bits), lane), lane);
}
TD_INLINE vd vd_zero(void) { return _mm256_setzero_pd(); }
TD_INLINE vd vd_set1(double x) { return _mm256_set1_pd(x); }
TD_INLINE vd vd_load(const double *p) { return _mm256_loadu_pd(p); }
TD_INLINE void vd_store(double *p, vd v) { _mm256_storeu_pd(p, v); }
TD_INLINE vd vd_load_part(uint32_t bits, const double *p)
{
    return _mm256_maskload_pd(p, vd_mask(bits));
}
TD_INLINE vd vd_load_onto(vd rest, uint32_t bits, const double *p)
{
    return _mm256_or_pd(rest, vd_load_part(bits, p));
}
TD_INLINE void vd_store_part(double *p, uint32_t bits, vd v)
{
    if (bits == 0xf) _mm256_storeu_pd(p, v);
    else if (bits == 0x3) _mm_storeu_pd(p, _mm256_castpd256_pd128(v));
    else _mm256_maskstore_pd(p, vd_mask(bits), v);
}
TD_INLINE vd vd_fma(vd a, vd b, vd c) { return _mm256_fmadd_pd(a, b, c); }
TD_INLINE vd vd_add(vd a, vd b) { return _mm256_add_pd(a, b); }
TD_INLINE vd vd_mul(vd a, vd b) { return _mm256_mul_pd(a, b); }
TD_INLINE double vd_sum(vd a)
{
    __m128d s = _mm_add_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1));
    return _mm_cvtsd_f64(_mm_add_sd(s, _mm_unpackhi_pd(s, s)));
}
TD_INLINE vd vd_or(vd a, vd b) { return _mm256_or_pd(a, b); }
TD_INLINE vd vd_even(vd a, vd b) { return _mm256_permute4x64_pd(_mm256_unpacklo_pd(a, b), 0xd8); }
TD_INLINE vd vd_gather(uint32_t bits, const double *p, int64_t stride)
{
    uint64_t s = (uint64_t)stride;
    __m256i index = _mm256_set_epi64x((int64_t)(3 * s), (int64_t)(2 * s), stride, 0);
    return _mm256_mask_i64gather_pd(_mm256_setzero_pd(), p, index,
                                    _mm256_castsi256_pd(vd_mask(bits)), 8);
}
TD_INLINE void vd_transpose(vd *r)
{
    vd a = _mm256_unpacklo_pd(r[0], r[1]), b = _mm256_unpackhi_pd(r[0], r[1]);
    vd c = _mm256_unpacklo_pd(r[2], r[3]), d = _mm256_unpackhi_pd(r[2], r[3]);
    r[0] = _mm256_permute2f128_pd(a, c, 0x20);
    r[1] = _mm256_permute2f128_pd(b, d, 0x20);
    r[2] = _mm256_permute2f128_pd(a, c, 0x31);
    r[3] = _mm256_permute2f128_pd(b, d, 0x31);
}
