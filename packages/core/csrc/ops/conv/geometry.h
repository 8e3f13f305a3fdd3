/* geometry.h - the geometry of a convolution, read from a call and checked. */
#ifndef TD_OPS_CONV_GEOMETRY_H
#define TD_OPS_CONV_GEOMETRY_H
#include "runtime/op.h"
#include "runtime/tensor.h"

typedef struct td_conv_geometry {
    int nd; /* spatial dimensions: 1, 2 or 3 */
    bool transposed;
    int64_t images, groups, x_channels, y_channels;
    int64_t x[3], y[3], kernel[3], stride[3], padding[3], dilation[3], output_padding[3];
} td_conv_geometry;

typedef struct td_conv_arguments { /* positions in the call */
    int stride, padding, dilation, transposed, output_padding, groups;
} td_conv_arguments;

const char *td_conv_shape_text(const td_tensor *t, char buffer[TD_SHAPE_TEXT]);
td_status td_conv_check_dtypes(const td_tensor *input, const td_tensor *other, const char *what);
td_status td_conv_read_geometry(const td_call *call, const td_conv_arguments *at,
                                const td_tensor *input, const td_tensor *weight,
                                const td_tensor *bias, td_conv_geometry *g);
/* the sizes of what it computes: images, channels, then nd spatial dimensions */
void td_conv_output_shape(const td_conv_geometry *g, int64_t sizes[5]);

#endif
