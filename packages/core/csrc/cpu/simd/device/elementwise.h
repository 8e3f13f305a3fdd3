/* elementwise.h - rows and loops where a thread computes an element: a row is a struct with
 * apply(), a loop the row with the dtypes of memory. td_flat<loop> and td_strided<loop>
 * (pointwise.h) are the kernels; nothing is compiled before a program names one. */
#ifndef TD_ELEMENTWISE_H
#define TD_ELEMENTWISE_H
#include "cpu/simd/vec.h"
#include "cpu/simd/half.h"
enum td_dtype {
    TD_BOOL,
    TD_U8,
    TD_I8,
    TD_I16,
    TD_I32,
    TD_I64,
    TD_U16,
    TD_U32,
    TD_U64,
    TD_F16,
    TD_BF16,
    TD_F32,
    TD_F64,
    TD_C32,
    TD_C64,
    TD_C128,
    TD_F8_E4M3FN,
    TD_F8_E5M2,
    TD_F8_E4M3FNUZ,
    TD_F8_E5M2FNUZ,
    TD_F8_E8M0FNU
};
enum {
    TD_ARG_NONE,
    TD_ARG_TENSOR,
    TD_ARG_TENSORS,
    TD_ARG_SCALAR,
    TD_ARG_INT,
    TD_ARG_INTS,
    TD_ARG_FLOAT
};
enum { TD_S_BOOL, TD_S_INT, TD_S_FLOAT, TD_S_COMPLEX };
struct td_scalar {
    int32_t kind;
    int64_t i;
    double re, im;
};
/* an argument of the call as a launch carries it (csrc/cuda/walk.c) */
struct td_arg {
    int32_t kind, word; /* word: the first letter of a str; of a tensor, 1 for a Python number */
    union {
        td_scalar scalar;
        int64_t i;
        double f;
    };
};

VFN double td_real_arg(const void *context, int k)
{
    const td_arg *arg = (const td_arg *)context + k;
    return arg->kind == TD_ARG_SCALAR  ? arg->scalar.re
           : arg->kind == TD_ARG_FLOAT ? arg->f
                                       : (double)arg->i;
}
VFN int64_t td_int_arg(const void *context, int k)
{
    const td_scalar *s = &((const td_arg *)context)[k].scalar;
    if (s->kind != TD_S_FLOAT && s->kind != TD_S_COMPLEX) return s->i;
    return s->re >= 0x1p63 ? INT64_MAX : s->re >= -0x1p63 ? (int64_t)s->re : INT64_MIN;
}
VFN bool td_has_arg(const void *context, int k)
{
    return ((const td_arg *)context)[k].kind != TD_ARG_NONE;
}
VFN char td_letter_arg(const void *context, int k)
{
    return (char)((const td_arg *)context)[k].word;
}
VFN bool td_number_arg(const void *context, int k)
{
    const td_arg *arg = (const td_arg *)context + k;
    return arg->kind == TD_ARG_TENSOR && arg->word;
}

/* ---- rows ---- */
#define TD_TAKE_1(A) A x
#define TD_TAKE_2(A) A x, A y
#define TD_TAKE_3(A) A x, A y, A z
#define TD_GIVE_1 x
#define TD_GIVE_2 x, y
#define TD_GIVE_3 x, y, z
#define TD_DEVICE_ROW(symbol, arity, to, from, sees, types, setup, value) \
    struct symbol {                                                       \
        typedef to out_t;                                                 \
        typedef from in_t;                                                \
        static TD_IN to apply(const void *context, TD_TAKE_##arity(sees)) \
        {                                                                 \
            types;                                                        \
            setup;                                                        \
            return value;                                                 \
        }                                                                 \
    };
#define TD_C_ROW(symbol, arity, to, from, setup, expression) \
    TD_DEVICE_ROW(symbol, arity, to, from, from, , setup, (to)(expression))
/* the same of the two for all elements of a launch */
#define TD_CHOICE(symbol, arity, condition, yes, no)                         \
    struct symbol {                                                          \
        typedef yes::out_t out_t;                                            \
        typedef yes::in_t in_t;                                              \
        static TD_IN out_t apply(const void *context, TD_TAKE_##arity(in_t)) \
        {                                                                    \
            return condition ? yes::apply(context, TD_GIVE_##arity)          \
                             : no::apply(context, TD_GIVE_##arity);          \
        }                                                                    \
    };
#define TD_SWAPPED(symbol, row)                                       \
    struct symbol {                                                   \
        typedef row::out_t out_t;                                     \
        typedef row::in_t in_t;                                       \
        static TD_IN out_t apply(const void *context, in_t x, in_t y) \
        {                                                             \
            return row::apply(context, y, x);                         \
        }                                                             \
    };
#define TD_WHERE_ROW(symbol, type)                                                             \
    struct symbol {                                                                            \
        typedef type out_t;                                                                    \
        typedef type in_t;                                                                     \
        static TD_IN type apply(const void *, uint8_t x, type y, type z) { return x ? y : z; } \
    };
#define TD_PARTS_ROW(symbol, complex_type, row)                                        \
    struct symbol {                                                                    \
        typedef complex_type out_t;                                                    \
        typedef complex_type in_t;                                                     \
        static TD_IN complex_type apply(const void *context, complex_type x)           \
        {                                                                              \
            return complex_type(row::apply(context, x.re), row::apply(context, x.im)); \
        }                                                                              \
    };

/* ---- loops ---- */
template <class Row, int Out, int... In> struct td_loop_of {
    typedef Row row;
};
#define TD_LOOP(symbol, row, ...) typedef td_loop_of<row, __VA_ARGS__> symbol;

#include "cpu/simd/device/pointwise.h"

/* The first result is rounded to `dtype`, as memory would. */
#define TD_THEN_LOOP(symbol, dtype, first, second)                           \
    struct symbol##_row {                                                    \
        typedef typename first::row::out_t out_t;                            \
        typedef typename first::row::in_t in_t;                              \
        static TD_IN out_t apply(const void *context, in_t x, in_t y)        \
        {                                                                    \
            auto made = td_made<dtype>(first::row::apply(context, x, y));    \
            return second::row::apply(context, td_read<dtype, out_t>(made)); \
        }                                                                    \
    };                                                                       \
    TD_LOOP(symbol, symbol##_row, dtype, dtype, dtype)
#endif
