/* conv.h - convolutions, directly: one thread a result, which adds up its products in order. Right
 * for every stride, padding, dilation and group; no tiles and no tensor cores. */
#ifndef TD_CONV_TEXT_H
#define TD_CONV_TEXT_H
#include "cuda/kernels/matmul.h"

/* laid out as in csrc/cuda/conv.c; the names are those of cpu/conv/conv_run.h */
struct td_conv_call {
    const char *x, *w, *y, *bias;
    char *to;
    int64_t n, images, groups, channels, outputs;
    int64_t in[3], out[3], stride[3], kernel[3], dilation[3], padding[3];
};
struct td_place3 {
    int64_t at[3];
};
VFN int64_t td_volume3(const int64_t *size) { return size[0] * size[1] * size[2]; }
VFN td_place3 td_place_of(int64_t at, const int64_t *size)
{
    td_place3 p;
    p.at[2] = at % size[2];
    p.at[1] = at / size[2] % size[1];
    p.at[0] = at / size[2] / size[1];
    return p;
}
VFN int64_t td_number_of(const td_place3 &p, const int64_t *size)
{
    return (p.at[0] * size[1] + p.at[1]) * size[2] + p.at[2];
}
/* the number of the place of x that a pixel sees through a tap, or -1: it is padding */
VFN int64_t td_seen_at(const td_conv_call &c, const td_place3 &pixel, const td_place3 &tap)
{
    td_place3 p;
    for (int d = 0; d < 3; d++) {
        p.at[d] = pixel.at[d] * c.stride[d] + tap.at[d] * c.dilation[d] - c.padding[d];
        if (p.at[d] < 0 || p.at[d] >= c.in[d]) return -1;
    }
    return td_number_of(p, c.in);
}
/* the number of the pixel that sees a place of x through a tap, or -1: none does */
VFN int64_t td_seen_from(const td_conv_call &c, const td_place3 &place, const td_place3 &tap)
{
    td_place3 p;
    for (int d = 0; d < 3; d++) {
        int64_t moved = place.at[d] + c.padding[d] - tap.at[d] * c.dilation[d];
        if (moved < 0 || moved % c.stride[d]) return -1;
        p.at[d] = moved / c.stride[d];
        if (p.at[d] >= c.out[d]) return -1;
    }
    return td_number_of(p, c.out);
}

template <int D> struct td_conv_forward {
    static TD_IN void one(const td_conv_call &c, int64_t at)
    {
        typedef td_factor<D> F;
        typedef typename F::T T;
        int64_t pixels = td_volume3(c.out), taps = td_volume3(c.kernel), places = td_volume3(c.in);
        td_place3 pixel = td_place_of(at % pixels, c.out);
        int64_t plane = at / pixels, filter = plane % (c.groups * c.outputs);
        int64_t source = plane / c.outputs * c.channels; /* the group's first channel */
        typename F::acc sum = typename F::acc(0);
        for (int64_t k = 0; k < c.channels; k++)
            for (int64_t tap = 0; tap < taps; tap++) {
                int64_t seen = td_seen_at(c, pixel, td_place_of(tap, c.kernel));
                if (seen >= 0)
                    sum = F::add(sum, ((const T *)c.x)[(source + k) * places + seen],
                                 ((const T *)c.w)[(filter * c.channels + k) * taps + tap]);
            }
        if (c.bias) sum = F::sum(sum, F::of(((const T *)c.bias)[filter]));
        ((T *)c.to)[at] = F::done(sum);
    }
};
template <int D> struct td_conv_data {
    static TD_IN void one(const td_conv_call &c, int64_t at)
    {
        typedef td_factor<D> F;
        typedef typename F::T T;
        int64_t pixels = td_volume3(c.out), taps = td_volume3(c.kernel), places = td_volume3(c.in);
        td_place3 place = td_place_of(at % places, c.in);
        int64_t plane = at / places, channel = plane % (c.groups * c.channels);
        int64_t group = channel / c.channels, k = channel % c.channels;
        int64_t source = plane / c.channels * c.outputs; /* the group's first output */
        typename F::acc sum = typename F::acc(0);
        for (int64_t o = 0; o < c.outputs; o++)
            for (int64_t tap = 0; tap < taps; tap++) {
                int64_t seen = td_seen_from(c, place, td_place_of(tap, c.kernel));
                if (seen < 0) continue;
                int64_t w = ((group * c.outputs + o) * c.channels + k) * taps + tap;
                sum = F::add(sum, ((const T *)c.y)[(source + o) * pixels + seen],
                             ((const T *)c.w)[w]);
            }
        if (c.bias) sum = F::sum(sum, F::of(((const T *)c.bias)[channel]));
        ((T *)c.to)[at] = F::done(sum);
    }
};
template <int D> struct td_conv_weight {
    static TD_IN void one(const td_conv_call &c, int64_t at)
    {
        typedef td_factor<D> F;
        typedef typename F::T T;
        int64_t pixels = td_volume3(c.out), taps = td_volume3(c.kernel), places = td_volume3(c.in);
        td_place3 tap = td_place_of(at % taps, c.kernel);
        int64_t k = at / taps % c.channels, filter = at / taps / c.channels;
        int64_t group = filter / c.outputs;
        typename F::acc sum = typename F::acc(0);
        for (int64_t image = 0; image < c.images; image++) {
            int64_t from = (image * c.groups + group) * c.channels + k;
            int64_t to = image * c.groups * c.outputs + filter;
            for (int64_t pixel = 0; pixel < pixels; pixel++) {
                int64_t seen = td_seen_at(c, td_place_of(pixel, c.out), tap);
                if (seen >= 0)
                    sum = F::add(sum, ((const T *)c.x)[from * places + seen],
                                 ((const T *)c.y)[to * pixels + pixel]);
            }
        }
        ((T *)c.to)[at] = F::done(sum);
    }
};
template <class Work>
__global__ void __launch_bounds__(256) td_conv_alone(const __grid_constant__ td_conv_call c)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < c.n; at += step)
        Work::one(c, at);
}
#endif
