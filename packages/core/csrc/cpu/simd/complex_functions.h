/* complex_functions.h - words for rows of complex functions: the C library's on a processor,
 * cpu/simd/device/complex_functions.h on a device, which has none. */
#ifndef TD_COMPLEX_FUNCTIONS_H
#define TD_COMPLEX_FUNCTIONS_H
#include "cpu/simd/complex_numbers.h"

#define RE(z) __real__(z)
#define IM(z) __imag__(z)
/* a number of two parts */
#define CPAIR(re, im) __builtin_complex(re, im)
/* a product, as a device has it too */
#define CPRODUCT(a, b) cmultiply(a, b)
/* a function of the C library by the type of its argument */
#define CPICK(x, name) _Generic((x), c64: name##f, c128: name)

/* rows of one expression; `complex_t` and `real_t` name the types in it */
#define COMPLEX_ROWS(name, arity, setup, expression)                                            \
    TD_C_ROW(name##_c64_row, arity, c64, c64, typedef float real_t __attribute__((unused));     \
             typedef c64 complex_t __attribute__((unused)); setup, expression)                  \
    TD_C_ROW(name##_c128_row, arity, c128, c128, typedef double real_t __attribute__((unused)); \
             typedef c128 complex_t __attribute__((unused)); setup, expression)
#endif
