/* gemm.h - products of matrices of float and double, as one serial kernel call on one block of the
 * result.
 *
 *   C[m, n] = alpha * A[m, k] B[k, n] + row_bias[m] + (C if add, or else col_bias[n])
 *
 * A and B have any strides (in elements); rows of C have adjacent elements. B need not exist in
 * memory: `pack` may make its panels, which is how convolution multiplies by patches it never
 * stores. Who splits the work over threads (cpu/matmul/gemm_run.c) plans once for the whole
 * product, so an element's value does not depend on the split. */
#ifndef TD_GEMM_H
#define TD_GEMM_H
#include <stdbool.h>
#include <stdint.h>
#include "runtime/cpu.h"

/* Write rows [k0, k0 + k) and columns [col, col + width) of B to `panel`: k rows of `nr` numbers,
 * those past `width` finite. work: the bytes the kernel asked for, `pack_work`. */
typedef void (*td_pack_b)(const void *context, void *panel, int64_t k0, int64_t k, int64_t col,
                          int64_t width, void *work);

/* In a product of bfloat16 a row of B is one of words: two neighbours along k. */
typedef enum td_gemm_way {
    TD_GEMM_PACKED, /* both operands in panels */
    TD_GEMM_SMALL,  /* both in place: B by rows, small enough for the first caches */
    TD_GEMM_DIRECT, /* few rows of A: B by rows, read once, in place */
    TD_GEMM_DOT,    /* both contiguous along k, few rows or few columns */
} td_gemm_way;

typedef struct td_gemm {
    int64_t m, n, k;
    const void *a;
    int64_t a_row, a_col;
    const void *b;
    int64_t b_row, b_col;
    td_pack_b pack; /* NULL: B is in memory */
    const void *pack_context;
    int64_t pack_work; /* bytes of scratch that `pack` wants */
    void *c;
    int64_t c_row;
    double alpha;
    int add;
    const void *row_bias, *col_bias;
    bool rounds; /* C is bfloat16: where the kernel's `fits` says so; the biases are float32 */
    int64_t first_col; /* `pack` counts columns from here: the block's place in the whole product */
    td_gemm_way way;
} td_gemm;

/* What one instruction set offers for one element type. */
typedef struct td_gemm_kernel {
    /* tile: splits at multiples of these lose nothing */
    int mr, nr;
    td_gemm_way (*plan)(const td_gemm *g); /* the way for this whole product */
    /* bytes of scratch for this block; a block of fewer rows may want more */
    int64_t (*work)(const td_gemm *g);
    void (*run)(const td_gemm *g, void *scratch); /* scratch: 64-byte aligned */
    /* One panel of B (k rows) times A packed by pack_a: all m rows of C, up to `width` columns;
     * added to C if `add`. */
    void (*panel)(int64_t m, int64_t k, double alpha, const void *packed_a, const void *panel,
                  void *c, int64_t c_row, int64_t width, int add);
    /* m rows of k numbers into panels of mr rows, each [k][mr], the last one narrower */
    void (*pack_a)(void *packed, const void *a, int64_t a_row, int64_t a_col, int64_t m, int64_t k);
    double (*dot)(int64_t n, const void *a, int64_t a_step, const void *b, int64_t b_step);
    /* A panel of plain B: k rows of nr numbers, columns past width zero */
    void (*pack_b)(void *panel, const void *b, int64_t b_row, int64_t b_col, int64_t k,
                   int64_t width);
    /* whether the kernel can make C in bfloat16; NULL: never */
    bool (*fits)(const td_gemm *g);
} td_gemm_kernel;

typedef struct td_gemm_kernels {
    td_gemm_kernel real[2]; /* float, double */
} td_gemm_kernels;

/* 1: the way of a product does not depend on its rows, nor that of a convolution on its images, so
 * a sample's result has the same bits in any batch. Process-wide. */
extern int td_batch_invariant;

extern const td_gemm_kernels td_gemm_kernels_generic;
/* bfloat16 times bfloat16, C and biases float32 (cpu/matmul/bf16.c); `run` NULL: there is none */
extern const td_gemm_kernel td_gemm_bf16_generic;
/* the same by tile registers (cpu/matmul/bf16_tiles.c), where td_has_tiles() */
extern const td_gemm_kernel td_gemm_bf16_tiles_generic;
#ifdef __x86_64__
extern const td_gemm_kernels td_gemm_kernels_avx2, td_gemm_kernels_avx512;
extern const td_gemm_kernel td_gemm_bf16_avx2, td_gemm_bf16_avx512;
extern const td_gemm_kernel td_gemm_bf16_tiles_avx2, td_gemm_bf16_tiles_avx512;
#endif
#endif
