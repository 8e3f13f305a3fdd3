/* norm.h - what the normalisation operators share: dtypes, dense copies, and numbers per channel. */
#ifndef TD_NORM_H
#define TD_NORM_H
#include "cpu/norm/norm.h"
#include "ops/view/view.h"

/* Statistics and sums are computed in float64 for float64 inputs, in float32 for the others. */
static inline td_dtype td_norm_dtype(const td_tensor *x) { return x->dtype == TD_F64 ? TD_F64 : TD_F32; }

const td_norm_kernel *td_norm_kernel_for(td_dtype dtype);

/* Only floating-point inputs; weights of the input's dtype, or float32 beside half ones. `extra` may be
 * NULL. */
td_status td_norm_check_dtypes(const char *op, const td_tensor *x, const td_tensor *weight,
                               const td_tensor *bias);

/* Convert *t to `dtype`; frees it and sets it to NULL on failure. NULL is fine. */
td_status td_norm_convert(td_tensor **t, td_dtype dtype);

static inline double td_norm_read(const td_tensor *t, int64_t i)
{
    return t->dtype == TD_F64 ? ((const double *)td_data(t))[i] : (double)((const float *)td_data(t))[i];
}
static inline void td_norm_write(td_tensor *t, int64_t i, double value)
{
    if (t->dtype == TD_F64)
        ((double *)td_data(t))[i] = value;
    else
        ((float *)td_data(t))[i] = (float)value;
}

#endif
