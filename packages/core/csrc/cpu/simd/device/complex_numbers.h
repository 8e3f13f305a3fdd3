/* complex_numbers.h - complex numbers where a thread computes one element: the products and
 * quotients of cpu/simd. */
#ifndef TD_COMPLEX_NUMBERS_H
#define TD_COMPLEX_NUMBERS_H
#include "cpu/simd/elementwise.h"

#define COMPLEX_LOOPS(name, arity)                                    \
    TD_LOOP(name##_c32, name##_c64_row, TD_C32, VINS_##arity(TD_C32)) \
    TD_LOOP(name##_c64, name##_c64_row, TD_C64, VINS_##arity(TD_C64)) \
    TD_LOOP(name##_c128, name##_c128_row, TD_C128, VINS_##arity(TD_C128))
#define COMPLEX_ENTRIES(op, name) \
    {op, TD_C32, name##_c32}, {op, TD_C64, name##_c64}, {op, TD_C128, name##_c128},

/* argument k of the call as a complex number */
VFN c128 td_complex_arg(const void *context, int k)
{
    const td_scalar *s = &((const td_arg *)context)[k].scalar;
    return c128(s->re, s->im);
}
VFN double creal(c128 z) { return z.re; }
VFN double cimag(c128 z) { return z.im; }
#endif
