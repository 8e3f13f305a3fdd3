/* distance.h - p-norm distances between rows, and their slopes: the groups of cpu/distance.c, so
 * its bits.
 *
 *   td_distance_alone<td_distance_two<D>>        a thread a pair of rows; one, inf and p as well
 *   td_distance_alone<td_distance_pull_two<D>>   a thread a number of x: slopes over all others */
#ifndef TD_DISTANCE_TEXT_H
#define TD_DISTANCE_TEXT_H
#include "cpu/reduction/norm_power.h"
#include "cpu/simd/device/convert.h"

#define TD_DISTANCE_GROUP 64

struct td_distance_call { /* laid out as in csrc/cuda/distance.c */
    char *out;
    const char *x, *y, *grad, *distance;
    int64_t units; /* threads with work */
    int64_t rows, others, n;
    double p;
};
template <class R> struct td_lane;
template <> struct td_lane<float> {
    typedef vf type;
};
template <> struct td_lane<double> {
    typedef vd type;
};
template <class R> VFN R td_far(R x) { return vabs(typename td_lane<R>::type(x)).v; }
template <class R> VFN R td_root(R x) { return vsqrt(typename td_lane<R>::type(x)).v; }
template <class R> VFN R td_more(R a, R x) { return x != x || x > a ? x : a; }
template <class R> VFN R td_sign(R d) { return R(d > 0 ? 1 : d < 0 ? -1 : 0); }

/* ---- distances ---- */
#define TD_NEAR(name, TERM, JOIN, FINISH)                                                        \
    template <int D> struct td_distance_##name {                                                 \
        static TD_IN void one(const td_distance_call &c, int64_t at)                             \
        {                                                                                        \
            typedef typename td_mem<D>::type R;                                                  \
            int64_t row = at / c.others;                                                         \
            const R *x = (const R *)c.x + row * c.n,                                             \
                    *y = (const R *)c.y + (row / c.rows * c.others + at % c.others) * c.n;       \
            R total = 0;                                                                         \
            for (int64_t begin = 0; begin < c.n; begin += TD_DISTANCE_GROUP) {                   \
                int64_t end = c.n < begin + TD_DISTANCE_GROUP ? c.n : begin + TD_DISTANCE_GROUP; \
                R group = 0;                                                                     \
                for (int64_t i = begin; i < end; i++) {                                          \
                    R d = x[i] - y[i], term = TERM;                                              \
                    group = JOIN(group, term);                                                   \
                }                                                                                \
                total = JOIN(total, group);                                                      \
            }                                                                                    \
            ((R *)c.out)[at] = FINISH(total);                                                    \
        }                                                                                        \
    };
#define TD_PLUS(a, x) ((a) + (x))
#define TD_ITSELF(x) (x)
TD_NEAR(one, td_far(d), TD_PLUS, TD_ITSELF)
TD_NEAR(two, d *d, TD_PLUS, td_root)
TD_NEAR(inf, td_far(d), td_more, TD_ITSELF)

template <int D> struct td_distance_p {
    static TD_IN void one(const td_distance_call &c, int64_t at)
    {
        typedef typename td_mem<D>::type R;
        int64_t row = at / c.others;
        const R *x = (const R *)c.x + row * c.n,
                *y = (const R *)c.y + (row / c.rows * c.others + at % c.others) * c.n;
        double a = 0;
#pragma unroll 1
        for (int64_t i = 0; i < c.n; i++) {
            double size = td_far((double)x[i] - (double)y[i]);
            a += c.p == 0 ? size != 0 : td_norm_power(size, c.p);
        }
        ((R *)c.out)[at] = (R)(c.p == 0 ? a : pow(a, 1 / c.p));
    }
};

/* ---- slopes ---- */
#define TD_PULL(name, WEIGHT, TERM)                                                          \
    template <int D> struct td_distance_pull_##name {                                        \
        static TD_IN void one(const td_distance_call &c, int64_t at)                         \
        {                                                                                    \
            typedef typename td_mem<D>::type R;                                              \
            int64_t row = at / c.n, others = c.others;                                       \
            const R *g = (const R *)c.grad + row * others,                                   \
                    *distance = (const R *)c.distance + row * others,                        \
                    *y = (const R *)c.y + row / c.rows * others * c.n + at % c.n;            \
            R a = ((const R *)c.x)[at], total = 0;                                           \
            for (int64_t begin = 0; begin < others; begin += TD_DISTANCE_GROUP) {            \
                int64_t end =                                                                \
                    others < begin + TD_DISTANCE_GROUP ? others : begin + TD_DISTANCE_GROUP; \
                R group = 0;                                                                 \
                for (int64_t j = begin; j < end; j++) {                                      \
                    R far = distance[j], d = a - y[j * c.n], w = WEIGHT;                     \
                    (void)far;                                                               \
                    group = group + (TERM);                                                  \
                }                                                                            \
                total = total + group;                                                       \
            }                                                                                \
            ((R *)c.out)[at] = total;                                                        \
        }                                                                                    \
    };
TD_PULL(one, g[j], w *td_sign(d))
TD_PULL(two, far == 0 ? R(0) : g[j] / far, w *d)
TD_PULL(inf, g[j], td_far(d) == far ? w * td_sign(d) : R(0))

VFN double td_slope_p(double d, double far, double p)
{
    if (p == 0 || d == 0 || far == 0) return 0;
    double part = td_far(d) / far, slope = p == 3 ? part * part : td_norm_power(part, p - 1);
    return copysign(slope, d);
}
template <int D> struct td_distance_pull_p {
    static TD_IN void one(const td_distance_call &c, int64_t at)
    {
        typedef typename td_mem<D>::type R;
        int64_t row = at / c.n;
        const R *g = (const R *)c.grad + row * c.others,
                *distance = (const R *)c.distance + row * c.others,
                *y = (const R *)c.y + row / c.rows * c.others * c.n + at % c.n;
        double a = 0, x = (double)((const R *)c.x)[at];
#pragma unroll 1
        for (int64_t j = 0; j < c.others; j++)
            a += (double)g[j] * td_slope_p(x - (double)y[j * c.n], (double)distance[j], c.p);
        ((R *)c.out)[at] = (R)a;
    }
};

template <class Work>
__global__ void __launch_bounds__(256) td_distance_alone(const __grid_constant__ td_distance_call c)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
#pragma unroll 1
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < c.units; at += step)
        Work::one(c, at);
}
#endif
