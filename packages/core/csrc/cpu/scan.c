/* scan.c - running results. Floats are accumulated in double and rounded for every output; integers
 * modulo 2^64. Columns are taken a row at a time, with an accumulator each; a dense row of floats
 * is summed a vector at a time. */
#include "cpu/scan.h"
#include <complex.h>
#include "cpu/simd/complex_numbers.h"
#include "cpu/simd/rows.h"

/* The body for columns side by side, which the compiler can take several at a time, and for the
 * others. */
#define BOTH_PITCHES(name)                                                                     \
    static void name(void *out, int64_t *indices, const void *data, int64_t n, int64_t stride, \
                     int64_t m, int64_t pitch, const void *carry)                              \
    {                                                                                          \
        if (pitch == 1) name##_body(out, indices, data, n, stride, m, 1, carry);               \
        else name##_body(out, indices, data, n, stride, m, pitch, carry);                      \
    }

/* STEP folds element v into accumulator a; what is written is (T)a. */
#define SCAN(name, T, ACC, START, STEP)                                                            \
    VFN void name##_body(void *out, int64_t *indices, const void *data, int64_t n, int64_t stride, \
                         int64_t m, int64_t pitch, const void *carry)                              \
    {                                                                                              \
        T *o = out;                                                                                \
        const T *x = data;                                                                         \
        const ACC *before = carry;                                                                 \
        ACC acc[TD_SCAN_STRIP];                                                                    \
        (void)indices;                                                                             \
        if (m == 1) { /* one accumulator stays in a register */                                    \
            ACC a = before ? before[0] : (START);                                                  \
            for (int64_t i = 0; i < n; i++) {                                                      \
                ACC v = (ACC)x[i * stride];                                                        \
                STEP;                                                                              \
                o[i * stride] = (T)a;                                                              \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        for (int64_t c = 0; c < m; c++) acc[c] = before ? before[c] : (START);                     \
        for (int64_t i = 0; i < n; i++, o += stride, x += stride)                                  \
            for (int64_t c = 0; c < m; c++) {                                                      \
                ACC a = acc[c], v = (ACC)x[c * pitch];                                             \
                STEP;                                                                              \
                acc[c] = a;                                                                        \
                o[c * pitch] = (T)a;                                                               \
            }                                                                                      \
    }                                                                                              \
    BOTH_PITCHES(name)

/* ---- sums and products ---- */

SCAN(sum_cols_f32, float, double, 0, a += v)
SCAN(sum_cols_f64, double, double, 0, a += v)
SCAN(cumsum_i64, uint64_t, uint64_t, 0, a += v)
SCAN(product_cols_f32, float, double, 1, a *= v)
SCAN(product_cols_f64, double, double, 1, a *= v)
SCAN(cumprod_i64, uint64_t, uint64_t, 1, a *= v)
SCAN(cumprod_c64, float complex, double complex, 1, a = cmultiply(a, v))
SCAN(cumprod_c128, double complex, double complex, 1, a = cmultiply(a, v))

/* lane i becomes JOIN of lanes 0 to i: the upper half of each pair, four, eight takes what the
 * lower half ends with */
#if VBYTES == 64
#define PREFIX(a, none, JOIN)                                                 \
    a = JOIN(a, __builtin_shuffle(none, a, (vl){0, 8, 0, 10, 0, 12, 0, 14})); \
    a = JOIN(a, __builtin_shuffle(none, a, (vl){0, 0, 9, 9, 0, 0, 13, 13}));  \
    a = JOIN(a, __builtin_shuffle(none, a, (vl){0, 0, 0, 0, 11, 11, 11, 11}));
#elif VBYTES == 32
#define PREFIX(a, none, JOIN)                                  \
    a = JOIN(a, __builtin_shuffle(none, a, (vl){0, 4, 0, 6})); \
    a = JOIN(a, __builtin_shuffle(none, a, (vl){0, 0, 5, 5}));
#else
#define PREFIX(a, none, JOIN) a = JOIN(a, __builtin_shuffle(none, a, (vl){0, 2}));
#endif
VFN vd last_lane(vd a)
{
    vl last = (vl)vd_set(0) + (VD_WIDTH - 1);
    return __builtin_shuffle(a, last);
}
VFN vd widen(const float *p)
{
    vd r;
#if VBYTES == 64
    r = _mm512_cvtps_pd(_mm256_loadu_ps(p));
#elif VBYTES == 32
    r = _mm256_cvtps_pd(_mm_loadu_ps(p));
#else
    r = (vd){p[0], p[1]};
#endif
    return r;
}
VFN void narrow(float *p, vd a)
{
#if VBYTES == 64
    _mm256_storeu_ps(p, _mm512_cvtpd_ps(a));
#elif VBYTES == 32
    _mm_storeu_ps(p, _mm256_cvtpd_ps(a));
#else
    p[0] = (float)a[0];
    p[1] = (float)a[1];
#endif
}

/* Prefixes of GROUP numbers, two groups a turn: those do not wait for each other, only the short
 * chain of `before` does. A group is a vector of the widest ISA; narrower ones join its parts by
 * the same tree, so that the width changes no bit. */
#define GROUP 8
#define PARTS (GROUP / VD_WIDTH)
#define PREFIX_GROUP(p, none, JOIN)                                                  \
    ROW_UNROLL for (int k = 0; k < PARTS; k++){                                      \
        PREFIX((p)[k], none, JOIN)} ROW_UNROLL for (int by = 1; by < PARTS; by *= 2) \
        ROW_UNROLL for (int k = 0; k < PARTS; k++) if (k & by)(p)[k] =               \
            JOIN((p)[k], last_lane((p)[(k & ~(2 * by - 1)) + by - 1]));
#define FOLD_ROW(name, cols, T, WIDEN, NARROW, IDENTITY, JOIN)                                  \
    static void name(void *out, int64_t *indices, const void *data, int64_t n, int64_t stride,  \
                     int64_t m, int64_t pitch, const void *carry)                               \
    {                                                                                           \
        if (stride != 1 || m != 1 || n <= 4 * GROUP) {                                          \
            cols(out, indices, data, n, stride, m, pitch, carry);                               \
            return;                                                                             \
        }                                                                                       \
        T *o = out;                                                                             \
        const T *x = data;                                                                      \
        vd before = vd_set(carry ? *(const double *)carry : IDENTITY), none = vd_set(IDENTITY); \
        int64_t i = 0;                                                                          \
        for (; i + 2 * GROUP <= n; i += 2 * GROUP) {                                            \
            vd p[PARTS], q[PARTS];                                                              \
            ROW_UNROLL for (int k = 0; k < PARTS; k++)                                          \
            {                                                                                   \
                p[k] = WIDEN(x + i + k * VD_WIDTH);                                             \
                q[k] = WIDEN(x + i + GROUP + k * VD_WIDTH);                                     \
            }                                                                                   \
            PREFIX_GROUP(p, none, JOIN)                                                         \
            PREFIX_GROUP(q, none, JOIN)                                                         \
            vd last = last_lane(p[PARTS - 1]);                                                  \
            ROW_UNROLL for (int k = 0; k < PARTS; k++)                                          \
            {                                                                                   \
                q[k] = JOIN(q[k], last);                                                        \
                NARROW(o + i + k * VD_WIDTH, JOIN(p[k], before));                               \
                NARROW(o + i + GROUP + k * VD_WIDTH, JOIN(q[k], before));                       \
            }                                                                                   \
            before = JOIN(before, last_lane(q[PARTS - 1]));                                     \
        }                                                                                       \
        double a = before[0];                                                                   \
        for (; i < n; i++) o[i] = (T)(a = JOIN(a, (double)x[i]));                               \
    }
FOLD_ROW(cumsum_f32, sum_cols_f32, float, widen, narrow, 0, JOIN_ADD)
FOLD_ROW(cumsum_f64, sum_cols_f64, double, vd_load, vd_store, 0, JOIN_ADD)
FOLD_ROW(cumprod_f32, product_cols_f32, float, widen, narrow, 1, JOIN_MUL)
FOLD_ROW(cumprod_f64, product_cols_f64, double, vd_load, vd_store, 1, JOIN_MUL)

#define TOTAL(suffix, T, WIDEN)                                                                 \
    static double total_##suffix(const void *data, int64_t n)                                   \
    {                                                                                           \
        const T *x = data;                                                                      \
        vd s[SUM_ACCS];                                                                         \
        int64_t at = 0;                                                                         \
        SUM_ZERO(vd, s);                                                                        \
        for (; at + SUM_ACCS * VD_WIDTH <= n; at += SUM_ACCS * VD_WIDTH)                        \
            ROW_UNROLL for (int j = 0; j < SUM_ACCS; j++) s[j] += WIDEN(x + at + j * VD_WIDTH); \
        double sum = vd_sums_total(s);                                                          \
        for (; at < n; at++) sum += (double)x[at];                                              \
        return sum;                                                                             \
    }
TOTAL(f32, float, widen)
TOTAL(f64, double, vd_load)

/* ---- logsumexp ---- */

static inline double add_exponents(double a, double b)
{
    double high = b > a ? b : a, low = b > a ? a : b;
    if (a != a || b != b) return a + b;
    return isinf(high) ? high : high + log1p(exp(low - high));
}
static inline double complex add_complex_exponents(double complex a, double complex b)
{
    bool swap = creal(b) > creal(a);
    double complex high = swap ? b : a, low = swap ? a : b;
    if (creal(high) == -INFINITY) return high;
    return high + clog(1 + cexp(low - high));
}
SCAN(logcumsumexp_f32, float, double, -INFINITY, a = add_exponents(a, v))
SCAN(logcumsumexp_f64, double, double, -INFINITY, a = add_exponents(a, v))
SCAN(logcumsumexp_c64, float complex, double complex, -INFINITY, a = add_complex_exponents(a, v))
SCAN(logcumsumexp_c128, double complex, double complex, -INFINITY, a = add_complex_exponents(a, v))

/* ---- extrema: the last of equals; a NaN stays ---- */

#define IS_NAN(v) ((v) != (v))
#define EXTREMUM(name, T, BETTER)                                                                  \
    VFN void name##_body(void *out, int64_t *indices, const void *data, int64_t n, int64_t stride, \
                         int64_t m, int64_t pitch, const void *carry)                              \
    {                                                                                              \
        T *o = out;                                                                                \
        const T *x = data;                                                                         \
        T best[TD_SCAN_STRIP];                                                                     \
        int64_t where[TD_SCAN_STRIP];                                                              \
        (void)carry;                                                                               \
        if (m == 1 && n) {                                                                         \
            T a = x[0];                                                                            \
            int64_t at = 0;                                                                        \
            for (int64_t i = 0; i < n; i++) {                                                      \
                T v = x[i * stride];                                                               \
                bool take = BETTER;                                                                \
                o[i * stride] = a = take ? v : a;                                                  \
                indices[i * stride] = at = take ? i : at;                                          \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        for (int64_t c = 0; c < m && n; c++) {                                                     \
            best[c] = x[c * pitch];                                                                \
            where[c] = 0;                                                                          \
        }                                                                                          \
        for (int64_t i = 0; i < n; i++, o += stride, x += stride, indices += stride)               \
            for (int64_t c = 0; c < m; c++) {                                                      \
                T v = x[c * pitch], a = best[c];                                                   \
                bool take = BETTER;                                                                \
                o[c * pitch] = best[c] = take ? v : a;                                             \
                indices[c * pitch] = where[c] = take ? i : where[c];                               \
            }                                                                                      \
    }                                                                                              \
    BOTH_PITCHES(name)
#define EXTREMA(suffix, T)                             \
    EXTREMUM(cummax_##suffix, T, (v >= a) | IS_NAN(v)) \
    EXTREMUM(cummin_##suffix, T, (v <= a) | IS_NAN(v))
EXTREMA(f32, float)
EXTREMA(f64, double)
EXTREMA(i64, int64_t)

const td_scan_kernels TD_SYM(td_scan_kernels) = {
    .total = {total_f32, total_f64},
    .scan = {
        [TD_CUMSUM] = {[TD_F32] = cumsum_f32, [TD_F64] = cumsum_f64, [TD_I64] = cumsum_i64},
        [TD_CUMPROD] = {[TD_F32] = cumprod_f32,
                        [TD_F64] = cumprod_f64,
                        [TD_I64] = cumprod_i64,
                        [TD_C64] = cumprod_c64,
                        [TD_C128] = cumprod_c128},
        [TD_LOGCUMSUMEXP] = {[TD_F32] = logcumsumexp_f32,
                             [TD_F64] = logcumsumexp_f64,
                             [TD_C64] = logcumsumexp_c64,
                             [TD_C128] = logcumsumexp_c128},
        [TD_CUMMAX] = {[TD_F32] = cummax_f32, [TD_F64] = cummax_f64, [TD_I64] = cummax_i64},
        [TD_CUMMIN] = {[TD_F32] = cummin_f32, [TD_F64] = cummin_f64, [TD_I64] = cummin_i64},
    }};
