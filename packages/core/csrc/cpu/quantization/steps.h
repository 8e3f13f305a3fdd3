/* steps.h - floats become integers of 8 bits with one scale and zero point, and floats again
 * (TD_PICK).
 *
 * An integer is rint(fma(x, inverse, zero)), half to even, then clamped to `least` and 255 more;
 * NaN becomes the greatest. */
#ifndef TD_STEPS_H
#define TD_STEPS_H
#include <stdint.h>
#include "runtime/cpu.h"

typedef struct td_steps {
    float inverse, zero, least; /* least: 0, or -128 of int8 */
} td_steps;

typedef struct td_steps_kernels {
    void (*quantize)(const td_steps *s, const float *x, int64_t n, uint8_t *to);
    /* the least and the greatest of n >= 1 numbers into ends[0] and ends[1]; with a NaN among them
     * an end is NaN */
    void (*range)(const float *x, int64_t n, float ends[2]);
    /* (q - zero) * scale of integers, which are int8 where `flip` is 0x80; zero is as in td_steps
     */
    void (*floats)(const uint8_t *restrict q, uint8_t flip, float scale, float zero, int64_t n,
                   float *restrict to);
} td_steps_kernels;

extern const td_steps_kernels td_steps_kernels_generic;
#ifdef __x86_64__
extern const td_steps_kernels td_steps_kernels_avx2, td_steps_kernels_avx512;
#endif
#endif
