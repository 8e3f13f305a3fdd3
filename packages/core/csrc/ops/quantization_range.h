/* quantization_range.h - how a range of floats becomes a scale and a zero point. */
#ifndef TD_QUANTIZATION_RANGE_H
#define TD_QUANTIZATION_RANGE_H
#include <stdint.h>

/* Of finite ends; integers go from 0 to `most`. The range is made to hold 0. */
void td_choose_parameters(const float ends[2], int64_t most, float *scale, int64_t *zero);
#endif
