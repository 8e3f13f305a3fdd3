/* softmax.c - softmax and its kin. Three passes over a row: its maximum, the exponentials of what
 * lies below it and their sum, the scaling; a row that fits the cache is read from memory once. A
 * NaN makes the sum NaN and so the whole row; a row of -inf, or one that holds +inf, has no
 * distances and is NaN too, except for logsumexp, whose result is then that infinity. */
#include "cpu/softmax.h"
#include "cpu/simd/rows.h"
#include "cpu/simd/vmath.h"

#define PART(n, i, width) ((n) - (i) < (width) ? (n) - (i) : (width))

/* ---- one row ---- */

#define MAP_EXP(x) vexp((x) - shift)
/* A long row's sums: blocks in the working precision, which come together in double. */
#define BLOCK 4096
#define IN_BLOCKS(SUM_OF_BLOCK)                                                              \
    double total_ = 0;                                                                       \
    for (int64_t at = 0, m = PART(n, 0, BLOCK); at < n; at += BLOCK, m = PART(n, at, BLOCK)) \
        total_ += (double)(SUM_OF_BLOCK);                                                    \
    return total_;
/* the sum of exp(x - shift); STORE keeps the exponentials */
#define EXP_SUM(name, real, v, WIDTH, STORE, STORE_N)                                             \
    ROW_FN real name##_block(real *o, const real *x, int64_t n, real below)                       \
    {                                                                                             \
        v shift = v##_set(below), s[SUM_ACCS];                                                    \
        SUM_ZERO(v, s);                                                                           \
        SUM_OVER(WIDTH, n, {                                                                      \
            v p = whole ? v##_load(x + i) : v##_load_or(x + i, k, v##_set(-INFINITY));            \
            p = MAP_EXP(p);                                                                       \
            if (whole) STORE(o + i, p);                                                           \
            else STORE_N(o + i, p, k);                                                            \
            s[j] += p;                                                                            \
        });                                                                                       \
        return v##_sums_total(s);                                                                 \
    }                                                                                             \
    static __attribute__((noinline)) double name##_blocks(real *o, const real *x, int64_t n,      \
                                                          real below){                            \
        IN_BLOCKS(name##_block(o + at, x + at, m, below))} VFN double                             \
    name(real *o, const real *x, int64_t n, real below)                                           \
    {                                                                                             \
        return n <= BLOCK ? (double)name##_block(o, x, n, below) : name##_blocks(o, x, n, below); \
    }
#define NO_STORE(...) (void)o
EXP_SUM(exp_to_f32, float, vf, VF_WIDTH, vf_store, vf_store_n)
EXP_SUM(exp_to_f64, double, vd, VD_WIDTH, vd_store, vd_store_n)
EXP_SUM(exp_sum_f32, float, vf, VF_WIDTH, NO_STORE, NO_STORE)
EXP_SUM(exp_sum_f64, double, vd, VD_WIDTH, NO_STORE, NO_STORE)

#define JOIN_TOP(a, x) vmax(a, x)
ROW_FOLD_F32(top_fold_f32, -INFINITY, MAP_SAME, JOIN_TOP)
ROW_FOLD_F64(top_fold_f64, -INFINITY, MAP_SAME, JOIN_TOP)
ROW_FN float top_f32(const float *x, int64_t n) { return top_fold_f32(x, n); }
ROW_FN double top_f64(const double *x, int64_t n) { return top_fold_f64(x, n); }
ROW_SUM_F32(sum_block_f32, MAP_SAME)
ROW_FOLD_F64(sum_block_f64, 0, MAP_SAME, JOIN_ADD)
VFN double sum_f32(const float *x, int64_t n){IN_BLOCKS(sum_block_f32(x + at, m))} VFN
    double sum_f64(const double *x, int64_t n){IN_BLOCKS(sum_block_f64(x + at, m))}

/* o = EXPRESSION over vectors x (from a) and y (from b) */
#define ROW_WISE(v, WIDTH, o, a, b, n, EXPRESSION)                                    \
    do {                                                                              \
        int64_t i_ = 0;                                                               \
        for (; i_ + WIDTH <= (n); i_ += WIDTH) {                                      \
            v x = v##_load((a) + i_), y = v##_load((b) + i_);                         \
            (void)x;                                                                  \
            (void)y;                                                                  \
            v##_store((o) + i_, EXPRESSION);                                          \
        }                                                                             \
        if (i_ < (n)) {                                                               \
            v x = v##_load_n((a) + i_, (n) - i_), y = v##_load_n((b) + i_, (n) - i_); \
            (void)x;                                                                  \
            (void)y;                                                                  \
            v##_store_n((o) + i_, EXPRESSION, (n) - i_);                              \
        }                                                                             \
    } while (0)

#define DOT(name, real, v, WIDTH)                                                     \
    VFN real name##_block(const real *a, const real *b, int64_t n)                    \
    {                                                                                 \
        v s[SUM_ACCS];                                                                \
        SUM_ZERO(v, s);                                                               \
        SUM_OVER(WIDTH, n, {                                                          \
            s[j] = whole ? v##_fma(v##_load(a + i), v##_load(b + i), s[j])            \
                         : v##_fma(v##_load_n(a + i, k), v##_load_n(b + i, k), s[j]); \
        });                                                                           \
        return v##_sums_total(s);                                                     \
    }                                                                                 \
    VFN double name(const real *a, const real *b, int64_t n)                          \
    {                                                                                 \
        IN_BLOCKS(name##_block(a + at, b + at, m))                                    \
    }
DOT(dot_f32, float, vf, VF_WIDTH) DOT(dot_f64, double, vd, VD_WIDTH)

#define ROWS(kind, suffix, real, ...)                                                       \
    static void kind##_rows_##suffix(void *out, const void *a, const void *b, int64_t rows, \
                                     int64_t n)                                             \
    {                                                                                       \
        real *o = out;                                                                      \
        const real *p = a, *q = b;                                                          \
        (void)q;                                                                            \
        for (int64_t r = 0; r < rows; r++, p += n, q += n) __VA_ARGS__                      \
    }
#define ALL_ROWS(suffix, real, v, WIDTH, LOG)                                                 \
    ROWS(softmax, suffix, real, {                                                             \
        v scale = v##_set((real)(1 / exp_to_##suffix(o, p, n, top_##suffix(p, n))));          \
        ROW_WISE(v, WIDTH, o, o, o, n, x * scale);                                            \
        o += n;                                                                               \
    })                                                                                        \
    ROWS(log_softmax, suffix, real, {                                                         \
        real top = top_##suffix(p, n);                                                        \
        v shift = v##_set(top), log_sum = v##_set(LOG((real)exp_sum_##suffix(o, p, n, top))); \
        ROW_WISE(v, WIDTH, o, p, p, n, (x - shift) - log_sum);                                \
        o += n;                                                                               \
    })                                                                                        \
    ROWS(softmax_backward, suffix, real, {                                                    \
        v dot = v##_set((real)dot_##suffix(p, q, n));                                         \
        ROW_WISE(v, WIDTH, o, p, q, n, (x - dot) * y);                                        \
        o += n;                                                                               \
    })                                                                                        \
    ROWS(log_softmax_backward, suffix, real, {                                                \
        v sum = v##_set((real)sum_##suffix(p, n));                                            \
        ROW_WISE(v, WIDTH, o, p, q, n, x - vexp(y) * sum);                                    \
        o += n;                                                                               \
    })                                                                                        \
    ROWS(logsumexp, suffix, real, {                                                           \
        real top = top_##suffix(p, n);                                                        \
        real sum = (real)exp_sum_##suffix(o, p, n, isinf(top) ? 0 : top);                     \
        *o++ = isinf(top) ? LOG(sum) : top + LOG(sum);                                        \
    })
    ALL_ROWS(f32, float, vf, VF_WIDTH, logf) ALL_ROWS(f64, double, vd, VD_WIDTH, log)

/* ---- columns: the same passes over a strip, a row of it at a time ---- */

#define STRIP TD_SOFTMAX_STRIP

/* for each group of k columns from c on */
#define GROUPS(WIDTH) \
    for (int64_t c = 0, k = PART(m, 0, WIDTH); c < m; c += WIDTH, k = PART(m, c, WIDTH))
#define COLS(kind, suffix, real, SETUP, ...)                                             \
    static void kind##_cols_##suffix(void *out, const void *a, const void *b, int64_t n, \
                                     int64_t stride, int64_t m)                          \
    {                                                                                    \
        real *o = out;                                                                   \
        const real *p = a, *q = b;                                                       \
        (void)q;                                                                         \
        SETUP                                                                            \
        __VA_ARGS__                                                                      \
    }
#define TOPS(suffix, real)                                                                    \
    static void tops_##suffix(real *top, const real *p, int64_t n, int64_t stride, int64_t m) \
    {                                                                                         \
        for (int64_t c = 0; c < m; c++) top[c] = -INFINITY;                                   \
        for (int64_t i = 0; i < n; i++, p += stride)                                          \
            for (int64_t c = 0; c < m; c++) top[c] = p[c] > top[c] ? p[c] : top[c];           \
    }
        TOPS(f32, float) TOPS(f64, double)

/* A long column's sums: ROWS_TOGETHER in the working precision, which come together in double.
 * PART_SUMS fills sum[m] from `count` rows, the first of them `at`. */
#define ROWS_TOGETHER 256
#define SUMS_IN_PARTS(real, n, PART_SUMS)                                                     \
    do {                                                                                      \
        double all_[STRIP] = {0};                                                             \
        for (int64_t at = 0; at < (n); at += ROWS_TOGETHER) {                                 \
            int64_t count = PART(n, at, ROWS_TOGETHER);                                       \
            PART_SUMS;                                                                        \
            for (int64_t c = 0; (n) > ROWS_TOGETHER && c < m; c++) all_[c] += (double)sum[c]; \
        }                                                                                     \
        for (int64_t c = 0; (n) > ROWS_TOGETHER && c < m; c++) sum[c] = (real)all_[c];        \
    } while (0)

/* sum[c] = sum of exp(column - shift[c]), which `o` receives unless it is NULL */
#define EXP_SUMS(suffix, real, v, WIDTH)                                                         \
    VFN void exp_part_##suffix(real *sum, real *o, const real *p, int64_t n, int64_t stride,     \
                               int64_t m, const real *shift)                                     \
    {                                                                                            \
        for (int64_t c = 0; c < m; c++) sum[c] = 0;                                              \
        for (int64_t i = 0; i < n; i++) GROUPS(WIDTH)                                            \
            {                                                                                    \
                v e = vexp(v##_load_n(p + i * stride + c, k) - v##_load_n(shift + c, k));        \
                if (o) v##_store_n(o + i * stride + c, e, k);                                    \
                v##_store_n(sum + c, v##_load_n(sum + c, k) + e, k);                             \
            }                                                                                    \
    }                                                                                            \
    static void exp_sums_##suffix(real *sum, real *o, const real *p, int64_t n, int64_t stride,  \
                                  int64_t m, const real *shift)                                  \
    {                                                                                            \
        for (int64_t c = 0; n == 0 && c < m; c++) sum[c] = 0;                                    \
        SUMS_IN_PARTS(real, n,                                                                   \
                      exp_part_##suffix(sum, o ? o + at * stride : NULL, p + at * stride, count, \
                                        stride, m, shift));                                      \
    }                                                                                            \
    /* the sums of p, or of p * q */                                                             \
    static void plain_sums_##suffix(real *sum, const real *p, const real *q, int64_t n,          \
                                    int64_t stride, int64_t m)                                   \
    {                                                                                            \
        for (int64_t c = 0; n == 0 && c < m; c++) sum[c] = 0;                                    \
        SUMS_IN_PARTS(real, n, {                                                                 \
            for (int64_t c = 0; c < m; c++) sum[c] = 0;                                          \
            for (int64_t i = at; i < at + count; i++)                                            \
                for (int64_t c = 0; c < m; c++)                                                  \
                    sum[c] += q ? p[i * stride + c] * q[i * stride + c] : p[i * stride + c];     \
        });                                                                                      \
    }
            EXP_SUMS(f32, float, vf, VF_WIDTH) EXP_SUMS(f64, double, vd, VD_WIDTH)

#define AT(array, v) v##_load_n(array + c, k)
#define EACH_ROW(v, WIDTH, EXPRESSION)                                                      \
    for (int64_t i = 0; i < n; i++) GROUPS(WIDTH)                                           \
        {                                                                                   \
            v x = v##_load_n(p + i * stride + c, k), y = v##_load_n(q + i * stride + c, k); \
            v##_store_n(o + i * stride + c, EXPRESSION, k);                                 \
        }
#define ALL_COLS(suffix, real, v, WIDTH, LOG)                                  \
    COLS(softmax, suffix, real, real top[STRIP]; real sum[STRIP];, {           \
        tops_##suffix(top, p, n, stride, m);                                   \
        exp_sums_##suffix(sum, o, p, n, stride, m, top);                       \
        for (int64_t c = 0; c < m; c++) sum[c] = 1 / sum[c];                   \
        for (int64_t i = 0; i < n; i++)                                        \
            for (int64_t c = 0; c < m; c++) o[i * stride + c] *= sum[c];       \
    })                                                                         \
    COLS(log_softmax, suffix, real, real top[STRIP] = {0}; real sum[STRIP];, { \
        tops_##suffix(top, p, n, stride, m);                                   \
        exp_sums_##suffix(sum, NULL, p, n, stride, m, top);                    \
        for (int64_t c = 0; c < m; c++) sum[c] = LOG(sum[c]);                  \
        for (int64_t i = 0; i < n; i++)                                        \
            for (int64_t c = 0; c < m; c++)                                    \
                o[i * stride + c] = (p[i * stride + c] - top[c]) - sum[c];     \
    })                                                                         \
    COLS(softmax_backward, suffix, real, real sum[STRIP];, {                   \
        plain_sums_##suffix(sum, p, q, n, stride, m);                          \
        EACH_ROW(v, WIDTH, (x - AT(sum, v)) * y)                               \
    })                                                                         \
    COLS(log_softmax_backward, suffix, real, real sum[STRIP];, {               \
        plain_sums_##suffix(sum, p, NULL, n, stride, m);                       \
        EACH_ROW(v, WIDTH, x - vexp(y) * AT(sum, v))                           \
    })                                                                         \
    COLS(logsumexp, suffix, real, real top[STRIP] = {0}; real sum[STRIP];, {   \
        tops_##suffix(top, p, n, stride, m);                                   \
        for (int64_t c = 0; c < m; c++) top[c] = isinf(top[c]) ? 0 : top[c];   \
        exp_sums_##suffix(sum, NULL, p, n, stride, m, top);                    \
        for (int64_t c = 0; c < m; c++) o[c] = top[c] + LOG(sum[c]);           \
    })
                ALL_COLS(f32, float, vf, VF_WIDTH, logf) ALL_COLS(f64, double, vd, VD_WIDTH, log)

#define KERNEL(kind)                                                             \
    {                                                                            \
        {kind##_rows_f32, kind##_cols_f32}, { kind##_rows_f64, kind##_cols_f64 } \
    }
                    const td_softmax_kernels TD_SYM(td_softmax_kernels) = {
                        [TD_SOFTMAX] = KERNEL(softmax),
                        [TD_LOG_SOFTMAX] = KERNEL(log_softmax),
                        [TD_SOFTMAX_BACKWARD] = KERNEL(softmax_backward),
                        [TD_LOG_SOFTMAX_BACKWARD] = KERNEL(log_softmax_backward),
                        [TD_LOGSUMEXP] = KERNEL(logsumexp),
                    };
