/* vmath_power.h - powers and remainders of two vectors. */
#ifndef TD_VMATH_POWER_H
#define TD_VMATH_POWER_H
#include "cpu/simd/vmath.h"

/* ---- powers: float32 computes in double, so that the product y * log2(x) keeps its fraction ---- */

VFN vd vd_pow_magnitude(vd x, vd y)
{
    static const double lg[] = {0.66666666553585086, 0.40000122584957254, 0.28550736363107809,
                                0.23332762955117525}; /* 3e-11 */
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

/* ---- remainders: x - y trunc(x / y), exact. A fused product makes the quotient's rounding harmless up to
 * 2^22; larger quotients, infinities and zeros go to the C library. What is smaller than y is left as it is:
 * also beside an infinite y, whose product with the quotient 0 is no number. Signs are compared as signs, for
 * a product of small numbers is 0. ---- */

#if defined __AVX2__ || defined FP_FAST_FMAF
VFN vf vf_fmod(vf x, vf y)
{
    vf q = vf_trunc(x / y), r = vf_fma(-q, y, x);
    vf one = vf_copysign(vf_set(1), x);
    r = vf_sel(vf_lt(r * one, vf_set(0)), r + vf_copysign(y, x), r); /* the quotient was rounded up */
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
VFN vf vf_fmod(vf x, vf y) { for (int i = 0; i < VF_WIDTH; i++) x[i] = fmodf(x[i], y[i]); return x; }
VFN vd vd_fmod(vd x, vd y) { for (int i = 0; i < VD_WIDTH; i++) x[i] = fmod(x[i], y[i]); return x; }
#endif

#define vfmod(x, y) VPICK(fmod, x)(x, y)
#define vpow(x, y) VPICK(pow, x)(x, y)

#endif
