/* special_bessel.c - Bessel functions of low order, in double precision, float rounded from it.
 *
 *   I       by cells (special_cells.h) with its exponential taken out, beyond 8 of 1/x
 *   K       up to 1 its logarithm times I and a polynomial of x^2, beyond by cells of 1/x
 *   J, Y    of float: by cells, beyond 8 (10) the cosine and the sine times polynomials of 1/x^2; of double the C
 *           library's, which keeps its digits beside zeros far out
 * The formulas are those of the NIST Digital Library of Mathematical Functions, chapter 10. */
#define TD_LONG_ROWS /* on a device: device/pointwise.h */
#include "cpu/simd/vmath_trig.h"
#include "cpu/simd/vrow.h"
#include "cpu/simd/cells.h"
#include "cpu/special_cells.h"

/* ---- I ---- */

/* e^-a I(a) for a >= 0; in the far cells the variable is 1/a */
VFN vd i_scaled(vd a, int order)
{
    md near = vd_lt(a, vd_set(8));
    vd v = vd_sel(near, a, 1.0 / a);
    vl i = vd_cell(vd_sel(near, a, vd_fma(v, vd_set(64), vd_set(8))), 15);
    vd y = order ? VD_CELLS(v, i, td_cells_i1) : VD_CELLS(v, i, td_cells_i0);
    return y * vd_sel(near, order ? a : vd_set(1), vd_sqrt(v));
}
/* in two factors where the exponential alone overflows */
VFN vd i_plain(vd a, int order)
{
    vd y = i_scaled(a, order);
    vd x = y * vd_exp(a);
    md large = vd_gt(a, vd_set(709));
    if (__builtin_expect(vd_any(large), 0)) {
        vd half = vd_exp(vd_min(vd_set(360), a * 0.5)); /* 0 times infinity has no place here */
        vd most = y * half * half;
        x = vd_sel(large, vd_sel(vd_gt(a, vd_set(720)), vd_set(INFINITY), most), x);
    }
    return x;
}
VFN vd vd_i0(vd x) { return i_plain(vd_abs(x), 0); }
VFN vd vd_i1(vd x) { return vd_copysign(i_plain(vd_abs(x), 1), x); }
VFN vd vd_i0e(vd x) { return i_scaled(vd_abs(x), 0); }
VFN vd vd_i1e(vd x) { return vd_copysign(i_scaled(vd_abs(x), 1), x); }
/* the scaled ones of float in float; the others take an exponential, and so double */
VFN vf i_scaled_float(vf a, int order)
{
    mf near = vf_lt(a, vf_set(8));
    vf v = vf_sel(near, a, 1.0f / a);
    vi i = vf_cell(vf_sel(near, a, vf_fma(v, vf_set(64), vf_set(8))), 15);
    vf factor = vf_sel(near, order ? a : vf_set(1), vf_sqrt(v));
    return order ? VF_CELLS(v, i, td_cells_i1_float, factor)
                 : VF_CELLS(v, i, td_cells_i0_float, factor);
}
VFN vf vf_i0e(vf x) { return i_scaled_float(vf_abs(x), 0); }
VFN vf vf_i1e(vf x) { return vf_copysign(i_scaled_float(vf_abs(x), 1), x); }

/* ---- K ---- */

/* K(x), or e^x K(x), for x <= 1; NaN left of 0 by its logarithm */
VFN vd k_near(vd x, int order)
{
    vd z = x * x;
    vd log = vd_log(x);
    if (order == 0)
        return vd_fma(-log, VD_SERIES(z, td_cells_i0_square), VD_SERIES(z, td_cells_k0_square));
    vd rest = x * vd_fma(log, VD_SERIES(z, td_cells_i1_square), VD_SERIES(z, td_cells_k1_square));
    return vd_sel(vd_eq(x, vd_set(0)), vd_set(INFINITY), 1.0 / x + rest);
}
VFN vd k_any(vd x, int order, bool scaled)
{
    vd v = 1.0 / x;
    vl i = vd_cell(v * 16.0, 15);
    vd far = order ? VD_CELLS(v, i, td_cells_k1) : VD_CELLS(v, i, td_cells_k0);
    vd near = k_near(x, order);
    vd e = vd_exp(scaled ? x : -x);
    far = far * vd_sqrt(v);
    if (scaled) near = near * e;
    else far = far * e;
    return vd_sel(vd_gt(x, vd_set(1)), far, near);
}
VFN vd vd_scaled_modified_bessel_k0(vd x) { return k_any(x, 0, true); }
VFN vd vd_scaled_modified_bessel_k1(vd x) { return k_any(x, 1, true); }
VFN vd vd_modified_bessel_k0(vd x) { return k_any(x, 0, false); }
VFN vd vd_modified_bessel_k1(vd x) { return k_any(x, 1, false); }

/* ---- J and Y ---- */

/* sqrt(pi x) J (or Y) for x from 8 to 2^20: its angle is x less a multiple of pi/4 */
VFN vd oscillation(vd x, int order, bool second)
{
    vd v = 1.0 / x;
    vd w = v * v;
    vd even = order ? VD_SERIES(w, td_cells_bessel_p1) : VD_SERIES(w, td_cells_bessel_p0);
    vd odd = v * (order ? VD_SERIES(w, td_cells_bessel_q1) : VD_SERIES(w, td_cells_bessel_q0));
    vd s;
    vd c;
    vd_sincos(x, &s, &c);
    vd sum = c + s;
    vd difference = s - c;
    vd y =
        order == 0
            ? (second ? vd_fma(difference, even, sum * odd) : vd_fma(sum, even, -difference * odd))
            : (second ? vd_fma(-sum, even, difference * odd) : vd_fma(difference, even, sum * odd));
    return y / vd_sqrt(x * 3.14159265358979324);
}
VFN vd j_near(vd a, int order)
{
    vl i = vd_cell(a + a, 15);
    return order ? VD_CELLS_ZERO(a, i, td_cells_j1) : VD_CELLS_ZERO(a, i, td_cells_j0);
}
VFN vd j_any(vd x, int order, double (*exact)(double))
{
    vd a = vd_abs(x);
    vd y = vd_sel(vd_lt(a, vd_set(8)), j_near(a, order), oscillation(a, order, false));
    if (order) y = (vd)((vl)y ^ ((vl)x & INT64_MIN));
    md far = vd_gt(a, vd_set(0x1p20));
    if (__builtin_expect(vd_any(far), 0))
        for (int k = 0; k < VD_WIDTH; k++)
            if (fabs(x[k]) > 0x1p20) y[k] = exact(x[k]);
    return vd_sel(vd_isnan(x), x, y);
}
/* up to 2 its logarithm times J, and a polynomial of x^2 */
VFN vd y_any(vd x, int order, double (*exact)(double))
{
    vd z = x * x;
    vd log = vd_log(x) * 0.63661977236758134;
    vd first = log * j_near(x, order);
    vd near = order ? vd_fma(x, VD_SERIES(z, td_cells_y1_square), first - 0.63661977236758134 / x)
                    : VD_SERIES(z, td_cells_y0_square) + first;
    vl i = vd_cell((x - 2.0) * 2.0, 15);
    vd middle = order ? VD_CELLS_ZERO(x, i, td_cells_y1) : VD_CELLS_ZERO(x, i, td_cells_y0);
    vd y = vd_sel(vd_lt(x, vd_set(10)), middle, oscillation(x, order, true));
    y = vd_sel(vd_lt(x, vd_set(2)), near, y);
    md far = vd_gt(x, vd_set(0x1p20));
    if (__builtin_expect(vd_any(far), 0))
        for (int k = 0; k < VD_WIDTH; k++)
            if (x[k] > 0x1p20) y[k] = exact(x[k]);
    return vd_sel(vd_eq(x, vd_set(0)), vd_set(-INFINITY),
                  vd_sel(vd_ge(x, vd_set(0)), y, vd_set(NAN)));
}
VFN vd vd_bessel_j0(vd x) { return j_any(x, 0, j0); }
VFN vd vd_bessel_j1(vd x) { return j_any(x, 1, j1); }
VFN vd vd_bessel_y0(vd x) { return y_any(x, 0, y0); }
VFN vd vd_bessel_y1(vd x) { return y_any(x, 1, y1); }

#define OWN_ROWS(name)                  \
    VROWS(name, 1, , VPICK(name, x)(x)) \
    FLOAT_LOOPS(name, 1)
#define ROWS(name)                                                                          \
    VFN vf vf_##name(vf x) { return vf_join(vd_##name(vf_low(x)), vd_##name(vf_high(x))); } \
    OWN_ROWS(name)
ROWS(i0)
ROWS(i1)
OWN_ROWS(i0e)
OWN_ROWS(i1e)
ROWS(scaled_modified_bessel_k0)
ROWS(scaled_modified_bessel_k1)
ROWS(modified_bessel_k0)
ROWS(modified_bessel_k1)

#define FLOAT_ROWS(name, function)                                                          \
    VFN vf vf_##name(vf x) { return vf_join(vd_##name(vf_low(x)), vd_##name(vf_high(x))); } \
    VROW(name##_f32_row, 1, vf, float, VF_WIDTH, , vf_##name(x))                            \
    TD_C_ROW(name##_f64_row, 1, double, double, , function(x))                              \
    FLOAT_LOOPS(name, 1)
FLOAT_ROWS(bessel_j0, j0)
FLOAT_ROWS(bessel_j1, j1)
FLOAT_ROWS(bessel_y0, y0)
FLOAT_ROWS(bessel_y1, y1)

VROWS(spherical_bessel_j0, 1, ,
      LET(vec a = vabs(x); vec y = vsel(veq(a, vzero(x)), vset(x, 1), vsin(a) / a),
                           vsel(veq(a, vset(x, INFINITY)), vzero(x), y)))
FLOAT_LOOPS(spherical_bessel_j0, 1)

#define ENTRIES(name) FLOAT_ENTRIES(#name, name)
/* clang-format off: entries bring their own commas */
const td_loop_entry TD_TABLE(bessel)[] = {
    ENTRIES(i0) ENTRIES(i0e) ENTRIES(i1) ENTRIES(i1e) ENTRIES(scaled_modified_bessel_k0)
        ENTRIES(scaled_modified_bessel_k1) ENTRIES(modified_bessel_k0) ENTRIES(modified_bessel_k1)
            ENTRIES(bessel_j0) ENTRIES(bessel_j1) ENTRIES(bessel_y0) ENTRIES(bessel_y1)
                ENTRIES(spherical_bessel_j0){NULL, 0, NULL},
};
/* clang-format on */
