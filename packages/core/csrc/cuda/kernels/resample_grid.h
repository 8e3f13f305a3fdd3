/* resample_grid.h - values of images and volumes between their pixels, and what images and grid get
 * back: the formulas of cpu/resample_grid.c in its order, so its bits.
 *
 *   td_resample_grid_alone<td_resample_grid_values_M<D>>    a thread a place, for all channels
 *   td_resample_grid_alone<td_resample_grid_by_grid_M<D>>   the gradient of a place
 *   td_resample_grid_alone<td_resample_grid_pairs_M<D>>     a thread a place: which pixels it reads,
 *                                                           as keys to be sorted, and their weights
 *   td_resample_grid_alone<td_resample_grid_by_in<D>>       a thread a pixel and channel: the sum of
 *                                                           what the sorted pairs give it
 *
 * M is linear, nearest or cubic. Images are volumes of depth 1 whose first axis has one tap of
 * weight 1, which changes no bit. */
#ifndef TD_RESAMPLE_GRID_TEXT_H
#define TD_RESAMPLE_GRID_TEXT_H
#include "cpu/simd/device/convert.h"

enum { TD_GRID_LINEAR, TD_GRID_NEAREST, TD_GRID_CUBIC };   /* td_grid_mode */
enum { TD_GRID_ZEROS, TD_GRID_BORDER, TD_GRID_REFLECTED }; /* td_grid_padding */
#define TD_GRID_BLOCK 32 /* places whose taps the processor makes together */

struct td_resample_grid_call { /* laid out as in csrc/cuda/resample_grid.c */
    const char *in, *grid, *by_out;
    char *out; /* values, or a gradient */
    uint64_t *keys;
    int64_t *order;
    char *weights;
    int64_t n; /* threads with work */
    int64_t sizes[3], channels, plane, places;
    int64_t dims, padding, align, corners; /* corners: combinations of taps of a place */
};

/* ---- places: what stands for x inside ---- */
VFN float td_grid_floor(float x) { return floorf(x); }
VFN double td_grid_floor(double x) { return floor(x); }
VFN float td_grid_nearest(float x) { return rintf(x); }
VFN double td_grid_nearest(double x) { return rint(x); }
VFN float td_grid_size(float x) { return fabsf(x); }
VFN double td_grid_size(double x) { return fabs(x); }

template <class T> VFN void td_grid_reflect(T &x, T &slope, T low, T high)
{
    T span = high - low, far = td_grid_size(x - low), turns = td_grid_floor(far / span);
    T rest = far - turns * span;
    bool even = td_grid_floor(turns * T(0.5)) * 2 == turns;
    slope *= even == (x >= low) ? T(1) : T(-1);
    x = even ? rest + low : high - rest;
}
template <class T> VFN void td_grid_keep(const td_resample_grid_call &c, T &x, T &slope, T size)
{
    T last = size - 1, edge = c.align ? T(0) : T(0.5);
    if (c.padding == TD_GRID_ZEROS) return;
    if (c.padding == TD_GRID_REFLECTED) {
        if (last + edge > 0) td_grid_reflect(x, slope, -edge, last + edge);
        else x *= 0;
    }
    slope = x > 0 && x < last ? slope : T(0);
    T low = x < 0 ? T(0) : x;
    x = low > last ? last : low;
}

/* ---- taps of an axis ---- */
template <int Mode> struct td_grid_taps {
    enum { most = Mode == TD_GRID_CUBIC ? 4 : Mode == TD_GRID_LINEAR ? 2 : 1 };
};
template <class T, int Most> struct td_grid_axis {
    int count, size;
    int32_t at[Most];
    bool inside[Most];
    T weight[Most], slope[Most];
};
/* the cubic kernel with a = -3/4 for distances up to 1 and from 1 to 2, and its slopes */
template <class T> VFN T td_grid_near(T t) { return (T(1.25) * t - T(2.25)) * t * t + 1; }
template <class T> VFN T td_grid_far(T t) { return (((t - 5) * t + 8) * t - 4) * T(-0.75); }
template <class T> VFN T td_grid_near_slope(T t) { return (T(3.75) * t - T(4.5)) * t; }
template <class T> VFN T td_grid_far_slope(T t) { return ((3 * t - 10) * t + 8) * T(-0.75); }

template <class T, int Most> VFN void td_grid_weigh(td_grid_axis<T, Most> &a, T t, T k)
{
    if constexpr (Most == 1) {
        a.weight[0] = 1;
        a.slope[0] = 0;
    } else if constexpr (Most == 2) {
        a.weight[0] = 1 - t;
        a.weight[1] = t;
        a.slope[0] = -k;
        a.slope[1] = k;
    } else {
        a.weight[0] = td_grid_far(t + 1);
        a.weight[1] = td_grid_near(t);
        a.weight[2] = td_grid_near(1 - t);
        a.weight[3] = td_grid_far(2 - t);
        a.slope[0] = k * td_grid_far_slope(t + 1);
        a.slope[1] = k * td_grid_near_slope(t);
        a.slope[2] = -k * td_grid_near_slope(1 - t);
        a.slope[3] = -k * td_grid_far_slope(2 - t);
    }
}
template <class T, int Mode>
VFN void td_grid_axis_of(const td_resample_grid_call &c, int d, T number,
                         td_grid_axis<T, td_grid_taps<Mode>::most> &a)
{
    enum { taps = td_grid_taps<Mode>::most };
    T size = (T)c.sizes[d], last = size - 1, span = c.align ? last : size;
    T x = ((number + 1) * span - (c.align ? T(0) : T(1))) * T(0.5), slope = span * T(0.5);
    T unused = 0, low;
    if (Mode != TD_GRID_CUBIC) td_grid_keep(c, x, slope, size);
    low = Mode == TD_GRID_NEAREST ? x : td_grid_floor(x);
    a.count = taps;
    a.size = (int)c.sizes[d];
    td_grid_weigh<T, taps>(a, x - low, slope);
#pragma unroll
    for (int t = 0; t < taps; t++) {
        T at = Mode == TD_GRID_NEAREST ? low : low + T(t - (Mode == TD_GRID_CUBIC));
        if (Mode == TD_GRID_CUBIC) td_grid_keep(c, at, unused, size);
        T place = td_grid_nearest(at);
        a.inside[t] = place >= 0 && place <= last;
        a.at[t] = a.inside[t] ? (int32_t)place : 0;
    }
}

/* ---- combinations of taps: the last axis changes first ---- */
template <class T, int Mode> struct td_grid_place {
    enum { taps = td_grid_taps<Mode>::most };
    td_grid_axis<T, taps> axes[3];
    /* of place `at` of all samples */
    TD_IN td_grid_place(const td_resample_grid_call &c, int64_t at)
    {
        const T *grid = (const T *)c.grid + at * c.dims;
        if (c.dims == 3) td_grid_axis_of<T, Mode>(c, 0, grid[2], axes[0]);
        else {
            axes[0].count = axes[0].size = 1;
            axes[0].at[0] = 0;
            axes[0].inside[0] = true;
            axes[0].weight[0] = 1;
        }
        td_grid_axis_of<T, Mode>(c, 1, grid[1], axes[1]);
        td_grid_axis_of<T, Mode>(c, 2, grid[0], axes[2]);
    }
    /* work(corner, its taps) of each */
    template <class Work> TD_IN void each(Work work) const
    {
        int t = 0;
#pragma unroll
        for (int i = 0; i < (Mode == TD_GRID_LINEAR ? 2 : 1); i++) {
            if (i >= axes[0].count) break;
#pragma unroll
            for (int j = 0; j < taps; j++)
#pragma unroll
                for (int k = 0; k < taps; k++) work(t++, i, j, k);
        }
    }
    TD_IN int32_t at(int i, int j, int k) const
    {
        return (axes[0].at[i] * axes[1].size + axes[1].at[j]) * axes[2].size + axes[2].at[k];
    }
    TD_IN bool inside(int i, int j, int k) const
    {
        return axes[0].inside[i] && axes[1].inside[j] && axes[2].inside[k];
    }
    TD_IN T weight(int i, int j, int k) const
    {
        return axes[0].weight[i] * axes[1].weight[j] * axes[2].weight[k];
    }
};

/* ---- values ---- */
template <int D, int Mode> struct td_grid_values {
    typedef typename td_mem<D>::type T;
    static TD_IN void one(const td_resample_grid_call &c, int64_t at)
    {
        td_grid_place<T, Mode> p(c, at);
        int64_t sample = at / c.places, place = at % c.places;
        const T *from = (const T *)c.in + sample * c.channels * c.plane;
        T *to = (T *)c.out + sample * c.channels * c.places + place;
#pragma unroll 1
        for (int64_t k = 0; k < c.channels; k++, from += c.plane, to += c.places) {
            T sum = 0;
            p.each([&](int t, int i, int j, int l) {
                T more = p.weight(i, j, l) * (p.inside(i, j, l) ? from[p.at(i, j, l)] : T(0));
                sum = t ? sum + more : more;
            });
            *to = sum;
        }
    }
};

/* ---- the gradient of the grid ---- */
template <int D, int Mode> struct td_grid_by_grid {
    typedef typename td_mem<D>::type T;
    static TD_IN void one(const td_resample_grid_call &c, int64_t at)
    {
        td_grid_place<T, Mode> p(c, at);
        int64_t sample = at / c.places, place = at % c.places;
        const T *in = (const T *)c.in + sample * c.channels * c.plane;
        const T *more = (const T *)c.by_out + sample * c.channels * c.places + place;
        T by[3] = {T(0), T(0), T(0)};
        p.each([&](int, int i, int j, int l) {
            T held = 0;
            int32_t pixel = p.at(i, j, l);
            bool inside = p.inside(i, j, l);
#pragma unroll 1
            for (int64_t k = 0; k < c.channels; k++)
                held += more[k * c.places] * (inside ? in[k * c.plane + pixel] : T(0));
            const int tap[3] = {i, j, l};
#pragma unroll
            for (int d = 0; d < 3; d++) {
                if (d + c.dims < 3) continue;
                T rate = held;
#pragma unroll
                for (int e = 0; e < 3; e++)
                    rate *= e == d ? p.axes[e].slope[tap[e]] : p.axes[e].weight[tap[e]];
                by[d] += rate;
            }
        });
        for (int d = 3 - (int)c.dims; d < 3; d++) ((T *)c.out)[at * c.dims + 2 - d] = by[d];
    }
};

/* ---- the gradient of the image: pairs of a pixel and a corner of a place, sorted by pixel ---- */

/* Where a corner of a place stands in the order in which the processor adds: blocks of places, in a
 * block corners, of a corner places. */
struct td_grid_order {
    int64_t block, width; /* places of the block */
    TD_IN td_grid_order(const td_resample_grid_call &c, int64_t block) : block(block)
    {
        int64_t rest = c.places - block * TD_GRID_BLOCK;
        width = rest < TD_GRID_BLOCK ? rest : TD_GRID_BLOCK;
    }
};
template <int D, int Mode> struct td_grid_pairs {
    typedef typename td_mem<D>::type T;
    static TD_IN void one(const td_resample_grid_call &c, int64_t at)
    {
        td_grid_place<T, Mode> p(c, at);
        int64_t sample = at / c.places, place = at % c.places, corners = c.corners;
        td_grid_order o(c, place / TD_GRID_BLOCK);
        int64_t first = o.block * TD_GRID_BLOCK * corners + place % TD_GRID_BLOCK;
        int64_t line = sample * c.places * corners;
        p.each([&](int t, int i, int j, int l) {
            int64_t in_line = first + t * o.width;
            c.keys[line + in_line] =
                (uint64_t)(p.inside(i, j, l) ? (int64_t)p.at(i, j, l) : c.plane);
            c.order[line + in_line] = in_line;
            ((T *)c.weights)[line + in_line] = p.weight(i, j, l);
        });
    }
};
template <int D> struct td_resample_grid_by_in {
    typedef typename td_mem<D>::type T;
    static TD_IN int64_t first_of(const uint64_t *keys, int64_t n, uint64_t pixel)
    {
        int64_t low = 0, high = n;
        while (low < high) {
            int64_t middle = low + (high - low) / 2;
            if (keys[middle] < pixel) low = middle + 1;
            else high = middle;
        }
        return low;
    }
    static TD_IN void one(const td_resample_grid_call &c, int64_t at)
    {
        int64_t pixel = at % c.plane, plane = at / c.plane, sample = plane / c.channels;
        int64_t corners = c.corners, n = c.places * corners, line = sample * n;
        const uint64_t *keys = c.keys + line;
        const T *more = (const T *)c.by_out + plane * c.places, *w = (const T *)c.weights + line;
        T sum = 0;
        for (int64_t k = first_of(keys, n, (uint64_t)pixel); k < n && keys[k] == (uint64_t)pixel;
             k++) {
            int64_t pair = c.order[line + k];
            td_grid_order o(c, pair / (TD_GRID_BLOCK * corners));
            int64_t within = pair - o.block * TD_GRID_BLOCK * corners;
            sum += more[o.block * TD_GRID_BLOCK + within % o.width] * w[pair];
        }
        ((T *)c.out)[at] = sum;
    }
};

#define TD_GRID_WORKS(mode, Mode)                                                    \
    template <int D> using td_resample_grid_values_##mode = td_grid_values<D, Mode>; \
    template <int D> using td_resample_grid_pairs_##mode = td_grid_pairs<D, Mode>;
TD_GRID_WORKS(linear, TD_GRID_LINEAR)
TD_GRID_WORKS(nearest, TD_GRID_NEAREST)
TD_GRID_WORKS(cubic, TD_GRID_CUBIC)
template <int D> using td_resample_grid_by_grid_linear = td_grid_by_grid<D, TD_GRID_LINEAR>;
template <int D> using td_resample_grid_by_grid_cubic = td_grid_by_grid<D, TD_GRID_CUBIC>;

template <class Work>
__global__ void __launch_bounds__(256)
    td_resample_grid_alone(const __grid_constant__ td_resample_grid_call c)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < c.n; at += step)
        Work::one(c, at);
}
#endif
