/* reduce_plan.h - how a reduction is cut into blocks: by its shape and strides only, so that every
 * device and any number of threads adds in the same order. */
#ifndef TD_REDUCE_PLAN_H
#define TD_REDUCE_PLAN_H
#include "cpu/reduction/reduce.h"

#define TD_COLUMN_STRIP 1024 /* outputs of a block whose outputs are neighbours in memory */

typedef struct td_axis {
    int64_t size, x, out; /* strides: bytes of x, elements of the results */
} td_axis;

typedef struct td_reduce_plan {
    td_reduction kind;
    td_dtype dtype; /* of x */
    const td_reducer *reducer;
    const td_reduce_context *context;
    const char *x;
    char *out[2];
    int64_t numel;
    int64_t out_size[2]; /* bytes of an element */
    int kept, reduced;   /* outer dimensions only */
    td_axis keep[TD_MAX_DIMS], reduce[TD_MAX_DIMS];
    td_axis m, n; /* the inner ones */
    int64_t strip, strips, piece, pieces, chunks, outer_kept, outer_reduced;
} td_reduce_plan;

static inline int64_t td_ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/* The reducer of a kind for a dtype, of size 0 if there is none. */
const td_reducer *td_find_reducer(td_reduction kind, td_dtype dtype);
/* Plan, and let the device of x run: into dense row-major tensors (either may be NULL) of the shape
 * that is left. */
td_status td_reduce_run(td_reduction kind, const td_reduce_context *context, const td_tensor *x,
                        uint64_t dims, td_tensor *const out[2]);
td_status td_cpu_reduce(const td_reduce_plan *plan); /* cpu/reduction/reduce_run.c */

#endif
