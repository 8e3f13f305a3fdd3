/* compare.c - comparisons: two operands of one dtype in, bool out. */
#include "cpu/simd/vrow.h"
#include "cpu/simd/complex_numbers.h"

#define LOOPS(name, suffix, type, dtype, expression)                \
    TD_C_ROW(name##_##suffix##_row, 2, uint8_t, type, , expression) \
    TD_LOOP(name##_##suffix, name##_##suffix##_row, TD_BOOL, dtype, dtype)
#define INT_LOOPS(suffix, type, utype, dtype, name, expression) \
    LOOPS(name, suffix, type, dtype, expression)

#define SHORT_LOOPS(name)                                        \
    TD_LOOP(name##_f16, name##_f32_row, TD_BOOL, TD_F16, TD_F16) \
    TD_LOOP(name##_bf16, name##_f32_row, TD_BOOL, TD_BF16, TD_BF16)
#define FLOAT_LOOP(name, suffix, dtype) \
    TD_LOOP(name##_##suffix, name##_##suffix##_row, TD_BOOL, dtype, dtype)
#define ALL_FLOAT_LOOPS(name)     \
    FLOAT_LOOP(name, f32, TD_F32) \
    FLOAT_LOOP(name, f64, TD_F64) \
    SHORT_LOOPS(name)
#define FLOATS(name, expression) \
    VTRUTHS(name, 2, expression) \
    ALL_FLOAT_LOOPS(name)
#define ORDER(name, expression)                \
    BOOL_TYPE(INT_LOOPS, name, expression)     \
    ALL_INT_TYPES(INT_LOOPS, name, expression) \
    FLOATS(name, expression)
#define EQUAL(name, expression)                \
    INT_WIDTHS(TRUTH_ROW, name, 2, expression) \
    BOOL_TYPE(TRUTH_LOOP, name, 2)             \
    ALL_INT_TYPES(TRUTH_LOOP, name, 2)         \
    FLOATS(name, expression)

/* x > y is y < x: the row of the one serves the other, NaN included */
#define TURNED_LOOP(suffix, type, utype, dtype, name, other)  \
    TD_SWAPPED(name##_##suffix##_row, other##_##suffix##_row) \
    TD_LOOP(name##_##suffix, name##_##suffix##_row, TD_BOOL, dtype, dtype)
#define TURNED(name, other)                 \
    BOOL_TYPE(TURNED_LOOP, name, other)     \
    ALL_INT_TYPES(TURNED_LOOP, name, other) \
    VTRUTHS_SWAPPED(name, other)            \
    ALL_FLOAT_LOOPS(name)
#define COMPLEX(name, expression)                \
    LOOPS(name, c64, c64, TD_C64, expression)    \
    LOOPS(name, c128, c128, TD_C128, expression) \
    TD_LOOP(name##_c32, name##_c64_row, TD_BOOL, TD_C32, TD_C32)

#define EQUALITY(X) X(eq, x == y) X(ne, x != y)
ORDER(lt, x < y)
ORDER(le, x <= y)
TURNED(gt, lt)
TURNED(ge, le)
EQUALITY(EQUAL)
EQUALITY(COMPLEX)

#define REAL_ENTRIES(name, expression)    \
    BOOL_TYPE(INT_ENTRY, #name, name)     \
    ALL_INT_TYPES(INT_ENTRY, #name, name) \
    FLOAT_ENTRIES(#name, name)
#define ORDERED(X) X(lt, ) X(le, ) X(gt, ) X(ge, )
#define EQUALITY_ENTRIES(name, expression) COMPLEX_ENTRIES(#name, name)
/* clang-format off: entries bring their own commas */
const td_loop_entry TD_TABLE(compare)[] = {
    ORDERED(REAL_ENTRIES) EQUALITY(REAL_ENTRIES) EQUALITY(EQUALITY_ENTRIES){NULL, 0, NULL},
};
/* clang-format on */
