/* vrow.h - rows of vector expressions, for float and double at once, as functions of vectors
 * (elementwise.h beside it). */
#ifndef TD_VROW_H
#define TD_VROW_H
#include "cpu/simd/elementwise.h"
#include "cpu/simd/dtypes.h"
#include "cpu/simd/chain/shorts.h"
#include "cpu/simd/chain/truths.h"
#include "cpu/simd/vec.h"

#define VROW(symbol, arity, v, type, width, setup, expression)                \
    TD_CHAIN_ROW(symbol, arity, v, typedef type real __attribute__((unused)); \
                 typedef v vec __attribute__((unused)), setup, expression)
#define VROWS(name, arity, setup, expression)                           \
    VROW(name##_f32_row, arity, vf, float, VF_WIDTH, setup, expression) \
    VROW(name##_f64_row, arity, vd, double, VD_WIDTH, setup, expression)
#define VTRUTH(symbol, arity, v, lanes, expression)                \
    VFN lanes symbol##_of(const void *context, TD_TAKE_##arity(v)) \
    {                                                              \
        (void)context;                                             \
        return (lanes)(expression) & 1;                            \
    }
#define VTRUTHS(name, arity, expression)              \
    VTRUTH(name##_f32_row, arity, vf, vi, expression) \
    VTRUTH(name##_f64_row, arity, vd, vl, expression)
#define VTRUTHS_SWAPPED(name, other)                               \
    VTRUTH(name##_f32_row, 2, vf, vi, other##_f32_row_of(0, y, x)) \
    VTRUTH(name##_f64_row, 2, vd, vl, other##_f64_row_of(0, y, x))
#define SHORT_ROW VROW
#define SHORT_ROWS VROWS
/* short floats are widened when they are read and rounded after each operation: the rows of float
 * serve */
#define LIGHT_ROWS VROWS
#define LIGHT_LOOPS(name, arity)
#define LIGHT_CHOICES_16(CHOICE, name)
#define CROW VROW
#define VARG(k) VSET_(vec, (real)td_real_arg(context, k))
#define VSET_(vec, value) _Generic((vec){0}, vf: vf_set, vd: vd_set)(value)
#define INT_ROW(suffix, type, utype, dtype, name, arity, setup, expression)                  \
    TD_CHAIN_ROW(name##_##suffix##_row, arity, type, typedef type T __attribute__((unused)); \
                 typedef utype U __attribute__((unused)), setup, (type)(expression))

/* a number is a vector like others here */
#define NUMBER_ROWS(name, setup, expression)
#define NUMBER_ROWS_16(name, setup, expression)
#define NUMBER_FIRST_ROWS_16(name, setup, expression, first)
#define NUMBER_ROWS_3(name, expression)
#define LONG_NUMBER_ROWS_16(name, expression)
#define NUMBER_LOOPS(name, turned, when)
#endif
