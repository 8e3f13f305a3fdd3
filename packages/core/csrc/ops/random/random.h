/* random.h - drawing into tensors: what the random operators share. */
#ifndef TD_OPS_RANDOM_H
#define TD_OPS_RANDOM_H
#include "cpu/random/sample_run.h"
#include "runtime/op.h"

/* Fill a tensor of any layout and dtype in logical order; a complex one gets independent parts. */
td_status td_sample_tensor(td_tensor *t, td_generator *g, const td_sampling *how);
/* A new contiguous tensor of samples, of how->dtype, on the host. */
td_status td_sample_new(td_tensor **out, int ndim, const int64_t *sizes, td_generator *g,
                        const td_sampling *how);

/* RuntimeError where several elements of the target share memory. */
td_status td_random_target(const td_tensor *t, const char *name);
/* NotImplementedError unless floating (or complex, if allowed); float8 has no samplers. */
td_status td_random_floating(td_dtype dtype, bool complex_too, const char *name);

#endif
