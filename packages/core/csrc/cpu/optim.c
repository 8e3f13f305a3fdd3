/* optim.c - the arithmetic of optimizer steps, of scaling, and of norms.
 * A step is one pass: every number is read once and written once. What is 0 or absent is left out
 * at compile time of the loop, not multiplied by 0, so that an infinite parameter without weight
 * decay stays what it is. */
#include "cpu/optim.h"
#include <math.h>
#include "cpu/optim_steps.h"
#include "runtime/loops.h"
#include "cpu/simd/half_rows.h"

#define SAME(x) (x)
#define INLINE static inline __attribute__((always_inline))

/* MAKE(type, suffix, ROOT): float16 and bfloat16 go through the loops of float32, in rows. */
#define EACH_REAL(MAKE)     \
    MAKE(float, f32, sqrtf) \
    MAKE(double, f64, sqrt)

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
#define IN_CACHE 0 /* numel of a slice that nothing is asked for: those in memory have elements */

INLINE void ask_ahead(const void *at, int bytes)
{
    for (int line = 0; line < bytes; line += LINE)
        __builtin_prefetch((const char *)at + AHEAD + line);
}

INLINE void ask_all_ahead(const td_slice *s, int64_t at, int itemsize)
{
    for (int k = 0; s->numel != IN_CACHE && k < 5; k++)
        if (s->data[k]) ask_ahead(s->data[k] + at * itemsize, BLOCK * itemsize);
}

/* for i in [0, n) of the arrays that start at `begin` of slice s */
#define FOR_EACH(type)                                          \
    for (int64_t from = 0; from < n; from += BLOCK)             \
        if (ask_all_ahead(s, begin + from, sizeof(type)), true) \
            for (int64_t i = from, end = n - from < BLOCK ? n : from + BLOCK; i < end; i++)

/* ---- rows of float16 and bfloat16 ----
 * A row becomes float32, goes through a loop of float32 and back, so one loop serves three types.
 */
#define ROW 256

typedef struct half_format {
    void (*widen)(float *restrict out, const uint16_t *restrict x, int64_t n);
    void (*narrow)(uint16_t *restrict out, const float *restrict x, int64_t n);
} half_format;
static const half_format f16 = {td_f16_widen, td_f16_narrow};
static const half_format bf16 = {td_bf16_widen, td_bf16_narrow};

INLINE int64_t row_of(int64_t left) { return left < ROW ? left : ROW; }

/* The loop `step` over slice s, whose numbers have format h. A step changes all but the gradient.
 */
static void half_step(const td_slice *s, int64_t begin, int64_t n, const half_format *h,
                      td_slice_kernel step, const void *params)
{
    float rows[5][ROW];
    td_slice part = {.numel = IN_CACHE, .step = s->step};
    for (int k = 0; k < 5; k++) part.data[k] = s->data[k] ? (char *)rows[k] : NULL;
    for (int64_t end = begin + n; begin < end; begin += ROW) {
        int64_t m = row_of(end - begin);
        for (int k = 0; k < 5; k++) {
            if (!s->data[k]) continue;
            ask_ahead(s->data[k] + begin * 2, ROW * 2);
            h->widen(rows[k], ARRAY(uint16_t, k), m);
        }
        step(&part, 0, m, params);
        for (int k = 0; k < 5; k++)
            if (s->data[k] && k != TD_GRAD) h->narrow(ARRAY(uint16_t, k), rows[k], m);
    }
}

/* ---- gradients as the formulas see them ---- */
#define UNSCALE(type, suffix, ROOT)                                     \
    static void unscale_##suffix(type *g, int64_t n, double grad_scale) \
    {                                                                   \
        type scale = (type)grad_scale;                                  \
        if (scale == 1) return;                                         \
        for (int64_t i = 0; i < n; i++) g[i] = g[i] / scale;            \
    }
EACH_REAL(UNSCALE)

static void half_unscale(const half_format *h, uint16_t *g, int64_t n, double grad_scale)
{
    float row[ROW];
    if ((float)grad_scale == 1) return;
    for (; n > 0; n -= ROW, g += ROW) {
        h->widen(row, g, row_of(n));
        unscale_f32(row, row_of(n), grad_scale);
        h->narrow(g, row, row_of(n));
    }
}

/* The kernels of an optimizer, from the loop of a step: FOR_STEP makes of the parameters and the
 * slice what the loop is given. */
#define STEPS(op, FOR_STEP)                                                                       \
    static void op##_f32(const td_slice *s, int64_t begin, int64_t n, const void *params)         \
    {                                                                                             \
        const td_##op##_params *o = params;                                                       \
        unscale_f32(ARRAY(float, TD_GRAD), n, o->grad_scale);                                     \
        op##_step_f32(s, begin, n, FOR_STEP);                                                     \
    }                                                                                             \
    static void op##_f64(const td_slice *s, int64_t begin, int64_t n, const void *params)         \
    {                                                                                             \
        const td_##op##_params *o = params;                                                       \
        unscale_f64(ARRAY(double, TD_GRAD), n, o->grad_scale);                                    \
        op##_step_f64(s, begin, n, FOR_STEP);                                                     \
    }                                                                                             \
    static void half_##op(const td_slice *s, int64_t begin, int64_t n, const td_##op##_params *o, \
                          const half_format *h)                                                   \
    {                                                                                             \
        half_unscale(h, ARRAY(uint16_t, TD_GRAD), n, o->grad_scale);                              \
        half_step(s, begin, n, h, op##_step_f32, FOR_STEP);                                       \
    }                                                                                             \
    static void op##_f16(const td_slice *s, int64_t begin, int64_t n, const void *params)         \
    {                                                                                             \
        half_##op(s, begin, n, params, &f16);                                                     \
    }                                                                                             \
    static void op##_bf16(const td_slice *s, int64_t begin, int64_t n, const void *params)        \
    {                                                                                             \
        half_##op(s, begin, n, params, &bf16);                                                    \
    }

/* ---- SGD ---- */
#define SGD(type, suffix, ROOT)                                                                    \
    INLINE void sgd_loop_##suffix(const td_slice *s, int64_t begin, int64_t n,                     \
                                  const td_sgd_params *o, bool decay, bool momentum)               \
    {                                                                                              \
        type *restrict p = ARRAY(type, TD_PARAM), *restrict m =                                    \
                                                      momentum ? ARRAY(type, TD_STATE) : NULL;     \
        const type *restrict g = ARRAY(type, TD_GRAD);                                             \
        TD_SGD_NUMBERS(type)                                                                       \
        FOR_EACH(type) { TD_SGD_STEP(type, SAME, SAME) }                                           \
    }                                                                                              \
    static void sgd_step_##suffix(const td_slice *s, int64_t begin, int64_t n, const void *params) \
    {                                                                                              \
        const td_sgd_params *o = params;                                                           \
        bool decay = o->weight_decay != 0;                                                         \
        if (!o->momentum && !decay) sgd_loop_##suffix(s, begin, n, o, false, false);               \
        else if (!o->momentum) sgd_loop_##suffix(s, begin, n, o, true, false);                     \
        else if (!decay) sgd_loop_##suffix(s, begin, n, o, false, true);                           \
        else sgd_loop_##suffix(s, begin, n, o, true, true);                                        \
    }
EACH_REAL(SGD)
STEPS(sgd, o)

/* ---- Adam and AdamW ---- */
typedef struct adam_step {
    const td_adam_params *o;
    double rate, correction; /* of the slice's step */
} adam_step;

#define ADAM(type, suffix, ROOT)                                                                \
    INLINE void adam_loop_##suffix(const td_slice *s, int64_t begin, int64_t n,                 \
                                   const adam_step *at, bool decay, bool amsgrad)               \
    {                                                                                           \
        const td_adam_params *o = at->o;                                                        \
        type *restrict p = ARRAY(type, TD_PARAM), *restrict m = ARRAY(type, TD_STATE);          \
        type *restrict v = ARRAY(type, TD_STATE2), *restrict top =                              \
                                                       amsgrad ? ARRAY(type, TD_STATE3) : NULL; \
        const type *restrict g = ARRAY(type, TD_GRAD);                                          \
        TD_ADAM_NUMBERS(type, at->rate, at->correction)                                         \
        FOR_EACH(type) { TD_ADAM_STEP(type, SAME, SAME, ROOT) }                                 \
    }                                                                                           \
    static void adam_step_##suffix(const td_slice *s, int64_t begin, int64_t n,                 \
                                   const void *params)                                          \
    {                                                                                           \
        const adam_step *at = params;                                                           \
        bool decay = at->o->weight_decay != 0 && !at->o->decoupled, amsgrad = at->o->amsgrad;   \
        if (!decay && !amsgrad) adam_loop_##suffix(s, begin, n, at, false, false);              \
        else if (!decay) adam_loop_##suffix(s, begin, n, at, false, true);                      \
        else if (!amsgrad) adam_loop_##suffix(s, begin, n, at, true, false);                    \
        else adam_loop_##suffix(s, begin, n, at, true, true);                                   \
    }
EACH_REAL(ADAM)
#define ADAM_AT (&(adam_step){o, TD_ADAM_RATE(s->step), TD_ADAM_CORRECTION(s->step)})
STEPS(adam, ADAM_AT)

/* ---- Adagrad ---- */
#define ADAGRAD(type, suffix, ROOT)                                                    \
    INLINE void adagrad_loop_##suffix(const td_slice *s, int64_t begin, int64_t n,     \
                                      const td_adagrad_params *o, bool decay)          \
    {                                                                                  \
        type *restrict p = ARRAY(type, TD_PARAM), *restrict m = ARRAY(type, TD_STATE); \
        const type *restrict g = ARRAY(type, TD_GRAD);                                 \
        TD_ADAGRAD_NUMBERS(type, TD_ADAGRAD_RATE(s->step))                             \
        FOR_EACH(type) { TD_ADAGRAD_STEP(type, SAME, SAME, ROOT) }                     \
    }                                                                                  \
    static void adagrad_step_##suffix(const td_slice *s, int64_t begin, int64_t n,     \
                                      const void *params)                              \
    {                                                                                  \
        const td_adagrad_params *o = params;                                           \
        if (o->weight_decay) adagrad_loop_##suffix(s, begin, n, o, true);              \
        else adagrad_loop_##suffix(s, begin, n, o, false);                             \
    }
EACH_REAL(ADAGRAD)
STEPS(adagrad, o)

/* ---- one number for all ---- */
#define WITH_NUMBER(op, sign, type, real, suffix, LOAD, STORE)                                 \
    static void op##_##suffix(const td_slice *s, int64_t begin, int64_t n, const void *params) \
    {                                                                                          \
        type *x = ARRAY(type, TD_PARAM);                                                       \
        real number = (real) * (const double *)params;                                         \
        FOR_EACH(type) x[i] = STORE(LOAD(x[i]) sign number);                                   \
    }
/* bfloat16 is converted by two instructions: a row would cost more. */
#define NUMBERS(op, sign)                                                                 \
    WITH_NUMBER(op, sign, float, float, f32, SAME, SAME)                                  \
    WITH_NUMBER(op, sign, double, double, f64, SAME, SAME)                                \
    WITH_NUMBER(op, sign, uint16_t, float, bf16, td_bf16_load, td_bf16_store)             \
    static void op##_f16(const td_slice *s, int64_t begin, int64_t n, const void *params) \
    {                                                                                     \
        half_step(s, begin, n, &f16, op##_f32, params);                                   \
    }
NUMBERS(multiply, *)
NUMBERS(divide, /)
NUMBERS(add, +)

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

#define REDUCE(update)                                                       \
    do {                                                                     \
        double acc[LANES];                                                   \
        for (int k = 0; k < LANES; k++) acc[k] = lanes[k];                   \
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
        for (int k = 0; k < LANES; k++) lanes[k] = acc[k];                   \
    } while (0)

/* n numbers are put to the running sums; all but the last n are a multiple of LANES. */
#define POWERS(type, suffix)                                                               \
    static void powers_##suffix(double *restrict lanes, const type *restrict x, int64_t n, \
                                double p)                                                  \
    {                                                                                      \
        int64_t i = 0;                                                                     \
        if (p == 2) REDUCE(*sum += a * a);                                                 \
        else if (p == 1) REDUCE(*sum += a);                                                \
        else if (p == 0) REDUCE(*sum += a != 0);                                           \
        else if (p == INFINITY) REDUCE(*sum = larger(*sum, a));                            \
        else if (p == -INFINITY) REDUCE(*sum = smaller(*sum, a));                          \
        else REDUCE(*sum += pow(a, p));                                                    \
    }
#define LOAD_ONE SAME
POWERS(float, f32)
POWERS(double, f64)
#undef LOAD_ONE
#define LOAD_ONE td_bf16_load
POWERS(uint16_t, bf16)

static void start(double lanes[LANES], double p)
{
    for (int k = 0; k < LANES; k++) lanes[k] = p == -INFINITY ? INFINITY : 0;
}

static double combined(const double lanes[LANES], double p)
{
    double all = lanes[0];
    if (!isinf(p)) return add_up(lanes);
    for (int k = 1; k < LANES; k++) all = p > 0 ? larger(all, lanes[k]) : smaller(all, lanes[k]);
    return all;
}

#define POWER_SUM(suffix)                                                   \
    static double power_sum_##suffix(const void *data, int64_t n, double p) \
    {                                                                       \
        double lanes[LANES];                                                \
        start(lanes, p);                                                    \
        powers_##suffix(lanes, data, n, p);                                 \
        return combined(lanes, p);                                          \
    }
POWER_SUM(f32)
POWER_SUM(f64)
POWER_SUM(bf16)

static double power_sum_f16(const void *data, int64_t n, double p)
{
    const uint16_t *x = data;
    double lanes[LANES];
    float row[ROW];
    start(lanes, p);
    for (; n > 0; n -= ROW, x += ROW) {
        ask_ahead(x, ROW * 2);
        td_f16_widen(row, x, row_of(n));
        powers_f32(lanes, row, row_of(n), p);
    }
    return combined(lanes, p);
}

const td_optim_kernels TD_SYM(td_optim_kernels) = {
    .sgd = BY_TYPE(sgd),
    .adam = BY_TYPE(adam),
    .adagrad = BY_TYPE(adagrad),
    .multiply = BY_TYPE(multiply),
    .divide = BY_TYPE(divide),
    .add = BY_TYPE(add),
    .power_sum = BY_TYPE(power_sum),
};
