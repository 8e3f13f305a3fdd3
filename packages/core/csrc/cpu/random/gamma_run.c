/* gamma_run.c - a sample of the gamma distribution. */
#include "cpu/random/draws_run.h"

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
double td_gamma_of(double shape, double unused, td_draws d)
{
    if (!(shape > 0) || isinf(shape)) return shape == 0 || isinf(shape) ? shape : NAN;
    if (shape >= 1) return gamma_from_one(shape, &d);
    double u, v;
    td_next_pair(&d, &u, &v);
    return gamma_from_one(shape + 1, &d) * pow(u, 1 / shape);
}
