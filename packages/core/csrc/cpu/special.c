/* special.c - the gamma family, the inverse error function, sinc. */
#include "cpu/simd/vmath_erf.h"
#include "cpu/simd/vmath_trig.h"
#include "cpu/simd/vrow.h"
#include "cpu/simd/complex_numbers.h"
#include "cpu/special_erfc_inverse.h"
#include "cpu/special_zeta.h"

/* ---- log of |gamma|: the C library's reentrant form, as the plain one writes a global ---- */
static float lgamma_f(float x) { int sign; return lgammaf_r(x, &sign); }
static double lgamma_d(double x) { int sign; return lgamma_r(x, &sign); }
TD_C_ROW(lgamma_f32_row, 1, float, float, , lgamma_f(x))
TD_C_ROW(lgamma_f64_row, 1, double, double, , lgamma_d(x))
FLOAT_LOOPS(lgamma, 1)

/* ---- digamma: reflected to the right half; below 3 carried to [1, 2], from there carried up to 10 and summed by
 * the asymptotic series ---- */

/* on [1, 2]: the distance from the zero, which three numbers hold exactly, times a quotient (2e-23) */
static double digamma_middle(double x)
{
    static const double p[] = {0.9510558760318328,    1.2853484877879735,    0.6555603928098713,
                               0.15965494779896075,   0.019184565763622277,  0.0010421824548526783,
                               1.9068662604529358e-05, 2.3097012792638902e-08};
    static const double q[] = {1,                     1.7969248202323633,    1.2367775291063994,
                               0.4203286011147847,    0.07510969110004126,   0.006868399813024253,
                               0.0002829881251473303, 3.6575747757301704e-06};
    double d = x - 1.5, above = 0, below = 0;
    double from_zero = ((x - 0x1.762d86356be3fp+0) - 0x1.b86a722197829p-54) - 0x1.e0d62a6be90c7p-109;
    for (int k = 7; k >= 0; k--) {
        above = above * d + p[k];
        below = below * d + q[k];
    }
    return from_zero * (above / below);
}
static double digamma_right(double x)
{
    if (x < 1) return digamma_middle(x + 1) - 1 / x;
    if (x <= 2) return digamma_middle(x);
    if (x < 3) return digamma_middle(x - 1) + 1 / (x - 1);
    static const double c[] = {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12};
    double shift = 0;
    for (; x < 10; x += 1) shift -= 1 / x;
    double z = 1 / (x * x), tail = 0;
    for (int k = 6; k >= 0; k--) tail = (tail + c[k]) * z;
    return log(x) - 0.5 / x - tail + shift;
}
static double digamma_d(double x)
{
    if (x == 0) return copysign(INFINITY, -x);
    if (x > 0) return x < 1e17 ? digamma_right(x) : log(x);
    if (x == floor(x)) return NAN; /* poles; -infinity too */
    return digamma_right(1 - x) - M_PI / tan(M_PI * (x - round(x))); /* the distance to the pole is exact */
}
TD_C_ROW(digamma_f32_row, 1, float, float, , (float)digamma_d(x))
TD_C_ROW(digamma_f64_row, 1, double, double, , digamma_d(x))
FLOAT_LOOPS(digamma, 1)

/* ---- polygamma ---- */
/* The factorial is above every double: in logarithms. For a million and more the sum's own logarithm is lost beside the others. */
static double polygamma_large(double s, double x)
{
    return exp(lgamma_d(s) - s * log(x) + (s < 1e6 ? log(zeta_right(s, x, x)) : 0));
}
static double polygamma_d(int64_t n, double x)
{
    if (n == 0) return digamma_d(x);
    if (isnan(x)) return x;
    double sign = n % 2 ? 1 : -1, s = (double)n + 1;
    if (x == INFINITY) return sign * 0.0;
    if (n > 170 && x > 0) return sign * polygamma_large(s, x);
    return sign * tgamma(s) * zeta_whole(s, x);
}
/* polygamma(n, x) or x.polygamma(n) */
static int64_t order_of(const void *context)
{
    const td_arg *args = context;
    return args[0].kind == TD_ARG_INT ? args[0].i : args[1].i;
}
#define ORDER int64_t order = order_of(context)
TD_C_ROW(polygamma_f32_row, 1, float, float, ORDER, (float)polygamma_d(order, x))
TD_C_ROW(polygamma_f64_row, 1, double, double, ORDER, polygamma_d(order, x))
FLOAT_LOOPS(polygamma, 1)

/* ---- inverse of erf: a quotient in y^2 around 0 (8e-21), and in sqrt(-log(1 - |y|)) near the ends (4e-19) ---- */
VFN vd vd_erfinv(vd value)
{
    vd y = vd_abs(value), s = vd_fma(-y, y, vd_set(0.5625)), t = vd_sqrt(-vd_log(1.0 - y));
    vd middle = y * vd_erf_inverse_middle(s);
    vd x = vd_sel(vd_lt(y, vd_set(0.75)), middle, t * vd_erfc_inverse_near(t));
    x = vd_sel(vd_gt(t, vd_set(3.2)), t * vd_erfc_inverse_far(t), x);
    x = vd_sel(vd_eq(y, vd_set(1)), vd_set(INFINITY), vd_sel(vd_le(y, vd_set(1)), x, vd_set(NAN)));
    return vd_copysign(x, value);
}
VFN vf vf_erfinv(vf x) { return vf_join(vd_erfinv(vf_low(x)), vd_erfinv(vf_high(x))); }
VROWS(erfinv, 1, , VPICK(erfinv, x)(x))
FLOAT_LOOPS(erfinv, 1)

/* ---- sin(pi x) / (pi x) ---- */
VROWS(sinc, 1, , __extension__({
    vec t = x * vset(x, 3.14159265358979324);
    vsel(veq(x, vzero(x)), vset(x, 1), vsin(t) / t);
}))
FLOAT_LOOPS(sinc, 1)
COMPLEX_ROWS(sinc, 1, , x == 0 ? (complex_t)1 : cdivide(CPICK(x, csin)(x * (real_t)M_PI), x * (real_t)M_PI))
COMPLEX_LOOPS(sinc, 1)

const td_loop_entry TD_TABLE(special)[] = {
    FLOAT_ENTRIES("lgamma", lgamma)
    FLOAT_ENTRIES("digamma", digamma)
    FLOAT_ENTRIES("polygamma", polygamma)
    FLOAT_ENTRIES("erfinv", erfinv)
    FLOAT_ENTRIES("sinc", sinc)
    COMPLEX_ENTRIES("sinc", sinc)
    {NULL, 0, NULL},
};
