/* vrow.h - rows of vector expressions, for float and double at once, where a thread computes one
 * element. */
#ifndef TD_VROW_H
#define TD_VROW_H
#include "cpu/simd/elementwise.h"
#include "cpu/simd/dtypes.h"
#include "cpu/simd/vec.h"

#define VROW(symbol, arity, vector, type, width, setup, expression)     \
    TD_DEVICE_ROW(symbol, arity, type, type, vector, typedef type real; \
                  typedef vector vec, setup, (expression).v)

#define VROWS(name, arity, setup, expression)                           \
    VROW(name##_f32_row, arity, vf, float, VF_WIDTH, setup, expression) \
    VROW(name##_f64_row, arity, vd, double, VD_WIDTH, setup, expression)

#define VTRUTHS(name, arity, expression)                          \
    TD_C_ROW(name##_f32_row, arity, uint8_t, float, , expression) \
    TD_C_ROW(name##_f64_row, arity, uint8_t, double, , expression)
#define VTRUTHS_SWAPPED(name, other)            \
    TD_SWAPPED(name##_f32_row, other##_f32_row) \
    TD_SWAPPED(name##_f64_row, other##_f64_row)

#define SHORT_ROW VROW
#define SHORT_ROWS VROWS

/* a thread widens and rounds its own number: the rows of float32 serve */
#define LIGHT_ROWS VROWS
#define LIGHT_LOOPS FLOAT_LOOPS
#define LIGHT_CHOICES_16(CHOICE, name)

#define VARG(k) vec((real)td_real_arg(context, k))
#define VSET_(vec, value) vec(value)

#define INT_ROW(suffix, type, utype, dtype, name, arity, setup, expression)       \
    TD_DEVICE_ROW(name##_##suffix##_row, arity, type, type, type, typedef type T; \
                  typedef utype U, setup, (type)(expression))

/* a number costs a thread no buffer: the rows of two operands serve */
#define NUMBER_ROWS(name, setup, expression)
#define NUMBER_ROWS_16(name, setup, expression)
#define NUMBER_FIRST_ROWS_16(name, setup, expression, first)
#define NUMBER_ROWS_3(name, expression)
#define LONG_NUMBER_ROWS_16(name, expression)
#define NUMBER_LOOPS(name, turned, when) FLOAT_LOOPS(name, 2)

#endif
