/* moments.c - the reducer behind var, std and their means: count, mean and sum of squared
 * deviations. A row is read twice while it is in the cache: its mean first, then deviations from
 * that mean, whose own sum corrects what the mean lost by rounding. Pieces are joined by the
 * parallel form of the update.
 *
 * Squares leave the type's range long before their root does. Where a sum of squares of float32
 * did, or comes near the denormals, the piece is read again in double; of float64, with numbers
 * scaled to 1, and `power` keeps the scale: m2 counts in units of 4^power. */
#include "cpu/reduction/reduce.h"
#include "cpu/simd/rows.h"

typedef struct moments {
    double n, mean, m2;
} moments;
typedef struct scaled {
    double n, mean, m2, power;
} scaled;

#define PIECE 4096 /* elements read twice before moving on: they stay in the first-level cache */
#define PART 2048  /* of it: squares added up in the working precision before they go to double */
#define NO_POWER (-1e5) /* of zeros: any scale is theirs */

#define JOIN(name, ACC)                                                                            \
    static inline ACC name(ACC a, ACC b)                                                           \
    {                                                                                              \
        double n = a.n + b.n, delta = b.mean - a.mean, share = b.n / n;                            \
        double mean =                                                                              \
            delta == delta ? a.mean + delta * share : a.mean + b.mean; /* infinite: no distance */ \
        return (ACC){n, mean, a.m2 + b.m2 + delta * delta * a.n * share};                          \
    }
JOIN(join, moments)
JOIN(join_plain, scaled)

static __attribute__((noinline)) scaled join_scaled(scaled a, scaled b)
{
    int power = (int)(a.power > b.power ? a.power : b.power);
    double n = a.n + b.n, share = b.n / n, mean = a.mean + b.mean,
           delta = scalbn(b.mean, -power) - scalbn(a.mean, -power);
    if (isfinite(a.mean) && isfinite(b.mean))
        mean = scalbn(scalbn(a.mean, -power) + delta * share, power);
    double m2 = scalbn(a.m2, 2 * ((int)a.power - power)) + scalbn(b.m2, 2 * ((int)b.power - power));
    return (scaled){n, mean, m2 + delta * delta * a.n * share, power};
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

/* one number n times: nothing deviates */
static bool all_equal(const char *x, int64_t n, int64_t size)
{
    return memcmp(x, x + size, (size_t)((n - 1) * size)) == 0;
}

/* a piece in double: its sums are in range */
static __attribute__((noinline, cold)) moments again_f32(const float *x, int64_t n)
{
    if (isfinite(x[0]) && all_equal((const char *)x, n, sizeof *x))
        return (moments){(double)n, (double)x[0], 0};
    double sum = 0, rest = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) sum += (double)x[i];
    double mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++) {
        double d = (double)x[i] - mean;
        rest += d;
        squares += d * d;
    }
    rest /= (double)n;
    return (moments){(double)n, rest == rest ? mean + rest : mean,
                     squares - rest * rest * (double)n};
}

static int power_of(double x)
{
    int power = (int)NO_POWER;
    if (x != 0) frexp(x, &power);
    return power;
}

/* n numbers `step` bytes apart, scaled by a power of 2 to magnitudes below 1 */
static __attribute__((noinline, cold)) scaled again_f64(const char *x, int64_t n, int64_t step)
{
    double top = fabs(TD_ELEMENT(double, x)), sum = 0, rest = 0, squares = 0, all = (double)n;
    if (step == sizeof(double) && isfinite(top) && all_equal(x, n, step))
        return (scaled){all, TD_ELEMENT(double, x), 0, power_of(top)};
    for (int64_t i = 0; i < n; i++) {
        double size = fabs(TD_ELEMENT(double, x + i * step));
        top = size > top || size != size ? size : top;
    }
    if (top == 0) return (scaled){all, 0, 0, NO_POWER};
    int power = power_of(top);
    for (int64_t i = 0; i < n; i++) sum += scalbn(TD_ELEMENT(double, x + i * step), -power);
    double mean = sum / all;
    for (int64_t i = 0; i < n; i++) {
        double d = scalbn(TD_ELEMENT(double, x + i * step), -power) - mean;
        rest += d;
        squares += d * d;
    }
    rest /= all;
    return (scaled){all, scalbn(rest == rest ? mean + rest : mean, power),
                    squares - rest * rest * all, power};
}

#define ROW(name, real, ACC, JOIN, total, deviations, AGAIN)                       \
    static ACC name##_piece(const real *x, int64_t n)                              \
    {                                                                              \
        real mean = (real)((double)total(x, n) / (double)n);                       \
        double sum, squares, s, q;                                                 \
        deviations(x, n < PART ? n : PART, mean, &sum, &squares);                  \
        for (int64_t i = PART; i < n; i += PART) {                                 \
            deviations(x + i, n - i < PART ? n - i : PART, mean, &s, &q);          \
            sum += s;                                                              \
            squares += q;                                                          \
        }                                                                          \
        AGAIN                                                                      \
        double rest = sum / (double)n;                                             \
        return (ACC){(double)n, rest == rest ? (double)mean + rest : (double)mean, \
                     squares - sum * rest};                                        \
    }                                                                              \
    static ACC name(const real *x, int64_t n)                                      \
    {                                                                              \
        ACC all = name##_piece(x, n < PIECE ? n : PIECE);                          \
        for (int64_t i = PIECE; i < n; i += PIECE)                                 \
            all = JOIN(all, name##_piece(x + i, n - i < PIECE ? n - i : PIECE));   \
        return all;                                                                \
    }
/* Squares say all they could unless they are this close to the denormals, or infinite. */
#define AGAIN_F32 \
    if (!(squares >= 0x1p-100 && squares < INFINITY)) return again_f32(x, n);
ROW(row_f32, float, moments, join, total_f32, deviations_f32, AGAIN_F32)
ROW(row_f64, double, scaled, join_plain, total_f64, deviations_f64, )

/* Columns: the running update, with mean and squares of a strip in arrays of their own. */
#define STRIP 256
#define COLS(name, real, ACC)                                                                   \
    static void name(ACC *acc, const char *x, int64_t m, int64_t n, int64_t xn)                 \
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
        for (int64_t c = 0; c < m; c++) acc[c] = (ACC){(double)n, mean[c], m2[c]};              \
    }                                                                                           \
    static void name##_strips(ACC *acc, const char *x, int64_t m, int64_t n, int64_t xn)        \
    {                                                                                           \
        for (int64_t c = 0; c < m; c += STRIP)                                                  \
            name(acc + c, x + c * (int64_t)sizeof(real), m - c < STRIP ? m - c : STRIP, n, xn); \
    }
COLS(cols_f32, float, moments)
COLS(cols_f64, double, scaled)

#define UPDATE                         \
    double delta = (double)v - a.mean; \
    a.n += 1;                          \
    a.mean += delta / a.n;             \
    a.m2 += delta * ((double)v - a.mean)
TD_BLOCK(moments_f32, float, moments, row_f32, cols_f32_strips, ((moments){0}), UPDATE)
TD_BLOCK(plain_f64, double, scaled, row_f64, cols_f64_strips, ((scaled){0}), UPDATE)

/* What left the range, or comes near its end, is read again. */
static void moments_f64(void *accs, const char *x, int64_t m, int64_t xm, int64_t n, int64_t xn,
                        int64_t first, const td_reduce_context *context)
{
    scaled *acc = accs;
    plain_f64(accs, x, m, xm, n, xn, first, context);
    for (int64_t c = 0; c < m; c++)
        if (!(acc[c].m2 >= 0x1p-900 && acc[c].m2 <= 0x1p900)) acc[c] = again_f64(x + c * xm, n, xn);
}
TD_JOIN(join_moments, moments, a = join(a, v))
TD_JOIN(join_f64, scaled, a = a.power == 0 && v.power == 0 ? join_plain(a, v) : join_scaled(a, v))

static inline double variance_of(double n, double m2, const td_reduce_context *context)
{
    double freedom = n - context->correction;
    return (m2 < 0 ? 0 : m2) / (freedom < 0 ? 0 : freedom);
}
static inline double spread(moments a, const td_reduce_context *context)
{
    double variance = variance_of(a.n, a.m2, context);
    return context->root ? sqrt(variance) : variance;
}
static inline double spread_scaled(scaled a, const td_reduce_context *context)
{
    double variance = variance_of(a.n, a.m2, context);
    if (a.power != 0)
        return context->root ? scalbn(sqrt(variance), (int)a.power)
                             : scalbn(variance, 2 * (int)a.power);
    return context->root ? sqrt(variance) : variance;
}
TD_FINISH(spread_f32, float, moments, spread(a, context))
TD_FINISH(spread_f64, double, scaled, spread_scaled(a, context))
TD_FINISH(mean_f32, float, moments, a.mean)
TD_FINISH(mean_f64, double, scaled, a.mean)

const td_reducers TD_SYM(td_moment_reducers) = {
    [TD_MOMENTS] =
        {
            [TD_F32] = {sizeof(moments),
                        {TD_F32, TD_F32},
                        moments_f32,
                        join_moments,
                        {spread_f32, mean_f32}},
            [TD_F64] =
                {sizeof(scaled), {TD_F64, TD_F64}, moments_f64, join_f64, {spread_f64, mean_f64}},
        },
};
