/* draws.c - the parameters of samplers that draw as often as they need. */
#include "ops/random/draws.h"

/* A contiguous copy of floating numbers as float32 or float64, broadcast to `like`; in the host's
 * memory, where samplers run. */
td_status td_widened(td_tensor **out, const td_tensor *t, const td_tensor *like, td_dtype dtype)
{
    TD_TRY(td_tensor_empty(out, dtype, TD_CPU, like->ndim, like->sizes));
    td_status status = td_copy(*out, t);
    if (status != TD_OK) td_tensor_free(*out);
    return status;
}
