/* discrete.c - bernoulli, multinomial. */
#include "ops/random/random.h"
#include "ops/random/draws.h"
#include "runtime/work.h"

#define SELF TD_TENSOR(0)
#define OUT (&call->out[0])
#define GENERATOR(k) (call->args[k].generator)

/* ---- bernoulli ---- */
static td_status check_coin(td_dtype d, const char *name)
{
    bool missing = td_is_complex(d) || td_is_float8(d) || d >= TD_QINT8;
    return missing ? td_fail(TD_NOT_IMPLEMENTED, "%s is not implemented for %s", name,
                             td_dtypes[d].name)
                   : TD_OK;
}

static td_status flip(td_tensor *t, td_generator *g, double p)
{
    TD_TRY(check_coin((td_dtype)t->dtype, "bernoulli_"));
    if (!(p >= 0 && p <= 1))
        return td_fail(TD_RUNTIME_ERROR, "bernoulli_ expects p in [0, 1], but got p=%g", p);
    if (td_is_meta(t)) return TD_OK;
    td_coin_params params = {.threshold = (uint64_t)(p * 0x1p32 + 0.5)};
    td_scalar one = td_scalar_int(1);
    td_scalar_store(&one, (td_dtype)t->dtype, &params.one);
    return td_sample_tensor(t, g, &(td_sampling){TD_SAMPLE_COIN, &params, (td_dtype)t->dtype});
}

static td_status check_probabilities(const td_tensor *p)
{
    double v;
    if (td_first_outside(p, &v) == p->numel) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR, "bernoulli expects p in [0, 1], but got p=%g", v);
}

static td_status flip_each(td_tensor *t, td_generator *g, const td_tensor *p)
{
    td_tensor *values, *ones = NULL;
    TD_TRY(td_widened(&values, p, t, p->dtype == TD_F64 ? TD_F64 : TD_F32));
    td_coins_params params = {td_data(values)};
    td_sampling how = {values->dtype == TD_F64 ? TD_SAMPLE_COINS_F64 : TD_SAMPLE_COINS_F32, &params,
                       TD_BOOL};
    td_status status = check_probabilities(values);
    if (status == TD_OK) status = td_sample_new(&ones, t->ndim, t->sizes, g, &how);
    if (status == TD_OK) status = td_copy(t, ones);
    td_tensor_free(ones);
    td_tensor_free(values);
    return status;
}

td_status td_op_bernoulli(td_call *call)
{
    TD_TRY(td_random_floating((td_dtype)SELF->dtype, false, "bernoulli"));
    TD_TRY(td_tensor_empty_like(OUT, SELF, (td_dtype)SELF->dtype));
    return td_is_meta(SELF) ? TD_OK : flip_each(call->out[0], GENERATOR(1), SELF);
}

td_status td_op_bernoulli_p(td_call *call)
{
    TD_TRY(td_tensor_empty_like(OUT, SELF, (td_dtype)SELF->dtype));
    return flip(call->out[0], GENERATOR(2), TD_FLOAT(1));
}

td_status td_op_bernoulli_float_(td_call *call)
{
    TD_TRY(td_random_target(SELF, "bernoulli_"));
    return flip(SELF, GENERATOR(2), TD_FLOAT(1));
}

td_status td_op_bernoulli_tensor_(td_call *call)
{
    td_tensor *p = TD_TENSOR(1);
    int64_t sizes[TD_MAX_DIMS];
    int ndim;
    char wanted[TD_SHAPE_TEXT], got[TD_SHAPE_TEXT];
    TD_TRY(td_random_target(SELF, "bernoulli_"));
    TD_TRY(check_coin((td_dtype)SELF->dtype, "bernoulli_"));
    TD_TRY(td_random_floating((td_dtype)p->dtype, false, "bernoulli_ with a tensor p"));
    TD_TRY(td_broadcast(SELF->ndim, SELF->sizes, p->ndim, p->sizes, &ndim, sizes));
    td_tensor shape = {.ndim = ndim, .sizes = sizes};
    if (!td_same_shape(&shape, SELF))
        return td_fail(TD_RUNTIME_ERROR,
                       "bernoulli_: p of shape %s does not expand to the shape %s of the tensor",
                       td_shape_text(p->ndim, p->sizes, got),
                       td_shape_text(SELF->ndim, SELF->sizes, wanted));
    return td_is_meta(SELF) ? TD_OK : flip_each(SELF, GENERATOR(2), p);
}

/* ---- multinomial ---- */
static td_status check_multinomial(const td_tensor *t, int64_t samples, bool replacement)
{
    if (!td_is_floating((td_dtype)t->dtype) || td_is_float8((td_dtype)t->dtype))
        return td_fail(TD_RUNTIME_ERROR, "multinomial expects floating-point weights, but got %s",
                       td_dtypes[t->dtype].name);
    if (t->ndim != 1 && t->ndim != 2)
        return td_fail(TD_RUNTIME_ERROR,
                       "multinomial expects weights of 1 or 2 dimensions, but got %d", t->ndim);
    int64_t categories = t->sizes[t->ndim - 1];
    if (samples <= 0)
        return td_fail(TD_RUNTIME_ERROR, "multinomial expects num_samples > 0, but got %lld",
                       (long long)samples);
    if (!replacement && samples > categories)
        return td_fail(
            TD_RUNTIME_ERROR,
            "multinomial: cannot draw %lld samples of %lld categories without replacement",
            (long long)samples, (long long)categories);
    if (categories == 0 && (t->ndim == 1 || t->sizes[0] > 0))
        return td_fail(TD_RUNTIME_ERROR, "multinomial: there is no category to draw");
    return TD_OK;
}

/* from the host, where it was drawn, to where the weights lie */
static td_status move_drawn(td_tensor **t, td_device device)
{
    td_tensor *drawn = *t;
    if (device == TD_CPU) return TD_OK;
    TD_TRY(td_moved_to(t, drawn, device));
    td_tensor_free(drawn);
    return TD_OK;
}

td_status td_op_multinomial(td_call *call)
{
    int64_t samples = TD_INT(1), sizes[2] = {samples, samples};
    bool replacement = TD_BOOLEAN(2);
    TD_TRY(check_multinomial(SELF, samples, replacement));
    if (SELF->ndim == 2) sizes[0] = SELF->sizes[0];
    td_device drawn_on = td_is_meta(SELF) ? TD_META : TD_CPU;
    TD_TRY(td_tensor_empty(OUT, TD_I64, drawn_on, SELF->ndim, sizes));
    if (td_is_meta(SELF)) return TD_OK;
    if (call->out[0]->numel == 0) return move_drawn(OUT, (td_device)SELF->device);
    td_tensor *values, *uniforms = NULL, *order = NULL;
    TD_TRY(td_widened(&values, SELF, SELF, TD_F64));
    td_sampling how = {TD_SAMPLE_OPEN_F64, NULL, TD_F64};
    const int64_t *drawn = replacement ? sizes : SELF->sizes;
    td_status status = td_sample_new(&uniforms, SELF->ndim, drawn, GENERATOR(3), &how);
    if (status == TD_OK && !replacement)
        status = td_tensor_empty(&order, TD_I64, TD_CPU, SELF->ndim, SELF->sizes);
    if (status == TD_OK)
        status = td_multinomial_run(call->out[0], values, uniforms, order, replacement);
    if (status == TD_OK) status = move_drawn(OUT, (td_device)SELF->device);
    td_tensor_free(values);
    td_tensor_free(uniforms);
    td_tensor_free(order);
    return status;
}
