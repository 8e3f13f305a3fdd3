/* zeta.h - sums of (unit / (q + k))^s, term by term while q is small against s, then by Euler and Maclaurin. */
#ifndef TD_ZETA_H
#define TD_ZETA_H
#include <math.h>

/* unit: 1, or q where 1 / q^s has no place in a double */
static inline double zeta_right(double s, double q, double unit)
{
    /* (2k)! over the Bernoulli numbers */
    static const double c[] = {12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1.8924375803183791606e9,
                               7.47242496e10, -2.950130727918164224e12, 1.1646782814350067249e14,
                               -4.5979787224074726105e15, 1.8152105401943546773e17, -7.1661652561756670113e18};
    double sum = 0;
    for (; q < 10 + s; q += 1) {
        double first = pow(q / unit, -s);
        sum += first;
        if (first * (1 + q / (s - 1)) <= sum * 1e-17) return sum; /* or all are below the smallest number: 0 */
    }
    double power = pow(q / unit, -s), factor = s, term = power / q;
    /* where the power has no place in a double, its product with q may have one */
    double integral = power > 1e-290 ? power * q : pow(q / unit, 1 - s) * unit;
    sum += integral / (s - 1) + 0.5 * power;
    for (int k = 0; k < 12; k++) {
        sum += factor * term / c[k];
        term /= q * q;
        factor *= (s + 2 * k + 1) * (s + 2 * k + 2);
    }
    return sum;
}

/* Left of 0, with f the distance to the nearest whole number -n, which is exact: the term f^-s, on its right those of
 * 1 + f, 2 + f, ..., and on its left those of 1 - f, ..., n - f, whose sign may turn. */
static inline double zeta_whole(double s, double q)
{
    if (q > 0) return isinf(q) ? 0 : zeta_right(s, q, 1);
    double n = -round(q), f = q + n;
    if (f == 0) return INFINITY;
    double left = zeta_right(s, 1 - f, 1) - zeta_right(s, n + 1 - f, 1);
    return pow(f, -s) + zeta_right(s, 1 + f, 1) + (fmod(s, 2) == 0 ? left : -left);
}

#endif
