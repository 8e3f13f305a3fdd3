/* loss_alignment.c - one step of all alignments of a sequence: a state for each lane, so the width
 * of a vector changes no bit. */
#include "cpu/loss_alignment.h"
#include <math.h>
#include "cpu/simd/rows.h"
#include "cpu/simd/vmath.h"

/* The log of a sum of exponentials. What is -inf three times stays so: 0 is taken from it instead
 * of the largest, which would make NaN of it. */
#define STEP(suffix, real, v, WIDTH)                                                \
    VFN v joined_##suffix(v a, v b, v c)                                            \
    {                                                                               \
        v top = vmax(a, vmax(b, c)), none = v##_set((real) - INFINITY);             \
        v from = v##_sel(v##_eq(top, none), vzero(top), top);                       \
        return from + vlog(vexp(a - from) + vexp(b - from) + vexp(c - from));       \
    }                                                                               \
    static void step_##suffix(void *out, const void *before, const void *skip,      \
                              const void *emitted, int64_t n, int by)               \
    {                                                                               \
        real *o = out;                                                              \
        const real *p = before, *s = skip, *e = emitted;                            \
        for (int64_t i = 0; i < n; i += (WIDTH)) {                                  \
            int64_t k = n - i < (WIDTH) ? n - i : (WIDTH);                          \
            v a = v##_load_n(p + i, k), b = v##_load_n(p + i + by, k),              \
              c = v##_load_n(p + i + 2 * by, k) + v##_load_n(s + i, k);             \
            v##_store_n(o + i, joined_##suffix(a, b, c) + v##_load_n(e + i, k), k); \
        }                                                                           \
    }
STEP(f32, float, vf, VF_WIDTH)
STEP(f64, double, vd, VD_WIDTH)

const td_alignment_kernels TD_SYM(td_alignment_kernels) = {{step_f32, step_f64}};
