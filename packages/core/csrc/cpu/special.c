/* special.c - the gamma family, the inverse error function, sinc. */
#define TD_LONG_ROWS /* on a device: device/pointwise.h */
#include "cpu/simd/cells.h"
#include "cpu/simd/vmath_erf.h"
#include "cpu/simd/vmath_trig.h"
#include "cpu/simd/vrow.h"
#include "cpu/special_cells.h"
#include "cpu/special_erfc_inverse.h"
#include "cpu/special_zeta.h"

/* reentrant: lgamma writes a global */
static TD_CALLED double lgamma_d(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

/* ---- pi times the distance to the nearest whole number, which is exact: its sine and cosine ----
 */
VFN void vd_sincos_pi(vd x, vd *sine, vd *cosine)
{
    vd r = x - vd_round(x);
    vd a = vd_abs(r);
    md steep = vd_gt(a, vd_set(0.25));
    vd t = vd_sel(steep, 0.5 - a, a) * 3.14159265358979324;
    vd s = vd_sin_core(t);
    vd c = vd_cos_core(t);
    *sine = vd_copysign(vd_sel(steep, c, s), r);
    *cosine = vd_sel(steep, s, c);
}

/* ---- log of |gamma|: from 1/2 to 9/2 by cells (special_cells.h), below from 1 + x, beyond by
 * Stirling's formula. Left of 0 float is reflected; double takes the C library's, which keeps its
 * digits beside the zeros there ---- */
VFN vd lgamma_right(vd x)
{
    vd log = vd_log(x);
    md tiny = vd_lt(x, vd_set(0.5));
    vd u = vd_sel(tiny, x + 1.0, x);
    vd middle = VD_CELLS_ZERO(u, vd_cell((u - 0.5) * 4.0, 15), td_cells_lgamma);
    middle = vd_sel(tiny, middle - log, middle);
    vd v = 1.0 / x;
    vd w = v * v;
    /* log(2 pi) / 2 - 1/2 */
    vd far = vd_fma(VD_SERIES(w, td_cells_stirling), v, vd_set(0.41893853320467274));
    far = vd_fma(x - 0.5, log - 1.0, far);
    return vd_sel(vd_ge(x, vd_set(4.5)), far, middle);
}
VFN vd vd_lgamma(vd x)
{
    vd y = lgamma_right(x);
    if (__builtin_expect(vd_any(vd_lt(x, vd_set(0))), 0))
        for (int k = 0; k < VD_WIDTH; k++)
            if (x[k] < 0) y[k] = lgamma_d(x[k]);
    return y;
}
/* precise enough for float */
VFN vd lgamma_reflected(vd x)
{
    vd a = vd_abs(x);
    vd y = lgamma_right(a);
    md left = vd_lt(x, vd_set(0));
    if (vd_any(left)) {
        vd s;
        vd c;
        vd_sincos_pi(x, &s, &c);
        vd z = vd_log(3.14159265358979324 / (a * vd_abs(s))) - y;
        z = vd_sel(vd_eq(vd_round(x), x), vd_set(INFINITY), z);
        y = vd_sel(left, z, y);
    }
    return y;
}
VFN vf vf_lgamma(vf x)
{
    return vf_join(lgamma_reflected(vf_low(x)), lgamma_reflected(vf_high(x)));
}
VROWS(lgamma, 1, , VPICK(lgamma, x)(x))
FLOAT_LOOPS(lgamma, 1)

/* ---- digamma: reflected to the right half; from 1 to 5 by cells, below from 1 + x, beyond by what
 * is left of the asymptotic series ---- */
VFN vd digamma_right(vd x)
{
    md tiny = vd_lt(x, vd_set(1));
    vd u = vd_sel(tiny, x + 1.0, x);
    vd v = 1.0 / x;
    vd w = v * v;
    vd middle = VD_CELLS_ZERO(u, vd_cell((u - 1.0) * 4.0, 15), td_cells_digamma);
    middle = vd_sel(tiny, middle - v, middle);
    vd far = vd_log(x) - vd_fma(VD_SERIES(w, td_cells_digamma_tail), w, v * 0.5);
    return vd_sel(vd_ge(x, vd_set(5)), far, middle);
}
VFN_CALLED vd vd_digamma(vd x)
{
    md left = vd_lt(x, vd_set(0));
    vd y = digamma_right(vd_sel(left, 1.0 - x, x));
    if (vd_any(left)) {
        vd s;
        vd c;
        vd_sincos_pi(x, &s, &c);
        vd z = y - c * 3.14159265358979324 / s;
        z = vd_sel(vd_eq(vd_round(x), x), vd_set(NAN), z); /* poles; -infinity too */
        y = vd_sel(left, z, y);
    }
    return y;
}
VFN vf vf_digamma(vf x) { return vf_join(vd_digamma(vf_low(x)), vd_digamma(vf_high(x))); }
VROWS(digamma, 1, , VPICK(digamma, x)(x))
FLOAT_LOOPS(digamma, 1)

/* ---- its derivative in the same way ---- */
VFN vd trigamma_right(vd x)
{
    md tiny = vd_lt(x, vd_set(1));
    vd u = vd_sel(tiny, x + 1.0, x);
    vd v = 1.0 / x;
    vd w = v * v;
    vd middle = VD_CELLS(u, vd_cell((u - 1.0) * 4.0, 15), td_cells_trigamma);
    middle = vd_sel(tiny, middle + w, middle);
    vd far = v + vd_fma(VD_SERIES(w, td_cells_trigamma_tail), w * v, w * 0.5);
    return vd_sel(vd_ge(x, vd_set(5)), far, middle);
}
VFN_CALLED vd vd_trigamma(vd x)
{
    md left = vd_lt(x, vd_set(0));
    vd y = trigamma_right(vd_sel(left, 1.0 - x, x));
    if (vd_any(left)) {
        vd s;
        vd c;
        vd_sincos_pi(x, &s, &c);
        vd t = 3.14159265358979324 / s;
        vd z = vd_fma(t, t, -y);
        y = vd_sel(left, vd_sel(vd_eq(s, vd_set(0)), vd_set(INFINITY), z), y);
    }
    return y;
}

/* ---- polygamma ---- */
/* The factorial is above every double: in logarithms. For a million and more the sum's own
 * logarithm is lost beside the others. */
static TD_CALLED double polygamma_large(double s, double x)
{
    return exp(lgamma_d(s) - s * log(x) + (s < 1e6 ? log(zeta_right(s, x, x)) : 0));
}
static TD_CALLED double polygamma_d(int64_t n, double x) /* n from 2 on */
{
    if (isnan(x)) return x;
    double sign = n % 2 ? 1 : -1, s = (double)n + 1;
    if (x == INFINITY) return sign * 0.0;
    if (n > 170 && x > 0) return sign * polygamma_large(s, x);
    return sign * tgamma(s) * zeta_whole(s, x);
}
VFN_CALLED vd vd_polygamma(int64_t n, vd x)
{
    if (n == 0) return vd_digamma(x);
    if (n == 1) return vd_trigamma(x);
    for (int k = 0; k < VD_WIDTH; k++) x[k] = polygamma_d(n, x[k]);
    return x;
}
/* of float, up to where a factorial is above every double, the sums are vectors */
VFN vd polygamma_lanes(int64_t n, vd x)
{
    if (n < 2 || n > 100) return vd_polygamma(n, x);
    vd y = vd_zeta_whole((int)n + 1, x) * tgamma((double)n + 1);
    return n % 2 ? y : -y;
}
VFN vf vf_polygamma(int64_t n, vf x)
{
    return vf_join(polygamma_lanes(n, vf_low(x)), polygamma_lanes(n, vf_high(x)));
}
/* polygamma(n, x) or x.polygamma(n) */
static int64_t order_of(const void *context)
{
    const td_arg *args = (const td_arg *)context;
    return args[0].kind == TD_ARG_INT ? args[0].i : args[1].i;
}
VROWS(polygamma, 1, int64_t order = order_of(context), VPICK(polygamma, x)(order, x))
FLOAT_LOOPS(polygamma, 1)

/* ---- inverse of erf: a quotient in y^2 around 0 (8e-21), and in sqrt(-log(1 - |y|)) near the ends
 * (4e-19) ---- */
VFN vd vd_erfinv(vd value)
{
    vd y = vd_abs(value), s = vd_fma(-y, y, vd_set(0.5625)), t = vd_sqrt(-vd_log(1.0 - y));
    vd middle = y * vd_erf_inverse_middle(s);
    vd x = vd_sel(vd_lt(y, vd_set(0.75)), middle, t * vd_erfc_inverse_near(t));
    x = vd_sel(vd_gt(t, vd_set(3.2)), t * vd_erfc_inverse_far(t), x);
    x = vd_sel(vd_eq(y, vd_set(1)), vd_set(INFINITY), vd_sel(vd_le(y, vd_set(1)), x, vd_set(NAN)));
    return vd_copysign(x, value);
}
/* of float: y times cells of sqrt(-log(1 - y^2)), whose product is fused and so loses nothing
 * beside 1 */
VFN vf vf_erfinv(vf value)
{
    vf y = vf_abs(value);
    vf s = vf_sqrt(-vf_log(vf_fma(-y, y, vf_set(1))));
    vf x = VF_CELLS(s, vf_cell(s * (16 / 4.25f), 15), td_cells_erfinv, y);
    x = vf_sel(vf_eq(y, vf_set(1)), vf_set(INFINITY), x);
    return vf_copysign(x, value);
}
VROWS(erfinv, 1, , VPICK(erfinv, x)(x))
FLOAT_LOOPS(erfinv, 1)

/* ---- sin(pi x) / (pi x) ---- */
VROWS(sinc, 1, ,
      LET(vec t = x * vset(x, 3.14159265358979324),
          vsel(veq(x, vzero(x)), vset(x, 1), vsin(t) / t)))
FLOAT_LOOPS(sinc, 1)

/* clang-format off: entries bring their own commas */
const td_loop_entry TD_TABLE(special)[] = {
    FLOAT_ENTRIES("lgamma", lgamma) FLOAT_ENTRIES("digamma", digamma)
        FLOAT_ENTRIES("polygamma", polygamma) FLOAT_ENTRIES("erfinv", erfinv)
            FLOAT_ENTRIES("sinc", sinc){NULL, 0, NULL},
};
/* clang-format on */
