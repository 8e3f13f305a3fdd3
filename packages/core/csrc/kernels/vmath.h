/* vmath.h - exponentials, logarithms and what is made of them, on vectors of float (within 3 units in the last place,
 * tanh 5, erfc and tan 4) and of double (within 2.5, tan 4). Infinities, NaN and denormals come out as in C.
 *
 * The same formulas serve every instruction set, and quotients are real divisions, so results do not depend on it
 * (but for processors without fused products). Polynomials are near-minimax fits; their error, relative to the
 * function, stands beside them. */
#ifndef TD_VMATH_H
#define TD_VMATH_H
#include "vec.h"

/* c[0] + c[1] x + ...: even and odd powers apart, as two short chains of products finish sooner than a long one */
#define VPOLY(x, c)                                                                                     \
    __extension__({                                                                                     \
        enum { last_ = (int)(sizeof(c) / sizeof *(c)) - 1 };                                            \
        __typeof__(x) square_ = (x) * (x), one_ = vset(x, (c)[last_]), two_ = vset(x, (c)[last_ - 1]);  \
        for (int k_ = last_ - 2; k_ >= 0; k_ -= 2) {                                                    \
            one_ = vfma(one_, square_, vset(x, (c)[k_]));                                               \
            if (k_ > 0) two_ = vfma(two_, square_, vset(x, (c)[k_ - 1]));                               \
        }                                                                                               \
        last_ % 2 ? vfma(one_, x, two_) : vfma(two_, x, one_);                                          \
    })

/* ---- scaling by powers of two, and taking numbers apart ---- */

#ifdef __AVX512F__
VFN vf vf_scale(vf x, vf n) { return _mm512_scalef_ps(x, n); }
VFN vd vd_scale(vd x, vd n) { return _mm512_scalef_pd(x, n); }
/* x = m * 2^e with m in [0.75, 1.5); zero, infinity, NaN and negative numbers give a logarithm as in C by themselves */
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
    return x * (vf)((half + 127) << 23) * (vf)((k - half + 127) << 23);
}
VFN vd vd_scale(vd x, vd n)
{
    vl k = (vl)(n + 0x1.8p52) - (vl)vd_set(0x1.8p52), half = k >> 1; /* the integer appears in the low bits */
    return x * (vd)((half + 1023) << 52) * (vd)((k - half + 1023) << 52);
}
VFN vf vf_apart(vf x, vf *e)
{
    mf tiny = vf_lt(x, vf_set(0x1p-126f));
    vf scaled = vf_sel(tiny, x * 0x1p23f, x);
    vi bits = (vi)scaled - 0x3f400000;
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
    vl bits = (vl)scaled - 0x3fe8000000000000;
    vd m = (vd)((bits & 0xfffffffffffff) + 0x3fe8000000000000);
    vd n = (vd)((bits >> 52) + (vl)vd_set(0x1.8p52)) - 0x1.8p52, inf = vd_set(INFINITY);
    *e = vd_sel(tiny, n - 52.0, n);
    *e = vd_sel(vd_eq(x, vd_set(0)), -inf, vd_sel(vd_eq(x, inf), inf, *e));
    return vd_sel(vd_ge(x, vd_set(0)), m, vd_set(NAN));
}
#endif

/* ---- exponentials ---- */

/* e^x = 2^n (1 + result), for x within the range where 2^n is finite. Adding 1.5 * 2^23 leaves the nearest integer in the
 * low bits: sooner done than a rounding instruction. */
VFN vf vf_exp_core(vf x, vf *n)
{
    static const float c[] = {0.49999994f, 0.166665196f, 0.0416683927f, 0.00836878084f, 0.00138144649f}; /* 2e-8 */
    *n = vf_fma(x, vf_set(1.44269504f), vf_set(0x1.8p23f)) - 0x1.8p23f;
    vf r = vf_fma(*n, vf_set(-0.693359375f), x);
    r = vf_fma(*n, vf_set(2.12194440e-4f), r);
    return vf_fma(r * r, VPOLY(r, c), r);
}
VFN vd vd_exp_core(vd x, vd *n)
{
    static const double c[] = {0.5, 0.16666666666666671, 0.041666666666666671, 0.0083333333333260838,
                               0.0013888888888883711, 0.00019841269875002279, 2.4801587325677461e-05,
                               2.7557255170000888e-06, 2.7557273478718582e-07, 2.5105312729622103e-08,
                               2.0914755325893202e-09}; /* 3e-19 */
    *n = vd_fma(x, vd_set(1.4426950408889634), vd_set(0x1.8p52)) - 0x1.8p52;
    vd r = vd_fma(*n, vd_set(-0x1.62e42fee00000p-1), x);
    r = vd_fma(*n, vd_set(-0x1.a39ef35793c76p-33), r);
    return vd_fma(r * r, VPOLY(r, c), r);
}

/* Clamping would come before all else; choosing the results of what is out of range happens beside the rest. */
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
    vf y = vf_min(vf_set(129), vf_max(vf_set(-151), x)), n = vf_round(y), m, p = vf_exp_core((y - n) * 0.69314718f, &m);
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
    static const float c[] = {0.333333313f,  -0.250000209f, 0.200003549f,  -0.166656867f, 0.142695218f,
                              -0.124967098f, 0.113855347f,  -0.105700485f, 0.0805077404f, -0.0317645706f}; /* 3e-8 */
    *f = vf_apart(x, e) - 1.0f;
    vf s = *f * *f;
    return vf_fma(*f * s, VPOLY(*f, c), s * -0.5f);
}
/* by the series of the area tangent: f - (s - h (f^2/2 + ...)), in the arrangement that loses nothing */
VFN vd vd_log_core(vd x, vd *e, vd *f)
{
    static const double c[] = {0.66666666666666696, 0.39999999999898272, 0.28571428626533618, 0.22222211043776857,
                               0.18182895750119193, 0.15331501611145329, 0.14619166134887973}; /* 1e-17 */
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
    y = vf_fma(e, vf_set(3.19461833e-05f), y); /* both parts of log 2 positive: infinities do not cancel */
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
    vd e, f, y = vd_log_core(x, &e, &f), low = vd_fma(f, vd_set(0x1.777d0ffda0d24p-56), y * 1.4426950408889634);
    return e + vd_fma(f, vd_set(1.4426950408889634), low);
}
VFN vf vf_log10(vf x)
{
    vf e, f, y = vf_log_core(x, &e, &f), low = vf_fma(e, vf_set(0.000248745664f), (f + y) * 0.000700731903f);
    low = vf_fma(y, vf_set(0.43359375f), low);
    return vf_fma(e, vf_set(0.30078125f), vf_fma(f, vf_set(0.43359375f), low));
}
VFN vd vd_log10(vd x)
{
    vd e, f, y = vd_log_core(x, &e, &f), low = vd_fma(f, vd_set(0x1.95355baaafad3p-57), y * 0x1.bcb7b1526e50ep-2);
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

/* x P(x^2) / Q(x^2): a third fewer steps than by way of the exponential, for 5 units in the last place instead of 2.4 */
VFN vf vf_tanh(vf x)
{
    static const float p[] = {0.99999998f, 0.133810474f, 0.0034956131f, 2.06094585e-05f, 1.33551117e-08f}; /* 2e-8 */
    static const float q[] = {1, 0.467143631f, 0.0258770795f, 0.000328567418f, 7.77675795e-07f};
    vf one = vf_set(1), limit = vf_set(9), c = vf_max(-limit, vf_min(limit, x)), z = c * c;
    return vf_max(-one, vf_min(one, c * VPOLY(z, p) / VPOLY(z, q)));
}
/* (e^2|x| - 1) / (e^2|x| + 1) */
VFN vd vd_tanh(vd x)
{
    vd a = vd_abs(x), n, p = vd_exp_core(vd_min(vd_set(44), a + a), &n), s = vd_scale(vd_set(1), n);
    vd e = vd_fma(s, p, s - 1.0);
    return vd_copysign(e / (e + 2.0), x);
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
VFN vf vf_cosh(vf x) { vf h = vf_half_exp(vf_abs(x)); return h + 0.25f / h; }
VFN vd vd_cosh(vd x) { vd h = vd_half_exp(vd_abs(x)); return h + 0.25 / h; }
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

/* ---- inverse trigonometric functions ---- */

/* above 1 the complement of the reciprocal's */
VFN vf vf_atan(vf x)
{
    static const float c[] = {-0.333333313f, 0.199997395f,  -0.142785653f, 0.110337362f,  -0.0865676254f,
                              0.0624990091f, -0.0358681716f, 0.013505578f,  -0.0023864184f}; /* 9e-9 */
    vf a = vf_abs(x), one = vf_set(1);
    mf big = vf_gt(a, one);
    vf r = vf_sel(big, one / a, a), z = r * r, y = vf_fma(r * z, VPOLY(z, c), r);
    return vf_copysign(vf_sel(big, 1.57079633f - y, y), x);
}
VFN vd vd_atan(vd x)
{
    static const double c[] = {-0.33333333333333331,  0.19999999999997528,   -0.14285714285383724,   0.11111111093470773,
                               -0.090909085903720849, 0.076922989628199628,  -0.06666564613171988,   0.058815062447258017,
                               -0.052579699483446568, 0.047377360669915186,  -0.042603157184242797,  0.037493918878463067,
                               -0.031275495087745075, 0.023694411689629054,  -0.015532736886639482,  0.0083670538772144185,
                               -0.0034948318665711403, 0.00104919968696048,  -0.00019986747654045922, 1.8051792922230774e-05};
    vd a = vd_abs(x), one = vd_set(1);
    md big = vd_gt(a, one);
    vd r = vd_sel(big, one / a, a), z = r * r, y = vd_fma(r * z, VPOLY(z, c), r); /* 2e-17 */
    return vd_copysign(vd_sel(big, (1.5707963267948966 - y) + 6.123233995736766e-17, y), x);
}

/* asin(r) for 0 <= r <= 0.5, given z = r^2 */
VFN vf vf_asin_core(vf r, vf z)
{
    static const float c[] = {0.166666657f, 0.0750009492f, 0.0445993207f, 0.0311017279f, 0.017143717f, 0.0337007269f};
    return vf_fma(r * z, VPOLY(z, c), r); /* 1e-9 */
}
VFN vd vd_asin_core(vd r, vd z)
{
    static const double c[] = {0.16666666666666669,   0.074999999999984246, 0.04464285714637338,   0.030381944137085216,
                               0.022372173002005596,  0.017352391265909227, 0.013971235301124539,  0.011478952690257387,
                               0.010324318288744113,  0.0054508781877205511, 0.017419357964884856, -0.014881409392818063,
                               0.02877844261259304}; /* 4e-18 */
    return vd_fma(r * z, VPOLY(z, c), r);
}
/* above a half by the half angle: asin(a) = pi/2 - 2 asin(sqrt((1 - a)/2)) */
VFN vf vf_asin(vf x)
{
    vf a = vf_abs(x), h = (1.0f - a) * 0.5f;
    mf big = vf_gt(a, vf_set(0.5f));
    vf z = vf_sel(big, h, a * a), y = vf_asin_core(vf_sel(big, vf_sqrt(h), a), z);
    return vf_copysign(vf_sel(big, vf_fma(y, vf_set(-2), vf_set(1.57079633f)), y), x);
}
VFN vd vd_asin(vd x)
{
    vd a = vd_abs(x), h = (1.0 - a) * 0.5;
    md big = vd_gt(a, vd_set(0.5));
    vd z = vd_sel(big, h, a * a), y = vd_asin_core(vd_sel(big, vd_sqrt(h), a), z);
    vd high = vd_fma(y, vd_set(-2), vd_set(1.5707963267948966)) + 6.123233995736766e-17;
    return vd_copysign(vd_sel(big, high, y), x);
}
VFN vf vf_acos(vf x)
{
    vf a = vf_abs(x), h = (1.0f - a) * 0.5f;
    mf big = vf_gt(a, vf_set(0.5f)), left = vf_lt(x, vf_set(0));
    vf z = vf_sel(big, h, a * a), y = vf_asin_core(vf_sel(big, vf_sqrt(h), a), z), twice = y + y;
    vf middle = 1.57079633f - vf_copysign(y, x);
    return vf_sel(big, vf_sel(left, 3.14159265f - twice, twice), middle);
}
VFN vd vd_acos(vd x)
{
    vd a = vd_abs(x), h = (1.0 - a) * 0.5;
    md big = vd_gt(a, vd_set(0.5)), left = vd_lt(x, vd_set(0));
    vd z = vd_sel(big, h, a * a), y = vd_asin_core(vd_sel(big, vd_sqrt(h), a), z), twice = y + y;
    vd middle = 1.5707963267948966 - (vd_copysign(y, x) - 6.123233995736766e-17);
    return vd_sel(big, vd_sel(left, 3.1415926535897931 - (twice - 1.2246467991473532e-16), twice), middle);
}

/* ---- the error function ---- */

VFN vf vf_erf(vf x)
{
    static const float odd[] = {0.128379166f,   -0.376126349f,   0.11283695f,    -0.0268593691f,
                                0.00520095835f, -0.000814186409f, 8.36654217e-05f}; /* below 0.92: 1e-7 */
    static const float tail[] = {-0.000160398078f, 1.12943411f,   0.633543551f,    0.108011834f,   -0.0248951074f,
                                 0.00405339571f,   -0.00039667415f, 1.43055058e-05f, 5.22325763e-07f}; /* -log erfc */
    vf a = vf_abs(x), s = x * x, low = vf_fma(x, VPOLY(s, odd), x), q = vf_min(vf_set(4), a);
    vf n, p = vf_exp_core(-VPOLY(q, tail), &n);
    vf high = 1.0f - vf_scale(p + 1.0f, n);
    return vf_sel(vf_ge(a, vf_set(0.921875f)), vf_copysign(high, x), low);
}

/* erfc(a) e^(a^2) for a >= 0.5: a polynomial of (a - k)/(a + k), over 1 + 2a */
VFN vf vf_erfcx(vf a)
{
    static const float c[] = {1.27697837f,    -0.0927636027f, -0.166029721f,  0.164043114f,    -0.0542267449f,
                              -0.00795251969f, 0.00872869045f, 0.00095790613f, -0.00136261515f}; /* 2e-8 */
    vf t = (a - 2.0f) / (a + 2.0f);
    return VPOLY(t, c) / (a + a + 1.0f);
}
VFN vd vd_erfcx(vd a)
{
    static const double c[] = {
        1.2530080582697296,     -0.13562110612458134,   -0.047562294353450468,  0.12964515870278256,
        -0.11927366341533124,   0.068308027343106162,   -0.02377051491786196,   0.0025293918320448477,
        0.0018886903443845538,  -0.00077983243364258771, -0.00010515963609280746, 0.00012510033565038369,
        4.9483822329619311e-06, -2.0104312171114753e-05, -7.2686605380860611e-07, 3.4813408032432953e-06,
        3.4450616209463116e-07, -6.2939345789696199e-07, -1.2140240349691923e-07, 1.1133566989316784e-07,
        2.2812055732459082e-08, -1.5250031859976339e-08}; /* 5e-18 */
    vd t = (a - 3.0) / (a + 3.0);
    return VPOLY(t, c) / (a + a + 1.0);
}

/* a^2 - s, where s is a^2 rounded */
#if defined __AVX2__ || defined FP_FAST_FMAF
VFN vf vf_square_loss(vf a, vf s) { return vf_fma(a, a, -s); }
VFN vd vd_square_loss(vd a, vd s) { return vd_fma(a, a, -s); }
#else /* from the exact products of two halves of a */
VFN vf vf_square_loss(vf a, vf s)
{
    vf high = (vf)((vi)a & ~0xfff), low = a - high;
    return ((high * high - s) + 2.0f * high * low) + low * low;
}
VFN vd vd_square_loss(vd a, vd s)
{
    vd high = (vd)((vl)a & ~0x7ffffff), low = a - high;
    return ((high * high - s) + 2.0 * high * low) + low * low;
}
#endif

/* e^(-a^2), with what rounding a^2 lost put back */
VFN vf vf_gauss(vf a)
{
    vf s = a * a, lost = vf_square_loss(a, s), n, p = vf_exp_core(vf_max(vf_set(-115), -s), &n);
    return vf_scale(vf_fma(-lost, p + 1.0f, p + 1.0f), n);
}
VFN vd vd_gauss(vd a)
{
    vd s = a * a, lost = vd_square_loss(a, s), n, p = vd_exp_core(vd_max(vd_set(-750), -s), &n);
    return vd_scale(vd_fma(-lost, p + 1.0, p + 1.0), n);
}

/* The normal distribution function. Of float: on the left e^(-p(|x|)), so that the tail keeps its digits (4e-8 of x Phi(x)). */
VFN vf vf_normal(vf x)
{
    static const float c[] = {0.693147167f,    0.797885446f,    0.318300525f,   0.0363720212f,   -0.00484972552f, 2.89931375e-05f,
                              0.000179652959f, -4.88563325e-05f, 6.89592216e-06f, -5.30468388e-07f, 1.75164092e-08f};
    vf a = vf_abs(x), n, p = vf_exp_core(-VPOLY(a, c), &n), left = vf_scale(p + 1.0f, n);
    left = vf_sel(vf_gt(a, vf_set(5.6f)), vf_set(0), left);
    return vf_sel(vf_gt(x, vf_set(0)), 1.0f - left, left);
}

VFN vd vd_erf_small(vd x) /* |x| <= 1 */
{
    static const double c[] = {0.12837916709551259,    -0.37612638903183748,   0.11283791670954879,
                               -0.026866170645076792,  0.0052239776248180145,  -0.000854832698083379,
                               0.0001205533111164271,  -1.4925595266831182e-05, 1.6461000484121368e-06,
                               -1.6350312701054695e-07, 1.4659775274047436e-08, -1.1372848856791674e-09,
                               5.9571761477489113e-11}; /* 2e-19 */
    vd s = x * x;
    return vd_fma(x, VPOLY(s, c), x);
}
VFN vd vd_erf(vd x)
{
    vd a = vd_abs(x), q = vd_min(vd_set(6), a), high = 1.0 - vd_erfcx(q) * vd_gauss(q);
    return vd_sel(vd_ge(a, vd_set(1)), vd_copysign(high, x), vd_erf_small(x));
}
VFN vd vd_normal(vd x) { return (vd_erf(x * 0.70710678118654752) + 1.0) * 0.5; }
/* below a half 1 - erf, above the tail; on the left 2 minus the right */
VFN vf vf_erfc(vf x)
{
    vf a = vf_min(vf_set(11), vf_abs(x)), tail = vf_erfcx(a) * vf_gauss(a);
    tail = vf_sel(vf_lt(x, vf_set(0)), 2.0f - tail, tail);
    return vf_sel(vf_lt(a, vf_set(0.5f)), 1.0f - vf_erf(x), tail);
}
VFN vd vd_erfc(vd x)
{
    vd a = vd_min(vd_set(28), vd_abs(x)), tail = vd_erfcx(a) * vd_gauss(a);
    tail = vd_sel(vd_lt(x, vd_set(0)), 2.0 - tail, tail);
    return vd_sel(vd_lt(a, vd_set(0.5)), 1.0 - vd_erf_small(x), tail);
}

/* ---- sine and cosine ---- */

/* x minus the nearest multiple of pi/2, whose number goes to *n; |x| <= 8192. The first parts have few bits: products with n are exact. */
VFN vf vf_reduce(vf x, vi *n)
{
    vf k = vf_round(x * 0.636619772f);
    *n = __builtin_convertvector(k, vi);
    vf r = vf_fma(k, vf_set(-0x1.92p0f), x);
    r = vf_fma(k, vf_set(-0x1.fb4p-12f), r);
    r = vf_fma(k, vf_set(-0x1.444p-24f), r);
    return vf_fma(k, vf_set(-0x1.68c234p-39f), r);
}
VFN vf vf_sin_core(vf r)
{
    static const float c[] = {-0.166666672f, 0.00833333191f, -0.000198400827f, 2.72493139e-06f}; /* 2e-11 */
    vf s = r * r;
    return vf_fma(r * s, VPOLY(s, c), r);
}
VFN vf vf_cos_core(vf r)
{
    static const float c[] = {0.0416666642f, -0.00138883002f, 2.45474366e-05f}; /* 8e-10 */
    vf s = r * r;
    return vf_fma(s * s, VPOLY(s, c), vf_fma(s, vf_set(-0.5f), vf_set(1)));
}
/* sine of x + quarter * pi/2 */
VFN vf vf_sine(vf x, int quarter, float (*exact)(float))
{
    vi n;
    vf r = vf_reduce(x, &n);
    n = n + quarter;
    vi odd = -(n & 1);
    vf y = (vf)((odd & (vi)vf_cos_core(r)) | (~odd & (vi)vf_sin_core(r)));
    y = (vf)((vi)y ^ ((n & 2) << 30));
    mf far = vf_gt(vf_abs(x), vf_set(8192));
    if (__builtin_expect(vf_any(far), 0))
        for (int i = 0; i < VF_WIDTH; i++)
            if (fabsf(x[i]) > 8192) y[i] = exact(x[i]);
    return y;
}
/* the same reduction, then the quotient or its negative reciprocal */
VFN vf vf_tan(vf x)
{
    vi n;
    vf r = vf_reduce(x, &n), sine = vf_sin_core(r), cosine = vf_cos_core(r);
    vi odd = -(n & 1);
    vf above = (vf)((odd & (vi)-cosine) | (~odd & (vi)sine)), below = (vf)((odd & (vi)sine) | (~odd & (vi)cosine));
    vf y = above / below;
    mf far = vf_gt(vf_abs(x), vf_set(8192));
    if (__builtin_expect(vf_any(far), 0))
        for (int i = 0; i < VF_WIDTH; i++)
            if (fabsf(x[i]) > 8192) y[i] = tanf(x[i]);
    return vf_sel(vf_eq(x, vf_set(0)), x, y);
}
VFN vf vf_sin(vf x) { return vf_sel(vf_eq(x, vf_set(0)), x, vf_sine(x, 0, sinf)); }
VFN vf vf_cos(vf x) { return vf_sine(x, 1, cosf); }

/* the same for |x| up to 2^20 */
VFN vd vd_reduce(vd x, vl *n)
{
    vd k = vd_round(x * 0.63661977236758134);
    *n = (vl)(k + 0x1.8p52) - (vl)vd_set(0x1.8p52);
    vd r = vd_fma(k, vd_set(-0x1.921fb544p+0), x);
    r = vd_fma(k, vd_set(-0x1.0b4611a6p-34), r);
    r = vd_fma(k, vd_set(-0x1.3198a2e0p-69), r);
    return vd_fma(k, vd_set(-0x1.b839a252p-104), r);
}
VFN vd vd_sin_core(vd r)
{
    static const double c[] = {-0.16666666666666666,   0.0083333333333309254,   -0.00019841269836722418,
                               2.7557316083816358e-06, -2.5051127944014188e-08, 1.5917848524808262e-10}; /* 1e-17 */
    vd s = r * r;
    return vd_fma(r * s, VPOLY(s, c), r);
}
VFN vd vd_cos_core(vd r)
{
    static const double c[] = {0.041666666666666664,    -0.0013888888888887382, 2.480158729874307e-05,
                               -2.7557317260008837e-07, 2.0876143827993133e-09, -1.1382456778061306e-11}; /* 5e-19 */
    vd s = r * r;
    return vd_fma(s * s, VPOLY(s, c), vd_fma(s, vd_set(-0.5), vd_set(1)));
}
VFN vd vd_sine(vd x, int quarter, double (*exact)(double))
{
    vl n;
    vd r = vd_reduce(x, &n);
    n = n + quarter;
    vl odd = -(n & 1);
    vd y = (vd)((odd & (vl)vd_cos_core(r)) | (~odd & (vl)vd_sin_core(r)));
    y = (vd)((vl)y ^ ((n & 2) << 62));
    md far = vd_gt(vd_abs(x), vd_set(0x1p20));
    if (__builtin_expect(vd_any(far), 0))
        for (int i = 0; i < VD_WIDTH; i++)
            if (fabs(x[i]) > 0x1p20) y[i] = exact(x[i]);
    return y;
}
VFN vd vd_tan(vd x)
{
    vl n;
    vd r = vd_reduce(x, &n), sine = vd_sin_core(r), cosine = vd_cos_core(r);
    vl odd = -(n & 1);
    vd above = (vd)((odd & (vl)-cosine) | (~odd & (vl)sine)), below = (vd)((odd & (vl)sine) | (~odd & (vl)cosine));
    vd y = above / below;
    md far = vd_gt(vd_abs(x), vd_set(0x1p20));
    if (__builtin_expect(vd_any(far), 0))
        for (int i = 0; i < VD_WIDTH; i++)
            if (fabs(x[i]) > 0x1p20) y[i] = tan(x[i]);
    return vd_sel(vd_eq(x, vd_set(0)), x, y);
}
VFN vd vd_sin(vd x) { return vd_sel(vd_eq(x, vd_set(0)), x, vd_sine(x, 0, sin)); }
VFN vd vd_cos(vd x) { return vd_sine(x, 1, cos); }

/* ---- powers: float32 computes in double, so that the product y * log2(x) keeps its fraction ---- */

VFN vd vd_pow_magnitude(vd x, vd y)
{
    static const double lg[] = {0.66666666553585086, 0.40000122584957254, 0.28550736363107809, 0.23332762955117525}; /* 3e-11 */
    static const double ex[] = {0.50000000135387301,   0.16666666681704215,   0.041666464197405689,
                                0.0083333108446478621, 0.0013933730715792083, 0.00019891080463998843}; /* 2e-10 */
    vd e, m = vd_apart(x, &e);
    md big = vd_gt(m, vd_set(1.4142135623730951));
    m = vd_sel(big, m * 0.5, m);
    e = vd_sel(big, e + 1.0, e);
    vd s = (m - 1.0) / (m + 1.0), z = s * s;
    vd log2x = vd_fma(s * vd_fma(z, VPOLY(z, lg), vd_set(2)), vd_set(1.4426950408889634), e);
    vd t = vd_min(vd_set(1000), vd_max(vd_set(-1000), y * log2x)), n = vd_round(t), r = (t - n) * 0.69314718055994531;
    vd p = vd_fma(r * r, VPOLY(r, ex), r);
    return vd_scale(p + 1.0, n);
}
/* |x|^y, then the rules of C for signs, zeros and ones */
VFN vf vf_pow(vf x, vf y)
{
    vf a = vf_abs(x), one = vf_set(1), zero = vf_set(0);
    vf r = vf_join(vd_pow_magnitude(vf_low(a), vf_low(y)), vd_pow_magnitude(vf_high(a), vf_high(y)));
    vf half = y * 0.5f, whole = vf_round(y), inf = vf_set(INFINITY);
    vf odd = vf_sel(vf_ne(vf_round(half), half), vf_set(-0.0f), zero); /* the sign bit where y is odd */
    odd = vf_sel(vf_eq(whole, y), odd, zero);
    r = vf_sel(vf_lt(x, zero), vf_sel(vf_ne(whole, y), vf_sel(vf_eq(a, inf), r, vf_set(NAN)), r), r);
    r = (vf)((vi)r | ((vi)x & (vi)odd));
    r = vf_sel(vf_eq(x, one), one, vf_sel(vf_eq(y, zero), one, r));
    return vf_sel(vf_eq(x, -one), vf_sel(vf_eq(vf_abs(y), inf), one, r), r);
}
VFN vd vd_pow(vd x, vd y) { for (int i = 0; i < VD_WIDTH; i++) x[i] = pow(x[i], y[i]); return x; }

/* ---- remainders: x - y trunc(x / y), exact. A fused product makes the quotient's rounding harmless up to 2^22; larger
 * quotients, infinities and zeros go to the C library. ---- */

#if defined __AVX2__ || defined FP_FAST_FMAF
VFN vf vf_fmod(vf x, vf y)
{
    vf q = vf_trunc(x / y), r = vf_fma(-q, y, x);
    r = vf_sel(vf_lt(r * x, vf_set(0)), r + vf_copysign(y, x), r); /* the quotient was rounded up to the next integer */
    mf far = (mf)~vf_lt(vf_abs(q), vf_set(0x1p22f));
    if (__builtin_expect(vf_any(far), 0))
        for (int i = 0; i < VF_WIDTH; i++)
            if (!(fabsf(q[i]) < 0x1p22f)) r[i] = fmodf(x[i], y[i]);
    return vf_copysign(r, x);
}
VFN vd vd_fmod(vd x, vd y)
{
    vd q = vd_trunc(x / y), r = vd_fma(-q, y, x);
    r = vd_sel(vd_lt(r * x, vd_set(0)), r + vd_copysign(y, x), r);
    md far = (md)~vd_lt(vd_abs(q), vd_set(0x1p51));
    if (__builtin_expect(vd_any(far), 0))
        for (int i = 0; i < VD_WIDTH; i++)
            if (!(fabs(q[i]) < 0x1p51)) r[i] = fmod(x[i], y[i]);
    return vd_copysign(r, x);
}
#else
VFN vf vf_fmod(vf x, vf y) { for (int i = 0; i < VF_WIDTH; i++) x[i] = fmodf(x[i], y[i]); return x; }
VFN vd vd_fmod(vd x, vd y) { for (int i = 0; i < VD_WIDTH; i++) x[i] = fmod(x[i], y[i]); return x; }
#endif

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
#define verf(x) VPICK(erf, x)(x)
#define vnormal(x) VPICK(normal, x)(x)
#define verfc(x) VPICK(erfc, x)(x)
#define vsin(x) VPICK(sin, x)(x)
#define vcos(x) VPICK(cos, x)(x)
#define vtan(x) VPICK(tan, x)(x)
#define vasin(x) VPICK(asin, x)(x)
#define vacos(x) VPICK(acos, x)(x)
#define vatan(x) VPICK(atan, x)(x)
#define vasinh(x) VPICK(asinh, x)(x)
#define vacosh(x) VPICK(acosh, x)(x)
#define vatanh(x) VPICK(atanh, x)(x)
#define vfmod(x, y) VPICK(fmod, x)(x, y)
#define vpow(x, y) VPICK(pow, x)(x, y)

#endif
