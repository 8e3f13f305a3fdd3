/* norm.h - layer, group, instance and batch normalisation: the passes, lanes, pieces and trees of
 * cpu/norm, so the processor's bits.
 *
 *   td_norm_together<td_norm_rows<R>>       64 threads a row: statistics and result
 *   td_norm_together<td_norm_slope<R>>      the same for the input's gradient
 *   td_norm_alone<td_norm_weights<R>>       a thread a chunk of rows and column: gradients of weight and bias
 *   td_norm_alone<td_norm_joined<R>>        a thread a column: its chunks together
 *   td_norm_together<td_norm_sums<R>>       64 threads a channel or segment: its two sums
 *   td_norm_together<td_norm_moments<R>>    the same for mean and variance
 *   (few channels take the launches of norm_spread.h)
 *   td_norm_alone<td_norm_columns<R>>       a thread a chunk of rows and column: the two sums
 *   td_norm_alone<td_norm_column_total<R>>  a thread a column: its chunks together
 *   td_norm_alone<td_norm_scaled<R>>        a thread an element, as td_norm_mixed<R>
 *   td_numbers_alone<td_numbers_...>        a thread a number of cpu/norm/numbers.h */
#ifndef TD_NORM_TEXT_H
#define TD_NORM_TEXT_H
#include "cuda/kernels/reduce.h"

#include "cpu/norm/numbers.h" /* after the types that a device has no header for */

#define TD_NORM_PIECE 4096 /* as in cpu/norm/norm.c */
#define TD_NORM_FLUSH 64

struct td_norm_call { /* laid out as in csrc/cuda/norm.c */
    char *out, *mean, *rstd, *bias_out, *partial;
    const char *x, *g, *weight, *bias, *numbers;
    double *sums;
    int64_t units; /* threads or blocks with work */
    int64_t rows, n, centred, chunks;
    int64_t inner, period, count, stride; /* of segments */
    double eps;
};

/* ---- rows ---- */
template <class R> VFN R td_norm_sum(const R *x, int64_t n)
{
    enum { D = sizeof(R) == 4 ? TD_F32 : TD_F64 };
    return td_fold_plain<td_fold_sum, D, R>(x, n);
}
template <class R> VFN R td_norm_squares(const R *x, int64_t n, R mean)
{
    typedef typename td_vector<R>::type V;
    enum { lanes = td_vector<R>::lanes / 2 }; /* SUM_BYTES */
    V s = V(R(0));
    if (threadIdx.x < lanes)
        for (int64_t i = threadIdx.x; i < n; i += lanes) {
            V p = V(x[i] - mean);
            s = vfma(p, p, s);
        }
    return td_tree<td_fold_sum, R>(s, lanes);
}
template <class R> struct td_norm_rows {
    static TD_IN void unit(const td_norm_call &c, int64_t row)
    {
        typedef typename td_vector<R>::type V;
        const R *x = (const R *)c.x + row * c.n, *w = (const R *)c.weight, *b = (const R *)c.bias;
        R *o = (R *)c.out + row * c.n;
        R m = c.centred ? td_norm_sum(x, c.n) / (R)c.n : R(0);
        R s = 1 / vsqrt(V(td_norm_squares(x, c.n, m) / (R)c.n + (R)c.eps)).v;
        if (threadIdx.x == 0) {
            if (c.mean) ((R *)c.mean)[row] = m;
            ((R *)c.rstd)[row] = s;
        }
        for (int64_t i = threadIdx.x; i < c.n; i += TD_LANES) {
            R h = (x[i] - m) * s;
            o[i] = w && b ? vfma(V(h), V(w[i]), V(b[i])).v : w ? h * w[i] : b ? h + b[i] : h;
        }
    }
};
template <class R> struct td_norm_slope {
    static TD_IN void unit(const td_norm_call &c, int64_t row)
    {
        typedef typename td_vector<R>::type V;
        enum { lanes = td_vector<R>::lanes / 2 };
        const R *x = (const R *)c.x + row * c.n, *g = (const R *)c.g + row * c.n;
        const R *w = (const R *)c.weight;
        R *o = (R *)c.out + row * c.n;
        R m = c.centred ? ((const R *)c.mean)[row] : R(0), s = ((const R *)c.rstd)[row];
        V su = V(R(0)), suh = V(R(0));
        if (threadIdx.x < lanes)
            for (int64_t i = threadIdx.x; i < c.n; i += lanes) {
                V h = (V(x[i]) - V(m)) * V(s), u = V(w ? g[i] * w[i] : g[i]);
                su = su + u;
                suh = vfma(u, h, suh);
            }
        R total = td_tree<td_fold_sum, R>(su, lanes), product = td_tree<td_fold_sum, R>(suh, lanes);
        R slope = -s * product / (R)c.n, mean_u = c.centred ? total / (R)c.n : R(0);
        for (int64_t i = threadIdx.x; i < c.n; i += TD_LANES)
            o[i] = vfma(V(x[i] - m), V(slope), V((w ? g[i] * w[i] : g[i]) - mean_u)).v * s;
    }
};
template <class R> struct td_norm_weights {
    static TD_IN void one(const td_norm_call &c, int64_t at)
    {
        typedef typename td_vector<R>::type V;
        int64_t chunk = at / c.n, i = at % c.n;
        int64_t row = chunk * c.rows / c.chunks, end = (chunk + 1) * c.rows / c.chunks;
        V dw = V(R(0)), db = V(R(0));
        for (; row < end; row++) {
            R m = c.centred ? ((const R *)c.mean)[row] : R(0), s = ((const R *)c.rstd)[row];
            V g = V(((const R *)c.g)[row * c.n + i]);
            dw = vfma(g, V((((const R *)c.x)[row * c.n + i] - m) * s), dw);
            db = g + db;
        }
        ((R *)c.partial)[2 * chunk * c.n + i] = dw.v;
        ((R *)c.partial)[(2 * chunk + 1) * c.n + i] = db.v;
    }
};
template <class R> struct td_norm_joined {
    static TD_IN void one(const td_norm_call &c, int64_t i)
    {
        double w = 0, b = 0;
        for (int64_t chunk = 0; chunk < c.chunks; chunk++) {
            w += (double)((const R *)c.partial)[2 * chunk * c.n + i];
            b += (double)((const R *)c.partial)[(2 * chunk + 1) * c.n + i];
        }
        if (c.out) ((R *)c.out)[i] = (R)w;
        if (c.bias_out) ((R *)c.bias_out)[i] = (R)b;
    }
};

/* ---- segments: `count` of them make a unit, `stride` elements apart ---- */

/* BODY for the thread's elements of a piece, FLUSHES by all threads once a piece's worth has come
 * together (OVER_SEGMENTS of cpu/norm/norm.c) */
#define TD_OVER_SEGMENTS(BODY, FLUSHES)                                               \
    do {                                                                              \
        int64_t gathered_ = 0;                                                        \
        for (int64_t at_ = 0; at_ < c.count; at_++)                                   \
            for (int64_t left_ = c.inner, p_ = start + at_ * c.stride; left_ > 0;) {  \
                int64_t piece_ = left_ < TD_NORM_PIECE ? left_ : TD_NORM_PIECE;       \
                if (threadIdx.x < lanes)                                              \
                    for (int64_t i = p_ + threadIdx.x; i < p_ + piece_; i += lanes) { \
                        BODY                                                          \
                    }                                                                 \
                left_ -= piece_;                                                      \
                p_ += piece_;                                                         \
                if ((gathered_ += piece_) < TD_NORM_PIECE) continue;                  \
                FLUSHES gathered_ = 0;                                                \
            }                                                                         \
        FLUSHES                                                                       \
    } while (0)
#define TD_NORM_TAKE(total, lane)                          \
    total += (double)td_tree<td_fold_sum, R>(lane, lanes); \
    lane = V(R(0));

template <class R> struct td_norm_sums {
    static TD_IN void unit(const td_norm_call &c, int64_t unit)
    {
        typedef typename td_vector<R>::type V;
        enum { lanes = td_vector<R>::lanes / 2 };
        int64_t start = unit * c.inner;
        const R *g = (const R *)c.g, *x = (const R *)c.x;
        V m = V(((const R *)c.mean)[unit % c.period]), s = V(R(0)), t = V(R(0));
        double sum = 0, product = 0;
        TD_OVER_SEGMENTS(s = s + V(g[i]); t = vfma(V(g[i]), V(x[i]) - m, t);
                         , TD_NORM_TAKE(sum, s) TD_NORM_TAKE(product, t));
        if (threadIdx.x) return;
        c.sums[2 * unit] = sum;
        c.sums[2 * unit + 1] = product;
    }
};
/* mean and deviation of a unit, from what deviates from its first mean */
template <class R>
VFN void td_norm_finish(const td_norm_call &c, int64_t unit, double mean, double rest,
                        double squares)
{
    double all = (double)c.inner * (double)c.count, square = (squares - rest * rest / all) / all;
    if (threadIdx.x) return;
    ((R *)c.mean)[unit] = (R)(mean + rest / all);
    ((R *)c.out)[unit] = (R)sqrt(square < 0 ? 0 : square);
}
template <class R> struct td_norm_moments {
    static TD_IN void unit(const td_norm_call &c, int64_t unit)
    {
        typedef typename td_vector<R>::type V;
        enum { lanes = td_vector<R>::lanes / 2 };
        int64_t start = unit * c.inner;
        const R *x = (const R *)c.x;
        V s = V(R(0)), t = V(R(0));
        double sum = 0, rest = 0, squares = 0, all = (double)c.inner * (double)c.count;
        TD_OVER_SEGMENTS(s = s + V(x[i]);, TD_NORM_TAKE(sum, s));
        V m = V((R)(sum / all));
        TD_OVER_SEGMENTS(V d = V(x[i]) - m; s = s + d; t = vfma(d, d, t);
                         , TD_NORM_TAKE(rest, s) TD_NORM_TAKE(squares, t));
        td_norm_finish<R>(c, unit, (double)m.v, rest, squares);
    }
};

/* ---- columns of `rows` rows, n of them ---- */
template <class R> struct td_norm_columns {
    static TD_IN void one(const td_norm_call &c, int64_t at)
    {
        int64_t chunk = at / c.n, i = at % c.n;
        int64_t row = chunk * c.rows / c.chunks, end = (chunk + 1) * c.rows / c.chunks;
        R m = ((const R *)c.mean)[i];
        double sum = 0, product = 0;
        while (row < end) {
            R s = 0, t = 0;
            for (int64_t last = row + TD_NORM_FLUSH < end ? row + TD_NORM_FLUSH : end; row < last;
                 row++) {
                R g = ((const R *)c.g)[row * c.n + i];
                s += g;
                t += g * (((const R *)c.x)[row * c.n + i] - m);
            }
            sum += (double)s;
            product += (double)t;
        }
        ((double *)c.partial)[2 * chunk * c.n + i] = sum;
        ((double *)c.partial)[(2 * chunk + 1) * c.n + i] = product;
    }
};
template <class R> struct td_norm_column_total {
    static TD_IN void one(const td_norm_call &c, int64_t i)
    {
        double sum = 0, product = 0;
        for (int64_t chunk = 0; chunk < c.chunks; chunk++) {
            sum += ((const double *)c.partial)[2 * chunk * c.n + i];
            product += ((const double *)c.partial)[(2 * chunk + 1) * c.n + i];
        }
        c.sums[2 * i] = sum;
        c.sums[2 * i + 1] = product;
    }
};

/* ---- elements ---- */
template <class R> struct td_norm_scaled {
    static TD_IN void one(const td_norm_call &c, int64_t i)
    {
        typedef typename td_vector<R>::type V;
        const R *a = (const R *)c.numbers + i / c.inner % c.period;
        ((R *)c.out)[i] = vfma(V(((const R *)c.x)[i]) - V(a[2 * c.n]), V(a[0]), V(a[c.n])).v;
    }
};
template <class R> struct td_norm_mixed {
    static TD_IN void one(const td_norm_call &c, int64_t i)
    {
        typedef typename td_vector<R>::type V;
        const R *a = (const R *)c.numbers + i / c.inner % c.period;
        V rest = vfma(V(((const R *)c.x)[i]), V(a[c.n]), V(a[2 * c.n]));
        ((R *)c.out)[i] = vfma(V(((const R *)c.g)[i]), V(a[0]), rest).v;
    }
};

template <class Work>
__global__ void __launch_bounds__(64) td_norm_together(const __grid_constant__ td_norm_call c)
{
    for (int64_t unit = blockIdx.x; unit < c.units; unit += gridDim.x) Work::unit(c, unit);
}
template <class Work>
__global__ void __launch_bounds__(256) td_norm_alone(const __grid_constant__ td_norm_call c)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < c.units; at += step)
        Work::one(c, at);
}

#include "cuda/kernels/norm_spread.h"

/* ---- numbers ---- */
#define TD_NUMBER_WORK(name)                                                                      \
    struct td_numbers_##name {                                                                    \
        static TD_IN void one(const td_norm_numbers &j, int64_t at) { td_number_##name(&j, at); } \
    };
TD_NUMBER_WORK(inverse)
TD_NUMBER_WORK(running)
TD_NUMBER_WORK(scale)
TD_NUMBER_WORK(mix)
TD_NUMBER_WORK(gradient)
TD_NUMBER_WORK(together)
TD_NUMBER_WORK(spread)
TD_NUMBER_WORK(group_mix)
TD_NUMBER_WORK(group_gradient)

template <class Work>
__global__ void __launch_bounds__(256) td_numbers_alone(const __grid_constant__ td_norm_numbers j)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < j.n; at += step)
        Work::one(j, at);
}
#endif
