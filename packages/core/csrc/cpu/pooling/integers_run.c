/* integers_run.c - the loops of pooling for integers; see pooling.h and rows.h. Few programs pool
 * integers, so these are compiled once, for every processor. */
#include "cpu/pooling/pooling.h"
#include <string.h>

/* Sums wrap round, and the least number over -1 (divisor_override) is itself: the processor would
 * stop the program. */
static inline int64_t wrapped_sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
static inline int64_t wrapped_quotient(int64_t a, int64_t b)
{
    return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

#define NAME(x) x##_i64
#define TYPE int64_t
#define ACC int64_t
#define PLUS wrapped_sum
#define QUOTIENT wrapped_quotient
#define LOWEST INT64_MIN
#define IS_NAN(x) 0
#define AVERAGE
#include "cpu/pooling/rows.h"

/* for 8 and 16 bits too (ops/pooling.c), which have another least number */
#define NAME(x) x##_i32
#define TYPE int32_t
#define ACC int32_t
#define LOWEST ((int32_t)p->lowest)
#define IS_NAN(x) 0
#include "cpu/pooling/rows.h"

#define INTEGERS(name) {[TD_I32] = name##_i32, [TD_I64] = name##_i64}
#define LONGS(name) {[TD_I64] = name##_i64}

#define LOOPS(of)                                                          \
    {                                                                      \
        .max = INTEGERS(of##max),                                          \
        .max_backward = INTEGERS(of##max_backward),                        \
        .average = LONGS(of##average),                                     \
        .average_backward = LONGS(of##average_backward),                   \
        .adaptive_max = INTEGERS(of##adaptive_max),                        \
        .adaptive_average = LONGS(of##adaptive_average),                   \
        .adaptive_average_backward = LONGS(of##adaptive_average_backward), \
    }

const td_pooling_kernels td_pooling_integers = {LOOPS(), LOOPS(pixel_)};
