/* gemm_vec512.h - the operations of gemm_vec.h on AVX-512: 16 floats or 8 doubles. */
#include <immintrin.h>

#define VF_LANES 16
#define VD_LANES 8
typedef __m512 vf;
typedef __m512d vd;

TD_INLINE vf vf_zero(void) { return _mm512_setzero_ps(); }
TD_INLINE vf vf_set1(float x) { return _mm512_set1_ps(x); }
TD_INLINE vf vf_load(const float *p) { return _mm512_loadu_ps(p); }
TD_INLINE void vf_store(float *p, vf v) { _mm512_storeu_ps(p, v); }
TD_INLINE vf vf_load_part(uint32_t bits, const float *p)
{
    return _mm512_maskz_loadu_ps((__mmask16)bits, p);
}
/* lanes of the mask from memory, the others from `rest`, which is 0 there */
TD_INLINE vf vf_load_onto(vf rest, uint32_t bits, const float *p)
{
    return _mm512_mask_loadu_ps(rest, (__mmask16)bits, p);
}
TD_INLINE void vf_store_part(float *p, uint32_t bits, vf v)
{
    _mm512_mask_storeu_ps(p, (__mmask16)bits, v);
}
TD_INLINE vf vf_fma(vf a, vf b, vf c) { return _mm512_fmadd_ps(a, b, c); }
TD_INLINE vf vf_fnma(vf a, vf b, vf c) { return _mm512_fnmadd_ps(a, b, c); }
TD_INLINE vf vf_add(vf a, vf b) { return _mm512_add_ps(a, b); }
TD_INLINE vf vf_sub(vf a, vf b) { return _mm512_sub_ps(a, b); }
TD_INLINE vf vf_mul(vf a, vf b) { return _mm512_mul_ps(a, b); }
TD_INLINE vf vf_max(vf a, vf b) { return _mm512_max_ps(a, b); }
TD_INLINE float vf_sum(vf a) { return _mm512_reduce_add_ps(a); }
TD_INLINE float vf_top(vf a) { return _mm512_reduce_max_ps(a); }
/* The larger of a, a magnitude, and |b|, as their bits are ordered: a NaN is above infinity. */
TD_INLINE vf vf_wider(vf a, vf b)
{
    __m512i magnitude = _mm512_and_si512(_mm512_castps_si512(b), _mm512_set1_epi32(0x7fffffff));
    return _mm512_castsi512_ps(_mm512_max_epi32(_mm512_castps_si512(a), magnitude));
}
/* the smaller of |a| and |b|, by the same order */
TD_INLINE vf vf_narrower(vf a, vf b)
{
    const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
    return _mm512_castsi512_ps(
        _mm512_min_epi32(_mm512_and_si512(_mm512_castps_si512(a), magnitude),
                         _mm512_and_si512(_mm512_castps_si512(b), magnitude)));
}
/* a where the bit is set, b elsewhere */
TD_INLINE vf vf_select(uint32_t bits, vf a, vf b)
{
    return _mm512_mask_blend_ps((__mmask16)bits, b, a);
}
/* a, but minus infinity where the mask is: a score that is hidden counts for nothing, NaN or not */
TD_INLINE vf vf_hidden(vf mask, vf a)
{
    vf hide = _mm512_set1_ps(-INFINITY);
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(mask, hide, _CMP_EQ_OQ), a, hide);
}
TD_INLINE vf vf_round(vf a) { return _mm512_roundscale_ps(a, 8); }
/* a * 2^n for an integral n */
/* a * 2^n for whole n from -127 to 0; -127 gives 0. A result below the normal numbers would cost a
 * hundred cycles. */
TD_INLINE vf vf_scale(vf a, vf n)
{
    __m512i exponent = _mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127));
    return _mm512_mul_ps(a, _mm512_castsi512_ps(_mm512_slli_epi32(exponent, 23)));
}
TD_INLINE vf vf_or(vf a, vf b) { return _mm512_or_ps(a, b); }
/* lanes 0, 2, 4 ... of a, then of b */
TD_INLINE vf vf_even(vf a, vf b)
{
    const __m512i pick =
        _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    return _mm512_permutex2var_ps(a, pick, b);
}
/* any stride: places of 64 bits, half a vector at a time */
TD_INLINE vf vf_gather_far(uint32_t bits, const float *p, int64_t stride)
{
    __m512i low =
        _mm512_mullo_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi64(stride));
    __m512i high = _mm512_add_epi64(low, _mm512_slli_epi64(_mm512_set1_epi64(stride), 3));
    __m256 a = _mm512_mask_i64gather_ps(_mm256_setzero_ps(), (__mmask8)bits, low, p, 4);
    __m256 b = _mm512_mask_i64gather_ps(_mm256_setzero_ps(), (__mmask8)(bits >> 8), high, p, 4);
    return _mm512_insertf32x8(_mm512_castps256_ps512(a), b, 1);
}
TD_INLINE vf vf_gather(uint32_t bits, const float *p, int64_t stride)
{
    if (td_is_far(stride)) return vf_gather_far(bits, p, stride);
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    __m512i index = _mm512_mullo_epi32(lane, _mm512_set1_epi32((int)stride));
    return _mm512_mask_i32gather_ps(_mm512_setzero_ps(), (__mmask16)bits, index, p, 4);
}

TD_INLINE void vf_transpose(vf *r)
{
    __m512 t[16];
    TD_UNROLL for (int i = 0; i < 16; i += 2)
    {
        t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
    TD_UNROLL for (int i = 0; i < 16; i += 4)
    {
        __m512d a = (__m512d)t[i], b = (__m512d)t[i + 1], c = (__m512d)t[i + 2],
                d = (__m512d)t[i + 3];
        r[i] = (__m512)_mm512_unpacklo_pd(a, c);
        r[i + 1] = (__m512)_mm512_unpackhi_pd(a, c);
        r[i + 2] = (__m512)_mm512_unpacklo_pd(b, d);
        r[i + 3] = (__m512)_mm512_unpackhi_pd(b, d);
    }
    TD_UNROLL for (int j = 0; j < 4; j++)
    {
        __m512 a = r[j], b = r[4 + j], c = r[8 + j], d = r[12 + j];
        __m512 p = _mm512_shuffle_f32x4(a, b, 0x88), q = _mm512_shuffle_f32x4(c, d, 0x88);
        __m512 u = _mm512_shuffle_f32x4(a, b, 0xdd), w = _mm512_shuffle_f32x4(c, d, 0xdd);
        t[j] = _mm512_shuffle_f32x4(p, q, 0x88);
        t[8 + j] = _mm512_shuffle_f32x4(p, q, 0xdd);
        t[4 + j] = _mm512_shuffle_f32x4(u, w, 0x88);
        t[12 + j] = _mm512_shuffle_f32x4(u, w, 0xdd);
    }
    TD_UNROLL for (int i = 0; i < 16; i++) r[i] = t[i];
}

TD_INLINE vd vd_zero(void) { return _mm512_setzero_pd(); }
TD_INLINE vd vd_set1(double x) { return _mm512_set1_pd(x); }
TD_INLINE vd vd_load(const double *p) { return _mm512_loadu_pd(p); }
TD_INLINE void vd_store(double *p, vd v) { _mm512_storeu_pd(p, v); }
TD_INLINE vd vd_load_part(uint32_t bits, const double *p)
{
    return _mm512_maskz_loadu_pd((__mmask8)bits, p);
}
TD_INLINE vd vd_load_onto(vd rest, uint32_t bits, const double *p)
{
    return _mm512_mask_loadu_pd(rest, (__mmask8)bits, p);
}
TD_INLINE void vd_store_part(double *p, uint32_t bits, vd v)
{
    _mm512_mask_storeu_pd(p, (__mmask8)bits, v);
}
TD_INLINE vd vd_fma(vd a, vd b, vd c) { return _mm512_fmadd_pd(a, b, c); }
TD_INLINE vd vd_add(vd a, vd b) { return _mm512_add_pd(a, b); }
TD_INLINE vd vd_mul(vd a, vd b) { return _mm512_mul_pd(a, b); }
TD_INLINE double vd_sum(vd a) { return _mm512_reduce_add_pd(a); }
TD_INLINE vd vd_or(vd a, vd b) { return _mm512_or_pd(a, b); }
TD_INLINE vd vd_even(vd a, vd b)
{
    return _mm512_permutex2var_pd(a, _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0), b);
}
TD_INLINE vd vd_gather(uint32_t bits, const double *p, int64_t stride)
{
    __m512i index =
        _mm512_mullo_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi64(stride));
    return _mm512_mask_i64gather_pd(_mm512_setzero_pd(), (__mmask8)bits, index, p, 8);
}
TD_INLINE void vd_transpose(vd *r)
{
    __m512d t[8];
    TD_UNROLL for (int i = 0; i < 8; i += 2)
    {
        t[i] = _mm512_unpacklo_pd(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_pd(r[i], r[i + 1]);
    }
    TD_UNROLL for (int j = 0; j < 2; j++)
    {
        __m512d p = _mm512_shuffle_f64x2(t[j], t[2 + j], 0x88),
                q = _mm512_shuffle_f64x2(t[4 + j], t[6 + j], 0x88);
        __m512d u = _mm512_shuffle_f64x2(t[j], t[2 + j], 0xdd),
                w = _mm512_shuffle_f64x2(t[4 + j], t[6 + j], 0xdd);
        r[j] = _mm512_shuffle_f64x2(p, q, 0x88);
        r[4 + j] = _mm512_shuffle_f64x2(p, q, 0xdd);
        r[2 + j] = _mm512_shuffle_f64x2(u, w, 0x88);
        r[6 + j] = _mm512_shuffle_f64x2(u, w, 0xdd);
    }
}
