/* special_polynomials.c - orthogonal polynomials of an order that is an element, too: those of
 * Chebyshev by doubling of the order (special_chebyshev.h), the others by their recurrences of
 * three terms, and above order 10,000 by series (special_high_orders.h). Formulas are those of the
 * NIST Digital Library of Mathematical Functions, chapter 18. All sums are of wide numbers
 * (special_wide.h): near a zero of the polynomial their terms cancel. */
#define TD_LONG_ROWS /* on a device: device/pointwise.h */
#include "cpu/simd/vrow.h"
#include "cpu/special_high_orders.h"

/* Beyond it a polynomial is its first term, and infinite from order 4 on. */
#define FAR 1e100
/* orders above are no number of 64 bits */
#define HIGHEST 0x1p63
/* the longest recurrence: a tenth of a millisecond for a vector */
#define LONGEST 10000.0

/* the order as far as it counts: whole, 0 for those that are answered without a polynomial */
VFN vd order_within(vd n, double most)
{
    n = vd_max(vd_trunc(n), vd_set(0)); /* 0 for NaN */
    return vd_sel(vd_gt(n, vd_set(most)), vd_set(0), n);
}
/* y, unless the order or a large x says what the value is; first: coefficients of x, x^2, x^3 */
VFN vd with_edges(vd x, vd order, vd y, double one, double two, double three)
{
    vd n = vd_trunc(order);
    md far = vd_gt(vd_abs(x), vd_set(FAR));
    if (vd_any(far)) {
        vd lead = vd_sel(vd_gt(n, vd_set(3)), infinite_power(x, n), x * three * x * x);
        lead = vd_sel(vd_eq(n, vd_set(2)), x * two * x, lead);
        y = vd_sel(far, vd_sel(vd_eq(n, vd_set(1)), x * one, lead), y);
    }
    y = vd_sel(vd_lt(n, vd_set(HIGHEST)), y, vd_set(NAN));
    y = vd_sel(vd_lt(n, vd_set(0)), vd_set(0), y);
    return vd_sel(vd_eq(n, vd_set(0)), vd_set(1), y);
}
/* beyond the largest number sums are infinity less infinity; where the polynomial grows with its
 * order, that is infinity */
VFN vd without_overflow(vd x, vd n, vd y)
{
    md outside = vd_gt(vd_abs(x), vd_set(1)); /* not where x is NaN */
    return vd_sel(outside, vd_sel(vd_isnan(y), infinite_power(x, n), y), y);
}

/* ---- Chebyshev's ---- */

enum { CHEBYSHEV_T, CHEBYSHEV_U, CHEBYSHEV_V, CHEBYSHEV_W, SHIFTED = 4 };

static TD_CALLED vd vd_chebyshev(vd value, vd order, int kind)
{
    vd near = vd_max(vd_set(-FAR), vd_min(vd_set(FAR), value)); /* NaN stays */
    vd zero = vd_set(0), n = order_within(order, HIGHEST);
    wide x = wide_of(near, zero);
    wide below = wide_sum(near, vd_set(-1)), above = wide_sum(near, vd_set(1)); /* x - 1, x + 1 */
    if (kind & SHIFTED) {
        x = wide_sum(near + near, vd_set(-1));
        below = wide_twice(below);
        above = wide_of(near + near, zero);
    }
    chebyshev z = chebyshev_power(x, wide_product(below, above), n);
    int of = kind & ~SHIFTED;
    vd y = z.t.high;
    if (of != CHEBYSHEV_T) {
        wide factor = of == CHEBYSHEV_U ? x : of == CHEBYSHEV_V ? below : above;
        y = wide_add(z.t, wide_product(factor, z.u)).high;
    }
    y = without_overflow(x.high, n, y) + 0.0; /* the sign of 0 hangs on the neighbours' orders */
    double lead = kind & SHIFTED ? 4 : 2, share = of == CHEBYSHEV_T ? 0.5 : 1;
    return with_edges(value, order, y, share * lead, share * lead * lead,
                      share * lead * lead * lead);
}
VFN vf vf_chebyshev(vf x, vf n, int kind)
{
    return vf_join(vd_chebyshev(vf_low(x), vf_low(n), kind),
                   vd_chebyshev(vf_high(x), vf_high(n), kind));
}

/* ---- recurrences of three terms, up to LONGEST ---- */

enum { GEGENBAUER, LAGUERRE, HERMITE };

/* the value times 2^(-200 scale) */
typedef struct recurrence {
    wide value, other; /* what came before it; of Laguerre's the step from there */
    vd scale;
} recurrence;

/* (k + 1) C(k + 1) = 2 (k + alpha) x C(k) - (k + 2 alpha - 1) C(k - 1) */
VFN recurrence gegenbauer_next(recurrence s, vd x, double alpha, double k)
{
    wide t = wide_times(s.value, x), w = wide_add(t, wide_minus(s.other));
    wide rest = wide_product(w, wide_ratio(vd_set(2 * alpha - 2), vd_set(k + 1)));
    recurrence next = {wide_add(wide_add(t, w), rest), s.value, s.scale};
    return next;
}
/* (k + 1) (L(k + 1) - L(k)) = (k + alpha) (L(k) - L(k - 1)) - x L(k) */
VFN recurrence laguerre_next(recurrence s, vd x, double alpha, double k)
{
    wide step = wide_add(wide_times(s.other, vd_set(k + alpha)), wide_times(s.value, -x));
    step = wide_product(step, wide_ratio(vd_set(1), vd_set(k + 1)));
    recurrence next = {wide_add(s.value, step), step, s.scale};
    return next;
}
/* He(k + 1) = x He(k) - k He(k - 1), and both terms doubled for H */
VFN recurrence hermite_next(recurrence s, vd x, double alpha, double k)
{
    wide last = wide_times(s.other, vd_set(-alpha * k));
    recurrence next = {wide_add(wide_times(s.value, x * alpha), last), s.value, s.scale};
    return next;
}
/* Where they swing, the terms before a value may be above every number, and it is not. */
VFN recurrence scaled_down(recurrence s)
{
    md large = vd_gt(vd_max(vd_abs(s.value.high), vd_abs(s.other.high)), vd_set(0x1p900));
    if (!vd_any(large)) return s;
    vd factor = vd_sel(large, vd_set(0x1p-200), vd_set(1));
    s.value = wide_of(s.value.high * factor, s.value.low * factor);
    s.other = wide_of(s.other.high * factor, s.other.low * factor);
    s.scale = s.scale + vd_sel(large, vd_set(1), vd_set(0));
    return s;
}
VFN_CALLED vd recurrence_value(vd x, vd n, int kind, double alpha)
{
    vd zero = vd_set(0), one = vd_set(1);
    recurrence s = {wide_of(one, zero), wide_of(kind == LAGUERRE ? one : zero, zero), zero};
    for (double k = 0; k < LONGEST; k += 1) {
        md live = vd_gt(n, vd_set(k));
        if (!vd_any(live)) break;
        recurrence next = kind == GEGENBAUER ? gegenbauer_next(s, x, alpha, k)
                          : kind == LAGUERRE ? laguerre_next(s, x, alpha, k)
                                             : scaled_down(hermite_next(s, x, alpha, k));
        if (kind == LAGUERRE) next = scaled_down(next);
        s.value = wide_sel(live, next.value, s.value);
        s.other = wide_sel(live, next.other, s.other);
        s.scale = vd_sel(live, next.scale, s.scale);
    }
    vd y = s.value.high;
    for (double k = 0; k < 16 && vd_any(vd_gt(s.scale, vd_set(k))); k += 1)
        y = vd_sel(vd_gt(s.scale, vd_set(k)), y * 0x1p200, y);
    return y;
}
VFN vd high_value(vd x, vd n, int kind, double alpha)
{
    if (kind == HERMITE) return hermite_high(x, n, alpha);
    if (kind == LAGUERRE && alpha == 0) return laguerre_high(x, n);
    if (kind == GEGENBAUER && alpha == 0.5) return legendre_high(x, n);
    return vd_set(NAN);
}
static TD_CALLED vd vd_recurrence(vd value, vd order, int kind, double alpha)
{
    vd x = vd_max(vd_set(-FAR), vd_min(vd_set(FAR), value)); /* NaN stays */
    vd n = order_within(order, LONGEST);
    vd y = recurrence_value(x, n, kind, alpha);
    y = without_overflow(kind == LAGUERRE ? -x : x, n, y);
    n = vd_trunc(order);
    md high = vd_gt(n, vd_set(LONGEST));
    if (vd_any(high)) {
        n = vd_sel(vd_gt(order_within(n, HIGHEST), vd_set(LONGEST)), n, vd_set(LONGEST));
        y = vd_sel(high, high_value(x, n, kind, alpha), y);
    }
    double two = alpha * (alpha + 1);
    if (kind == GEGENBAUER)
        return with_edges(value, order, y, 2 * alpha, 2 * two, two * (alpha + 2) * 4 / 3);
    if (kind == LAGUERRE) return with_edges(-value, order, y, 1, 0.5, 1.0 / 6);
    return with_edges(value, order, y, alpha, alpha * alpha, alpha * alpha * alpha);
}
VFN vf vf_recurrence(vf x, vf n, int kind, double alpha)
{
    return vf_join(vd_recurrence(vf_low(x), vf_low(n), kind, alpha),
                   vd_recurrence(vf_high(x), vf_high(n), kind, alpha));
}

#define CHEBYSHEV(name, kind)                           \
    VROWS(name, 2, , VPICK(chebyshev, x)(x, y, (kind))) \
    FLOAT_LOOPS(name, 2)
#define RECURRENCE(name, kind, setup, alpha)                         \
    VROWS(name, 2, setup, VPICK(recurrence, x)(x, y, (kind), alpha)) \
    FLOAT_LOOPS(name, 2)
CHEBYSHEV(chebyshev_polynomial_t, CHEBYSHEV_T)
CHEBYSHEV(chebyshev_polynomial_u, CHEBYSHEV_U)
CHEBYSHEV(chebyshev_polynomial_v, CHEBYSHEV_V)
CHEBYSHEV(chebyshev_polynomial_w, CHEBYSHEV_W)
CHEBYSHEV(shifted_chebyshev_polynomial_t, CHEBYSHEV_T | SHIFTED)
CHEBYSHEV(shifted_chebyshev_polynomial_u, CHEBYSHEV_U | SHIFTED)
CHEBYSHEV(shifted_chebyshev_polynomial_v, CHEBYSHEV_V | SHIFTED)
CHEBYSHEV(shifted_chebyshev_polynomial_w, CHEBYSHEV_W | SHIFTED)
RECURRENCE(hermite_polynomial_h, HERMITE, , 2.0)
RECURRENCE(hermite_polynomial_he, HERMITE, , 1.0)
RECURRENCE(legendre_polynomial_p, GEGENBAUER, , 0.5)
RECURRENCE(laguerre_polynomial_l, LAGUERRE, , 0.0)
RECURRENCE(_gegenbauer_polynomial, GEGENBAUER, double a = td_real_arg(context, 2), a)
RECURRENCE(_laguerre_polynomial, LAGUERRE, double a = td_real_arg(context, 2), a)

#define ENTRIES(name) FLOAT_ENTRIES(#name, name)
/* clang-format off: entries bring their own commas */
const td_loop_entry TD_TABLE(polynomials)[] = {
    ENTRIES(chebyshev_polynomial_t) ENTRIES(chebyshev_polynomial_u) ENTRIES(chebyshev_polynomial_v)
        ENTRIES(chebyshev_polynomial_w) ENTRIES(shifted_chebyshev_polynomial_t)
            ENTRIES(shifted_chebyshev_polynomial_u) ENTRIES(shifted_chebyshev_polynomial_v)
                ENTRIES(shifted_chebyshev_polynomial_w) ENTRIES(hermite_polynomial_h)
                    ENTRIES(hermite_polynomial_he) ENTRIES(legendre_polynomial_p)
                        ENTRIES(laguerre_polynomial_l) ENTRIES(_gegenbauer_polynomial)
                            ENTRIES(_laguerre_polynomial){NULL, 0, NULL},
};
/* clang-format on */
