/* channels_run.h - passes over tensors of outer * channels * inner elements, with numbers per
 * channel. */
#ifndef TD_NORM_CHANNELS_H
#define TD_NORM_CHANNELS_H
#include "cpu/norm/norm.h"
#include "runtime/tensor.h"

const td_norm_kernel *td_norm_kernel_for(td_dtype dtype);

static inline double td_norm_read(const td_tensor *t, int64_t i)
{
    return t->dtype == TD_F64 ? ((const double *)td_data(t))[i]
                              : (double)((const float *)td_data(t))[i];
}
static inline void td_norm_write(td_tensor *t, int64_t i, double value)
{
    if (t->dtype == TD_F64) ((double *)td_data(t))[i] = value;
    else ((float *)td_data(t))[i] = (float)value;
}

/* Dense memory as seen by the kernels. columns: [outer][channels], inner is 1 and channels are
 * neighbours; otherwise [outer][channels][inner]. Numbers repeat after `period` segments:
 * `channels`, or outer * channels where each has its own. */
typedef struct td_channels {
    int64_t outer, channels, inner, period;
    bool columns;
} td_channels;

/* Numbers in the computing dtype: `count` rows of `n`. Row k begins at td_numbers_row(t, k). */
static inline void *td_numbers_row(const td_tensor *t, int64_t k)
{
    return (char *)td_data(t) + k * t->sizes[1] * td_itemsize((td_dtype)t->dtype);
}
static inline void td_numbers_set(td_tensor *t, int64_t row, int64_t i, double value)
{
    td_norm_write(t, row * t->sizes[1] + i, value);
}

/* out = x * numbers[0] + numbers[1] */
void td_channel_scale(td_tensor *out, const td_tensor *x, const td_tensor *numbers,
                      const td_channels *shape);
/* out = grad * numbers[0] + x * numbers[1] + numbers[2] */
void td_channel_mix(td_tensor *out, const td_tensor *grad, const td_tensor *x,
                    const td_tensor *numbers, const td_channels *shape);
/* sums[2 * i] = sum of grad, sums[2 * i + 1] = sum of grad * (x - mean): for every segment i, or,
 * if `together` or columns, for every channel over the outer dimension. mean: a number for each, in
 * the computing dtype. */
td_status td_channel_sums(double *sums, const td_tensor *grad, const td_tensor *x,
                          const td_tensor *mean, const td_channels *shape, bool together);
/* moments[2 * c] = mean, moments[2 * c + 1] = standard deviation of channel c; for segments. Reads
 * x twice: meant for what fits a cache. */
void td_channel_moments(double *moments, const td_tensor *x, const td_channels *shape);

#endif
