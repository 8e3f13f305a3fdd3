/* zero_run.h - is one of the integers of a divisor 0? */
#ifndef TD_ZERO_RUN_H
#define TD_ZERO_RUN_H
#include "runtime/tensor.h"

/* `mask`: the bits that remain in the dtype to compute in: 256 is zero for uint8 */
td_status td_find_zero(td_tensor *t, int64_t mask, bool *found);

#endif
