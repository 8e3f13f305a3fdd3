/* sparse.c - a row of a sparse matrix times a dense one, and dot products at its places. A block of
 * columns is added up in registers while the entries of the row go by; what an entry needs is
 * fetched some entries ahead, since the rows of the dense matrix lie anywhere. */
#include "cpu/sparse.h"

#define AHEAD 8
#define BLOCK_BYTES 256
#define NARROW_BYTES 64

#define ADD_BLOCK(name, suffix, real, BYTES)                                                      \
    static inline int64_t name##_##suffix(                                                        \
        real *restrict out, const real *restrict dense, const int64_t *restrict cols,             \
        const real *restrict values, int64_t count, int64_t n, int64_t at)                        \
    {                                                                                             \
        enum { WIDTH = BYTES / sizeof(real) };                                                    \
        for (; at + WIDTH <= n; at += WIDTH) {                                                    \
            real sums[WIDTH];                                                                     \
            for (int i = 0; i < WIDTH; i++) sums[i] = out[at + i];                                \
            for (int64_t k = 0; k < count; k++) {                                                 \
                const real *row = dense + cols[k] * n + at;                                       \
                real value = values[k];                                                           \
                if (k + AHEAD < count)                                                            \
                    for (int b = 0; b < BYTES; b += 64)                                           \
                        __builtin_prefetch((const char *)(dense + cols[k + AHEAD] * n + at) + b); \
                for (int i = 0; i < WIDTH; i++) sums[i] += value * row[i];                        \
            }                                                                                     \
            for (int i = 0; i < WIDTH; i++) out[at + i] = sums[i];                                \
        }                                                                                         \
        return at;                                                                                \
    }

#define ADD(suffix, real)                                                          \
    ADD_BLOCK(wide, suffix, real, BLOCK_BYTES)                                     \
    ADD_BLOCK(narrow, suffix, real, NARROW_BYTES)                                  \
    static void add_##suffix(void *out, const void *dense, const int64_t *cols,    \
                             const void *values, int64_t count, int64_t n)         \
    {                                                                              \
        const real *d = dense, *v = values;                                        \
        int64_t at = wide_##suffix(out, d, cols, v, count, n, 0);                  \
        at = narrow_##suffix(out, d, cols, v, count, n, at);                       \
        for (; at < n; at++) {                                                     \
            real sum = ((real *)out)[at];                                          \
            for (int64_t k = 0; k < count; k++) sum += v[k] * d[cols[k] * n + at]; \
            ((real *)out)[at] = sum;                                               \
        }                                                                          \
    }

#define DOT(suffix, real)                                                                        \
    static void dot_##suffix(void *out, const void *row, const void *dense, const int64_t *cols, \
                             int64_t count, int64_t n)                                           \
    {                                                                                            \
        enum { WIDTH = NARROW_BYTES / sizeof(real) };                                            \
        const real *a = row;                                                                     \
        for (int64_t k = 0; k < count; k++) {                                                    \
            const real *b = (const real *)dense + cols[k] * n;                                   \
            real lanes[WIDTH] = {0}, sum = 0;                                                    \
            int64_t i = 0;                                                                       \
            for (; i + WIDTH <= n; i += WIDTH)                                                   \
                for (int l = 0; l < WIDTH; l++) lanes[l] += a[i + l] * b[i + l];                 \
            for (; i < n; i++) sum += a[i] * b[i];                                               \
            for (int l = 0; l < WIDTH; l++) sum += lanes[l];                                     \
            ((real *)out)[k] = sum;                                                              \
        }                                                                                        \
    }

#define ALL(suffix, real) ADD(suffix, real) DOT(suffix, real)
ALL(f32, float)
ALL(f64, double)

const td_sparse_kernels TD_SYM(td_sparse_kernels) = {
    .of = {{add_f32, dot_f32}, {add_f64, dot_f64}},
};
