/* reduce.h - reductions of whole tensors: any strides, any set of dimensions. */
#ifndef TD_REDUCE_H
#define TD_REDUCE_H
#include "cpu/reduction/reduce_plan.h"
#include "runtime/op.h"

/* One reduction as an operator asks for it. */
typedef struct td_reduce_spec {
    const char *op; /* for messages */
    td_reduction kind;
    td_reduce_context context;
    uint64_t dims; /* a bit for each dimension that goes away */
    bool keepdim;
    bool has_empty; /* over no elements at all the result is `empty`, otherwise that is an error of
                       the caller's */
    double empty;
    td_dtype dtype[2]; /* of the results */
} td_reduce_spec;

/* Run it: out[k] becomes a new tensor for every k that `wanted` (bits 0 and 1) names. On failure
 * none is left behind. */
td_status td_reduce(td_tensor *out[2], int wanted, const td_tensor *x, const td_reduce_spec *spec);

/* All dimensions of x as a mask, and the mask of an optional list (absent: all; empty: all if
 * empty_is_all). */
uint64_t td_all_dims(const td_tensor *x);
td_status td_reduce_dims(const td_arg *arg, const td_tensor *x, bool empty_is_all, uint64_t *out);
/* The shape left by a reduction; returns its rank. */
int td_reduced_shape(const td_tensor *x, uint64_t dims, bool keepdim, int64_t sizes[TD_MAX_DIMS]);
/* How many elements of x go into one result. */
int64_t td_reduced_count(const td_tensor *x, uint64_t dims);

#endif
