/* vec16.h - vh and vb: vectors of float whose numbers lie in memory as float16 and bfloat16, so
 * that a row of 16 bits is widened, computed and rounded without leaving the registers. The numbers
 * are those of half_rows.h, NaN too. */
#ifndef TD_VEC16_H
#define TD_VEC16_H
#include "cpu/simd/half.h"
#include "cpu/simd/vec.h"

typedef vf vh;
typedef vf vb;

#if VBYTES == 64
typedef __m256i v16;
VFN v16 v16_load(const uint16_t *p) { return _mm256_loadu_si256((const __m256i *)p); }
VFN void v16_store(uint16_t *p, v16 x) { _mm256_storeu_si256((__m256i *)p, x); }
VFN v16 v16_load_n(const uint16_t *p, int64_t n)
{
    return _mm256_maskz_loadu_epi16((__mmask16)((1u << n) - 1), p);
}
VFN void v16_store_n(uint16_t *p, v16 x, int64_t n)
{
    _mm256_mask_storeu_epi16(p, (__mmask16)((1u << n) - 1), x);
}
VFN vi v16_widen(v16 x) { return (vi)_mm512_cvtepu16_epi32(x); }
VFN v16 v16_narrow(vi x) { return _mm512_cvtepi32_epi16((__m512i)x); }
VFN vh vh_widen(v16 x) { return _mm512_cvtph_ps(x); }
VFN v16 vh_narrow(vh x) { return _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT); }
VFN vi vb_or_nan(vb x, vi rounded)
{
    mf nan = vf_isnan(x);
    return (vi)_mm512_mask_blend_epi32(nan, (__m512i)rounded, _mm512_set1_epi32(0xffc0));
}
#elif VBYTES == 32
typedef __m128i v16;
VFN v16 v16_load(const uint16_t *p) { return _mm_loadu_si128((const __m128i *)p); }
VFN void v16_store(uint16_t *p, v16 x) { _mm_storeu_si128((__m128i *)p, x); }
VFN v16 v16_load_n(const uint16_t *p, int64_t n)
{
    v16 x = _mm_setzero_si128();
    memcpy(&x, p, (size_t)n * 2);
    return x;
}
VFN void v16_store_n(uint16_t *p, v16 x, int64_t n) { memcpy(p, &x, (size_t)n * 2); }
VFN vi v16_widen(v16 x) { return (vi)_mm256_cvtepu16_epi32(x); }
VFN v16 v16_narrow(vi x)
{
    return _mm_packus_epi32(_mm256_castsi256_si128((__m256i)x),
                            _mm256_extracti128_si256((__m256i)x, 1));
}
VFN vh vh_widen(v16 x) { return _mm256_cvtph_ps(x); }
VFN v16 vh_narrow(vh x) { return _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT); }
VFN vi vb_or_nan(vb x, vi rounded)
{
    return (vi)_mm256_blendv_epi8((__m256i)rounded, _mm256_set1_epi32(0xffc0),
                                  (__m256i)vf_isnan(x));
}
#else
typedef uint16_t v16 __attribute__((vector_size(8)));
VFN v16 v16_load(const uint16_t *p)
{
    v16 x;
    memcpy(&x, p, sizeof x);
    return x;
}
VFN void v16_store(uint16_t *p, v16 x) { memcpy(p, &x, sizeof x); }
VFN v16 v16_load_n(const uint16_t *p, int64_t n)
{
    WITHIN(n, VF_WIDTH);
    v16 x = {0};
    memcpy(&x, p, (size_t)n * 2);
    return x;
}
VFN void v16_store_n(uint16_t *p, v16 x, int64_t n)
{
    WITHIN(n, VF_WIDTH);
    memcpy(p, &x, (size_t)n * 2);
}
VFN vi v16_widen(v16 x) { return __builtin_convertvector(x, vi); }
VFN v16 v16_narrow(vi x) { return __builtin_convertvector(x, v16); }
VFN vi vi_sel(vi m, vi a, vi b) { return (m & a) | (~m & b); }
VFN vi vb_or_nan(vb x, vi rounded)
{
    return vi_sel(vf_isnan(x), (vi){0xffc0, 0xffc0, 0xffc0, 0xffc0}, rounded);
}
#if defined __aarch64__
VFN vh vh_widen(v16 x) { return (vh)vcvt_f32_f16(vreinterpret_f16_u16((uint16x4_t)x)); }
VFN v16 vh_narrow(vh x) { return (v16)vreinterpret_u16_f16(vcvt_f16_f32((float32x4_t)x)); }
#else
/* td_f16_load and td_f16_store, lane by lane: too long to be copied into every loop */
#define OUT_OF_LINE static __attribute__((noinline, unused))
OUT_OF_LINE vh vh_widen(v16 x)
{
    vi h = v16_widen(x), size = h & 0x7fff, value = size << 13, sign = (h & 0x8000) << 16;
    vi scaled = (vi)((vf)value * vf_set(0x1p112f));
    return (vf)(sign | vi_sel(size >= 0x7c00, value | 0x7f800000, scaled));
}
OUT_OF_LINE v16 vh_narrow(vh x)
{
    vu u = (vu)x, a = u & 0x7fffffffu, normal = (a - 0x38000000u + 0xfffu + (a >> 13 & 1u)) >> 13;
    vi size = (vi)a, small = (vi)((vf)a + vf_set(0.5f)) - 0x3f000000;
    vi r = vi_sel(size < 0x38800000, small, (vi)normal);
    r = vi_sel(size >= 0x47800000, (vi){0x7c00, 0x7c00, 0x7c00, 0x7c00}, r);
    r = vi_sel(size > 0x7f800000, (vi){0x7e00, 0x7e00, 0x7e00, 0x7e00}, r);
    return v16_narrow((vi)(u >> 16 & 0x8000u) | r);
}
#endif
#endif

VFN vb vb_widen(v16 x) { return (vb)(v16_widen(x) << 16); }
/* td_bf16_store in the low halves of 32 bits */
VFN vi vb_round(vb x)
{
    vu u = (vu)x;
    return vb_or_nan(x, (vi)((u + ((u >> 16 & 1) + 0x7fff)) >> 16));
}
VFN v16 vb_narrow(vb x) { return v16_narrow(vb_round(x)); }

#define VEC16_MEMORY(v)                                                                    \
    VFN v v##_load(const uint16_t *p) { return v##_widen(v16_load(p)); }                   \
    VFN v v##_load_n(const uint16_t *p, int64_t n) { return v##_widen(v16_load_n(p, n)); } \
    VFN void v##_store(uint16_t *p, v x) { v16_store(p, v##_narrow(x)); }                  \
    VFN void v##_store_n(uint16_t *p, v x, int64_t n) { v16_store_n(p, v##_narrow(x), n); }
VEC16_MEMORY(vh)
VEC16_MEMORY(vb)

#endif
