/* conv_call.h - what the kernels of kernels/conv.h are given, and convolutions as products. */
#ifndef TD_CUDA_CONV_CALL_H
#define TD_CUDA_CONV_CALL_H
#include "cpu/conv/conv_run.h"

typedef struct td_cuda_conv_call { /* laid out as in kernels/conv.h */
    const char *x, *w, *y, *bias;
    char *to;
    int64_t n, images, groups, channels, outputs;
    int32_t in[3], out[3], stride[3], kernel[3], dilation[3], padding[3];
    int64_t first, pixels, by_image, by_group, by_channel, by_tap;
} td_cuda_conv_call;

td_cuda_conv_call td_cuda_conv_call_of(const td_conv_job *job);
/* Launch a work of conv.h over `call->n` threads. */
td_status td_cuda_conv_launch(int work, td_dtype dtype, int ordinal, td_cuda_conv_call *call);
enum {
    TD_CUDA_CONV_FORWARD,
    TD_CUDA_CONV_DATA,
    TD_CUDA_CONV_WEIGHT,
    TD_CUDA_CONV_COLUMNS,
    TD_CUDA_CONV_SEEN,
    TD_CUDA_CONV_BIAS
};

/* Queue a convolution or its gradient as products of matrices over columns (conv_columns.c). */
td_status td_cuda_conv_products(const td_conv_job *job, int ordinal);

#endif
