/* creation.h - what factories share with other operators. */
#ifndef TD_CREATION_H
#define TD_CREATION_H
#include "runtime/op.h"

/* RuntimeError unless the number can be stored in an element of `dtype`: integers in range
 * (negative ones may wrap around once in unsigned dtypes), finite floats within the largest number,
 * no imaginary part lost. */
td_status td_check_fits(const td_scalar *value, td_dtype dtype);

/* The common keyword arguments of factories: dtype, layout, device, pin_memory, from argument `at`
 * on. */
typedef struct td_options {
    td_dtype dtype;
    td_device device;
} td_options;
td_status td_factory_options(td_call *call, int at, td_dtype dtype, td_device device,
                             td_options *out);

extern int td_fill_fresh; /* process-wide: `empty` and its forms are filled */

#endif
