/* recurrent.c - one step of an LSTM on rows of numbers. See recurrent.h. */
#include "kernels/recurrent.h"
#include "kernels/vmath.h"
#include "runtime/loops.h"

#define ONE(x) vset(x, 1)
/* k is WIDTH but at the end of a row, and known when this is compiled */
#define GET(v, WIDTH, p) (k == WIDTH ? v##_load(p) : v##_load_n(p, k))
#define PUT(v, WIDTH, p, x) (k == WIDTH ? v##_store(p, x) : v##_store_n(p, x, k))

#define LSTM(suffix, real, v, WIDTH)                                                                                     \
    VFN void forward_part_##suffix(real *gates, int64_t apart, const real *before, real *cell, real *hidden, int64_t k)   \
    {                                                                                                                    \
        v i = vsigmoid(GET(v, WIDTH, gates)), f = vsigmoid(GET(v, WIDTH, gates + apart));                                \
        v g = vtanh(GET(v, WIDTH, gates + 2 * apart)), o = vsigmoid(GET(v, WIDTH, gates + 3 * apart));                   \
        v c = vfma(f, GET(v, WIDTH, before), i * g);                                                                     \
        PUT(v, WIDTH, gates, i);                                                                                         \
        PUT(v, WIDTH, gates + apart, f);                                                                                 \
        PUT(v, WIDTH, gates + 2 * apart, g);                                                                             \
        PUT(v, WIDTH, gates + 3 * apart, o);                                                                             \
        PUT(v, WIDTH, cell, c);                                                                                          \
        PUT(v, WIDTH, hidden, o * vtanh(c));                                                                             \
    }                                                                                                                    \
    VFN void backward_part_##suffix(const real *gates, int64_t apart, const real *before, const real *cell,              \
                                    const real *grad_hidden, real *grad_cell, real *to, int64_t to_apart, int64_t k)     \
    {                                                                                                                    \
        v i = GET(v, WIDTH, gates), f = GET(v, WIDTH, gates + apart), g = GET(v, WIDTH, gates + 2 * apart);              \
        v o = GET(v, WIDTH, gates + 3 * apart), t = vtanh(GET(v, WIDTH, cell)), dh = GET(v, WIDTH, grad_hidden);         \
        v dc = vfma(dh * o, ONE(t) - t * t, GET(v, WIDTH, grad_cell));                                                   \
        PUT(v, WIDTH, to, dc * g * i * (ONE(i) - i));                                                                    \
        PUT(v, WIDTH, to + to_apart, dc * GET(v, WIDTH, before) * f * (ONE(f) - f));                                        \
        PUT(v, WIDTH, to + 2 * to_apart, dc * i * (ONE(g) - g * g));                                                        \
        PUT(v, WIDTH, to + 3 * to_apart, dh * t * o * (ONE(o) - o));                                                        \
        PUT(v, WIDTH, grad_cell, dc * f);                                                                                \
    }                                                                                                                    \
    static void forward_##suffix(void *gates, int64_t apart, const void *before, void *cell, void *hidden, int64_t n)    \
    {                                                                                                                    \
        real *x = gates, *c = cell, *h = hidden;                                                                         \
        const real *b = before;                                                                                          \
        int64_t j = 0;                                                                                                   \
        for (; j + WIDTH <= n; j += WIDTH) forward_part_##suffix(x + j, apart, b + j, c + j, h + j, WIDTH);              \
        if (j < n) forward_part_##suffix(x + j, apart, b + j, c + j, h + j, n - j);                                      \
    }                                                                                                                    \
    static void backward_##suffix(const void *gates, int64_t apart, const void *before, const void *cell,                \
                                  const void *grad_hidden, void *grad_cell, void *grad_gates, int64_t to_apart, int64_t n) \
    {                                                                                                                    \
        const real *x = gates, *b = before, *c = cell, *dh = grad_hidden;                                                \
        real *dc = grad_cell, *to = grad_gates;                                                                          \
        int64_t j = 0;                                                                                                   \
        for (; j + WIDTH <= n; j += WIDTH)                                                                               \
            backward_part_##suffix(x + j, apart, b + j, c + j, dh + j, dc + j, to + j, to_apart, WIDTH);                           \
        if (j < n) backward_part_##suffix(x + j, apart, b + j, c + j, dh + j, dc + j, to + j, to_apart, n - j);                    \
    }
LSTM(f32, float, vf, VF_WIDTH)
LSTM(f64, double, vd, VD_WIDTH)

const td_recurrent_kernels TD_SYM(td_recurrent_kernels) = {
    .lstm = {{forward_f32, backward_f32}, {forward_f64, backward_f64}},
};
