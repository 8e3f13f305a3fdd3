/* binary.c - arithmetic of two operands. Integers wrap; division by zero is refused before a loop
 * runs. */
#include "cpu/simd/vrow.h"
#include "cpu/simd/vrow_complex.h"

/* ---- sums: context argument 2 is alpha, mostly 1 ---- */

static bool alpha_is_one(const void *context)
{
    const td_scalar *alpha = &((const td_arg *)context)[2].scalar;
    return alpha->re == 1 && alpha->im == 0;
}
#define SUM_ROW(name, suffix)                                                               \
    TD_CHOICE(name##_##suffix##_row, 2, alpha_is_one(context), name##_plain_##suffix##_row, \
              name##_scaled_##suffix##_row)

LIGHT_ROWS(add_plain, 2, , x + y)
LIGHT_ROWS(sub_plain, 2, , x - y)
LIGHT_ROWS(rsub_plain, 2, , y - x)
LIGHT_ROWS(add_scaled, 2, vec alpha = VARG(2), vfma(y, alpha, x))
LIGHT_ROWS(sub_scaled, 2, vec alpha = VARG(2), vfma(-y, alpha, x))
LIGHT_ROWS(rsub_scaled, 2, vec alpha = VARG(2), vfma(-x, alpha, y))

#define INT_SUM(width, type, utype, dtype, name, plain, scaled)                        \
    INT_ROW(width, type, utype, dtype, name##_plain, 2, , plain)                       \
    INT_ROW(width, type, utype, dtype, name##_scaled, 2, T alpha = INT_ARG(2), scaled) \
    SUM_ROW(name, width)
#define TIMES_ALPHA(v) WRAP(T, U, v, *, alpha)
INT_WIDTHS(INT_SUM, add, WRAP(T, U, x, +, y), WRAP(T, U, x, +, TIMES_ALPHA(y)))
INT_WIDTHS(INT_SUM, sub, WRAP(T, U, x, -, y), WRAP(T, U, x, -, TIMES_ALPHA(y)))
INT_WIDTHS(INT_SUM, rsub, WRAP(T, U, y, -, x), WRAP(T, U, y, -, TIMES_ALPHA(x)))
INT_TYPES(WIDTH_LOOP, add, 2)
INT_TYPES(WIDTH_LOOP, sub, 2)
INT_TYPES(WIDTH_LOOP, rsub, 2)
TD_C_ROW(add_b8_row, 2, uint8_t, uint8_t, uint8_t alpha = td_real_arg(context, 2) != 0,
         x | (y & alpha))
TD_LOOP(add_b8, add_b8_row, TD_BOOL, TD_BOOL, TD_BOOL)

#define ALPHA vec alpha = CARG(2)
CROWS(add_plain, 2, , x + y)
CROWS(sub_plain, 2, , x - y)
CROWS(rsub_plain, 2, , y - x)
CROWS(add_scaled, 2, ALPHA, x + ctimes(alpha, y))
CROWS(sub_scaled, 2, ALPHA, x - ctimes(alpha, y))
CROWS(rsub_scaled, 2, ALPHA, y - ctimes(alpha, x))

#define NUMBER_ALPHA vec alpha = VARG(2)
NUMBER_ROWS(add, NUMBER_ALPHA, vfma(y, alpha, x))
NUMBER_ROWS(sub, NUMBER_ALPHA, vfma(-y, alpha, x))
NUMBER_ROWS(rsub, NUMBER_ALPHA, vfma(-x, alpha, y))
NUMBER_FIRST_ROWS_16(add, NUMBER_ALPHA, vfma(y, alpha, x), vfma(x, alpha, y))
NUMBER_FIRST_ROWS_16(sub, NUMBER_ALPHA, vfma(-y, alpha, x), vfma(-x, alpha, y))
NUMBER_FIRST_ROWS_16(rsub, NUMBER_ALPHA, vfma(-x, alpha, y), vfma(-y, alpha, x))

#define SUM(name, turned)                             \
    SUM_ROW(name, f32)                                \
    SUM_ROW(name, f64)                                \
    LIGHT_CHOICES_16(SUM_ROW, name)                   \
    SUM_ROW(name, c64)                                \
    SUM_ROW(name, c128)                               \
    NUMBER_LOOPS(name, turned, alpha_is_one(context)) \
    COMPLEX_LOOPS(name, 2)
SUM(add, add)
SUM(sub, rsub)
SUM(rsub, sub)

/* ---- products and quotients ---- */

LIGHT_ROWS(mul, 2, , x * y)
LIGHT_ROWS(div, 2, , x / y)
SHORT_ROWS(div_trunc, 2, , vtrunc(x / y))
NUMBER_ROWS(mul, , x * y)
NUMBER_ROWS(div, , x / y)
NUMBER_FIRST_ROWS_16(mul, , x * y, x * y)
NUMBER_FIRST_ROWS_16(div, , x / y, y / x)
NUMBER_ROWS_16(div_trunc, , vtrunc(x / y))
NUMBER_LOOPS(mul, mul, true)
NUMBER_LOOPS(div, div, false)
FLOAT_LOOPS(div_trunc, 2)
CROWS(mul, 2, , ctimes(x, y))
CROWS(div, 2, , cover(x, y))
COMPLEX_LOOPS(mul, 2)
COMPLEX_LOOPS(div, 2)
INT_WIDTHS(INT_ROW, mul, 2, , WRAP(T, U, x, *, y))
ALL_INT_TYPES(WIDTH_LOOP, mul, 2)
BOOL_TYPE(INT_LOOP, mul, 2, x & y)

/* Zero divisors are refused beforehand, yet memory may change under our hands: no division here can
 * trap. The smallest number over -1 does not fit: it wraps. */
#define ODD_DIVISOR(y) ((U)((U)(y) + 1u) <= 1) /* 0 or -1 */
#define TRUNC_DIV(x, y) (ODD_DIVISOR(y) ? (y) == 0 ? (T)0 : WRAP(T, U, 0, -, x) : (T)((x) / (y)))
#define TRUNC_MOD(x, y) (ODD_DIVISOR(y) ? (T)0 : (T)((x) % (y)))
SIGNED_TYPES(INT_LOOP, div_trunc, 2, TRUNC_DIV(x, y))
/* A rest and unlike signs: without a branch, which a processor guesses wrongly for most numbers. */
#define BELOW_ZERO(x, y) (((x) % (y) != 0) & (((x) ^ (y)) < 0))
SIGNED_TYPES(INT_LOOP, floor_divide, 2,
             ODD_DIVISOR(y) ? TRUNC_DIV(x, y) : (T)(x / y - BELOW_ZERO(x, y)))
SIGNED_TYPES(INT_LOOP, remainder, 2,
             ODD_DIVISOR(y) ? (T)0 : (T)(x % y + (y & -(T)BELOW_ZERO(x, y))))
SIGNED_TYPES(INT_LOOP, fmod, 2, TRUNC_MOD(x, y))
INT_LOOP(u8, uint8_t, uint8_t, TD_U8, divide, 2, y ? x / y : 0)
INT_LOOP(u8, uint8_t, uint8_t, TD_U8, modulo, 2, y ? x % y : 0)

/* ---- extrema of integers; floats are in binary_real.c ---- */
INT_TYPES(INT_LOOP, maximum, 2, x > y ? x : y)
INT_TYPES(INT_LOOP, minimum, 2, x < y ? x : y)
BOOL_TYPE(INT_LOOP, maximum, 2, x | y)
BOOL_TYPE(INT_LOOP, minimum, 2, x & y)
INT_TYPES(INT_LOOP, heaviside, 2, x == 0 ? y : x > 0)
BOOL_TYPE(INT_LOOP, heaviside, 2, x == 0 ? y : 1)

/* ---- greatest common divisor: of magnitudes, as unsigned numbers, so that the smallest number has
 * one; by halving and differences, which take a fifth of the time of divisions ---- */
#define MAGNITUDE(x) ((U)((x) > 0 ? (U)(x) : (U)(1u * (U)0 - (U)(x))))
#define EUCLID(suffix, type, utype, dtype, ...)                                               \
    static utype euclid_##suffix(utype a, utype b)                                            \
    {                                                                                         \
        if (a == 0 || b == 0) return a | b;                                                   \
        int twos = __builtin_ctzll((uint64_t)(a | b));                                        \
        a >>= __builtin_ctzll((uint64_t)a);                                                   \
        b >>= __builtin_ctzll((uint64_t)b);                                                   \
        for (utype gap;                                                                       \
             (gap = (utype)(a - b)) != 0;) { /* both odd; no branch on which is larger */     \
            utype mask = (utype)(0u - (utype)(a < b)), size = (utype)((gap ^ mask) - mask);   \
            b = (utype)(b + (gap & mask));                                                    \
            a = (utype)(size >> __builtin_ctzll((uint64_t)gap));                              \
        }                                                                                     \
        return (utype)(a << twos);                                                            \
    }                                                                                         \
    static utype multiple_##suffix(utype a, utype b)                                          \
    {                                                                                         \
        utype divisor = euclid_##suffix(a, b);                                                \
        return divisor ? (utype)(1u * (utype)(a / divisor) * b) : 0;                          \
    }                                                                                         \
    INT_LOOP(suffix, type, utype, dtype, gcd, 2, euclid_##suffix(MAGNITUDE(x), MAGNITUDE(y))) \
    INT_LOOP(suffix, type, utype, dtype, lcm, 2, multiple_##suffix(MAGNITUDE(x), MAGNITUDE(y)))
INT_TYPES(EUCLID, )

/* ---- integer powers by squaring; a negative exponent leaves only 1 and -1 other than 0 ---- */
#define POWER(suffix, type, utype, dtype, ...)                                           \
    static type power_##suffix(type base, type exponent)                                 \
    {                                                                                    \
        typedef type T;                                                                  \
        typedef utype U;                                                                 \
        if ((T) - 1 < (T)1 && exponent < (T)1 && exponent != 0)                          \
            return base == 1 ? 1 : base == (T) - 1 ? ((exponent & 1) ? (T) - 1 : 1) : 0; \
        T result = 1;                                                                    \
        for (U e = (U)exponent; e; e >>= 1) {                                            \
            if (e & 1) result = WRAP(T, U, result, *, base);                             \
            base = WRAP(T, U, base, *, base);                                            \
        }                                                                                \
        return result;                                                                   \
    }                                                                                    \
    INT_LOOP(suffix, type, utype, dtype, pow, 2, power_##suffix(x, y))
INT_TYPES(POWER, )

#define ARITHMETIC(op, name) \
    FLOAT_ENTRIES(op, name) COMPLEX_ENTRIES(op, name) INT_TYPES(INT_ENTRY, op, name)
/* clang-format off: entries bring their own commas */
const td_loop_entry TD_TABLE(binary)[] = {
    ARITHMETIC("add", add) ARITHMETIC("sub", sub) ARITHMETIC("rsub", rsub) ARITHMETIC("mul", mul)
        WIDE_UNSIGNED_TYPES(INT_ENTRY, "mul", mul){"add", TD_BOOL, add_b8},
    {"mul", TD_BOOL, mul_b8},
    FLOAT_ENTRIES("div", div) COMPLEX_ENTRIES("div", div) FLOAT_ENTRIES("div_trunc", div_trunc)
        SIGNED_TYPES(INT_ENTRY, "div_trunc", div_trunc)
            SIGNED_TYPES(INT_ENTRY, "floor_divide", floor_divide)
                SIGNED_TYPES(INT_ENTRY, "remainder", remainder)
                    SIGNED_TYPES(INT_ENTRY, "fmod", fmod){"div_trunc", TD_U8, divide_u8},
    {"floor_divide", TD_U8, divide_u8},
    {"remainder", TD_U8, modulo_u8},
    {"fmod", TD_U8, modulo_u8},
    INT_TYPES(INT_ENTRY, "maximum", maximum) INT_TYPES(INT_ENTRY, "minimum", minimum)
        INT_TYPES(INT_ENTRY, "fmax", maximum)
            INT_TYPES(INT_ENTRY, "fmin", minimum){"maximum", TD_BOOL, maximum_b8},
    {"minimum", TD_BOOL, minimum_b8},
    {"fmax", TD_BOOL, maximum_b8},
    {"fmin", TD_BOOL, minimum_b8},
    INT_TYPES(INT_ENTRY, "heaviside", heaviside){"heaviside", TD_BOOL, heaviside_b8},
    INT_TYPES(INT_ENTRY, "gcd", gcd) INT_TYPES(INT_ENTRY, "lcm", lcm)
        INT_TYPES(INT_ENTRY, "pow", pow){NULL, 0, NULL},
};
/* clang-format on */

const td_number_loops TD_SYM(td_binary_numbers)[] = {NUMBER_FIRST_ENTRY(add),
                                                     NUMBER_FIRST_ENTRY(sub),
                                                     NUMBER_FIRST_ENTRY(rsub),
                                                     NUMBER_FIRST_ENTRY(mul),
                                                     NUMBER_FIRST_ENTRY(div),
                                                     NUMBER_ENTRY(div_trunc),
                                                     {0}};
