/* rows.h - what row kernels (reductions, softmax, norms, losses) add to vec.h: NaN-keeping extrema
 * and folds of a whole row.
 *
 * A fold runs over groups of ROW_BYTES on every ISA and joins them by one tree, so it gives the
 * same bits whatever the width of a vector. */
#ifndef TD_ROWS_H
#define TD_ROWS_H
#include "cpu/simd/vec.h"

#define ROW_BYTES 256
#define VF_ACCS (ROW_BYTES / VBYTES)
#define VD_ACCS (ROW_BYTES / VBYTES)
#define ROW_UNROLL _Pragma("GCC unroll 16")

/* A fold of a row that is called from two places. With vectors of 16 bytes it is unrolled the most,
 * and the longest code of all, so there it stands once; a call is a nanosecond of a short row. */
#if VBYTES == 16
#define ROW_FN static __attribute__((noinline, unused))
#else
#define ROW_FN VFN
#endif

/* ---- single operations ---- */

VFN vf vf_number(int64_t n) { return vf_set((float)n); }
VFN vd vd_number(int64_t n) { return vd_set((double)n); }
#define LANES_2(b) 0 ^ (b), 1 ^ (b)
#define LANES_4(b) LANES_2(b), 2 ^ (b), 3 ^ (b)
#define LANES_8(b) LANES_4(b), 4 ^ (b), 5 ^ (b), 6 ^ (b), 7 ^ (b)
#define LANES_16(b) \
    LANES_8(b), 8 ^ (b), 9 ^ (b), 10 ^ (b), 11 ^ (b), 12 ^ (b), 13 ^ (b), 14 ^ (b), 15 ^ (b)
#if VBYTES == 64
#define VF_LANES_XOR(b) LANES_16(b)
#define VD_LANES_XOR(b) LANES_8(b)
#elif VBYTES == 32
#define VF_LANES_XOR(b) LANES_8(b)
#define VD_LANES_XOR(b) LANES_4(b)
#else
#define VF_LANES_XOR(b) LANES_4(b)
#define VD_LANES_XOR(b) LANES_2(b)
#endif
VFN vf vf_lane(void) { return (vf){VF_LANES_XOR(0)}; }
VFN vd vd_lane(void) { return (vd){VD_LANES_XOR(0)}; }
/* the first n elements at p; `rest` in the other lanes */
VFN vf vf_load_or(const float *p, int64_t n, vf rest)
{
    return vf_sel(vf_lt(vf_lane(), vf_number(n)), vf_load_n(p, n), rest);
}
VFN vd vd_load_or(const double *p, int64_t n, vd rest)
{
    return vd_sel(vd_lt(vd_lane(), vd_number(n)), vd_load_n(p, n), rest);
}

#define MAP_SAME(x) (x)
#define MAP_ABS(x) vabs(x)
#define MAP_SQUARE(x) ((x) * (x))
#define MAP_NUMBER(x) vsel(visnan(x), vzero(x), x)
#define JOIN_ADD(a, x) ((a) + (x))
#define JOIN_MUL(a, x) ((a) * (x))
/* vmax gives its second operand if one is NaN: a NaN in `a` stays, one in `x` is put back */
#define JOIN_MAX(a, x) vsel(visnan(x), x, vmax(x, a))
#define JOIN_MIN(a, x) vsel(visnan(x), x, vmin(x, a))

/* ---- folds ---- */

/* lane i becomes lane i ^ by; by is a constant power of two below the width */
VFN vf vf_turn(vf a, int by)
{
    switch (by) {
#if VBYTES == 64
        case 8: return __builtin_shuffle(a, (vi){VF_LANES_XOR(8)});
#endif
#if VBYTES >= 32
        case 4: return __builtin_shuffle(a, (vi){VF_LANES_XOR(4)});
#endif
        case 2: return __builtin_shuffle(a, (vi){VF_LANES_XOR(2)});
        default: return __builtin_shuffle(a, (vi){VF_LANES_XOR(1)});
    }
}
VFN vd vd_turn(vd a, int by)
{
    switch (by) {
#if VBYTES == 64
        case 4: return __builtin_shuffle(a, (vl){VD_LANES_XOR(4)});
#endif
#if VBYTES >= 32
        case 2: return __builtin_shuffle(a, (vl){VD_LANES_XOR(2)});
#endif
        default: return __builtin_shuffle(a, (vl){VD_LANES_XOR(1)});
    }
}

/* The lanes of `a` joined: lane i with lane i + half, and so on down to one. */
#define FOLD_LANES(v, JOIN, a)                                                                 \
    ROW_UNROLL for (int fold_by = VBYTES / (int)sizeof((a)[0]) / 2; fold_by; fold_by /= 2) a = \
        JOIN(a, v##_turn(a, fold_by));
#define FOLD_ACCS(ACCS, JOIN, a)                                     \
    ROW_UNROLL for (int fold_by = (ACCS) / 2; fold_by; fold_by /= 2) \
        ROW_UNROLL for (int k = 0; k < fold_by; k++) a[k] = JOIN(a[k], a[k + fold_by]);

VFN float vf_total(vf a) { FOLD_LANES(vf, JOIN_ADD, a) return a[0]; }
VFN double vd_total(vd a) { FOLD_LANES(vd, JOIN_ADD, a) return a[0]; }

/* real name(const T *x, int64_t n): JOIN over MAP of all elements, IDENTITY for none. `m` is the
 * word by which vectors v lie in memory: v itself, or vh and vb of vec16.h. */
#define ROW_FOLD(name, T, m, real, v, WIDTH, ACCS, IDENTITY, MAP, JOIN)               \
    VFN real name(const T *x, int64_t n)                                              \
    {                                                                                 \
        v a[ACCS], none = v##_set(IDENTITY);                                          \
        int64_t i = 0;                                                                \
        ROW_UNROLL for (int j = 0; j < (ACCS); j++) a[j] = none;                      \
        for (; i + (WIDTH) * (ACCS) <= n; i += (WIDTH) * (ACCS))                      \
            ROW_UNROLL for (int j = 0; j < (ACCS); j++)                               \
            {                                                                         \
                v x_ = m##_load(x + i + j * (WIDTH)), y_ = MAP(x_);                   \
                a[j] = JOIN(a[j], y_);                                                \
            }                                                                         \
        ROW_UNROLL for (int j = 0; j < (ACCS); j++)                                   \
        {                                                                             \
            int64_t left = n - i - j * (WIDTH), k_ = left < (WIDTH) ? left : (WIDTH); \
            if (left <= 0) break;                                                     \
            v x_ = v##_sel(v##_lt(v##_lane(), v##_number(k_)),                        \
                           m##_load_n(x + i + j * (WIDTH), k_), none),                \
              y_ = MAP(x_);                                                           \
            a[j] = JOIN(a[j], y_);                                                    \
        }                                                                             \
        FOLD_ACCS(ACCS, JOIN, a)                                                      \
        FOLD_LANES(v, JOIN, a[0])                                                     \
        return a[0][0];                                                               \
    }
/* A sum that is made beside other work keeps SUM_BYTES of partial sums, s[0] to s[SUM_ACCS - 1], on
 * every ISA, and an element's place in the row says to which one it is added: so the width of a
 * vector changes no bit. SUM_OVER runs its body for every vector, with i, the first element; j, the
 * partial sum; k, the count of elements; and `whole`, whether that is all of a vector. What is not
 * an element must add 0. */
#define SUM_BYTES 128
#define SUM_ACCS (SUM_BYTES / VBYTES)
#define SUM_ZERO(v, s) ROW_UNROLL for (int j_ = 0; j_ < SUM_ACCS; j_++)(s)[j_] = v##_set(0)
#define SUM_OVER(WIDTH, n, ...)                                                             \
    do {                                                                                    \
        int64_t i = 0;                                                                      \
        while (i + SUM_ACCS * (WIDTH) <= (n)) ROW_UNROLL for (int j = 0; j < SUM_ACCS; j++) \
            {                                                                               \
                enum { whole = 1 };                                                         \
                const int64_t k = (WIDTH);                                                  \
                (void)k;                                                                    \
                __VA_ARGS__                                                                 \
                i += (WIDTH);                                                               \
            }                                                                               \
        ROW_UNROLL for (int j = 0; j < SUM_ACCS; j++)                                       \
        {                                                                                   \
            if (i >= (n)) break;                                                            \
            const int64_t k = (n) - i < (WIDTH) ? (n) - i : (WIDTH);                        \
            const bool whole = k == (WIDTH);                                                \
            __VA_ARGS__                                                                     \
            i += (WIDTH);                                                                   \
        }                                                                                   \
    } while (0)
VFN float vf_sums_total(const vf *s)
{
    vf a[SUM_ACCS];
    ROW_UNROLL for (int j = 0; j < SUM_ACCS; j++) a[j] = s[j];
    FOLD_ACCS(SUM_ACCS, JOIN_ADD, a)
    return vf_total(a[0]);
}
VFN double vd_sums_total(const vd *s)
{
    vd a[SUM_ACCS];
    ROW_UNROLL for (int j = 0; j < SUM_ACCS; j++) a[j] = s[j];
    FOLD_ACCS(SUM_ACCS, JOIN_ADD, a)
    return vd_total(a[0]);
}

/* The compiler makes x here, and not where it would like to: loads keep the order of memory. */
#if defined __x86_64__
#define VF_HERE(x) __asm__ volatile("" : "+v"(x))
#elif defined __aarch64__
#define VF_HERE(x) __asm__ volatile("" : "+w"(x))
#else
#define VF_HERE(x)
#endif

/* s[j] = MAP of vector j of the group at x, and of the one behind it. */
#define ROW_PAIR(s, m, x, MAP)                                     \
    ROW_UNROLL for (int j = 0; j < VF_ACCS; j++)                   \
    {                                                              \
        vf x_ = m##_load((x) + j * VF_WIDTH);                      \
        (s)[j] = MAP(x_);                                          \
        VF_HERE((s)[j]);                                           \
    }                                                              \
    ROW_UNROLL for (int j = 0; j < VF_ACCS; j++)                   \
    {                                                              \
        vf x_ = m##_load((x) + VF_WIDTH * VF_ACCS + j * VF_WIDTH); \
        (s)[j] += MAP(x_);                                         \
        VF_HERE((s)[j]);                                           \
    }

/* Sums of floats take four groups at a time and join them by a tree before they reach the
 * accumulators: the error, which grows along a chain of additions, grows along a chain a quarter as
 * long. The groups are read one after the other, for the processor fetches ahead of what is read
 * in order: with loads from four places in turn, a row beyond the caches takes 1.4 times as long.
 */
#define ROW_SUM(name, T, m, MAP)                                                  \
    ROW_FOLD(name##_fold, T, m, float, vf, VF_WIDTH, VF_ACCS, 0, MAP, JOIN_ADD)   \
    ROW_FN float name##_rest(const T *x, int64_t n) { return name##_fold(x, n); } \
    VFN float name(const T *x, int64_t n)                                         \
    {                                                                             \
        enum { group_ = VF_WIDTH * VF_ACCS };                                     \
        vf a[VF_ACCS], p_[VF_ACCS], q_[VF_ACCS];                                  \
        int64_t i = 0;                                                            \
        if (n < 8 * group_) return name##_rest(x, n);                             \
        ROW_UNROLL for (int j = 0; j < VF_ACCS; j++) a[j] = vf_set(0);            \
        for (; i + 4 * group_ <= n; i += 4 * group_) {                            \
            ROW_PAIR(p_, m, x + i, MAP)                                           \
            ROW_PAIR(q_, m, x + i + 2 * group_, MAP)                              \
            ROW_UNROLL for (int j = 0; j < VF_ACCS; j++) a[j] += p_[j] + q_[j];   \
        }                                                                         \
        FOLD_ACCS(VF_ACCS, JOIN_ADD, a)                                           \
        FOLD_LANES(vf, JOIN_ADD, a[0])                                            \
        return i < n ? a[0][0] + name##_rest(x + i, n - i) : a[0][0];             \
    }

#define ROW_SUM_F32(name, MAP) ROW_SUM(name, float, vf, MAP)
#define ROW_FOLD_F32(name, identity, MAP, JOIN) \
    ROW_FOLD(name, float, vf, float, vf, VF_WIDTH, VF_ACCS, identity, MAP, JOIN)
#define ROW_FOLD_F64(name, identity, MAP, JOIN) \
    ROW_FOLD(name, double, vd, double, vd, VD_WIDTH, VD_ACCS, identity, MAP, JOIN)

#endif
