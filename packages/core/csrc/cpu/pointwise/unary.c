/* unary.c - elementwise functions of one floating-point number: exponentials, logarithms,
 * trigonometry, roots. A new one is a line of UNARY; float16 and bfloat16 compute in float32. */
#include "cpu/simd/vmath_erf.h"
#include "cpu/simd/vmath_trig.h"
#include "cpu/simd/vrow.h"

#define LIGHT(X)                    \
    X(sqrt, vsqrt(x))               \
    X(rsqrt, vset(x, 1) / vsqrt(x)) \
    X(reciprocal, vset(x, 1) / x)
#define UNARY(X)            \
    X(exp, vexp(x))         \
    X(exp2, vexp2(x))       \
    X(expm1, vexpm1(x))     \
    X(log, vlog(x))         \
    X(log2, vlog2(x))       \
    X(log10, vlog10(x))     \
    X(log1p, vlog1p(x))     \
    X(sigmoid, vsigmoid(x)) \
    X(sin, vsin(x))         \
    X(cos, vcos(x))         \
    X(tan, vtan(x))         \
    X(asin, vasin(x))       \
    X(acos, vacos(x))       \
    X(atan, vatan(x))       \
    X(sinh, vsinh(x))       \
    X(cosh, vcosh(x))       \
    X(tanh, vtanh(x))       \
    X(asinh, vasinh(x))     \
    X(acosh, vacosh(x))     \
    X(atanh, vatanh(x))     \
    X(erf, verf(x))         \
    X(erfc, verfc(x))
#define SHORT(X)                                  \
    X(deg2rad, x * vset(x, 0.017453292519943295)) \
    X(rad2deg, x * vset(x, 57.29577951308232))

#define DEFINE(name, expression) \
    VROWS(name, 1, , expression) \
    FLOAT_LOOPS(name, 1)
UNARY(DEFINE)
#define DEFINE_SHORT(name, expression) \
    SHORT_ROWS(name, 1, , expression)  \
    FLOAT_LOOPS(name, 1)
SHORT(DEFINE_SHORT)
#define DEFINE_LIGHT(name, expression) \
    LIGHT_ROWS(name, 1, , expression)  \
    LIGHT_LOOPS(name, 1)
LIGHT(DEFINE_LIGHT)

#define ENTRIES(name, expression) FLOAT_ENTRIES(#name, name)
const td_loop_entry TD_TABLE(unary)[] = {UNARY(ENTRIES) SHORT(ENTRIES)
                                             LIGHT(ENTRIES){NULL, 0, NULL}};
