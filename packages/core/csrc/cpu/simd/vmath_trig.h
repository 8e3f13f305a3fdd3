/* vmath_trig.h - sine, cosine, tangent and their inverses on vectors (within 3 units in the last
 * place, tan 4). */
#ifndef TD_VMATH_TRIG_H
#define TD_VMATH_TRIG_H
#include "cpu/simd/vmath.h"

/* ---- sine and cosine ---- */

/* x minus the nearest multiple of pi/2, whose number goes to *n; |x| <= 8192. The first parts have
 * few bits, so that their products with n are exact. */
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
    /* 2e-11 */
    static const float c[] = {-0.166666672f, 0.00833333191f, -0.000198400827f, 2.72493139e-06f};
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
    n = (vi)((vu)n + (uint32_t)quarter);
    vi odd = -(n & 1);
    vf y = (vf)((odd & (vi)vf_cos_core(r)) | (~odd & (vi)vf_sin_core(r)));
    y = (vf)((vu)y ^ ((vu)(n & 2) << 30));
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
    vf above = (vf)((odd & (vi)-cosine) | (~odd & (vi)sine)),
       below = (vf)((odd & (vi)sine) | (~odd & (vi)cosine));
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
    *n = (vl)((vw)(k + 0x1.8p52) - (vw)vd_set(0x1.8p52));
    vd r = vd_fma(k, vd_set(-0x1.921fb544p+0), x);
    r = vd_fma(k, vd_set(-0x1.0b4611a6p-34), r);
    r = vd_fma(k, vd_set(-0x1.3198a2e0p-69), r);
    return vd_fma(k, vd_set(-0x1.b839a252p-104), r);
}
VFN vd vd_sin_core(vd r)
{
    static const double c[] = {-0.16666666666666666, 0.0083333333333309254, -0.00019841269836722418,
                               /* 1e-17 */
                               2.7557316083816358e-06, -2.5051127944014188e-08,
                               1.5917848524808262e-10};
    vd s = r * r;
    return vd_fma(r * s, VPOLY(s, c), r);
}
VFN vd vd_cos_core(vd r)
{
    static const double c[] = {0.041666666666666664, -0.0013888888888887382, 2.480158729874307e-05,
                               /* 5e-19 */
                               -2.7557317260008837e-07, 2.0876143827993133e-09,
                               -1.1382456778061306e-11};
    vd s = r * r;
    return vd_fma(s * s, VPOLY(s, c), vd_fma(s, vd_set(-0.5), vd_set(1)));
}
VFN vd vd_sine(vd x, int quarter, double (*exact)(double))
{
    vl n;
    vd r = vd_reduce(x, &n);
    n = (vl)((vw)n + (uint64_t)quarter);
    vl odd = -(n & 1);
    vd y = (vd)((odd & (vl)vd_cos_core(r)) | (~odd & (vl)vd_sin_core(r)));
    y = (vd)((vw)y ^ ((vw)(n & 2) << 62));
    md far = vd_gt(vd_abs(x), vd_set(0x1p20));
    if (__builtin_expect(vd_any(far), 0))
        for (int i = 0; i < VD_WIDTH; i++)
            if (fabs(x[i]) > 0x1p20) y[i] = exact(x[i]);
    return y;
}
/* both at once, for |x| up to 2^20 */
VFN void vd_sincos(vd x, vd *sine, vd *cosine)
{
    vl n;
    vd r = vd_reduce(x, &n);
    vd s = vd_sin_core(r);
    vd c = vd_cos_core(r);
    vl odd = -(n & 1);
    vd one = (vd)((odd & (vl)c) | (~odd & (vl)s));
    vd two = (vd)((odd & (vl)s) | (~odd & (vl)c));
    *sine = (vd)((vw)one ^ ((vw)(n & 2) << 62));
    *cosine = (vd)((vw)two ^ ((vw)((n + 1) & 2) << 62));
}
VFN vd vd_tan(vd x)
{
    vl n;
    vd r = vd_reduce(x, &n), sine = vd_sin_core(r), cosine = vd_cos_core(r);
    vl odd = -(n & 1);
    vd above = (vd)((odd & (vl)-cosine) | (~odd & (vl)sine)),
       below = (vd)((odd & (vl)sine) | (~odd & (vl)cosine));
    vd y = above / below;
    md far = vd_gt(vd_abs(x), vd_set(0x1p20));
    if (__builtin_expect(vd_any(far), 0))
        for (int i = 0; i < VD_WIDTH; i++)
            if (fabs(x[i]) > 0x1p20) y[i] = tan(x[i]);
    return vd_sel(vd_eq(x, vd_set(0)), x, y);
}
VFN vd vd_sin(vd x) { return vd_sel(vd_eq(x, vd_set(0)), x, vd_sine(x, 0, sin)); }
VFN vd vd_cos(vd x) { return vd_sine(x, 1, cos); }

/* ---- inverse trigonometric functions ---- */

/* atan(r) for 0 <= r <= 1 */
VFN vf vf_atan_core(vf r)
{
    static const float c[] = {-0.333333313f, 0.199997395f, -0.142785653f, 0.110337362f,
                              -0.0865676254f,
                              /* 9e-9 */
                              0.0624990091f, -0.0358681716f, 0.013505578f, -0.0023864184f};
    vf z = r * r;
    return vf_fma(r * z, VPOLY(z, c), r);
}
VFN vd vd_atan_core(vd r)
{
    static const double c[] = {
        -0.33333333333333331, 0.19999999999997528, -0.14285714285383724, 0.11111111093470773,
        -0.090909085903720849, 0.076922989628199628, -0.06666564613171988, 0.058815062447258017,
        -0.052579699483446568, 0.047377360669915186, -0.042603157184242797, 0.037493918878463067,
        -0.031275495087745075, 0.023694411689629054, -0.015532736886639482, 0.0083670538772144185,
        /* 2e-17 */
        -0.0034948318665711403, 0.00104919968696048, -0.00019986747654045922,
        1.8051792922230774e-05};
    vd z = r * r;
    return vd_fma(r * z, VPOLY(z, c), r);
}
/* above 1 the complement of the reciprocal's */
VFN vf vf_atan(vf x)
{
    vf a = vf_abs(x), one = vf_set(1);
    mf big = vf_gt(a, one);
    vf y = vf_atan_core(vf_sel(big, one / a, a));
    return vf_copysign(vf_sel(big, 1.57079633f - y, y), x);
}
VFN vd vd_atan(vd x)
{
    vd a = vd_abs(x), one = vd_set(1);
    md big = vd_gt(a, one);
    vd y = vd_atan_core(vd_sel(big, one / a, a));
    return vd_copysign(vd_sel(big, (1.5707963267948966 - y) + 6.123233995736766e-17, y), x);
}

/* the angle of (x, y) from the smaller coordinate over the larger; two zeros or infinities count as
 * 0 or 45 degrees */
VFN vf vf_atan2(vf y, vf x)
{
    vf a = vf_abs(x), b = vf_abs(y), small = vf_min(a, b), large = vf_max(a, b), zero = vf_set(0);
    vf r = vf_sel(vf_eq(small, large), vf_sel(vf_eq(small, zero), zero, vf_set(1)), small / large);
    vf t = vf_atan_core(r);
    t = vf_sel(vf_gt(b, a), 1.57079633f - t, t);
    t = vf_sel(vf_lt(vf_copysign(vf_set(1), x), zero), 3.14159265f - t, t);
    t = vf_copysign(t, y);
    return vf_sel(vf_isnan(x), x, vf_sel(vf_isnan(y), y, t));
}
VFN vd vd_atan2(vd y, vd x)
{
    vd a = vd_abs(x), b = vd_abs(y), small = vd_min(a, b), large = vd_max(a, b), zero = vd_set(0);
    vd r = vd_sel(vd_eq(small, large), vd_sel(vd_eq(small, zero), zero, vd_set(1)), small / large);
    vd t = vd_atan_core(r);
    t = vd_sel(vd_gt(b, a), (1.5707963267948966 - t) + 6.123233995736766e-17, t);
    t = vd_sel(vd_lt(vd_copysign(vd_set(1), x), zero),
               (3.1415926535897931 - t) + 1.2246467991473532e-16, t);
    t = vd_copysign(t, y);
    return vd_sel(vd_isnan(x), x, vd_sel(vd_isnan(y), y, t));
}

/* asin(r) for 0 <= r <= 0.5, given z = r^2 */
VFN vf vf_asin_core(vf r, vf z)
{
    static const float c[] = {0.166666657f,  0.0750009492f, 0.0445993207f,
                              0.0311017279f, 0.017143717f,  0.0337007269f};
    return vf_fma(r * z, VPOLY(z, c), r); /* 1e-9 */
}
VFN vd vd_asin_core(vd r, vd z)
{
    static const double c[] = {0.16666666666666669,   0.074999999999984246, 0.04464285714637338,
                               0.030381944137085216,  0.022372173002005596, 0.017352391265909227,
                               0.013971235301124539,  0.011478952690257387, 0.010324318288744113,
                               0.0054508781877205511, 0.017419357964884856, -0.014881409392818063,
                               0.02877844261259304};
    /* 4e-18 */ /* 4e-18 */
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
    return vd_sel(big, vd_sel(left, 3.1415926535897931 - (twice - 1.2246467991473532e-16), twice),
                  middle);
}

#define vsin(x) VPICK(sin, x)(x)
#define vcos(x) VPICK(cos, x)(x)
#define vtan(x) VPICK(tan, x)(x)
#define vasin(x) VPICK(asin, x)(x)
#define vacos(x) VPICK(acos, x)(x)
#define vatan(x) VPICK(atan, x)(x)
#define vatan2(y, x) VPICK(atan2, x)(y, x)

#endif
