/* f16.h - products of 16 bits that need no float32 copy of their factors. */
#ifndef TD_MATMUL_F16_H
#define TD_MATMUL_F16_H
#include <stdint.h>
#include "runtime/cpu.h"

/* Over k numbers of x: out[i] = sum of a[i * row + p] * x[p] for n rows, or out[j] = sum of
 * a[p * row + j] * x[p] for n columns. */
typedef void (*td_f16_times)(const uint16_t *a, int64_t row, const float *x, int64_t n, int64_t k,
                             float *out);

typedef struct td_f16_kernels {
    td_f16_times rows[2], columns[2]; /* of float16, of bfloat16; NULL: there is none */
} td_f16_kernels;

extern const td_f16_kernels td_f16_kernels_generic;
#ifdef __x86_64__
extern const td_f16_kernels td_f16_kernels_avx2, td_f16_kernels_avx512;
#endif
#endif
