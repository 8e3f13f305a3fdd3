/* magnitude_run.h - |x| of complex numbers, and what norms of extreme numbers are scaled by. */
#ifndef TD_MAGNITUDE_RUN_H
#define TD_MAGNITUDE_RUN_H
#include <stdbool.h>
#include "runtime/tensor.h"

td_status td_magnitude_run(td_tensor *out, const td_tensor *x); /* of complex64 or complex128 */

/* Of norms in double or float, dense: is one 0, infinite, or so small that the powers of its terms
 * lost digits? */
bool td_norm_is_extreme(const td_tensor *made, double exponent);
/* In double: every largest magnitude becomes the power of two below it; 1 where there is none.
 * False if all are 1. */
bool td_norm_powers(td_tensor *largest);
/* out = x / power, and out = made * power; power broadcasts */
td_status td_norm_scaled(td_tensor *out, const td_tensor *x, const td_tensor *power);
td_status td_norm_unscaled(td_tensor *out, const td_tensor *made, const td_tensor *power);

#endif
