/* draws.h - what samplers that draw as often as they need share: parameters in float32 or float64.
 */
#ifndef TD_OPS_RANDOM_DRAWS_H
#define TD_OPS_RANDOM_DRAWS_H
#include "cpu/random/draws_run.h"
#include "ops/random/random.h"

/* A contiguous copy of floating numbers as float32 or float64, broadcast to `like`; in the host's
 * memory, where samplers run. */
td_status td_widened(td_tensor **out, const td_tensor *t, const td_tensor *like, td_dtype dtype);

#endif
