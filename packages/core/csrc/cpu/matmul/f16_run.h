/* f16_run.h - products of float16 that need no float32 copy of their factors. */
#ifndef TD_MATMUL_F16_RUN_H
#define TD_MATMUL_F16_RUN_H
#include <stdbool.h>
#include <stdint.h>

bool td_multiplies_f16(void); /* is there a kernel on this processor? */
/* out[i] = sum of a[i * k + p] * x[p]: m dense rows of k float16 numbers, over all threads */
void td_f16_times_vector(const uint16_t *a, const float *x, int64_t m, int64_t k, float *out);
#endif
