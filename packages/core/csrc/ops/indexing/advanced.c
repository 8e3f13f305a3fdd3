/* advanced.c - self[indices] and self[indices] = values, where indices are integer tensors, masks
 * or absent. */
#include <string.h>
#include "ops/indexing/index.h"
#include "ops/view/view.h"

#define SELF TD_TENSOR(0)
#define OUT (&call->out[0])

static const td_index_rule rule = {"index", TD_INDEX_ERROR, true, false};

/* Indices as a plan wants them: one int64 tensor or NULL for each dimension of `self`, all owned.
 */
typedef struct prepared {
    td_tensor *self;
    td_tensor *at[TD_MAX_DIMS];
} prepared;

static void drop(prepared *p)
{
    td_tensor_free(p->self);
    for (int d = 0; d < TD_MAX_DIMS; d++) td_tensor_free(p->at[d]);
}

static bool is_mask(const td_tensor *t) { return t->dtype == TD_BOOL || t->dtype == TD_U8; }

static int dims_taken(const td_tensor *t) { return t && is_mask(t) ? t->ndim : 1; }

static td_status check_mask_shape(const td_tensor *self, const td_tensor *mask, int dim)
{
    char a[TD_SHAPE_TEXT], b[TD_SHAPE_TEXT];
    for (int d = 0; d < mask->ndim; d++)
        if (mask->sizes[d] != self->sizes[dim + d])
            return td_fail(TD_INDEX_ERROR,
                           "The shape of the mask %s at index %d does not match the shape of the "
                           "indexed tensor %s at index %d",
                           td_shape_text(mask->ndim, mask->sizes, a), d,
                           td_shape_text(self->ndim, self->sizes, b), dim + d);
    return TD_OK;
}

/* A mask over several dimensions is as many index tensors: the places of its true elements. */
static td_status put_mask(prepared *p, const td_tensor *mask, int dim)
{
    td_tensor *rows;
    TD_TRY(check_mask_shape(p->self, mask, dim));
    TD_TRY(td_index_true_places(&rows, mask));
    td_status status = TD_OK;
    for (int d = 0; d < mask->ndim && status == TD_OK; d++)
        status = td_view_select(&p->at[dim + d], rows, 0, d);
    td_tensor_free(rows);
    return status;
}

/* A single truth value adds a dimension: of size 1 if it is true, else of size 0. */
static td_status put_truth(prepared *p, const td_tensor *truth, int dim)
{
    td_tensor *wider;
    if (td_is_meta(truth))
        return td_fail(TD_NOT_IMPLEMENTED,
                       "index: the value of a mask is unknown on the meta device");
    TD_TRY(td_view_unsqueeze(&wider, p->self, dim));
    td_tensor_free(p->self);
    p->self = wider;
    td_scalar value, zero = td_scalar_int(0);
    TD_TRY(td_index_number(&value, truth));
    int64_t count = value.i != 0;
    TD_TRY(td_tensor_empty(&p->at[dim], TD_I64, TD_CPU, 1, &count));
    return td_fill(p->at[dim], &zero);
}

static td_status put_integers(prepared *p, const td_tensor *index, int dim)
{
    if (index->dtype != TD_I64 && index->dtype != TD_I32)
        return td_fail(TD_INDEX_ERROR,
                       "tensors used as indices must be long, int, byte or bool tensors, got %s",
                       td_dtypes[index->dtype].name);
    return td_index_beside(&p->at[dim], index, p->self, "index");
}

static td_status check_count(const td_tensor *self, int64_t n, td_tensor *const *indices)
{
    int64_t taken = 0;
    char shape[TD_SHAPE_TEXT];
    for (int64_t i = 0; i < n; i++) taken += dims_taken(indices[i]);
    if (taken <= self->ndim) return TD_OK;
    return td_fail(TD_INDEX_ERROR,
                   "too many indices for tensor of dimension %d (shape %s): got %lld", self->ndim,
                   td_shape_text(self->ndim, self->sizes, shape), (long long)taken);
}

static td_status prepare(prepared *p, const td_tensor *self, int64_t n, td_tensor *const *indices)
{
    int dim = 0;
    memset(p, 0, sizeof *p);
    TD_TRY(check_count(self, n, indices));
    td_status status = td_tensor_alias(&p->self, self);
    for (int64_t i = 0; i < n && status == TD_OK; i++) {
        const td_tensor *t = indices[i];
        if (t && is_mask(t)) status = t->ndim ? put_mask(p, t, dim) : put_truth(p, t, dim);
        else if (t) status = put_integers(p, t, dim);
        dim += t && is_mask(t) && t->ndim ? t->ndim : 1;
    }
    if (status != TD_OK) drop(p);
    return status;
}

/* One mask of self's whole shape, where self is: no list of places is needed. */
static const td_tensor *whole_mask(const td_tensor *self, int64_t n, td_tensor *const *indices)
{
    if (n != 1 || !indices[0] || indices[0]->dtype != TD_BOOL || !indices[0]->ndim ||
        td_is_meta(self) || indices[0]->device != self->device)
        return NULL;
    return td_same_shape(self, indices[0]) ? indices[0] : NULL;
}

td_status td_op_index(td_call *call)
{
    prepared p;
    td_index_plan plan;
    const td_tensor *mask = whole_mask(SELF, TD_LEN(1), call->args[1].tensors);
    if (mask) return td_index_compress(OUT, SELF, mask);
    TD_TRY(prepare(&p, SELF, TD_LEN(1), call->args[1].tensors));
    td_status status = td_index_plan_make(&plan, p.self, p.at, &rule);
    if (status == TD_OK) {
        status = td_index_read(OUT, p.self, &plan);
        td_index_plan_free(&plan);
    }
    drop(&p);
    return status;
}

/* ---- writing ---- */

static td_status spread_values(td_tensor **out, const td_tensor *values, const td_index_plan *plan,
                               bool copy)
{
    td_tensor *wide;
    char a[TD_SHAPE_TEXT], b[TD_SHAPE_TEXT];
    int64_t sizes[TD_MAX_DIMS];
    int skip = 0, n;
    /* leading ones are no dimensions */
    while (values->ndim - skip > plan->ndim && values->sizes[skip] == 1) skip++;
    n = values->ndim - skip;
    memcpy(sizes, values->sizes + skip, (size_t)n * sizeof *sizes);
    TD_TRY(td_tensor_view(&wide, values, n, sizes, values->strides + skip, values->offset));
    td_tensor *spread;
    td_status status = td_view_expand(&spread, wide, plan->ndim, plan->sizes);
    td_tensor_free(wide);
    if (status != TD_OK && status != TD_RUNTIME_ERROR) return status;
    if (status == TD_RUNTIME_ERROR)
        return td_fail(TD_RUNTIME_ERROR,
                       "shape mismatch: value tensor of shape %s cannot be broadcast to indexing "
                       "result of shape %s",
                       td_shape_text(values->ndim, values->sizes, a),
                       td_shape_text(plan->ndim, plan->sizes, b));
    if (copy) {
        status = td_tensor_empty(out, (td_dtype)values->dtype, (td_device)values->device,
                                 plan->ndim, plan->sizes);
        if (status == TD_OK) status = td_copy(*out, spread);
    } else {
        status = td_contiguous(out, spread);
    }
    td_tensor_free(spread);
    return status;
}

static td_status put(td_tensor *target, int64_t n, td_tensor *const *indices,
                     const td_tensor *values, bool accumulate)
{
    prepared p;
    td_index_plan plan;
    td_tensor *dense = NULL;
    TD_TRY(prepare(&p, target, n, indices));
    td_status status = td_index_plan_make(&plan, p.self, p.at, &rule);
    if (status == TD_OK) {
        status = spread_values(&dense, values, &plan,
                               !td_is_meta(target) && td_may_overlap(target, values));
        if (status == TD_OK)
            status = td_index_write(p.self, &plan, dense, accumulate ? TD_PUT_ADD : TD_PUT_COPY,
                                    "index_put_");
        td_tensor_free(dense);
        td_index_plan_free(&plan);
    }
    drop(&p);
    return status;
}

/* index_put_(self!, indices, values, accumulate) */
td_status td_op_index_put_(td_call *call)
{
    const td_tensor *values = TD_TENSOR(2);
    td_tensor *const *indices = call->args[1].tensors;
    if (values->dtype != SELF->dtype)
        return td_fail(TD_RUNTIME_ERROR,
                       "Index put requires the source and destination dtypes match, got %s for the "
                       "destination and %s for the source.",
                       td_dtypes[SELF->dtype].name, td_dtypes[values->dtype].name);
    call->out[0] = SELF;
    bool spread = td_has_zero_stride(SELF);
    if (spread && (values->numel != 1 || TD_BOOLEAN(3))) return td_fail_overlap_within();
    const td_tensor *mask = spread ? NULL : whole_mask(SELF, TD_LEN(1), indices);
    /* what reads the mask while it writes would read what it has written */
    td_overlap how = mask ? td_overlap_of(SELF, mask) : TD_APART;
    if (how != TD_APART && how != TD_IDENTICAL) mask = NULL;
    if (mask && values->numel == 1 && values->ndim <= 1 && !TD_BOOLEAN(3)) {
        td_scalar number;
        TD_TRY(td_index_number(&number, values));
        return td_index_masked_fill(SELF, SELF, mask, &number);
    }
    return put(SELF, TD_LEN(1), indices, values, TD_BOOLEAN(3));
}

/* index_put: the same on a copy */
td_status td_op_index_put(td_call *call)
{
    td_tensor *self = SELF, *copy;
    TD_TRY(td_index_target(call, &copy));
    call->args[0].tensor = copy;
    td_status status = td_op_index_put_(call);
    call->args[0].tensor = self;
    return status;
}
