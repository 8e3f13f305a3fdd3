/* special_chebyshev.h - Chebyshev's polynomials of any order in wide numbers, and what orders say
 * of signs. */
#ifndef TD_SPECIAL_CHEBYSHEV_H
#define TD_SPECIAL_CHEBYSHEV_H
#include "cpu/special_wide.h"

VFN md order_is_even(vd n)
{
    vd half = n * 0.5;
    return vd_eq(vd_trunc(half), half);
}
/* infinity of the sign of x^n */
VFN vd infinite_power(vd x, vd n)
{
    return vd_sel(order_is_even(n), vd_set(INFINITY), vd_copysign(vd_set(INFINITY), x));
}
/* T(n) and U(n - 1). With r^2 = d = x^2 - 1, T(n) + U(n - 1) r is (x + r)^n: a power by squares. */
typedef struct chebyshev {
    wide t, u;
} chebyshev;

VFN_CALLED chebyshev chebyshev_power(wide x, wide d, vd n)
{
    double unit = 1;
    while (vd_any(vd_ge(n, vd_set(2 * unit)))) unit *= 2;
    md set = vd_ge(n, vd_set(unit));
    n = vd_sel(set, n - unit, n);
    wide one = wide_of(vd_set(1), vd_set(0)), none = wide_of(vd_set(0), vd_set(0));
    chebyshev z = {wide_sel(set, x, one), wide_sel(set, one, none)};
    while (unit > 1) {
        unit *= 0.5;
        wide tu = wide_product(z.t, z.u);
        z.t = wide_add(wide_product(z.t, z.t), wide_product(wide_product(d, z.u), z.u));
        z.u = wide_joined(tu.high + tu.high, tu.low + tu.low);
        set = vd_ge(n, vd_set(unit));
        if (!vd_any(set)) continue;
        n = vd_sel(set, n - unit, n);
        wide t = wide_add(wide_product(x, z.t), wide_product(d, z.u));
        wide u = wide_add(z.t, wide_product(x, z.u));
        z.t = wide_sel(set, t, z.t);
        z.u = wide_sel(set, u, z.u);
    }
    return z;
}
#endif
