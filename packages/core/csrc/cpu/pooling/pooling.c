/* pooling.c - the loops of pooling, instantiated for each element type; see pooling.h and rows.h.
 */
#include "cpu/pooling/pooling.h"
#include <math.h>
#include <string.h>
#include "cpu/pooling/quarters.h"

#define NAME(x) x##_f32
#define TYPE float
#define ACC float
#define LOWEST (-INFINITY)
#define IS_NAN(x) ((x) != (x))
#define VECTOR vf
#define WIDTH VF_WIDTH
#define V(f) vf_##f
#define AVERAGE
#include "cpu/pooling/rows.h"

#define NAME(x) x##_f64
#define TYPE double
#define ACC double
#define LOWEST ((double)-INFINITY)
#define IS_NAN(x) ((x) != (x))
#define VECTOR vd
#define WIDTH VD_WIDTH
#define V(f) vd_##f
#define AVERAGE
#include "cpu/pooling/rows.h"

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

#define FLOATS(name) [TD_F32] = name##_f32, [TD_F64] = name##_f64
#define INTEGERS(name) [TD_I32] = name##_i32, [TD_I64] = name##_i64

#define LOOPS(of)                                                                                  \
    {                                                                                              \
        .max = {FLOATS(of##max), INTEGERS(of##max)},                                               \
        .max_backward = {FLOATS(of##max_backward), INTEGERS(of##max_backward)},                    \
        .average = {FLOATS(of##average), [TD_I64] = of##average_i64},                              \
        .average_backward = {FLOATS(of##average_backward), [TD_I64] = of##average_backward_i64},   \
        .adaptive_max = {FLOATS(of##adaptive_max), INTEGERS(of##adaptive_max)},                    \
        .adaptive_average = {FLOATS(of##adaptive_average), [TD_I64] = of##adaptive_average_i64},   \
        .adaptive_average_backward =                                                               \
            {FLOATS(of##adaptive_average_backward), [TD_I64] = of##adaptive_average_backward_i64}, \
    }

const td_pooling_kernels TD_SYM(td_pooling_kernels) = {LOOPS(), LOOPS(pixel_)};
