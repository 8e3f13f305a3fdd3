/* int8_pool.h - the largest integers, or averages, of windows of places (TD_PICK). Channels lie
 * last.
 *
 * An average is the sum, less the zero point for each place, times the float32 that is nearest to
 * 1 / divisor; the zero point is added before it is rounded, half to even.
 *
 * Along each of three axes an output has a span: [first, end) of the input, and the number that it
 * counts as in a divisor, padding among it. */
#ifndef TD_INT8_POOL_H
#define TD_INT8_POOL_H
#include <stdbool.h>
#include <stdint.h>
#include "runtime/cpu.h"

#define TD_POOL_TAPS (1 << 22) /* of a window, at most: sums of bytes fit into an int32 */

typedef struct td_int8_span {
    int64_t first, end, count;
} td_int8_span;

typedef struct td_int8_pool {
    int64_t channels, in[3], out[3];
    const td_int8_span *spans[3];
    bool largest;    /* else averages */
    int64_t divisor; /* of averages; 0: the product of three counts */
    int64_t zero;    /* what an average is taken from, and added to */
} td_int8_pool;

/* output rows begin <= row < end of all samples and planes */
typedef void (*td_int8_pool_rows)(const td_int8_pool *p, const void *x, void *out, int64_t begin,
                                  int64_t end);
typedef struct td_int8_pool_kernels {
    td_int8_pool_rows u8, i8;
} td_int8_pool_kernels;

extern const td_int8_pool_kernels td_int8_pool_kernels_generic;
#ifdef __x86_64__
extern const td_int8_pool_kernels td_int8_pool_kernels_avx2, td_int8_pool_kernels_avx512;
#endif
#endif
