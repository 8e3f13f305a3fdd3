/* sample_run.c - how threads share samples: whole groups of a stream, whose numbers depend on the
 * place alone. */
#include "cpu/random/sample_run.h"
#include <math.h>
#include "runtime/cpu.h"
#include "runtime/pool.h"

#define PARALLEL_ELEMENTS 16384

typedef struct sampler {
    td_sampler draw;
    int per_group; /* elements */
    double cost;   /* nanoseconds each */
} sampler;

static sampler sampler_of(const td_sampling *how)
{
    const td_random_kernels *k = TD_PICK(td_random_kernels);
    const td_mask_kernels *m = TD_PICK(td_mask_kernels);
    switch (how->kind) {
        case TD_SAMPLE_UNIFORM_F32: return (sampler){k->uniform_f32, TD_GROUP_WORDS, 2};
        case TD_SAMPLE_UNIFORM_F64: return (sampler){k->uniform_f64, TD_GROUP_NUMBERS, 5};
        case TD_SAMPLE_OPEN_F64: return (sampler){k->open_f64, TD_GROUP_NUMBERS, 5};
        case TD_SAMPLE_NORMAL_F32: return (sampler){k->normal_f32, TD_GROUP_WORDS, 3};
        case TD_SAMPLE_NORMAL_F64: return (sampler){k->normal_f64, TD_GROUP_NUMBERS, 25};
        case TD_SAMPLE_EXPONENTIAL_F32: return (sampler){k->exponential_f32, TD_GROUP_WORDS, 3};
        case TD_SAMPLE_INTEGERS: return (sampler){k->integers, TD_GROUP_WORDS, 2};
        case TD_SAMPLE_WIDE_INTEGERS: return (sampler){k->wide_integers, TD_GROUP_NUMBERS, 5};
        case TD_SAMPLE_COIN:
            return (sampler){m->coin[__builtin_ctzll((uint64_t)td_itemsize(how->dtype))],
                             TD_GROUP_WORDS, 2};
        case TD_SAMPLE_COINS_F32: return (sampler){m->coins_f32, TD_GROUP_WORDS, 3};
        case TD_SAMPLE_COINS_F64: return (sampler){m->coins_f64, TD_GROUP_WORDS, 3};
        default: return (sampler){m->dropout[td_dropout_kind(how->dtype)], TD_GROUP_WORDS, 3};
    }
}

typedef struct fill_job {
    sampler how;
    char *out;
    int64_t n;
    td_stream stream;
    int64_t itemsize;
    const void *params;
} fill_job;

static void fill_groups(void *context, int64_t begin, int64_t end)
{
    const fill_job *job = context;
    int64_t per = job->how.per_group, first = begin * per,
            n = (end * per < job->n ? end * per : job->n) - first;
    td_stream stream = {job->stream.seed, job->stream.block + (uint64_t)begin * TD_GROUP_BLOCKS};
    job->how.draw(job->out + first * job->itemsize, first, n, stream, job->params);
}

void td_sample_run(void *data, int64_t n, td_generator *g, const td_sampling *how)
{
    if (n == 0) return;
    sampler s = sampler_of(how);
    int64_t groups = (n - 1) / s.per_group + 1;
    fill_job job = {s,
                    data,
                    n,
                    {g->seed, td_generator_take(g, (uint64_t)groups * TD_GROUP_BLOCKS)},
                    td_itemsize(how->dtype),
                    how->params};
    void *token = td_heavy_begin((double)n * s.cost);
    td_parallel(groups, PARALLEL_ELEMENTS / s.per_group, fill_groups, &job);
    td_heavy_end(token);
}

/* ---- functions of samples ---- */

typedef struct transform_job {
    double (*of)(double x, double a, double b);
    double a, b;
    double *values;
} transform_job;

static void apply(void *context, int64_t begin, int64_t end)
{
    const transform_job *t = context;
    for (int64_t i = begin; i < end; i++) t->values[i] = t->of(t->values[i], t->a, t->b);
}

static double exponential_of(double u, double scale, double unused) { return -log(u) * scale; }
static double cauchy_of(double u, double median, double sigma)
{
    return median + sigma * tan(3.141592653589793 * (u - 0.5));
}
static double geometric_of(double u, double log_miss, double unused)
{
    return ceil(log(u) / log_miss);
}
static double log_normal_of(double z, double mean, double std) { return exp(mean + std * z); }

void td_transform_run(td_tensor *samples, td_transform of, double a, double b)
{
    static double (*const functions[])(double, double, double) = {exponential_of, cauchy_of,
                                                                  geometric_of, log_normal_of};
    transform_job t = {functions[of], a, b, td_data(samples)};
    void *token = td_heavy_begin((double)samples->numel * 30);
    td_parallel(samples->numel, 2048, apply, &t);
    td_heavy_end(token);
}

static void add_scaled(int64_t n, int parts, const double *mean, const double *std, double *out)
{
    for (int64_t i = 0; i < n * parts; i++) out[i] = out[i] * (std ? std[i / parts] : 1) + mean[i];
}

void td_scale_shift_run(td_tensor *samples, const td_tensor *mean, const td_tensor *std)
{
    add_scaled(samples->numel, td_is_complex((td_dtype)samples->dtype) ? 2 : 1, td_data(mean),
               std ? td_data(std) : NULL, td_data(samples));
}

int64_t td_first_negative(const td_tensor *t)
{
    const double *v = td_data(t);
    int64_t i = 0;
    while (i < t->numel && !(v[i] < 0)) i++;
    return i;
}

/* Blocks are tested as a whole, without a branch for each element; the first bad one is searched.
 */
#define OUTSIDE(name, T)                                                                   \
    static int64_t name(const T *v, int64_t n)                                             \
    {                                                                                      \
        enum { BLOCK = 1024 };                                                             \
        for (int64_t begin = 0; begin < n; begin += BLOCK) {                               \
            int64_t end = n - begin < BLOCK ? n : begin + BLOCK;                           \
            int outside = 0;                                                               \
            for (int64_t i = begin; i < end; i++) outside |= !((v[i] >= 0) & (v[i] <= 1)); \
            for (int64_t i = begin; outside && i < end; i++)                               \
                if (!(v[i] >= 0 && v[i] <= 1)) return i;                                   \
        }                                                                                  \
        return n;                                                                          \
    }
OUTSIDE(outside_f32, float)
OUTSIDE(outside_f64, double)

int64_t td_first_outside(const td_tensor *t, double *value)
{
    const void *v = td_data(t);
    bool wide = t->dtype == TD_F64;
    int64_t n = t->numel, i = wide ? outside_f64(v, n) : outside_f32(v, n);
    if (i < n) *value = wide ? ((const double *)v)[i] : (double)((const float *)v)[i];
    return i;
}

/* ---- dropout ---- */

int td_dropout_kind(td_dtype d)
{
    switch (d) {
        case TD_F16: return TD_DROP_F16;
        case TD_BF16: return TD_DROP_BF16;
        case TD_F32: return TD_DROP_F32;
        case TD_F64: return TD_DROP_F64;
        case TD_C64: return TD_DROP_C64;
        case TD_C128: return TD_DROP_C128;
        default: return -1;
    }
}

typedef struct backward_job {
    td_mask_scale scale_by;
    char *out;
    const char *grad;
    const uint8_t *mask;
    double scale;
    int64_t itemsize;
} backward_job;

static void backward_range(void *context, int64_t begin, int64_t end)
{
    const backward_job *job = context;
    int64_t at = begin * job->itemsize;
    job->scale_by(job->out + at, job->grad + at, job->mask + begin, job->scale, end - begin);
}

void td_dropout_backward_run(td_tensor *out, const td_tensor *grad, const td_tensor *mask,
                             double scale)
{
    td_dtype dtype = (td_dtype)grad->dtype;
    backward_job job = {TD_PICK(td_mask_kernels)->scale[td_dropout_kind(dtype)],
                        td_data(out),
                        td_data(grad),
                        td_data(mask),
                        scale,
                        td_itemsize(dtype)};
    void *token = td_heavy_begin((double)grad->numel * 0.5);
    td_parallel(grad->numel, 32768, backward_range, &job);
    td_heavy_end(token);
}
