/* optim.c - the arithmetic of optimizer steps, of scaling, and of norms.
 * A step is one pass: every number is read once and written once. What is 0 or absent is left out
 * at compile time of the loop, not multiplied by 0, so that an infinite parameter without weight
 * decay stays what it is. */
#include "cpu/optim.h"
#include <math.h>
#include "cpu/optim_steps.h"
#include "runtime/loops.h"
#include "cpu/simd/half.h"

#define SAME(x) (x)
#define INLINE static inline __attribute__((always_inline))

/* MAKE(name, type, real, LOAD, STORE, ROOT, ABS) for every dtype */
#define ALL_TYPES(MAKE)                                             \
    MAKE(f16, uint16_t, float, td_f16_load, td_f16_store, sqrtf)    \
    MAKE(bf16, uint16_t, float, td_bf16_load, td_bf16_store, sqrtf) \
    MAKE(f32, float, float, SAME, SAME, sqrtf)                      \
    MAKE(f64, double, double, SAME, SAME, sqrt)

#define BY_TYPE(name)               \
    {[TD_OPTIM_F16] = name##_f16,   \
     [TD_OPTIM_BF16] = name##_bf16, \
     [TD_OPTIM_F32] = name##_f32,   \
     [TD_OPTIM_F64] = name##_f64}

#define ARRAY(type, which) (type *)s->data[which] + begin

/* ---- streams ----
 * A step walks up to five arrays at once, and the processor's own prefetching ends with each page
 * of each of them. So every BLOCK of numbers asks for the one AHEAD bytes further on: an eighth
 * less time where a step waits for memory. Past the end of an array that touches nothing. */
#define BLOCK 64
#define AHEAD 2048
#define LINE 64

INLINE void ask_ahead(const void *at, int bytes)
{
    for (int line = 0; line < bytes; line += LINE)
        __builtin_prefetch((const char *)at + AHEAD + line);
}

INLINE void ask_all_ahead(const td_slice *s, int64_t at, int itemsize)
{
    for (int k = 0; k < 5; k++)
        if (s->data[k]) ask_ahead(s->data[k] + at * itemsize, BLOCK * itemsize);
}

/* for i in [0, n) of the arrays that start at `begin` of slice s */
#define FOR_EACH(type)                                          \
    for (int64_t from = 0; from < n; from += BLOCK)             \
        if (ask_all_ahead(s, begin + from, sizeof(type)), true) \
            for (int64_t i = from, end = n - from < BLOCK ? n : from + BLOCK; i < end; i++)

/* ---- gradients as the formulas see them ---- */
#define UNSCALE(name, type, real, LOAD, STORE, ROOT)                      \
    static void unscale_##name(type *g, int64_t n, double grad_scale)     \
    {                                                                     \
        real scale = (real)grad_scale;                                    \
        if (scale == 1) return;                                           \
        for (int64_t i = 0; i < n; i++) g[i] = STORE(LOAD(g[i]) / scale); \
    }
ALL_TYPES(UNSCALE)

/* ---- SGD ---- */
#define SGD(name, type, real, LOAD, STORE, ROOT)                                               \
    INLINE void sgd_loop_##name(const td_slice *s, int64_t begin, int64_t n,                   \
                                const td_sgd_params *o, bool decay, bool momentum)             \
    {                                                                                          \
        type *restrict p = ARRAY(type, TD_PARAM), *restrict m =                                \
                                                      momentum ? ARRAY(type, TD_STATE) : NULL; \
        const type *restrict g = ARRAY(type, TD_GRAD);                                         \
        TD_SGD_NUMBERS(real)                                                                   \
        FOR_EACH(type) { TD_SGD_STEP(real, LOAD, STORE) }                                      \
    }                                                                                          \
    static void sgd_##name(const td_slice *s, int64_t begin, int64_t n, const void *params)    \
    {                                                                                          \
        const td_sgd_params *o = params;                                                       \
        bool decay = o->weight_decay != 0;                                                     \
        unscale_##name(ARRAY(type, TD_GRAD), n, o->grad_scale);                                \
        if (!o->momentum && !decay) sgd_loop_##name(s, begin, n, o, false, false);             \
        else if (!o->momentum) sgd_loop_##name(s, begin, n, o, true, false);                   \
        else if (!decay) sgd_loop_##name(s, begin, n, o, false, true);                         \
        else sgd_loop_##name(s, begin, n, o, true, true);                                      \
    }
ALL_TYPES(SGD)

/* ---- Adam and AdamW ---- */
#define ADAM(name, type, real, LOAD, STORE, ROOT)                                               \
    INLINE void adam_loop_##name(const td_slice *s, int64_t begin, int64_t n,                   \
                                 const td_adam_params *o, bool decay, bool amsgrad)             \
    {                                                                                           \
        type *restrict p = ARRAY(type, TD_PARAM), *restrict m = ARRAY(type, TD_STATE);          \
        type *restrict v = ARRAY(type, TD_STATE2), *restrict top =                              \
                                                       amsgrad ? ARRAY(type, TD_STATE3) : NULL; \
        const type *restrict g = ARRAY(type, TD_GRAD);                                          \
        TD_ADAM_NUMBERS(real, TD_ADAM_RATE(s->step), TD_ADAM_CORRECTION(s->step))               \
        FOR_EACH(type) { TD_ADAM_STEP(real, LOAD, STORE, ROOT) }                                \
    }                                                                                           \
    static void adam_##name(const td_slice *s, int64_t begin, int64_t n, const void *params)    \
    {                                                                                           \
        const td_adam_params *o = params;                                                       \
        bool decay = o->weight_decay != 0 && !o->decoupled;                                     \
        unscale_##name(ARRAY(type, TD_GRAD), n, o->grad_scale);                                 \
        if (!decay && !o->amsgrad) adam_loop_##name(s, begin, n, o, false, false);              \
        else if (!decay) adam_loop_##name(s, begin, n, o, false, true);                         \
        else if (!o->amsgrad) adam_loop_##name(s, begin, n, o, true, false);                    \
        else adam_loop_##name(s, begin, n, o, true, true);                                      \
    }
ALL_TYPES(ADAM)

/* ---- Adagrad ---- */
#define ADAGRAD(name, type, real, LOAD, STORE, ROOT)                                            \
    INLINE void adagrad_loop_##name(const td_slice *s, int64_t begin, int64_t n,                \
                                    const td_adagrad_params *o, bool decay)                     \
    {                                                                                           \
        type *restrict p = ARRAY(type, TD_PARAM), *restrict m = ARRAY(type, TD_STATE);          \
        const type *restrict g = ARRAY(type, TD_GRAD);                                          \
        TD_ADAGRAD_NUMBERS(real, TD_ADAGRAD_RATE(s->step))                                      \
        FOR_EACH(type) { TD_ADAGRAD_STEP(real, LOAD, STORE, ROOT) }                             \
    }                                                                                           \
    static void adagrad_##name(const td_slice *s, int64_t begin, int64_t n, const void *params) \
    {                                                                                           \
        const td_adagrad_params *o = params;                                                    \
        unscale_##name(ARRAY(type, TD_GRAD), n, o->grad_scale);                                 \
        if (o->weight_decay) adagrad_loop_##name(s, begin, n, o, true);                         \
        else adagrad_loop_##name(s, begin, n, o, false);                                        \
    }
ALL_TYPES(ADAGRAD)

/* ---- one number for all ---- */
#define WITH_NUMBER(op, sign, name, type, real, LOAD, STORE)                                 \
    static void op##_##name(const td_slice *s, int64_t begin, int64_t n, const void *params) \
    {                                                                                        \
        type *x = ARRAY(type, TD_PARAM);                                                     \
        real number = (real) * (const double *)params;                                       \
        FOR_EACH(type) x[i] = STORE(LOAD(x[i]) sign number);                                 \
    }
#define NUMBERS(name, type, real, LOAD, STORE, ROOT)        \
    WITH_NUMBER(multiply, *, name, type, real, LOAD, STORE) \
    WITH_NUMBER(divide, /, name, type, real, LOAD, STORE)   \
    WITH_NUMBER(add, +, name, type, real, LOAD, STORE)
ALL_TYPES(NUMBERS)

/* ---- norms: 32 running sums in double, so that squares of large numbers fit and the order is
 * fixed ---- */
#define LANES 32

INLINE double add_up(const double lanes[LANES])
{
    double sum = 0;
    for (int k = 0; k < LANES; k++) sum += lanes[k];
    return sum;
}

/* NaN once met stays. */
INLINE double larger(double a, double b) { return a > b || a != a ? a : b; }
INLINE double smaller(double a, double b) { return a < b || a != a ? a : b; }

#define REDUCE(start, update, combine)                                       \
    do {                                                                     \
        double acc[LANES];                                                   \
        for (int k = 0; k < LANES; k++) acc[k] = start;                      \
        for (; i + LANES <= n; i += LANES) {                                 \
            ask_ahead(x + i, LANES * sizeof *x);                             \
            for (int k = 0; k < LANES; k++) {                                \
                double a = fabs((double)LOAD_ONE(x[i + k])), *sum = &acc[k]; \
                update;                                                      \
            }                                                                \
        }                                                                    \
        for (int k = 0; i < n; i++, k++) {                                   \
            double a = fabs((double)LOAD_ONE(x[i])), *sum = &acc[k];         \
            update;                                                          \
        }                                                                    \
        combine;                                                             \
    } while (0)

#define COMBINE(rule)                                            \
    do {                                                         \
        double all = acc[0];                                     \
        for (int k = 1; k < LANES; k++) all = rule(all, acc[k]); \
        return all;                                              \
    } while (0)

#define POWER_SUM(name, type)                                                            \
    static double power_sum_##name(const void *data, int64_t n, double p)                \
    {                                                                                    \
        const type *x = data;                                                            \
        int64_t i = 0;                                                                   \
        if (p == 2) REDUCE(0, *sum += a * a, return add_up(acc));                        \
        if (p == 1) REDUCE(0, *sum += a, return add_up(acc));                            \
        if (p == 0) REDUCE(0, *sum += a != 0, return add_up(acc));                       \
        if (p == INFINITY) REDUCE(0, *sum = larger(*sum, a), COMBINE(larger));           \
        if (p == -INFINITY) REDUCE(INFINITY, *sum = smaller(*sum, a), COMBINE(smaller)); \
        REDUCE(0, *sum += pow(a, p), return add_up(acc));                                \
    }
#define LOAD_ONE td_f16_load
POWER_SUM(f16, uint16_t)
#undef LOAD_ONE
#define LOAD_ONE td_bf16_load
POWER_SUM(bf16, uint16_t)
#undef LOAD_ONE
#define LOAD_ONE SAME
POWER_SUM(f32, float)
POWER_SUM(f64, double)

const td_optim_kernels TD_SYM(td_optim_kernels) = {
    .sgd = BY_TYPE(sgd),
    .adam = BY_TYPE(adam),
    .adagrad = BY_TYPE(adagrad),
    .multiply = BY_TYPE(multiply),
    .divide = BY_TYPE(divide),
    .add = BY_TYPE(add),
    .power_sum = BY_TYPE(power_sum),
};
