/* ternary.c - selection, clamping, interpolation, and a product or quotient added to a third
 * operand. */
#include "cpu/simd/vrow.h"
#include "cpu/simd/vrow_complex.h"

/* ---- where: moves bits, so one row for each element size ---- */
#define WHERE(symbol, type, dtype)   \
    TD_WHERE_ROW(symbol##_row, type) \
    TD_LOOP(symbol, symbol##_row, dtype, TD_BOOL, dtype, dtype)
WHERE(where_1, uint8_t, TD_U8)
WHERE(where_2, uint16_t, TD_I16)
WHERE(where_4, uint32_t, TD_I32)
WHERE(where_8, uint64_t, TD_I64)
WHERE(where_16, c128, TD_C128)

/* ---- clamp: either bound may be absent, which the call's arguments 1 and 2 tell ---- */
#define KEEP_NAN(x, value) vsel(visnan(x), x, value)
#define VLOW(x, low) vsel(visnan(low), low, vmax(low, x)) /* NaN of either wins */
#define VHIGH(x, high) vsel(visnan(high), high, vmin(high, x))
LIGHT_ROWS(clamp_min, 2, , VLOW(x, y))
LIGHT_ROWS(clamp_max, 2, , VHIGH(x, y))
LIGHT_ROWS(clamp_both, 3, , LET(vec v = VLOW(x, y), VHIGH(v, z)))
LIGHT_LOOPS(clamp_min, 2)
LIGHT_LOOPS(clamp_max, 2)
LIGHT_LOOPS(clamp_both, 3)
INT_TYPES(INT_LOOP, clamp_min, 2, x < y ? y : x)
INT_TYPES(INT_LOOP, clamp_max, 2, x > y ? y : x)
BOOL_TYPE(INT_LOOP, clamp_min, 2, x | y)
BOOL_TYPE(INT_LOOP, clamp_max, 2, x & y)
INT_TYPES(INT_LOOP, clamp_both, 3, (x < y ? y : x) > z ? z : (x < y ? y : x))

#if !defined TD_DEVICE && !defined TD_CHAIN /* there the host chooses among the three loops */
#define CLAMP(suffix)                                                                \
    static void clamp_##suffix(char *const *data, const int64_t *strides, int64_t n, \
                               const void *context)                                  \
    {                                                                                \
        bool low = td_has_arg(context, 1), high = td_has_arg(context, 2);            \
        (low && high ? clamp_both_##suffix                                           \
         : low       ? clamp_min_##suffix                                            \
                     : clamp_max_##suffix)(data, strides, n, context);                     \
    }
#define INT_CLAMP(suffix, type, utype, dtype, ...) CLAMP(suffix)
CLAMP(f16)
CLAMP(bf16)
CLAMP(f32)
CLAMP(f64)
INT_TYPES(INT_CLAMP, )
#endif

/* ---- lerp: from whichever end is nearer, so that both ends are met exactly ---- */
#define VLERP(x, y, w) \
    vsel(vlt(vabs(w), vset(x, 0.5)), vfma(w, y - x, x), y - (y - x) * (vset(x, 1) - w))
LIGHT_ROWS(lerp, 3, , VLERP(x, y, z))
LIGHT_LOOPS(lerp, 3)
NUMBER_ROWS_3(lerp, VLERP(x, y, z))
#define NEAR_START(w) vlt((w) * (w) + cexchanged((w) * (w)), vset(w, 0.25))
CROWS(lerp, 3, , vsel(NEAR_START(z), x + ctimes(z, y - x), y - ctimes(y - x, cnumber(z, 1, 0) - z)))
COMPLEX_LOOPS(lerp, 3)

/* ---- x + value * y * z, x + value * y / z: value is argument 3 ---- */
LIGHT_ROWS(addcmul, 3, vec value = VARG(3), vfma(value * y, z, x))
LIGHT_ROWS(addcdiv, 3, vec value = VARG(3), x + value * y / z)
LIGHT_LOOPS(addcmul, 3)
LIGHT_LOOPS(addcdiv, 3)
#define VALUE vec value = CARG(3)
CROWS(addcmul, 3, VALUE, x + ctimes(ctimes(value, y), z))
CROWS(addcdiv, 3, VALUE, x + cover(ctimes(value, y), z))
COMPLEX_LOOPS(addcmul, 3)
COMPLEX_LOOPS(addcdiv, 3)
#define PRODUCT(a, b) WRAP(T, U, a, *, b)
INT_TYPES(INT_LOOP_WITH, addcmul, 3, T value = INT_ARG(3),
          WRAP(T, U, x, +, PRODUCT(PRODUCT(value, y), z)))

/* clang-format off: entries bring their own commas */
const td_loop_entry TD_TABLE(ternary)[] = {
    {"where", TD_BOOL, where_1},
    {"where", TD_U8, where_1},
    {"where", TD_I8, where_1},
    {"where", TD_F8_E4M3FN, where_1},
    {"where", TD_F8_E5M2, where_1},
    {"where", TD_F8_E4M3FNUZ, where_1},
    {"where", TD_F8_E5M2FNUZ, where_1},
    {"where", TD_F8_E8M0FNU, where_1},
    {"where", TD_I16, where_2},
    {"where", TD_U16, where_2},
    {"where", TD_F16, where_2},
    {"where", TD_BF16, where_2},
    {"where", TD_I32, where_4},
    {"where", TD_U32, where_4},
    {"where", TD_F32, where_4},
    {"where", TD_C32, where_4},
    {"where", TD_I64, where_8},
    {"where", TD_U64, where_8},
    {"where", TD_F64, where_8},
    {"where", TD_C64, where_8},
    {"where", TD_C128, where_16},
    FLOAT_ENTRIES("clamp", clamp) INT_TYPES(INT_ENTRY, "clamp", clamp)
        FLOAT_ENTRIES("clamp_both",
                      clamp_both) /* no operator's: a device finds the loop of two bounds by it */
    INT_TYPES(INT_ENTRY, "clamp_both", clamp_both) FLOAT_ENTRIES("clamp_min", clamp_min)
        INT_TYPES(INT_ENTRY, "clamp_min", clamp_min) BOOL_TYPE(INT_ENTRY, "clamp_min", clamp_min)
            BOOL_TYPE(INT_ENTRY, "clamp_max", clamp_max) FLOAT_ENTRIES("clamp_max", clamp_max)
                INT_TYPES(INT_ENTRY, "clamp_max", clamp_max) FLOAT_ENTRIES("lerp", lerp)
                    COMPLEX_ENTRIES("lerp", lerp) FLOAT_ENTRIES("addcmul", addcmul)
                        COMPLEX_ENTRIES("addcmul", addcmul) INT_TYPES(INT_ENTRY, "addcmul", addcmul)
                            FLOAT_ENTRIES("addcdiv", addcdiv)
                                COMPLEX_ENTRIES("addcdiv", addcdiv){NULL, 0, NULL},
};
/* clang-format on */

const td_number_loops TD_SYM(td_ternary_numbers)[] = {NUMBER_ENTRY(lerp), {0}};
