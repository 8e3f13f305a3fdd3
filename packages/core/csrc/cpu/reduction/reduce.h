/* reduce.h - the reducers behind sum, max, var and their kin, one instance per instruction set
 * (TD_PICK).
 *
 * A reducer turns a block of m outputs times n elements into m accumulators, joins accumulators of
 * neighbouring blocks (the earlier one first) and writes finished ones out. Strides are bytes, of
 * any sign. Which blocks there are depends on shapes only, never on the number of threads, and
 * joins happen in one fixed order: that is what keeps results equal to the bit. */
#ifndef TD_REDUCE_KERNELS_H
#define TD_REDUCE_KERNELS_H
#include "runtime/loops.h"

#define TD_MAX_ACCUMULATOR 32 /* bytes */

typedef struct td_reduce_context {
    double divisor;    /* mean: a sum is divided by it; 1 otherwise */
    double correction; /* var: degrees of freedom taken away */
    double exponent;   /* the p of a norm */
    int root;          /* var: 1 for the standard deviation */
    int64_t turn;      /* extrema of integers: the `turn` of the reducer */
} td_reduce_context;

typedef struct td_reducer {
    int32_t size;     /* bytes of one accumulator, 0: no such reducer */
    int32_t dtype[2]; /* what finish[k] writes */
    /* accumulators of outputs x, x + xm, ... over elements 0, xn, 2 xn ...; the first element has
     * index `first`; n >= 1 */
    void (*block)(void *acc, const char *x, int64_t m, int64_t xm, int64_t n, int64_t xn,
                  int64_t first, const td_reduce_context *context);
    void (*join)(void *into, const void *from, int64_t m);
    void (*finish[2])(char *out, int64_t stride, const void *acc, int64_t m,
                      const td_reduce_context *context);
    int64_t turn; /* extrema of integers: v ^ turn puts them in the order of numbers with a sign */
} td_reducer;

typedef enum td_reduction {
    TD_SUM,
    TD_NANSUM,
    TD_PROD,
    TD_NORM0,
    TD_NORM1,
    TD_NORM2,
    TD_NORMP, /* cpu/reduction/reduce.c */
    /* of bool; cpu/reduction/reduce.c */
    TD_ANY,
    TD_ALL,
    TD_COUNT,
    /* cpu/reduction/extrema.c */
    TD_MIN,
    TD_MAX,
    TD_ABSMIN,
    TD_ABSMAX,
    /* with indices; cpu/reduction/extrema.c */
    TD_ARGMIN,
    TD_ARGMAX,
    /* variance, mean; cpu/reduction/moments.c */
    TD_MOMENTS,
    TD_REDUCTIONS
} td_reduction;

typedef td_reducer td_reducers[TD_REDUCTIONS][TD_C128 + 1];

#define TD_REDUCE_DECLARE(isa)                           \
    extern const td_reducers td_sum_reducers_##isa;      \
    extern const td_reducers td_extremum_reducers_##isa; \
    extern const td_reducers td_moment_reducers_##isa;
TD_REDUCE_DECLARE(generic)
#ifdef __x86_64__
TD_REDUCE_DECLARE(avx2)
TD_REDUCE_DECLARE(avx512)
#endif

/* ---- for the kernel files: a block from its three access patterns ---- */

#define TD_SHORT_ROW 12 /* elements: shorter rows are walked element by element, side by side */
#define TD_ELEMENT(T, at) (*(const T *)(at))

/* ROW(x, n) gives the accumulator of a dense row, COLS(acc, x, m, n, xn) those of m dense columns;
 * START and STEP serve the rest, where `a` is the accumulator and `v` the element. */
#define TD_BLOCK(name, T, ACC, ROW, COLS, START, STEP)                                        \
    static void name(void *accs, const char *x, int64_t m, int64_t xm, int64_t n, int64_t xn, \
                     int64_t first, const td_reduce_context *context)                         \
    {                                                                                         \
        ACC *acc = accs;                                                                      \
        if (n > TD_SHORT_ROW && xn == (int64_t)sizeof(T)) {                                   \
            for (int64_t c = 0; c < m; c++) acc[c] = ROW((const T *)(x + c * xm), n);         \
        } else if (xm == (int64_t)sizeof(T) && m >= 4) {                                      \
            COLS(acc, x, m, n, xn);                                                           \
        } else if (n <= TD_SHORT_ROW) {                                                       \
            for (int64_t c = 0; c < m; c++) acc[c] = START;                                   \
            for (int64_t i = 0; i < n; i++)                                                   \
                for (int64_t c = 0; c < m; c++) {                                             \
                    T v = TD_ELEMENT(T, x + i * xn + c * xm);                                 \
                    ACC a = acc[c];                                                           \
                    STEP;                                                                     \
                    acc[c] = a;                                                               \
                }                                                                             \
        } else {                                                                              \
            for (int64_t c = 0; c < m; c++) {                                                 \
                ACC a = START;                                                                \
                const char *at = x + c * xm;                                                  \
                for (int64_t i = 0; i < n; i++, at += xn) {                                   \
                    T v = TD_ELEMENT(T, at);                                                  \
                    STEP;                                                                     \
                }                                                                             \
                acc[c] = a;                                                                   \
            }                                                                                 \
        }                                                                                     \
    }

/* The plain row and the plain columns of the same START and STEP, left to the compiler. */
#define TD_PLAIN_ROW(name, T, ACC, START, STEP)   \
    static inline ACC name(const T *x, int64_t n) \
    {                                             \
        ACC a = START;                            \
        for (int64_t i = 0; i < n; i++) {         \
            T v = x[i];                           \
            STEP;                                 \
        }                                         \
        return a;                                 \
    }
#define TD_PLAIN_COLS(name, T, ACC, START, STEP)                                         \
    static void name(ACC *restrict acc, const char *x, int64_t m, int64_t n, int64_t xn) \
    {                                                                                    \
        for (int64_t c = 0; c < m; c++) acc[c] = START;                                  \
        for (int64_t i = 0; i < n; i++, x += xn) {                                       \
            const T *row = (const T *)x;                                                 \
            for (int64_t c = 0; c < m; c++) {                                            \
                T v = row[c];                                                            \
                ACC a = acc[c];                                                          \
                STEP;                                                                    \
                acc[c] = a;                                                              \
            }                                                                            \
        }                                                                                \
    }

#define TD_JOIN(name, ACC, STEP)                              \
    static void name(void *into, const void *from, int64_t m) \
    {                                                         \
        ACC *p = into;                                        \
        const ACC *q = from;                                  \
        for (int64_t c = 0; c < m; c++) {                     \
            ACC a = p[c], v = q[c];                           \
            STEP;                                             \
            p[c] = a;                                         \
        }                                                     \
    }

#define TD_FINISH(name, T, ACC, VALUE)                                       \
    static void name(char *out, int64_t stride, const void *accs, int64_t m, \
                     const td_reduce_context *context)                       \
    {                                                                        \
        const ACC *acc = accs;                                               \
        for (int64_t c = 0; c < m; c++, out += stride) {                     \
            ACC a = acc[c];                                                  \
            *(T *)out = (T)(VALUE);                                          \
        }                                                                    \
    }
#endif
