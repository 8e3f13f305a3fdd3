/* int8_pool.c - the kernels of int8_pool.h. Sums are exact, and each step behind them is one
 * operation of float32, so all instruction sets give the same bits. */
#include "cpu/quantization/int8_pool.h"
#include <math.h>
#include <string.h>
#include "cpu/simd/gemm_vec.h"
#include "runtime/loops.h"

#define BLOCK                                                                          \
    64 /* channels whose results stay near: loops of a whole block have a known length \
        */

/* an output's spans, and the places in them */
typedef struct window {
    td_int8_span of[3];
    int64_t places, divisor;
} window;

static inline int64_t length(td_int8_span s) { return s.end > s.first ? s.end - s.first : 0; }

static window window_of(const td_int8_pool *p, int64_t plane, int64_t line, int64_t column)
{
    window w = {.of = {p->spans[0][plane], p->spans[1][line], p->spans[2][column]}};
    w.places = length(w.of[0]) * length(w.of[1]) * length(w.of[2]);
    w.divisor = p->divisor ? p->divisor : w.of[0].count * w.of[1].count * w.of[2].count;
    return w;
}

#define NAME(x) x##_u8
#define TYPE uint8_t
#define LEAST 0
#define MOST 255
#include "cpu/quantization/int8_pool_rows.h"

#define NAME(x) x##_i8
#define TYPE int8_t
#define LEAST (-128)
#define MOST 127
#include "cpu/quantization/int8_pool_rows.h"

const td_int8_pool_kernels TD_SYM(td_int8_pool_kernels) = {rows_u8, rows_i8};
