/* bags.h - sums of rows of integers, each with a scale and a shift, as floats (TD_PICK). */
#ifndef TD_BAGS_H
#define TD_BAGS_H
#include <stdint.h>
#include "runtime/cpu.h"

typedef struct td_bags_kernels {
    /* to[i] = fma(row[i], scale, to[i] + shift) */
    void (*add)(const uint8_t *restrict row, float scale, float shift, int64_t n,
                float *restrict to);
} td_bags_kernels;

extern const td_bags_kernels td_bags_kernels_generic;
#ifdef __x86_64__
extern const td_bags_kernels td_bags_kernels_avx2, td_bags_kernels_avx512;
#endif
#endif
