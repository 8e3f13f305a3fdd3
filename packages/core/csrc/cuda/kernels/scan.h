/* scan.h - running sums, products, logsumexps and extrema: a thread a line, or a piece of a long
 * one, in the order of cpu/scan.c, so its bits. And triangles of matrices: a thread an element.
 *
 *   td_scan_alone<td_scan_total<D>>   the sum of each piece of a long line of floats
 *   td_scan_alone<td_scan_before<D>>  one thread: what lies before each piece
 *   td_scan_alone<td_scan_sum<D>>     running sums, as prod, logsumexp, max and min
 *   td_scan_alone<td_scan_exponents<D>>  logsumexp of whole lines of complex numbers
 * (cpu/softmax_run.c) */
#ifndef TD_SCAN_TEXT_H
#define TD_SCAN_TEXT_H
#include "cpu/simd/device/convert.h"
#include "cpu/simd/device/complex_functions.h"

#define TD_SCAN_GROUP 8
#define TD_SCAN_TOTALS 16 /* SUM_BYTES of double */

struct td_scan_call { /* laid out as in csrc/cuda/scan.c */
    char *out;
    const char *x;
    int64_t *where;
    double *before;                   /* a piece each; NULL: lines are whole */
    int64_t units;                    /* threads with work: pieces of all lines */
    int64_t n, inner;                 /* elements of a line, which lie `inner` apart */
    int64_t piece, pieces;            /* of a line */
    int64_t columns, diagonal, upper; /* of triangles */
};
template <int D> struct td_scanned { /* what is added up in */
    typedef double acc;
};
template <> struct td_scanned<TD_I64> {
    typedef uint64_t acc;
};
struct td_line { /* from `first` on, n elements `step` apart */
    int64_t first, step, n;
};
VFN td_line td_line_of(const td_scan_call &c, int64_t unit)
{
    td_line line;
    int64_t number = unit / c.pieces, at = unit % c.pieces * c.piece;
    line.first = number / c.inner * c.n * c.inner + number % c.inner + at * c.inner;
    line.step = c.inner;
    line.n = c.n - at < c.piece ? c.n - at : c.piece;
    return line;
}

/* ---- sums and products ---- */
struct td_running_sum {
    template <class A> static TD_IN A none(A) { return A(0); }
    template <class A> static TD_IN A join(A a, A v) { return a + v; }
};
struct td_running_product {
    template <class A> static TD_IN A none(A) { return A(1); }
    template <class A> static TD_IN A join(A a, A v) { return a * v; }
};
/* element i becomes the join of 0 to i: the upper half of each pair, four, eight takes what the
 * lower half ends with */
template <class F> VFN void td_prefix(double *p)
{
    for (int by = 1; by < TD_SCAN_GROUP; by *= 2)
        for (int i = 0; i < TD_SCAN_GROUP; i++)
            if (i & by) p[i] = F::join(p[i], p[(i & ~(2 * by - 1)) + by - 1]);
}
/* groups of numbers of a dense line, two a turn; returns how many elements that were */
template <class F, class T> VFN int64_t td_scan_groups(T *o, const T *x, int64_t n, double *carry)
{
    int64_t i = 0;
    for (; i + 2 * TD_SCAN_GROUP <= n; i += 2 * TD_SCAN_GROUP) {
        double p[TD_SCAN_GROUP], q[TD_SCAN_GROUP];
        for (int k = 0; k < TD_SCAN_GROUP; k++) {
            p[k] = (double)x[i + k];
            q[k] = (double)x[i + TD_SCAN_GROUP + k];
        }
        td_prefix<F>(p);
        td_prefix<F>(q);
        for (int k = 0; k < TD_SCAN_GROUP; k++) {
            q[k] = F::join(q[k], p[TD_SCAN_GROUP - 1]);
            o[i + k] = (T)F::join(p[k], *carry);
            o[i + TD_SCAN_GROUP + k] = (T)F::join(q[k], *carry);
        }
        *carry = F::join(*carry, q[TD_SCAN_GROUP - 1]);
    }
    return i;
}
template <class F, int D> VFN void td_scan_line(const td_scan_call &c, int64_t unit)
{
    typedef typename td_mem<D>::type T;
    typedef typename td_scanned<D>::acc A;
    td_line l = td_line_of(c, unit);
    const T *x = (const T *)c.x + l.first;
    T *o = (T *)c.out + l.first;
    A a = F::none(A(0));
    int64_t i = 0;
    if constexpr (D != TD_I64) {
        if (c.before) a = c.before[unit];
        if (l.step == 1 && l.n > 4 * TD_SCAN_GROUP) i = td_scan_groups<F>(o, x, l.n, &a);
    }
    for (; i < l.n; i++) {
        a = F::join(a, (A)x[i * l.step]);
        o[i * l.step] = (T)a;
    }
}
template <int D> struct td_scan_sum {
    static TD_IN void one(const td_scan_call &c, int64_t at)
    {
        td_scan_line<td_running_sum, D>(c, at);
    }
};
/* complex numbers one after the other, in complex128 */
template <class F, int D> VFN void td_scan_complex(const td_scan_call &c, int64_t at)
{
    typedef typename td_mem<D>::type T;
    td_line l = td_line_of(c, at);
    c128 a = F::start();
    for (int64_t i = 0; i < l.n; i++) {
        int64_t k = l.first + i * l.step;
        T v = ((const T *)c.x)[k];
        a = F::next(a, c128(v.re, v.im));
        ((T *)c.out)[k] = T(a.re, a.im);
    }
}
struct td_running_complex_product {
    static TD_IN c128 start() { return c128(1.0, 0.0); }
    static TD_IN c128 next(c128 a, c128 b) { return cmultiply(a, b); }
};
struct td_running_complex_exponents {
    static TD_IN c128 start() { return c128(-INFINITY, 0.0); }
    static TD_IN c128 next(c128 a, c128 b)
    {
        bool swap = b.re > a.re;
        c128 high = swap ? b : a, low = swap ? a : b;
        return high.re == -INFINITY ? high : high + clog(1.0 + cexp(low - high));
    }
};
template <int D> struct td_scan_prod {
    static TD_IN void one(const td_scan_call &c, int64_t at)
    {
        if constexpr (td_is_pair<D>::value) {
            td_scan_complex<td_running_complex_product, D>(c, at);
            return;
        } else td_scan_line<td_running_product, D>(c, at);
    }
};
/* of all pieces but the last; pieces are whole groups of sums */
template <int D> struct td_scan_total {
    static TD_IN void one(const td_scan_call &c, int64_t at)
    {
        const typename td_mem<D>::type *x = (const typename td_mem<D>::type *)c.x + at * c.piece;
        double s[TD_SCAN_TOTALS];
        for (int k = 0; k < TD_SCAN_TOTALS; k++) s[k] = 0;
        for (int64_t i = 0; i < c.piece; i += TD_SCAN_TOTALS)
            for (int k = 0; k < TD_SCAN_TOTALS; k++) s[k] += (double)x[i + k];
        for (int by = TD_SCAN_TOTALS / 2; by; by /= 2)
            for (int k = 0; k < by; k++) s[k] += s[k + by];
        c.before[at + 1] = s[0];
    }
};
template <int D> struct td_scan_before {
    static TD_IN void one(const td_scan_call &c, int64_t)
    {
        c.before[0] = 0;
        for (int64_t i = 1; i < c.pieces; i++) c.before[i] += c.before[i - 1];
    }
};

/* ---- logsumexp ---- */
VFN double td_add_exponents(double a, double b)
{
    double high = b > a ? b : a, low = b > a ? a : b;
    if (a != a || b != b) return a + b;
    return isinf(high) ? high : high + log1p(exp(low - high));
}
template <int D> struct td_scan_logsumexp {
    static TD_IN void one(const td_scan_call &c, int64_t at)
    {
        typedef typename td_mem<D>::type T;
        if constexpr (td_is_pair<D>::value) {
            td_scan_complex<td_running_complex_exponents, D>(c, at);
        } else {
            td_line l = td_line_of(c, at);
            double a = -INFINITY;
            for (int64_t i = 0; i < l.n; i++) {
                int64_t k = l.first + i * l.step;
                a = td_add_exponents(a, (double)((const T *)c.x)[k]);
                ((T *)c.out)[k] = (T)a;
            }
        }
    }
};

/* the largest real part keeps the exponentials finite */
template <int D> struct td_scan_exponents {
    static TD_IN void one(const td_scan_call &c, int64_t at)
    {
        const c128 *x = (const c128 *)c.x + at * c.n;
        double top = -INFINITY;
        for (int64_t i = 0; i < c.n; i++) top = x[i].re > top ? x[i].re : top;
        if (isinf(top)) top = 0;
        c128 sum = c128(0.0, 0.0);
        for (int64_t i = 0; i < c.n; i++) sum = sum + cexp(c128(x[i].re - top, x[i].im));
        ((c128 *)c.out)[at] = top + clog(sum);
    }
};

/* ---- extrema: the last of equals; a NaN stays ---- */
template <bool Most, int D> VFN void td_scan_extremum(const td_scan_call &c, int64_t at)
{
    typedef typename td_mem<D>::type T;
    td_line l = td_line_of(c, at);
    T best = ((const T *)c.x)[l.first];
    int64_t where = 0;
    for (int64_t i = 0; i < l.n; i++) {
        int64_t k = l.first + i * l.step;
        T v = ((const T *)c.x)[k];
        if ((Most ? v >= best : v <= best) || v != v) {
            best = v;
            where = i;
        }
        ((T *)c.out)[k] = best;
        c.where[k] = where;
    }
}
template <int D> struct td_scan_max {
    static TD_IN void one(const td_scan_call &c, int64_t at) { td_scan_extremum<true, D>(c, at); }
};
template <int D> struct td_scan_min {
    static TD_IN void one(const td_scan_call &c, int64_t at) { td_scan_extremum<false, D>(c, at); }
};

/* ---- triangles: D is a dtype of the element's size ---- */
template <int D> struct td_scan_triangle {
    static TD_IN void one(const td_scan_call &c, int64_t at)
    {
        typedef typename td_mem<D>::type T;
        int64_t column = at % c.columns, row = at / c.columns % c.n, from = column - row;
        bool kept = c.upper ? from >= c.diagonal : from <= c.diagonal;
        ((T *)c.out)[at] = kept ? ((const T *)c.x)[at] : T();
    }
};

template <class Work>
__global__ void __launch_bounds__(256) td_scan_alone(const __grid_constant__ td_scan_call c)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < c.units; at += step)
        Work::one(c, at);
}
#endif
