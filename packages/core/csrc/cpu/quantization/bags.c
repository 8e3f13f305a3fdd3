/* bags.c - the kernels of bags.h. */
#include "cpu/quantization/bags.h"
#include <math.h>
#include "runtime/loops.h"

static void add(const uint8_t *restrict row, float scale, float shift, int64_t n,
                float *restrict to)
{
    for (int64_t i = 0; i < n; i++) to[i] = fmaf((float)row[i], scale, to[i] + shift);
}

const td_bags_kernels TD_SYM(td_bags_kernels) = {add};
