/* random.c - continuous distributions: uniform_, normal_ and their kin, and the factories rand,
 * randn and normal. */
#include "ops/random/random.h"
#include <math.h>
#include "ops/creation.h"
#include "ops/layout.h"
#include "runtime/device.h"

#define SELF TD_TENSOR(0)
#define OUT (&call->out[0])
#define GENERATOR(k) (call->args[k].generator)
td_status td_sample_new(td_tensor **out, int ndim, const int64_t *sizes, td_generator *g,
                        const td_sampling *how)
{
    TD_TRY(td_tensor_empty(out, how->dtype, TD_CPU, ndim, sizes));
    td_sample_run(td_data(*out), (*out)->numel, g, how);
    return TD_OK;
}

/* The dtype whose parts are samples: complex64 for a complex target of float32 samples. */
static td_dtype whole_dtype(td_dtype target, td_dtype sample)
{
    if (!td_is_complex(target)) return sample;
    return sample == TD_F64 ? TD_C128 : TD_C64;
}

td_status td_sample_tensor(td_tensor *t, td_generator *g, const td_sampling *how)
{
    td_dtype whole = whole_dtype((td_dtype)t->dtype, how->dtype);
    int parts = td_is_complex(whole) ? 2 : 1;
    if (t->dtype == whole && td_on_host(t) && td_is_contiguous(t) &&
        !(t->flags & (TD_FLAG_CONJ | TD_FLAG_NEG))) {
        td_sample_run(td_data(t), t->numel * parts, g, how);
        return TD_OK;
    }
    td_tensor *samples;
    TD_TRY(td_tensor_empty(&samples, whole, TD_CPU, t->ndim, t->sizes));
    td_sample_run(td_data(samples), samples->numel * parts, g, how);
    td_status status = td_copy(t, samples);
    td_tensor_free(samples);
    return status;
}

/* ---- refusals ---- */
td_status td_random_target(const td_tensor *t, const char *name)
{
    if (!td_has_zero_stride(t)) return TD_OK;
    char text[TD_SHAPE_TEXT], strides[TD_SHAPE_TEXT];
    return td_fail(TD_RUNTIME_ERROR,
                   "%s: several elements of the tensor to write, of shape %s and strides %s, refer "
                   "to a single memory location; clone() it first",
                   name, td_shape_text(t->ndim, t->sizes, text),
                   td_shape_text(t->ndim, t->strides, strides));
}

td_status td_random_floating(td_dtype dtype, bool complex_too, const char *name)
{
    if (td_is_floating(dtype) && !td_is_float8(dtype)) return TD_OK;
    if (complex_too && td_is_complex(dtype)) return TD_OK;
    return td_fail(TD_NOT_IMPLEMENTED,
                   "%s is not implemented for %s: it needs a floating-point%s dtype", name,
                   td_dtypes[dtype].name, complex_too ? " or complex" : "");
}

/* ---- uniform ---- */
typedef struct float_facts {
    double largest;
    int bits;
} float_facts;

static float_facts facts_of(td_dtype real)
{
    switch (real) {
        case TD_F16: return (float_facts){65504, 11};
        case TD_BF16: return (float_facts){0x1.fep127, 8};
        case TD_F32: return (float_facts){0x1.fffffep127, 24};
        default: return (float_facts){0x1.fffffffffffffp1023, 52};
    }
}

/* The number of a floating dtype next below x. */
static double below(td_dtype real, double x)
{
    if (real == TD_F64) return nextafter(x, -INFINITY);
    if (real == TD_F32) return nextafterf((float)x, -INFINITY);
    uint16_t bits = real == TD_F16 ? td_float_to_half((float)x) : td_float_to_bf16((float)x);
    bits = (bits & 0x7fff) == 0 ? 0x8001 : bits & 0x8000 ? bits + 1 : bits - 1;
    return real == TD_F16 ? td_half_to_float(bits) : td_bf16_to_float(bits);
}

static td_status check_uniform(td_dtype dtype, double from, double to)
{
    TD_TRY(td_random_floating(dtype, true, "uniform_"));
    double largest = facts_of(td_to_real(dtype)).largest;
    const char *name = td_dtypes[dtype].name;
    if (!(fabs(from) <= largest))
        return td_fail(TD_RUNTIME_ERROR, "uniform_: from=%g is out of bounds for %s", from, name);
    if (!(fabs(to) <= largest))
        return td_fail(TD_RUNTIME_ERROR, "uniform_: to=%g is out of bounds for %s", to, name);
    if (from > to)
        return td_fail(TD_RUNTIME_ERROR, "uniform_ expects from <= to, but got from=%g > to=%g",
                       from, to);
    if (to - from <= largest) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "uniform_: the range from=%g, to=%g is wider than the largest %s, %g", from, to,
                   name, largest);
}

static td_status uniform(td_tensor *t, td_generator *g, double from, double to)
{
    TD_TRY(check_uniform((td_dtype)t->dtype, from, to));
    if (td_is_meta(t)) return TD_OK;
    td_dtype real = td_to_real((td_dtype)t->dtype);
    double last = below(real, to);
    td_uniform_params params = {from, to - from, last > from ? last : from, facts_of(real).bits};
    if (real == TD_F64)
        return td_sample_tensor(t, g, &(td_sampling){TD_SAMPLE_UNIFORM_F64, &params, TD_F64});
    return td_sample_tensor(t, g, &(td_sampling){TD_SAMPLE_UNIFORM_F32, &params, TD_F32});
}

td_status td_op_uniform_(td_call *call)
{
    TD_TRY(td_random_target(SELF, "uniform_"));
    return uniform(SELF, GENERATOR(3), TD_FLOAT(1), TD_FLOAT(2));
}

/* ---- normal ---- */
static td_status normal(td_tensor *t, td_generator *g, double mean, double std)
{
    TD_TRY(td_random_floating((td_dtype)t->dtype, true, "normal_"));
    if (!(std >= 0))
        return td_fail(TD_RUNTIME_ERROR, "normal_ expects std >= 0, but got std=%g", std);
    if (td_is_meta(t)) return TD_OK;
    bool is_complex = td_is_complex((td_dtype)t->dtype); /* each part has half of the variance */
    td_normal_params params = {is_complex ? 0 : mean, is_complex ? std * 0.7071067811865476 : std};
    bool wide = td_to_real((td_dtype)t->dtype) == TD_F64;
    td_sampling narrow = {TD_SAMPLE_NORMAL_F32, &params, TD_F32};
    td_sampling doubles = {TD_SAMPLE_NORMAL_F64, &params, TD_F64};
    return td_sample_tensor(t, g, wide ? &doubles : &narrow);
}

/* mean + std * samples; the samples stand in `t`, std may be NULL for 1. */
static td_status scale_shift(td_tensor *t, const td_tensor *mean, const td_tensor *std);

td_status td_op_normal_(td_call *call)
{
    TD_TRY(td_random_target(SELF, "normal_"));
    TD_TRY(normal(SELF, GENERATOR(3), TD_FLOAT(1), TD_FLOAT(2)));
    if (!td_is_complex((td_dtype)SELF->dtype) || TD_FLOAT(1) == 0 || td_is_meta(SELF)) return TD_OK;
    td_tensor *mean;
    td_scalar value = td_scalar_float(TD_FLOAT(1));
    TD_TRY(td_tensor_from_scalar(&mean, &value, TD_F64));
    td_status status = scale_shift(SELF, mean, NULL);
    td_tensor_free(mean);
    return status;
}

/* A contiguous copy in `dtype` of a tensor broadcast to the shape of `like`. */
static td_status spread(td_tensor **out, const td_tensor *t, const td_tensor *like, td_dtype dtype)
{
    TD_TRY(td_tensor_empty(out, dtype, TD_CPU, like->ndim, like->sizes));
    td_status status = td_copy(*out, t);
    if (status == TD_OK) return TD_OK;
    td_tensor_free(*out);
    *out = NULL;
    return status;
}

static td_status scale_shift(td_tensor *t, const td_tensor *mean, const td_tensor *std)
{
    bool is_complex = td_is_complex((td_dtype)t->dtype);
    td_dtype wide = is_complex ? TD_C128 : TD_F64;
    td_tensor *samples = NULL, *means = NULL, *stds = NULL;
    td_status status = spread(&samples, t, t, wide);
    if (status == TD_OK) status = spread(&means, mean, t, wide);
    if (status == TD_OK && std) status = spread(&stds, std, t, TD_F64);
    if (status == TD_OK) {
        td_scale_shift_run(samples, means, stds);
        status = td_copy(t, samples);
    }
    td_tensor_free(samples);
    td_tensor_free(means);
    td_tensor_free(stds);
    return status;
}

static td_status check_stds(const td_tensor *std)
{
    if (td_is_complex((td_dtype)std->dtype))
        return td_fail(TD_RUNTIME_ERROR, "normal expects a real standard deviation, but got %s",
                       td_dtypes[std->dtype].name);
    if (td_is_meta(std)) return TD_OK;
    td_tensor *values;
    TD_TRY(spread(&values, std, std, TD_F64));
    int64_t i = td_first_negative(values);
    td_status status = TD_OK;
    if (i < values->numel)
        status = td_fail(TD_RUNTIME_ERROR, "normal expects all elements of std >= 0, but got %g",
                         ((const double *)td_data(values))[i]);
    td_tensor_free(values);
    return status;
}

/* The result has the dtype of `model`; std NULL stands for the number. */
static td_status normal_of(td_call *call, const td_tensor *model, const td_tensor *mean,
                           const td_tensor *std, double std_number, td_generator *g)
{
    int64_t sizes[TD_MAX_DIMS];
    int ndim;
    const td_tensor *other = std ? std : mean;
    if (std) TD_TRY(check_stds(std));
    TD_TRY(td_broadcast(mean->ndim, mean->sizes, other->ndim, other->sizes, &ndim, sizes));
    TD_TRY(td_tensor_empty(OUT, (td_dtype)model->dtype, (td_device)model->device, ndim, sizes));
    TD_TRY(normal(call->out[0], g, 0, std ? 1 : std_number));
    return td_is_meta(model) ? TD_OK : scale_shift(call->out[0], mean, std);
}

td_status td_op_normal_tensor_float(td_call *call)
{
    return normal_of(call, TD_TENSOR(0), TD_TENSOR(0), NULL, TD_FLOAT(1), GENERATOR(2));
}

td_status td_op_normal_tensor_tensor(td_call *call)
{
    return normal_of(call, TD_TENSOR(0), TD_TENSOR(0), TD_TENSOR(1), 0, GENERATOR(2));
}

td_status td_op_normal_float_tensor(td_call *call)
{
    td_tensor *mean;
    td_scalar value = td_scalar_float(TD_FLOAT(0));
    TD_TRY(td_tensor_from_scalar(&mean, &value, TD_F64));
    td_status status = normal_of(call, TD_TENSOR(1), mean, TD_TENSOR(1), 0, GENERATOR(2));
    td_tensor_free(mean);
    return status;
}

/* ---- factories ---- */
static td_status sized(td_call *call, int sizes_at, int options_at)
{
    td_options o = {0};
    TD_TRY(td_factory_options(call, options_at, td_default_dtype, TD_CPU, &o));
    return td_tensor_empty(OUT, o.dtype, o.device, (int)TD_LEN(sizes_at), TD_INTS(sizes_at));
}

static td_status like(td_call *call, int options_at)
{
    td_options o = {0};
    TD_TRY(
        td_factory_options(call, options_at, (td_dtype)SELF->dtype, (td_device)SELF->device, &o));
    td_memory_format format =
        TD_HAS(options_at + 4) ? (td_memory_format)TD_INT(options_at + 4) : TD_PRESERVE_FORMAT;
    return td_empty_format(OUT, SELF, o.dtype, o.device, format);
}

td_status td_op_rand(td_call *call)
{
    TD_TRY(sized(call, 0, 2));
    return uniform(call->out[0], GENERATOR(1), 0, 1);
}

td_status td_op_randn(td_call *call)
{
    TD_TRY(sized(call, 0, 2));
    return normal(call->out[0], GENERATOR(1), 0, 1);
}

td_status td_op_normal_float_float(td_call *call)
{
    TD_TRY(sized(call, 2, 4));
    return normal(call->out[0], GENERATOR(3), TD_FLOAT(0), TD_FLOAT(1));
}

td_status td_op_rand_like(td_call *call)
{
    TD_TRY(like(call, 2));
    return uniform(call->out[0], GENERATOR(1), 0, 1);
}

td_status td_op_randn_like(td_call *call)
{
    TD_TRY(like(call, 2));
    return normal(call->out[0], GENERATOR(1), 0, 1);
}

/* ---- other distributions: a function of a uniform or a normal double ---- */

static td_status transformed(td_tensor *self, td_generator *g, const td_sampling *how,
                             td_transform of, double a, double b)
{
    td_tensor *values;
    TD_TRY(td_sample_new(&values, self->ndim, self->sizes, g, how));
    td_transform_run(values, of, a, b);
    td_status status = td_copy(self, values);
    td_tensor_free(values);
    return status;
}

static td_sampling open_uniform(void) { return (td_sampling){TD_SAMPLE_OPEN_F64, NULL, TD_F64}; }

td_status td_op_exponential_(td_call *call)
{
    double rate = TD_FLOAT(1), scale = 1 / rate;
    TD_TRY(td_random_floating((td_dtype)SELF->dtype, false, "exponential_"));
    TD_TRY(td_random_target(SELF, "exponential_"));
    if (!(rate > 0))
        return td_fail(TD_RUNTIME_ERROR, "exponential_ expects lambd > 0, but got lambd=%g", rate);
    if (td_is_meta(SELF)) return TD_OK;
    if (SELF->dtype == TD_F64) {
        td_sampling how = open_uniform();
        return transformed(SELF, GENERATOR(2), &how, TD_TRANSFORM_EXPONENTIAL, scale, 0);
    }
    return td_sample_tensor(SELF, GENERATOR(2),
                            &(td_sampling){TD_SAMPLE_EXPONENTIAL_F32, &scale, TD_F32});
}

td_status td_op_cauchy_(td_call *call)
{
    TD_TRY(td_random_floating((td_dtype)SELF->dtype, false, "cauchy_"));
    TD_TRY(td_random_target(SELF, "cauchy_"));
    if (!(TD_FLOAT(2) > 0))
        return td_fail(TD_RUNTIME_ERROR, "cauchy_ expects sigma > 0, but got sigma=%g",
                       TD_FLOAT(2));
    if (td_is_meta(SELF)) return TD_OK;
    td_sampling how = open_uniform();
    return transformed(SELF, GENERATOR(3), &how, TD_TRANSFORM_CAUCHY, TD_FLOAT(1), TD_FLOAT(2));
}

td_status td_op_geometric_(td_call *call)
{
    double p = TD_FLOAT(1);
    td_dtype dtype = (td_dtype)SELF->dtype;
    if (dtype == TD_BOOL || !td_is_integral(dtype))
        TD_TRY(td_random_floating(dtype, false, "geometric_"));
    TD_TRY(td_random_target(SELF, "geometric_"));
    if (!(p > 0 && p < 1))
        return td_fail(TD_RUNTIME_ERROR, "geometric_ expects p inside (0, 1), but got p=%g", p);
    if (td_is_meta(SELF)) return TD_OK;
    td_sampling how = open_uniform();
    return transformed(SELF, GENERATOR(2), &how, TD_TRANSFORM_GEOMETRIC, log1p(-p), 0);
}

td_status td_op_log_normal_(td_call *call)
{
    TD_TRY(td_random_floating((td_dtype)SELF->dtype, false, "log_normal_"));
    TD_TRY(td_random_target(SELF, "log_normal_"));
    if (!(TD_FLOAT(2) > 0))
        return td_fail(TD_RUNTIME_ERROR, "log_normal_ expects std > 0, but got std=%g",
                       TD_FLOAT(2));
    if (td_is_meta(SELF)) return TD_OK;
    td_normal_params standard = {0, 1};
    td_sampling how = {TD_SAMPLE_NORMAL_F64, &standard, TD_F64};
    return transformed(SELF, GENERATOR(3), &how, TD_TRANSFORM_LOG_NORMAL, TD_FLOAT(1), TD_FLOAT(2));
}
