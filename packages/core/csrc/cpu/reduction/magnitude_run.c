/* magnitude_run.c - |x| of complex numbers, element by element: the norms of real numbers take
 * magnitudes on the way. */
#include "cpu/run/walk.h"
#include "cpu/reduction/magnitude_run.h"
#include <complex.h>
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
