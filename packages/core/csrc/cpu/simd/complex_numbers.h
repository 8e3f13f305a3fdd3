/* complex_numbers.h - arithmetic of complex numbers the way the field does it: products without the
 * recovery of infinities that C prescribes, quotients scaled by the larger part of the divisor. */
#ifndef TD_COMPLEX_NUMBERS_H
#define TD_COMPLEX_NUMBERS_H
#include <complex.h>
#include <math.h>
#include "cpu/simd/elementwise.h"

typedef float _Complex c64;
typedef double _Complex c128;

/* A product that is rounded before it is added to: compilers that vectorise a complex product may
 * fuse the two (gcc 12 does, whatever -ffp-contract says: either product of a part). Rows whose
 * speed counts are written in vectors, vrow_complex.h. */
#ifdef __x86_64__
#define ROUNDED(product)                    \
    __extension__({                         \
        __typeof__(product) p_ = (product); \
        __asm__("" : "+x"(p_));             \
        p_;                                 \
    })
#else
#define ROUNDED(product) (product)
#endif

#define COMPLEX_ARITHMETIC(suffix, complex_t, real_t, MAKE)                                        \
    static inline complex_t multiply_##suffix(complex_t a, complex_t b)                            \
    {                                                                                              \
        real_t ar = __real__ a, ai = __imag__ a, br = __real__ b, bi = __imag__ b;                 \
        return MAKE(ROUNDED(ar * br) - ROUNDED(ai * bi), ROUNDED(ar * bi) + ROUNDED(ai * br));     \
    }                                                                                              \
    static inline complex_t divide_##suffix(complex_t a, complex_t b)                              \
    {                                                                                              \
        real_t ar = __real__ a, ai = __imag__ a, br = __real__ b, bi = __imag__ b;                 \
        if (__builtin_fabs(br) >= __builtin_fabs(bi)) {                                            \
            if (br == 0 && bi == 0) return MAKE(ar / __builtin_fabs(br), ai / __builtin_fabs(bi)); \
            real_t ratio = bi / br, scale = 1 / (br + ROUNDED(bi * ratio));                        \
            return MAKE((ar + ROUNDED(ai * ratio)) * scale, (ai - ROUNDED(ar * ratio)) * scale);   \
        }                                                                                          \
        real_t ratio = br / bi, scale = 1 / (ROUNDED(br * ratio) + bi);                            \
        return MAKE((ROUNDED(ar * ratio) + ai) * scale, (ROUNDED(ai * ratio) - ar) * scale);       \
    }
COMPLEX_ARITHMETIC(c64, c64, float, __builtin_complex)
COMPLEX_ARITHMETIC(c128, c128, double, __builtin_complex)

#define cmultiply(a, b) _Generic((a), c64: multiply_c64, c128: multiply_c128)(a, b)
#define cdivide(a, b) _Generic((a), c64: divide_c64, c128: divide_c128)(a, b)

/* Loops of a complex64 and a complex128 row; complex32 computes in complex64. */
#define COMPLEX_LOOPS(name, arity)                                    \
    TD_LOOP(name##_c32, name##_c64_row, TD_C32, VINS_##arity(TD_C32)) \
    TD_LOOP(name##_c64, name##_c64_row, TD_C64, VINS_##arity(TD_C64)) \
    TD_LOOP(name##_c128, name##_c128_row, TD_C128, VINS_##arity(TD_C128))
#define COMPLEX_ENTRIES(op, name) \
    {op, TD_C32, name##_c32}, {op, TD_C64, name##_c64}, {op, TD_C128, name##_c128},
/* argument k of the call as a complex number */
static inline c128 td_complex_arg(const void *context, int k)
{
    const td_scalar *s = &((const td_arg *)context)[k].scalar;
    return __builtin_complex(s->re, s->im);
}

#endif
