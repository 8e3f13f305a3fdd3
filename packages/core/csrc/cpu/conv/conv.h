/* conv.h - what convolutions add to products of matrices: panels of patches, depthwise planes,
 * Winograd tiles.
 *
 * All convolutions are seen as one: an output pixel looks at the input at pixel * stride + tap, for
 * a list of taps. Padding, dilation and transposition only change the taps. One- and
 * two-dimensional ones have leading sizes of 1. */
#ifndef TD_CONV_H
#define TD_CONV_H
#include <stdbool.h>
#include "cpu/matmul/gemm.h"

/* Where the patches of some images lie. Planes are row-major; taps may point outside of them, where
 * zeros are read. */
typedef struct td_patches {
    const void *x;
    int64_t image, channel; /* strides, in elements */
    int64_t in[3], out[3], stride[3];
    int64_t taps;
    const int64_t (*tap)[3];
    int64_t low[3], high[3]; /* the least and largest tap in each dimension */
} td_patches;

typedef struct td_conv_kernel {
    /* Columns are pixels, of one image after the other; rows are channel * taps + tap. */
    td_pack_b patches;
    int64_t (*patches_work)(const td_patches *p);
    /* The same turned: rows are pixels. */
    td_pack_b turned;
    int64_t (*turned_work)(const td_patches *p);
    /* One plane with one set of weights: y[pixel] = bias + sum over taps of w[tap] * x[pixel *
     * stride + tap]. */
    void (*plane)(const td_patches *p, const void *x, const void *w, double bias, void *y,
                  void *work);
    int64_t (*plane_work)(const td_patches *p); /* -1: planes do not do it this way */
    /* dw[tap] += sum over pixels of g[pixel] * x[pixel * stride + tap] */
    void (*plane_weight)(const td_patches *p, const void *x, const void *g, double *dw, void *work);
} td_conv_kernel;

typedef struct td_conv_kernels {
    td_conv_kernel real[2]; /* float, double */
    /* Words of every two of 2 * pairs planes, `plane` apart, of which n numbers each: the first
     * one's in the lower half. `alone`: one plane, and zeros beside it. */
    void (*pair)(const uint16_t *from, uint32_t *to, int64_t plane, int64_t n, int64_t pairs,
                 bool alone);
} td_conv_kernels;

extern const td_conv_kernels td_conv_kernels_generic;
#ifdef __x86_64__
extern const td_conv_kernels td_conv_kernels_avx2, td_conv_kernels_avx512;
#endif
#endif
