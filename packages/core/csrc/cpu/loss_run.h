/* loss_run.h - losses between pairs of elements, shared out among threads. */
#ifndef TD_LOSS_RUN_H
#define TD_LOSS_RUN_H
#include "cpu/loss.h"
#include "runtime/tensor.h"
#include "runtime/work.h"

typedef struct td_pair_problem {
    td_pair_kind kind;
    double parameter;
    /* of one shape and dtype, float32 or float64, in the same dense memory order */
    td_tensor *x, *t;
} td_pair_problem;

void td_pair_each(const td_pair_problem *p, td_tensor *out);
/* without ever writing the single losses */
td_status td_pair_total(const td_pair_problem *p, double *out);
/* g: the incoming gradient, one number or (`each`) one for every element; times `scale` */
void td_pair_gradient(const td_pair_problem *p, td_tensor *out, const td_tensor *g, bool each,
                      double scale);

/* What a device with kernels of its own is asked for (TD_WORK_PAIR_LOSS). */
typedef struct td_pair_job {
    const td_pair_problem *problem;
    td_tensor *out;     /* the single losses, or the gradient if there is `g`; NULL: the total */
    const td_tensor *g; /* as td_pair_gradient has it */
    bool each;
    double scale, *total;
    td_tensor *sum; /* on devices in the place of *total: float64, divided by `divisor` */
    double divisor;
} td_pair_job;

/* is an element of dense floats below 0 or above 1? A NaN is not. */
bool td_outside_one(const td_tensor *x);

#endif
