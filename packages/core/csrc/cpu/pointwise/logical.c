/* logical.c - truth values: anything but zero is true. */
#include "cpu/simd/vrow.h"
#include "cpu/simd/complex_numbers.h"

#define LOOPS(name, arity, suffix, type, dtype, expression)             \
    TD_C_ROW(name##_##suffix##_row, arity, uint8_t, type, , expression) \
    TD_LOOP(name##_##suffix, name##_##suffix##_row, TD_BOOL, VINS_##arity(dtype))

#define DEFINE(name, arity, expression)                                  \
    INT_WIDTHS(TRUTH_ROW, name, arity, expression)                       \
    BOOL_TYPE(TRUTH_LOOP, name, arity)                                   \
    ALL_INT_TYPES(TRUTH_LOOP, name, arity)                               \
    VTRUTHS(name, arity, expression)                                     \
    TD_LOOP(name##_f32, name##_f32_row, TD_BOOL, VINS_##arity(TD_F32))   \
    TD_LOOP(name##_f64, name##_f64_row, TD_BOOL, VINS_##arity(TD_F64))   \
    LOOPS(name, arity, c64, c64, TD_C64, expression)                     \
    LOOPS(name, arity, c128, c128, TD_C128, expression)                  \
    TD_LOOP(name##_f16, name##_f32_row, TD_BOOL, VINS_##arity(TD_F16))   \
    TD_LOOP(name##_bf16, name##_f32_row, TD_BOOL, VINS_##arity(TD_BF16)) \
    TD_LOOP(name##_c32, name##_c64_row, TD_BOOL, VINS_##arity(TD_C32))

#define LOGICAL(X)                         \
    X(logical_not, 1, x == 0)              \
    X(logical_and, 2, (x != 0) & (y != 0)) \
    X(logical_or, 2, (x != 0) | (y != 0))  \
    X(logical_xor, 2, (x != 0) != (y != 0))
LOGICAL(DEFINE)

#define ENTRIES(name, arity, expression)  \
    BOOL_TYPE(INT_ENTRY, #name, name)     \
    ALL_INT_TYPES(INT_ENTRY, #name, name) \
    FLOAT_ENTRIES(#name, name)            \
    COMPLEX_ENTRIES(#name, name)
const td_loop_entry TD_TABLE(logical)[] = {LOGICAL(ENTRIES){NULL, 0, NULL}};
