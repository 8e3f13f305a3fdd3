/* vmath_erf.h - the error function and what is made of it, on vectors (within 3 units in the last
 * place, erfc of float 4). */
#ifndef TD_VMATH_ERF_H
#define TD_VMATH_ERF_H
#include "cpu/simd/vmath.h"

/* ---- the error function ---- */

VFN vf vf_erf(vf x)
{
    static const float odd[] = {0.128379166f, -0.376126349f, 0.11283695f, -0.0268593691f,
                                /* below 0.92: 1e-7 */
                                0.00520095835f, -0.000814186409f, 8.36654217e-05f};
    static const float tail[] = {-0.000160398078f, 1.12943411f, 0.633543551f, 0.108011834f,
                                 -0.0248951074f,
                                 /* -log erfc */
                                 0.00405339571f, -0.00039667415f, 1.43055058e-05f, 5.22325763e-07f};
    vf a = vf_abs(x), s = x * x, low = vf_fma(x, VPOLY(s, odd), x), q = vf_min(vf_set(4), a);
    vf n, p = vf_exp_core(-VPOLY(q, tail), &n);
    vf high = 1.0f - vf_scale(p + 1.0f, n);
    return vf_sel(vf_ge(a, vf_set(0.921875f)), vf_copysign(high, x), low);
}

/* erfc(a) e^(a^2) for a >= 0.5: a polynomial of (a - k)/(a + k), over 1 + 2a */
VFN vf vf_erfcx(vf a)
{
    static const float c[] = {1.27697837f, -0.0927636027f, -0.166029721f, 0.164043114f,
                              -0.0542267449f,
                              /* 2e-8 */
                              -0.00795251969f, 0.00872869045f, 0.00095790613f, -0.00136261515f};
    vf t = (a - 2.0f) / (a + 2.0f);
    return VPOLY(t, c) / (a + a + 1.0f);
}
VFN vd vd_erfcx(vd a)
{
    static const double c[] = {
        1.2530080582697296,      -0.13562110612458134,    -0.047562294353450468,
        0.12964515870278256,     -0.11927366341533124,    0.068308027343106162,
        -0.02377051491786196,    0.0025293918320448477,   0.0018886903443845538,
        -0.00077983243364258771, -0.00010515963609280746, 0.00012510033565038369,
        4.9483822329619311e-06,  -2.0104312171114753e-05, -7.2686605380860611e-07,
        3.4813408032432953e-06,  3.4450616209463116e-07,  -6.2939345789696199e-07,
        -1.2140240349691923e-07, 1.1133566989316784e-07,  2.2812055732459082e-08,
        -1.5250031859976339e-08}; /* 5e-18 */
    vd t = (a - 3.0) / (a + 3.0);
    return VPOLY(t, c) / (a + a + 1.0);
}

/* a^2 - s, where s is a^2 rounded; a b - p, where p is the product rounded */
#if defined __AVX2__ || defined FP_FAST_FMAF
VFN vf vf_square_loss(vf a, vf s) { return vf_fma(a, a, -s); }
VFN vd vd_square_loss(vd a, vd s) { return vd_fma(a, a, -s); }
VFN vd vd_product_loss(vd a, vd b, vd p) { return vd_fma(a, b, -p); }
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
VFN vd vd_product_loss(vd a, vd b, vd p)
{
    vd c = (vd)((vl)a & ~0x7ffffff);
    vd d = (vd)((vl)b & ~0x7ffffff);
    vd e = a - c;
    vd f = b - d;
    return (((c * d - p) + c * f) + e * d) + e * f; /* in this order all but the last are exact */
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

/* The normal distribution function. Of float: on the left e^(-p(|x|)), so that the tail keeps its
 * digits (4e-8 of x Phi(x)). */
VFN vf vf_normal(vf x)
{
    static const float c[] = {0.693147167f,    0.797885446f,     0.318300525f,    0.0363720212f,
                              -0.00484972552f, 2.89931375e-05f,  0.000179652959f, -4.88563325e-05f,
                              6.89592216e-06f, -5.30468388e-07f, 1.75164092e-08f};
    vf a = vf_abs(x), n, p = vf_exp_core(-VPOLY(a, c), &n), left = vf_scale(p + 1.0f, n);
    left = vf_sel(vf_gt(a, vf_set(5.6f)), vf_set(0), left);
    return vf_sel(vf_gt(x, vf_set(0)), 1.0f - left, left);
}

VFN vd vd_erf_small(vd x) /* |x| <= 1 */
{
    static const double c[] = {
        0.12837916709551259,     -0.37612638903183748,    0.11283791670954879,
        -0.026866170645076792,   0.0052239776248180145,   -0.000854832698083379,
        0.0001205533111164271,   -1.4925595266831182e-05, 1.6461000484121368e-06,
        -1.6350312701054695e-07, 1.4659775274047436e-08,  -1.1372848856791674e-09,
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

#define verf(x) VPICK(erf, x)(x)
#define vnormal(x) VPICK(normal, x)(x)
#define verfc(x) VPICK(erfc, x)(x)

#endif
