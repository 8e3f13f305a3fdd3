/* complex_math.c - functions of complex numbers: the C library's, or those of
 * cpu/simd/device/complex_functions.h. */
#define TD_LONG_ROWS /* on a device: device/pointwise.h */
#include "cpu/simd/complex_functions.h"
#include "cpu/simd/vrow.h"
#include "cpu/simd/vrow_complex.h"

static c128 expm1_c(c128 z)
{
    double x = creal(z), y = cimag(z), s = sin(0.5 * y), e = expm1(x);
    return CPAIR(e * cos(y) - 2 * s * s, exp(x) * sin(y));
}
/* 0.5 log(|1 + z|^2) by log1p, so that small z keep their digits */
static c128 log1p_c(c128 z)
{
    double x = creal(z), y = cimag(z);
    if (fabs(x) < 0.5 && fabs(y) < 0.5)
        return CPAIR(0.5 * log1p(x * (2 + x) + y * y), atan2(y, 1 + x));
    return clog(CPAIR(1 + x, y));
}
static c128 sign_c(c128 z)
{
    double size = cabs(z);
    return size == 0 ? (c128)0 : CPAIR(creal(z) / size, cimag(z) / size);
}
static double angle_c(c128 z) { return atan2(cimag(z), creal(z)); }
/* log of each part over log 2 or log 10 */
static c128 over(c128 z, double unit) { return CPAIR(creal(z) * unit, cimag(z) * unit); }

#define ONE ((complex_t)1)
/* top times the logistic curve, by the exponential that does not overflow */
#define LOGISTIC(x, top)                                                            \
    (RE(x) < 0 ? cdivide(CPRODUCT(top, CPICK(x, cexp)(x)), ONE + CPICK(x, cexp)(x)) \
               : cdivide(top, ONE + CPICK(x, cexp)(-(x))))
#define UNARY(X)                                                  \
    X(neg, -x)                                                    \
    X(conj_physical, CPAIR(RE(x), -IM(x)))                        \
    X(sgn, (complex_t)sign_c((c128)x))                            \
    X(exp, CPICK(x, cexp)(x))                                     \
    X(exp2, CPICK(x, cexp)(x * (real_t)0.69314718055994531))      \
    X(expm1, (complex_t)expm1_c((c128)x))                         \
    X(log, CPICK(x, clog)(x))                                     \
    X(log2, (complex_t)over(clog((c128)x), 1.4426950408889634))   \
    X(log10, (complex_t)over(clog((c128)x), 0.43429448190325182)) \
    X(log1p, (complex_t)log1p_c((c128)x))                         \
    X(sqrt, CPICK(x, csqrt)(x))                                   \
    X(rsqrt, cdivide(ONE, CPICK(x, csqrt)(x)))                    \
    X(sigmoid, LOGISTIC(x, ONE))                                  \
    X(silu, LOGISTIC(x, x))                                       \
    X(sin, CPICK(x, csin)(x))                                     \
    X(cos, CPICK(x, ccos)(x))                                     \
    X(tan, CPICK(x, ctan)(x))                                     \
    X(asin, CPICK(x, casin)(x))                                   \
    X(acos, CPICK(x, cacos)(x))                                   \
    X(atan, CPICK(x, catan)(x))                                   \
    X(sinh, CPICK(x, csinh)(x))                                   \
    X(cosh, CPICK(x, ccosh)(x))                                   \
    X(tanh, CPICK(x, ctanh)(x))                                   \
    X(asinh, CPICK(x, casinh)(x))                                 \
    X(acosh, CPICK(x, cacosh)(x))                                 \
    X(atanh, CPICK(x, catanh)(x))
#define DEFINE(name, expression)        \
    COMPLEX_ROWS(name, 1, , expression) \
    COMPLEX_LOOPS(name, 1)
UNARY(DEFINE)
CROWS(square, 1, , ctimes(x, x))
CROWS(reciprocal, 1, , cover(cnumber(x, 1, 0), x))
COMPLEX_LOOPS(square, 1)
COMPLEX_LOOPS(reciprocal, 1)
COMPLEX_ROWS(sinc, 1, ,
             x == (complex_t)0 ? (complex_t)1
                               : cdivide(CPICK(x, csin)(x * (real_t)M_PI), x * (real_t)M_PI))
COMPLEX_LOOPS(sinc, 1)

/* ---- of two numbers ---- */
/* Easy exponents of complex numbers are exact products; the rest as C has it. */
static c128 complex_power(c128 x, c128 y)
{
    if (cimag(y) == 0) {
        double e = creal(y);
        if (e == 0) return (c128)1;
        if (e == 1) return x;
        if (e == 2) return cmultiply(x, x);
        if (e == 3) return cmultiply(cmultiply(x, x), x);
        if (e == 0.5) return csqrt(x);
        if (e == -1) return cdivide((c128)1, x);
        if (e == -2) return cdivide((c128)1, cmultiply(x, x));
    }
    if (x == (c128)0) return creal(y) > 0 ? (c128)0 : cpow(x, y);
    return cpow(x, y);
}
COMPLEX_ROWS(pow, 2, , (complex_t)complex_power((c128)x, (c128)y))
COMPLEX_LOOPS(pow, 2)

/* log(e^x + e^y) of complex numbers, led by the larger real part */
static c128 complex_logaddexp(c128 x, c128 y)
{
    if (x != x || y != y) return CPAIR((double)NAN, (double)NAN);
    c128 high = creal(x) >= creal(y) ? x : y, low = creal(x) >= creal(y) ? y : x;
    if (isinf(creal(high)) && creal(high) == creal(low))
        return creal(high) < 0 ? low : clog(cexp(high) + cexp(low));
    return high + clog(1 + cexp(low - high));
}
COMPLEX_ROWS(logaddexp, 2, , (complex_t)complex_logaddexp((c128)x, (c128)y))
COMPLEX_LOOPS(logaddexp, 2)

/* ---- real or bool results ---- */
TD_C_ROW(abs_c64_row, 1, float, c64, , CPICK(x, cabs)(x))
TD_C_ROW(abs_c128_row, 1, double, c128, , CPICK(x, cabs)(x))
TD_LOOP(abs_c32, abs_c64_row, TD_F16, TD_C32)
TD_LOOP(abs_c64, abs_c64_row, TD_F32, TD_C64)
TD_LOOP(abs_c128, abs_c128_row, TD_F64, TD_C128)
TD_C_ROW(angle_c64_row, 1, float, c64, , (float)angle_c((c128)x))
TD_C_ROW(angle_c128_row, 1, double, c128, , angle_c((c128)x))
TD_LOOP(angle_c32, angle_c64_row, TD_F16, TD_C32)
TD_LOOP(angle_c64, angle_c64_row, TD_F32, TD_C64)
TD_LOOP(angle_c128, angle_c128_row, TD_F64, TD_C128)
/* of real numbers: 0 or pi, NaN stays */
SHORT_ROWS(angle, 1, ,
           vsel(vlt(x, vzero(x)), vset(x, 3.14159265358979324), vsel(visnan(x), x, vzero(x))))
FLOAT_LOOPS(angle, 1)

#define TEST(name, expression)                                \
    TD_C_ROW(name##_c64_row, 1, uint8_t, c64, , expression)   \
    TD_C_ROW(name##_c128_row, 1, uint8_t, c128, , expression) \
    TD_LOOP(name##_c32, name##_c64_row, TD_BOOL, TD_C32)      \
    TD_LOOP(name##_c64, name##_c64_row, TD_BOOL, TD_C64)      \
    TD_LOOP(name##_c128, name##_c128_row, TD_BOOL, TD_C128)
TEST(isnan, RE(x) != RE(x) || IM(x) != IM(x))
TEST(isinf, isinf(RE(x)) || isinf(IM(x)))
TEST(isfinite, RE(x) - RE(x) == 0 && IM(x) - IM(x) == 0)

#define ENTRIES(name, expression) COMPLEX_ENTRIES(#name, name)
/* clang-format off: entries bring their own commas */
const td_loop_entry TD_TABLE(complex_math)[] = {
    UNARY(ENTRIES) COMPLEX_ENTRIES("square", square) COMPLEX_ENTRIES("reciprocal", reciprocal)
        COMPLEX_ENTRIES("sinc", sinc) COMPLEX_ENTRIES("pow", pow)
            COMPLEX_ENTRIES("logaddexp", logaddexp) COMPLEX_ENTRIES("abs", abs)
                COMPLEX_ENTRIES("angle", angle) FLOAT_ENTRIES("angle", angle)
                    COMPLEX_ENTRIES("isnan", isnan) COMPLEX_ENTRIES("isinf", isinf)
                        COMPLEX_ENTRIES("isfinite", isfinite){NULL, 0, NULL},
};
/* clang-format on */
