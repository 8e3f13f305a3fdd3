/* random.h - samples that are drawn on the device: the words of cpu/random/words.h at the same
 * places, so the processor's bits.
 *
 * A group of 64 words is 16 blocks of the generator; word k of block b is word 16 * k + b of the
 * group. A thread makes a block, that is four words.
 *
 *   td_random_alone<td_random_dropout<D>>    zeros, and the rest scaled; also the mask
 *   td_random_alone<td_random_masked<D>>     its gradient: a thread an element */
#ifndef TD_RANDOM_TEXT_H
#define TD_RANDOM_TEXT_H
#include "cpu/simd/device/convert.h"

#define TD_GROUP_BLOCKS 16
#define TD_GROUP_WORDS 64

struct td_random_call { /* laid out as in csrc/cuda/random.c */
    char *out;
    const char *x;
    uint8_t *mask;
    int64_t n, elements; /* threads with work; elements there are */
    uint64_t seed, block;
    const uint64_t
        *state; /* NULL, or of a graph: seed and first block, from which `block` counts */
    double scale;
    uint32_t threshold;
};
struct td_four_words {
    uint32_t at[4];
};
VFN td_four_words td_words_of(uint64_t seed, uint64_t block)
{
    uint32_t c0 = (uint32_t)block, c1 = (uint32_t)(block >> 32), c2 = 0, c3 = 0;
    uint32_t low = (uint32_t)seed, high = (uint32_t)(seed >> 32);
    for (int i = 0; i < 10; i++, low += 0x9E3779B9u, high += 0xBB67AE85u) {
        uint64_t p0 = (uint64_t)c0 * 0xD2511F53u, p1 = (uint64_t)c2 * 0xCD9E8D57u;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ low;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ high;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
    }
    td_four_words w;
    w.at[0] = c0;
    w.at[1] = c1;
    w.at[2] = c2;
    w.at[3] = c3;
    return w;
}
/* an element times 0 or the scale: what is not finite stays visible */
template <int D> VFN typename td_mem<D>::type td_scaled(typename td_mem<D>::type x, double factor)
{
    typedef typename td_value<D>::type R;
    if constexpr (D == TD_C64 || D == TD_C128) {
        typedef decltype(x.re) P;
        return typename td_mem<D>::type(x.re * (P)factor, x.im * (P)factor);
    } else return td_made<D>((R)(td_read<D, R>(x) * (R)factor));
}
template <int D> struct td_random_dropout {
    static TD_IN void one(const td_random_call &c, int64_t at)
    {
        typedef typename td_mem<D>::type T;
        uint64_t seed = c.state ? c.state[0] : c.seed, first_block = c.state ? c.state[1] : 0;
        td_four_words w = td_words_of(seed, first_block + c.block + (uint64_t)at);
        int64_t first = at / TD_GROUP_BLOCKS * TD_GROUP_WORDS + at % TD_GROUP_BLOCKS;
        for (int k = 0; k < 4; k++) {
            int64_t i = first + k * TD_GROUP_BLOCKS;
            if (i >= c.elements) return;
            bool kept = w.at[k] < c.threshold;
            c.mask[i] = kept;
            ((T *)c.out)[i] = td_scaled<D>(((const T *)c.x)[i], kept ? c.scale : 0.0);
        }
    }
};
template <int D> struct td_random_masked {
    static TD_IN void one(const td_random_call &c, int64_t i)
    {
        typedef typename td_mem<D>::type T;
        ((T *)c.out)[i] = td_scaled<D>(((const T *)c.x)[i], c.mask[i] ? c.scale : 0.0);
    }
};

template <class Work>
__global__ void __launch_bounds__(256) td_random_alone(const __grid_constant__ td_random_call c)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < c.n; at += step)
        Work::one(c, at);
}
#endif
