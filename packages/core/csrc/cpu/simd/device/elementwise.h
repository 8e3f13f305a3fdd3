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
#include "cpu/simd/call_args.h"

/* ---- rows ---- */
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
#endif
