/* int8.h - products of int8 matrices in int32, which wrap. */
#ifndef TD_MATMUL_INT8_H
#define TD_MATMUL_INT8_H
#include <stdint.h>
#include "runtime/cpu.h"

/* C = A B. Rows of A have adjacent elements; B has them in its rows (b_col 1) or in its columns
 * (b_row 1). C is dense. */
typedef struct td_int8_gemm {
    int64_t m, n, k;
    const int8_t *a, *b;
    int64_t a_row, b_row, b_col;
    int32_t *c;
} td_int8_gemm;

typedef struct td_int8_kernels {
    int64_t (*work)(const td_int8_gemm *g, int64_t columns); /* bytes of scratch */
    /* columns [begin, end) of C; NULL: there is no kernel */
    void (*run)(const td_int8_gemm *g, int64_t begin, int64_t end, void *work);
} td_int8_kernels;

extern const td_int8_kernels td_int8_kernels_generic;
#ifdef __x86_64__
extern const td_int8_kernels td_int8_kernels_avx2, td_int8_kernels_avx512;
#endif
#endif
