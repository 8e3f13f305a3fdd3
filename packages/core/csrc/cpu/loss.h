/* loss.h - kernels of losses (TD_PICK): between pairs of elements, and of class scores. */
#ifndef TD_LOSS_KERNELS_H
#define TD_LOSS_KERNELS_H
#include "runtime/loops.h"

typedef enum td_pair_kind {
    TD_MSE,
    TD_L1,
    TD_SMOOTH_L1,
    TD_HUBER,
    TD_SOFT_MARGIN,
    TD_BCE,
    TD_BCE_LOGITS,
    TD_PAIR_KINDS
} td_pair_kind;

/* Losses of element x with target t; p is the kind's parameter (beta, delta). Dense float or
 * double. */
typedef struct td_pair_kernel {
    void (*each)(void *out, const void *x, const void *t, int64_t n, double p);
    double (*sum)(const void *x, const void *t, int64_t n, double p);
    /* out = g * d loss / d x; g is one number (g_step 0) or n of them (g_step 1), times scale */
    void (*gradient)(void *out, const void *g, int64_t g_step, double scale, const void *x,
                     const void *t, int64_t n, double p);
} td_pair_kernel;

/* Cross entropy: of every row of scores the maximum `top`, and `log` of the sum of exp(x - top). */
typedef struct td_class_kernel {
    void (*rows)(void *top, void *log, const void *x, int64_t rows, int64_t n);
    void (*cols)(void *top, void *log, const void *x, int64_t n, int64_t stride,
                 int64_t m); /* m <= TD_CLASS_STRIP */
    /* out = exp(x - top - log) * scale; rows and columns of scale 0 become 0 whatever they hold */
    void (*rows_gradient)(void *out, const void *x, const void *top, const void *log,
                          const void *scale, int64_t rows, int64_t n);
    void (*cols_gradient)(void *out, const void *x, const void *top, const void *log,
                          const void *scale, int64_t n, int64_t stride, int64_t m);
} td_class_kernel;

#define TD_CLASS_STRIP 256

/* Margins between the labels of a row of n scores and its other classes: their sum over n, and its
 * slope by every score. `others`: room for n numbers. */
typedef struct td_margin_kernel {
    void (*row)(void *loss, void *slope, const void *x, int64_t n, const int64_t *labels,
                int64_t count, double margin, void *others);
} td_margin_kernel;

typedef struct td_loss_kernels {
    td_pair_kernel pair[TD_PAIR_KINDS][2]; /* float, double */
    td_class_kernel classes[2];
    td_margin_kernel margin[2];
} td_loss_kernels;

extern const td_loss_kernels td_loss_kernels_generic;
#ifdef __x86_64__
extern const td_loss_kernels td_loss_kernels_avx2;
extern const td_loss_kernels td_loss_kernels_avx512;
#endif

#endif
