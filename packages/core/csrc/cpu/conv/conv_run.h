/* conv_run.h - convolutions on dense arrays: which algorithm, how it is spread over threads. */
#ifndef TD_CONV_RUN_H
#define TD_CONV_RUN_H
#include "cpu/conv/conv.h"
#include "cpu/conv/winograd.h"
#include "runtime/tensor.h"
#include "runtime/work.h"

/* what x and w of a convolution are */
typedef enum td_conv_factors {
    TD_FACTORS_SAME,  /* numbers of its dtype */
    TD_FACTORS_BF16,  /* bfloat16 numbers; its dtype is float32 */
    TD_FACTORS_PAIRS, /* words of two bfloat16 numbers, which `channels` counts */
} td_conv_factors;

typedef struct td_tap {
    int64_t at[3];
} td_tap;

/* y[image][group][output][pixel] = bias + sum over channel, tap of
 *     w[group][output][channel][tap] * x[image][group][channel][pixel * stride + tap]
 * Planes are dense and row-major; what lies outside of x is 0. */
typedef struct td_conv {
    td_dtype dtype; /* of y and bias */
    td_conv_factors factors;
    int64_t images, groups;
    int64_t channels, outputs; /* of one group */
    int64_t in[3], out[3], stride[3];
    int64_t taps;
    const td_tap *tap;
    /* taps as a regular grid; kernel[0] is 0 if they are none */
    int64_t kernel[3], dilation[3], padding[3];
    const char *x, *w, *bias; /* bias may be NULL */
    char *y;
} td_conv;

td_status td_conv_forward(const td_conv *c);
/* dw[group][output][channel][tap] = sum over images, pixels of g * x; g has the shape of y */
td_status td_conv_weight(const td_conv *c, const char *g, char *dw);
/* The same sums seen from x: x[..] = sum of w * y. `c->x` is not read; writes x, adds
 * bias[group][channel] if not NULL. */
td_status td_conv_data(const td_conv *c, const char *y, char *x, const char *bias);

/* What a device with kernels of its own is asked for (TD_WORK_CONV): the three above. */
typedef struct td_conv_job {
    enum { TD_CONV_FORWARD, TD_CONV_DATA, TD_CONV_WEIGHT } what;
    const td_conv *conv;  /* its taps are a regular grid; y is not looked at */
    const char *y, *bias; /* y: what is read in the place of results */
    char *to;
    int64_t n; /* elements of `to` */
} td_conv_job;

/* A device that sums gradients of weights over columns makes so many bytes of them at once: 1 GiB.
 * It joins the sums of several parts in the dtype of the columns, so 16 bits want one part. */
extern int64_t td_conv_columns_bytes;

/* what the algorithms share */
td_patches td_conv_patches(const td_conv *c);
bool td_conv_pointwise(const td_conv *c); /* 1x1: pixels see themselves only */
bool td_conv_per_image(const td_conv *c); /* a product for each image, not one for all */
/* depthwise, and the copies of planes have a size in proportion to the planes */
bool td_conv_wants_planes(const td_conv *c);
/* 3x3 of stride 1, and channels enough to be worth it */
bool td_conv_winograd_fits(const td_conv *c);
/* ... and tiles enough, forward */
bool td_conv_wants_winograd(const td_conv *c);
td_winograd td_conv_winograd_of(const td_conv *c, const float *weights);

/* the regular grid of taps of kernel, dilation and padding; td_free it with td_taps_bytes */
td_status td_conv_make_taps(td_conv *c, td_tap **taps);
static inline int64_t td_taps_bytes(int64_t taps) { return taps * (int64_t)sizeof(td_tap); }

/* Where one size is 0, the product of the others may be more than 64 bits hold. */
static inline int64_t td_volume(const int64_t size[3])
{
    return (int64_t)((uint64_t)size[0] * (uint64_t)size[1] * (uint64_t)size[2]);
}
/* bytes of a number (or word) of x and w */
static inline int64_t td_factor_bytes(const td_conv *c)
{
    return c->factors == TD_FACTORS_BF16    ? 2
           : c->factors == TD_FACTORS_PAIRS ? 4
                                            : td_itemsize(c->dtype);
}
static inline int td_conv_is_real(td_dtype d) { return d == TD_F32 || d == TD_F64; }

/* a copy of x with its padding (cpu/conv/padded_run.c): is it worth it; `run` over such a copy */
bool td_conv_wants_padding(const td_conv *c);
td_status td_conv_over_padded(const td_conv *c, td_status (*run)(const td_conv *c));

/* bfloat16 in pairs (cpu/conv/pairs_run.c): is it worth it for this convolution of bfloat16 tensors
 * (forward), for its gradients with respect to x (data) and w (weight)? */
bool td_conv_pairs_forward(const td_conv *c);
bool td_conv_pairs_data(const td_conv *c);
bool td_conv_pairs_weight(const td_conv *c);
/* `run` over pairs of channels of c, whose factors are bfloat16 */
td_status td_conv_over_pairs(const td_conv *c, td_status (*run)(const td_conv *c));
/* The same for the gradients: pairs of output channels, of images. y and g are bfloat16. */
td_status td_conv_data_over_pairs(const td_conv *c, const char *y, char *x, const char *bias);
td_status td_conv_weight_over_pairs(const td_conv *c, const char *g, char *dw);

extern int td_conv_winograd; /* 0: never (backends.conv.winograd) */

/* dtypes without kernels of their own (cpu/conv/columns_run.c) */
td_status td_conv_columns_forward(const td_conv *c);
td_status td_conv_columns_weight(const td_conv *c, const char *g, char *dw);

/* [begin, end) in a few parts of equal size, so that threads that start together end together */
void td_parallel_even(int64_t n, void (*fn)(void *context, int64_t begin, int64_t end),
                      void *context);
#endif
