/* loss_margin_run.h - margins between the classes of a sample, samples shared out among threads. */
#ifndef TD_LOSS_MARGIN_RUN_H
#define TD_LOSS_MARGIN_RUN_H
#include "runtime/tensor.h"

/* Of every row x of scores, the sum over its labels y and all other classes c of
 * max(0, margin - x[y] + x[c]), divided by the number of classes. All dense; x, loss and slope of
 * one real type. */
typedef struct td_margins {
    const td_tensor *x;      /* [samples, classes], at least one class */
    const td_tensor *target; /* int64 [samples], or [samples, labels]: those before the first -1 */
    double margin;
    td_tensor *loss;  /* [samples] */
    td_tensor *slope; /* [samples, classes]: the derivative of a sample's loss by its scores */
} td_margins;

/* RuntimeError for a target (in the processor's memory) that is no class; of several, -1 ends them.
 */
td_status td_margins_check(const td_tensor *target, int64_t classes);
td_status td_margins_run(const td_margins *m);

#endif
