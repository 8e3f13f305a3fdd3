/* magnitude_run.c - |x| of complex numbers, element by element: the norms of real numbers take
 * magnitudes on the way; and norms of numbers whose squares leave the range of double. */
#include "cpu/run/walk.h"
#include "cpu/reduction/magnitude_run.h"
#include <complex.h>
#include <math.h>
#include "runtime/loops.h"

static void magnitude_c64(char *const *data, const int64_t *strides, int64_t n, const void *context)
{
    for (int64_t i = 0; i < n; i++)
        *(float *)(data[0] + i * strides[0]) =
            cabsf(*(const float complex *)(data[1] + i * strides[1]));
}

static void magnitude_c128(char *const *data, const int64_t *strides, int64_t n,
                           const void *context)
{
    for (int64_t i = 0; i < n; i++)
        *(double *)(data[0] + i * strides[0]) =
            cabs(*(const double complex *)(data[1] + i * strides[1]));
}

td_status td_magnitude_run(td_tensor *out, const td_tensor *x)
{
    td_nd nd;
    TD_TRY(td_nd_init(&nd, 2, (td_tensor *const[]){out, (td_tensor *)x}));
    td_nd_run(&nd, x->dtype == TD_C64 ? magnitude_c64 : magnitude_c128, NULL, 3);
    return TD_OK;
}

/* ---- powers of two: dividing by them rounds nothing ---- */

bool td_norm_is_extreme(const td_tensor *made, double exponent)
{
    double least = pow(10, -280 / fabs(exponent)); /* doubles lose digits from 1e-308 on */
    for (int64_t i = 0; i < made->numel; i++) {
        double norm = made->dtype == TD_F64 ? ((const double *)td_data(made))[i]
                                            : (double)((const float *)td_data(made))[i];
        if (norm < least || isinf(norm)) return true;
    }
    return false;
}

bool td_norm_powers(td_tensor *largest)
{
    bool any = false;
    double *x = td_data(largest);
    for (int64_t i = 0; i < largest->numel; i++) {
        bool scales = x[i] > 0 && isfinite(x[i]);
        x[i] = scales ? ldexp(1, ilogb(x[i])) : 1;
        any |= scales;
    }
    return any;
}

static void scaled_f64(char *const *data, const int64_t *strides, int64_t n, const void *context)
{
    for (int64_t i = 0; i < n; i++)
        *(double *)(data[0] + i * strides[0]) = *(const double *)(data[1] + i * strides[1]) /
                                                *(const double *)(data[2] + i * strides[2]);
}

static void unscaled_f64(char *const *data, const int64_t *strides, int64_t n, const void *context)
{
    for (int64_t i = 0; i < n; i++)
        *(double *)(data[0] + i * strides[0]) = *(const double *)(data[1] + i * strides[1]) *
                                                *(const double *)(data[2] + i * strides[2]);
}

static td_status with_power(td_loop loop, td_tensor *out, const td_tensor *x, const td_tensor *p)
{
    td_nd nd;
    TD_TRY(td_nd_init(&nd, 3, (td_tensor *const[]){out, (td_tensor *)x, (td_tensor *)p}));
    td_nd_run(&nd, loop, NULL, 1);
    return TD_OK;
}

td_status td_norm_scaled(td_tensor *out, const td_tensor *x, const td_tensor *power)
{
    return with_power(scaled_f64, out, x, power);
}

td_status td_norm_unscaled(td_tensor *out, const td_tensor *made, const td_tensor *power)
{
    return with_power(unscaled_f64, out, made, power);
}
