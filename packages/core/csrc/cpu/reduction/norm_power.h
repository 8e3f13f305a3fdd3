/* norm_power.h - a term of a p-norm. */
#ifndef TD_NORM_POWER_H
#define TD_NORM_POWER_H
#include <math.h>

/* Products for the exponents that programs use: pow takes twenty times as long. */
static inline double td_norm_power(double size, double exponent)
{
    if (exponent == 3) return size * size * size;
    if (exponent == 4) return size * size * (size * size);
    return pow(size, exponent);
}

#endif
