/* scan.h - running sums, products, extrema and logsumexps along one dimension (TD_PICK). */
#ifndef TD_SCAN_KERNELS_H
#define TD_SCAN_KERNELS_H
#include "runtime/loops.h"

typedef enum td_scan_kind {
    TD_CUMSUM,
    TD_CUMPROD,
    TD_LOGCUMSUMEXP,
    TD_CUMMAX,
    TD_CUMMIN,
    TD_SCAN_KINDS
} td_scan_kind;

#define TD_SCAN_STRIP 256

/* n elements, `stride` elements apart, of m <= TD_SCAN_STRIP columns that are `pitch` elements
 * apart: neighbours of an inner dimension (pitch 1), or short rows (stride 1). carry: m
 * accumulators of at most 16 bytes with what came before, or NULL. indices: for cummax and cummin,
 * int64 in the layout of out. */
typedef void (*td_scan)(void *out, int64_t *indices, const void *x, int64_t n, int64_t stride,
                        int64_t m, int64_t pitch, const void *carry);

typedef struct td_scan_kernels {
    td_scan scan[TD_SCAN_KINDS][TD_C128 + 1];     /* NULL where there is none */
    double (*total[2])(const void *x, int64_t n); /* sum of a dense row of float, of double */
} td_scan_kernels;

extern const td_scan_kernels td_scan_kernels_generic;
#ifdef __x86_64__
extern const td_scan_kernels td_scan_kernels_avx2;
extern const td_scan_kernels td_scan_kernels_avx512;
#endif

#endif
