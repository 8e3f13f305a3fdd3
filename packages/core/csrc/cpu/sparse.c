/* sparse.c - a row of a sparse matrix times a dense one, and dot products at its places. A block of
 * columns is added up in registers while the entries of the row go by; what an entry needs is
 * fetched some entries ahead, since the rows of the dense matrix lie anywhere. */
#include "cpu/sparse.h"
#include "cpu/simd/rows.h"

#define AHEAD 8

/* columns from `at` on by blocks of COUNT vectors, as far as these go */
#define ADD_BLOCKS(COUNT, suffix, real, v, WIDTH)                                                  \
    static inline int64_t add_##COUNT##_##suffix(                                                  \
        real *out, const real *dense, const int64_t *cols, const real *values, int64_t count,      \
        int64_t known, int64_t n, int64_t at)                                                      \
    {                                                                                              \
        for (; at + COUNT * (WIDTH) <= n; at += COUNT * (WIDTH)) {                                 \
            v sums[COUNT];                                                                         \
            ROW_UNROLL for (int k = 0; k < COUNT; k++) sums[k] = v##_load(out + at + k * (WIDTH)); \
            for (int64_t e = 0; e < count; e++) {                                                  \
                const real *row = dense + cols[e] * n + at;                                        \
                v value = v##_set(values[e]);                                                      \
                if (e + AHEAD < known) {                                                           \
                    const real *next = dense + cols[e + AHEAD] * n + at;                           \
                    ROW_UNROLL for (int k = 0; k < COUNT; k++)                                     \
                        __builtin_prefetch(next + k * (WIDTH));                                    \
                }                                                                                  \
                ROW_UNROLL for (int k = 0; k < COUNT; k++) sums[k] +=                              \
                    value * v##_load(row + k * (WIDTH));                                           \
            }                                                                                      \
            ROW_UNROLL for (int k = 0; k < COUNT; k++) v##_store(out + at + k * (WIDTH), sums[k]); \
        }                                                                                          \
        return at;                                                                                 \
    }

#define ADD(suffix, real, v, WIDTH)                                                       \
    ADD_BLOCKS(8, suffix, real, v, WIDTH)                                                 \
    ADD_BLOCKS(4, suffix, real, v, WIDTH)                                                 \
    ADD_BLOCKS(1, suffix, real, v, WIDTH)                                                 \
    static void add_##suffix(void *out, const void *dense, const int64_t *cols,           \
                             const void *values, int64_t count, int64_t known, int64_t n) \
    {                                                                                     \
        const real *d = dense, *x = values;                                               \
        int64_t at = add_8_##suffix(out, d, cols, x, count, known, n, 0);                 \
        at = add_4_##suffix(out, d, cols, x, count, known, n, at);                        \
        at = add_1_##suffix(out, d, cols, x, count, known, n, at);                        \
        for (; at < n; at++) {                                                            \
            real sum = ((real *)out)[at];                                                 \
            for (int64_t k = 0; k < count; k++) sum += x[k] * d[cols[k] * n + at];        \
            ((real *)out)[at] = sum;                                                      \
        }                                                                                 \
    }

/* Sums as all rows are summed beside other work: the width of a vector changes no bit. */
#define DOT(suffix, real, v, WIDTH)                                                               \
    VFN real dot_row_##suffix(const real *a, const real *b, int64_t n)                            \
    {                                                                                             \
        v s[SUM_ACCS];                                                                            \
        SUM_ZERO(v, s);                                                                           \
        SUM_OVER(WIDTH, n, {                                                                      \
            s[j] = whole ? v##_fma(v##_load(a + i), v##_load(b + i), s[j])                        \
                         : v##_fma(v##_load_n(a + i, k), v##_load_n(b + i, k), s[j]);             \
        });                                                                                       \
        return v##_sums_total(s);                                                                 \
    }                                                                                             \
    static void dot_##suffix(void *out, const void *row, const void *dense, const int64_t *cols,  \
                             int64_t count, int64_t known, int64_t n)                             \
    {                                                                                             \
        for (int64_t e = 0; e < count; e++) {                                                     \
            if (e + AHEAD < known) __builtin_prefetch((const real *)dense + cols[e + AHEAD] * n); \
            ((real *)out)[e] = dot_row_##suffix(row, (const real *)dense + cols[e] * n, n);       \
        }                                                                                         \
    }

#define ALL(suffix, real, v, WIDTH) ADD(suffix, real, v, WIDTH) DOT(suffix, real, v, WIDTH)
ALL(f32, float, vf, VF_WIDTH)
ALL(f64, double, vd, VD_WIDTH)

const td_sparse_kernels TD_SYM(td_sparse_kernels) = {
    .of = {{add_f32, dot_f32}, {add_f64, dot_f64}},
};
