/* norm.c - normalisation kernels. A row is read three times while it lies in the cache: mean,
 * deviations, result. */
#include "cpu/norm/norm.h"
#include "cpu/norm/numbers.h"
#include "cpu/simd/rows.h"

#define PART(n, i, width) ((n) - (i) < (width) ? (n) - (i) : (width))
#define FLUSH 64 /* rows added up in the working precision before the sums go to double */

/* BODY runs for each group of lanes; it loads with LOAD(pointer + i) and stores with STORE(pointer
 * + i, value). */
#define LANES(v, WIDTH, n, ...)                \
    do {                                       \
        int64_t i = 0;                         \
        for (; i + WIDTH <= (n); i += WIDTH) { \
            enum { whole = 1 };                \
            const int64_t k = WIDTH;           \
            __VA_ARGS__                        \
        }                                      \
        if (i < (n)) {                         \
            enum { whole = 0 };                \
            const int64_t k = (n) - i;         \
            __VA_ARGS__                        \
        }                                      \
    } while (0)
#define LOAD(v, p) (whole ? v##_load(p) : v##_load_n(p, k))
#define STORE(v, p, x)              \
    do {                            \
        if (whole) v##_store(p, x); \
        else v##_store_n(p, x, k);  \
    } while (0)

/* ---- statistics of a row ---- */

ROW_FOLD_F32(sum_f32, 0, MAP_SAME, JOIN_ADD)
ROW_FOLD_F64(sum_f64, 0, MAP_SAME, JOIN_ADD)

#define SQUARES(name, real, v, WIDTH)                                       \
    VFN real name(const real *x, int64_t n, real mean)                      \
    {                                                                       \
        v m = v##_set(mean), s[SUM_ACCS];                                   \
        SUM_ZERO(v, s);                                                     \
        SUM_OVER(WIDTH, n, {                                                \
            v p = (whole ? v##_load(x + i) : v##_load_or(x + i, k, m)) - m; \
            s[j] = v##_fma(p, p, s[j]);                                     \
        });                                                                 \
        return v##_sums_total(s);                                           \
    }
SQUARES(squares_f32, float, vf, VF_WIDTH)
SQUARES(squares_f64, double, vd, VD_WIDTH)

/* Mean and standard deviation (or root of mean squares) of `count` segments, by plain loops in
 * double: where squares in the working precision leave the range, or the mean's rounding is as
 * large as the deviations. Numbers of float64 are scaled to 1. */
#define SCALED(real, x, power) (sizeof(real) == 8 ? ldexp((double)(x), -(power)) : (double)(x))
#define CAREFUL(suffix, real)                                                                     \
    static __attribute__((noinline, cold)) void careful_##suffix(                                 \
        double *mean, double *deviation, const real *x, int64_t n, int64_t count, int64_t stride, \
        bool centred)                                                                             \
    {                                                                                             \
        double top = 0, sum = 0, rest = 0, squares = 0, all = (double)n * (double)count;          \
        int power = 0;                                                                            \
        for (int64_t s = 0; sizeof(real) == 8 && s < count; s++)                                  \
            for (int64_t i = 0; i < n; i++) top = fmax(top, fabs((double)x[s * stride + i]));     \
        if (top > 0 && isfinite(top)) frexp(top, &power);                                         \
        for (int64_t s = 0; centred && s < count; s++)                                            \
            for (int64_t i = 0; i < n; i++) sum += SCALED(real, x[s * stride + i], power);        \
        double m = centred ? sum / all : 0;                                                       \
        for (int64_t s = 0; s < count; s++)                                                       \
            for (int64_t i = 0; i < n; i++) {                                                     \
                double d = SCALED(real, x[s * stride + i], power) - m;                            \
                rest += d;                                                                        \
                squares += d * d;                                                                 \
            }                                                                                     \
        rest = centred ? rest / all : 0;                                                          \
        *mean = ldexp(m + rest, power);                                                           \
        *deviation = ldexp(sqrt(fmax(0, squares / all - rest * rest)), power);                    \
        if (squares != squares) *deviation = NAN;                                                 \
    }
CAREFUL(f32, float)
CAREFUL(f64, double)

#define BLOCK 4096 /* of a row: sums in the working precision, which come together in double */
#define IN_BLOCKS(total, SUM_OF_BLOCK)                                                           \
    do {                                                                                         \
        total = 0;                                                                               \
        for (int64_t at = 0, k = PART(n, 0, BLOCK); at < n; at += BLOCK, k = PART(n, at, BLOCK)) \
            total += (double)(SUM_OF_BLOCK);                                                     \
    } while (0)
#define MOST_f32 0x1p127f
#define MOST_f64 0x1p900

/* ---- rows ---- */

/* The mean of a row, and 1 / its standard deviation: `*s`. */
#define STATISTICS(suffix, real, SQRT)                                                             \
    static __attribute__((noinline)) real long_row_##suffix(const td_norm_row *job, const real *p, \
                                                            int64_t n, real *s)                    \
    {                                                                                              \
        double sum = 0, squares;                                                                   \
        if (job->centred) IN_BLOCKS(sum, sum_##suffix(p + at, k));                                 \
        real m = (real)(sum / (double)n);                                                          \
        IN_BLOCKS(squares, squares_##suffix(p + at, k, m));                                        \
        *s = (real)squares;                                                                        \
        return m;                                                                                  \
    }                                                                                              \
    static __attribute__((noinline, cold)) real careful_row_##suffix(                              \
        const td_norm_row *job, const real *p, int64_t n, real *s)                                 \
    {                                                                                              \
        double mean, deviation;                                                                    \
        careful_##suffix(&mean, &deviation, p, n, 1, 0, job->centred);                             \
        *s = (real)(1 / td_number_root(deviation, job->eps));                                      \
        return (real)mean;                                                                         \
    }                                                                                              \
    VFN real statistics_##suffix(const td_norm_row *job, const real *p, int64_t n, real far,       \
                                 real least, real eps, real *s)                                    \
    {                                                                                              \
        real m, squares;                                                                           \
        if (n > BLOCK) m = long_row_##suffix(job, p, n, &squares);                                 \
        else {                                                                                     \
            m = job->centred ? sum_##suffix(p, n) / (real)n : 0;                                   \
            squares = squares_##suffix(p, n, m);                                                   \
        }                                                                                          \
        if (!(squares <= MOST_##suffix && squares >= m * m * far + least))                         \
            return careful_row_##suffix(job, p, n, s);                                             \
        *s = 1 / SQRT(squares / (real)n + eps);                                                    \
        return m;                                                                                  \
    }
STATISTICS(f32, float, sqrtf)
STATISTICS(f64, double, sqrt)

#define ROWS(suffix, real, v, WIDTH)                                                               \
    static void rows_##suffix(const td_norm_row *job, void *out, void *mean, void *rstd,           \
                              const void *x, const void *weight, const void *bias)                 \
    {                                                                                              \
        real *o = out, *means = mean, *rstds = rstd;                                               \
        const real *p = x, *w = weight, *b = bias;                                                 \
        int64_t n = job->n;                                                                        \
        real far = (real)n * (real)0x1p-20, eps = (real)job->eps,                                  \
             least = eps < (real)1e-30 ? (real)0x1p-100 : 0;                                       \
        for (int64_t r = 0; r < job->rows; r++, p += n, o += n) {                                  \
            real s, m = statistics_##suffix(job, p, n, far, least, eps, &s);                       \
            if (means) means[r] = m;                                                               \
            rstds[r] = s;                                                                          \
            v vm = v##_set(m), vs = v##_set(s);                                                    \
            if (w && b)                                                                            \
                LANES(                                                                             \
                    v, WIDTH, n,                                                                   \
                    STORE(v, o + i,                                                                \
                          v##_fma((LOAD(v, p + i) - vm) * vs, LOAD(v, w + i), LOAD(v, b + i))););  \
            else if (w)                                                                            \
                LANES(v, WIDTH, n, STORE(v, o + i, (LOAD(v, p + i) - vm) * vs * LOAD(v, w + i));); \
            else if (b)                                                                            \
                LANES(v, WIDTH, n, STORE(v, o + i, (LOAD(v, p + i) - vm) * vs + LOAD(v, b + i));); \
            else LANES(v, WIDTH, n, STORE(v, o + i, (LOAD(v, p + i) - vm) * vs););                 \
        }                                                                                          \
    }
ROWS(f32, float, vf, VF_WIDTH)
ROWS(f64, double, vd, VD_WIDTH)

/* With h = (x - mean) * rstd and u = grad * weight:
 *   dx = rstd * (u - mean of u - h * mean of u*h),  dweight += grad * h,  dbias += grad */
#define ROWS_BACKWARD(suffix, real, v, WIDTH)                                                      \
    VFN void row_sums_##suffix(real sums[2], real *dw, real *db, const real *g, const real *x,     \
                               const real *w, real mean, real rstd, int64_t n)                     \
    {                                                                                              \
        v m = v##_set(mean), s = v##_set(rstd), su[SUM_ACCS], suh[SUM_ACCS];                       \
        SUM_ZERO(v, su);                                                                           \
        SUM_ZERO(v, suh);                                                                          \
        SUM_OVER(WIDTH, n, {                                                                       \
            v gi = LOAD(v, g + i), h = (LOAD(v, x + i) - m) * s, u = w ? gi * LOAD(v, w + i) : gi; \
            if (!whole) h = v##_sel(v##_lt(v##_lane(), v##_number(k)), h, v##_set(0));             \
            su[j] += u;                                                                            \
            suh[j] = v##_fma(u, h, suh[j]);                                                        \
            if (dw) STORE(v, dw + i, v##_fma(gi, h, LOAD(v, dw + i)));                             \
            if (db) STORE(v, db + i, gi + LOAD(v, db + i));                                        \
        });                                                                                        \
        sums[0] = v##_sums_total(su);                                                              \
        sums[1] = v##_sums_total(suh);                                                             \
    }                                                                                              \
    static void rows_backward_##suffix(const td_norm_row *job, void *dx, void *dweight,            \
                                       void *dbias, const void *grad, const void *x,               \
                                       const void *mean, const void *rstd, const void *weight)     \
    {                                                                                              \
        real *o = dx, *dw = dweight, *db = dbias, sums[2];                                         \
        const real *g = grad, *p = x, *means = mean, *rstds = rstd, *w = weight;                   \
        int64_t n = job->n;                                                                        \
        for (int64_t r = 0; r < job->rows; r++, p += n, g += n) {                                  \
            real m = job->centred ? means[r] : 0, s = rstds[r];                                    \
            if (dw && db && w) /* the usual case, without a test in the loop */                    \
                row_sums_##suffix(sums, dw, db, g, p, w, m, s, n);                                 \
            else row_sums_##suffix(sums, dw, db, g, p, w, m, s, n);                                \
            if (!o) continue;                                                                      \
            v vs = v##_set(s), vm = v##_set(m), slope = v##_set(-s * sums[1] / (real)n);           \
            v mean_u = v##_set(job->centred ? sums[0] / (real)n : 0);                              \
            if (w)                                                                                 \
                LANES(v, WIDTH, n,                                                                 \
                      STORE(v, o + i,                                                              \
                            v##_fma(LOAD(v, p + i) - vm, slope,                                    \
                                    LOAD(v, g + i) * LOAD(v, w + i) - mean_u) *                    \
                                vs););                                                             \
            else                                                                                   \
                LANES(v, WIDTH, n,                                                                 \
                      STORE(v, o + i,                                                              \
                            v##_fma(LOAD(v, p + i) - vm, slope, LOAD(v, g + i) - mean_u) * vs););  \
            o += n;                                                                                \
        }                                                                                          \
    }
ROWS_BACKWARD(f32, float, vf, VF_WIDTH)
ROWS_BACKWARD(f64, double, vd, VD_WIDTH)

/* ---- segments and columns ---- */

#define PIECE 4096 /* elements added up in the working precision before the sums go to double */

/* Runs BODY on pieces `p` (from BASE) of `m` elements of every segment, then FLUSHES once PIECE
 * elements have come together. */
#define OVER_SEGMENTS(BODY, FLUSHES)                                    \
    int64_t gathered = 0;                                               \
    for (int64_t at = 0; at < count; at++)                              \
        for (int64_t first = 0; first < n; first += PIECE) {            \
            int64_t m = PART(n, first, PIECE), p = at * stride + first; \
            BODY if ((gathered += m) < PIECE) continue;                 \
            FLUSHES                                                     \
            gathered = 0;                                               \
        }                                                               \
    FLUSHES

#define SUMS(suffix, real, v, WIDTH)                                                         \
    static void segment_sums_##suffix(double *sums, const void *grad, const void *data,      \
                                      double mean, int64_t n, int64_t count, int64_t stride) \
    {                                                                                        \
        const real *g = grad, *x = data;                                                     \
        v mv = v##_set((real)mean), s[SUM_ACCS], t[SUM_ACCS];                                \
        SUM_ZERO(v, s);                                                                      \
        SUM_ZERO(v, t);                                                                      \
        sums[0] = sums[1] = 0;                                                               \
        OVER_SEGMENTS(SUM_OVER(WIDTH, m,                                                     \
                               {                                                             \
                                   v gi = LOAD(v, g + p + i), xi = LOAD(v, x + p + i) - mv;  \
                                   if (!whole)                                               \
                                       xi = v##_sel(v##_lt(v##_lane(), v##_number(k)), xi,   \
                                                    v##_set(0));                             \
                                   s[j] += gi;                                               \
                                   t[j] = v##_fma(gi, xi, t[j]);                             \
                               });                                                           \
                      , {                                                                    \
                          sums[0] += (double)v##_sums_total(s);                              \
                          sums[1] += (double)v##_sums_total(t);                              \
                          SUM_ZERO(v, s);                                                    \
                          SUM_ZERO(v, t);                                                    \
                      })                                                                     \
    }                                                                                        \
    static void segment_moments_##suffix(double *moments, const void *data, int64_t n,       \
                                         int64_t count, int64_t stride)                      \
    {                                                                                        \
        const real *x = data;                                                                \
        v s[SUM_ACCS], t[SUM_ACCS];                                                          \
        SUM_ZERO(v, s);                                                                      \
        SUM_ZERO(v, t);                                                                      \
        double sum = 0, rest = 0, squares = 0, all = (double)n * (double)count;              \
        {                                                                                    \
            OVER_SEGMENTS(SUM_OVER(WIDTH, m, { s[j] += LOAD(v, x + p + i); });, {            \
                sum += (double)v##_sums_total(s);                                            \
                SUM_ZERO(v, s);                                                              \
            })                                                                               \
        }                                                                                    \
        v mv = v##_set((real)(sum / all));                                                   \
        OVER_SEGMENTS(SUM_OVER(WIDTH, m,                                                     \
                               {                                                             \
                                   v d = LOAD(v, x + p + i) - mv;                            \
                                   if (!whole)                                               \
                                       d = v##_sel(v##_lt(v##_lane(), v##_number(k)), d,     \
                                                   v##_set(0));                              \
                                   s[j] += d;                                                \
                                   t[j] = v##_fma(d, d, t[j]);                               \
                               });                                                           \
                      , {                                                                    \
                          rest += (double)v##_sums_total(s);                                 \
                          squares += (double)v##_sums_total(t);                              \
                          SUM_ZERO(v, s);                                                    \
                          SUM_ZERO(v, t);                                                    \
                      })                                                                     \
        moments[0] = (double)mv[0] + rest / all;                                             \
        moments[1] = sqrt(fmax(0, squares - rest * rest / all) / all);                       \
        if (!(squares < (sizeof(real) == 4 ? (double)INFINITY : MOST_f64)))                  \
            careful_##suffix(moments, moments + 1, x, n, count, stride, true);               \
    }                                                                                        \
    static void column_sums_##suffix(double *sum_g, double *sum_gx, const void *grad,        \
                                     const void *data, const void *mean, int64_t rows,       \
                                     int64_t stride, int64_t m)                              \
    {                                                                                        \
        const real *g = grad, *x = data, *means = mean;                                      \
        real s[TD_NORM_STRIP], t[TD_NORM_STRIP];                                             \
        for (int64_t c = 0; c < m; c++) sum_g[c] = sum_gx[c] = 0;                            \
        for (int64_t first = 0; first < rows; first += FLUSH) {                              \
            for (int64_t c = 0; c < m; c++) s[c] = t[c] = 0;                                 \
            for (int64_t r = PART(rows, first, FLUSH); r > 0; r--, g += stride, x += stride) \
                for (int64_t c = 0; c < m; c++) {                                            \
                    s[c] += g[c];                                                            \
                    t[c] += g[c] * (x[c] - means[c]);                                        \
                }                                                                            \
            for (int64_t c = 0; c < m; c++) {                                                \
                sum_g[c] += (double)s[c];                                                    \
                sum_gx[c] += (double)t[c];                                                   \
            }                                                                                \
        }                                                                                    \
    }
SUMS(f32, float, vf, VF_WIDTH)
SUMS(f64, double, vd, VD_WIDTH)

#define SCALES(suffix, real, v, WIDTH)                                                             \
    static void segment_scale_##suffix(void *out, const void *data, const void *as,                \
                                       const void *cs, const void *ms, int64_t begin, int64_t end, \
                                       int64_t period, int64_t n)                                  \
    {                                                                                              \
        real *o = (real *)out + begin * n;                                                         \
        const real *x = (const real *)data + begin * n, *a = as, *c = cs, *m = ms;                 \
        for (int64_t at = begin % period; begin < end;                                             \
             begin++, o += n, x += n, at = at + 1 == period ? 0 : at + 1) {                        \
            v va = v##_set(a[at]), vc = v##_set(c[at]), vm = v##_set(m[at]);                       \
            LANES(v, WIDTH, n, STORE(v, o + i, v##_fma(LOAD(v, x + i) - vm, va, vc)););            \
        }                                                                                          \
    }                                                                                              \
    static void column_scale_##suffix(void *out, const void *data, const void *as, const void *cs, \
                                      const void *ms, int64_t rows, int64_t n)                     \
    {                                                                                              \
        real *o = out;                                                                             \
        const real *x = data, *a = as, *c = cs, *m = ms;                                           \
        for (; rows > 0; rows--, o += n, x += n)                                                   \
            LANES(                                                                                 \
                v, WIDTH, n,                                                                       \
                STORE(v, o + i,                                                                    \
                      v##_fma(LOAD(v, x + i) - LOAD(v, m + i), LOAD(v, a + i), LOAD(v, c + i)));); \
    }                                                                                              \
    static void segment_mix_##suffix(void *out, const void *grad, const void *data,                \
                                     const void *as, const void *bs, const void *cs,               \
                                     int64_t begin, int64_t end, int64_t period, int64_t n)        \
    {                                                                                              \
        real *o = (real *)out + begin * n;                                                         \
        const real *g = (const real *)grad + begin * n, *x = (const real *)data + begin * n,       \
                   *a = as, *b = bs, *c = cs;                                                      \
        for (int64_t at = begin % period; begin < end;                                             \
             begin++, o += n, x += n, g += n, at = at + 1 == period ? 0 : at + 1) {                \
            v va = v##_set(a[at]), vb = v##_set(b[at]), vc = v##_set(c[at]);                       \
            LANES(v, WIDTH, n,                                                                     \
                  STORE(v, o + i, v##_fma(LOAD(v, g + i), va, v##_fma(LOAD(v, x + i), vb, vc)));); \
        }                                                                                          \
    }                                                                                              \
    static void column_mix_##suffix(void *out, const void *grad, const void *data, const void *as, \
                                    const void *bs, const void *cs, int64_t rows, int64_t n)       \
    {                                                                                              \
        real *o = out;                                                                             \
        const real *g = grad, *x = data, *a = as, *b = bs, *c = cs;                                \
        for (; rows > 0; rows--, o += n, x += n, g += n)                                           \
            LANES(v, WIDTH, n,                                                                     \
                  STORE(v, o + i,                                                                  \
                        v##_fma(LOAD(v, g + i), LOAD(v, a + i),                                    \
                                v##_fma(LOAD(v, x + i), LOAD(v, b + i), LOAD(v, c + i)))););       \
    }
SCALES(f32, float, vf, VF_WIDTH)
SCALES(f64, double, vd, VD_WIDTH)

#define KERNELS(suffix)                                  \
    {                                                    \
        rows_##suffix,         rows_backward_##suffix,   \
        segment_sums_##suffix, segment_moments_##suffix, \
        column_sums_##suffix,  segment_scale_##suffix,   \
        column_scale_##suffix, segment_mix_##suffix,     \
        column_mix_##suffix}
const td_norm_kernels TD_SYM(td_norm_kernels) = {KERNELS(f32), KERNELS(f64)};
