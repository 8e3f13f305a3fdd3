/* binary_real.c - functions of two floating-point numbers. */
#include "cpu/simd/vmath_power.h"
#include "cpu/simd/vmath_trig.h"
#include "cpu/simd/vrow.h"

/* vmin and vmax give their second argument when one is NaN: test the first by hand */
#define KEEP_NAN(x, value) vsel(visnan(x), x, value)
#define SKIP_NAN(x, y, value) vsel(visnan(x), y, vsel(visnan(y), x, value))

/* with r = fmod(x, y), which has the sign of x: the remainder with the sign of y */
#define OTHER_SIGN(r, y) vlt((r) * vcopysign(vset(r, 1), y), vzero(r))
#define VREMAINDER(x, y) LET(vec r_ = vfmod(x, y), vsel(OTHER_SIGN(r_, y), r_ + y, r_))

/* x // y: (x - fmod) / y, rounded to the integer it is but for one rounding error; 1 less between
 * signs */
#define VFLOOR_DIVIDE(x, y)                                                     \
    LET(vec r_ = vfmod(x, y); vec q_ = (x - r_) / y;                            \
        q_ = vsel(OTHER_SIGN(r_, y), q_ - vset(x, 1), q_); vec f_ = vfloor(q_); \
        f_ = vsel(vgt(q_ - f_, vset(x, 0.5)), f_ + vset(x, 1), f_);             \
        f_ = vsel(veq(q_, vzero(x)), vcopysign(vzero(x), x / y), f_),           \
        vsel(veq(y, vzero(x)), x / y, f_))

/* max + log(1 + e^-distance), also for two equal infinities */
#define VLOGADDEXP(x, y, log1p_exp)       \
    LET(vec m_ = KEEP_NAN(x, vmax(x, y)); \
        vec d_ = x - y,                   \
        vsel(vand(veq(x, y), veq(vabs(x), vset(x, INFINITY))), x, m_ + log1p_exp(-vabs(d_))))
#define LOG1P_EXP(d) vlog1p(vexp(d))
#define LOG1P_EXP2(d) (vlog1p(vexp2(d)) * vset(d, 1.4426950408889634))

#define XLOGY(x, y, l) vsel(visnan(y), y, vsel(veq(x, vzero(x)), vzero(x), x * l))

/* the larger times sqrt(1 + ratio^2); an infinity beside NaN still has infinite length */
#define VHYPOT(x, y)                                                                      \
    LET(vec a_ = vabs(x); vec b_ = vabs(y); vec s_ = vmin(a_, b_); vec l_ = vmax(a_, b_); \
        vec inf_ = vset(x, INFINITY); vec r_ = s_ / l_;                                   \
        vec h_ = l_ * vsqrt(vfma(r_, r_, vset(x, 1)));                                    \
        h_ = vsel(visnan(x), x, vsel(visnan(y), y, vsel(veq(l_, vzero(x)), l_, h_))),     \
        vsel(veq(a_, inf_), inf_, vsel(veq(b_, inf_), inf_, h_)))

#define LIGHT(X)                        \
    X(maximum, KEEP_NAN(x, vmax(x, y))) \
    X(minimum, KEEP_NAN(x, vmin(x, y)))
#define SHORT(X)                        \
    X(fmax, SKIP_NAN(x, y, vmax(x, y))) \
    X(fmin, SKIP_NAN(x, y, vmin(x, y))) \
    X(copysign, vcopysign(x, y))        \
    X(heaviside, vsel(veq(x, vzero(x)), y, vsel(vgt(x, vzero(x)), vset(x, 1), vzero(x))))
#define MODULAR(X)                 \
    X(fmod, vfmod(x, y))           \
    X(remainder, VREMAINDER(x, y)) \
    X(floor_divide, VFLOOR_DIVIDE(x, y))
#define LOGY(X)                    \
    X(xlogy, XLOGY(x, y, vlog(y))) \
    X(xlog1py, XLOGY(x, y, vlog1p(y)))
#define BINARY(X)                               \
    MODULAR(X)                                  \
    LOGY(X)                                     \
    X(atan2, vatan2(x, y))                      \
    X(hypot, VHYPOT(x, y))                      \
    X(logaddexp, VLOGADDEXP(x, y, LOG1P_EXP))   \
    X(logaddexp2, VLOGADDEXP(x, y, LOG1P_EXP2)) \
    X(pow_general, vpow(x, y))
#define DEFINE_LIGHT(name, expression) \
    LIGHT_ROWS(name, 2, , expression)  \
    LIGHT_LOOPS(name, 2)
LIGHT(DEFINE_LIGHT)
#define DEFINE_ROWS(name, expression) VROWS(name, 2, , expression)
BINARY(DEFINE_ROWS)
MODULAR(LONG_NUMBER_ROWS_16)
LOGY(LONG_NUMBER_ROWS_16)
#define DEFINE_SHORT(name, expression) SHORT_ROWS(name, 2, , expression)
SHORT(DEFINE_SHORT)

/* ---- powers: an exponent that is one number for the whole row is usually 2, 3 or a half ---- */
LIGHT_ROWS(pow_0, 1, , vset(x, 1))
LIGHT_ROWS(pow_1, 1, , x)
LIGHT_ROWS(pow_2, 1, , x * x)
LIGHT_ROWS(pow_3, 1, , x * x * x)
LIGHT_ROWS(pow_half, 1, , vsqrt(x))
LIGHT_ROWS(pow_minus_half, 1, , vset(x, 1) / vsqrt(x))
LIGHT_ROWS(pow_minus_1, 1, , vset(x, 1) / x)
LIGHT_ROWS(pow_minus_2, 1, , vset(x, 1) / (x * x))

#ifdef TD_DEVICE /* a thread has one element: it chooses for itself */
#define EASY_POWER(vector)                             \
    VFN vector easy_power(vector x, vector y)          \
    {                                                  \
        vector one = vector(1);                        \
        return y.v == 2       ? x * x                  \
               : y.v == 3     ? x * x * x              \
               : y.v == 0.5f  ? vector##_sqrt(x)       \
               : y.v == 1     ? x                      \
               : y.v == -1    ? one / x                \
               : y.v == -2    ? one / (x * x)          \
               : y.v == -0.5f ? one / vector##_sqrt(x) \
               : y.v == 0     ? one                    \
                              : vector##_pow(x, y);        \
    }
EASY_POWER(vf)
EASY_POWER(vd)
VROWS(pow, 2, bool number = td_number_arg(context, 1), number ? easy_power(x, y) : vpow(x, y))
FLOAT_LOOPS(pow, 2)
#elif !defined TD_CHAIN
#define POW_ROWS(suffix)                                          \
    static td_row easy_power_##suffix(double exponent)            \
    {                                                             \
        return exponent == 2      ? pow_2_##suffix##_row          \
               : exponent == 3    ? pow_3_##suffix##_row          \
               : exponent == 0.5  ? pow_half_##suffix##_row       \
               : exponent == 1    ? pow_1_##suffix##_row          \
               : exponent == -1   ? pow_minus_1_##suffix##_row    \
               : exponent == -2   ? pow_minus_2_##suffix##_row    \
               : exponent == -0.5 ? pow_minus_half_##suffix##_row \
               : exponent == 0    ? pow_0_##suffix##_row          \
                                  : NULL;                            \
    }
POW_ROWS(f16)
POW_ROWS(bf16)
POW_ROWS(f32)
POW_ROWS(f64)

/* pow of a Python number: the same for the whole walk; pow of a tensor follows C to the last sign
 * of zero */
#define POW_LOOP(suffix, dtype, row_suffix, easy_dtype, LOAD)                       \
    TD_LOOP(pow_rows_##suffix, pow_general_##row_suffix##_row, dtype, dtype, dtype) \
    static void pow_##suffix(char *const *data, const int64_t *strides, int64_t n,  \
                             const void *context)                                   \
    {                                                                               \
        bool number = strides[2] == 0 && n > 0 && td_number_arg(context, 1);        \
        td_row easy = number ? easy_power_##suffix(LOAD(data[2])) : NULL;           \
        static const uint8_t dtypes[] = {easy_dtype, easy_dtype};                   \
        if (easy) td_drive(easy, 1, dtypes, data, strides, n, context);             \
        else pow_rows_##suffix(data, strides, n, context);                          \
    }
#define LOAD_F16(p) td_half_to_float(*(const uint16_t *)(p))
#define LOAD_BF16(p) td_bf16_to_float(*(const uint16_t *)(p))
#define LOAD_F32(p) (*(const float *)(p))
#define LOAD_F64(p) (*(const double *)(p))
POW_LOOP(f16, TD_F16, f32, TD_I16, LOAD_F16)
POW_LOOP(bf16, TD_BF16, f32, TD_I16, LOAD_BF16)
POW_LOOP(f32, TD_F32, f32, TD_F32, LOAD_F32)
POW_LOOP(f64, TD_F64, f64, TD_F64, LOAD_F64)

/* the same beside 16 bits: the number is a float32, exponent or base, and all else lies side by
 * side
 */
#define POW_NUMBER(suffix, m)                                                             \
    LONG_NUMBER_ROW(pow_number_##suffix##_row, m, vpow(x, y))                             \
    LONG_NUMBER_ROW(pow_first_##suffix##_row, m, vpow(y, x))                              \
    static void pow_exponent_##suffix(void *out, const void *const *in, int64_t n,        \
                                      const void *context)                                \
    {                                                                                     \
        bool number = n > 0 && td_number_arg(context, 1);                                 \
        td_row easy = number ? easy_power_##suffix(LOAD_F32(in[1])) : NULL;               \
        (easy ? easy : pow_number_##suffix##_row)(out, in, n, context);                   \
    }                                                                                     \
    static void pow_number_##suffix(char *const *data, const int64_t *strides, int64_t n, \
                                    const void *context)                                  \
    {                                                                                     \
        if (strides[1])                                                                   \
            pow_exponent_##suffix(data[0], (const void *const *)(data + 1), n, context);  \
        else                                                                              \
            pow_first_##suffix##_row(data[0], (const void *const[]){data[2], data[1]}, n, \
                                     context);                                            \
    }
POW_NUMBER(f16, vh)
POW_NUMBER(bf16, vb)
#endif

/* ---- the neighbour of x towards y: one step of the bit pattern, whose order is that of the
 * magnitudes ---- */
#define NEXT(suffix, type, utype, infinity)                              \
    static utype next_##suffix(utype x, utype y)                         \
    {                                                                    \
        const utype sign = (utype)((utype)1 << (sizeof(utype) * 8 - 1)); \
        utype size = x & (utype)~sign, other = y & (utype)~sign;         \
        bool grows = ((x & sign) == (y & sign)) & (other > size);        \
        utype z = (utype)(grows ? x + 1 : x - 1);                        \
        z = size == 0 ? (utype)((y & sign) | (other != 0)) : z;          \
        z = (other > infinity) | (x == y) ? y : z;                       \
        return size > infinity ? x : z;                                  \
    }                                                                    \
    TD_C_ROW(nextafter_##suffix##_row, 2, utype, utype, , next_##suffix(x, y))
NEXT(f16, int16_t, uint16_t, 0x7c00)
NEXT(bf16, int16_t, uint16_t, 0x7f80)
NEXT(f32, int32_t, uint32_t, 0x7f800000)
NEXT(f64, int64_t, uint64_t, 0x7ff0000000000000)
TD_LOOP(nextafter_f16, nextafter_f16_row, TD_I16, TD_I16,
        TD_I16) /* bits, not numbers: no conversion */
TD_LOOP(nextafter_bf16, nextafter_bf16_row, TD_I16, TD_I16, TD_I16)
TD_LOOP(nextafter_f32, nextafter_f32_row, TD_F32, TD_F32, TD_F32)
TD_LOOP(nextafter_f64, nextafter_f64_row, TD_F64, TD_F64, TD_F64)

#define NAMES(X)    \
    X(fmax)         \
    X(fmin)         \
    X(fmod)         \
    X(remainder)    \
    X(floor_divide) \
    X(atan2)        \
    X(hypot)        \
    X(copysign)     \
    X(logaddexp)    \
    X(logaddexp2)   \
    X(xlogy)        \
    X(xlog1py)      \
    X(heaviside)
#define LOOPS(name) FLOAT_LOOPS(name, 2)
NAMES(LOOPS)

#define ENTRIES(name) FLOAT_ENTRIES(#name, name)
#define LIGHT_ENTRIES(name, expression) FLOAT_ENTRIES(#name, name)
/* clang-format off: entries bring their own commas */
const td_loop_entry TD_TABLE(binary_real)[] = {
    LIGHT(LIGHT_ENTRIES) NAMES(ENTRIES) FLOAT_ENTRIES("pow", pow)
        FLOAT_ENTRIES("nextafter", nextafter){NULL, 0, NULL},
};
/* clang-format on */

const td_number_loops TD_SYM(td_binary_real_numbers)[] = {NUMBER_ENTRY(fmod),
                                                          NUMBER_ENTRY(remainder),
                                                          NUMBER_ENTRY(floor_divide),
                                                          NUMBER_FIRST_ENTRY(pow),
                                                          NUMBER_ENTRY(xlogy),
                                                          NUMBER_ENTRY(xlog1py),
                                                          {0}};
