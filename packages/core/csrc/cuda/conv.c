/* conv.c - convolutions as launches of kernels/conv.h. */
#include <string.h>
#include "cpu/conv/conv_run.h"
#include "cuda/program.h"

typedef struct conv_call { /* laid out as in kernels/conv.h */
    const char *x, *w, *y, *bias;
    char *to;
    int64_t n, images, groups, channels, outputs;
    int64_t in[3], out[3], stride[3], kernel[3], dilation[3], padding[3];
} conv_call;

td_status td_cuda_conv(const void *job, td_device device)
{
    static const char *names[] = {"forward", "data", "weight"};
    const td_conv_job *j = job;
    const td_conv *v = j->conv;
    int ordinal = td_device_index(device);
    conv_call c = {.x = v->x,
                   .w = v->w,
                   .y = j->y,
                   .bias = j->bias,
                   .to = j->to,
                   .n = j->n,
                   .images = v->images,
                   .groups = v->groups,
                   .channels = v->channels,
                   .outputs = v->outputs};
    memcpy(c.in, v->in, sizeof c.in);
    memcpy(c.out, v->out, sizeof c.out);
    memcpy(c.stride, v->stride, sizeof c.stride);
    memcpy(c.kernel, v->kernel, sizeof c.kernel);
    memcpy(c.dilation, v->dilation, sizeof c.dilation);
    memcpy(c.padding, v->padding, sizeof c.padding);
    td_cuda_program w = {.kind = "conv",
                         .how = "conv_alone",
                         .name = names[j->what],
                         .dtype = v->dtype,
                         .from = v->dtype,
                         .key = (const void *)(intptr_t)((int)j->what << 8 | v->dtype | 0x10000)};
    void *function;
    if (c.n == 0) return TD_OK;
    TD_TRY(td_cuda_use(ordinal));
    TD_TRY(td_cuda_function(&w, ordinal, &function));
    return td_cuda_launch(function, ordinal, c.n, &c, "convolution");
}
