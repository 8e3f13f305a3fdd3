/* any.h - products of integers and complex numbers: C = alpha * A B + beta * C, any strides,
 * integers wrap. */
#ifndef TD_GEMM_ANY_H
#define TD_GEMM_ANY_H
#include "runtime/cpu.h"
#include "runtime/tensor.h"

typedef struct td_any_gemm {
    int64_t m, n, k;
    const void *a, *b;
    void *c;
    int64_t a_row, a_col, b_row, b_col, c_row;
    _Alignas(16) char alpha[16], beta[16]; /* in C's dtype; beta 0: C is not read */
} td_any_gemm;

/* rows [begin, end) of C; work: TD_ANY_WORK bytes, 64-byte aligned */
typedef void (*td_any_gemm_fn)(const td_any_gemm *g, int64_t begin, int64_t end, void *work);
#define TD_ANY_DEPTH 128 /* rows of B in a block */
#define TD_ANY_WIDTH 64  /* its columns */
#define TD_ANY_WORK (TD_ANY_DEPTH * TD_ANY_WIDTH * 16)

typedef struct td_any_kernels {
    td_any_gemm_fn of[TD_NDTYPES]; /* NULL where there is none */
} td_any_kernels;

extern const td_any_kernels td_any_kernels_generic;
#ifdef __x86_64__
extern const td_any_kernels td_any_kernels_avx2, td_any_kernels_avx512;
#endif

/* over all threads (cpu/matmul/any_run.c) */
td_status td_any_run(td_dtype dtype, const td_any_gemm *g);
#endif
