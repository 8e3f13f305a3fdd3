/* vec.h - the vector type of the elementwise kernels: vf holds float, vd double, as wide as the
 * instruction set allows.
 *
 * Arithmetic, and bit operations on the integer vectors vi and vl of the same size, are C operators
 * (vector extension). The rest are the functions below, in pairs vf_ and vd_; the macros at the end
 * pick one by
 * argument type, so that an operation is written once:   vsel(vgt(x, vzero(x)), x, x * slope)
 *
 * A new instruction set provides: fused multiply-add, min, max, square root, rounding, comparison,
 * select, partial load and store. vmin and vmax return their SECOND argument if either is NaN, as
 * x86 does. */
#ifndef TD_VEC_H
#define TD_VEC_H
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#if defined __AVX2__
#include <immintrin.h>
#elif defined __aarch64__
#include <arm_neon.h>
#endif

#if defined __AVX512F__
#define VBYTES 64
#elif defined __AVX2__
#define VBYTES 32
#else
#define VBYTES 16
#endif
#define VF_WIDTH (VBYTES / 4)
#define VD_WIDTH (VBYTES / 8)

typedef float vf __attribute__((vector_size(VBYTES)));
typedef double vd __attribute__((vector_size(VBYTES)));
typedef int32_t vi __attribute__((vector_size(VBYTES)));
typedef int64_t vl __attribute__((vector_size(VBYTES)));
/* for sums and shifts that may overflow */
typedef uint32_t vu __attribute__((vector_size(VBYTES)));
typedef uint64_t vw __attribute__((vector_size(VBYTES)));

#define VFN static inline __attribute__((always_inline))

/* Declarations, one `;` after each, then a value: an expression. No comma outside brackets: one
 * declaration a variable. */
#define LET(declarations, value) \
    __extension__({              \
        declarations;            \
        value;                   \
    })

/* Of a function that is long, or is used several times: a device calls it, where others are
 * inlined, or a kernel would take seconds to compile. */
#define TD_CALLED
#define VFN_CALLED VFN

VFN vf vf_set(float x) { return x - (vf){0}; } /* also of -0, inf and NaN */
VFN vd vd_set(double x) { return x - (vd){0}; }
VFN vf vf_load(const float *p)
{
    vf x;
    memcpy(&x, p, VBYTES);
    return x;
}
VFN vd vd_load(const double *p)
{
    vd x;
    memcpy(&x, p, VBYTES);
    return x;
}
VFN void vf_store(float *p, vf x) { memcpy(p, &x, VBYTES); }
VFN void vd_store(double *p, vd x) { memcpy(p, &x, VBYTES); }

VFN vf vf_abs(vf x) { return (vf)((vi)x & 0x7fffffff); }
VFN vd vd_abs(vd x) { return (vd)((vl)x & INT64_MAX); }
VFN vf vf_copysign(vf size, vf sign)
{
    return (vf)(((vi)size & 0x7fffffff) | ((vi)sign & INT32_MIN));
}
VFN vd vd_copysign(vd size, vd sign)
{
    return (vd)(((vl)size & INT64_MAX) | ((vl)sign & INT64_MIN));
}

/* ---- AVX-512 ---- */
#if defined __AVX512F__
typedef __mmask16 mf;
typedef __mmask8 md;
VFN vf vf_fma(vf a, vf b, vf c) { return _mm512_fmadd_ps(a, b, c); }
VFN vd vd_fma(vd a, vd b, vd c) { return _mm512_fmadd_pd(a, b, c); }
VFN vf vf_min(vf a, vf b) { return _mm512_min_ps(a, b); }
VFN vd vd_min(vd a, vd b) { return _mm512_min_pd(a, b); }
VFN vf vf_max(vf a, vf b) { return _mm512_max_ps(a, b); }
VFN vd vd_max(vd a, vd b) { return _mm512_max_pd(a, b); }
VFN vf vf_sqrt(vf a) { return _mm512_sqrt_ps(a); }
VFN vd vd_sqrt(vd a) { return _mm512_sqrt_pd(a); }
#define VROUND(name, mode)                                                               \
    VFN vf vf_##name(vf a) { return _mm512_roundscale_ps(a, mode | _MM_FROUND_NO_EXC); } \
    VFN vd vd_##name(vd a) { return _mm512_roundscale_pd(a, mode | _MM_FROUND_NO_EXC); }
#define VCOMPARE(name, operator, predicate)                                      \
    VFN mf vf_##name(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, predicate); } \
    VFN md vd_##name(vd a, vd b) { return _mm512_cmp_pd_mask(a, b, predicate); }
VFN vf vf_sel(mf m, vf a, vf b) { return _mm512_mask_blend_ps(m, b, a); }
VFN vd vd_sel(md m, vd a, vd b) { return _mm512_mask_blend_pd(m, b, a); }
VFN bool vf_any(mf m) { return m != 0; }
VFN bool vd_any(md m) { return m != 0; }
VFN vf vf_load_n(const float *p, int64_t n)
{
    return _mm512_maskz_loadu_ps((mf)((1u << n) - 1), p);
}
VFN vd vd_load_n(const double *p, int64_t n)
{
    return _mm512_maskz_loadu_pd((md)((1u << n) - 1), p);
}
VFN void vf_store_n(float *p, vf x, int64_t n) { _mm512_mask_storeu_ps(p, (mf)((1u << n) - 1), x); }
VFN void vd_store_n(double *p, vd x, int64_t n)
{
    _mm512_mask_storeu_pd(p, (md)((1u << n) - 1), x);
}

/* ---- AVX2 ---- */
#elif defined __AVX2__
typedef vi mf;
typedef vl md;
VFN vf vf_fma(vf a, vf b, vf c) { return _mm256_fmadd_ps(a, b, c); }
VFN vd vd_fma(vd a, vd b, vd c) { return _mm256_fmadd_pd(a, b, c); }
VFN vf vf_min(vf a, vf b) { return _mm256_min_ps(a, b); }
VFN vd vd_min(vd a, vd b) { return _mm256_min_pd(a, b); }
VFN vf vf_max(vf a, vf b) { return _mm256_max_ps(a, b); }
VFN vd vd_max(vd a, vd b) { return _mm256_max_pd(a, b); }
VFN vf vf_sqrt(vf a) { return _mm256_sqrt_ps(a); }
VFN vd vd_sqrt(vd a) { return _mm256_sqrt_pd(a); }
#define VROUND(name, mode)                                                          \
    VFN vf vf_##name(vf a) { return _mm256_round_ps(a, mode | _MM_FROUND_NO_EXC); } \
    VFN vd vd_##name(vd a) { return _mm256_round_pd(a, mode | _MM_FROUND_NO_EXC); }
#define VCOMPARE(name, operator, predicate)                                     \
    VFN mf vf_##name(vf a, vf b) { return (mf)_mm256_cmp_ps(a, b, predicate); } \
    VFN md vd_##name(vd a, vd b) { return (md)_mm256_cmp_pd(a, b, predicate); }
VFN vf vf_sel(mf m, vf a, vf b) { return _mm256_blendv_ps(b, a, (vf)m); }
VFN vd vd_sel(md m, vd a, vd b) { return _mm256_blendv_pd(b, a, (vd)m); }
VFN bool vf_any(mf m) { return _mm256_movemask_ps((vf)m) != 0; }
VFN bool vd_any(md m) { return _mm256_movemask_pd((vd)m) != 0; }
VFN __m256i first_lanes_f(int64_t n)
{
    return (__m256i)((vi){0, 1, 2, 3, 4, 5, 6, 7} < (int32_t)n);
}
VFN __m256i first_lanes_d(int64_t n) { return (__m256i)((vl){0, 1, 2, 3} < n); }
VFN vf vf_load_n(const float *p, int64_t n) { return _mm256_maskload_ps(p, first_lanes_f(n)); }
VFN vd vd_load_n(const double *p, int64_t n) { return _mm256_maskload_pd(p, first_lanes_d(n)); }
/* Under a mask even a store of all lanes takes a processor of AMD many times as long. */
VFN void vf_store_n(float *p, vf x, int64_t n)
{
    if (n >= VF_WIDTH) _mm256_storeu_ps(p, (__m256)x);
    else _mm256_maskstore_ps(p, first_lanes_f(n), x);
}
VFN void vd_store_n(double *p, vd x, int64_t n)
{
    if (n >= VD_WIDTH) _mm256_storeu_pd(p, (__m256d)x);
    else _mm256_maskstore_pd(p, first_lanes_d(n), x);
}

/* ---- any processor ---- */
#else
typedef vi mf;
typedef vl md;
#if defined __aarch64__ /* one instruction each, where the compiler does not find it */
VFN vf vf_fma(vf a, vf b, vf c)
{
    return (vf)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
VFN vd vd_fma(vd a, vd b, vd c)
{
    return (vd)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
}
#elif defined FP_FAST_FMAF
VFN vf vf_fma(vf a, vf b, vf c)
{
    for (int i = 0; i < VF_WIDTH; i++) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return c;
}
VFN vd vd_fma(vd a, vd b, vd c)
{
    for (int i = 0; i < VD_WIDTH; i++) c[i] = __builtin_fma(a[i], b[i], c[i]);
    return c;
}
#else /* in software a fused product would take a hundred times as long: the last bits may differ \
         here */
VFN vf vf_fma(vf a, vf b, vf c) { return a * b + c; }
VFN vd vd_fma(vd a, vd b, vd c) { return a * b + c; }
#endif
VFN vf vf_sel(mf m, vf a, vf b) { return (vf)((m & (vi)a) | (~m & (vi)b)); }
VFN vd vd_sel(md m, vd a, vd b) { return (vd)((m & (vl)a) | (~m & (vl)b)); }
VFN vf vf_min(vf a, vf b) { return vf_sel(a < b, a, b); }
VFN vd vd_min(vd a, vd b) { return vd_sel(a < b, a, b); }
VFN vf vf_max(vf a, vf b) { return vf_sel(a > b, a, b); }
VFN vd vd_max(vd a, vd b) { return vd_sel(a > b, a, b); }
#if defined __aarch64__
#define VNEON(name, word)                                                 \
    VFN vf vf_##name(vf a) { return (vf)v##word##q_f32((float32x4_t)a); } \
    VFN vd vd_##name(vd a) { return (vd)v##word##q_f64((float64x2_t)a); }
VNEON(sqrt, sqrt)
VNEON(round, rndn) /* ties to even */
VNEON(floor, rndm)
VNEON(ceil, rndp)
VNEON(trunc, rnd)
#else
VFN vf vf_sqrt(vf a)
{
    for (int i = 0; i < VF_WIDTH; i++) a[i] = __builtin_sqrtf(a[i]);
    return a;
}
VFN vd vd_sqrt(vd a)
{
    for (int i = 0; i < VD_WIDTH; i++) a[i] = __builtin_sqrt(a[i]);
    return a;
}
/* Adding the number whose last bit is 1 rounds; what is larger has no fraction. */
VFN vf vf_round(vf x)
{
    vf a = vf_abs(x), big = vf_set(0x1p23f);
    return vf_copysign(vf_sel(a < big, (a + big) - big, a), x);
}
VFN vd vd_round(vd x)
{
    vd a = vd_abs(x), big = vd_set(0x1p52);
    return vd_copysign(vd_sel(a < big, (a + big) - big, a), x);
}
VFN vf vf_floor(vf x)
{
    vf r = vf_round(x);
    return vf_copysign(vf_sel(r > x, r - 1.0f, r), x);
}
VFN vd vd_floor(vd x)
{
    vd r = vd_round(x);
    return vd_copysign(vd_sel(r > x, r - 1.0, r), x);
}
VFN vf vf_ceil(vf x) { return -vf_floor(-x); }
VFN vd vd_ceil(vd x) { return -vd_floor(-x); }
VFN vf vf_trunc(vf x) { return vf_copysign(vf_floor(vf_abs(x)), x); }
VFN vd vd_trunc(vd x) { return vd_copysign(vd_floor(vd_abs(x)), x); }
#endif
#define VCOMPARE(name, operator, predicate)               \
    VFN mf vf_##name(vf a, vf b) { return a operator b; } \
    VFN md vd_##name(vd a, vd b) { return a operator b; }
#if defined __aarch64__
VFN bool vf_any(mf m) { return vmaxvq_u32((uint32x4_t)m) != 0; }
VFN bool vd_any(md m) { return vmaxvq_u32((uint32x4_t)m) != 0; }
#else
VFN bool vf_any(mf m)
{
    for (int i = 0; i < VF_WIDTH; i++)
        if (m[i]) return true;
    return false;
}
VFN bool vd_any(md m)
{
    for (int i = 0; i < VD_WIDTH; i++)
        if (m[i]) return true;
    return false;
}
#endif
/* n is at most a vector's width: said for the compiler, which would warn of what cannot be. */
#define WITHIN(n, width) \
    if ((uint64_t)(n) > (width)) __builtin_unreachable()
VFN vf vf_load_n(const float *p, int64_t n)
{
    WITHIN(n, VF_WIDTH);
    vf x = {0};
    memcpy(&x, p, (size_t)n * 4);
    return x;
}
VFN vd vd_load_n(const double *p, int64_t n)
{
    WITHIN(n, VD_WIDTH);
    vd x = {0};
    memcpy(&x, p, (size_t)n * 8);
    return x;
}
VFN void vf_store_n(float *p, vf x, int64_t n)
{
    WITHIN(n, VF_WIDTH);
    memcpy(p, &x, (size_t)n * 4);
}
VFN void vd_store_n(double *p, vd x, int64_t n)
{
    WITHIN(n, VD_WIDTH);
    memcpy(p, &x, (size_t)n * 8);
}
#endif

#ifdef VROUND
VROUND(round, _MM_FROUND_TO_NEAREST_INT) /* ties to even */
VROUND(floor, _MM_FROUND_TO_NEG_INF)
VROUND(ceil, _MM_FROUND_TO_POS_INF)
VROUND(trunc, _MM_FROUND_TO_ZERO)
#endif
VCOMPARE(lt, <, _CMP_LT_OQ)
VCOMPARE(le, <=, _CMP_LE_OQ)
VCOMPARE(gt, >, _CMP_GT_OQ)
VCOMPARE(ge, >=, _CMP_GE_OQ)
VCOMPARE(eq, ==, _CMP_EQ_OQ)
VCOMPARE(ne, !=, _CMP_NEQ_UQ)
VFN mf vf_isnan(vf a) { return vf_ne(a, a); }
VFN md vd_isnan(vd a) { return vd_ne(a, a); }

/* ---- the first n numbers at p, n > 0: a whole vector at most ---- */
#define VUP_TO(v, type, width)                              \
    VFN v v##_load_up_to(const type *p, int64_t n)          \
    {                                                       \
        return n >= width ? v##_load(p) : v##_load_n(p, n); \
    }                                                       \
    VFN void v##_store_up_to(type *p, v x, int64_t n)       \
    {                                                       \
        if (n >= width) v##_store(p, x);                    \
        else v##_store_n(p, x, n);                          \
    }
VUP_TO(vf, float, VF_WIDTH)
VUP_TO(vd, double, VD_WIDTH)

/* ---- between the two: the low and the high half of the lanes ---- */
#if defined __AVX512F__
VFN vd vf_low(vf x) { return _mm512_cvtps_pd(_mm512_castps512_ps256(x)); }
VFN vd vf_high(vf x) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1)); }
VFN vf vf_join(vd low, vd high)
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high),
                              1);
}
#elif defined __AVX2__
VFN vd vf_low(vf x) { return _mm256_cvtps_pd(_mm256_castps256_ps128(x)); }
VFN vd vf_high(vf x) { return _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)); }
VFN vf vf_join(vd low, vd high)
{
    return _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low));
}
#else
VFN vd vf_low(vf x) { return (vd){x[0], x[1]}; }
VFN vd vf_high(vf x) { return (vd){x[2], x[3]}; }
VFN vf vf_join(vd low, vd high)
{
    return (vf){(float)low[0], (float)low[1], (float)high[0], (float)high[1]};
}
#endif

/* ---- picked by argument type ---- */
#define VPICK(name, x) _Generic((x), vf: vf_##name, vd: vd_##name)
#define vset(like, c) VPICK(set, like)(c)
#define vzero(like) VPICK(set, like)(0)
#define vfma(a, b, c) VPICK(fma, c)(a, b, c)
#define vmin(a, b) VPICK(min, b)(a, b)
#define vmax(a, b) VPICK(max, b)(a, b)
#define vsqrt(a) VPICK(sqrt, a)(a)
#define vabs(a) VPICK(abs, a)(a)
#define vcopysign(a, b) VPICK(copysign, b)(a, b)
#define vround(a) VPICK(round, a)(a)
#define vfloor(a) VPICK(floor, a)(a)
#define vceil(a) VPICK(ceil, a)(a)
#define vtrunc(a) VPICK(trunc, a)(a)
#define vsel(m, a, b) VPICK(sel, a)(m, a, b)
#define vlt(a, b) VPICK(lt, a)(a, b)
#define vle(a, b) VPICK(le, a)(a, b)
#define vgt(a, b) VPICK(gt, a)(a, b)
#define vge(a, b) VPICK(ge, a)(a, b)
#define veq(a, b) VPICK(eq, a)(a, b)
#define vne(a, b) VPICK(ne, a)(a, b)
#define visnan(a) VPICK(isnan, a)(a)
#define vand(a, b) ((__typeof__(a))((a) & (b))) /* of masks */

/* c[0] + c[1] x + ...: even and odd powers apart, as two short chains of products finish sooner
 * than a long one */
#define VPOLY(x, c)                                                       \
    __extension__({                                                       \
        enum { last_ = (int)(sizeof(c) / sizeof *(c)) - 1 };              \
        __typeof__(x) square_ = (x) * (x), one_ = vset(x, (c)[last_]),    \
                      two_ = vset(x, (c)[last_ - 1]);                     \
        for (int k_ = last_ - 2; k_ >= 0; k_ -= 2) {                      \
            one_ = vfma(one_, square_, vset(x, (c)[k_]));                 \
            if (k_ > 0) two_ = vfma(two_, square_, vset(x, (c)[k_ - 1])); \
        }                                                                 \
        last_ % 2 ? vfma(one_, x, two_) : vfma(two_, x, one_);            \
    })

#endif
