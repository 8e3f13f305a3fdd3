/* vrow_complex.h - rows of vector expressions of complex numbers: a vector holds real and imaginary
 * parts in turn.
 *
 *   CROWS(mul, 2, , ctimes(x, y))     defines mul_c64_row and mul_c128_row
 *
 * Products and quotients are written out in vectors, because compilers may fuse a complex product
 * that they vectorise themselves (gcc 12 does, whatever -ffp-contract says), and then the
 * instruction sets differ in bits. */
#ifndef TD_VROW_COMPLEX_H
#define TD_VROW_COMPLEX_H
#include "cpu/simd/complex_numbers.h"
#include "cpu/simd/rows.h"
#include "cpu/simd/vrow.h"

#define PAIRS_2(a, b) a, b
#define PAIRS_4(a, b) PAIRS_2(a, b), (a) + 2, (b) + 2
#define PAIRS_8(a, b) PAIRS_4(a, b), PAIRS_4((a) + 4, (b) + 4)
#define PAIRS_16(a, b) PAIRS_8(a, b), PAIRS_8((a) + 8, (b) + 8)
#if VBYTES == 64
#define VF_PAIRS PAIRS_16
#define VD_PAIRS PAIRS_8
#elif VBYTES == 32
#define VF_PAIRS PAIRS_8
#define VD_PAIRS PAIRS_4
#else
#define VF_PAIRS PAIRS_4
#define VD_PAIRS PAIRS_2
#endif

/* for each number: its real part twice, its imaginary part twice, both parts exchanged */
VFN vf vf_reals(vf a) { return __builtin_shuffle(a, (vi){VF_PAIRS(0, 0)}); }
VFN vd vd_reals(vd a) { return __builtin_shuffle(a, (vl){VD_PAIRS(0, 0)}); }
VFN vf vf_imags(vf a) { return __builtin_shuffle(a, (vi){VF_PAIRS(1, 1)}); }
VFN vd vd_imags(vd a) { return __builtin_shuffle(a, (vl){VD_PAIRS(1, 1)}); }
VFN vf vf_exchanged(vf a) { return __builtin_shuffle(a, (vi){VF_PAIRS(1, 0)}); }
VFN vd vd_exchanged(vd a) { return __builtin_shuffle(a, (vl){VD_PAIRS(1, 0)}); }
/* one number throughout */
VFN vf vf_complex(double re, double im)
{
    return __builtin_shuffle(vf_set((float)re), vf_set((float)im), (vi){VF_PAIRS(0, VF_WIDTH + 1)});
}
VFN vd vd_complex(double re, double im)
{
    return __builtin_shuffle(vd_set(re), vd_set(im), (vl){VD_PAIRS(0, VD_WIDTH + 1)});
}
/* the sign of the real or of the imaginary part turned */
VFN vf vf_turn_real(vf a) { return (vf)((vi)a ^ (vi)vf_complex(-0.0, 0)); }
VFN vd vd_turn_real(vd a) { return (vd)((vl)a ^ (vl)vd_complex(-0.0, 0)); }
VFN vf vf_turn_imag(vf a) { return (vf)((vi)a ^ (vi)vf_complex(0, -0.0)); }
VFN vd vd_turn_imag(vd a) { return (vd)((vl)a ^ (vl)vd_complex(0, -0.0)); }

#define creals(a) VPICK(reals, a)(a)
#define cimags(a) VPICK(imags, a)(a)
#define cexchanged(a) VPICK(exchanged, a)(a)
#define cnumber(like, re, im) VPICK(complex, like)(re, im)
#define cturn_real(a) VPICK(turn_real, a)(a)
#define cturn_imag(a) VPICK(turn_imag, a)(a)

/* (a + ib)(c + id): ac - bd and bc + ad */
#define ctimes(x, y) VPICK(ctimes, x)(x, y)
VFN vf vf_ctimes(vf x, vf y)
{
    return x * vf_reals(y) + vf_turn_real(vf_exchanged(x) * vf_imags(y));
}
VFN vd vd_ctimes(vd x, vd y)
{
    return x * vd_reals(y) + vd_turn_real(vd_exchanged(x) * vd_imags(y));
}

/* Scaled by the larger part of the divisor, with r the smaller over the larger: (a + b r) / s and
 * (b - a r) / s, or (a r + b) / s and (b r - a) / s. A zero divisor divides each part. */
#define COVER(v)                                                                                 \
    VFN v v##_cover(v x, v y)                                                                    \
    {                                                                                            \
        v c = v##_reals(y), d = v##_imags(y), zero = v##_set(0), other = v##_exchanged(x);       \
        v c_size = v##_abs(c), d_size = v##_abs(d);                                              \
        v ratio = v##_sel(v##_ge(c_size, d_size), d, c) / v##_sel(v##_ge(c_size, d_size), c, d); \
        v left = v##_sel(v##_ge(c_size, d_size), x, other),                                      \
          right = v##_sel(v##_ge(c_size, d_size), other, x);                                     \
        v scale = 1 / v##_sel(v##_ge(c_size, d_size), c + d * ratio, c * ratio + d);             \
        v product = right * ratio;                                                               \
        v by_c = left + v##_turn_imag(product), by_d = product + v##_turn_imag(left);            \
        v found = v##_sel(v##_ge(c_size, d_size), by_c, by_d) * scale;                           \
        v none = v##_sel(v##_eq(d, zero), x / v##_abs(y), found);                                \
        return v##_sel(v##_eq(c, zero), none, found);                                            \
    }
COVER(vf)
COVER(vd)
#define cover(x, y) VPICK(cover, x)(x, y)

#ifndef TD_CHAIN /* there a row is a function of vectors, as VROW makes it */
#define CROW(symbol, arity, v, type, width, setup, expression)                           \
    TD_ROW(symbol)                                                                       \
    {                                                                                    \
        typedef type real __attribute__((unused));                                       \
        typedef v vec __attribute__((unused));                                           \
        type *o = out;                                                                   \
        TD_UNPACK_##arity(type)(void) context;                                           \
        setup;                                                                           \
        int64_t i = 0;                                                                   \
        n *= 2;                                                                          \
        for (; i + width <= n; i += width) {                                             \
            VLOAD_##arity(v, v##_load, ) v##_store(o + i, expression);                   \
        }                                                                                \
        if (i < n) {                                                                     \
            VLOAD_##arity(v, v##_load_n, , n - i) v##_store_n(o + i, expression, n - i); \
        }                                                                                \
    }
#endif
#define CROWS(name, arity, setup, expression)                           \
    CROW(name##_c64_row, arity, vf, float, VF_WIDTH, setup, expression) \
    CROW(name##_c128_row, arity, vd, double, VD_WIDTH, setup, expression)

/* a number of the call, in the row's type */
#define CARG(k) CNUMBER_((vec){0}, td_complex_arg(context, k))
#define CNUMBER_(like, value) cnumber(like, creal(value), cimag(value))

#endif
