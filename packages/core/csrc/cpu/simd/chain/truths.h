/* truths.h - truth values in chains: bytes in memory, and in registers the same bytes in the lanes
 * of a vector of integers as wide as the floats beside them (vi beside vf, vl beside vd). */
#ifndef TD_TRUTHS_H
#define TD_TRUTHS_H
#include "cpu/simd/elementwise.h"

#define TD_TRUTH_MEMORY(v, width, bytes)                       \
    typedef uint8_t bytes __attribute__((vector_size(width))); \
    VFN v v##_truths_set(uint8_t x) { return x - (v){0}; }     \
    VFN v v##_truths(const uint8_t *p)                         \
    {                                                          \
        bytes x;                                               \
        memcpy(&x, p, sizeof x);                               \
        return __builtin_convertvector(x, v);                  \
    }                                                          \
    VFN v v##_truths_n(const uint8_t *p, int64_t n)            \
    {                                                          \
        if ((uint64_t)n > (width)) __builtin_unreachable();    \
        bytes x = {0};                                         \
        memcpy(&x, p, (size_t)n);                              \
        return __builtin_convertvector(x, v);                  \
    }                                                          \
    VFN void v##_keep(uint8_t *p, v x)                         \
    {                                                          \
        bytes made = __builtin_convertvector(x, bytes);        \
        memcpy(p, &made, sizeof made);                         \
    }                                                          \
    VFN void v##_keep_n(uint8_t *p, v x, int64_t n)            \
    {                                                          \
        if ((uint64_t)n > (width)) __builtin_unreachable();    \
        bytes made = __builtin_convertvector(x, bytes);        \
        memcpy(p, &made, (size_t)n);                           \
    }
TD_TRUTH_MEMORY(vi, VF_WIDTH, td_bytes_f)
TD_TRUTH_MEMORY(vl, VD_WIDTH, td_bytes_d)

/* ---- operators on them: of bits, so that a byte which is neither 0 nor 1 stays what it is ---- */
#define TD_TRUTH_ROW(name, arity, v, expression)              \
    VFN v v##_##name(const void *context, TD_TAKE_##arity(v)) \
    {                                                         \
        (void)context;                                        \
        return expression;                                    \
    }
#define TD_TRUTH_ROWS(name, arity, expression) \
    TD_TRUTH_ROW(name, arity, vi, expression)  \
    TD_TRUTH_ROW(name, arity, vl, expression)
TD_TRUTH_ROWS(bitwise_and, 2, x & y)
TD_TRUTH_ROWS(bitwise_or, 2, x | y)
TD_TRUTH_ROWS(bitwise_xor, 2, x ^ y)
TD_TRUTH_ROWS(bitwise_not, 1, (x == 0) & 1)
TD_TRUTH_ROWS(logical_and, 2, (x != 0) & (y != 0) & 1)
TD_TRUTH_ROWS(logical_or, 2, ((x | y) != 0) & 1)
TD_TRUTH_ROWS(logical_xor, 2, ((x != 0) ^ (y != 0)) & 1)
TD_TRUTH_ROWS(logical_not, 1, (x == 0) & 1)
TD_TRUTH_ROWS(mul, 2, x & y)
TD_TRUTH_ROWS(eq, 2, (x == y) & 1)
TD_TRUTH_ROWS(ne, 2, (x != y) & 1)

/* ---- beside floats ---- */
#define TD_TRUTH_USES(v, lanes)                                     \
    VFN v v##_where(const void *context, lanes condition, v x, v y) \
    {                                                               \
        lanes all = condition != 0;                                 \
        (void)context;                                              \
        return (v)((all & (lanes)x) | (~all & (lanes)y));           \
    }                                                               \
    VFN v v##_truth(const void *context, lanes x)                   \
    {                                                               \
        (void)context;                                              \
        return __builtin_convertvector(x, v);                       \
    }
TD_TRUTH_USES(vf, vi)
TD_TRUTH_USES(vd, vl)

#endif
