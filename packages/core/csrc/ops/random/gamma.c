/* random_gamma.c - samples of the gamma distribution. */
#include "ops/random/draws.h"

/* Marsaglia and Tsang (2000), for shapes from 1. */
static double gamma_from_one(double shape, td_draws *d)
{
    double part = shape - 1.0 / 3, width = 1 / sqrt(9 * part);
    for (;;) {
        double u, v, x = td_next_normal(d), cube = 1 + width * x;
        if (cube <= 0) continue;
        cube = cube * cube * cube;
        td_next_pair(d, &u, &v);
        if (log(u) < 0.5 * x * x + part * (1 - cube + log(cube))) return part * cube;
    }
}

/* Below 1: a sample of shape + 1 times u^(1 / shape) has that shape. */
static double gamma_of(double shape, double unused, td_draws d)
{
    if (!(shape > 0) || isinf(shape)) return shape == 0 || isinf(shape) ? shape : NAN;
    if (shape >= 1) return gamma_from_one(shape, &d);
    double u, v;
    td_next_pair(&d, &u, &v);
    return gamma_from_one(shape + 1, &d) * pow(u, 1 / shape);
}

td_status td_op__standard_gamma(td_call *call)
{
    const td_tensor *shapes = TD_TENSOR(0);
    TD_TRY(td_random_floating((td_dtype)shapes->dtype, false, "_standard_gamma"));
    TD_TRY(td_tensor_empty_like(&call->out[0], shapes, (td_dtype)shapes->dtype));
    if (td_is_meta(shapes)) return TD_OK;
    td_tensor *values;
    TD_TRY(td_widened(&values, shapes, shapes, TD_F64));
    td_draw_each(values, NULL, call->args[1].generator, gamma_of, 80);
    td_status status = td_copy(call->out[0], values);
    td_tensor_free(values);
    return status;
}
