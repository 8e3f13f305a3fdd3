/* loss_class_run.h - losses of class scores, shared out among threads. */
#ifndef TD_LOSS_CLASS_RUN_H
#define TD_LOSS_CLASS_RUN_H
#include "cpu/loss.h"
#include "runtime/tensor.h"
#include "runtime/work.h"

typedef struct td_class_scores {
    const char *op;
    int64_t samples, classes, inner, ignore;
    int64_t reduction; /* 0 none, 1 mean, 2 sum */
    td_dtype dtype;
    td_tensor *x, *target, *weight; /* dense; x and weight float32 or float64, weight may be NULL */
} td_class_scores;

typedef struct td_class_sum {
    double loss, weight;
    int64_t bad; /* position of a target that is no class, or -1 */
} td_class_sum;

static inline int64_t td_class_count(const td_class_scores *s) { return s->samples * s->inner; }

/* The sums over all targets, and (where `each` is not NULL) the loss of each. `statistics`: [2,
 * ...] of cross entropy; NULL: x holds log-probabilities. IndexError for a target that is no class.
 */
td_status td_class_pick(const td_class_scores *s, const td_tensor *statistics, td_tensor *each,
                        td_class_sum *sum);
/* The factor of every target's gradient: grad (one number, or one for each) times its weight times
 * `factor`; 0 if ignored. */
td_status td_class_scales(td_tensor *out, const td_class_scores *s, const td_tensor *grad,
                          double factor);
/* at the targets */
void td_class_subtract(td_tensor *out, const td_class_scores *s, const td_tensor *scale);
/* scale NULL: write the statistics; else the gradient of all scores but for what stands at the
 * targets */
void td_class_run(const td_class_scores *s, const td_tensor *statistics, const td_tensor *scale,
                  td_tensor *out);

/* What a device with kernels of its own is asked for (TD_WORK_CLASS_LOSS). */
typedef enum td_class_work {
    TD_CLASS_STATISTICS, /* out: [2, ...] */
    TD_CLASS_PICK,       /* sum or sums, and `out` (the loss of each) if there is one */
    TD_CLASS_SCALES,     /* out, from `grad` and `factor` */
    TD_CLASS_GRADIENT    /* out, from `scale`; without `statistics` that of nll_loss */
} td_class_work;
typedef struct td_class_job {
    td_class_work what;
    const td_class_scores *s;
    td_tensor *out;
    const td_tensor *statistics, *scale, *grad;
    td_class_sum *sum;
    double factor;
    /* on devices in the place of *sum: float64, the loss (the mean if asked) and the weight; and
     * instead of `factor` the weight, by which the gradient of a mean is divided */
    td_tensor *sums;
    const td_tensor *total;
} td_class_job;

#endif
