/* pooling.h - max, average and adaptive pooling, a thread a result: windows and sums in the order
 * of cpu/pooling/rows.h, so its bits.
 *
 *   td_pooling_alone<td_pooling_max<D>>               forward: a thread an output
 *   td_pooling_alone<td_pooling_max_backward<D>>      a thread a place of the input, which looks at
 *                                                     the windows that reach it
 * and the same for average, adaptive_max (forward only) and adaptive_average. */
#ifndef TD_POOLING_TEXT_H
#define TD_POOLING_TEXT_H
#include "cuda/kernels/matmul.h"
#include "cuda/kernels/volume.h"

#define TD_POOL_BLOCK 128 /* columns of a row that the processor makes at a time */
#define TD_POOL_LANES 32

struct td_pooling_call { /* laid out as in csrc/cuda/pooling.c */
    const char *x, *g;
    char *to;
    int64_t *where;
    int64_t n; /* threads with work */
    int64_t in[3], out[3], window[3], stride[3], pad[3], dilation[3];
    int64_t divisor, include_pad, lowest;
};

/* ---- elements ---- */
template <int D> struct td_pooled {
    typedef typename td_mem<D>::type T;
    typedef T acc;
};
template <class A> VFN A td_pool_lowest(const td_pooling_call &c)
{
    return A(0.5) != 0 ? A(-INFINITY) : A(c.lowest);
}
template <class A> VFN A td_pool_plus(A a, A b) { return a + b; }
VFN int64_t td_pool_plus(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
template <class A> VFN A td_pool_quotient(A a, A b) { return a / b; }
VFN int64_t td_pool_quotient(int64_t a, int64_t b)
{
    return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}
VFN int64_t td_lesser(int64_t a, int64_t b) { return a < b ? a : b; }
VFN int64_t td_greater(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---- windows ---- */

/* Where a window without a number counts, as the processor has it: at its first place that is not
 * padding, if that is a place at all, else at 0. `first` may count beyond the window. */
VFN int64_t td_window_begin(const td_pooling_call &c, const td_place3 &o, const int64_t *first)
{
    int64_t k = (first[0] * c.window[1] + first[1]) * c.window[2] + first[2], at = 0;
    if (k >= td_volume3(c.window)) return 0;
    td_place3 tap = td_place_of(k, c.window);
    for (int d = 0; d < 3; d++)
        at = at * c.in[d] + o.at[d] * c.stride[d] - c.pad[d] + tap.at[d] * c.dilation[d];
    return at < 0 || at >= td_volume3(c.in) ? 0 : at;
}
/* The place of the largest number of a window, and that number: the first of equal ones, a NaN
 * before all. */
template <int D>
VFN int64_t td_window_top(const td_pooling_call &c, const typename td_pooled<D>::T *plane,
                          const td_place3 &o, typename td_pooled<D>::acc *best)
{
    typedef typename td_pooled<D>::acc A;
    int64_t from[3], first[3];
    for (int d = 0; d < 3; d++) {
        from[d] = o.at[d] * c.stride[d] - c.pad[d];
        first[d] = from[d] >= 0 ? 0 : (c.dilation[d] - 1 - from[d]) / c.dilation[d];
        from[d] += first[d] * c.dilation[d];
    }
    int64_t place = td_window_begin(c, o, first);
    *best = td_pool_lowest<A>(c);
    int64_t d = from[0];
    for (int64_t i = first[0]; i < c.window[0] && d < c.in[0]; i++, d += c.dilation[0]) {
        int64_t h = from[1];
        for (int64_t j = first[1]; j < c.window[1] && h < c.in[1]; j++, h += c.dilation[1]) {
            int64_t w = from[2];
            for (int64_t k = first[2]; k < c.window[2] && w < c.in[2]; k++, w += c.dilation[2]) {
                int64_t at = (d * c.in[1] + h) * c.in[2] + w;
                A v = plane[at];
                if (!(v > *best || v != v)) continue;
                *best = v;
                place = at;
            }
        }
    }
    return place;
}
/* the first and the last window that reach place `at` of a dimension; there may be others between
 * that step over it */
VFN int64_t td_first_window(const td_pooling_call &c, int d, int64_t at)
{
    int64_t from = at + c.pad[d] - c.dilation[d] * (c.window[d] - 1);
    return from <= 0 ? 0 : (from + c.stride[d] - 1) / c.stride[d];
}
VFN int64_t td_last_window(const td_pooling_call &c, int d, int64_t at)
{
    return td_lesser((at + c.pad[d]) / c.stride[d], c.out[d] - 1);
}

template <int D> struct td_pooling_max {
    static TD_IN void one(const td_pooling_call &c, int64_t at)
    {
        typedef typename td_pooled<D>::T T;
        int64_t outs = td_volume3(c.out);
        typename td_pooled<D>::acc best;
        const T *plane = (const T *)c.x + at / outs * td_volume3(c.in);
        int64_t place = td_window_top<D>(c, plane, td_place_of(at % outs, c.out), &best);
        ((T *)c.to)[at] = (T)best;
        if (c.where) c.where[at] = place;
    }
};
template <int D> struct td_pooling_max_backward {
    static TD_IN void one(const td_pooling_call &c, int64_t at)
    {
        typedef typename td_pooled<D>::T T;
        int64_t ins = td_volume3(c.in), outs = td_volume3(c.out), me = at % ins;
        const T *plane = (const T *)c.x + at / ins * ins, *g = (const T *)c.g + at / ins * outs;
        td_place3 p = td_place_of(me, c.in), o;
        int64_t first[3], last[3];
        bool all = false; /* windows that step over the input count at other windows' places */
        for (int d = 0; d < 3; d++) all = all || c.dilation[d] > c.in[d];
        for (int d = 0; d < 3; d++) {
            first[d] = all ? 0 : td_first_window(c, d, p.at[d]);
            last[d] = all ? c.out[d] - 1 : td_last_window(c, d, p.at[d]);
        }
        T sum = T(0);
        typename td_pooled<D>::acc best;
        for (o.at[0] = first[0]; o.at[0] <= last[0]; o.at[0]++)
            for (o.at[1] = first[1]; o.at[1] <= last[1]; o.at[1]++)
                for (o.at[2] = first[2]; o.at[2] <= last[2]; o.at[2]++)
                    if (td_window_top<D>(c, plane, o, &best) == me)
                        sum = (T)td_pool_plus(sum, g[td_number_of(o, c.out)]);
        ((T *)c.to)[at] = sum;
    }
};

/* ---- averages ---- */

/* what the sum of a window is divided by */
VFN int64_t td_pool_divisor(const td_pooling_call &c, const td_place3 &o)
{
    int64_t padded = 1, inside = 1;
    if (c.divisor) return c.divisor;
    for (int d = 0; d < 3; d++) {
        int64_t from = o.at[d] * c.stride[d] - c.pad[d];
        int64_t to = td_lesser(from + c.window[d], c.in[d] + c.pad[d]);
        padded *= to - from;
        inside *= td_lesser(to, c.in[d]) - td_greater(from, 0);
    }
    return c.include_pad ? padded : inside > 0 ? inside : 1;
}
template <int D> struct td_pooling_average {
    static TD_IN void one(const td_pooling_call &c, int64_t at)
    {
        typedef typename td_pooled<D>::T T;
        int64_t outs = td_volume3(c.out), from[3], to[3];
        const T *plane = (const T *)c.x + at / outs * td_volume3(c.in);
        td_place3 o = td_place_of(at % outs, c.out);
        for (int d = 0; d < 3; d++) {
            from[d] = o.at[d] * c.stride[d] - c.pad[d];
            to[d] = td_lesser(from[d] + c.window[d], c.in[d]);
            from[d] = td_greater(from[d], 0);
        }
        T sum = T(0);
        for (int64_t d = from[0]; d < to[0]; d++)
            for (int64_t h = from[1]; h < to[1]; h++)
                for (int64_t w = from[2]; w < to[2]; w++)
                    sum = td_pool_plus(sum, plane[(d * c.in[1] + h) * c.in[2] + w]);
        ((T *)c.to)[at] = td_pool_quotient(sum, (T)td_pool_divisor(c, o));
    }
};
template <int D> struct td_pooling_average_backward {
    typedef typename td_pooled<D>::T T;
    static TD_IN T part(const td_pooling_call &c, const T *g, const td_place3 &o)
    {
        return td_pool_quotient(g[td_number_of(o, c.out)], (T)td_pool_divisor(c, o));
    }
    static TD_IN void one(const td_pooling_call &c, int64_t at)
    {
        int64_t ins = td_volume3(c.in);
        const T *g = (const T *)c.g + at / ins * td_volume3(c.out);
        td_place3 p = td_place_of(at % ins, c.in), o;
        int64_t left = td_first_window(c, 2, p.at[2]), right = td_last_window(c, 2, p.at[2]);
        int64_t top = td_first_window(c, 1, p.at[1]), low = td_last_window(c, 1, p.at[1]);
        int64_t front = td_first_window(c, 0, p.at[0]), back = td_last_window(c, 0, p.at[0]);
        T sum = T(0);
        for (o.at[0] = front; o.at[0] <= back; o.at[0]++)
            for (o.at[1] = top; o.at[1] <= low; o.at[1]++)
                /* within a block of columns the processor goes by places of the window: backwards
                 */
                for (int64_t block = left - left % TD_POOL_BLOCK; block <= right;
                     block += TD_POOL_BLOCK) {
                    int64_t least = td_greater(block, left);
                    for (o.at[2] = td_lesser(block + TD_POOL_BLOCK - 1, right); o.at[2] >= least;
                         o.at[2]--)
                        sum = td_pool_plus(sum, part(c, g, o));
                }
        ((T *)c.to)[at] = sum;
    }
};

/* ---- adaptive: parts of nearly equal size ---- */
struct td_pool_parts {
    int64_t from[3], to[3];
};
VFN int64_t td_part_begin(int64_t i, int64_t in, int64_t out)
{
    return (i / out) * in + (i % out) * in / out;
}
VFN int64_t td_part_end(int64_t i, int64_t in, int64_t out) { return 1 + ((i + 1) * in - 1) / out; }
VFN td_pool_parts td_pool_parts_of(const td_pooling_call &c, const td_place3 &o)
{
    td_pool_parts p;
    for (int d = 0; d < 3; d++) {
        p.from[d] = td_part_begin(o.at[d], c.in[d], c.out[d]);
        p.to[d] = td_part_end(o.at[d], c.in[d], c.out[d]);
    }
    return p;
}
VFN int64_t td_part_size(const td_pool_parts &p)
{
    return (p.to[0] - p.from[0]) * (p.to[1] - p.from[1]) * (p.to[2] - p.from[2]);
}
template <int D> struct td_pooling_adaptive_max {
    static TD_IN void one(const td_pooling_call &c, int64_t at)
    {
        typedef typename td_pooled<D>::T T;
        typedef typename td_pooled<D>::acc A;
        int64_t outs = td_volume3(c.out), place = -1;
        const T *plane = (const T *)c.x + at / outs * td_volume3(c.in);
        td_pool_parts p = td_pool_parts_of(c, td_place_of(at % outs, c.out));
        A best = td_pool_lowest<A>(c);
        for (int64_t d = p.from[0]; d < p.to[0]; d++)
            for (int64_t h = p.from[1]; h < p.to[1]; h++)
                for (int64_t w = p.from[2]; w < p.to[2]; w++) {
                    int64_t here = (d * c.in[1] + h) * c.in[2] + w;
                    A v = plane[here];
                    if (!(v > best || v != v || place < 0)) continue;
                    best = v;
                    place = here;
                }
        ((T *)c.to)[at] = (T)best;
        c.where[at] = place;
    }
};
/* one row of numbers in the processor's 32 sums side by side */
template <class T> VFN T td_pool_row_sum(const T *row, int64_t n)
{
    T lane[TD_POOL_LANES], rest = T(0);
    int64_t i = 0;
#pragma unroll 1 /* the sums live in memory: registers hold no 32 doubles beside the rest */
    for (int k = 0; k < TD_POOL_LANES; k++) lane[k] = T(0);
    for (; i + TD_POOL_LANES <= n; i += TD_POOL_LANES)
#pragma unroll 1
        for (int k = 0; k < TD_POOL_LANES; k++) lane[k] = td_pool_plus(lane[k], row[i + k]);
    for (; i < n; i++) rest = td_pool_plus(rest, row[i]);
#pragma unroll 1
    for (int half = TD_POOL_LANES / 2; half; half /= 2)
#pragma unroll 1
        for (int k = 0; k < half; k++) lane[k] = td_pool_plus(lane[k], lane[k + half]);
    return td_pool_plus(lane[0], rest);
}
template <int D> struct td_pooling_adaptive_average {
    typedef typename td_pooled<D>::T T;
    static TD_IN T sum_of(const td_pooling_call &c, const T *plane, const td_pool_parts &p)
    {
        T sum = T(0);
        if (c.out[2] == 1) { /* rows that touch are one row */
            for (int64_t d = p.from[0]; d < p.to[0]; d++) {
                const T *first = plane + (d * c.in[1] + p.from[1]) * c.in[2];
                T row = td_pool_row_sum(first, (p.to[1] - p.from[1]) * c.in[2]);
                sum = td_pool_plus(sum, row);
            }
            return sum;
        }
        for (int64_t w = p.from[2]; w < p.to[2]; w++) {
            T column = T(0);
            for (int64_t d = p.from[0]; d < p.to[0]; d++)
                for (int64_t h = p.from[1]; h < p.to[1]; h++)
                    column = td_pool_plus(column, plane[(d * c.in[1] + h) * c.in[2] + w]);
            sum = td_pool_plus(sum, column);
        }
        return sum;
    }
    static TD_IN void one(const td_pooling_call &c, int64_t at)
    {
        int64_t outs = td_volume3(c.out);
        const T *plane = (const T *)c.x + at / outs * td_volume3(c.in);
        td_pool_parts p = td_pool_parts_of(c, td_place_of(at % outs, c.out));
        ((T *)c.to)[at] = sum_of(c, plane, p) / (T)td_part_size(p);
    }
};
template <int D> struct td_pooling_adaptive_average_backward {
    static TD_IN void one(const td_pooling_call &c, int64_t at)
    {
        typedef typename td_pooled<D>::T T;
        int64_t ins = td_volume3(c.in), first[3], last[3];
        const T *g = (const T *)c.g + at / ins * td_volume3(c.out);
        td_place3 p = td_place_of(at % ins, c.in), o;
        for (int d = 0; d < 3; d++) { /* parts overlap by one place at most */
            first[d] = p.at[d] * c.out[d] / c.in[d];
            last[d] = td_lesser(((p.at[d] + 1) * c.out[d] + c.in[d] - 1) / c.in[d], c.out[d]) - 1;
        }
        T sum = T(0);
        for (o.at[0] = first[0]; o.at[0] <= last[0]; o.at[0]++)
            for (o.at[1] = first[1]; o.at[1] <= last[1]; o.at[1]++)
                for (o.at[2] = first[2]; o.at[2] <= last[2]; o.at[2]++) {
                    T size = (T)td_part_size(td_pool_parts_of(c, o));
                    sum = td_pool_plus(sum, (T)(g[td_number_of(o, c.out)] / size));
                }
        ((T *)c.to)[at] = sum;
    }
};

template <class Work>
__global__ void __launch_bounds__(256) td_pooling_alone(const __grid_constant__ td_pooling_call c)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < c.n; at += step)
        Work::one(c, at);
}
#endif
