/* steps_run.h - floats become integers of 8 bits and the other way, over threads. */
#ifndef TD_STEPS_RUN_H
#define TD_STEPS_RUN_H
#include <stdbool.h>
#include "cpu/quantization/steps.h"

/* what integers with this scale and zero point are made by; with_sign: int8, else uint8 */
td_steps td_steps_of(float scale, int64_t zero, bool with_sign);
void td_steps_quantize(const td_steps *s, const float *x, int64_t n, uint8_t *to);
/* the floats of n integers with this scale and zero point */
void td_steps_floats(const uint8_t *q, float scale, int64_t zero, bool with_sign, int64_t n,
                     float *to);
/* rows of `k` numbers, each at a multiple of `row` bytes */
void td_steps_quantize_rows(const td_steps *s, const float *x, int64_t m, int64_t k, uint8_t *to,
                            int64_t row);
/* false: a number is not finite; the ends are those of all numbers all the same */
bool td_steps_range(const float *x, int64_t n, float ends[2]);
#endif
