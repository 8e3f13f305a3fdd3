/* softmax.h - softmax, log_softmax, their gradients, and logsumexp, over rows or over columns
 * (TD_PICK). */
#ifndef TD_SOFTMAX_KERNELS_H
#define TD_SOFTMAX_KERNELS_H
#include "runtime/loops.h"

typedef enum td_softmax_kind {
    TD_SOFTMAX,
    TD_LOG_SOFTMAX,
    TD_SOFTMAX_BACKWARD,
    TD_LOG_SOFTMAX_BACKWARD,
    TD_LOGSUMEXP,
    TD_SOFTMAX_KINDS
} td_softmax_kind;

/* Forward kinds read `a`; backward ones take the gradient in `a` and the result in `b`. LOGSUMEXP
 * writes one number a row. */
typedef struct td_softmax_kernel {
    /* dense rows of n elements, one behind the other; out may be a */
    void (*rows)(void *out, const void *a, const void *b, int64_t rows, int64_t n);
    /* m <= TD_SOFTMAX_STRIP neighbouring columns of n elements that are `stride` elements apart */
    void (*cols)(void *out, const void *a, const void *b, int64_t n, int64_t stride, int64_t m);
} td_softmax_kernel;

#define TD_SOFTMAX_STRIP 256
typedef td_softmax_kernel td_softmax_kernels[TD_SOFTMAX_KINDS][2]; /* float, double */

extern const td_softmax_kernels td_softmax_kernels_generic;
#ifdef __x86_64__
extern const td_softmax_kernels td_softmax_kernels_avx2;
extern const td_softmax_kernels td_softmax_kernels_avx512;
#endif

#endif
