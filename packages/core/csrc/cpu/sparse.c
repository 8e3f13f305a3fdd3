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
    ADD_BLOCKS(2, suffix, real, v, WIDTH)                                                 \
    ADD_BLOCKS(1, suffix, real, v, WIDTH)                                                 \
    static void add_##suffix(void *out, const void *dense, const int64_t *cols,           \
                             const void *values, int64_t count, int64_t known, int64_t n) \
    {                                                                                     \
        const real *d = dense, *x = values;                                               \
        int64_t at = add_8_##suffix(out, d, cols, x, count, known, n, 0);                 \
        at = add_4_##suffix(out, d, cols, x, count, known, n, at);                        \
        at = add_2_##suffix(out, d, cols, x, count, known, n, at);                        \
        at = add_1_##suffix(out, d, cols, x, count, known, n, at);                        \
        if (at < n) { /* lanes behind the last column stay as they are */                 \
            v sum = v##_load_n((real *)out + at, n - at);                                 \
            for (int64_t e = 0; e < count; e++)                                           \
                sum += v##_set(x[e]) * v##_load_n(d + cols[e] * n + at, n - at);          \
            v##_store_n((real *)out + at, sum, n - at);                                   \
        }                                                                                 \
    }

/* Sums as all rows are summed beside other work: the width of a vector changes no bit. */
#define DOT(suffix, real, v, WIDTH)                                                   \
    VFN real dot_row_##suffix(const real *a, const real *b, int64_t n)                \
    {                                                                                 \
        v s[SUM_ACCS];                                                                \
        SUM_ZERO(v, s);                                                               \
        SUM_OVER(WIDTH, n, {                                                          \
            s[j] = whole ? v##_fma(v##_load(a + i), v##_load(b + i), s[j])            \
                         : v##_fma(v##_load_n(a + i, k), v##_load_n(b + i, k), s[j]); \
        });                                                                           \
        return v##_sums_total(s);                                                     \
    }

/* Four rows at once have the same sums: one partial sum of each at a time, so that they stay in
 * registers, then lanes of all four are joined together. */
#define FOUR(suffix, real, v, WIDTH)                                                      \
    VFN void dot_four_##suffix(real *out, const real *a, const real *const *b, int64_t n) \
    {                                                                                     \
        v s[4][SUM_ACCS];                                                                 \
        ROW_UNROLL for (int j = 0; j < SUM_ACCS; j++)                                     \
        {                                                                                 \
            v sums[4];                                                                    \
            int64_t i = j * (WIDTH);                                                      \
            ROW_UNROLL for (int e = 0; e < 4; e++) sums[e] = v##_set(0);                  \
            for (; i + (WIDTH) <= n; i += SUM_ACCS * (WIDTH)) {                           \
                v x = v##_load(a + i);                                                    \
                ROW_UNROLL for (int e = 0; e < 4; e++) sums[e] =                          \
                    v##_fma(x, v##_load(b[e] + i), sums[e]);                              \
            }                                                                             \
            if (i < n) {                                                                  \
                v x = v##_load_n(a + i, n - i);                                           \
                ROW_UNROLL for (int e = 0; e < 4; e++) sums[e] =                          \
                    v##_fma(x, v##_load_n(b[e] + i, n - i), sums[e]);                     \
            }                                                                             \
            ROW_UNROLL for (int e = 0; e < 4; e++) s[e][j] = sums[e];                     \
        }                                                                                 \
        ROW_UNROLL for (int e = 0; e < 4; e++) FOLD_ACCS(SUM_ACCS, JOIN_ADD, s[e])        \
            v##_total_four(out, s[0][0], s[1][0], s[2][0], s[3][0]);                      \
    }

#define DOTS(suffix, number, v, WIDTH)                                                           \
    DOT(suffix, number, v, WIDTH)                                                                \
    FOUR(suffix, number, v, WIDTH)                                                               \
    static void dot_##suffix(void *out, const void *row, const void *dense, const int64_t *cols, \
                             int64_t count, int64_t known, int64_t n)                            \
    {                                                                                            \
        const number *d = dense;                                                                 \
        int64_t e = 0;                                                                           \
        for (; e + 4 <= count; e += 4) {                                                         \
            const number *four[4];                                                               \
            ROW_UNROLL for (int k = 0; k < 4; k++)                                               \
            {                                                                                    \
                four[k] = d + cols[e + k] * n;                                                   \
                if (e + k + AHEAD < known) __builtin_prefetch(d + cols[e + k + AHEAD] * n);      \
            }                                                                                    \
            dot_four_##suffix((number *)out + e, row, four, n);                                  \
        }                                                                                        \
        for (; e < count; e++) {                                                                 \
            if (e + AHEAD < known) __builtin_prefetch(d + cols[e + AHEAD] * n);                  \
            ((number *)out)[e] = dot_row_##suffix(row, d + cols[e] * n, n);                      \
        }                                                                                        \
    }

/* ---- totals of four vectors, each as v##_total has it ---- */
#define LANES_FROM_1(x) (x)
#define LANES_FROM_2(x) LANES_FROM_1(x), LANES_FROM_1((x) + 1)
#define LANES_FROM_4(x) LANES_FROM_2(x), LANES_FROM_2((x) + 2)
#define LANES_FROM_8(x) LANES_FROM_4(x), LANES_FROM_4((x) + 4)
/* HALF(x) is half of the lanes from x on, QUARTER(x) half of that; lanes i and i + half are added
 */
#define TOTAL_FOUR(scalar, v, index, LANES, HALF, QUARTER)                                     \
    VFN void v##_total_four(scalar *out, v a, v b, v c, v d)                                   \
    {                                                                                          \
        enum { n = LANES, h = LANES / 2, q = LANES / 4 };                                      \
        const index low = {HALF(0), HALF(n)}, high = {HALF(h), HALF(n + h)};                   \
        const index first = {QUARTER(0), QUARTER(h), QUARTER(n), QUARTER(n + h)};              \
        const index second = {QUARTER(q), QUARTER(h + q), QUARTER(n + q), QUARTER(n + h + q)}; \
        v ab = __builtin_shuffle(a, b, low) + __builtin_shuffle(a, b, high);                   \
        v cd = __builtin_shuffle(c, d, low) + __builtin_shuffle(c, d, high);                   \
        v all = __builtin_shuffle(ab, cd, first) + __builtin_shuffle(ab, cd, second);          \
        ROW_UNROLL for (int by = q / 2; by; by /= 2) all += v##_turn(all, by);                 \
        ROW_UNROLL for (int e = 0; e < 4; e++) out[e] = all[e * q];                            \
    }
#if VBYTES == 64
TOTAL_FOUR(float, vf, vi, 16, LANES_FROM_8, LANES_FROM_4)
TOTAL_FOUR(double, vd, vl, 8, LANES_FROM_4, LANES_FROM_2)
#elif VBYTES == 32
TOTAL_FOUR(float, vf, vi, 8, LANES_FROM_4, LANES_FROM_2)
TOTAL_FOUR(double, vd, vl, 4, LANES_FROM_2, LANES_FROM_1)
#else
TOTAL_FOUR(float, vf, vi, 4, LANES_FROM_2, LANES_FROM_1)
VFN void vd_total_four(double *out, vd a, vd b, vd c, vd d)
{
    const vd all[] = {a, b, c, d};
    ROW_UNROLL for (int e = 0; e < 4; e++) out[e] = vd_total(all[e]);
}
#endif

#define ALL(suffix, real, v, WIDTH) ADD(suffix, real, v, WIDTH) DOTS(suffix, real, v, WIDTH)
ALL(f32, float, vf, VF_WIDTH)
ALL(f64, double, vd, VD_WIDTH)

const td_sparse_kernels TD_SYM(td_sparse_kernels) = {
    .of = {{add_f32, dot_f32}, {add_f64, dot_f64}},
};
