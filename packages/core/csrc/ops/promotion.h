/* promotion.h - the dtype that several operands compute in. */
#ifndef TD_PROMOTION_H
#define TD_PROMOTION_H
#include "runtime/op.h"

/* The common dtype of operands of three authorities: Python numbers (TD_FLAG_WRAPPED), 0-dim
 * tensors, tensors with dimensions. A lower one changes the result only if its category is higher.
 * RuntimeError where two do not promote. */
td_status td_result_type(int n, td_tensor *const *operands, td_dtype *out);

#endif
