/* dropout.c - dropout: random zeros, and the scaling that keeps the mean, in one pass. */
#include "cpu/random/dropout_job.h"
#include "ops/random/random.h"
#include "runtime/device.h"

#define SELF TD_TENSOR(0)
#define GENERATOR(k) (call->args[k].generator)

static td_status check(const td_tensor *t, const char *name)
{
    if (td_dropout_kind((td_dtype)t->dtype) >= 0) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "%s: a result of float32 can't be cast to %s; dropout needs a floating-point or "
                   "complex input",
                   name, td_dtypes[t->dtype].name);
}

/* ---- forward ---- */
/* The device draws the words that the processor would, and the generator moves on as far. */
static td_status drop_elsewhere(td_tensor *out, td_tensor *mask, const td_tensor *in,
                                td_generator *g, const td_dropout_params *params)
{
    int64_t groups = (in->numel + TD_GROUP_WORDS - 1) / TD_GROUP_WORDS;
    td_dropout_job job = {.out = out,
                          .x = in,
                          .mask = mask,
                          .seed = g->seed,
                          .threshold = params->threshold,
                          .scale = params->scale};
    if (groups == 0) return TD_OK;
    job.block = td_generator_take(g, (uint64_t)groups * TD_GROUP_BLOCKS);
    return td_work_run(TD_WORK_DROPOUT, &job, (td_device)in->device, "dropout");
}

/* Everything contiguous: samples follow logical order. */
static td_status drop(td_tensor *out, td_tensor *mask, const td_tensor *in, td_generator *g,
                      double p)
{
    double kept = (1 - p) * 0x1p32;
    td_dropout_params params = {td_data(in), td_data(mask),
                                kept < UINT32_MAX ? (uint32_t)kept : UINT32_MAX,
                                p < 1 ? 1 / (1 - p) : 0};
    td_dtype dtype = (td_dtype)in->dtype;
    if (!td_on_host(in)) return drop_elsewhere(out, mask, in, g, &params);
    td_sample_run(td_data(out), in->numel, g, &(td_sampling){TD_SAMPLE_DROPOUT, &params, dtype});
    return TD_OK;
}

/* The results lie as the input does; where that is not row-major, they are made so first. */
static td_status drop_strided(td_call *call, const td_tensor *in, double p)
{
    td_tensor *out = NULL, *mask = NULL;
    td_status status =
        td_tensor_empty(&out, (td_dtype)in->dtype, (td_device)in->device, in->ndim, in->sizes);
    if (status == TD_OK)
        status = td_tensor_empty(&mask, TD_BOOL, (td_device)in->device, in->ndim, in->sizes);
    if (status == TD_OK) {
        status = drop(out, mask, in, GENERATOR(3), p);
        if (status == TD_OK) status = td_copy(call->out[0], out);
    }
    if (status == TD_OK) status = td_copy(call->out[1], mask);
    td_tensor_free(out);
    td_tensor_free(mask);
    return status;
}

static td_status drop_any(td_call *call, double p)
{
    if (td_is_contiguous(SELF)) return drop(call->out[0], call->out[1], SELF, GENERATOR(3), p);
    td_tensor *in;
    TD_TRY(td_contiguous(&in, SELF));
    td_status status = drop_strided(call, in, p);
    td_tensor_free(in);
    return status;
}

static td_status keep_all(td_call *call)
{
    td_scalar one = td_scalar_bool(true);
    TD_TRY(td_copy(call->out[0], SELF));
    return td_fill(call->out[1], &one);
}

td_status td_op_native_dropout(td_call *call)
{
    double p = TD_FLOAT(1);
    TD_TRY(check(SELF, "native_dropout"));
    if (!(p >= 0 && p <= 1))
        return td_fail(TD_RUNTIME_ERROR,
                       "dropout probability has to be between 0 and 1, but got %g", p);
    TD_TRY(td_tensor_empty_like(&call->out[0], SELF, (td_dtype)SELF->dtype));
    TD_TRY(td_tensor_empty_like(&call->out[1], SELF, TD_BOOL));
    if (td_is_meta(SELF)) return TD_OK;
    bool train = !TD_HAS(2) || TD_BOOLEAN(2);
    return train && p > 0 ? drop_any(call, p) : keep_all(call);
}

/* ---- backward ---- */
static td_status check_mask(const td_tensor *grad, const td_tensor *mask)
{
    char got[TD_SHAPE_TEXT], wanted[TD_SHAPE_TEXT];
    if (mask->dtype != TD_BOOL)
        return td_fail(TD_RUNTIME_ERROR,
                       "native_dropout_backward: the mask must be bool, but got %s",
                       td_dtypes[mask->dtype].name);
    if (td_same_shape(grad, mask)) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "native_dropout_backward: the mask has shape %s, but the gradient %s",
                   td_shape_text(mask->ndim, mask->sizes, got),
                   td_shape_text(grad->ndim, grad->sizes, wanted));
}

static td_status scale_kept(td_tensor *out, const td_tensor *grad, td_tensor *mask, double scale)
{
    td_dropout_job job = {.backward = true, .out = out, .x = grad, .mask = mask, .scale = scale};
    if (!td_on_host(grad))
        return td_work_run(TD_WORK_DROPOUT, &job, (td_device)grad->device, "dropout");
    td_dropout_backward_run(out, grad, mask, scale);
    return TD_OK;
}

td_status td_op_native_dropout_backward(td_call *call)
{
    td_tensor *grad = NULL, *mask = NULL;
    TD_TRY(check(SELF, "native_dropout_backward"));
    TD_TRY(check_mask(SELF, TD_TENSOR(1)));
    TD_TRY(td_tensor_empty(&call->out[0], (td_dtype)SELF->dtype, (td_device)SELF->device,
                           SELF->ndim, SELF->sizes));
    if (td_is_meta(SELF)) return TD_OK;
    td_status status = td_contiguous(&grad, SELF);
    if (status == TD_OK) status = td_contiguous(&mask, TD_TENSOR(1));
    if (status == TD_OK) status = scale_kept(call->out[0], grad, mask, TD_FLOAT(2));
    td_tensor_free(grad);
    td_tensor_free(mask);
    return status;
}
