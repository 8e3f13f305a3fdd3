/* bessel.c - Bessel functions of low order, and Airy's, in double precision.
 *
 *   I, small x     the power series, whose terms are all positive
 *   I, K, large x  the asymptotic series in 1/x; from SERIES_END on its least term is below rounding
 *   K between      the integral of exp(-x cosh t) cosh(order t), by the trapezoid rule, which converges geometrically
 *                  for analytic functions that vanish at both ends
 *   Ai             through K of order 1/3, the power series around 0 (in long double: its terms cancel), and the
 *                  asymptotic oscillation on the far left
 * The formulas are those of the NIST Digital Library of Mathematical Functions, chapters 9 and 10. */
#include <float.h>
#include "cpu/simd/vrow.h"

#define SERIES_END 30.0
#define EULER 0.57721566490153286061

/* sum over k of a_k (sign / x)^k, where a_k = ((mu - 1)(mu - 9) ... (mu - (2k - 1)^2)) / (k! 8^k), mu = 4 order^2 */
static double hankel_sum(double mu, double x, double sign)
{
    double term = 1, sum = 1;
    for (int k = 1; k < 60; k++) {
        double next = term * sign * (mu - (2.0 * k - 1) * (2.0 * k - 1)) / (k * 8.0 * x);
        if (!(fabs(next) < fabs(term)) || next == 0) break;
        sum += term = next;
        if (fabs(term) < DBL_EPSILON * fabs(sum) / 4) break;
    }
    return sum;
}

/* sum of (x^2 / 4)^k / (k! (k + order)!) */
static double i_series(double x, int order)
{
    double q = x * x / 4, term = 1, sum = 1;
    for (int k = 1; k < 200 && term > sum * DBL_EPSILON / 4; k++) sum += term *= q / ((double)k * (k + order));
    return sum;
}

/* exp(-|x|) I_order(x) */
static double i_scaled(double x, int order)
{
    double size = fabs(x), value;
    if (isnan(x)) return x;
    if (size <= SERIES_END) value = exp(-size) * i_series(size, order) * (order ? size / 2 : 1);
    else if (isinf(size)) value = 0;
    else value = hankel_sum(4.0 * order * order, size, -1) / (sqrt(2 * M_PI) * sqrt(size));
    return order && x < 0 ? -value : value;
}
static double i_plain(double x, int order)
{
    double size = fabs(x), value = size <= SERIES_END ? i_series(size, order) * (order ? size / 2 : 1) : 0;
    if (isnan(x)) return x;
    if (isinf(size)) value = INFINITY;
    else if (size > SERIES_END) { /* in two factors, as exp alone overflows first */
        double half = exp(size / 2);
        value = half * hankel_sum(4.0 * order * order, size, -1) / (sqrt(2 * M_PI) * sqrt(size)) * half;
    }
    return order && x < 0 ? -value : value;
}
static double i0_d(double x) { return i_plain(x, 0); }
static double i0e_d(double x) { return i_scaled(x, 0); }
static double i1_d(double x) { return i_plain(x, 1); }
static double i1e_d(double x) { return i_scaled(x, 1); }

/* integral over t >= 0 of exp(-x (cosh t - 1)) cosh(order t): exp(x) K_order(x) for x above about 0.5 */
static double k_integral(double x, double order)
{
    const double step = 1.0 / 16;
    double sum = 0.5;
    for (int k = 1; k < 200; k++) {
        double t = k * step, s = sinh(t / 2), term = exp(-2 * x * s * s) * cosh(order * t);
        sum += term;
        if (term < sum * DBL_EPSILON / 8) break;
    }
    return sum * step;
}
static double k_right(double x, double order) /* exp(x) K, x > 1 */
{
    return x > SERIES_END ? sqrt(M_PI / (2 * x)) * hankel_sum(4 * order * order, x, 1) : k_integral(x, order);
}
static double k0_series(double x)
{
    double q = x * x / 4, term = 1, harmonic = 0, sum = 0;
    for (int k = 1; k < 40; k++) {
        term *= q / ((double)k * k);
        harmonic += 1.0 / k;
        sum += term * harmonic;
    }
    return sum - (log(x) - M_LN2 + EULER) * i_series(x, 0);
}
static double k1_series(double x)
{
    double q = x * x / 4, term = 1, sum = 1 - 2 * EULER, digammas = 1 - 2 * EULER; /* psi(k + 1) + psi(k + 2) */
    for (int k = 1; k < 40; k++) {
        term *= q / ((double)k * (k + 1));
        digammas += 1.0 / k + 1.0 / (k + 1);
        sum += term * digammas;
    }
    return 1 / x + log(x / 2) * (x / 2) * i_series(x, 1) - x / 4 * sum;
}
static double k_scaled(double x, int order)
{
    if (isnan(x) || x < 0) return NAN;
    if (x == 0) return INFINITY;
    if (isinf(x)) return 0;
    return x > 1 ? k_right(x, order) : exp(x) * (order ? k1_series(x) : k0_series(x));
}
static double k_plain(double x, int order)
{
    if (isnan(x) || x < 0) return NAN;
    if (x == 0) return INFINITY;
    if (isinf(x)) return 0;
    return x > 1 ? exp(-x) * k_right(x, order) : order ? k1_series(x) : k0_series(x);
}
static double scaled_k0_d(double x) { return k_scaled(x, 0); }
static double scaled_k1_d(double x) { return k_scaled(x, 1); }
static double k0_d(double x) { return k_plain(x, 0); }
static double k1_d(double x) { return k_plain(x, 1); }

static double spherical_j0_d(double x)
{
    if (isinf(x)) return 0;
    return fabs(x) < 1e-4 ? 1 - x * x / 6 : sin(x) / x;
}

/* ---- Ai ---- */
static double airy_series(double x)
{
    long double cube = (long double)x * x * x, f = 1, g = x, a = 1, b = x;
    for (int k = 1; k < 100; k++) {
        a *= cube / ((3.0L * k - 1) * (3.0L * k));
        b *= cube / ((3.0L * k) * (3.0L * k + 1));
        f += a;
        g += b;
        if (fabsl(a) + fabsl(b) < 1e-22L) break;
    }
    return (double)(0.355028053887817239260063L * f - 0.258819403792806798405183L * g);
}
static double airy_left(double x) /* x < -8 */
{
    double z = -x, zeta = 2.0 / 3 * z * sqrt(z), term = 1, even = 1, odd = 0;
    for (int k = 1; k < 30; k++) { /* u_k / zeta^k, two of a sign in turn */
        double next = term * (6.0 * k - 5) * (6.0 * k - 3) * (6.0 * k - 1) / (216.0 * k * (2.0 * k - 1)) / zeta;
        if (!(next < term)) break;
        term = next;
        double signed_term = k / 2 % 2 ? -term : term;
        if (k % 2) odd += signed_term;
        else even += signed_term;
        if (term < DBL_EPSILON / 8) break;
    }
    double phase = zeta + M_PI / 4;
    return (sin(phase) * even - cos(phase) * odd) / (sqrt(M_PI) * sqrt(sqrt(z)));
}
static double airy_d(double x)
{
    if (isnan(x)) return x;
    if (isinf(x)) return x > 0 ? 0 : NAN;
    if (x < -8) return airy_left(x);
    if (x <= 1.5) return airy_series(x);
    double zeta = 2.0 / 3 * x * sqrt(x);
    return sqrt(x / 3) / M_PI * exp(-zeta) * k_right(zeta, 1.0 / 3);
}

#define ROWS(name, function)                                            \
    TD_C_ROW(name##_f32_row, 1, float, float, , (float)function(x))     \
    TD_C_ROW(name##_f64_row, 1, double, double, , function(x))          \
    FLOAT_LOOPS(name, 1)
ROWS(i0, i0_d)
ROWS(i0e, i0e_d)
ROWS(i1, i1_d)
ROWS(i1e, i1e_d)
ROWS(scaled_modified_bessel_k0, scaled_k0_d)
ROWS(scaled_modified_bessel_k1, scaled_k1_d)
ROWS(modified_bessel_k0, k0_d)
ROWS(modified_bessel_k1, k1_d)
ROWS(bessel_j0, j0)
ROWS(bessel_j1, j1)
ROWS(bessel_y0, y0)
ROWS(bessel_y1, y1)
ROWS(spherical_bessel_j0, spherical_j0_d)
ROWS(airy_ai, airy_d)

#define ENTRIES(name) FLOAT_ENTRIES(#name, name)
const td_loop_entry TD_TABLE(bessel)[] = {
    ENTRIES(i0) ENTRIES(i0e) ENTRIES(i1) ENTRIES(i1e)
    ENTRIES(scaled_modified_bessel_k0) ENTRIES(scaled_modified_bessel_k1) ENTRIES(modified_bessel_k0) ENTRIES(modified_bessel_k1)
    ENTRIES(bessel_j0) ENTRIES(bessel_j1) ENTRIES(bessel_y0) ENTRIES(bessel_y1) ENTRIES(spherical_bessel_j0) ENTRIES(airy_ai)
    {NULL, 0, NULL},
};
