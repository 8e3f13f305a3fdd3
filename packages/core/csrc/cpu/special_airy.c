/* special_airy.c - Airy's function Ai, in double precision, float rounded from it.
 *
 * With zeta = 2/3 |x|^(3/2): right of 2 e^-zeta times cells of 1/zeta, from -8 to 2 by cells
 * (special_cells.h), left of -8 the cosine and the sine of zeta times polynomials of 1/zeta^2. Zeta
 * is held in two numbers, as its rounding alone would cost a digit or two. NIST Digital Library of
 * Mathematical Functions, chapter 9. */
#define TD_LONG_ROWS /* on a device: device/pointwise.h */
#include <float.h>
#include "cpu/simd/vmath_erf.h"
#include "cpu/simd/vmath_trig.h"
#include "cpu/simd/vrow.h"
#include "cpu/simd/cells.h"
#include "cpu/special_cells.h"

/* 2/3 x^(3/2) and what rounding it lost, for x > 0 */
VFN vd airy_zeta(vd x, vd *lost)
{
    vd s = vd_sqrt(x);
    vd s_low = -vd_square_loss(s, x) / (s + s);
    vd p = x * s;
    vd p_low = vd_fma(x, s_low, vd_product_loss(x, s, p));
    vd zeta = p * 0.66666666666666663;
    *lost = vd_fma(p, vd_set(0x1.5555555555555p-55),
                   vd_product_loss(p, vd_set(0.66666666666666663), zeta));
    *lost = vd_fma(p_low, vd_set(0.66666666666666663), *lost);
    return zeta;
}
VFN vd airy_right(vd x)
{
    vd lost;
    vd zeta = airy_zeta(vd_min(vd_set(200), x), &lost); /* from 104 on the result is 0 */
    vd u = 1.0 / zeta;
    vd f = VD_CELLS(u, vd_cell(u * 30.0, 15), td_cells_airy_right);
    vd e = vd_exp(-zeta);
    return vd_fma(-lost, e, e) * f * 0.28209479177387814 / vd_sqrt(vd_sqrt(x));
}
VFN vd airy_left(vd z) /* z = -x, 8 to 13,000: there zeta is 2^20 */
{
    vd lost;
    vd zeta = airy_zeta(z, &lost);
    vd v = 1.0 / zeta;
    vd w = v * v;
    vd s;
    vd c;
    vd_sincos(zeta, &s, &c);
    vd sine = vd_fma(lost, c, s);
    vd cosine = vd_fma(-lost, s, c);
    vd y = (cosine + sine) * VD_SERIES(w, td_cells_airy_even);
    y = vd_fma((sine - cosine) * v, VD_SERIES(w, td_cells_airy_odd), y);
    return y * 0.39894228040143268 / vd_sqrt(vd_sqrt(z));
}
/* As airy_left, one number at a time, with a sine and a cosine for every size. Two numbers hold
 * zeta to 106 bits: at -1e10 all digits are right, at -1e15 nine,
 * from -1e21 on none but the size. */
static TD_CALLED double airy_far_left(double x)
{
    double z = -x, root = sqrt(z), root_low = fma(-root, root, z) / (2 * root);
    double p = z * root, p_low = fma(z, root, -p) + z * root_low;
    double zeta = p * 0.66666666666666663;
    if (isinf(zeta)) return 0; /* the limit */
    double lost = fma(p, 0x1.5555555555555p-55, fma(p, 0.66666666666666663, -zeta));
    lost = fma(p_low, 0.66666666666666663, lost);
    double s = sin(zeta), c = cos(zeta), s_low = sin(lost), c_low = cos(lost);
    double sine = s * c_low + c * s_low, cosine = c * c_low - s * s_low;
    double even = 1 - 385.0 / 10368 / (zeta * zeta), odd = 5.0 / 72 / zeta;
    double y = (cosine + sine) * even + (sine - cosine) * odd;
    return y * 0.39894228040143268 / sqrt(root);
}
VFN vd vd_airy_ai(vd x)
{
    vl i = vd_cell(vd_max(vd_set(0), (x + 8.0) * 3.2), 31);
    vd y = VD_CELLS_ZERO(x, i, td_cells_airy);
    md right = vd_gt(x, vd_set(2));
    md left = vd_lt(x, vd_set(-8));
    if (vd_any(right)) y = vd_sel(right, airy_right(x), y);
    if (vd_any(left)) {
        y = vd_sel(left, airy_left(-x), y);
        for (int k = 0; k < VD_WIDTH; k++)
            if (x[k] < -13000) y[k] = airy_far_left(x[k]);
    }
    return y;
}
VFN vf vf_airy_ai(vf x) { return vf_join(vd_airy_ai(vf_low(x)), vd_airy_ai(vf_high(x))); }
VROWS(airy_ai, 1, , VPICK(airy_ai, x)(x))
FLOAT_LOOPS(airy_ai, 1)

const td_loop_entry TD_TABLE(airy)[] = {
    FLOAT_ENTRIES("airy_ai", airy_ai){NULL, 0, NULL},
};
