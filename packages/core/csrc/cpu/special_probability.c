/* special_probability.c - the normal distribution, incomplete gamma functions, Hurwitz's zeta
 * function, entropy. Formulas are those of the NIST Digital Library of Mathematical Functions,
 * chapters 7, 8 and 25. */
#define TD_LONG_ROWS /* on a device: device/pointwise.h */
#include <float.h>
#include "cpu/simd/cells.h"
#include "cpu/simd/vmath_erf.h"
#include "cpu/simd/vrow.h"
#include "cpu/special_cells.h"
#include "cpu/special_erfc_inverse.h"
#include "cpu/special_zeta.h"

static TD_CALLED double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

/* log Gamma(1 + a) for 0 <= a < 1/2: of 1 + a rounded, whose loss its slope puts back */
static TD_CALLED double log_gamma_1p(double a)
{
    if (a < 1e-5)
        return a * (a * (0.82246703342411322 - a * 0.40068563438653143) - 0.57721566490153286);
    double u = 1 + a;
    return log_gamma(u) + (a - (u - 1)) * (a * 1.645 - 0.57721566490153286);
}

/* ---- exp(x^2) erfc(x) ---- */

/* of a >= 0: cells of 1 / (1 + a), which is left as a factor */
VFN vd erfcx_right(vd a)
{
    vd u = 1.0 / (a + 1.0);
    return VD_CELLS(u, vd_cell(u * 16.0, 15), td_cells_erfcx) * u;
}
VFN vd vd_scaled_erfc(vd x)
{
    vd a = vd_abs(x);
    vd y = erfcx_right(a);
    md left = vd_lt(x, vd_set(0));
    if (vd_any(left)) {
        a = vd_min(vd_set(30), a);
        vd s = a * a;
        vd e = vd_exp(s);
        e = vd_sel(vd_lt(e, vd_set(INFINITY)), vd_fma(e, vd_square_loss(a, s), e), e);
        y = vd_sel(left, vd_fma(e, vd_set(2), -y), y);
    }
    return y;
}
VFN vf vf_scaled_erfc(vf x)
{
    return vf_join(vd_scaled_erfc(vf_low(x)), vd_scaled_erfc(vf_high(x)));
}
VROWS(erfcx, 1, , VPICK(scaled_erfc, x)(x))
FLOAT_LOOPS(erfcx, 1)

/* ---- the normal distribution ---- */

/* what lies beyond a >= 0: half of erfcx(a / sqrt 2) e^(-a^2 / 2), with what rounding a^2 lost put
 * back */
VFN vd normal_tail(vd a)
{
    a = vd_min(vd_set(40), a); /* the smallest number stands for 38.6 */
    vd s = a * a;
    vd lost = vd_square_loss(a, s) * 0.5;
    vd n;
    vd p = vd_exp_core(vd_max(vd_set(-750), s * -0.5), &n);
    vd weight = vd_scale(vd_fma(-lost, p + 1.0, p + 1.0), n);
    return erfcx_right(a * 0.70710678118654752) * 0.5 * weight;
}
VFN vd vd_ndtr(vd x)
{
    vd tail = normal_tail(vd_abs(x));
    return vd_sel(vd_gt(x, vd_set(0)), 1.0 - tail, tail);
}
VFN vf vf_ndtr(vf x) { return vf_join(vd_ndtr(vf_low(x)), vd_ndtr(vf_high(x))); }
VROWS(ndtr, 1, , VPICK(ndtr, x)(x))
FLOAT_LOOPS(ndtr, 1)

/* on the left the tail's factors apart, as their product is soon below all numbers */
VFN vd vd_log_ndtr(vd x)
{
    vd a = vd_abs(x);
    vd left = vd_log(erfcx_right(a * 0.70710678118654752) * 0.5) - a * a * 0.5;
    md right = vd_gt(x, vd_set(0));
    if (vd_any(right)) left = vd_sel(right, vd_log1p(-normal_tail(a)), left);
    return left;
}
VFN vf vf_log_ndtr(vf x) { return vf_join(vd_log_ndtr(vf_low(x)), vd_log_ndtr(vf_high(x))); }
VROWS(log_ndtr, 1, , VPICK(log_ndtr, x)(x))
FLOAT_LOOPS(log_ndtr, 1)

/* The inverse of erf of 2 p - 1 around a half, that of erfc of 2 p on the left, mirrored on the
 * right: there 1 - p is exact. */
VFN vd vd_ndtri(vd p)
{
    vd y = (p - 0.5) * 2.0, s = vd_fma(-y, y, vd_set(0.5625));
    vd left = vd_min(p, 1.0 - p), t = vd_sqrt(-vd_log(left + left));
    vd tail = vd_erfc_inverse_near(t);
    tail = vd_sel(vd_gt(t, vd_set(3.2)), vd_erfc_inverse_far(t), tail);
    tail = t * vd_sel(vd_gt(t, vd_set(6.2)), vd_erfc_inverse_extreme(t), tail);
    vd x =
        vd_sel(vd_lt(vd_abs(y), vd_set(0.75)), y * vd_erf_inverse_middle(s), vd_copysign(tail, y));
    x = vd_sel(vd_eq(left, vd_set(0)), vd_copysign(vd_set(INFINITY), y), x * 1.4142135623730951);
    return vd_sel(vd_ge(left, vd_set(0)), x, vd_set(NAN));
}
VFN vf vf_ndtri(vf p) { return vf_join(vd_ndtri(vf_low(p)), vd_ndtri(vf_high(p))); }
VROWS(ndtri, 1, , VPICK(ndtri, x)(x))
FLOAT_LOOPS(ndtri, 1)

/* ---- incomplete gamma functions: the series left of the bulk, the continued fraction right of it
 * ---- */
static TD_CALLED double gamma_weight(double a, double x) /* x^a exp(-x) / Gamma(a + 1) */
{
    if (a < 20) return exp(a * log(x) - x - log_gamma(a + 1));
    /* around the bulk the large terms cancel: Stirling with a series in t */
    double ratio = x / a, t = ratio - 1;
    double excess = fabs(t) < 0.1 ? log1p(t) - t : log(ratio) - t, z = 1 / (a * a);
    double stirling = (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z / 1680))) / a;
    return exp(a * excess - stirling) / sqrt(2 * M_PI * a);
}
/* `least`: the share of the sum below which terms are left out */
static inline TD_CALLED double gamma_series(double a, double x, double least)
{
    double term = 1, sum = 1;
    for (int k = 1; k < 100000 && term > sum * least; k++) sum += term *= x / (a + k);
    return sum * gamma_weight(a, x);
}
static inline TD_CALLED double gamma_fraction(double a, double x, double least) /* Lentz */
{
    double b = x + 1 - a, c = 1e300, d = 1 / b, product = d;
    for (int k = 1; k < 100000; k++) {
        double an = -k * (k - a);
        b += 2;
        d = 1 / (an * d + b);
        c = b + an / c;
        product *= c * d;
        if (fabs(c * d - 1) < 4 * least) break;
    }
    return product * a * gamma_weight(a, x);
}
/* the first term of Temme's uniform expansion, where the sums above would be long; what it leaves
 * out is below 1 / (a sqrt(a)) */
#define MANY 2e7
static TD_CALLED double gamma_upper_uniform(double a, double x)
{
    double t = (x - a) / a,
           excess = fabs(t) < 1e-2 ? t * t * (0.5 - t * (1.0 / 3 - t * (0.25 - t * (0.2 - t / 6))))
                                   : t - log1p(t);
    double eta = copysign(sqrt(2 * excess), t);
    double rest = fabs(t) < 1e-5 ? -1.0 / 3 : 1 / t - 1 / eta;
    return 0.5 * erfc(eta * sqrt(a / 2)) + exp(-a * excess) / sqrt(2 * M_PI * a) * rest;
}
static inline double igamma_any(double a, double x, double least)
{
    if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (isinf(a) && isinf(x))) return NAN;
    if (a == 0 || isinf(x)) return 1;
    if (x == 0 || isinf(a)) return 0;
    if (a > MANY) return 1 - gamma_upper_uniform(a, x);
    return x < a + 1 ? gamma_series(a, x, least) : 1 - gamma_fraction(a, x, least);
}
/* 1 - P where both are of a size and the series is short: 1 - x^a / Gamma(a + 1) by way of its
 * logarithm, and the rest of the series */
static TD_CALLED double gamma_upper_small(double a, double x)
{
    double log_weight = a * log(x) - log_gamma_1p(a), term = 1, sum = 0;
    for (int k = 1; k < 60; k++) {
        term *= -x / k;
        sum += term / (a + k);
        if (fabs(term) < DBL_EPSILON / 8) break;
    }
    return -expm1(log_weight) - exp(log_weight) * a * sum;
}
static inline double igammac_any(double a, double x, double least)
{
    if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (isinf(a) && isinf(x))) return NAN;
    if (a == 0 || isinf(x)) return 0;
    if (x == 0 || isinf(a)) return 1;
    if (a > MANY) return gamma_upper_uniform(a, x);
    if (x >= a + 1) return gamma_fraction(a, x, least);
    return a < 0.5 ? gamma_upper_small(a, x) : 1 - gamma_series(a, x, least);
}
#define EXACT (DBL_EPSILON / 4)
#define FOR_FLOAT 1e-10 /* what 1 - P loses in floats near 1 stays below their last place */

/* ---- how a sample x of the gamma distribution moves with its shape a, its place among all samples
 * kept:
 * -(dP/da) / (dP/dx) for P(a, x) = igamma (Figurnov, Mohamed, Mnih: Implicit Reparameterization
 * Gradients, 2018). Sums and fractions are those above with their derivatives by a carried along;
 * the weight before them cancels. ---- */
typedef struct dual {
    double v, d;
} dual; /* a value and its derivative by a */

static TD_CALLED double digamma_right(double x)
{
    double shift = 0;
    for (; x < 10; x += 1) shift -= 1 / x;
    double z = 1 / (x * x);
    return log(x) - 0.5 / x -
           z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z / 132)))) + shift;
}
static TD_CALLED double gamma_move_left(double a, double x)
{
    dual term = {1, 0}, sum = {1, 0};
    for (int k = 1; k < 100000 && term.v > sum.v * DBL_EPSILON / 4; k++) {
        term.d = (term.d - term.v / (a + k)) * x / (a + k);
        term.v *= x / (a + k);
        sum.v += term.v;
        sum.d += term.d;
    }
    return -x / a * (sum.v * (log(x) - digamma_right(a + 1)) + sum.d);
}
static dual dual_of(double v, double d)
{
    dual made = {v, d};
    return made;
}
static dual dual_inverse(dual x) { return dual_of(1 / x.v, -x.d / (x.v * x.v)); }
static dual dual_times(dual x, dual y) { return dual_of(x.v * y.v, x.d * y.v + x.v * y.d); }
static TD_CALLED double gamma_move_right(double a, double x) /* Lentz */
{
    dual b = {x + 1 - a, -1}, c = {1e300, 0}, d = dual_inverse(b), product = d;
    for (int k = 1; k < 100000; k++) {
        dual an = dual_of(-k * (k - a), k);
        b.v += 2;
        d = dual_times(an, d);
        d = dual_inverse(dual_of(d.v + b.v, d.d + b.d));
        c = dual_times(an, dual_inverse(c));
        c = dual_of(c.v + b.v, c.d + b.d);
        dual factor = dual_times(c, d);
        product = dual_times(product, factor);
        if (fabs(factor.v - 1) < DBL_EPSILON && fabs(factor.d) < DBL_EPSILON) break;
    }
    return x * (product.v * (log(x) - digamma_right(a)) + product.d);
}
static double
gamma_move_large(double a,
                 double x) /* the cube root is nearly normal (Wilson and Hilferty, 1931) */
{
    double y = cbrt(x / a), z = (y - 1 + 1 / (9 * a)) * 3 * sqrt(a);
    return y * y * y + 3 * a * y * y * (1 / (9 * a * a) - z / (6 * a * sqrt(a)));
}
static double _standard_gamma_grad_d(double a, double x)
{
    if (!(a > 0 && x >= 0) || isinf(a) || isinf(x)) return NAN;
    if (x == 0) return 0;
    if (a > 1e5) return gamma_move_large(a, x);
    return x < a + 1 ? gamma_move_left(a, x) : gamma_move_right(a, x);
}

/* ---- sum of (q + k)^-s ---- */
static double zeta_d(double s, double q)
{
    if (isnan(s) || isnan(q) || s < 1) return NAN;
    if (s == 1) return INFINITY;
    if (isinf(s) && q == 1) return 1;
    if (q <= 0 && (q == floor(q) || s != floor(s))) return q == floor(q) ? INFINITY : NAN;
    /* one term is left, as far as numbers go */
    if (s > 1e4) return q < 1 ? INFINITY : isinf(s) ? NAN : q == 1;
    return zeta_whole(s, q);
}

/* -x log x; 0 at 0, -infinity on the left */
VROWS(entr, 1, ,
      LET(vec y = vsel(veq(x, vzero(x)), vzero(x), -x * vlog(x)),
          vsel(vlt(x, vzero(x)), vset(x, -INFINITY), y)))
FLOAT_LOOPS(entr, 1)

#define PAIR_ROWS(name)                                                \
    TD_C_ROW(name##_f32_row, 2, float, float, , (float)name##_d(x, y)) \
    TD_C_ROW(name##_f64_row, 2, double, double, , name##_d(x, y))      \
    FLOAT_LOOPS(name, 2)
#define GAMMA_ROWS(name)                                                            \
    TD_C_ROW(name##_f32_row, 2, float, float, , (float)name##_any(x, y, FOR_FLOAT)) \
    TD_C_ROW(name##_f64_row, 2, double, double, , name##_any(x, y, EXACT))          \
    FLOAT_LOOPS(name, 2)
GAMMA_ROWS(igamma)
GAMMA_ROWS(igammac)
PAIR_ROWS(zeta)
PAIR_ROWS(_standard_gamma_grad)

#define ENTRIES(name) FLOAT_ENTRIES(#name, name)
/* clang-format off: entries bring their own commas */
const td_loop_entry TD_TABLE(probability)[] = {
    ENTRIES(erfcx) ENTRIES(ndtr) ENTRIES(log_ndtr) ENTRIES(ndtri) ENTRIES(entr) ENTRIES(igamma)
        ENTRIES(igammac) ENTRIES(zeta) ENTRIES(_standard_gamma_grad){NULL, 0, NULL},
};
/* clang-format on */
