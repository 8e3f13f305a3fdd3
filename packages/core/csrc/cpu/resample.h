/* resample.h - weighted sums of neighbours along the last two dimensions of planes, and their
 * adjoint. One instance per instruction set (TD_PICK). Numbers are float32 or float64; tensors are
 * row-major. */
#ifndef TD_RESAMPLE_KERNELS_H
#define TD_RESAMPLE_KERNELS_H
#include "runtime/loops.h"

/* Output i is the sum over t of weight[t * out + i] * input[place[t * out + i]]. */
typedef struct td_taps {
    int64_t in, out, count; /* count: taps of each output */
    int32_t *place;
    void *weight; /* in the dtype of the computation */
} td_taps;

typedef struct td_planes {
    td_taps rows, columns;
    const char *from;
    char *to;
    char *line; /* work space of one input line */
} td_planes;

typedef struct td_resample_kernels {
    /* planes begin <= plane < end of (rows.in, columns.in) to (rows.out, columns.out) */
    void (*planes[2])(const td_planes *p, int64_t begin, int64_t end); /* float32, float64 */
    /* the adjoint: from gradients of the output's shape to the input's, which it clears first */
    void (*adjoint[2])(const td_planes *p, int64_t begin, int64_t end);
    /* to[k] += weight * from[k] */
    void (*add_line[2])(char *to, const char *from, double weight, int64_t n);
} td_resample_kernels;

extern const td_resample_kernels td_resample_kernels_generic;
#ifdef __x86_64__
extern const td_resample_kernels td_resample_kernels_avx2;
extern const td_resample_kernels td_resample_kernels_avx512;
#endif

#endif
