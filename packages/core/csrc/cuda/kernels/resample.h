/* resample.h - weighted sums of neighbours, a thread a result, in the order of cpu/resample.c, so
 * its bits. A gradient is gathered: the thread of an input place looks for the outputs that read
 * it.
 *
 *   td_resample_alone<td_resample_planes<D>>   the last two dimensions, as td_resample_adjoint<D>
 *   td_resample_alone<td_resample_deep<D>>     the third from the end, as td_resample_undeep<D>
 *   td_resample_alone<td_resample_bytes<D>>    numbers become those of bytes, where they lie */
#ifndef TD_RESAMPLE_TEXT_H
#define TD_RESAMPLE_TEXT_H
#include "cpu/simd/device/convert.h"

struct td_taps { /* of cpu/resample.h */
    int64_t in, out, count;
    int32_t *place;
    void *weight;
};
struct td_resample_call { /* laid out as in csrc/cuda/resample.c */
    const char *from;
    char *to;
    int64_t n, inner; /* threads with work; numbers of a line that is taken whole */
    td_taps rows, columns;
};

/* number `column` of the line that output row `row` is made from */
template <class T>
VFN T td_line_at(const td_taps &r, const T *plane, int64_t row, int64_t width, int64_t column)
{
    const T *weight = (const T *)r.weight;
    if (r.count == 1 && weight[row] == 1) return plane[r.place[row] * width + column];
    T sum = T(0);
    for (int64_t t = 0; t < r.count; t++)
        sum += weight[t * r.out + row] * plane[r.place[t * r.out + row] * width + column];
    return sum;
}
template <int D> struct td_resample_planes {
    static TD_IN void one(const td_resample_call &c, int64_t at)
    {
        typedef typename td_mem<D>::type T;
        const td_taps &r = c.rows, &s = c.columns;
        int64_t i = at % s.out, row = at / s.out % r.out, plane = at / s.out / r.out;
        const T *from = (const T *)c.from + plane * r.in * s.in, *w = (const T *)s.weight;
        T sum = w[i] * td_line_at(r, from, row, s.in, s.place[i]);
        for (int64_t t = 1; t < s.count; t++)
            sum += w[t * s.out + i] * td_line_at(r, from, row, s.in, s.place[t * s.out + i]);
        ((T *)c.to)[at] = sum;
    }
};
/* the gradients of a row that come together in one column */
template <class T> VFN T td_column_sum(const td_taps &s, const T *g, int64_t column)
{
    T sum = T(0);
    for (int64_t k = 0; k < s.count * s.out; k++)
        if (s.place[k] == column) sum += ((const T *)s.weight)[k] * g[k % s.out];
    return sum;
}
template <int D> struct td_resample_adjoint {
    static TD_IN void one(const td_resample_call &c, int64_t at)
    {
        typedef typename td_mem<D>::type T;
        const td_taps &r = c.rows, &s = c.columns;
        int64_t column = at % s.in, mine = at / s.in % r.in, plane = at / s.in / r.in;
        T sum = T(0);
        for (int64_t row = 0; row < r.out; row++) {
            bool made = false;
            T line = T(0);
            for (int64_t t = 0; t < r.count; t++) {
                if (r.place[t * r.out + row] != mine) continue;
                if (!made)
                    line =
                        td_column_sum(s, (const T *)c.from + (plane * r.out + row) * s.out, column);
                made = true;
                sum += ((const T *)r.weight)[t * r.out + row] * line;
            }
        }
        ((T *)c.to)[at] = sum;
    }
};
template <int D> struct td_resample_deep {
    static TD_IN void one(const td_resample_call &c, int64_t at)
    {
        typedef typename td_mem<D>::type T;
        const td_taps &r = c.rows;
        int64_t k = at % c.inner, i = at / c.inner % r.out, outer = at / c.inner / r.out;
        const T *from = (const T *)c.from + outer * r.in * c.inner;
        T sum = T(0);
        for (int64_t t = 0; t < r.count; t++)
            sum +=
                ((const T *)r.weight)[t * r.out + i] * from[r.place[t * r.out + i] * c.inner + k];
        ((T *)c.to)[at] = sum;
    }
};
template <int D> struct td_resample_undeep {
    static TD_IN void one(const td_resample_call &c, int64_t at)
    {
        typedef typename td_mem<D>::type T;
        const td_taps &r = c.rows;
        int64_t k = at % c.inner, i = at / c.inner % r.in, outer = at / c.inner / r.in;
        const T *from = (const T *)c.from + outer * r.out * c.inner;
        T sum = T(0);
        for (int64_t t = 0; t < r.count * r.out; t++)
            if (r.place[t] == i) sum += ((const T *)r.weight)[t] * from[t % r.out * c.inner + k];
        ((T *)c.to)[at] = sum;
    }
};
/* halves go up, as td_round_bytes has it */
template <int D> struct td_resample_bytes {
    static TD_IN void one(const td_resample_call &c, int64_t at)
    {
        typedef typename td_mem<D>::type T;
        T x = floorf(((T *)c.to)[at] + T(0.5));
        ((T *)c.to)[at] = fminf(255, fmaxf(0, x));
    }
};

template <class Work>
__global__ void __launch_bounds__(256) td_resample_alone(const __grid_constant__ td_resample_call c)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < c.n; at += step)
        Work::one(c, at);
}
#endif
