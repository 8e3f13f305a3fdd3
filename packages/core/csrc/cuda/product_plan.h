/* product_plan.h - how cuBLASLt computes a product: found once for a kind of product, then kept. */
#ifndef TD_CUDA_PRODUCT_PLAN_H
#define TD_CUDA_PRODUCT_PLAN_H
#include "cuda/cublaslt.h"

/* A matrix as the library sees it: columns of `rows` adjacent elements, `leading` apart. */
typedef struct td_lt_matrix {
    int64_t rows, columns, leading, step; /* step: to the next of a batch */
    int32_t turned;
    int32_t aligned; /* bytes that its address is a multiple of: a power of two, at most 256 */
} td_lt_matrix;

/* D = alpha op(A) op(B) + beta D, or with a number for each row of D. Compared as bytes. */
typedef struct td_lt_kind {
    td_lt_matrix a, b, d;
    int64_t batch;
    int32_t type, result, scale, compute, reductions; /* type: of A and B */
    int32_t bias_aligned;                             /* 0: no bias */
    int32_t epilogue;
    int32_t ordinal;
} td_lt_kind;

/* Lent to one call at a time. */
typedef struct td_lt_plan {
    td_lt_kind kind;
    uint64_t used; /* when, as a number that grows */
    bool lent, kept;
    int refused; /* the status with which the library declines such products; 0: it computes them */
    void *desc, *a, *b, *d;
    td_lt_algo algo;
    size_t workspace;
} td_lt_plan;

/* A plan, whose bias is set, to be given back. NULL: the host has no memory for one. */
td_lt_plan *td_lt_borrow(const td_lt_kind *kind, void *handle, const void *bias);
void td_lt_give_back(td_lt_plan *plan);

#endif
