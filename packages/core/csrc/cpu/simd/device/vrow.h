/* vrow.h - rows of vector expressions, for float and double at once, where a thread computes one
 * element. */
#ifndef TD_VROW_H
#define TD_VROW_H
#include "cpu/simd/elementwise.h"
#include "cpu/simd/vec.h"

#define VROW(symbol, arity, vector, type, width, setup, expression)     \
    TD_DEVICE_ROW(symbol, arity, type, type, vector, typedef type real; \
                  typedef vector vec, setup, (expression).v)

#define VROWS(name, arity, setup, expression)                           \
    VROW(name##_f32_row, arity, vf, float, VF_WIDTH, setup, expression) \
    VROW(name##_f64_row, arity, vd, double, VD_WIDTH, setup, expression)

#define VARG(k) vec((real)td_real_arg(context, k))
#define VSET_(vec, value) vec(value)

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

#define WRAP(T, U, x, operator, y) ((T)(U)(1u * (U)(x) operator(U)(y)))
#define INT_ARG(k) ((T)td_int_arg(context, k))

#define INT_LOOP(suffix, type, utype, dtype, name, arity, expression) \
    INT_LOOP_WITH(suffix, type, utype, dtype, name, arity, , expression)
#define INT_LOOP_WITH(suffix, type, utype, dtype, name, arity, setup, expression) \
    INT_ROW(suffix, type, utype, dtype, name, arity, setup, expression)           \
    TD_LOOP(name##_##suffix, name##_##suffix##_row, dtype, VINS_##arity(dtype))
#define INT_ROW(suffix, type, utype, dtype, name, arity, setup, expression)       \
    TD_DEVICE_ROW(name##_##suffix##_row, arity, type, type, type, typedef type T; \
                  typedef utype U, setup, (type)(expression))
#define INT_ENTRY(suffix, type, utype, dtype, op, name) {op, dtype, name##_##suffix},

/* a number costs a thread no buffer: the rows of two operands serve */
#define NUMBER_ROWS(name, setup, expression)
#define NUMBER_LOOPS(name) FLOAT_LOOPS(name, 2)

#endif
