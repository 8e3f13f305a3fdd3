/* dtypes.h - rows and loops for the dtypes of a group, in words that the processor's headers and
 * the device's share: each brings a TD_LOOP, a TD_C_ROW and an INT_ROW of its own. */
#ifndef TD_DTYPES_H
#define TD_DTYPES_H

/* Loops of a float32 and a float64 row for all four floating dtypes; `ins` repeats the dtype, once
 * an operand. */
#define VINS_1(d) d
#define VINS_2(d) d, d
#define VINS_3(d) d, d, d
#define FLOAT_LOOPS(name, arity)                                         \
    TD_LOOP(name##_f16, name##_f32_row, TD_F16, VINS_##arity(TD_F16))    \
    TD_LOOP(name##_bf16, name##_f32_row, TD_BF16, VINS_##arity(TD_BF16)) \
    TD_LOOP(name##_f32, name##_f32_row, TD_F32, VINS_##arity(TD_F32))    \
    TD_LOOP(name##_f64, name##_f64_row, TD_F64, VINS_##arity(TD_F64))
#define FLOAT_ENTRIES(op, name)                                                     \
    {op, TD_F16, name##_f16}, {op, TD_BF16, name##_bf16}, {op, TD_F32, name##_f32}, \
        {op, TD_F64, name##_f64},

/* integers: X(suffix, type, unsigned type of the same size, dtype, ...) */
#define SIGNED_TYPES(X, ...)                       \
    X(i8, int8_t, uint8_t, TD_I8, __VA_ARGS__)     \
    X(i16, int16_t, uint16_t, TD_I16, __VA_ARGS__) \
    X(i32, int32_t, uint32_t, TD_I32, __VA_ARGS__) \
    X(i64, int64_t, uint64_t, TD_I64, __VA_ARGS__)
#define INT_TYPES(X, ...) X(u8, uint8_t, uint8_t, TD_U8, __VA_ARGS__) SIGNED_TYPES(X, __VA_ARGS__)
#define WIDE_UNSIGNED_TYPES(X, ...)                 \
    X(u16, uint16_t, uint16_t, TD_U16, __VA_ARGS__) \
    X(u32, uint32_t, uint32_t, TD_U32, __VA_ARGS__) \
    X(u64, uint64_t, uint64_t, TD_U64, __VA_ARGS__)
#define ALL_INT_TYPES(X, ...) INT_TYPES(X, __VA_ARGS__) WIDE_UNSIGNED_TYPES(X, __VA_ARGS__)

#define BOOL_TYPE(X, ...) X(b8, uint8_t, uint8_t, TD_BOOL, __VA_ARGS__)

/* a wrapping sum, difference or product: unsigned arithmetic has no overflow */
#define WRAP(T, U, x, operator, y) ((T)(U)(1u * (U)(x) operator(U)(y)))

/* argument k of the call in the row's integer type */
#define INT_ARG(k) ((T)td_int_arg(context, k))

/* One row and loop of C for an integer type; `expression` may use T and U. */
#define INT_LOOP(suffix, type, utype, dtype, name, arity, expression) \
    INT_LOOP_WITH(suffix, type, utype, dtype, name, arity, , expression)
/* the same with constants taken from the call */
#define INT_LOOP_WITH(suffix, type, utype, dtype, name, arity, setup, expression) \
    INT_ROW(suffix, type, utype, dtype, name, arity, setup, expression)           \
    TD_LOOP(name##_##suffix, name##_##suffix##_row, dtype, VINS_##arity(dtype))
#define INT_ENTRY(suffix, type, utype, dtype, op, name) {op, dtype, name##_##suffix},

/* ---- rows by width, where bits do not depend on a sign: one for all dtypes of a width ---- */

#define INT_WIDTHS(X, ...)                    \
    X(w8, uint8_t, uint8_t, , __VA_ARGS__)    \
    X(w16, uint16_t, uint16_t, , __VA_ARGS__) \
    X(w32, uint32_t, uint32_t, , __VA_ARGS__) \
    X(w64, uint64_t, uint64_t, , __VA_ARGS__)
#define WIDTH_b8 w8
#define WIDTH_u8 w8
#define WIDTH_i8 w8
#define WIDTH_u16 w16
#define WIDTH_i16 w16
#define WIDTH_u32 w32
#define WIDTH_i32 w32
#define WIDTH_u64 w64
#define WIDTH_i64 w64
#define ROW_NAME(name, width) name##_##width##_row
#define ROW_NAMED(name, width) ROW_NAME(name, width)
/* the row of INT_WIDTHS(INT_ROW, name, ...) that serves a dtype, and the loop over it */
#define WIDTH_ROW(name, suffix) ROW_NAMED(name, WIDTH_##suffix)
#define WIDTH_LOOP(suffix, type, utype, dtype, name, arity) \
    TD_LOOP(name##_##suffix, WIDTH_ROW(name, suffix), dtype, VINS_##arity(dtype))
/* the same with a truth value as result */
#define TRUTH_ROW(suffix, type, utype, dtype, name, arity, expression) \
    TD_C_ROW(name##_##suffix##_row, arity, uint8_t, type, , expression)
#define TRUTH_LOOP(suffix, type, utype, dtype, name, arity) \
    TD_LOOP(name##_##suffix, WIDTH_ROW(name, suffix), TD_BOOL, VINS_##arity(dtype))

#endif
