/* unary_real.c - signs, rounding and tests of one real number of any dtype. */
#include "cpu/simd/complex_numbers.h"
#include "cpu/simd/vrow.h"

/* ---- floating point: one line each ---- */

/* 0 for NaN, too */
#define VSIGN(x) vsel(vgt(x, vzero(x)), vset(x, 1), vsel(vlt(x, vzero(x)), vset(x, -1), vzero(x)))

#define SAME(X)            \
    X(square, x *x)        \
    X(sgn, VSIGN(x))       \
    X(floor, vfloor(x))    \
    X(ceil, vceil(x))      \
    X(trunc, vtrunc(x))    \
    X(frac, x - vtrunc(x)) \
    X(round, vround(x))    \
    X(relu, vmax(vzero(x), x))

#define DEFINE(name, expression)      \
    LIGHT_ROWS(name, 1, , expression) \
    LIGHT_LOOPS(name, 1)
SAME(DEFINE)

/* signs: of 16 bits by the bit itself, whatever the format */
#define SIGNS(X)            \
    X(neg, -x, x ^ 0x8000u) \
    X(abs, vabs(x), x & 0x7fffu)
#define DEFINE_SIGN(name, expression, bits)                            \
    SHORT_ROWS(name, 1, , expression)                                  \
    TD_C_ROW(name##_16_row, 1, uint16_t, uint16_t, , (uint16_t)(bits)) \
    TD_LOOP(name##_f16, name##_16_row, TD_I16, TD_I16)                 \
    TD_LOOP(name##_bf16, name##_16_row, TD_I16, TD_I16)                \
    TD_LOOP(name##_f32, name##_f32_row, TD_F32, TD_F32)                \
    TD_LOOP(name##_f64, name##_f64_row, TD_F64, TD_F64)
SIGNS(DEFINE_SIGN)

/* round to `decimals` places: scaled up, rounded, scaled down */
static double power_of_ten(const void *context)
{
    static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    int64_t n = ((const td_arg *)context)[1].i;
    n = n == INT64_MIN ? INT64_MAX : n < 0 ? -n : n;
    return n < 23 ? exact[n] : pow(10.0, (double)n);
}
static bool scales_down(const void *context) { return ((const td_arg *)context)[1].i < 0; }
VROWS(round_decimals, 1, vec ten = VSET_(vec, (real)power_of_ten(context));
      bool down = scales_down(context), down ? vround(x / ten) * ten : vround(x *ten) / ten)
FLOAT_LOOPS(round_decimals, 1)

/* nan, posinf, neginf: what replaces them; by default 0 and the largest and smallest number of the
 * dtype */
static double replacement(const void *context, int k, double otherwise)
{
    return td_has_arg(context, k) ? td_real_arg(context, k) : otherwise;
}
#define NAN_TO_NUM(name, v, type, width, largest)                            \
    SHORT_ROW(name##_row, 1, v, type, width,                                 \
              vec nan = VSET_(vec, (real)replacement(context, 1, 0));        \
              vec high = VSET_(vec, (real)replacement(context, 2, largest)); \
              vec low = VSET_(vec, (real)replacement(context, 3, -largest)); \
              vec inf = VSET_(vec, INFINITY),                                \
              vsel(visnan(x), nan, vsel(veq(x, inf), high, vsel(veq(x, -inf), low, x))))
NAN_TO_NUM(nan_to_num_f16, vf, float, VF_WIDTH, 65504.0)
NAN_TO_NUM(nan_to_num_bf16, vf, float, VF_WIDTH, 0x1.fep127)
NAN_TO_NUM(nan_to_num_f32, vf, float, VF_WIDTH, 0x1.fffffep127)
NAN_TO_NUM(nan_to_num_f64, vd, double, VD_WIDTH, 0x1.fffffffffffffp1023)
TD_LOOP(nan_to_num_f16, nan_to_num_f16_row, TD_F16, TD_F16)
TD_LOOP(nan_to_num_bf16, nan_to_num_bf16_row, TD_BF16, TD_BF16)
TD_LOOP(nan_to_num_f32, nan_to_num_f32_row, TD_F32, TD_F32)
TD_LOOP(nan_to_num_f64, nan_to_num_f64_row, TD_F64, TD_F64)
/* a complex number is two real ones side by side */
TD_PARTS_ROW(nan_to_num_c32_row, c64, nan_to_num_f16_row)
TD_PARTS_ROW(nan_to_num_c64_row, c64, nan_to_num_f32_row)
TD_PARTS_ROW(nan_to_num_c128_row, c128, nan_to_num_f64_row)
TD_LOOP(nan_to_num_c32, nan_to_num_c32_row, TD_C32, TD_C32)
TD_LOOP(nan_to_num_c64, nan_to_num_c64_row, TD_C64, TD_C64)
TD_LOOP(nan_to_num_c128, nan_to_num_c128_row, TD_C128, TD_C128)

/* ---- tests: bool out ---- */

#define TEST_ROW(name, suffix, type, expression) \
    TD_C_ROW(name##_##suffix##_row, 1, uint8_t, type, , expression)
#define FLOAT_TEST(name, expression)                       \
    VTRUTHS(name, 1, expression)                           \
    TD_LOOP(name##_f16, name##_f32_row, TD_BOOL, TD_F16)   \
    TD_LOOP(name##_bf16, name##_f32_row, TD_BOOL, TD_BF16) \
    TD_LOOP(name##_f32, name##_f32_row, TD_BOOL, TD_F32)   \
    TD_LOOP(name##_f64, name##_f64_row, TD_BOOL, TD_F64)
FLOAT_TEST(isnan, x != x)
FLOAT_TEST(isinf, (x == INFINITY) | (x == -INFINITY))
FLOAT_TEST(isposinf, x == INFINITY)
FLOAT_TEST(isneginf, x == -INFINITY)
FLOAT_TEST(isfinite, x - x == 0)
TEST_ROW(signbit, f32, int32_t, x < 0)
TEST_ROW(signbit, f64, int64_t, x < 0)
TD_LOOP(signbit_f16, signbit_f32_row, TD_BOOL, TD_F16)
TD_LOOP(signbit_bf16, signbit_f32_row, TD_BOOL, TD_BF16)
TD_LOOP(signbit_f32, signbit_f32_row, TD_BOOL, TD_F32)
TD_LOOP(signbit_f64, signbit_f64_row, TD_BOOL, TD_F64)

INT_WIDTHS(TRUTH_ROW, always, 1, ((void)x, 1))
INT_WIDTHS(TRUTH_ROW, never, 1, ((void)x, 0))
ALL_INT_TYPES(TRUTH_LOOP, always, 1)
ALL_INT_TYPES(TRUTH_LOOP, never, 1)
BOOL_TYPE(TRUTH_LOOP, always, 1)
BOOL_TYPE(TRUTH_LOOP, never, 1)

#define INT_TEST(suffix, type, utype, dtype, name, expression) \
    TEST_ROW(name, suffix, type, expression)                   \
    TD_LOOP(name##_##suffix, name##_##suffix##_row, TD_BOOL, dtype)
SIGNED_TYPES(INT_TEST, signbit, x < 0)

/* ---- integers ---- */

INT_WIDTHS(INT_ROW, neg, 1, , WRAP(T, U, 0, -, x))
INT_WIDTHS(INT_ROW, square, 1, , WRAP(T, U, x, *, x))
INT_WIDTHS(INT_ROW, same, 1, , x)
INT_TYPES(WIDTH_LOOP, neg, 1)
INT_TYPES(WIDTH_LOOP, square, 1)
ALL_INT_TYPES(WIDTH_LOOP, same, 1)
BOOL_TYPE(WIDTH_LOOP, same, 1)
SIGNED_TYPES(INT_LOOP, abs, 1, x < 0 ? WRAP(T, U, 0, -, x) : x)
SIGNED_TYPES(INT_LOOP, sgn, 1, (x > 0) - (x < 0))
INT_LOOP(u8, uint8_t, uint8_t, TD_U8, sgn, 1, x != 0)
INT_TYPES(INT_LOOP, relu, 1, x > 0 ? x : 0)
SHORT_ROWS(same, 1, , x)
FLOAT_LOOPS(same, 1)

#define SAME_ENTRIES(name, ...) FLOAT_ENTRIES(#name, name)
#define ALL_ENTRIES(op, name) ALL_INT_TYPES(INT_ENTRY, op, name) BOOL_TYPE(INT_ENTRY, op, name)
/* clang-format off: entries bring their own commas */
const td_loop_entry TD_TABLE(unary_real)[] = {
    SAME(SAME_ENTRIES) SIGNS(SAME_ENTRIES) FLOAT_ENTRIES("sign", sgn)
        FLOAT_ENTRIES("round_decimals", round_decimals)
            FLOAT_ENTRIES("nan_to_num", nan_to_num){"nan_to_num", TD_C32, nan_to_num_c32},
    {"nan_to_num", TD_C64, nan_to_num_c64},
    {"nan_to_num", TD_C128, nan_to_num_c128},
    FLOAT_ENTRIES("isnan", isnan) FLOAT_ENTRIES("isinf", isinf) FLOAT_ENTRIES("isposinf", isposinf)
        FLOAT_ENTRIES("isneginf", isneginf) FLOAT_ENTRIES("isfinite", isfinite)
            FLOAT_ENTRIES("signbit", signbit) ALL_ENTRIES("isnan", never)
                ALL_ENTRIES("isinf", never) ALL_ENTRIES("isposinf", never)
                    ALL_ENTRIES("isneginf", never) ALL_ENTRIES("isfinite", always)
                        SIGNED_TYPES(INT_ENTRY, "signbit", signbit){"signbit", TD_U8, never_u8},
    WIDE_UNSIGNED_TYPES(INT_ENTRY, "signbit", never){"signbit", TD_BOOL, never_b8},
    INT_TYPES(INT_ENTRY, "neg", neg) SIGNED_TYPES(INT_ENTRY, "abs", abs){"abs", TD_U8, same_u8},
    INT_TYPES(INT_ENTRY, "square", square)
        INT_TYPES(INT_ENTRY, "sgn", sgn){"sgn", TD_BOOL, same_b8},
    INT_TYPES(INT_ENTRY, "sign", sgn){"sign", TD_BOOL, same_b8},
    INT_TYPES(INT_ENTRY, "relu", relu) ALL_INT_TYPES(INT_ENTRY, "floor", same)
        ALL_INT_TYPES(INT_ENTRY, "ceil", same) ALL_INT_TYPES(INT_ENTRY, "trunc", same)
            ALL_INT_TYPES(INT_ENTRY, "round", same) ALL_ENTRIES("nan_to_num", same)
                ALL_ENTRIES("conj_physical", same)
                    FLOAT_ENTRIES("conj_physical", same){NULL, 0, NULL},
};
/* clang-format on */
