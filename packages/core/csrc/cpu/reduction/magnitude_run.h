/* magnitude_run.h - |x| of complex numbers. */
#ifndef TD_MAGNITUDE_RUN_H
#define TD_MAGNITUDE_RUN_H
#include "runtime/tensor.h"

td_status td_magnitude_run(td_tensor *out, const td_tensor *x); /* of complex64 or complex128 */

#endif
