/* optim.h - lists of tensors as one flat index space, for operators that work on many tensors in
 * one call. */
#ifndef TD_OPS_OPTIM_H
#define TD_OPS_OPTIM_H
#include "cpu/optim_run.h"
#include "runtime/op.h"

/* The i-th tensors of all lists belong together: one shape, one dtype (floating, not float8), one
 * device for all. Entries of `lists` may be NULL for a list that is not there. RuntimeError tells
 * which tensor does not fit. */
td_status td_flat_begin(td_flat *f, const char *name, int nlists, td_tensor **const *lists,
                        int64_t count);
/* one list, which nobody writes */
td_status td_flat_begin_reading(td_flat *f, const char *name, td_tensor **list, int64_t count);
/* Free it; when `write` is set, stand-ins are copied back to what they stand for. */
td_status td_flat_end(td_flat *f, bool write);

/* The work on the tensors' device: the processor, or by the device's kernels. */
td_status td_flat_work_on(const td_flat *f, td_flat_work work, const void *params);
td_status td_flat_sums_on(const td_flat *f, double p, double *partial);

#endif
