/* ranges.h - numbers at equal steps: td_ranges_alone<td_ranges_steps<D>>, a thread a number. */
#ifndef TD_RANGES_TEXT_H
#define TD_RANGES_TEXT_H
#include "cpu/simd/device/convert.h"

struct td_ranges_call { /* laid out as in csrc/cuda/ranges.c */
    char *out;
    int64_t n, first, by;
    double start, step;
};
/* as write_progression of ops/creation_ranges.c */
template <int D> struct td_ranges_steps {
    static TD_IN void one(const td_ranges_call &c, int64_t i)
    {
        double at = c.start + (double)i * c.step;
        if constexpr (D == TD_I64)
            ((int64_t *)c.out)[i] = (int64_t)((uint64_t)c.first + (uint64_t)i * (uint64_t)c.by);
        else if constexpr (D == TD_F32) ((float *)c.out)[i] = (float)at;
        else ((double *)c.out)[i] = at;
    }
};
template <class Work>
__global__ void __launch_bounds__(256) td_ranges_alone(const __grid_constant__ td_ranges_call c)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < c.n; at += step)
        Work::one(c, at);
}
#endif
