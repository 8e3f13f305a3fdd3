/* vmath_power.h - powers and remainders of two vectors. */
#ifndef TD_VMATH_POWER_H
#define TD_VMATH_POWER_H
#include "cpu/simd/vmath.h"

/* ---- powers: float32 computes in double, so that the product y * log2(x) keeps its fraction ----
 */

VFN vd vd_pow_magnitude(vd x, vd y)
{
    static const double lg[] = {0.66666666553585086, 0.40000122584957254, 0.28550736363107809,
                                0.23332762955117525}; /* 3e-11 */
    static const double ex[] = {0.50000000135387301, 0.16666666681704215, 0.041666464197405689,
                                /* 2e-10 */
                                0.0083333108446478621, 0.0013933730715792083,
                                0.00019891080463998843};
    vd e, m = vd_apart(x, &e);
    md big = vd_gt(m, vd_set(1.4142135623730951));
    m = vd_sel(big, m * 0.5, m);
    e = vd_sel(big, e + 1.0, e);
    vd s = (m - 1.0) / (m + 1.0), z = s * s;
    vd log2x = vd_fma(s * vd_fma(z, VPOLY(z, lg), vd_set(2)), vd_set(1.4426950408889634), e);
    vd t = vd_min(vd_set(1000), vd_max(vd_set(-1000), y * log2x)), n = vd_round(t),
       r = (t - n) * 0.69314718055994531;
    vd p = vd_fma(r * r, VPOLY(r, ex), r);
    return vd_scale(p + 1.0, n);
}
/* |x|^y, then the rules of C for signs, zeros and ones */
VFN vf vf_pow(vf x, vf y)
{
    vf a = vf_abs(x), one = vf_set(1), zero = vf_set(0);
    vf r =
        vf_join(vd_pow_magnitude(vf_low(a), vf_low(y)), vd_pow_magnitude(vf_high(a), vf_high(y)));
    vf half = y * 0.5f, whole = vf_round(y), inf = vf_set(INFINITY);
    /* the sign bit where y is odd */
    vf odd = vf_sel(vf_ne(vf_round(half), half), vf_set(-0.0f), zero);
    odd = vf_sel(vf_eq(whole, y), odd, zero);
    r = vf_sel(vf_lt(x, zero), vf_sel(vf_ne(whole, y), vf_sel(vf_eq(a, inf), r, vf_set(NAN)), r),
               r);
    r = (vf)((vi)r | ((vi)x & (vi)odd));
    r = vf_sel(vf_eq(x, one), one, vf_sel(vf_eq(y, zero), one, r));
    return vf_sel(vf_eq(x, -one), vf_sel(vf_eq(vf_abs(y), inf), one, r), r);
}

/* ---- of double: the logarithm in two numbers, as the product with y needs 10 bits more than a
 * double has ---- */
#if defined __AVX2__ || defined FP_FAST_FMAF
/* log(x) = result + *low for a positive number x: 2 s + 2/3 s^3 + s^5 times a polynomial, s = (m -
 * 1) / (m + 1) */
VFN vd vd_log_pair(vd x, vd *low)
{
    static const double c[] = {0.40000000000000024, 0.2857142857133851, 0.2222222227110069,
                               0.18181808247814057,
                               /* 3e-15 */
                               0.15385574776827135, 0.13285958087797103, 0.12913609606437132};
    vd e;
    vd m = vd_apart(x, &e);
    md big = vd_gt(m, vd_set(1.4142135623730951));
    m = vd_sel(big, m * 0.5, m);
    e = vd_sel(big, e + 1.0, e);
    vd f = m - 1.0;
    vd t = f + 2.0;
    vd s = f / t;
    vd s_low = (vd_fma(-s, t, f) - s * (f - (t - 2.0))) / t;
    vd z = s * s;
    vd z_low = vd_fma(s, s, -z) + 2.0 * s * s_low;
    vd cube = z * s;
    vd cube_low = vd_fma(z, s, -cube) + (z_low * s + z * s_low);
    vd third = cube * 0.66666666666666663;
    vd third_low = vd_fma(cube, vd_set(0.66666666666666663), -third);
    third_low = third_low + (cube * 0x1.5555555555555p-55 + cube_low * 0.66666666666666663);
    vd twice = s + s;
    vd sum = twice + third;
    vd rest = ((twice - sum) + third) + (s_low + s_low + third_low);
    rest = vd_fma(cube * z, VPOLY(z, c), rest);
    vd shift = e * 0x1.62e42fee00000p-1; /* exact */
    vd high = shift + sum;
    rest = ((shift - high) + sum) + vd_fma(e, vd_set(0x1.a39ef35793c76p-33), rest);
    vd both = high + rest;
    *low = (high - both) + rest;
    return both;
}
VFN vd vd_pow(vd x, vd y)
{
    vd zero = vd_set(0);
    vd one = vd_set(1);
    vd inf = vd_set(INFINITY);
    vd a = vd_abs(x);
    vd low;
    vd high = vd_log_pair(a, &low);
    /* there all is 0, 1 or infinite already */
    vd limited = vd_min(vd_set(0x1p65), vd_max(vd_set(-0x1p65), y));
    vd t = limited * high;
    vd t_low = vd_fma(limited, high, -t) + limited * low;
    t_low = vd_sel(vd_lt(vd_abs(t), vd_set(1100)), t_low, zero);
    vd n;
    vd p = vd_exp_core(vd_min(vd_set(1100), vd_max(vd_set(-1100), t)), &n);
    vd r = vd_scale(vd_fma(t_low, p + 1.0, p) + 1.0, n);
    vd outward = vd_sel(vd_gt(y, zero), inf, zero); /* of infinity; of 0 the other */
    vd inward = vd_sel(vd_gt(y, zero), zero, inf);
    r = vd_sel(vd_eq(a, inf), vd_sel(vd_isnan(y), y, outward), r);
    r = vd_sel(vd_eq(a, zero), vd_sel(vd_isnan(y), y, inward), r);
    vd half = y * 0.5;
    vd whole = vd_round(y);
    /* the sign bit where y is odd */
    vd odd = vd_sel(vd_ne(vd_round(half), half), vd_set(-0.0), zero);
    odd = vd_sel(vd_eq(whole, y), odd, zero);
    r = vd_sel(vd_lt(x, zero), vd_sel(vd_ne(whole, y), vd_sel(vd_eq(a, inf), r, vd_set(NAN)), r),
               r);
    r = (vd)((vl)r | ((vl)x & (vl)odd));
    r = vd_sel(vd_eq(x, one), one, vd_sel(vd_eq(y, zero), one, r));
    return vd_sel(vd_eq(x, -one), vd_sel(vd_eq(vd_abs(y), inf), one, r), r);
}
#else
VFN vd vd_pow(vd x, vd y)
{
    for (int i = 0; i < VD_WIDTH; i++) x[i] = pow(x[i], y[i]);
    return x;
}
#endif

/* ---- remainders: x - y trunc(x / y), exact. A fused product makes the quotient's rounding
 * harmless up to 2^22; larger quotients, infinities and zeros go to the C library. What is smaller
 * than y is left as it is: also beside an infinite y, whose product with the quotient 0 is no
 * number. Signs are compared as signs, for a product of small numbers is 0. ---- */

#if defined __AVX2__ || defined FP_FAST_FMAF
VFN vf vf_fmod(vf x, vf y)
{
    vf q = vf_trunc(x / y), r = vf_fma(-q, y, x);
    vf one = vf_copysign(vf_set(1), x);
    /* the quotient was rounded up */
    r = vf_sel(vf_lt(r * one, vf_set(0)), r + vf_copysign(y, x), r);
    r = vf_sel(vf_lt(vf_abs(x), vf_abs(y)), x, r);
    mf far = (mf)~vf_lt(vf_abs(q), vf_set(0x1p22f));
    if (__builtin_expect(vf_any(far), 0))
        for (int i = 0; i < VF_WIDTH; i++)
            if (!(fabsf(q[i]) < 0x1p22f)) r[i] = fmodf(x[i], y[i]);
    return vf_copysign(r, x);
}
VFN vd vd_fmod(vd x, vd y)
{
    vd q = vd_trunc(x / y), r = vd_fma(-q, y, x);
    vd one = vd_copysign(vd_set(1), x);
    r = vd_sel(vd_lt(r * one, vd_set(0)), r + vd_copysign(y, x), r);
    r = vd_sel(vd_lt(vd_abs(x), vd_abs(y)), x, r);
    md far = (md)~vd_lt(vd_abs(q), vd_set(0x1p51));
    if (__builtin_expect(vd_any(far), 0))
        for (int i = 0; i < VD_WIDTH; i++)
            if (!(fabs(q[i]) < 0x1p51)) r[i] = fmod(x[i], y[i]);
    return vd_copysign(r, x);
}
#else
VFN vf vf_fmod(vf x, vf y)
{
    for (int i = 0; i < VF_WIDTH; i++) x[i] = fmodf(x[i], y[i]);
    return x;
}
VFN vd vd_fmod(vd x, vd y)
{
    for (int i = 0; i < VD_WIDTH; i++) x[i] = fmod(x[i], y[i]);
    return x;
}
#endif

#define vfmod(x, y) VPICK(fmod, x)(x, y)
#define vpow(x, y) VPICK(pow, x)(x, y)

#endif
