/* index.h - what the indexing operators share: index tensors made ready, and walks over the places
 * they name. */
#ifndef TD_INDEX_H
#define TD_INDEX_H
#include "cpu/indexing.h"
#include "runtime/op.h"

/* ---- index tensors (ops/indexing/plan.c) ---- */

/* What an index out of range is called: the kind of error and the operator's name. */
typedef struct td_index_rule {
    const char *name;
    td_status kind; /* TD_INDEX_ERROR or TD_RUNTIME_ERROR */
    bool wraps;     /* negative ones count from the end */
} td_index_rule;

/* int64 and row-major: an alias of `index` if it is that already. RuntimeError for dtypes other
 * than int64 and int32. */
/* Refuses `argument`=True: it asks for a sparse gradient, and there are none yet. */
td_status td_index_dense_only(const char *name, const char *argument, bool sparse);
td_status td_index_long(td_tensor **out, const td_tensor *index, const char *name);
/* Every entry within [0, size), or [-size, size) if the rule says so. `index` is from
 * td_index_long. */
td_status td_index_check(const td_tensor *index, int64_t dim, int64_t size,
                         const td_index_rule *rule);

/* ---- places named by several index tensors, one for each of some dimensions ---- */

typedef struct td_index_plan {
    td_index_walk walk;
    int ndim;
    int64_t sizes[TD_MAX_DIMS]; /* of the result of reading */
    int64_t *memory, bytes;
} td_index_plan;

/* `indices` has an entry for every dimension of self, NULL where all places are meant. Entries are
 * int64, and broadcast together; their common shape stands where they stand, or first if they do
 * not stand side by side. */
td_status td_index_plan_make(td_index_plan *plan, const td_tensor *self, td_tensor *const *indices,
                             const td_index_rule *rule);
void td_index_plan_free(td_index_plan *plan);
/* A new row-major tensor with what stands at the places. */
td_status td_index_read(td_tensor **out, const td_tensor *self, const td_index_plan *plan);
/* Write a row-major tensor of the plan's sizes and self's dtype, in the order of the indices. */
td_status td_index_write(td_tensor *self, const td_index_plan *plan, const td_tensor *source,
                         td_put put, const char *name);

/* The number that changes nothing: where self does not take part, the places that are written begin
 * with it. */
td_scalar td_index_neutral(td_put put, td_dtype dtype);

/* ---- masks (ops/indexing/mask.c) ---- */

/* (ndim, count): for each dimension a row with the places of the true elements, in row-major order.
 */
td_status td_index_true_places(td_tensor **out, const td_tensor *mask);
/* The elements of self at the true ones of a mask of the same shape, as one dimension. */
td_status td_index_compress(td_tensor **out, const td_tensor *self, const td_tensor *mask);
td_status td_index_masked_fill(td_tensor *out, const td_tensor *self, const td_tensor *mask,
                               const td_scalar *value);

/* ---- targets ---- */

/* Where an operator that changes a copy of self writes: self itself in the in-place form, else
 * call->out[0], a new copy. */
td_status td_index_target(td_call *call, td_tensor **out);

#endif
