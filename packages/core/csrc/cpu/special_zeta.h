/* special_zeta.h - sums of (unit / (q + k))^s, term by term while q is small against s, then by
 * Euler and Maclaurin. */
#ifndef TD_SPECIAL_ZETA_H
#define TD_SPECIAL_ZETA_H
#include <math.h>
#include "cpu/simd/vec.h"

/* (2k)! over the Bernoulli numbers */
static const double td_zeta_divisors[] = {12.0,
                                          -720.0,
                                          30240.0,
                                          -1209600.0,
                                          47900160.0,
                                          -1.8924375803183791606e9,
                                          7.47242496e10,
                                          -2.950130727918164224e12,
                                          1.1646782814350067249e14,
                                          -4.5979787224074726105e15,
                                          1.8152105401943546773e17,
                                          -7.1661652561756670113e18};

/* unit: 1, or q where 1 / q^s has no place in a double */
static inline TD_CALLED double zeta_right(double s, double q, double unit)
{
    double sum = 0;
    for (; q < 10 + s; q += 1) {
        double first = pow(q / unit, -s);
        sum += first;
        /* or all are below the smallest number: 0 */
        if (first * (1 + q / (s - 1)) <= sum * 1e-17) return sum;
    }
    double power = pow(q / unit, -s), factor = s, term = power / q;
    /* where the power has no place in a double, its product with q may have one */
    double integral = power > 1e-290 ? power * q : pow(q / unit, 1 - s) * unit;
    sum += integral / (s - 1) + 0.5 * power;
    for (int k = 0; k < 12; k++) {
        sum += factor * term / td_zeta_divisors[k];
        term /= q * q;
        factor *= (s + 2 * k + 1) * (s + 2 * k + 2);
    }
    return sum;
}

/* Left of 0, with f the distance to the nearest whole number -n, which is exact: the term f^-s, on
 * its right those of 1 + f, 2 + f, ..., and on its left those of 1 - f, ..., n - f, whose sign may
 * turn. */
static inline TD_CALLED double zeta_whole(double s, double q)
{
    if (q > 0) return isinf(q) ? 0 : zeta_right(s, q, 1);
    double n = -round(q), f = q + n;
    if (f == 0) return INFINITY;
    /* halfway the two sides of an odd power cancel, but for the end of one */
    if (fabs(f) == 0.5 && fmod(s, 2) == 1) return zeta_right(s, n + 1 - f, 1);
    double left = zeta_right(s, 1 - f, 1) - zeta_right(s, n + 1 - f, 1);
    return pow(f, -s) + zeta_right(s, 1 + f, 1) + (fmod(s, 2) == 0 ? left : -left);
}

/* ---- the same on vectors for a whole power, precise enough for float: products for powers ---- */
VFN vd vd_whole_power(vd x, int n)
{
    vd y = vd_set(1);
    for (; n > 0; n >>= 1) {
        if (n & 1) y = y * x;
        x = x * x;
    }
    return y;
}
VFN_CALLED vd vd_zeta_right(int s, vd q)
{
    vd sum = vd_set(0);
    vd end = vd_set(8 + s);
    q = q + 0.0;                      /* -0 is 0 */
    for (int k = 0; k < 9 + s; k++) { /* at most so many are below the end */
        md below = vd_lt(q, end);
        if (!vd_any(below)) break;
        sum = vd_sel(below, sum + vd_whole_power(1.0 / q, s), sum);
        q = vd_sel(below, q + 1.0, q);
    }
    vd v = 1.0 / q;
    vd square = v * v;
    vd integral = vd_whole_power(v, s - 1);
    vd power = integral * v;
    sum = sum + (integral * (1.0 / (s - 1)) + power * 0.5);
    vd term = power * v;
    double factor = s;
    for (int k = 0; k < 8; k++) {
        sum = vd_fma(term, vd_set(factor / td_zeta_divisors[k]), sum);
        term = term * square;
        factor *= (s + 2.0 * k + 1) * (s + 2.0 * k + 2);
    }
    return sum;
}
VFN vd vd_zeta_whole(int s, vd q)
{
    md left = vd_lt(q, vd_set(0));
    if (!vd_any(left)) return vd_zeta_right(s, q); /* infinite at 0, and 0 at infinity */
    vd n = -vd_round(q);
    vd f = q + n;
    vd right = vd_zeta_right(s, vd_sel(left, f + 1.0, q));
    vd end = vd_zeta_right(s, vd_sel(left, n + 1.0 - f, vd_set(1)));
    vd mirrored = vd_zeta_right(s, vd_sel(left, 1.0 - f, vd_set(1))) - end;
    vd whole = vd_whole_power(1.0 / f, s) + right + (s % 2 ? -mirrored : mirrored);
    whole = vd_sel(vd_eq(f, vd_set(0)), vd_set(INFINITY), whole);
    if (s % 2) whole = vd_sel(vd_eq(vd_abs(f), vd_set(0.5)), end, whole); /* see zeta_whole */
    return vd_sel(left, whole, right);
}

#endif
