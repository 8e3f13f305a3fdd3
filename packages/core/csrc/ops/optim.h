/* optim.h - lists of tensors as one flat index space, for operators that work on many tensors in one call. */
#ifndef TD_OPS_OPTIM_H
#define TD_OPS_OPTIM_H
#include "cpu/optim.h"
#include "runtime/op.h"

/* Elements of a chunk; fixed, so that sums over chunks do not depend on the number of threads. */
#define TD_CHUNK 8192

typedef struct td_flat {
    td_slice *slices;
    int64_t *first;   /* first[i]: number of the first chunk of slice i; first[count]: of all chunks */
    td_tensor **temps; /* [count * nlists]: row-major stand-ins of tensors whose memory does not fit the others' */
    td_tensor **lists[5];
    int64_t count, bytes;
    int nlists;
    bool only_read;   /* then elements may share memory */
} td_flat;

/* The i-th tensors of all lists belong together: one shape, one dtype (floating, not float8), on the cpu. Entries of
 * `lists` may be NULL for a list that is not there. RuntimeError tells which tensor does not fit. */
td_status td_flat_begin(td_flat *f, const char *name, int nlists, td_tensor **const *lists, int64_t count);
td_status td_flat_begin_reading(td_flat *f, const char *name, td_tensor **list, int64_t count); /* one list, which nobody writes */
/* kernels[kind of the slice's dtype] on every chunk, in parallel; about `cost` ns per element. */
void td_flat_run(const td_flat *f, const td_slice_kernel *kernels, const void *params, double cost);
/* Free it; when `write` is set, stand-ins are copied back to what they stand for. */
td_status td_flat_end(td_flat *f, bool write);

/* The kind of a dtype in the kernels' tables, or -1. */
int td_optim_kind(td_dtype d);

#endif
