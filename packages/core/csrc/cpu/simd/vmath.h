/* vmath.h - exponentials, logarithms and what is made of them, on vectors of float (within 3 units
 * in the last place) and of double (within 2.5). Infinities, NaN and denormals come out as in C.
 *
 * The same formulas serve every instruction set, and quotients are real divisions, so results do
 * not depend on it (but for processors without fused products). Polynomials are near-minimax fits;
 * their error, relative to the function, stands beside them. */
#ifndef TD_VMATH_H
#define TD_VMATH_H
#include "cpu/simd/vec.h"

/* ---- scaling by powers of two, and taking numbers apart ---- */

#ifdef __AVX512F__
VFN vf vf_scale(vf x, vf n) { return _mm512_scalef_ps(x, n); }
VFN vd vd_scale(vd x, vd n) { return _mm512_scalef_pd(x, n); }
/* x = m * 2^e with m in [0.75, 1.5); zero, infinity, NaN and negative numbers give a logarithm as
 * in C by themselves */
VFN vf vf_apart(vf x, vf *e)
{
    vf m = _mm512_getmant_ps(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan), n = _mm512_getexp_ps(x);
    *e = vf_sel(vf_lt(m, vf_set(1)), n + 1.0f, n);
    return m;
}
VFN vd vd_apart(vd x, vd *e)
{
    vd m = _mm512_getmant_pd(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan), n = _mm512_getexp_pd(x);
    *e = vd_sel(vd_lt(m, vd_set(1)), n + 1.0, n);
    return m;
}
#else
/* two steps, as 2^n alone may be out of range; |n| up to 250 (2000) */
VFN vf vf_scale(vf x, vf n)
{
    vi k = __builtin_convertvector(n, vi), half = k >> 1;
    return x * (vf)(((vu)half + 127) << 23) * (vf)(((vu)(k - half) + 127) << 23);
}
VFN vd vd_scale(vd x, vd n)
{
    /* the low bits hold the integer */
    vl k = (vl)((vw)(n + 0x1.8p52) - (vw)vd_set(0x1.8p52)), half = k >> 1;
    return x * (vd)(((vw)half + 1023) << 52) * (vd)(((vw)(k - half) + 1023) << 52);
}
VFN vf vf_apart(vf x, vf *e)
{
    mf tiny = vf_lt(x, vf_set(0x1p-126f));
    vf scaled = vf_sel(tiny, x * 0x1p23f, x);
    vi bits = (vi)((vu)scaled - 0x3f400000);
    vf m = (vf)((bits & 0x7fffff) + 0x3f400000), n = __builtin_convertvector(bits >> 23, vf);
    vf inf = vf_set(INFINITY);
    *e = vf_sel(tiny, n - 23.0f, n);
    *e = vf_sel(vf_eq(x, vf_set(0)), -inf, vf_sel(vf_eq(x, inf), inf, *e));
    return vf_sel(vf_ge(x, vf_set(0)), m, vf_set(NAN));
}
VFN vd vd_apart(vd x, vd *e)
{
    md tiny = vd_lt(x, vd_set(0x1p-1022));
    vd scaled = vd_sel(tiny, x * 0x1p52, x);
    vl bits = (vl)((vw)scaled - 0x3fe8000000000000);
    vd m = (vd)((bits & 0xfffffffffffff) + 0x3fe8000000000000);
    vd n = (vd)((vw)(bits >> 52) + (vw)vd_set(0x1.8p52)) - 0x1.8p52, inf = vd_set(INFINITY);
    *e = vd_sel(tiny, n - 52.0, n);
    *e = vd_sel(vd_eq(x, vd_set(0)), -inf, vd_sel(vd_eq(x, inf), inf, *e));
    return vd_sel(vd_ge(x, vd_set(0)), m, vd_set(NAN));
}
#endif

/* ---- exponentials ---- */

/* e^x = 2^n (1 + result), for x within the range where 2^n is finite. Adding 1.5 * 2^23 leaves the
 * nearest integer in the low bits: sooner done than a rounding instruction. */
VFN vf vf_exp_core(vf x, vf *n)
{
    /* 2e-8 */
    static const float c[] = {0.49999994f, 0.166665196f, 0.0416683927f, 0.00836878084f,
                              0.00138144649f};
    *n = vf_fma(x, vf_set(1.44269504f), vf_set(0x1.8p23f)) - 0x1.8p23f;
    vf r = vf_fma(*n, vf_set(-0.693359375f), x);
    r = vf_fma(*n, vf_set(2.12194440e-4f), r);
    return vf_fma(r * r, VPOLY(r, c), r);
}
VFN vd vd_exp_core(vd x, vd *n)
{
    static const double c[] = {0.5,
                               0.16666666666666671,
                               0.041666666666666671,
                               0.0083333333333260838,
                               0.0013888888888883711,
                               0.00019841269875002279,
                               2.4801587325677461e-05,
                               2.7557255170000888e-06,
                               2.7557273478718582e-07,
                               2.5105312729622103e-08,
                               2.0914755325893202e-09}; /* 3e-19 */
    *n = vd_fma(x, vd_set(1.4426950408889634), vd_set(0x1.8p52)) - 0x1.8p52;
    vd r = vd_fma(*n, vd_set(-0x1.62e42fee00000p-1), x);
    r = vd_fma(*n, vd_set(-0x1.a39ef35793c76p-33), r);
    return vd_fma(r * r, VPOLY(r, c), r);
}

/* Clamping would come before all else; choosing the results of what is out of range happens beside
 * the rest. */
VFN vf vf_exp(vf x)
{
    vf n, p = vf_exp_core(x, &n), y = vf_scale(p + 1.0f, n);
    y = vf_sel(vf_lt(x, vf_set(-104)), vf_set(0), y);
    return vf_sel(vf_gt(x, vf_set(88.8f)), vf_set(INFINITY), y);
}
VFN vd vd_exp(vd x)
{
    vd n, p = vd_exp_core(x, &n), y = vd_scale(p + 1.0, n);
    y = vd_sel(vd_lt(x, vd_set(-746)), vd_set(0), y);
    return vd_sel(vd_gt(x, vd_set(709.9)), vd_set(INFINITY), y);
}

/* within what scaling in two steps can do; the order of arguments keeps NaN */
VFN vf vf_exp_range(vf x) { return vf_min(vf_set(89), vf_max(vf_set(-105), x)); }
VFN vd vd_exp_range(vd x) { return vd_min(vd_set(710), vd_max(vd_set(-746), x)); }

/* half of it first, as 2^n alone overflows before the result does */
VFN vf vf_expm1(vf x)
{
    vf n, p = vf_exp_core(vf_exp_range(x), &n), s = vf_scale(vf_set(0.5f), n);
    vf y = vf_fma(s, p, s - 0.5f);
    return vf_sel(vf_eq(x, vf_set(0)), x, y + y);
}
VFN vd vd_expm1(vd x)
{
    vd n, p = vd_exp_core(vd_exp_range(x), &n), s = vd_scale(vd_set(0.5), n);
    vd y = vd_fma(s, p, s - 0.5);
    return vd_sel(vd_eq(x, vd_set(0)), x, y + y);
}

VFN vf vf_exp2(vf x)
{
    vf y = vf_min(vf_set(129), vf_max(vf_set(-151), x)), n = vf_round(y), m;
    vf p = vf_exp_core((y - n) * 0.69314718f, &m);
    return vf_scale(p + 1.0f, n + m);
}
VFN vd vd_exp2(vd x)
{
    vd y = vd_min(vd_set(1025), vd_max(vd_set(-1076), x)), n = vd_round(y), m;
    vd p = vd_exp_core((y - n) * 0.69314718055994531, &m);
    return vd_scale(p + 1.0, n + m);
}

/* ---- logarithms ---- */

/* x = 2^e (1 + f); the result is log(1 + f) - f */
VFN vf vf_log_core(vf x, vf *e, vf *f)
{
    static const float c[] = {
        0.333333313f, -0.250000209f, 0.200003549f, -0.166656867f, 0.142695218f,
        /* 3e-8 */
        -0.124967098f, 0.113855347f, -0.105700485f, 0.0805077404f, -0.0317645706f};
    *f = vf_apart(x, e) - 1.0f;
    vf s = *f * *f;
    return vf_fma(*f * s, VPOLY(*f, c), s * -0.5f);
}
/* by the series of the area tangent: f - (s - h (f^2/2 + ...)), in the arrangement that loses
 * nothing */
VFN vd vd_log_core(vd x, vd *e, vd *f)
{
    static const double c[] = {0.66666666666666696, 0.39999999999898272, 0.28571428626533618,
                               0.22222211043776857,
                               /* 1e-17 */
                               0.18182895750119193, 0.15331501611145329, 0.14619166134887973};
    vd m = vd_apart(x, e);
    md big = vd_gt(m, vd_set(1.4142135623730951)); /* narrower: [0.707, 1.414] */
    m = vd_sel(big, m * 0.5, m);
    *e = vd_sel(big, *e + 1.0, *e);
    *f = m - 1.0;
    vd s = *f / (*f + 2.0), z = s * s, half = *f * *f * 0.5;
    return vd_fma(s, vd_fma(z, VPOLY(z, c), half), -half);
}

VFN vf vf_log(vf x)
{
    vf e, f, y = vf_log_core(x, &e, &f);
    /* both parts of log 2 positive: infinities do not cancel */
    y = vf_fma(e, vf_set(3.19461833e-05f), y);
    return vf_fma(e, vf_set(0x1.62ep-1f), f + y);
}
VFN vd vd_log(vd x)
{
    vd e, f, y = vd_log_core(x, &e, &f);
    y = vd_fma(e, vd_set(0x1.a39ef35793c76p-33), y);
    return vd_fma(e, vd_set(0x1.62e42fee00000p-1), f + y);
}

/* the factors' high part has few bits, so that its product with f is exact */
VFN vf vf_log2(vf x)
{
    vf e, f, y = vf_log_core(x, &e, &f), low = vf_fma(f, vf_set(0.00519504072f), y * 1.44269504f);
    return e + vf_fma(f, vf_set(1.4375f), low);
}
VFN vd vd_log2(vd x)
{
    vd e, f, y = vd_log_core(x, &e, &f),
             low = vd_fma(f, vd_set(0x1.777d0ffda0d24p-56), y * 1.4426950408889634);
    return e + vd_fma(f, vd_set(1.4426950408889634), low);
}
VFN vf vf_log10(vf x)
{
    vf e, f, y = vf_log_core(x, &e, &f),
             low = vf_fma(e, vf_set(0.000248745664f), (f + y) * 0.000700731903f);
    low = vf_fma(y, vf_set(0.43359375f), low);
    return vf_fma(e, vf_set(0.30078125f), vf_fma(f, vf_set(0.43359375f), low));
}
VFN vd vd_log10(vd x)
{
    vd e, f, y = vd_log_core(x, &e, &f),
             low = vd_fma(f, vd_set(0x1.95355baaafad3p-57), y * 0x1.bcb7b1526e50ep-2);
    low = vd_fma(e, vd_set(0x1.f79fef311f12bp-34), low);
    return vd_fma(e, vd_set(0x1.34413508p-2), vd_fma(f, vd_set(0x1.bcb7b1526e50ep-2), low));
}

/* log of the rounded 1 + x, corrected by what the rounding lost */
VFN vf vf_log1p(vf x)
{
    vf u = x + 1.0f, lost = vf_sel(vf_gt(x, vf_set(1)), 1.0f - (u - x), x - (u - 1.0f)) / u;
    vf y = vf_log(u) + vf_sel(vf_lt(vf_abs(lost), vf_set(1)), lost, vf_set(0));
    return vf_sel(vf_lt(vf_abs(x), vf_set(0x1p-24f)), x, y);
}
VFN vd vd_log1p(vd x)
{
    vd u = x + 1.0, lost = vd_sel(vd_gt(x, vd_set(1)), 1.0 - (u - x), x - (u - 1.0)) / u;
    vd y = vd_log(u) + vd_sel(vd_lt(vd_abs(lost), vd_set(1)), lost, vd_set(0));
    return vd_sel(vd_lt(vd_abs(x), vd_set(0x1p-53)), x, y);
}

/* ---- hyperbolic functions and the logistic curve ---- */

/* (e^2|x| - 1) / (e^2|x| + 1): where it is 1 within rounding, the exponential may stay what it is.
 * Not above |x|, or x - tanh(x) had another sign than x. */
VFN vf vf_tanh(vf x)
{
    vf a = vf_abs(x), n, p = vf_exp_core(vf_min(vf_set(20), a + a), &n);
    vf s = (vf)(((vu) __builtin_convertvector(n, vi) + 127) << 23), e = vf_fma(s, p, s - 1.0f);
    return vf_copysign(vf_min(e / (e + 2.0f), a), x);
}
VFN vd vd_tanh(vd x)
{
    vd a = vd_abs(x), n, p = vd_exp_core(vd_min(vd_set(44), a + a), &n), s = vd_scale(vd_set(1), n);
    vd e = vd_fma(s, p, s - 1.0);
    return vd_copysign(vd_min(e / (e + 2.0), a), x);
}

VFN vf vf_sigmoid(vf x) { return 1.0f / (vf_exp(-x) + 1.0f); }
VFN vd vd_sigmoid(vd x) { return 1.0 / (vd_exp(-x) + 1.0); }

/* with h = e^|x| / 2: h + 1/(4h) and h - 1/(4h), the latter from expm1 where it would cancel */
VFN vf vf_half_exp(vf a)
{
    vf n, p = vf_exp_core(vf_min(vf_set(90), a), &n);
    return vf_scale(p + 1.0f, n - 1.0f);
}
VFN vd vd_half_exp(vd a)
{
    vd n, p = vd_exp_core(vd_min(vd_set(711), a), &n);
    return vd_scale(p + 1.0, n - 1.0);
}
VFN vf vf_cosh(vf x)
{
    vf h = vf_half_exp(vf_abs(x));
    return h + 0.25f / h;
}
VFN vd vd_cosh(vd x)
{
    vd h = vd_half_exp(vd_abs(x));
    return h + 0.25 / h;
}
VFN vf vf_sinh(vf x)
{
    vf a = vf_abs(x), e = vf_expm1(a), small = (e + e / (e + 1.0f)) * 0.5f;
    return vf_copysign(vf_sel(vf_lt(a, vf_set(9)), small, vf_half_exp(a)), x);
}
VFN vd vd_sinh(vd x)
{
    vd a = vd_abs(x), e = vd_expm1(a), small = (e + e / (e + 1.0)) * 0.5;
    return vd_copysign(vd_sel(vd_lt(a, vd_set(20)), small, vd_half_exp(a)), x);
}

/* ---- area functions, all from log1p; beyond 2^28 their argument is a plain multiple of x ---- */

VFN vf vf_asinh(vf x)
{
    vf a = vf_abs(x), small = vf_log1p(a + a * a / (1.0f + vf_sqrt(a * a + 1.0f)));
    return vf_copysign(vf_sel(vf_lt(a, vf_set(0x1p28f)), small, vf_log(a) + 0.693147181f), x);
}
VFN vd vd_asinh(vd x)
{
    vd a = vd_abs(x), small = vd_log1p(a + a * a / (1.0 + vd_sqrt(a * a + 1.0)));
    return vd_copysign(vd_sel(vd_lt(a, vd_set(0x1p28)), small, vd_log(a) + 0.69314718055994531), x);
}
VFN vf vf_acosh(vf x)
{
    vf t = x - 1.0f, small = vf_log1p(t + vf_sqrt(t + t + t * t));
    small = vf_sel(vf_lt(x, vf_set(0x1p28f)), small, vf_log(x) + 0.693147181f);
    return vf_sel(vf_lt(x, vf_set(1)), vf_set(NAN), small);
}
VFN vd vd_acosh(vd x)
{
    vd t = x - 1.0, small = vd_log1p(t + vd_sqrt(t + t + t * t));
    small = vd_sel(vd_lt(x, vd_set(0x1p28)), small, vd_log(x) + 0.69314718055994531);
    return vd_sel(vd_lt(x, vd_set(1)), vd_set(NAN), small);
}
VFN vf vf_atanh(vf x)
{
    vf a = vf_abs(x);
    return vf_copysign(vf_log1p((a + a) / (1.0f - a)) * 0.5f, x);
}
VFN vd vd_atanh(vd x)
{
    vd a = vd_abs(x);
    return vd_copysign(vd_log1p((a + a) / (1.0 - a)) * 0.5, x);
}

#define vexp(x) VPICK(exp, x)(x)
#define vexpm1(x) VPICK(expm1, x)(x)
#define vexp2(x) VPICK(exp2, x)(x)
#define vlog(x) VPICK(log, x)(x)
#define vlog2(x) VPICK(log2, x)(x)
#define vlog10(x) VPICK(log10, x)(x)
#define vlog1p(x) VPICK(log1p, x)(x)
#define vtanh(x) VPICK(tanh, x)(x)
#define vsigmoid(x) VPICK(sigmoid, x)(x)
#define vsinh(x) VPICK(sinh, x)(x)
#define vcosh(x) VPICK(cosh, x)(x)
#define vasinh(x) VPICK(asinh, x)(x)
#define vacosh(x) VPICK(acosh, x)(x)
#define vatanh(x) VPICK(atanh, x)(x)

#endif
