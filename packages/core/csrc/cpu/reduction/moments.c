/* moments.c - the reducer behind var, std and their means: count, mean and sum of squared
 * deviations. A row is read twice while it is in the cache: its mean first, then deviations from
 * that mean, whose own sum corrects what the mean lost by rounding. Pieces are joined by the
 * parallel form of the update. */
#include "cpu/reduction/reduce.h"
#include "cpu/simd/rows.h"

typedef struct moments {
    double n, mean, m2;
} moments;

#define PIECE 4096 /* elements read twice before moving on: they stay in the first-level cache */

static inline moments join(moments a, moments b)
{
    double n = a.n + b.n, delta = b.mean - a.mean, share = b.n / n;
    double mean = delta == delta ? a.mean + delta * share
                                 : a.mean + b.mean; /* infinite ones have no distance */
    return (moments){n, mean, a.m2 + b.m2 + delta * delta * a.n * share};
}

ROW_SUM_F32(total_f32, MAP_SAME)
ROW_FOLD_F64(total_f64, 0, MAP_SAME, JOIN_ADD)

/* Sums of deviations and of their squares. */
#define DEVIATIONS(name, real, v, WIDTH)                                                       \
    static inline void name(const real *x, int64_t n, real mean, double *sum, double *squares) \
    {                                                                                          \
        enum { group_ = SUM_ACCS * (WIDTH) };                                                  \
        v s[SUM_ACCS], q[SUM_ACCS], m = v##_set(mean);                                         \
        int64_t at = 0;                                                                        \
        SUM_ZERO(v, s);                                                                        \
        SUM_ZERO(v, q);                                                                        \
        for (; at + 2 * group_ <= n; at += 2 * group_) /* in pairs: the chains are shorter */  \
            ROW_UNROLL for (int j = 0; j < SUM_ACCS; j++)                                      \
            {                                                                                  \
                v d = v##_load(x + at + j * (WIDTH)) - m;                                      \
                v e = v##_load(x + at + group_ + j * (WIDTH)) - m;                             \
                s[j] += d + e;                                                                 \
                q[j] += v##_fma(d, d, e * e);                                                  \
            }                                                                                  \
        SUM_OVER(WIDTH, n - at, {                                                              \
            v d = (whole ? v##_load(x + at + i) : v##_load_or(x + at + i, k, m)) - m;          \
            s[j] += d;                                                                         \
            q[j] = v##_fma(d, d, q[j]);                                                        \
        });                                                                                    \
        *sum = (double)v##_sums_total(s);                                                      \
        *squares = (double)v##_sums_total(q);                                                  \
    }
DEVIATIONS(deviations_f32, float, vf, VF_WIDTH)
DEVIATIONS(deviations_f64, double, vd, VD_WIDTH)

#define ROW(name, real, total, deviations)                                             \
    static moments name##_piece(const real *x, int64_t n)                              \
    {                                                                                  \
        real mean = (real)((double)total(x, n) / (double)n);                           \
        double sum, squares;                                                           \
        deviations(x, n, mean, &sum, &squares);                                        \
        double rest = sum / (double)n;                                                 \
        return (moments){(double)n, rest == rest ? (double)mean + rest : (double)mean, \
                         squares - sum * rest};                                        \
    }                                                                                  \
    static moments name(const real *x, int64_t n)                                      \
    {                                                                                  \
        moments all = name##_piece(x, n < PIECE ? n : PIECE);                          \
        for (int64_t i = PIECE; i < n; i += PIECE)                                     \
            all = join(all, name##_piece(x + i, n - i < PIECE ? n - i : PIECE));       \
        return all;                                                                    \
    }
ROW(row_f32, float, total_f32, deviations_f32)
ROW(row_f64, double, total_f64, deviations_f64)

/* Columns: the running update, with mean and squares of a strip in arrays of their own. */
#define STRIP 256
#define COLS(name, real)                                                                        \
    static void name(moments *acc, const char *x, int64_t m, int64_t n, int64_t xn)             \
    {                                                                                           \
        double mean[STRIP] = {0}, m2[STRIP] = {0};                                              \
        for (int64_t i = 0; i < n; i++) {                                                       \
            const real *row = (const real *)(x + i * xn);                                       \
            double weight = 1 / (double)(i + 1);                                                \
            for (int64_t c = 0; c < m; c++) {                                                   \
                double v = (double)row[c], delta = v - mean[c];                                 \
                mean[c] += delta * weight;                                                      \
                m2[c] += delta * (v - mean[c]);                                                 \
            }                                                                                   \
        }                                                                                       \
        for (int64_t c = 0; c < m; c++) acc[c] = (moments){(double)n, mean[c], m2[c]};          \
    }                                                                                           \
    static void name##_strips(moments *acc, const char *x, int64_t m, int64_t n, int64_t xn)    \
    {                                                                                           \
        for (int64_t c = 0; c < m; c += STRIP)                                                  \
            name(acc + c, x + c * (int64_t)sizeof(real), m - c < STRIP ? m - c : STRIP, n, xn); \
    }
COLS(cols_f32, float)
COLS(cols_f64, double)

#define UPDATE                         \
    double delta = (double)v - a.mean; \
    a.n += 1;                          \
    a.mean += delta / a.n;             \
    a.m2 += delta * ((double)v - a.mean)
TD_BLOCK(moments_f32, float, moments, row_f32, cols_f32_strips, ((moments){0}), UPDATE)
TD_BLOCK(moments_f64, double, moments, row_f64, cols_f64_strips, ((moments){0}), UPDATE)
TD_JOIN(join_moments, moments, a = join(a, v))

static inline double spread(moments a, const td_reduce_context *context)
{
    double freedom = a.n - context->correction;
    double variance = (a.m2 < 0 ? 0 : a.m2) / (freedom < 0 ? 0 : freedom);
    return context->root ? sqrt(variance) : variance;
}
TD_FINISH(spread_f32, float, moments, spread(a, context))
TD_FINISH(spread_f64, double, moments, spread(a, context))
TD_FINISH(mean_f32, float, moments, a.mean)
TD_FINISH(mean_f64, double, moments, a.mean)

const td_reducers TD_SYM(td_moment_reducers) = {
    [TD_MOMENTS] =
        {
            [TD_F32] = {sizeof(moments),
                        {TD_F32, TD_F32},
                        moments_f32,
                        join_moments,
                        {spread_f32, mean_f32}},
            [TD_F64] = {sizeof(moments),
                        {TD_F64, TD_F64},
                        moments_f64,
                        join_moments,
                        {spread_f64, mean_f64}},
        },
};
