/* pooling.h - the loops of max, average and adaptive pooling over one to three dimensions. Those of
 * floats have one instance per instruction set (TD_PICK); floats of 16 bits come as float32,
 * integers of 8 and 16 as int32 (ops/pooling.c). Tensors are row-major; a plane is one channel of
 * one sample. */
#ifndef TD_POOLING_KERNELS_H
#define TD_POOLING_KERNELS_H
#include "runtime/loops.h"

/* Fewer dimensions are the last of three; the others have size 1, a window of 1 and no padding. */
typedef struct td_pool {
    int64_t in[3], out[3], window[3], stride[3], pad[3], dilation[3];
    int64_t divisor;  /* average: 0 unless it is given */
    bool include_pad; /* average: padding counts */
    int64_t lowest;   /* max of integers: what a window gives that lies in the padding altogether */
    /* max: offset in a plane of each place of a window, from the window's first; NULL: there are so
     * many that they are computed one by one */
    const int64_t *places;
    int64_t channels; /* 0: rows are of planes; else channels of a pixel lie side by side */
} td_pool;

/* Forward loops make output rows begin <= row < end of all planes; `where` gets places in the
 * plane, or is NULL. Backward loops add up the gradients of planes begin <= plane < end, and clear
 * them first. */
typedef void (*td_pool_forward)(const td_pool *p, const char *in, char *out, int64_t *where,
                                int64_t begin, int64_t end);
typedef void (*td_pool_backward)(const td_pool *p, const char *in, const char *grad, char *grad_in,
                                 int64_t begin, int64_t end);

/* With channels, rows are of samples, and backward loops take blocks of TD_POOL_BLOCK channels,
 * one sample's after the other's. */
#define TD_POOL_BLOCK 128

typedef struct td_pooling_loops {
    td_pool_forward max[TD_NDTYPES], average[TD_NDTYPES], adaptive_max[TD_NDTYPES],
        adaptive_average[TD_NDTYPES];
    td_pool_backward max_backward[TD_NDTYPES], average_backward[TD_NDTYPES],
        adaptive_average_backward[TD_NDTYPES];
} td_pooling_loops;

typedef struct td_pooling_kernels {
    td_pooling_loops planes, pixels;
} td_pooling_kernels;

extern const td_pooling_kernels td_pooling_kernels_generic, td_pooling_integers;
#ifdef __x86_64__
extern const td_pooling_kernels td_pooling_kernels_avx2;
extern const td_pooling_kernels td_pooling_kernels_avx512;
#endif

/* From a plane's first element to (d, h, w). Of places in the padding it may wrap around; the sum
 * with another offset that leads back inside does not. */
static inline int64_t td_pool_offset(const td_pool *p, int64_t d, int64_t h, int64_t w)
{
    uint64_t row = (uint64_t)d * (uint64_t)p->in[1] + (uint64_t)h;
    return (int64_t)(row * (uint64_t)p->in[2] + (uint64_t)w);
}

/* From the first place of a window to place number `place`. */
static inline int64_t td_pool_step(const td_pool *p, int64_t place)
{
    int64_t kw = place % p->window[2], rest = place / p->window[2];
    return td_pool_offset(p, rest / p->window[1] * p->dilation[0],
                          rest % p->window[1] * p->dilation[1], kw * p->dilation[2]);
}

/* Where the part of adaptive pooling that makes output `i` begins and ends. A single output, the
 * usual last layer of a network, is told apart: divisions cost more than a map of 7 x 7. */
static inline int64_t td_adaptive_begin(int64_t i, int64_t in, int64_t out)
{
    if (out == 1) return 0;
    return (i / out) * in + (i % out) * in / out;
}
static inline int64_t td_adaptive_end(int64_t i, int64_t in, int64_t out)
{
    if (out == 1) return in;
    return 1 + ((i + 1) * in - 1) / out;
}

#endif
