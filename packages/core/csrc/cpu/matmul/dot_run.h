/* dot_run.h - the product of two vectors of float32 or float64. */
#ifndef TD_DOT_RUN_H
#define TD_DOT_RUN_H
#include "runtime/tensor.h"

td_status td_dot_run(td_tensor *out, const td_tensor *a, const td_tensor *b);

#endif
