/* bitwise.c - operations on the bits of integers, and shifts. */
#include "cpu/simd/vrow.h"

#define DEFINE(name, arity, expression)            \
    INT_WIDTHS(INT_ROW, name, arity, , expression) \
    ALL_INT_TYPES(WIDTH_LOOP, name, arity)
#define BITWISE(X)           \
    X(bitwise_and, 2, x & y) \
    X(bitwise_or, 2, x | y)  \
    X(bitwise_xor, 2, x ^ y) \
    X(bitwise_not, 1, ~x)
BITWISE(DEFINE)
BOOL_TYPE(WIDTH_LOOP, bitwise_and, 2)
BOOL_TYPE(WIDTH_LOOP, bitwise_or, 2)
BOOL_TYPE(WIDTH_LOOP, bitwise_xor, 2)
BOOL_TYPE(INT_LOOP, bitwise_not, 1, !x)

/* A count beyond the width (a negative one too) shifts everything out: what remains is 0, or the
 * sign. */
#define BITS ((U)(sizeof(T) * 8))
INT_WIDTHS(INT_ROW, left_shift, 2, , y < BITS ? WRAP(T, U, x, <<, (y & (BITS - 1))) : 0)
INT_TYPES(WIDTH_LOOP, left_shift, 2)
SIGNED_TYPES(INT_LOOP, right_shift, 2, x >> ((U)y < BITS ? (U)y : (U)(BITS - 1)))
/* unsigned numbers have no sign to keep */
INT_LOOP(u8, uint8_t, uint8_t, TD_U8, right_shift_all, 2, y < 8 ? x >> y : 0)

#define ENTRIES(name, arity, expression) \
    BOOL_TYPE(INT_ENTRY, #name, name) ALL_INT_TYPES(INT_ENTRY, #name, name)
/* clang-format off: entries bring their own commas */
const td_loop_entry TD_TABLE(bitwise)[] = {
    BITWISE(ENTRIES) INT_TYPES(INT_ENTRY, "bitwise_left_shift", left_shift)
        SIGNED_TYPES(INT_ENTRY, "bitwise_right_shift", right_shift){"bitwise_right_shift", TD_U8,
                                                                    right_shift_all_u8},
    {NULL, 0, NULL},
};
/* clang-format on */
