/* binary_real.c - functions of two floating-point numbers (and complex powers). */
#include "cpu/simd/vmath_power.h"
#include "cpu/simd/vmath_trig.h"
#include "cpu/simd/vrow.h"
#include "cpu/simd/complex_numbers.h"

/* vmin and vmax give their second argument when one is NaN: test the first by hand */
#define KEEP_NAN(x, value) vsel(visnan(x), x, value)
#define SKIP_NAN(x, y, value) vsel(visnan(x), y, vsel(visnan(y), x, value))

/* with r = fmod(x, y), which has the sign of x: the remainder with the sign of y */
#define OTHER_SIGN(r, y) vlt((r) * vcopysign(vset(r, 1), y), vzero(r))
#define VREMAINDER(x, y)                        \
    __extension__({                             \
        vec r_ = vfmod(x, y);                   \
        vsel(OTHER_SIGN(r_, y), r_ + y, r_);    \
    })

/* x // y: (x - fmod) / y, rounded to the integer it is but for one rounding error; 1 less between signs */
#define VFLOOR_DIVIDE(x, y)                                         \
    __extension__({                                                 \
        vec r_ = vfmod(x, y), q_ = (x - r_) / y, f_;                \
        q_ = vsel(OTHER_SIGN(r_, y), q_ - vset(x, 1), q_);          \
        f_ = vfloor(q_);                                            \
        f_ = vsel(vgt(q_ - f_, vset(x, 0.5)), f_ + vset(x, 1), f_); \
        f_ = vsel(veq(q_, vzero(x)), vcopysign(vzero(x), x / y), f_);  \
        vsel(veq(y, vzero(x)), x / y, f_);                             \
    })

/* max + log(1 + e^-distance), also for two equal infinities */
#define VLOGADDEXP(x, y, log1p_exp)                                                           \
    __extension__({                                                                           \
        vec m_ = KEEP_NAN(x, vmax(x, y)), d_ = x - y;                                         \
        vsel(vand(veq(x, y), veq(vabs(x), vset(x, INFINITY))), x, m_ + log1p_exp(-vabs(d_))); \
    })
#define vand(a, b) ((__typeof__(a))((a) & (b)))
#define LOG1P_EXP(d) vlog1p(vexp(d))
#define LOG1P_EXP2(d) (vlog1p(vexp2(d)) * vset(d, 1.4426950408889634))

#define XLOGY(x, y, l) vsel(visnan(y), y, vsel(veq(x, vzero(x)), vzero(x), x * l))

/* the larger times sqrt(1 + ratio^2); an infinity beside NaN still has infinite length */
#define VHYPOT(x, y)                                                                                    \
    __extension__({                                                                                     \
        vec a_ = vabs(x), b_ = vabs(y), s_ = vmin(a_, b_), l_ = vmax(a_, b_), inf_ = vset(x, INFINITY); \
        vec r_ = s_ / l_, h_ = l_ * vsqrt(vfma(r_, r_, vset(x, 1)));                                    \
        h_ = vsel(visnan(x), x, vsel(visnan(y), y, vsel(veq(l_, vzero(x)), l_, h_)));                   \
        vsel(veq(a_, inf_), inf_, vsel(veq(b_, inf_), inf_, h_));                                       \
    })

#define BINARY(X)                                                                         \
    X(maximum, KEEP_NAN(x, vmax(x, y)))                                                   \
    X(minimum, KEEP_NAN(x, vmin(x, y)))                                                   \
    X(fmax, SKIP_NAN(x, y, vmax(x, y)))                                                   \
    X(fmin, SKIP_NAN(x, y, vmin(x, y)))                                                   \
    X(fmod, vfmod(x, y))                                                                  \
    X(remainder, VREMAINDER(x, y))                                                        \
    X(floor_divide, VFLOOR_DIVIDE(x, y))                                                  \
    X(atan2, vatan2(x, y))                                                                \
    X(hypot, VHYPOT(x, y))                                                                \
    X(copysign, vcopysign(x, y))                                                          \
    X(logaddexp, VLOGADDEXP(x, y, LOG1P_EXP))                                             \
    X(logaddexp2, VLOGADDEXP(x, y, LOG1P_EXP2))                                           \
    X(xlogy, XLOGY(x, y, vlog(y)))                                                        \
    X(xlog1py, XLOGY(x, y, vlog1p(y)))                                                    \
    X(heaviside, vsel(veq(x, vzero(x)), y, vsel(vgt(x, vzero(x)), vset(x, 1), vzero(x)))) \
    X(pow_general, vpow(x, y))
#define DEFINE_ROWS(name, expression) VROWS(name, 2, , expression)
BINARY(DEFINE_ROWS)

/* ---- powers: an exponent that is one number for the whole row is usually 2, 3 or a half ---- */
VROWS(pow_0, 1, , vset(x, 1))
VROWS(pow_1, 1, , x)
VROWS(pow_2, 1, , x * x)
VROWS(pow_3, 1, , x * x * x)
VROWS(pow_half, 1, , vsqrt(x))
VROWS(pow_minus_half, 1, , vset(x, 1) / vsqrt(x))
VROWS(pow_minus_1, 1, , vset(x, 1) / x)
VROWS(pow_minus_2, 1, , vset(x, 1) / (x * x))

#define POW_ROWS(suffix)                                                                                       \
    static td_row easy_power_##suffix(double exponent)                                                         \
    {                                                                                                          \
        return exponent == 2 ? pow_2_##suffix##_row : exponent == 3 ? pow_3_##suffix##_row                     \
             : exponent == 0.5 ? pow_half_##suffix##_row : exponent == 1 ? pow_1_##suffix##_row                \
             : exponent == -1 ? pow_minus_1_##suffix##_row : exponent == -2 ? pow_minus_2_##suffix##_row       \
             : exponent == -0.5 ? pow_minus_half_##suffix##_row : exponent == 0 ? pow_0_##suffix##_row : NULL; \
    }
POW_ROWS(f32)
POW_ROWS(f64)

/* a Python number, the same for the whole walk; pow of a tensor follows C to the last sign of zero */
static bool is_number(const void *context, int k)
{
    const td_arg *arg = (const td_arg *)context + k;
    return arg->kind == TD_ARG_TENSOR && (arg->tensor->flags & TD_FLAG_WRAPPED);
}

#define POW_LOOP(suffix, dtype, row_suffix, LOAD)                                                       \
    TD_LOOP(pow_rows_##suffix, pow_general_##row_suffix##_row, dtype, dtype, dtype)                     \
    static void pow_##suffix(char *const *data, const int64_t *strides, int64_t n, const void *context) \
    {                                                                                                   \
        bool number = strides[2] == 0 && n > 0 && is_number(context, 1);                                \
        td_row easy = number ? easy_power_##row_suffix(LOAD(data[2])) : NULL;                           \
        static const uint8_t dtypes[] = {dtype, dtype};                                                 \
        if (easy)                                                                                       \
            td_drive(easy, 1, dtypes, data, strides, n, context);                                       \
        else                                                                                            \
            pow_rows_##suffix(data, strides, n, context);                                               \
    }
#define LOAD_F16(p) td_half_to_float(*(const uint16_t *)(p))
#define LOAD_BF16(p) td_bf16_to_float(*(const uint16_t *)(p))
#define LOAD_F32(p) (*(const float *)(p))
#define LOAD_F64(p) (*(const double *)(p))
POW_LOOP(f16, TD_F16, f32, LOAD_F16)
POW_LOOP(bf16, TD_BF16, f32, LOAD_BF16)
POW_LOOP(f32, TD_F32, f32, LOAD_F32)
POW_LOOP(f64, TD_F64, f64, LOAD_F64)

/* Easy exponents of complex numbers are exact products; the rest as C has it. */
static c128 complex_power(c128 x, c128 y)
{
    if (cimag(y) == 0) {
        double e = creal(y);
        if (e == 0) return 1;
        if (e == 1) return x;
        if (e == 2) return cmultiply(x, x);
        if (e == 3) return cmultiply(cmultiply(x, x), x);
        if (e == 0.5) return csqrt(x);
        if (e == -1) return cdivide((c128)1, x);
        if (e == -2) return cdivide((c128)1, cmultiply(x, x));
    }
    if (x == 0) return creal(y) > 0 ? 0 : cpow(x, y);
    return cpow(x, y);
}
COMPLEX_ROWS(pow, 2, , (complex_t)complex_power(x, y))
COMPLEX_LOOPS(pow, 2)

/* log(e^x + e^y) of complex numbers, led by the larger real part */
static c128 complex_logaddexp(c128 x, c128 y)
{
    if (x != x || y != y) return __builtin_complex((double)NAN, (double)NAN);
    c128 high = creal(x) >= creal(y) ? x : y, low = creal(x) >= creal(y) ? y : x;
    if (isinf(creal(high)) && creal(high) == creal(low)) return creal(high) < 0 ? low : clog(cexp(high) + cexp(low));
    return high + clog(1 + cexp(low - high));
}
COMPLEX_ROWS(logaddexp, 2, , (complex_t)complex_logaddexp(x, y))
COMPLEX_LOOPS(logaddexp, 2)

/* ---- the neighbour of x towards y: one step of the bit pattern, whose order is that of the magnitudes ---- */
#define NEXT(suffix, type, utype, infinity)                              \
    static utype next_##suffix(utype x, utype y)                         \
    {                                                                    \
        const utype sign = (utype)((utype)1 << (sizeof(utype) * 8 - 1)); \
        utype size = x & (utype)~sign, other = y & (utype)~sign;         \
        if (size > infinity) return x;                                   \
        if (other > infinity || x == y) return y;                        \
        if (size == 0) return other == 0 ? y : (utype)((y & sign) | 1);  \
        bool grows = (x & sign) == (y & sign) && other > size;           \
        return (utype)(grows ? x + 1 : x - 1);                           \
    }                                                                    \
    TD_C_ROW(nextafter_##suffix##_row, 2, utype, utype, , next_##suffix(x, y))
NEXT(f16, int16_t, uint16_t, 0x7c00)
NEXT(bf16, int16_t, uint16_t, 0x7f80)
NEXT(f32, int32_t, uint32_t, 0x7f800000)
NEXT(f64, int64_t, uint64_t, 0x7ff0000000000000)
TD_LOOP(nextafter_f16, nextafter_f16_row, TD_I16, TD_I16, TD_I16) /* bits, not numbers: no conversion */
TD_LOOP(nextafter_bf16, nextafter_bf16_row, TD_I16, TD_I16, TD_I16)
TD_LOOP(nextafter_f32, nextafter_f32_row, TD_F32, TD_F32, TD_F32)
TD_LOOP(nextafter_f64, nextafter_f64_row, TD_F64, TD_F64, TD_F64)

#define NAMES(X)                                                                                 \
    X(maximum) X(minimum) X(fmax) X(fmin) X(fmod) X(remainder) X(floor_divide) X(atan2) X(hypot) \
    X(copysign) X(logaddexp) X(logaddexp2) X(xlogy) X(xlog1py) X(heaviside)
#define LOOPS(name) FLOAT_LOOPS(name, 2)
NAMES(LOOPS)

#define ENTRIES(name) FLOAT_ENTRIES(#name, name)
const td_loop_entry TD_TABLE(binary_real)[] = {
    NAMES(ENTRIES)
    FLOAT_ENTRIES("pow", pow)
    FLOAT_ENTRIES("nextafter", nextafter)
    COMPLEX_ENTRIES("pow", pow)
    COMPLEX_ENTRIES("logaddexp", logaddexp)
    {NULL, 0, NULL},
};
