/* index.h - what the indexing operators share: index tensors made ready, and walks over the places
 * they name. */
#ifndef TD_INDEX_H
#define TD_INDEX_H
#include "cpu/indexing.h"
#include "runtime/device.h"
#include "runtime/op.h"

/* ---- index tensors (ops/indexing/plan.c) ---- */

/* What an index out of range is called: the kind of error and the operator's name. */
typedef struct td_index_rule {
    const char *name;
    td_status kind; /* TD_INDEX_ERROR or TD_RUNTIME_ERROR */
    bool wraps;     /* negative ones count from the end */
    bool own;       /* the operator makes the indices, from sizes alone */
} td_index_rule;

/* int64, row-major and in the host's memory, where they are checked: an alias of `index` if it is
 * that already. RuntimeError for dtypes other than int64 and int32. */
td_status td_index_long(td_tensor **out, const td_tensor *index, const char *name);
/* int64 and row-major where `self` lies: on a device its kernels check it. */
td_status td_index_beside(td_tensor **out, const td_tensor *index, const td_tensor *self,
                          const char *name);
/* Every entry within [0, size), or [-size, size) if the rule says so. `index` is from
 * td_index_long. */
td_status td_index_check(const td_tensor *index, int64_t dim, int64_t size,
                         const td_index_rule *rule);

/* ---- places named by several index tensors, one for each of some dimensions ---- */

typedef struct td_index_plan {
    td_index_walk walk;
    td_index_dims before, after; /* on devices */
    td_tensor *offsets;          /* on devices: what walk.at points to */
    int ndim;
    int64_t sizes[TD_MAX_DIMS]; /* of the result of reading */
    int64_t *memory, bytes;
} td_index_plan;

/* `indices` (the host's, or their device's) has an entry for every dimension of self, NULL where
 * all places are meant. Entries are int64, and broadcast together; their common shape stands where
 * they stand, or first if they do not stand side by side. */
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

/* (ndim, count): for each dimension a row with the places of the true elements, in row-major order;
 * in the host's memory. */
td_status td_index_true_places(td_tensor **out, const td_tensor *mask);
/* The elements of self at the true ones of a mask of the same shape, as one dimension. */
td_status td_index_compress(td_tensor **out, const td_tensor *self, const td_tensor *mask);
/* the one element of a tensor as a number */
td_status td_index_number(td_scalar *out, const td_tensor *t);
td_status td_index_masked_fill(td_tensor *out, const td_tensor *self, const td_tensor *mask,
                               const td_scalar *value);

/* ---- where the tensor lies (ops/indexing/places.c): as cpu/indexing_run.h says of the same names.
 * Indices are the host's, or their device's. ---- */

td_status td_places_take(td_tensor *out, const td_tensor *self, const td_index_walk *walk);
td_status td_places_put(td_tensor *self, const td_index_walk *walk, const td_tensor *source,
                        td_put put);
/* *inside is false if an index of the host names no place */
td_status td_places_gather(td_tensor *out, const td_tensor *at, const td_tensor *self, int64_t dim,
                           bool *inside);
td_status td_places_scatter(td_tensor *target, int64_t dim, const td_tensor *index,
                            const td_tensor *src, td_put put);
td_status td_places_combine(td_tensor *target, const td_tensor *source, td_put put, double cost);
/* single elements of a tensor on a device at byte offsets, which lie in the host's memory */
td_status td_places_put_at(td_tensor *target, const td_tensor *offsets, const td_tensor *source,
                           td_put put, const char *what);
td_status td_places_fill(td_tensor *out, const td_tensor *self, const td_tensor *mask,
                         const td_scalar *value);
td_status td_places_take_row(td_tensor *out, const td_tensor *at, const td_tensor *row);
td_status td_places_put_row(td_tensor *row, const td_tensor *at, const td_tensor *values,
                            td_put put);
/* the places of the true elements of a row-major mask of the host, as one row of its memory */
td_status td_places_of_row(td_tensor **out, const td_tensor *bytes);
/* the elements of a row-major tensor where a row-major mask of its shape is true; not the host's */
td_status td_places_compress(td_tensor **out, const td_tensor *dense, const td_tensor *mask);
td_status td_places_place(td_tensor *out, const td_tensor *mask, const td_tensor *source);

/* ---- float16 and bfloat16 (ops/indexing/sums.c) ---- */

/* Sums and products in float32, rounded once: the two functions above come here by themselves. */
td_status td_sums_put(td_tensor *self, const td_index_walk *walk, const td_tensor *source,
                      td_put put);
td_status td_sums_scatter(td_tensor *target, int64_t dim, const td_tensor *index,
                          const td_tensor *src, td_put put);
/* An operator that computes with its sums before they are rounded: `op` once more, with self and
 * argument number `source` (0: self alone) in float32, its result rounded to where it belongs. */
td_status td_sums_in_float(td_call *call, int source, td_impl op);
bool td_is_half(const td_tensor *t);

/* ---- targets ---- */

/* Where an operator that changes a copy of self writes: self itself in the in-place form, else
 * call->out[0], a new copy. In place, the index may not share memory with self: RuntimeError. Where
 * that is not clear, and of a source that does, the operator reads a copy. */
td_status td_index_target(td_call *call, td_tensor **out);
/* `t` itself, or a copy where self is written in place and may share memory with it */
td_status td_index_own(td_tensor **out, const td_call *call, const td_tensor *t);

#endif
