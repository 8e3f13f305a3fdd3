/* resample_grid.c - grid_sample's kernels: a block of places at a time. For each axis the taps of
 * all places (an index, a weight, whether it lies inside) are made first; then every combination of
 * taps is read for every channel. A tap outside counts as 0 whatever number its weight is. */
#include "cpu/resample_grid.h"
#include <math.h>

#define BLOCK 64 /* places whose taps stay in the first cache */
#define TAPS 4   /* the most of an axis: cubic */

#define KERNELS(suffix, type, bits, floor_of, nearest_of, abs_of)                                  \
    typedef struct axis_##suffix {                                                                 \
        int32_t at[TAPS][BLOCK];                                                                   \
        bits inside[TAPS][BLOCK]; /* all bits, or none */                                          \
        type weight[TAPS][BLOCK];                                                                  \
    } axis_##suffix;                                                                               \
                                                                                                   \
    static void reflect_##suffix(type *restrict x, int64_t n, type low, type high)                 \
    {                                                                                              \
        type span = high - low;                                                                    \
        for (int64_t i = 0; i < n; i++) {                                                          \
            type far = abs_of(x[i] - low), turns = floor_of(far / span),                           \
                 rest = far - turns * span;                                                        \
            bool even = floor_of(turns * (type)0.5) * 2 == turns;                                  \
            x[i] = even ? rest + low : high - rest;                                                \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    /* the places inside that stand for x, unless zeros lie outside; NaN stays */                  \
    static void keep_##suffix(const td_grid *s, type *restrict x, int64_t n, type size)            \
    {                                                                                              \
        type last = size - 1, edge = s->align ? 0 : (type)0.5;                                     \
        if (s->padding == TD_OUTSIDE_ZEROS) return;                                                \
        if (s->padding == TD_OUTSIDE_REFLECTED) {                                                  \
            if (last + edge > 0) reflect_##suffix(x, n, -edge, last + edge);                       \
            else                                                                                   \
                for (int64_t i = 0; i < n; i++) x[i] *= 0;                                         \
        }                                                                                          \
        for (int64_t i = 0; i < n; i++) {                                                          \
            type low = x[i] < 0 ? 0 : x[i];                                                        \
            x[i] = low > last ? last : low;                                                        \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void set_tap_##suffix(axis_##suffix *a, int tap, const type *restrict x, int64_t n,     \
                                 type last)                                                        \
    {                                                                                              \
        int32_t *restrict at = a->at[tap];                                                         \
        bits *restrict in = a->inside[tap];                                                        \
        for (int64_t i = 0; i < n; i++) {                                                          \
            type place = nearest_of(x[i]);                                                         \
            bits inside = (place >= 0) & (place <= last);                                          \
            at[i] = (int32_t)(inside ? place : 0);                                                 \
            in[i] = -inside;                                                                       \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void weigh_linear_##suffix(axis_##suffix *a, const type *restrict part, int64_t n)      \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            a->weight[0][i] = 1 - part[i];                                                         \
            a->weight[1][i] = part[i];                                                             \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    /* the cubic kernel with a = -3/4, for distances up to 1 and from 1 to 2 */                    \
    static inline type near_##suffix(type t) { return ((type)1.25 * t - (type)2.25) * t * t + 1; } \
    static inline type far_##suffix(type t)                                                        \
    {                                                                                              \
        return (((t - 5) * t + 8) * t - 4) * (type) - 0.75;                                        \
    }                                                                                              \
    static void weigh_cubic_##suffix(axis_##suffix *a, const type *restrict part, int64_t n)       \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            a->weight[0][i] = far_##suffix(part[i] + 1);                                           \
            a->weight[1][i] = near_##suffix(part[i]);                                              \
            a->weight[2][i] = near_##suffix(1 - part[i]);                                          \
            a->weight[3][i] = far_##suffix(2 - part[i]);                                           \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static int taps_of_##suffix(const td_grid *s, axis_##suffix *a, const type *grid, int axis,    \
                                int64_t n)                                                         \
    {                                                                                              \
        type size = (type)s->sizes[axis], last = size - 1;                                         \
        /* align: (g + 1) * last / 2; else ((g + 1) * size - 1) / 2 */                             \
        type span = s->align ? last : size, edge = s->align ? 0 : 1;                               \
        type x[BLOCK], part[BLOCK], at[BLOCK];                                                     \
        grid += s->dims - 1 - axis;                                                                \
        for (int64_t i = 0; i < n; i++)                                                            \
            x[i] = ((grid[i * s->dims] + 1) * span - edge) * (type)0.5;                            \
        if (s->mode != TD_SAMPLE_CUBIC) keep_##suffix(s, x, n, size);                              \
        if (s->mode == TD_SAMPLE_NEAREST) {                                                        \
            set_tap_##suffix(a, 0, x, n, last);                                                    \
            for (int64_t i = 0; i < n; i++) a->weight[0][i] = 1;                                   \
            return 1;                                                                              \
        }                                                                                          \
        for (int64_t i = 0; i < n; i++) {                                                          \
            type low = floor_of(x[i]);                                                             \
            part[i] = x[i] - low;                                                                  \
            x[i] = low;                                                                            \
        }                                                                                          \
        bool cubic = s->mode == TD_SAMPLE_CUBIC;                                                   \
        int taps = cubic ? TAPS : 2;                                                               \
        for (int t = 0; t < taps; t++) {                                                           \
            for (int64_t i = 0; i < n; i++) at[i] = x[i] + (type)(t - cubic);                      \
            if (cubic) keep_##suffix(s, at, n, size);                                              \
            set_tap_##suffix(a, t, at, n, last);                                                   \
        }                                                                                          \
        (cubic ? weigh_cubic_##suffix : weigh_linear_##suffix)(a, part, n);                        \
        return taps;                                                                               \
    }                                                                                              \
                                                                                                   \
    /* one combination of taps for every channel */                                                \
    static void add_##suffix(const td_grid *s, const type *in, type *out,                          \
                             const int32_t *restrict at, const type *restrict weight,              \
                             const bits *restrict inside, int64_t n, bool first)                   \
    {                                                                                              \
        for (int64_t c = 0; c < s->channels; c++, in += s->plane, out += s->places) {              \
            const type *restrict from = in;                                                        \
            type *restrict to = out;                                                               \
            for (int64_t i = 0; i < n; i++) {                                                      \
                union {                                                                            \
                    type number;                                                                   \
                    bits word;                                                                     \
                } value = {from[at[i]]};                                                           \
                value.word &= inside[i];                                                           \
                type more = weight[i] * value.number;                                              \
                to[i] = first ? more : to[i] + more;                                               \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void run_##suffix(const td_grid *s, int64_t sample, int64_t begin, int64_t end)         \
    {                                                                                              \
        const type *in = (const type *)s->in + sample * s->channels * s->plane;                    \
        const type *grid = (const type *)s->grid + sample * s->places * s->dims;                   \
        type *out = (type *)s->out + sample * s->channels * s->places;                             \
        axis_##suffix axes[3];                                                                     \
        int32_t at[BLOCK];                                                                         \
        bits inside[BLOCK];                                                                        \
        type weight[BLOCK];                                                                        \
        for (int64_t from = begin; from < end; from += BLOCK) {                                    \
            int64_t n = end - from < BLOCK ? end - from : BLOCK;                                   \
            int taps = 1, all = 1;                                                                 \
            for (int d = 0; d < s->dims; d++) {                                                    \
                taps = taps_of_##suffix(s, &axes[d], grid + from * s->dims, d, n);                 \
                all *= taps;                                                                       \
            }                                                                                      \
            for (int t = 0; t < all; t++) {                                                        \
                for (int d = 0, rest = t, unit = all / taps; d < s->dims; d++, unit /= taps) {     \
                    const axis_##suffix *a = &axes[d];                                             \
                    int tap = rest / unit;                                                         \
                    rest %= unit;                                                                  \
                    int32_t size = (int32_t)s->sizes[d];                                           \
                    for (int64_t i = 0; i < n; i++) {                                              \
                        at[i] = d ? at[i] * size + a->at[tap][i] : a->at[tap][i];                  \
                        weight[i] = d ? weight[i] * a->weight[tap][i] : a->weight[tap][i];         \
                        inside[i] = d ? inside[i] & a->inside[tap][i] : a->inside[tap][i];         \
                    }                                                                              \
                }                                                                                  \
                add_##suffix(s, in, out + from, at, weight, inside, n, t == 0);                    \
            }                                                                                      \
        }                                                                                          \
    }
KERNELS(f32, float, int32_t, floorf, rintf, fabsf)
KERNELS(f64, double, int64_t, floor, rint, fabs)

const td_grid_kernels TD_SYM(td_grid_kernels) = {.run = {run_f32, run_f64}};
