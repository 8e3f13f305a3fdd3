/* conv.c - which way a convolution is computed, and launches of kernels/conv.h. */
#include "cuda/conv_call.h"
#include "cuda/program.h"
#include "cuda/workers.h"

td_cuda_conv_call td_cuda_conv_call_of(const td_conv_job *j)
{
    const td_conv *v = j->conv;
    td_cuda_conv_call c = {.x = v->x,
                           .w = v->w,
                           .y = j->y,
                           .bias = j->bias,
                           .to = j->to,
                           .n = j->n,
                           .images = v->images,
                           .groups = v->groups,
                           .channels = v->channels,
                           .outputs = v->outputs};
    for (int d = 0; d < 3; d++) {
        c.in[d] = (int32_t)v->in[d];
        c.out[d] = (int32_t)v->out[d];
        c.stride[d] = (int32_t)v->stride[d];
        c.kernel[d] = (int32_t)v->kernel[d];
        c.dilation[d] = (int32_t)v->dilation[d];
        c.padding[d] = (int32_t)v->padding[d];
    }
    return c;
}

td_status td_cuda_conv_launch(int work, td_dtype dtype, int ordinal, td_cuda_conv_call *call)
{
    static const char *names[] = {"forward", "data", "weight", "columns", "seen", "bias"};
    bool together = work == TD_CUDA_CONV_WEIGHT;
    td_cuda_work w = {.kind = "conv",
                      .how = together ? "conv_together" : "conv_alone",
                      .name = names[work],
                      .dtype = dtype};
    return together ? td_cuda_blocks(&w, ordinal, call->n, call)
                    : td_cuda_threads(&w, ordinal, call->n, call);
}

/* Every place that a pixel may look at has 31 bits on each side: kernels count with these. */
static bool is_short(const td_conv *v)
{
    for (int d = 0; d < 3; d++) {
        double reach = (double)v->kernel[d] * (double)v->dilation[d] +
                       (double)v->out[d] * (double)v->stride[d] + (double)v->in[d] +
                       (double)v->padding[d];
        if (reach > INT32_MAX) return false;
    }
    return true;
}

/* Products of matrices have floats, and more to do in a group than the copies that they need cost.
 */
static bool wants_products(const td_conv *v)
{
    if (!td_is_floating(v->dtype) && !td_is_complex(v->dtype)) return false;
    return v->groups == 1 || v->channels * v->outputs > 16;
}

td_status td_cuda_conv(const void *job, td_device device)
{
    const td_conv_job *j = job;
    int ordinal = td_device_index(device);
    if (j->n == 0) return TD_OK;
    if (!is_short(j->conv))
        return td_fail(TD_NOT_IMPLEMENTED,
                       "convolution over 2^31 places of a dimension or more is not implemented for "
                       "device 'cuda'; move the tensors with .cpu()");
    TD_TRY(td_cuda_use(ordinal));
    if (wants_products(j->conv)) return td_cuda_conv_products(j, ordinal);
    td_cuda_conv_call c = td_cuda_conv_call_of(j);
    return td_cuda_conv_launch((int)j->what, j->conv->dtype, ordinal, &c);
}
