/* geometry.c - numbers, ranks, channels and sizes of a convolution: what fits, and what is refused.
 */
#include "ops/conv/geometry.h"
#include <string.h>

const char *td_conv_shape_text(const td_tensor *t, char buffer[TD_SHAPE_TEXT])
{
    return td_shape_text(t->ndim, t->sizes, buffer);
}

/* ---- numbers ---- */
static td_status read_list(const td_call *call, int arg, const char *name, int nd, int64_t low,
                           int64_t absent, int64_t to[3])
{
    const td_arg *a = &call->args[arg];
    if (a->n != 1 && a->n != nd)
        return td_fail(TD_RUNTIME_ERROR,
                       "convolution: expected %s to have 1 or %d numbers, but it has %lld", name,
                       nd, (long long)a->n);
    for (int d = 0; d < 3; d++) to[d] = absent;
    for (int d = 0; d < nd; d++) {
        int64_t v = a->ints[a->n == 1 ? 0 : d];
        if (v < low)
            return td_fail(TD_RUNTIME_ERROR,
                           "convolution: %s must be %s, but it is %lld in spatial dimension %d",
                           name, low ? "positive" : "not negative", (long long)v, d);
        to[3 - nd + d] = v;
    }
    return TD_OK;
}

static td_status read_lists(const td_call *call, const td_conv_arguments *at, td_conv_geometry *g)
{
    TD_TRY(read_list(call, at->stride, "stride", g->nd, 1, 1, g->stride));
    TD_TRY(read_list(call, at->padding, "padding", g->nd, 0, 0, g->padding));
    TD_TRY(read_list(call, at->dilation, "dilation", g->nd, 1, 1, g->dilation));
    TD_TRY(read_list(call, at->output_padding, "output_padding", g->nd, 0, 0, g->output_padding));
    g->transposed = call->args[at->transposed].i != 0;
    g->groups = call->args[at->groups].i;
    if (g->groups < 1)
        return td_fail(TD_RUNTIME_ERROR, "convolution: groups must be positive, but it is %lld",
                       (long long)g->groups);
    return TD_OK;
}

/* ---- shapes ---- */
static td_status check_ranks(const td_tensor *input, const td_tensor *weight, td_conv_geometry *g)
{
    char in[TD_SHAPE_TEXT], w[TD_SHAPE_TEXT];
    if (weight->ndim < 3 || weight->ndim > 5)
        return td_fail(TD_RUNTIME_ERROR,
                       "convolution: weight must have 3 to 5 dimensions, but it has shape %s",
                       td_conv_shape_text(weight, w));
    if (input->ndim != weight->ndim)
        return td_fail(TD_RUNTIME_ERROR,
                       "convolution: expected a %dD input for a weight of shape %s, but got a %dD "
                       "input of shape %s",
                       weight->ndim, td_conv_shape_text(weight, w), input->ndim,
                       td_conv_shape_text(input, in));
    g->nd = weight->ndim - 2;
    return TD_OK;
}

static td_status check_channels(const td_tensor *input, const td_tensor *weight,
                                const td_tensor *bias, const td_conv_geometry *g)
{
    char in[TD_SHAPE_TEXT], w[TD_SHAPE_TEXT];
    int64_t wanted = g->transposed ? weight->sizes[0] : weight->sizes[1] * g->groups;
    int64_t outputs = g->transposed ? g->x_channels : g->y_channels;
    if (weight->sizes[0] % g->groups)
        return td_fail(TD_RUNTIME_ERROR,
                       "convolution: expected weight to be divisible by groups in dimension 0, but "
                       "groups=%lld and the weight's shape is %s",
                       (long long)g->groups, td_conv_shape_text(weight, w));
    if (input->sizes[1] != wanted) {
        int last = input->ndim > 2 && input->sizes[input->ndim - 1] == wanted;
        return td_fail(TD_RUNTIME_ERROR,
                       "convolution: given groups=%lld and weight of size %s, expected input %s to "
                       "have %lld channels, but got %lld channels instead%s",
                       (long long)g->groups, td_conv_shape_text(weight, w),
                       td_conv_shape_text(input, in), (long long)wanted, (long long)input->sizes[1],
                       last ? ". Its last dimension has so many: if the channels stand there, "
                              "movedim(-1, 1) brings them to the front"
                            : "");
    }
    if (bias && (bias->ndim != 1 || bias->sizes[0] != outputs))
        return td_fail(TD_RUNTIME_ERROR,
                       "convolution: given weight of size %s, expected bias to have %lld elements, "
                       "but it has shape %s",
                       td_conv_shape_text(weight, w), (long long)outputs,
                       td_conv_shape_text(bias, in));
    return TD_OK;
}

td_status td_conv_check_dtypes(const td_tensor *input, const td_tensor *other, const char *what)
{
    if (!other || other->dtype == input->dtype) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "convolution: input of dtype %s and %s of dtype %s should be the same",
                   td_dtypes[input->dtype].name, what, td_dtypes[other->dtype].name);
}

/* a + b * c, or an overflow that the caller reports */
static bool add_product(int64_t *a, int64_t b, int64_t c)
{
    int64_t product;
    return !td_mul_overflows(b, c, &product) && !td_add_overflows(*a, product, a);
}

/* The size that a kernel leaves of x, in one dimension; 0 if it does not fit. */
static bool reduced_size(const td_conv_geometry *g, int d, int64_t *y)
{
    int64_t room = g->x[d] - 1;
    if (!add_product(&room, 2, g->padding[d]) ||
        !add_product(&room, -(g->kernel[d] - 1), g->dilation[d]) || room == INT64_MAX)
        return false;
    *y = room < 0 ? 0 : room / g->stride[d] + 1;
    return true;
}

static bool enlarged_size(const td_conv_geometry *g, int d, int64_t *x)
{
    int64_t size = g->output_padding[d] + 1;
    return (*x = 0, add_product(&size, g->y[d] - 1, g->stride[d])) &&
           add_product(&size, -2, g->padding[d]) &&
           add_product(&size, g->kernel[d] - 1, g->dilation[d]) && (*x = size, true);
}

static td_status find_output(const td_tensor *input, const td_tensor *weight, td_conv_geometry *g)
{
    char in[TD_SHAPE_TEXT], w[TD_SHAPE_TEXT];
    for (int d = 3 - g->nd; d < 3; d++) {
        bool fits = g->transposed ? enlarged_size(g, d, &g->x[d]) : reduced_size(g, d, &g->y[d]);
        int64_t size = g->transposed ? g->x[d] : g->y[d];
        if (!fits)
            return td_fail(
                TD_RUNTIME_ERROR,
                "convolution: sizes, padding and dilation are too large in spatial dimension %d",
                d - 3 + g->nd);
        if (size >= !g->transposed && g->kernel[d] > 0) continue;
        return td_fail(TD_RUNTIME_ERROR,
                       "convolution: %s in spatial dimension %d: input %s, weight %s, padding "
                       "%lld, dilation %lld",
                       g->kernel[d] == 0 ? "kernel size should be greater than zero"
                       : g->transposed
                           ? "the calculated output size is too small"
                           : "kernel size can't be greater than the padded input's size",
                       d - 3 + g->nd, td_conv_shape_text(input, in), td_conv_shape_text(weight, w),
                       (long long)g->padding[d], (long long)g->dilation[d]);
    }
    return TD_OK;
}

/* A stride of one window, and a dilation of one tap, step over nothing: 1 is as good as any, and
 * multiplies without overflow. */
static td_status tame(td_conv_geometry *g)
{
    for (int d = 3 - g->nd; d < 3; d++) {
        if (g->y[d] <= 1) g->stride[d] = 1;
        if (g->kernel[d] <= 1) g->dilation[d] = 1;
        if (g->stride[d] > INT32_MAX || g->dilation[d] > INT32_MAX || g->padding[d] > INT32_MAX)
            return td_fail(TD_RUNTIME_ERROR,
                           "convolution: stride, padding and dilation must fit 31 bits, but in "
                           "spatial dimension %d they are %lld, %lld and %lld",
                           d - 3 + g->nd, (long long)g->stride[d], (long long)g->padding[d],
                           (long long)g->dilation[d]);
    }
    return TD_OK;
}

static td_status check_output_padding(const td_conv_geometry *g)
{
    for (int d = 3 - g->nd; d < 3; d++)
        if (g->output_padding[d] && (!g->transposed || (g->output_padding[d] >= g->stride[d] &&
                                                        g->output_padding[d] >= g->dilation[d])))
            return td_fail(TD_RUNTIME_ERROR,
                           "convolution: output padding must be smaller than either stride or "
                           "dilation, and is for transposed convolutions only; got output_padding "
                           "%lld, stride %lld, dilation %lld",
                           (long long)g->output_padding[d], (long long)g->stride[d],
                           (long long)g->dilation[d]);
    return TD_OK;
}

td_status td_conv_read_geometry(const td_call *call, const td_conv_arguments *at,
                                const td_tensor *input, const td_tensor *weight,
                                const td_tensor *bias, td_conv_geometry *g)
{
    TD_TRY(check_ranks(input, weight, g));
    TD_TRY(read_lists(call, at, g));
    g->images = input->sizes[0];
    if (td_mul_overflows(weight->sizes[1], g->groups, &g->x_channels))
        return td_fail(
            TD_RUNTIME_ERROR,
            "convolution: %lld channels in each of groups=%lld are more than 64 bits count",
            (long long)weight->sizes[1], (long long)g->groups);
    g->y_channels = weight->sizes[0];
    TD_TRY(td_conv_check_dtypes(input, weight, "weight"));
    TD_TRY(td_conv_check_dtypes(input, bias, "bias"));
    TD_TRY(check_channels(input, weight, bias, g));
    TD_TRY(check_output_padding(g));
    for (int d = 0; d < 3; d++) g->x[d] = g->y[d] = g->kernel[d] = 1;
    for (int d = 0; d < g->nd; d++) {
        g->kernel[3 - g->nd + d] = weight->sizes[2 + d];
        (g->transposed ? g->y : g->x)[3 - g->nd + d] = input->sizes[2 + d];
    }
    TD_TRY(find_output(input, weight, g));
    return tame(g);
}

void td_conv_output_shape(const td_conv_geometry *g, int64_t sizes[5])
{
    sizes[0] = g->images;
    sizes[1] = g->transposed ? g->x_channels : g->y_channels;
    memcpy(sizes + 2, (g->transposed ? g->x : g->y) + 3 - g->nd, (size_t)g->nd * sizeof(int64_t));
}
