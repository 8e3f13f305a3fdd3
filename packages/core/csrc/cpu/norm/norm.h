/* norm.h - the passes that layer, group, instance and batch normalisation are made of (TD_PICK).
 *
 * "Segments" are dense rows with a scale of their own each (a channel of an image); "columns" are
 * rows of channels, so the numbers change along a row. Pointers are to float or double, as the
 * table says; weights and biases may be NULL. */
#ifndef TD_NORM_KERNELS_H
#define TD_NORM_KERNELS_H
#include "runtime/loops.h"

typedef struct td_norm_row {
    int64_t rows, n;
    double eps;
    int centred; /* 0: root mean square, the mean counts as 0 */
} td_norm_row;

typedef struct td_norm_kernel {
    /* out = (x - mean) * rstd * weight + bias for rows of n; mean (may be NULL) and rstd receive a
     * number a row */
    void (*rows)(const td_norm_row *job, void *out, void *mean, void *rstd, const void *x,
                 const void *weight, const void *bias);
    /* Gradients of the same. dx may be NULL; dweight and dbias (may be NULL) are added to. */
    void (*rows_backward)(const td_norm_row *job, void *dx, void *dweight, void *dbias,
                          const void *grad, const void *x, const void *mean, const void *rstd,
                          const void *weight);
    /* sums[0] = sum of g, sums[1] = sum of g * (x - mean), over `count` segments of n, `stride`
     * elements apart */
    void (*segment_sums)(double *sums, const void *g, const void *x, double mean, int64_t n,
                         int64_t count, int64_t stride);
    /* moments[0] = mean, moments[1] = standard deviation (biased), over such segments; reads them
     * twice */
    void (*segment_moments)(double *moments, const void *x, int64_t n, int64_t count,
                            int64_t stride);
    /* the same for m <= TD_NORM_STRIP columns of `rows` rows, `stride` elements apart; mean has a
     * number a column */
    void (*column_sums)(double *sum_g, double *sum_gx, const void *g, const void *x,
                        const void *mean, int64_t rows, int64_t stride, int64_t m);
    /* out = (x - mean) * a + c over segments [begin, end) of n, numbers repeating after `period`
     * segments; over dense rows of n columns */
    void (*segment_scale)(void *out, const void *x, const void *a, const void *c, const void *mean,
                          int64_t begin, int64_t end, int64_t period, int64_t n);
    void (*column_scale)(void *out, const void *x, const void *a, const void *c, const void *mean,
                         int64_t rows, int64_t n);
    /* out = g * a + x * b + c, the same ways */
    void (*segment_mix)(void *out, const void *g, const void *x, const void *a, const void *b,
                        const void *c, int64_t begin, int64_t end, int64_t period, int64_t n);
    void (*column_mix)(void *out, const void *g, const void *x, const void *a, const void *b,
                       const void *c, int64_t rows, int64_t n);
} td_norm_kernel;

#define TD_NORM_STRIP 256
typedef td_norm_kernel td_norm_kernels[2]; /* float, double */

extern const td_norm_kernels td_norm_kernels_generic;
#ifdef __x86_64__
extern const td_norm_kernels td_norm_kernels_avx2;
extern const td_norm_kernels td_norm_kernels_avx512;
#endif

#endif
