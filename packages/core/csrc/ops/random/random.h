/* random.h - drawing into tensors: what the random operators share. */
#ifndef TD_OPS_RANDOM_H
#define TD_OPS_RANDOM_H
#include "cpu/random/random.h"
#include "runtime/op.h"

/* How samples are made: by a kernel that fills groups of 64 or 32 elements of `dtype`, at about `cost` ns each. */
typedef struct td_sampling {
    td_sampler sampler;
    const void *params;
    td_dtype dtype;
    int per_group;
    double cost;
} td_sampling;

/* Fill n contiguous elements at `data`, in parallel; the generator moves on by whole groups. */
void td_sample_run(void *data, int64_t n, td_generator *g, const td_sampling *how);
/* Fill a tensor of any layout and dtype in logical order; a complex one gets independent parts. */
td_status td_sample_tensor(td_tensor *t, td_generator *g, const td_sampling *how);
/* A new contiguous tensor of samples, of how->dtype. */
td_status td_sample_new(td_tensor **out, int ndim, const int64_t *sizes, td_generator *g, const td_sampling *how);

/* RuntimeError where several elements of the target share memory. */
td_status td_random_target(const td_tensor *t, const char *name);
/* NotImplementedError unless floating (or complex, if allowed); float8 has no samplers. */
td_status td_random_floating(td_dtype dtype, bool complex_too, const char *name);

#endif
