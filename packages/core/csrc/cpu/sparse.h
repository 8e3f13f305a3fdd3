/* sparse.h - kernels of products with sparse matrices in compressed rows (TD_PICK). */
#ifndef TD_SPARSE_H
#define TD_SPARSE_H
#include "runtime/loops.h"

/* Of `known` >= count the first `count` columns are of the row, and the others come after it: what
 * they need is fetched early. */
typedef struct td_sparse_kernel {
    /* out[i] += sum over k < count of values[k] * dense[cols[k] * n + i], for i < n */
    void (*add)(void *out, const void *dense, const int64_t *cols, const void *values,
                int64_t count, int64_t known, int64_t n);
    /* out[k] = sum over i < n of row[i] * dense[cols[k] * n + i], for k < count */
    void (*dot)(void *out, const void *row, const void *dense, const int64_t *cols, int64_t count,
                int64_t known, int64_t n);
} td_sparse_kernel;

typedef struct td_sparse_kernels {
    td_sparse_kernel of[2]; /* float, double */
} td_sparse_kernels;

extern const td_sparse_kernels td_sparse_kernels_generic;
#ifdef __x86_64__
extern const td_sparse_kernels td_sparse_kernels_avx2;
extern const td_sparse_kernels td_sparse_kernels_avx512;
#endif

#endif
