/* resample_grid.c - grid_sample's kernels: a block of places at a time. For each axis the taps of
 * all places (an index, a weight, whether it lies inside) are made first; then every combination of
 * taps is read for every channel. A tap outside counts as 0 whatever number its weight is.
 * Gradients go the same way: that of the grid needs the weights' slopes besides. */
#include "cpu/resample_grid.h"
#include <math.h>

#define BLOCK 32   /* places whose taps stay in the first cache */
#define TAPS 4     /* the most of an axis: cubic */
#define CORNERS 16 /* the most of a place */

/* The tap on axis d of corner t: the last axis changes first. */
static int tap_of(int t, int d, int dims, int taps)
{
    for (int e = dims - 1; e > d; e--) t /= taps; /* all axes have as many */
    return t % taps;
}

#define KERNELS(suffix, type, bits, floor_of, nearest_of, abs_of)                                  \
    typedef struct axis_##suffix {                                                                 \
        int taps;                                                                                  \
        int32_t at[TAPS][BLOCK];                                                                   \
        bits inside[TAPS][BLOCK]; /* all bits, or none */                                          \
        type weight[TAPS][BLOCK];                                                                  \
        type slope[TAPS][BLOCK]; /* of the weight by the grid's number; made if it is wanted */    \
    } axis_##suffix;                                                                               \
                                                                                                   \
    /* every combination of taps: where it lies, what it weighs, whether it is inside */           \
    typedef struct corners_##suffix {                                                              \
        int count;                                                                                 \
        bool whole; /* all of them are inside */                                                   \
        int32_t at[CORNERS][BLOCK];                                                                \
        bits inside[CORNERS][BLOCK];                                                               \
        type weight[CORNERS][BLOCK];                                                               \
    } corners_##suffix;                                                                            \
                                                                                                   \
    static inline type masked_##suffix(type number, bits inside)                                   \
    {                                                                                              \
        union {                                                                                    \
            type number;                                                                           \
            bits word;                                                                             \
        } value = {number};                                                                        \
        value.word &= inside;                                                                      \
        return value.number;                                                                       \
    }                                                                                              \
                                                                                                   \
    /* a pixel as corner t of place i sees it */                                                   \
    static inline type from_##suffix(const type *pixels, const corners_##suffix *k, int t,         \
                                     int64_t i, bool whole)                                        \
    {                                                                                              \
        type pixel = pixels[k->at[t][i]];                                                          \
        return whole ? pixel : masked_##suffix(pixel, k->inside[t][i]);                            \
    }                                                                                              \
                                                                                                   \
    /* ---- places ---- */                                                                         \
    static void reflect_##suffix(type *restrict x, type *restrict slope, int64_t n, type low,      \
                                 type high)                                                        \
    {                                                                                              \
        type span = high - low;                                                                    \
        for (int64_t i = 0; i < n; i++) {                                                          \
            type far = abs_of(x[i] - low), turns = floor_of(far / span),                           \
                 rest = far - turns * span;                                                        \
            bool even = floor_of(turns * (type)0.5) * 2 == turns;                                  \
            if (slope) slope[i] *= even == (x[i] >= low) ? 1 : -1;                                 \
            x[i] = even ? rest + low : high - rest;                                                \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    /* the places inside that stand for x, unless zeros lie outside; NaN stays. The border does    \
     * not move with x, so its slope is 0. */                                                      \
    static void keep_##suffix(const td_grid *s, type *restrict x, type *restrict slope, int64_t n, \
                              type size)                                                           \
    {                                                                                              \
        type last = size - 1, edge = s->align ? 0 : (type)0.5;                                     \
        if (s->padding == TD_OUTSIDE_ZEROS) return;                                                \
        if (s->padding == TD_OUTSIDE_REFLECTED) {                                                  \
            if (last + edge > 0) reflect_##suffix(x, slope, n, -edge, last + edge);                \
            else                                                                                   \
                for (int64_t i = 0; i < n; i++) x[i] *= 0;                                         \
        }                                                                                          \
        if (slope)                                                                                 \
            for (int64_t i = 0; i < n; i++) slope[i] = x[i] > 0 && x[i] < last ? slope[i] : 0;     \
        for (int64_t i = 0; i < n; i++) {                                                          \
            type low = x[i] < 0 ? 0 : x[i];                                                        \
            x[i] = low > last ? last : low;                                                        \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    /* ---- taps ---- */                                                                           \
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
    /* the cubic kernel with a = -3/4, for distances up to 1 and from 1 to 2, and its slopes */    \
    static inline type near_##suffix(type t) { return ((type)1.25 * t - (type)2.25) * t * t + 1; } \
    static inline type far_##suffix(type t)                                                        \
    {                                                                                              \
        return (((t - 5) * t + 8) * t - 4) * (type) - 0.75;                                        \
    }                                                                                              \
    static inline type near_slope_##suffix(type t) { return ((type)3.75 * t - (type)4.5) * t; }    \
    static inline type far_slope_##suffix(type t)                                                  \
    {                                                                                              \
        return ((3 * t - 10) * t + 8) * (type) - 0.75;                                             \
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
    static void slopes_##suffix(axis_##suffix *a, const type *restrict part,                       \
                                const type *restrict slope, int64_t n)                             \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            type t = part[i], k = slope[i];                                                        \
            if (a->taps == 2) {                                                                    \
                a->slope[0][i] = -k;                                                               \
                a->slope[1][i] = k;                                                                \
                continue;                                                                          \
            }                                                                                      \
            a->slope[0][i] = k * far_slope_##suffix(t + 1);                                        \
            a->slope[1][i] = k * near_slope_##suffix(t);                                           \
            a->slope[2][i] = -k * near_slope_##suffix(1 - t);                                      \
            a->slope[3][i] = -k * far_slope_##suffix(2 - t);                                       \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void taps_of_##suffix(const td_grid *s, axis_##suffix *a, const type *grid, int axis,   \
                                 int64_t n, bool slopes)                                           \
    {                                                                                              \
        type size = (type)s->sizes[axis], last = size - 1;                                         \
        /* align: (g + 1) * last / 2; else ((g + 1) * size - 1) / 2 */                             \
        type span = s->align ? last : size, edge = s->align ? 0 : 1;                               \
        type x[BLOCK], part[BLOCK], at[BLOCK], slope[BLOCK];                                       \
        grid += s->dims - 1 - axis;                                                                \
        for (int64_t i = 0; i < n; i++) {                                                          \
            x[i] = ((grid[i * s->dims] + 1) * span - edge) * (type)0.5;                            \
            slope[i] = span * (type)0.5;                                                           \
        }                                                                                          \
        if (s->mode != TD_SAMPLE_CUBIC) keep_##suffix(s, x, slopes ? slope : NULL, n, size);       \
        if (s->mode == TD_SAMPLE_NEAREST) {                                                        \
            a->taps = 1;                                                                           \
            set_tap_##suffix(a, 0, x, n, last);                                                    \
            for (int64_t i = 0; i < n; i++) a->weight[0][i] = 1;                                   \
            return;                                                                                \
        }                                                                                          \
        for (int64_t i = 0; i < n; i++) {                                                          \
            type low = floor_of(x[i]);                                                             \
            part[i] = x[i] - low;                                                                  \
            x[i] = low;                                                                            \
        }                                                                                          \
        bool cubic = s->mode == TD_SAMPLE_CUBIC;                                                   \
        a->taps = cubic ? TAPS : 2;                                                                \
        for (int t = 0; t < a->taps; t++) {                                                        \
            for (int64_t i = 0; i < n; i++) at[i] = x[i] + (type)(t - cubic);                      \
            if (cubic) keep_##suffix(s, at, NULL, n, size);                                        \
            set_tap_##suffix(a, t, at, n, last);                                                   \
        }                                                                                          \
        (cubic ? weigh_cubic_##suffix : weigh_linear_##suffix)(a, part, n);                        \
        if (slopes) slopes_##suffix(a, part, slope, n);                                            \
    }                                                                                              \
                                                                                                   \
    static void add_axis_##suffix(const td_grid *s, const axis_##suffix *a, int d, int tap,        \
                                  corners_##suffix *k, int t, int64_t n)                           \
    {                                                                                              \
        int32_t size = (int32_t)s->sizes[d];                                                       \
        for (int64_t i = 0; i < n; i++) {                                                          \
            k->at[t][i] = d ? k->at[t][i] * size + a->at[tap][i] : a->at[tap][i];                  \
            k->weight[t][i] = d ? k->weight[t][i] * a->weight[tap][i] : a->weight[tap][i];         \
            k->inside[t][i] = d ? k->inside[t][i] & a->inside[tap][i] : a->inside[tap][i];         \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static bool all_inside_##suffix(const corners_##suffix *k, int64_t n)                          \
    {                                                                                              \
        bits all = -1;                                                                             \
        for (int t = 0; t < k->count; t++)                                                         \
            for (int64_t i = 0; i < n; i++) all &= k->inside[t][i];                                \
        return all;                                                                                \
    }                                                                                              \
                                                                                                   \
    /* n places from `from` on */                                                                  \
    static void corners_of_##suffix(const td_grid *s, int64_t sample, int64_t from, int64_t n,     \
                                    axis_##suffix axes[3], corners_##suffix *k, bool slopes)       \
    {                                                                                              \
        const type *grid = (const type *)s->grid + (sample * s->places + from) * s->dims;          \
        k->count = 1;                                                                              \
        for (int d = 0; d < s->dims; d++) {                                                        \
            taps_of_##suffix(s, &axes[d], grid, d, n, slopes);                                     \
            k->count *= axes[d].taps;                                                              \
        }                                                                                          \
        for (int t = 0; t < k->count; t++)                                                         \
            for (int d = 0; d < s->dims; d++)                                                      \
                add_axis_##suffix(s, &axes[d], d, tap_of(t, d, s->dims, axes[d].taps), k, t, n);   \
        k->whole = all_inside_##suffix(k, n);                                                      \
    }                                                                                              \
                                                                                                   \
    /* ---- values ---- */                                                                         \
    /* `count` corners from t on, one after the other, perhaps onto those before. The compiler     \
     * makes vectors of places where it is told how many corners there are. */                     \
    static inline void sum_##suffix(const type *restrict from, type *restrict to,                  \
                                    const corners_##suffix *restrict k, int64_t n, int t,          \
                                    int count, bool whole, bool onto)                              \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            type more = k->weight[t][i] * from_##suffix(from, k, t, i, whole);                     \
            type total = onto ? to[i] + more : more;                                               \
            _Pragma("GCC unroll 3") for (int u = 1; u < count; u++) total +=                       \
                k->weight[t + u][i] * from_##suffix(from, k, t + u, i, whole);                     \
            to[i] = total;                                                                         \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void run_##suffix(const td_grid *s, int64_t sample, int64_t begin, int64_t end)         \
    {                                                                                              \
        const type *in = (const type *)s->in + sample * s->channels * s->plane;                    \
        type *out = (type *)s->out + sample * s->channels * s->places;                             \
        axis_##suffix axes[3];                                                                     \
        corners_##suffix k;                                                                        \
        for (int64_t from = begin; from < end; from += BLOCK) {                                    \
            int64_t n = end - from < BLOCK ? end - from : BLOCK;                                   \
            corners_of_##suffix(s, sample, from, n, axes, &k, false);                              \
            for (int64_t c = 0; c < s->channels; c++) {                                            \
                const type *pixels = in + c * s->plane;                                            \
                type *to = out + c * s->places + from;                                             \
                if (k.count == 1) sum_##suffix(pixels, to, &k, n, 0, 1, false, false);             \
                else if (k.whole) sum_##suffix(pixels, to, &k, n, 0, 4, true, false);              \
                else sum_##suffix(pixels, to, &k, n, 0, 4, false, false);                          \
                for (int t = 4; t < k.count; t += 4)                                               \
                    sum_##suffix(pixels, to, &k, n, t, 4, false, true);                            \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    /* ---- gradients ---- */                                                                      \
    /* every pixel of a channel gets its places in their order, whichever thread adds them */      \
    static void by_in_##suffix(const td_grid *s, int64_t sample, int64_t begin, int64_t end)       \
    {                                                                                              \
        const type *by_out = (const type *)s->by_out + sample * s->channels * s->places;           \
        type *by_in = (type *)s->by_in + sample * s->channels * s->plane;                          \
        axis_##suffix axes[3];                                                                     \
        corners_##suffix k;                                                                        \
        for (int64_t from = 0; from < s->places; from += BLOCK) {                                  \
            int64_t n = s->places - from < BLOCK ? s->places - from : BLOCK;                       \
            corners_of_##suffix(s, sample, from, n, axes, &k, false);                              \
            for (int64_t c = begin; c < end; c++) {                                                \
                type *restrict to = by_in + c * s->plane;                                          \
                const type *restrict more = by_out + c * s->places + from;                         \
                for (int t = 0; t < k.count; t++)                                                  \
                    for (int64_t i = 0; i < n; i++)                                                \
                        to[k.at[t][i]] +=                                                          \
                            masked_##suffix(more[i] * k.weight[t][i], k.inside[t][i]);             \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    /* adds a corner's part to the gradient of its places: by each axis, what the corner holds     \
     * times the other axes' weights and this one's slope */                                       \
    static void slope_##suffix(const td_grid *s, const axis_##suffix axes[3], int t,               \
                               const type *restrict held, int64_t n, type by_place[3][BLOCK])      \
    {                                                                                              \
        for (int d = 0; d < s->dims; d++) {                                                        \
            type rate[BLOCK];                                                                      \
            for (int64_t i = 0; i < n; i++) rate[i] = held[i];                                     \
            for (int e = 0; e < s->dims; e++) {                                                    \
                int tap = tap_of(t, e, s->dims, axes[e].taps);                                     \
                const type *factor = (e == d ? axes[e].slope : axes[e].weight)[tap];               \
                for (int64_t i = 0; i < n; i++) rate[i] *= factor[i];                              \
            }                                                                                      \
            for (int64_t i = 0; i < n; i++) by_place[d][i] += rate[i];                             \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void by_grid_##suffix(const td_grid *s, int64_t sample, int64_t begin, int64_t end)     \
    {                                                                                              \
        const type *in = (const type *)s->in + sample * s->channels * s->plane;                    \
        const type *by_out = (const type *)s->by_out + sample * s->channels * s->places;           \
        type *by_grid = (type *)s->by_grid + sample * s->places * s->dims;                         \
        axis_##suffix axes[3];                                                                     \
        corners_##suffix k;                                                                        \
        for (int64_t from = begin; from < end; from += BLOCK) {                                    \
            int64_t n = end - from < BLOCK ? end - from : BLOCK;                                   \
            corners_of_##suffix(s, sample, from, n, axes, &k, true);                               \
            type by_place[3][BLOCK] = {{0}};                                                       \
            for (int t = 0; t < k.count; t++) {                                                    \
                type held[BLOCK] = {0};                                                            \
                for (int64_t c = 0; c < s->channels; c++) {                                        \
                    const type *pixels = in + c * s->plane, *more = by_out + c * s->places + from; \
                    for (int64_t i = 0; i < n; i++)                                                \
                        held[i] += more[i] * from_##suffix(pixels, &k, t, i, false);               \
                }                                                                                  \
                slope_##suffix(s, axes, t, held, n, by_place);                                     \
            }                                                                                      \
            for (int64_t i = 0; i < n; i++)                                                        \
                for (int d = 0; d < s->dims; d++)                                                  \
                    by_grid[(from + i) * s->dims + s->dims - 1 - d] = by_place[d][i];              \
        }                                                                                          \
    }
KERNELS(f32, float, int32_t, floorf, rintf, fabsf)
KERNELS(f64, double, int64_t, floor, rint, fabs)

const td_grid_kernels TD_SYM(td_grid_kernels) = {.run = {run_f32, run_f64},
                                                 .by_grid = {by_grid_f32, by_grid_f64},
                                                 .by_in = {by_in_f32, by_in_f64}};
