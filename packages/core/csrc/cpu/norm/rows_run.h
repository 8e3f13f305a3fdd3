/* rows_run.h - normalisation of dense rows, shared out among threads. */
#ifndef TD_NORM_ROWS_RUN_H
#define TD_NORM_ROWS_RUN_H
#include "cpu/norm/channels_run.h"

typedef struct td_norm_forward {
    td_dtype dtype; /* float32 or float64, of everything */
    td_norm_row row;
    char *out, *mean, *rstd;
    const char *x, *weight, *bias; /* the last two, and mean, may be NULL */
    td_dtype stored; /* of x and out, if that is not `dtype`: 16 bits, rows of TD_NORM_SHORT */
} td_norm_forward;

#define TD_NORM_SHORT \
    4096 /* numbers of a row of 16 bits, at most, that becomes float32 by itself */

typedef struct td_norm_backward {
    td_dtype dtype;
    td_norm_row row;
    char *dx; /* or NULL */
    const char *grad, *x, *mean, *rstd, *weight;
} td_norm_backward;

void td_norm_rows_run(const td_norm_forward *p);
/* NULL: not wanted */
td_status td_norm_rows_backward_run(const td_norm_backward *p, td_tensor *dweight,
                                    td_tensor *dbias);

#endif
