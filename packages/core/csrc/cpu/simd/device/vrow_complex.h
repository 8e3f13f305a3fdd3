/* vrow_complex.h - rows of expressions of complex numbers where a thread computes one element: a
 * vector holds both parts. Operators and comparisons work on each part for itself, as they do on
 * the vectors of cpu/simd/vrow_complex.h. */
#ifndef TD_VROW_COMPLEX_H
#define TD_VROW_COMPLEX_H
#include "cpu/simd/complex_numbers.h"
#include "cpu/simd/vrow.h"

template <class V> struct td_parts {
    V re, im;
    td_parts() = default;
    TD_IN td_parts(V r, V i) : re(r), im(i) {}
    friend TD_IN td_parts operator+(td_parts a, td_parts b)
    {
        return td_parts(a.re + b.re, a.im + b.im);
    }
    friend TD_IN td_parts operator-(td_parts a, td_parts b)
    {
        return td_parts(a.re - b.re, a.im - b.im);
    }
    friend TD_IN td_parts operator*(td_parts a, td_parts b)
    {
        return td_parts(a.re * b.re, a.im * b.im);
    }
    friend TD_IN td_parts operator/(td_parts a, td_parts b)
    {
        return td_parts(a.re / b.re, a.im / b.im);
    }
    TD_IN td_parts operator-() const { return td_parts(-re, -im); }
};
typedef td_parts<vf> vcf;
typedef td_parts<vd> vcd;
struct masks {
    mask re, im;
};

template <class V> VFN td_parts<V> td_set_like(td_parts<V>, double c)
{
    return td_parts<V>(V(c), V(c));
}
template <class V> VFN masks vlt(td_parts<V> a, td_parts<V> b)
{
    return {vlt(a.re, b.re), vlt(a.im, b.im)};
}
template <class V> VFN td_parts<V> vsel(masks m, td_parts<V> a, td_parts<V> b)
{
    return td_parts<V>(vsel(m.re, a.re, b.re), vsel(m.im, a.im, b.im));
}
template <class V> VFN td_parts<V> creals(td_parts<V> a) { return td_parts<V>(a.re, a.re); }
template <class V> VFN td_parts<V> cimags(td_parts<V> a) { return td_parts<V>(a.im, a.im); }
template <class V> VFN td_parts<V> cexchanged(td_parts<V> a) { return td_parts<V>(a.im, a.re); }
template <class V> VFN td_parts<V> cturn_real(td_parts<V> a) { return td_parts<V>(-a.re, a.im); }
template <class V> VFN td_parts<V> cturn_imag(td_parts<V> a) { return td_parts<V>(a.re, -a.im); }
VFN vcf cnumber(vcf, double re, double im) { return vcf(vf((float)re), vf((float)im)); }
VFN vcd cnumber(vcd, double re, double im) { return vcd(vd(re), vd(im)); }

template <class V> VFN td_parts<V> ctimes(td_parts<V> x, td_parts<V> y)
{
    return x * creals(y) + cturn_real(cexchanged(x) * cimags(y));
}
/* as COVER of cpu/simd/vrow_complex.h */
template <class V> VFN td_parts<V> cover(td_parts<V> x, td_parts<V> y)
{
    V c = y.re, d = y.im, zero = vzero(c);
    mask by_c = vge(vabs(c), vabs(d));
    V ratio = vsel(by_c, d, c) / vsel(by_c, c, d);
    V scale = vset(c, 1) / vsel(by_c, c + d * ratio, c * ratio + d);
    td_parts<V> other = cexchanged(x), factor(scale, scale), ratios(ratio, ratio);
    td_parts<V> left = by_c.v ? x : other, product = (by_c.v ? other : x) * ratios;
    td_parts<V> found = (by_c.v ? left + cturn_imag(product) : product + cturn_imag(left)) * factor;
    bool none = veq(c, zero).v && veq(d, zero).v;
    return none ? td_parts<V>(x.re / vabs(c), x.im / vabs(d)) : found;
}

#define TD_PAIR_1(c, v) c p
#define TD_PAIR_2(c, v) c p, c q
#define TD_PAIR_3(c, v) c p, c q, c r
#define TD_PARTS_1(vec) vec x(p.re, p.im);
#define TD_PARTS_2(vec) TD_PARTS_1(vec) vec y(q.re, q.im);
#define TD_PARTS_3(vec) TD_PARTS_2(vec) vec z(r.re, r.im);
#define CROW(symbol, arity, vector, complex_type, setup, expression)                          \
    struct symbol {                                                                           \
        typedef complex_type out_t;                                                           \
        typedef complex_type in_t;                                                            \
        static TD_IN complex_type apply(const void *context, TD_PAIR_##arity(complex_type, )) \
        {                                                                                     \
            typedef vector vec;                                                               \
            TD_PARTS_##arity(vec) setup;                                                      \
            vec made = expression;                                                            \
            return complex_type(made.re.v, made.im.v);                                        \
        }                                                                                     \
    };
#define CROWS(name, arity, setup, expression)                \
    CROW(name##_c64_row, arity, vcf, c64, setup, expression) \
    CROW(name##_c128_row, arity, vcd, c128, setup, expression)

#define CARG(k) CNUMBER_(vec(), td_complex_arg(context, k))
#define CNUMBER_(like, value) cnumber(like, (value).re, (value).im)

#endif
