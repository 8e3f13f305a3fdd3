/* quarters.h - max pooling by windows of 2 x 2 side by side, the usual case, as vector code for
 * float and double. A window's numbers come into four vectors, a b above v w; the first of equal
 * ones counts, a NaN before all. */
#ifndef TD_POOLING_QUARTERS_H
#define TD_POOLING_QUARTERS_H
#include "cpu/simd/vec.h"

#define NEWER(best, x) (vgt(x, best) | visnan(x))

#define QUARTERS(suffix, real, v, index, mask, WIDTH)                                          \
    VFN index v##_lanes(int first, int step,                                                   \
                        int other) /* first, first + other, first + step, ... */               \
    {                                                                                          \
        index x;                                                                               \
        for (int i = 0; i < WIDTH; i += 2) {                                                   \
            x[i] = first + i / 2 * step;                                                       \
            x[i + 1] = x[i] + other;                                                           \
        }                                                                                      \
        return x;                                                                              \
    }                                                                                          \
    /* the even and the odd ones of 2 n numbers */                                             \
    VFN void v##_split(const real *row, int64_t n, v *even, v *odd)                            \
    {                                                                                          \
        v low, high;                                                                           \
        if (n == WIDTH) {                                                                      \
            low = v##_load(row);                                                               \
            high = v##_load(row + WIDTH);                                                      \
        } else {                                                                               \
            low = v##_load_n(row, 2 * n < WIDTH ? 2 * n : WIDTH);                              \
            high = 2 * n > WIDTH ? v##_load_n(row + WIDTH, 2 * n - WIDTH) : v##_set(0);        \
        }                                                                                      \
        *even = __builtin_shuffle(low, high, v##_lanes(0, 4, 2));                              \
        *odd = __builtin_shuffle(low, high, v##_lanes(1, 4, 2));                               \
    }                                                                                          \
    VFN void v##_merge(real *row, int64_t n, v even, v odd)                                    \
    {                                                                                          \
        v low = __builtin_shuffle(even, odd, v##_lanes(0, 1, WIDTH));                          \
        v high = __builtin_shuffle(even, odd, v##_lanes(WIDTH / 2, 1, WIDTH));                 \
        if (n == WIDTH) {                                                                      \
            v##_store(row, low);                                                               \
            v##_store(row + WIDTH, high);                                                      \
            return;                                                                            \
        }                                                                                      \
        v##_store_n(row, low, 2 * n < WIDTH ? 2 * n : WIDTH);                                  \
        if (2 * n > WIDTH) v##_store_n(row + WIDTH, high, 2 * n - WIDTH);                      \
    }                                                                                          \
    VFN void quarter_max_part_##suffix(const real *top, const real *low, real *out, int64_t n) \
    {                                                                                          \
        v best, b, x, w;                                                                       \
        v##_split(top, n, &best, &b);                                                          \
        v##_split(low, n, &x, &w);                                                             \
        best = vsel(visnan(b), b, vmax(b, best));                                              \
        best = vsel(visnan(x), x, vmax(x, best));                                              \
        best = vsel(visnan(w), w, vmax(w, best));                                              \
        if (n == WIDTH) v##_store(out, best);                                                  \
        else v##_store_n(out, best, n);                                                        \
    }                                                                                          \
    VFN void quarter_grad_part_##suffix(const real *top, const real *low, const real *grad,    \
                                        real *to_top, real *to_low, int64_t n)                 \
    {                                                                                          \
        v best, b, x, w, rest = n == WIDTH ? v##_load(grad) : v##_load_n(grad, n),             \
                         zero = v##_set(0);                                                    \
        v##_split(top, n, &best, &b);                                                          \
        v##_split(low, n, &x, &w);                                                             \
        mask at_b = NEWER(best, b);                                                            \
        best = vsel(at_b, b, best);                                                            \
        mask at_x = NEWER(best, x);                                                            \
        best = vsel(at_x, x, best);                                                            \
        mask at_w = NEWER(best, w);                                                            \
        w = vsel(at_w, rest, zero);                                                            \
        rest = vsel(at_w, zero, rest);                                                         \
        x = vsel(at_x, rest, zero);                                                            \
        rest = vsel(at_x, zero, rest);                                                         \
        v##_merge(to_top, n, vsel(at_b, zero, rest), vsel(at_b, rest, zero));                  \
        v##_merge(to_low, n, x, w);                                                            \
    }                                                                                          \
    static void quarter_max_##suffix(const real *top, const real *low, real *out, int64_t n)   \
    {                                                                                          \
        int64_t c = 0;                                                                         \
        for (; c + WIDTH <= n; c += WIDTH)                                                     \
            quarter_max_part_##suffix(top + 2 * c, low + 2 * c, out + c, WIDTH);               \
        if (c < n) quarter_max_part_##suffix(top + 2 * c, low + 2 * c, out + c, n - c);        \
    }                                                                                          \
    static void quarter_row_##suffix(const real *top, const real *low, const real *grad,       \
                                     real *to_top, real *to_low, int64_t n)                    \
    {                                                                                          \
        int64_t c = 0;                                                                         \
        for (; c + WIDTH <= n; c += WIDTH)                                                     \
            quarter_grad_part_##suffix(top + 2 * c, low + 2 * c, grad + c, to_top + 2 * c,     \
                                       to_low + 2 * c, WIDTH);                                 \
        if (c < n)                                                                             \
            quarter_grad_part_##suffix(top + 2 * c, low + 2 * c, grad + c, to_top + 2 * c,     \
                                       to_low + 2 * c, n - c);                                 \
    }
QUARTERS(f32, float, vf, vi, mf, VF_WIDTH)
QUARTERS(f64, double, vd, vl, md, VD_WIDTH)
#endif
