/* gamma.c - samples of the gamma distribution. */
#include "ops/random/draws.h"

td_status td_op__standard_gamma(td_call *call)
{
    const td_tensor *shapes = TD_TENSOR(0);
    TD_TRY(td_random_floating((td_dtype)shapes->dtype, false, "_standard_gamma"));
    TD_TRY(td_tensor_empty_like(&call->out[0], shapes, (td_dtype)shapes->dtype));
    if (td_is_meta(shapes)) return TD_OK;
    td_tensor *values;
    TD_TRY(td_widened(&values, shapes, shapes, TD_F64));
    td_draw_each(values, NULL, call->args[1].generator, td_gamma_of, 80);
    td_status status = td_copy(call->out[0], values);
    td_tensor_free(values);
    return status;
}
