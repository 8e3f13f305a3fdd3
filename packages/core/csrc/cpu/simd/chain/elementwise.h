/* elementwise.h - rows as functions of one element's vectors, for texts in which one operator
 * follows the other without memory between (the compiler's chains). A row `name` is the function
 * name_of(context, x, y, ..), of name_v; loops, and rows that no chain is made of, are nothing. */
#ifndef TD_ELEMENTWISE_H
#define TD_ELEMENTWISE_H
#include "cpu/simd/vec.h"

/* the numbers of runtime/op.h and runtime/scalar.h */
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
typedef struct td_scalar {
    int32_t kind;
    int64_t i;
    double re, im;
} td_scalar;
typedef struct td_arg { /* td_chain_arg of ops/pointwise/chains.h */
    int32_t kind, word;
    union {
        td_scalar scalar;
        int64_t i;
        double f;
    };
} td_arg;

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

#define TD_TAKE_1(v) v x
#define TD_TAKE_2(v) v x, v y
#define TD_TAKE_3(v) v x, v y, v z
#define TD_GIVE_1 x
#define TD_GIVE_2 x, y
#define TD_GIVE_3 x, y, z
#define TD_CHAIN_ROW(symbol, arity, v, types, setup, value)    \
    typedef v symbol##_v;                                      \
    VFN v symbol##_of(const void *context, TD_TAKE_##arity(v)) \
    {                                                          \
        types;                                                 \
        (void)context;                                         \
        setup;                                                 \
        return value;                                          \
    }
#define TD_CHOICE(symbol, arity, condition, yes, no)                                               \
    typedef yes##_v symbol##_v;                                                                    \
    VFN yes##_v symbol##_of(const void *context, TD_TAKE_##arity(yes##_v))                         \
    {                                                                                              \
        return condition ? yes##_of(context, TD_GIVE_##arity) : no##_of(context, TD_GIVE_##arity); \
    }

/* ---- of these there are no chains ---- */
#define TD_C_ROW(...)
#define TD_SWAPPED(...)
#define TD_WHERE_ROW(...)
#define TD_PARTS_ROW(...)
#define TD_LOOP(...)
#define TD_THEN_LOOP(...)
#endif
