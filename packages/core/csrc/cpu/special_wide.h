/* special_wide.h - a number as the sum of two doubles, which hold 106 bits: for sums whose terms
 * cancel. Sums and products of two roundings: Dekker, A floating-point technique for extending the
 * available precision, 1971. */
#ifndef TD_SPECIAL_WIDE_H
#define TD_SPECIAL_WIDE_H
#include "cpu/simd/vec.h"
#include "cpu/simd/vmath_erf.h"

typedef struct wide {
    vd high, low;
} wide;

VFN wide wide_of(vd high, vd low)
{
    wide made = {high, low};
    return made;
}
/* of a high part and one that is smaller */
VFN wide wide_joined(vd high, vd low)
{
    vd sum = high + low;
    return wide_of(sum, low - (sum - high));
}
VFN wide wide_sum(vd a, vd b)
{
    vd sum = a + b, part = sum - a;
    return wide_of(sum, (a - (sum - part)) + (b - part));
}
VFN wide wide_add(wide a, wide b)
{
    wide sum = wide_sum(a.high, b.high);
    return wide_joined(sum.high, sum.low + (a.low + b.low));
}
VFN wide wide_minus(wide a) { return wide_of(-a.high, -a.low); }
/* products leave the low part as it comes: a sum behind them joins the parts anew */
VFN wide wide_times(wide a, vd b)
{
    vd p = a.high * b;
    return wide_of(p, vd_product_loss(a.high, b, p) + a.low * b);
}
VFN wide wide_product(wide a, wide b)
{
    vd p = a.high * b.high;
    return wide_of(p, vd_product_loss(a.high, b.high, p) + (a.high * b.low + a.low * b.high));
}
VFN wide wide_twice(wide a) { return wide_of(a.high + a.high, a.low + a.low); }
/* a / b of two doubles */
VFN wide wide_ratio(vd a, vd b)
{
    vd inverse = 1.0 / b, q = a * inverse, p = q * b;
    return wide_joined(q, ((a - p) - vd_product_loss(q, b, p)) * inverse);
}
VFN wide wide_sel(md m, wide a, wide b)
{
    return wide_of(vd_sel(m, a.high, b.high), vd_sel(m, a.low, b.low));
}

#endif
