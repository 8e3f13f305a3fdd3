/* conv.h - convolutions: the columns that products of matrices read (csrc/cuda/conv.c), and the
 * sums themselves, a thread or a block a result, for dtypes and shapes that no such product serves.
 *
 *   td_conv_alone<td_conv_columns<D>>   what every pixel sees through every tap
 *   td_conv_alone<td_conv_seen<D>>      ... every place of x from every tap, for the gradient
 *   td_conv_alone<td_conv_bias<D>>      results that start as the bias
 *   td_conv_alone<td_conv_forward<D>>   and _data: a thread a result
 *   td_conv_together<td_conv_weight<D>> a block a result */
#ifndef TD_CONV_TEXT_H
#define TD_CONV_TEXT_H
#include "cuda/kernels/division.h"
#include "cuda/kernels/matmul.h"

/* laid out as in csrc/cuda/conv_call.h; the names are those of cpu/conv/conv_run.h */
struct td_conv_call {
    const char *x, *w, *y, *bias;
    char *to;
    int64_t n, images, groups, channels, outputs;
    int32_t in[3], out[3], stride[3], kernel[3], dilation[3], padding[3];
    /* columns: pixels first .. first + pixels of every plane; steps of `to` in elements */
    int64_t first, pixels, by_image, by_group, by_channel, by_tap;
};
struct td_spot {
    int32_t at[3];
};
VFN int64_t td_spots(const int32_t *size) { return (int64_t)size[0] * size[1] * size[2]; }
VFN td_spot td_spot_of(int64_t at, const int32_t *size)
{
    td_spot p;
    int64_t rows = td_over(at, size[2]), planes = td_over(rows, size[1]);
    p.at[2] = (int32_t)(at - rows * size[2]);
    p.at[1] = (int32_t)(rows - planes * size[1]);
    p.at[0] = (int32_t)planes;
    return p;
}
/* along dimension d: where a pixel looks through a tap; below 0 at padding */
VFN int32_t td_seen_at(const td_conv_call &c, int d, int32_t pixel, int32_t tap)
{
    int32_t at = pixel * c.stride[d] + tap * c.dilation[d] - c.padding[d];
    return at < c.in[d] ? at : -1;
}
/* ... and which pixel looks at a place through a tap; -1: none */
VFN int32_t td_seen_from(const td_conv_call &c, int d, int32_t place, int32_t tap)
{
    int32_t moved = place + c.padding[d] - tap * c.dilation[d], at = moved;
    if (moved < 0) return -1;
    if (c.stride[d] != 1) {
        at = (int32_t)((uint32_t)moved / (uint32_t)c.stride[d]);
        if (at * c.stride[d] != moved) return -1;
    }
    return at < c.out[d] ? at : -1;
}
/* the two directions: from a pixel of y to x, and from a place of x to y */
struct td_to_x {
    static TD_IN int32_t at(const td_conv_call &c, int d, int32_t p, int32_t tap)
    {
        return td_seen_at(c, d, p, tap);
    }
    static TD_IN const int32_t *from(const td_conv_call &c) { return c.out; }
    static TD_IN const int32_t *plane(const td_conv_call &c) { return c.in; }
    static TD_IN const char *data(const td_conv_call &c) { return c.x; }
};
struct td_to_y {
    static TD_IN int32_t at(const td_conv_call &c, int d, int32_t p, int32_t tap)
    {
        return td_seen_from(c, d, p, tap);
    }
    static TD_IN const int32_t *from(const td_conv_call &c) { return c.in; }
    static TD_IN const int32_t *plane(const td_conv_call &c) { return c.out; }
    static TD_IN const char *data(const td_conv_call &c) { return c.y; }
};
/* visit(tap, element of the plane, or -1) for every tap in order */
template <class Way, class Visit>
VFN void td_taps(const td_conv_call &c, const td_spot &p, Visit visit)
{
    const int32_t *plane = Way::plane(c);
    int64_t tap = 0;
    for (int32_t i = 0; i < c.kernel[0]; i++) {
        int32_t a = Way::at(c, 0, p.at[0], i);
        for (int32_t j = 0; j < c.kernel[1]; j++) {
            int32_t b = Way::at(c, 1, p.at[1], j);
            int64_t row = ((int64_t)a * plane[1] + b) * plane[2];
            bool inside = a >= 0 && b >= 0;
            for (int32_t k = 0; k < c.kernel[2]; k++) {
                int32_t e = Way::at(c, 2, p.at[2], k);
                visit(tap++, inside && e >= 0 ? row + e : -1);
            }
        }
    }
}

/* ---- columns: `images` by `groups` by `channels` planes ---- */
template <class Way, class T> VFN void td_column(const td_conv_call &c, int64_t at)
{
    int64_t plane = td_over(at, c.pixels), pixel = at - plane * c.pixels;
    int64_t set = td_over(plane, c.channels), channel = plane - set * c.channels;
    int64_t image = td_over(set, c.groups), group = set - image * c.groups;
    const T *from = (const T *)Way::data(c) + plane * td_spots(Way::plane(c));
    T *to = (T *)c.to + image * c.by_image + group * c.by_group + channel * c.by_channel + pixel;
    td_spot p = td_spot_of(c.first + pixel, Way::from(c));
    td_taps<Way>(c, p, [&](int64_t tap, int64_t seen) {
        to[tap * c.by_tap] = seen >= 0 ? from[seen] : T(0);
    });
}
template <int D> struct td_conv_columns {
    static TD_IN void one(const td_conv_call &c, int64_t at)
    {
        td_column<td_to_x, typename td_mem<D>::type>(c, at);
    }
};
template <int D> struct td_conv_seen {
    static TD_IN void one(const td_conv_call &c, int64_t at)
    {
        td_column<td_to_y, typename td_mem<D>::type>(c, at);
    }
};
template <int D> struct td_conv_bias { /* pixels: of a plane of results; channels: of all groups */
    static TD_IN void one(const td_conv_call &c, int64_t at)
    {
        typedef typename td_mem<D>::type T;
        int64_t plane = td_over(at, c.pixels);
        ((T *)c.to)[at] = ((const T *)c.bias)[plane - td_over(plane, c.channels) * c.channels];
    }
};

/* ---- sums ---- */
template <int D> struct td_conv_forward {
    static TD_IN void one(const td_conv_call &c, int64_t at)
    {
        typedef td_factor<D> F;
        typedef typename F::T T;
        int64_t pixels = td_spots(c.out), taps = td_spots(c.kernel), places = td_spots(c.in);
        int64_t plane = td_over(at, pixels), filters = c.groups * c.outputs;
        int64_t filter = plane - td_over(plane, filters) * filters;
        td_spot pixel = td_spot_of(at - plane * pixels, c.out);
        const T *x = (const T *)c.x + td_over(plane, c.outputs) * c.channels * places;
        const T *w = (const T *)c.w + filter * c.channels * taps;
        typename F::acc sum = typename F::acc(0);
        for (int64_t k = 0; k < c.channels; k++, x += places, w += taps)
            td_taps<td_to_x>(c, pixel, [&](int64_t tap, int64_t seen) {
                if (seen >= 0) sum = F::add(sum, x[seen], w[tap]);
            });
        if (c.bias) sum = F::sum(sum, F::of(((const T *)c.bias)[filter]));
        ((T *)c.to)[at] = F::done(sum);
    }
};
template <int D> struct td_conv_data {
    static TD_IN void one(const td_conv_call &c, int64_t at)
    {
        typedef td_factor<D> F;
        typedef typename F::T T;
        int64_t pixels = td_spots(c.out), taps = td_spots(c.kernel), places = td_spots(c.in);
        int64_t plane = td_over(at, places), all = c.groups * c.channels;
        int64_t channel = plane - td_over(plane, all) * all, group = td_over(channel, c.channels);
        td_spot place = td_spot_of(at - plane * places, c.in);
        const T *y = (const T *)c.y + td_over(plane, c.channels) * c.outputs * pixels;
        const T *w =
            (const T *)c.w + (group * c.outputs * c.channels + channel - group * c.channels) * taps;
        typename F::acc sum = typename F::acc(0);
        for (int64_t o = 0; o < c.outputs; o++, y += pixels, w += c.channels * taps)
            td_taps<td_to_y>(c, place, [&](int64_t tap, int64_t seen) {
                if (seen >= 0) sum = F::add(sum, y[seen], w[tap]);
            });
        if (c.bias) sum = F::sum(sum, F::of(((const T *)c.bias)[channel]));
        ((T *)c.to)[at] = F::done(sum);
    }
};
#define TD_CONV_LANES 64
template <int D> struct td_conv_weight { /* lane i adds up pixels i, i + 64, ... of every image */
    typedef td_factor<D> F;
    typedef typename F::T T;
    typedef typename F::acc acc;
    static TD_IN acc share(const td_conv_call &c, int64_t filter, int64_t k, const td_spot &tap)
    {
        int64_t pixels = td_spots(c.out), places = td_spots(c.in);
        int64_t group = td_over(filter, c.outputs), channels = c.groups * c.channels;
        const T *x = (const T *)c.x + (group * c.channels + k) * places;
        const T *y = (const T *)c.y + filter * pixels;
        acc sum = acc(0);
        for (int64_t image = 0; image < c.images; image++) {
            for (int64_t at = threadIdx.x; at < pixels; at += TD_CONV_LANES) {
                td_spot p = td_spot_of(at, c.out);
                int32_t i = td_seen_at(c, 0, p.at[0], tap.at[0]);
                int32_t j = td_seen_at(c, 1, p.at[1], tap.at[1]);
                int32_t e = td_seen_at(c, 2, p.at[2], tap.at[2]);
                if (i >= 0 && j >= 0 && e >= 0)
                    sum = F::add(sum, x[((int64_t)i * c.in[1] + j) * c.in[2] + e], y[at]);
            }
            x += channels * places;
            y += c.groups * c.outputs * pixels;
        }
        return sum;
    }
    static TD_IN void unit(const td_conv_call &c, int64_t at)
    {
        __shared__ acc shares[TD_CONV_LANES];
        int64_t taps = td_spots(c.kernel), plane = td_over(at, taps);
        int64_t filter = td_over(plane, c.channels), k = plane - filter * c.channels;
        shares[threadIdx.x] = share(c, filter, k, td_spot_of(at - plane * taps, c.kernel));
        __syncthreads();
        for (unsigned half = TD_CONV_LANES / 2; half; half /= 2) {
            if (threadIdx.x < half)
                shares[threadIdx.x] = F::sum(shares[threadIdx.x], shares[threadIdx.x + half]);
            __syncthreads();
        }
        if (threadIdx.x == 0) ((T *)c.to)[at] = F::done(shares[0]);
        __syncthreads(); /* before the next unit's shares */
    }
};
template <class Work>
__global__ void __launch_bounds__(256, 4) td_conv_alone(const __grid_constant__ td_conv_call c)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < c.n; at += step)
        Work::one(c, at);
}
template <class Work>
__global__ void __launch_bounds__(64) td_conv_together(const __grid_constant__ td_conv_call c)
{
    for (int64_t at = blockIdx.x; at < c.n; at += gridDim.x) Work::unit(c, at);
}
#endif
