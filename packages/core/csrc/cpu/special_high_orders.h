/* special_high_orders.h - polynomials of orders for which their recurrence would take too long.
 *
 * Legendre's everywhere: near 1 and -1, and beyond, by the series around 1 (DLMF 18.5.7), between
 * by Stieltjes' series in 1 / (n sin(theta)), x = cos(theta) (DLMF 18.15). Laguerre's by its series
 * around 0 where that does not cancel more than two doubles hold; Hermite's where the sign of the
 * infinity is known. NaN elsewhere. */
#ifndef TD_SPECIAL_HIGH_ORDERS_H
#define TD_SPECIAL_HIGH_ORDERS_H
#include "cpu/special_chebyshev.h"

/* below it terms grow to e^25, and a sum keeps 21 digits */
#define SERIES_MOST 160.0

/* 1 - n z / 1^2 + n (n - 1) z^2 / (1 2)^2 - ..., of Legendre's with n (n + 1), (n - 1) (n + 2), ...
 */
VFN_CALLED vd order_series(vd n, wide z, bool legendre)
{
    wide term = wide_of(vd_set(1), vd_set(0)), sum = term;
    for (double k = 0; k < 2000; k += 1) {
        wide step = wide_product(wide_sum(n, vd_set(-k)), z);
        if (legendre) step = wide_product(step, wide_sum(n, vd_set(k + 1)));
        step = wide_product(step, wide_ratio(vd_set(-1), vd_set((k + 1) * (k + 1))));
        term = wide_product(term, step);
        term = wide_joined(term.high, term.low);
        sum = wide_add(sum, term);
        if (!vd_any(vd_gt(vd_abs(term.high), vd_abs(sum.high) * 1e-33))) break;
    }
    return sum.high;
}
/* of 0 <= x < 1: the real part of e^(i ((n + 1/2) theta - pi / 4)) times a sum of powers of
 * (1 - i cot(theta)) / 2 */
VFN_CALLED vd legendre_between(vd x, vd n)
{
    wide below = wide_sum(x, vd_set(-1)), above = wide_sum(x, vd_set(1));
    chebyshev z = chebyshev_power(wide_of(x, vd_set(0)), wide_product(below, above), n);
    vd sine = vd_sqrt(-below.high * above.high), cotangent = x / sine;
    vd half_cosine = vd_sqrt(above.high * 0.5), half_sine = vd_sqrt(below.high * -0.5);
    vd c = (half_sine + half_cosine) * 0.70710678118654752;
    vd s = (half_sine - half_cosine) * 0.70710678118654752;
    vd cosine_n = z.t.high, sine_n = z.u.high * sine;
    vd real = cosine_n * c - sine_n * s, imaginary = cosine_n * s + sine_n * c, sum = real;
    for (double m = 1; m < 60; m += 1) {
        vd factor = (m - 0.5) * (m - 0.5) * 0.5 / ((n + (m + 0.5)) * m);
        vd next = (real + imaginary * cotangent) * factor;
        imaginary = (imaginary - real * cotangent) * factor;
        real = next;
        sum = sum + real;
        if (!vd_any(vd_gt(vd_abs(real) + vd_abs(imaginary), vd_set(1e-18)))) break;
    }
    /* 2 Gamma(n + 1) / Gamma(n + 3/2), but for 1e-17 */
    vd w = n + 0.75;
    vd size = 1.0 - 0.015625 / (w * w);
    return sum * size * vd_sqrt(0.63661977236758134 / (w * sine));
}
VFN vd legendre_high(vd x, vd n)
{
    vd y = vd_abs(x), zero = vd_set(0);
    wide z = wide_sum(vd_set(0.5), y * -0.5);
    md near = vd_lt(n * n * z.high, vd_set(SERIES_MOST));
    vd value = order_series(n, wide_sel(near, z, wide_of(zero, zero)), true);
    value = vd_sel(near, value, legendre_between(vd_sel(near, vd_set(0.5), y), n));
    value = vd_sel(vd_gt(y, vd_set(1)), vd_sel(vd_isnan(value), vd_set(INFINITY), value), value);
    return vd_sel(order_is_even(n), value, vd_copysign(vd_set(1), x) * value);
}
VFN vd laguerre_high(vd x, vd n)
{
    vd zero = vd_set(0);
    md near = vd_lt(n * x, vd_set(SERIES_MOST));
    vd value = order_series(n, wide_of(vd_sel(near, x, zero), zero), false);
    md beyond = vd_gt(x, n * 4.0 + 2.0); /* all zeros, where it is infinite */
    value = vd_sel(near, value, vd_sel(beyond, infinite_power(-x, n), vd_set(NAN)));
    return vd_sel(vd_lt(x, zero), vd_sel(vd_isnan(value), vd_set(INFINITY), value), value);
}
/* Beyond its zeros it has the sign of x^n; at 0 that of (-1)^(n / 2), or it is 0. */
VFN vd hermite_high(vd x, vd n, double alpha)
{
    md outside = vd_gt(x * x * (alpha * alpha), n * 4.0 + 2.0);
    vd middle = vd_sel(order_is_even(n * 0.5), vd_set(INFINITY), vd_set(-INFINITY));
    middle = vd_sel(order_is_even(n), middle, x);
    vd y = vd_sel(vd_eq(x, vd_set(0)), middle, vd_set(NAN));
    return vd_sel(outside, infinite_power(x, n), y);
}

#endif
