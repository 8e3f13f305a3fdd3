/* passes.h - the passes of normalisation on the device of their tensors: the processor's
 * (cpu/norm), or by the device's kernels. */
#ifndef TD_NORM_PASSES_H
#define TD_NORM_PASSES_H
#include "cpu/norm/norm_job.h"

td_status td_pass_rows(const td_norm_forward *p, td_device device);
td_status td_pass_rows_backward(const td_norm_backward *p, td_tensor *dweight, td_tensor *dbias,
                                td_device device);
td_status td_pass_scale(td_tensor *out, const td_tensor *x, const td_tensor *numbers,
                        const td_channels *shape);
td_status td_pass_mix(td_tensor *out, const td_tensor *grad, const td_tensor *x,
                      const td_tensor *numbers, const td_channels *shape);
/* sums and mean lie where x does */
td_status td_pass_sums(double *sums, const td_tensor *grad, const td_tensor *x,
                       const td_tensor *mean, const td_channels *shape, bool together);
/* out[0] standard deviation, out[1] mean, of x's dtype */
td_status td_pass_moments(td_tensor *out[2], const td_tensor *x, const td_channels *shape);

/* Numbers: `of` and `sums` of `job` lie on `device`. */
td_status td_pass_numbers(enum td_number_kind kind, const struct td_norm_numbers *job,
                          td_device device);
/* Name an array of numbers; NULL stays NULL. */
static inline void td_numbers_name(struct td_norm_numbers *job, int what, const td_tensor *t)
{
    if (!t) return;
    job->of[what] = td_data(t);
    job->wide |= (int64_t)(t->dtype == TD_F64) << what;
}
/* 2 * n doubles on the device of `like` */
td_status td_new_sums(td_tensor **out, int64_t n, const td_tensor *like);

#endif
