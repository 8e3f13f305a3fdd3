/* norm.h - what the normalisation operators share: dtypes, dense copies, and numbers per channel.
 */
#ifndef TD_NORM_H
#define TD_NORM_H
#include "cpu/norm/channels_run.h"
#include "ops/view/view.h"

/* Statistics and sums are computed in float64 for float64 inputs, in float32 for the others. */
static inline td_dtype td_norm_dtype(const td_tensor *x)
{
    return x->dtype == TD_F64 ? TD_F64 : TD_F32;
}

/* Only floating-point inputs; weights of the input's dtype, or float32 beside half ones. `extra`
 * may be NULL. */
td_status td_norm_check_dtypes(const char *op, const td_tensor *x, const td_tensor *weight,
                               const td_tensor *bias);

/* Convert *t to `dtype`; frees it and sets it to NULL on failure. NULL is fine. */
td_status td_norm_convert(td_tensor **t, td_dtype dtype);

#endif
