/* loss.c - loss kernels. A pair loss is one vector expression for its value and one for its slope.
 */
#include "cpu/loss.h"
#include "cpu/loss_pairs.h"
#include "cpu/simd/rows.h"
#include "cpu/simd/vmath.h"

#define PART(n, i, width) ((n) - (i) < (width) ? (n) - (i) : (width))

#define BLOCK_SUM(suffix, real, v, WIDTH)                                                \
    static __attribute__((noinline)) real block_sum_##suffix(const real *x, int64_t n)   \
    {                                                                                    \
        v s[SUM_ACCS];                                                                   \
        SUM_ZERO(v, s);                                                                  \
        SUM_OVER(WIDTH, n, { s[j] += whole ? v##_load(x + i) : v##_load_n(x + i, k); }); \
        return v##_sums_total(s);                                                        \
    }
BLOCK_SUM(f32, float, vf, VF_WIDTH)
BLOCK_SUM(f64, double, vd, VD_WIDTH)

#define PAIR(name, suffix, real, v, WIDTH, VALUE, SLOPE)                                          \
    static void name##_each_##suffix(void *out, const void *xs, const void *ts, int64_t n,        \
                                     double parameter)                                            \
    {                                                                                             \
        real *o = out;                                                                            \
        const real *px = xs, *pt = ts;                                                            \
        v p = v##_set((real)parameter);                                                           \
        (void)p;                                                                                  \
        int64_t i = 0;                                                                            \
        for (; i + WIDTH <= n; i += WIDTH) {                                                      \
            v x = v##_load(px + i), t = v##_load(pt + i);                                         \
            v##_store(o + i, VALUE);                                                              \
        }                                                                                         \
        if (i < n) {                                                                              \
            v x = v##_load_n(px + i, n - i), t = v##_load_n(pt + i, n - i);                       \
            v##_store_n(o + i, VALUE, n - i);                                                     \
        }                                                                                         \
    }                                                                                             \
    static void name##_gradient_##suffix(void *out, const void *gs, int64_t g_step, double scale, \
                                         const void *xs, const void *ts, int64_t n,               \
                                         double parameter)                                        \
    {                                                                                             \
        real *o = out;                                                                            \
        const real *px = xs, *pt = ts, *pg = gs;                                                  \
        v p = v##_set((real)parameter), one = v##_set(pg && n ? pg[0] * (real)scale : 0),         \
          by = v##_set((real)scale);                                                              \
        (void)p;                                                                                  \
        for (int64_t i = 0; i < n; i += WIDTH) {                                                  \
            int64_t k = PART(n, i, WIDTH);                                                        \
            v x = v##_load_n(px + i, k), t = v##_load_n(pt + i, k),                               \
              g = g_step ? v##_load_n(pg + i, k) * by : one;                                      \
            v##_store_n(o + i, g * (SLOPE), k);                                                   \
        }                                                                                         \
    }
/* A sum of light values, without memory between. */
#define SUM_LIGHT(name, suffix, real, v, WIDTH, VALUE)                                             \
    static double name##_sum_##suffix(const void *xs, const void *ts, int64_t n, double parameter) \
    {                                                                                              \
        double total = 0;                                                                          \
        v p = v##_set((real)parameter);                                                            \
        (void)p;                                                                                   \
        for (int64_t first = 0; first < n; first += TD_LOSS_BLOCK) {                               \
            const real *px = (const real *)xs + first, *pt = (const real *)ts + first;             \
            int64_t m = PART(n, first, TD_LOSS_BLOCK);                                             \
            v s[SUM_ACCS];                                                                         \
            SUM_ZERO(v, s);                                                                        \
            SUM_OVER(WIDTH, m, {                                                                   \
                v x = whole ? v##_load(px + i) : v##_load_n(px + i, k);                            \
                v t = whole ? v##_load(pt + i) : v##_load_n(pt + i, k), value = VALUE;             \
                s[j] +=                                                                            \
                    whole ? value : v##_sel(v##_lt(v##_lane(), v##_number(k)), value, v##_set(0)); \
            });                                                                                    \
            total += (double)v##_sums_total(s);                                                    \
        }                                                                                          \
        return total;                                                                              \
    }
/* Values with logarithms and exponentials lie in the first cache until they are added: the sum's
 * many copies of an expression would be thirty kilobytes. */
#define SUM_HEAVY(name, suffix, real, v, WIDTH, VALUE)                                             \
    static double name##_sum_##suffix(const void *xs, const void *ts, int64_t n, double parameter) \
    {                                                                                              \
        real values[TD_LOSS_BLOCK];                                                                \
        double total = 0;                                                                          \
        for (int64_t first = 0; first < n; first += TD_LOSS_BLOCK) {                               \
            const real *px = (const real *)xs + first, *pt = (const real *)ts + first;             \
            int64_t m = PART(n, first, TD_LOSS_BLOCK);                                             \
            name##_each_##suffix(values, px, pt, m, parameter);                                    \
            total += (double)block_sum_##suffix(values, m);                                        \
        }                                                                                          \
        return total;                                                                              \
    }

#define PAIRS(name, SUM, VALUE, SLOPE)                  \
    PAIR(name, f32, float, vf, VF_WIDTH, VALUE, SLOPE)  \
    PAIR(name, f64, double, vd, VD_WIDTH, VALUE, SLOPE) \
    SUM(name, f32, float, vf, VF_WIDTH, VALUE)          \
    SUM(name, f64, double, vd, VD_WIDTH, VALUE)
PAIRS(mse, SUM_LIGHT, MSE_VALUE, MSE_SLOPE)
PAIRS(l1, SUM_LIGHT, L1_VALUE, L1_SLOPE)
PAIRS(smooth_l1, SUM_LIGHT, SMOOTH_L1_VALUE, SMOOTH_L1_SLOPE)
PAIRS(huber, SUM_LIGHT, HUBER_VALUE, HUBER_SLOPE)
PAIRS(soft_margin, SUM_HEAVY, SOFT_MARGIN_VALUE, SOFT_MARGIN_SLOPE)
PAIRS(bce, SUM_HEAVY, BCE_VALUE, BCE_SLOPE)
PAIRS(bce_logits, SUM_HEAVY, BCE_LOGITS_VALUE, BCE_LOGITS_SLOPE)

/* ---- class scores ---- */

#define JOIN_TOP(a, x) vmax(a, x)
ROW_FOLD_F32(top_f32, -INFINITY, MAP_SAME, JOIN_TOP)
ROW_FOLD_F64(top_f64, -INFINITY, MAP_SAME, JOIN_TOP)

#define CLASSES(suffix, real, v, WIDTH, LOG)                                                       \
    static void rows_##suffix(void *tops, void *logs, const void *data, int64_t rows, int64_t n)   \
    {                                                                                              \
        real *top = tops, *log_sum = logs;                                                         \
        const real *x = data;                                                                      \
        for (int64_t r = 0; r < rows; r++, x += n) {                                               \
            v shift = v##_set(top[r] = top_##suffix(x, n)), s[SUM_ACCS];                           \
            SUM_ZERO(v, s);                                                                        \
            SUM_OVER(WIDTH, n, {                                                                   \
                v p = whole ? v##_load(x + i) : v##_load_or(x + i, k, v##_set(-INFINITY));         \
                s[j] += vexp(p - shift);                                                           \
            });                                                                                    \
            log_sum[r] = LOG(v##_sums_total(s));                                                   \
        }                                                                                          \
    }                                                                                              \
    static void rows_gradient_##suffix(void *out, const void *data, const void *tops,              \
                                       const void *logs, const void *scales, int64_t rows,         \
                                       int64_t n)                                                  \
    {                                                                                              \
        real *o = out;                                                                             \
        const real *x = data, *top = tops, *log_sum = logs, *scale = scales;                       \
        for (int64_t r = 0; r < rows; r++, x += n, o += n) {                                       \
            if (scale[r] == 0) {                                                                   \
                memset(o, 0, (size_t)n * sizeof(real));                                            \
                continue;                                                                          \
            }                                                                                      \
            v shift = v##_set(top[r]), l = v##_set(log_sum[r]), by = v##_set(scale[r]);            \
            int64_t i = 0;                                                                         \
            for (; i + WIDTH <= n; i += WIDTH)                                                     \
                v##_store(o + i, vexp((v##_load(x + i) - shift) - l) * by);                        \
            if (i < n)                                                                             \
                v##_store_n(o + i, vexp((v##_load_n(x + i, n - i) - shift) - l) * by, n - i);      \
        }                                                                                          \
    }                                                                                              \
    static void cols_##suffix(void *tops, void *logs, const void *data, int64_t n, int64_t stride, \
                              int64_t m)                                                           \
    {                                                                                              \
        real *top = tops, *log_sum = logs;                                                         \
        const real *x = data;                                                                      \
        for (int64_t c = 0; c < m; c++) {                                                          \
            top[c] = -INFINITY;                                                                    \
            log_sum[c] = 0;                                                                        \
        }                                                                                          \
        for (int64_t i = 0; i < n; i++)                                                            \
            for (int64_t c = 0; c < m; c++)                                                        \
                top[c] = x[i * stride + c] > top[c] ? x[i * stride + c] : top[c];                  \
        for (int64_t i = 0; i < n; i++)                                                            \
            for (int64_t c = 0; c < m; c += WIDTH) {                                               \
                int64_t k = PART(m, c, WIDTH);                                                     \
                v e = vexp(v##_load_n(x + i * stride + c, k) - v##_load_n(top + c, k));            \
                v##_store_n(log_sum + c, v##_load_n(log_sum + c, k) + e, k);                       \
            }                                                                                      \
        for (int64_t c = 0; c < m; c++) log_sum[c] = LOG(log_sum[c]);                              \
    }                                                                                              \
    static void cols_gradient_##suffix(void *out, const void *data, const void *tops,              \
                                       const void *logs, const void *scales, int64_t n,            \
                                       int64_t stride, int64_t m)                                  \
    {                                                                                              \
        real *o = out;                                                                             \
        const real *x = data, *top = tops, *log_sum = logs, *scale = scales;                       \
        for (int64_t i = 0; i < n; i++, o += stride, x += stride)                                  \
            for (int64_t c = 0; c < m; c += WIDTH) {                                               \
                int64_t k = PART(m, c, WIDTH);                                                     \
                v by = v##_load_n(scale + c, k);                                                   \
                v e = vexp((v##_load_n(x + c, k) - v##_load_n(top + c, k)) -                       \
                           v##_load_n(log_sum + c, k)) *                                           \
                      by;                                                                          \
                v##_store_n(o + c, vsel(veq(by, vzero(by)), by, e), k);                            \
            }                                                                                      \
    }
CLASSES(f32, float, vf, VF_WIDTH, logf)
CLASSES(f64, double, vd, VD_WIDTH, log)

#define PAIR_ROW(name)                                           \
    {                                                            \
        {name##_each_f32, name##_sum_f32, name##_gradient_f32},  \
        {                                                        \
            name##_each_f64, name##_sum_f64, name##_gradient_f64 \
        }                                                        \
    }
/* ---- margins between classes ---- */

/* Over the classes that are no labels: the sum of max(0, x + shift) is added to *sum, 1 to the
 * slope where that is positive, and what was added is returned. NaN stays NaN. */
#define MARGINS(suffix, real, v, WIDTH)                                                           \
    static real above_##suffix(real *slope, const real *x, const real *others, int64_t n,         \
                               real shift, double *sum)                                           \
    {                                                                                             \
        v by = v##_set(shift), zero = v##_set(0), s[SUM_ACCS], c[SUM_ACCS];                       \
        SUM_ZERO(v, s);                                                                           \
        SUM_ZERO(v, c);                                                                           \
        SUM_OVER(WIDTH, n, {                                                                      \
            v gap = (whole ? v##_load(x + i) : v##_load_n(x + i, k)) + by;                        \
            v other = whole ? v##_load(others + i) : v##_load_n(others + i, k);                   \
            v at = whole ? v##_load(slope + i) : v##_load_n(slope + i, k);                        \
            v on = v##_sel(v##_lt(zero, gap), other, zero);                                       \
            v value = v##_sel(v##_lt(gap, zero), zero, gap);                                      \
            s[j] += v##_sel(v##_lt(zero, other), value, zero);                                    \
            c[j] += on;                                                                           \
            v##_store_n(slope + i, at + on, k);                                                   \
        });                                                                                       \
        *sum += (double)v##_sums_total(s);                                                        \
        return v##_sums_total(c);                                                                 \
    }                                                                                             \
    static void margins_##suffix(void *loss, void *slopes, const void *xs, int64_t n,             \
                                 const int64_t *labels, int64_t count, double margin, void *room) \
    {                                                                                             \
        real *slope = slopes, *others = room;                                                     \
        const real *x = xs;                                                                       \
        double sum = 0;                                                                           \
        for (int64_t i = 0; i < n; i++) {                                                         \
            others[i] = 1;                                                                        \
            slope[i] = 0;                                                                         \
        }                                                                                         \
        for (int64_t i = 0; i < count; i++) others[labels[i]] = 0;                                \
        for (int64_t i = 0; i < count; i++) {                                                     \
            real shift = (real)margin - x[labels[i]];                                             \
            slope[labels[i]] -= above_##suffix(slope, x, others, n, shift, &sum);                 \
        }                                                                                         \
        for (int64_t i = 0; i < n; i++) slope[i] /= (real)n;                                      \
        *(real *)loss = (real)(sum / (double)n);                                                  \
    }
MARGINS(f32, float, vf, VF_WIDTH)
MARGINS(f64, double, vd, VD_WIDTH)

const td_loss_kernels TD_SYM(td_loss_kernels) = {
    .pair = {[TD_MSE] = PAIR_ROW(mse),
             [TD_L1] = PAIR_ROW(l1),
             [TD_SMOOTH_L1] = PAIR_ROW(smooth_l1),
             [TD_HUBER] = PAIR_ROW(huber),
             [TD_SOFT_MARGIN] = PAIR_ROW(soft_margin),
             [TD_BCE] = PAIR_ROW(bce),
             [TD_BCE_LOGITS] = PAIR_ROW(bce_logits)},
    .classes = {{rows_f32, cols_f32, rows_gradient_f32, cols_gradient_f32},
                {rows_f64, cols_f64, rows_gradient_f64, cols_gradient_f64}},
    .margin = {{margins_f32}, {margins_f64}},
};
