/* alignment.h - log-probabilities of states along all alignments, by the formulas of
 * cpu/loss_alignment.c, so its bits: 64 threads a sequence, a step at a time. The row before is
 * read from the results. */
#ifndef TD_ALIGNMENT_TEXT_H
#define TD_ALIGNMENT_TEXT_H
#include "cpu/simd/device/convert.h"
#include "cpu/simd/vmath.h"

struct td_alignment_call { /* laid out as in csrc/cuda/alignment.c */
    char *out;
    const char *emitted;
    const uint8_t *skips;
    const int64_t *real, *steps; /* states and steps of each sequence */
    int64_t longest, batch, states;
    int64_t back;
};
template <int D> struct td_alignment_lane;
template <> struct td_alignment_lane<TD_F32> {
    typedef vf type;
};
template <> struct td_alignment_lane<TD_F64> {
    typedef vd type;
};
/* the log of a sum of exponentials; what is -inf three times stays so */
template <class V> VFN V td_joined(V a, V b, V c)
{
    V top = vmax(a, vmax(b, c)), none = vset(a, -INFINITY);
    V from = vsel(veq(top, none), vzero(top), top);
    return from + vlog(vexp(a - from) + vexp(b - from) + vexp(c - from));
}
template <int D> struct td_alignment_steps {
    typedef typename td_mem<D>::type R;
    typedef typename td_alignment_lane<D>::type V;
    static TD_IN V at(const R *row, int64_t s, int64_t real)
    {
        return V(s >= 0 && s < real ? row[s] : R(-INFINITY));
    }
    static TD_IN V first(const td_alignment_call &c, int64_t s, int64_t real)
    {
        int64_t begin = c.back && real > 2 ? real - 2 : 0;
        return V(s >= begin && s < begin + 2 ? R(0) : R(-INFINITY));
    }
    static TD_IN V next(const td_alignment_call &c, const R *before, int64_t n, int64_t s,
                        int64_t real)
    {
        int64_t by = c.back ? 1 : -1;
        V skip = V(c.skips[n * c.states + s] ? R(0) : R(-INFINITY));
        return td_joined(at(before, s, real), at(before, s + by, real),
                         at(before, s + 2 * by, real) + skip);
    }
    static TD_IN void sequence(const td_alignment_call &c, int64_t n)
    {
        int64_t real = c.real[n], steps = c.steps[n], row = c.batch * c.states;
        R *out = (R *)c.out + n * c.states;
        const R *emitted = (const R *)c.emitted + n * c.states, *before = nullptr;
        for (int64_t k = 0; k < c.longest; k++)
            for (int64_t s = threadIdx.x; s < c.states; s += blockDim.x)
                out[k * row + s] = R(-INFINITY);
        __syncthreads();
#pragma unroll 1
        for (int64_t k = 0; k < steps; k++) {
            int64_t place = (c.back ? steps - 1 - k : k) * row;
#pragma unroll 1
            for (int64_t s = threadIdx.x; s < real; s += blockDim.x) {
                V reach = k ? next(c, before, n, s, real) : first(c, s, real);
                out[place + s] = (reach + V(emitted[place + s])).v;
            }
            before = out + place;
            __syncthreads();
        }
    }
};
template <class Work>
__global__ void __launch_bounds__(64)
    td_alignment_together(const __grid_constant__ td_alignment_call c)
{
    for (int64_t n = blockIdx.x; n < c.batch; n += gridDim.x) Work::sequence(c, n);
}
#endif
