/* f16.h - products of float16 that need no float32 copy of their factors. */
#ifndef TD_MATMUL_F16_H
#define TD_MATMUL_F16_H
#include <stdint.h>
#include "runtime/cpu.h"

typedef struct td_f16_kernels {
    /* out[i] = sum of a[i * row + p] * x[p] over k numbers, for m rows; NULL: there is none */
    void (*times_vector)(const uint16_t *a, int64_t row, const float *x, int64_t m, int64_t k,
                         float *out);
} td_f16_kernels;

extern const td_f16_kernels td_f16_kernels_generic;
#ifdef __x86_64__
extern const td_f16_kernels td_f16_kernels_avx2, td_f16_kernels_avx512;
#endif
#endif
