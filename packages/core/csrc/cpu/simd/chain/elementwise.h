/* elementwise.h - rows as functions of one element's vectors, for texts in which one operator
 * follows the other without memory between (the compiler's chains). A row `name` is the function
 * name_of(context, x, y, ..), of name_v; loops, and rows that no chain is made of, are nothing. */
#ifndef TD_ELEMENTWISE_H
#define TD_ELEMENTWISE_H
#include "cpu/simd/vec.h"
#include "cpu/simd/call_args.h"

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
#endif
