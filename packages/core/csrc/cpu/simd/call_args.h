/* call_args.h - the arguments of a call, for kernel text outside of the library: chains and
 * devices. The numbers are those of runtime/op.h and runtime/scalar.h. */
#ifndef TD_CALL_ARGS_H
#define TD_CALL_ARGS_H

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
/* as a launch (csrc/cuda/walk.c) or a chain (td_chain_arg of ops/pointwise/chains.h) carries it */
typedef struct td_arg {
    int32_t kind, word; /* word: the first letter of a str; of a tensor, 1 for a Python number */
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

/* what a row of so many operands is given */
#define TD_TAKE_1(T) T x
#define TD_TAKE_2(T) T x, T y
#define TD_TAKE_3(T) T x, T y, T z
#define TD_GIVE_1 x
#define TD_GIVE_2 x, y
#define TD_GIVE_3 x, y, z
#endif
