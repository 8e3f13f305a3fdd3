/* distance.h - kernels of p-norm distances between rows (TD_PICK). */
#ifndef TD_DISTANCE_H
#define TD_DISTANCE_H
#include "runtime/loops.h"

typedef enum td_distance_kind {
    TD_DISTANCE_1,
    TD_DISTANCE_2,
    TD_DISTANCE_INF,
    TD_DISTANCE_P, /* any other p, 0 too */
    TD_DISTANCE_KINDS
} td_distance_kind;

/* Rows that are read together lie in panels of so many bytes: feature after feature, in each the
 * numbers of all rows of the panel. */
#define TD_PANEL_BYTES 128

typedef struct td_distance_kernel {
    /* from row x of n features to every row of a panel */
    void (*panel)(void *out, const void *x, const void *panel, int64_t n, double p);
    /* out[i] = sum over rows j of g[j] * d distance[j] / d x[i]; y holds the rows one after the
     * other, `distance` what `panel` made */
    void (*pull)(void *out, const void *x, const void *y, int64_t rows, int64_t n, const void *g,
                 const void *distance, double p);
} td_distance_kernel;

typedef struct td_distance_kernels {
    td_distance_kernel of[TD_DISTANCE_KINDS][2]; /* float, double */
} td_distance_kernels;

extern const td_distance_kernels td_distance_kernels_generic;
#ifdef __x86_64__
extern const td_distance_kernels td_distance_kernels_avx2;
extern const td_distance_kernels td_distance_kernels_avx512;
#endif

#endif
