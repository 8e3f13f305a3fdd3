/* distance.c - p-norm distances from a row to many, and their slopes. A lane of a vector holds a
 * row of its own, or a feature, so the width of a vector changes no bit. Terms are added in groups
 * of GROUP, and the groups then: the error of a sum of n floats grows with GROUP + n / GROUP. */
#include "cpu/distance.h"
#include <math.h>
#include "cpu/reduction/norm_power.h"
#include "cpu/simd/rows.h"

#define GROUP 64
#define PANEL_VECTORS (TD_PANEL_BYTES / VBYTES)
#define LEAST(a, b) ((a) < (b) ? (a) : (b))
#define SIGN_OF(v, d) \
    v##_sel(v##_lt(vzero(d), d), v##_set(1), v##_sel(v##_lt(d, vzero(d)), v##_set(-1), vzero(d)))

/* ---- distances ---- */

#define PANEL(name, suffix, real, v, WIDTH, TERM, JOIN, FINISH)                                \
    static void name##_panel_##suffix(void *out, const void *xs, const void *panel, int64_t n, \
                                      double p)                                                \
    {                                                                                          \
        const real *x = xs, *y = panel;                                                        \
        v total[PANEL_VECTORS];                                                                \
        (void)p;                                                                               \
        for (int k = 0; k < PANEL_VECTORS; k++) total[k] = v##_set(0);                         \
        for (int64_t begin = 0; begin < n; begin += GROUP) {                                   \
            int64_t end = LEAST(n, begin + GROUP);                                             \
            v group[PANEL_VECTORS];                                                            \
            ROW_UNROLL for (int k = 0; k < PANEL_VECTORS; k++) group[k] = v##_set(0);          \
            for (int64_t i = begin; i < end; i++, y += PANEL_VECTORS * (WIDTH))                \
                ROW_UNROLL for (int k = 0; k < PANEL_VECTORS; k++)                             \
                {                                                                              \
                    v d = v##_set(x[i]) - v##_load(y + k * (WIDTH)), term = TERM;              \
                    group[k] = JOIN(group[k], term);                                           \
                }                                                                              \
            for (int k = 0; k < PANEL_VECTORS; k++) total[k] = JOIN(total[k], group[k]);       \
        }                                                                                      \
        for (int k = 0; k < PANEL_VECTORS; k++) {                                              \
            v a = total[k];                                                                    \
            v##_store((real *)out + k * (WIDTH), FINISH);                                      \
        }                                                                                      \
    }

/* Any exponent, a number at a time and in double. */
#define PANEL_P(suffix, real)                                                             \
    static void p_panel_##suffix(void *out, const void *xs, const void *panel, int64_t n, \
                                 double p)                                                \
    {                                                                                     \
        enum { width = TD_PANEL_BYTES / sizeof(real) };                                   \
        const real *x = xs, *y = panel;                                                   \
        for (int k = 0; k < width; k++) {                                                 \
            double a = 0;                                                                 \
            for (int64_t i = 0; i < n; i++) {                                             \
                double size = fabs((double)x[i] - (double)y[i * width + k]);              \
                a += p == 0 ? size != 0 : td_norm_power(size, p);                         \
            }                                                                             \
            ((real *)out)[k] = (real)(p == 0 ? a : pow(a, 1 / p));                        \
        }                                                                                 \
    }

/* ---- slopes ---- */

#define PULL(name, suffix, real, v, WIDTH, WEIGHT, TERM)                                         \
    static void name##_pull_##suffix(void *out, const void *xs, const void *ys, int64_t rows,    \
                                     int64_t n, const void *gs, const void *distances, double p) \
    {                                                                                            \
        const real *x = xs, *g = gs, *distance = distances;                                      \
        (void)p;                                                                                 \
        for (int64_t i = 0; i < n; i += (WIDTH)) {                                               \
            int64_t k = LEAST((WIDTH), n - i);                                                   \
            v a = v##_load_n(x + i, k), total = v##_set(0);                                      \
            for (int64_t begin = 0; begin < rows; begin += GROUP) {                              \
                int64_t end = LEAST(rows, begin + GROUP);                                        \
                v group = v##_set(0);                                                            \
                for (int64_t j = begin; j < end; j++) {                                          \
                    real far = distance[j];                                                      \
                    v d = a - v##_load_n((const real *)ys + j * n + i, k), w = v##_set(WEIGHT);  \
                    (void)far;                                                                   \
                    group = group + TERM;                                                        \
                }                                                                                \
                total = total + group;                                                           \
            }                                                                                    \
            v##_store_n((real *)out + i, total, k);                                              \
        }                                                                                        \
    }

static double slope_p(double d, double far, double p)
{
    if (p == 0 || d == 0 || far == 0) return 0;
    double part = fabs(d) / far;
    return copysign(p == 3 ? part * part : td_norm_power(part, p - 1), d);
}

#define PULL_P(suffix, real)                                                                \
    static void p_pull_##suffix(void *out, const void *xs, const void *ys, int64_t rows,    \
                                int64_t n, const void *gs, const void *distances, double p) \
    {                                                                                       \
        const real *x = xs, *y = ys, *g = gs, *distance = distances;                        \
        for (int64_t i = 0; i < n; i++) {                                                   \
            double a = 0;                                                                   \
            for (int64_t j = 0; j < rows; j++)                                              \
                a += (double)g[j] *                                                         \
                     slope_p((double)x[i] - (double)y[j * n + i], (double)distance[j], p);  \
            ((real *)out)[i] = (real)a;                                                     \
        }                                                                                   \
    }

#define ALL(suffix, real, v, WIDTH)                                           \
    PANEL(one, suffix, real, v, WIDTH, vabs(d), JOIN_ADD, a)                  \
    PANEL(two, suffix, real, v, WIDTH, d *d, JOIN_ADD, vsqrt(a))              \
    PANEL(inf, suffix, real, v, WIDTH, vabs(d), JOIN_MAX, a)                  \
    PANEL_P(suffix, real)                                                     \
    PULL(one, suffix, real, v, WIDTH, g[j], w *SIGN_OF(v, d))                 \
    PULL(two, suffix, real, v, WIDTH, far == 0 ? 0 : g[j] / far, w * d)       \
    PULL(inf, suffix, real, v, WIDTH, g[j],                                   \
         v##_sel(v##_eq(vabs(d), v##_set(far)), w * SIGN_OF(v, d), vzero(d))) \
    PULL_P(suffix, real)
ALL(f32, float, vf, VF_WIDTH)
ALL(f64, double, vd, VD_WIDTH)

#define KERNELS(name)                                                              \
    {                                                                              \
        {name##_panel_f32, name##_pull_f32}, { name##_panel_f64, name##_pull_f64 } \
    }

const td_distance_kernels TD_SYM(td_distance_kernels) = {
    .of = {[TD_DISTANCE_1] = KERNELS(one),
           [TD_DISTANCE_2] = KERNELS(two),
           [TD_DISTANCE_INF] = KERNELS(inf),
           [TD_DISTANCE_P] = KERNELS(p)},
};
