/* dim.c - gather and the scatter family: along one dimension, every element has an index of its
 * own. */
#include "cpu/indexing_run.h"
#include "ops/creation.h"
#include "ops/indexing/index.h"
#include "ops/view/view.h"
#include <math.h>
#include <string.h>

#define SELF TD_TENSOR(0)
#define OUT (&call->out[0])

/* ---- checks: 0-dim tensors count as 1-dim ones of size 1 ---- */

static int64_t size_of(const td_tensor *t, int64_t d) { return t->ndim ? t->sizes[d] : 1; }
static int rank_of(const td_tensor *t) { return t->ndim ? t->ndim : 1; }

static td_status check_shapes(const char *name, const td_tensor *self, int64_t dim,
                              const td_tensor *index, const td_tensor *src)
{
    char a[TD_SHAPE_TEXT], b[TD_SHAPE_TEXT], c[TD_SHAPE_TEXT] = "a number";
    bool fits = true;
    if (index->numel == 0) return TD_OK; /* nothing is read or written */
    if (rank_of(index) != rank_of(self) || (src && rank_of(src) != rank_of(self)))
        return td_fail(TD_RUNTIME_ERROR,
                       "%s(): Index tensor and source must have the same number of dimensions as "
                       "input tensor: input %s, index %s",
                       name, td_shape_text(self->ndim, self->sizes, a),
                       td_shape_text(index->ndim, index->sizes, b));
    for (int d = 0; d < rank_of(self); d++) {
        fits &= d == dim || size_of(index, d) <= size_of(self, d);
        fits &= !src || size_of(index, d) <= size_of(src, d);
    }
    if (fits) return TD_OK;
    if (src) td_shape_text(src->ndim, src->sizes, c);
    return td_fail(TD_RUNTIME_ERROR,
                   "%s(): Expected index %s to be no larger than self %s apart from dimension %lld "
                   "and no larger than src %s",
                   name, td_shape_text(index->ndim, index->sizes, b),
                   td_shape_text(self->ndim, self->sizes, a), (long long)dim, c);
}

static td_status wide_index(td_tensor **out, const char *name, const td_tensor *index,
                            const td_tensor *self)
{
    td_tensor *small;
    int64_t sizes[TD_MAX_DIMS];
    for (int d = 0; d < index->ndim; d++)
        sizes[d] = index->strides[d] == 0 && index->sizes[d] > 1 ? 1 : index->sizes[d];
    TD_TRY(td_tensor_view(&small, index, index->ndim, sizes, index->strides, index->offset));
    td_status status = td_index_beside(out, small, self, name);
    td_tensor_free(small);
    return status;
}

/* int64, in range unless `unchecked`, or on a device, whose kernels look at it. An expanded index
 * is converted and checked once, then expanded again. */
static td_status ready_index(td_tensor **out, const char *name, const td_tensor *index,
                             const td_tensor *self, int64_t dim, bool unchecked)
{
    int64_t size = size_of(self, dim);
    const td_index_rule rule = {name, TD_RUNTIME_ERROR, false, false};
    td_tensor *dense;
    /* of any dtype */
    if (index->numel == 0)
        return td_tensor_empty(out, TD_I64, td_is_meta(index) ? TD_META : TD_CPU, index->ndim,
                               index->sizes);
    TD_TRY(wide_index(&dense, name, index, self));
    td_status status = unchecked || !(td_on_host(dense) || td_is_meta(dense))
                           ? TD_OK
                           : td_index_check(dense, dim, size, &rule);
    if (status == TD_OK) status = td_view_expand(out, dense, index->ndim, index->sizes);
    td_tensor_free(dense);
    return status;
}

td_status td_op_gather(td_call *call)
{
    const td_tensor *index = TD_TENSOR(2);
    td_tensor *at, *checked;
    int64_t dim;
    TD_TRY(td_wrap_dim(TD_INT(1), SELF->ndim, &dim));
    TD_TRY(check_shapes("gather", SELF, dim, index, NULL));
    TD_TRY(ready_index(&at, "gather", index, SELF, dim, true));
    td_status status = td_tensor_empty(OUT, (td_dtype)SELF->dtype, (td_device)SELF->device,
                                       index->ndim, index->sizes);
    bool inside = true;
    if (status == TD_OK && at->numel && !td_is_meta(SELF))
        status = td_places_gather(call->out[0], at, SELF, dim, &inside);
    if (status == TD_OK && !inside) {
        status =
            ready_index(&checked, "gather", index, SELF, dim, false); /* it words the refusal */
        if (status == TD_OK) {
            td_tensor_free(checked);
            status = td_index_changed();
        }
    }
    td_tensor_free(at);
    return status;
}

/* ---- scatter ---- */

/* target[..., index, ...] op= src; index is ready; src may be larger than it, or a 0-dim number for
 * all. */
static td_status scatter_into(td_tensor *target, int64_t dim, const td_tensor *index,
                              const td_tensor *src, td_put put, const char *name)
{
    if (!td_index_can_scatter(put, (td_dtype)target->dtype))
        return td_fail(TD_NOT_IMPLEMENTED, "\"%s\" not implemented for '%s'", name,
                       td_dtypes[target->dtype].type_name);
    if (index->numel == 0 || td_is_meta(target)) return TD_OK;
    return td_places_scatter(target, dim, index, src, put);
}

/* ---- operators ---- */

typedef struct prepared {
    td_tensor *target, *index, *src; /* index and src are owned */
    int64_t dim;
} prepared;

static void drop(prepared *p)
{
    td_tensor_free(p->index);
    td_tensor_free(p->src);
}

/* the index, ready, and apart from what is written */
static td_status own_index(prepared *p, const td_call *call, const char *name)
{
    const td_tensor *index = TD_TENSOR(2);
    if (call->out[0] != SELF || !td_may_overlap(SELF, index))
        return ready_index(&p->index, name, index, SELF, p->dim, false);
    td_tensor *own;
    TD_TRY(td_index_own(&own, call, index));
    td_status status = ready_index(&p->index, name, own, SELF, p->dim, false);
    td_tensor_free(own);
    return status;
}

static td_status prepare(prepared *p, td_call *call, const char *name, const td_tensor *src)
{
    *p = (prepared){0};
    TD_TRY(td_wrap_dim(TD_INT(1), SELF->ndim, &p->dim));
    if (src && src->dtype != SELF->dtype)
        return td_fail(TD_RUNTIME_ERROR,
                       "%s(): Expected self.dtype to be equal to src.dtype, got %s and %s", name,
                       td_dtypes[SELF->dtype].name, td_dtypes[src->dtype].name);
    TD_TRY(check_shapes(name, SELF, p->dim, TD_TENSOR(2), src));
    td_status status = own_index(p, call, name);
    if (status == TD_OK && src) status = td_index_own(&p->src, call, src);
    if (status == TD_OK) status = td_index_target(call, &p->target);
    if (status != TD_OK) drop(p);
    return status;
}

static td_status scatter(td_call *call, const char *name, td_put put)
{
    prepared p;
    TD_TRY(prepare(&p, call, name, TD_TENSOR(3)));
    td_status status = scatter_into(p.target, p.dim, p.index, p.src, put, name);
    drop(&p);
    return status;
}

static td_status scatter_value(td_call *call, td_put put)
{
    prepared p;
    TD_TRY(td_check_fits(&TD_SCALAR(3), (td_dtype)SELF->dtype));
    TD_TRY(prepare(&p, call, "scatter", NULL));
    td_status status = td_tensor_from_scalar(&p.src, &TD_SCALAR(3), (td_dtype)SELF->dtype);
    if (status == TD_OK) status = scatter_into(p.target, p.dim, p.index, p.src, put, "scatter");
    drop(&p);
    return status;
}

static td_status two_reductions(const char *reduce, td_put *put)
{
    *put = strcmp(reduce, "add") == 0 ? TD_PUT_ADD : TD_PUT_MUL;
    if (*put == TD_PUT_ADD || strcmp(reduce, "multiply") == 0) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "scatter: reduce argument must be either add or multiply, got %s", reduce);
}

td_status td_op_scatter(td_call *call) { return scatter(call, "scatter", TD_PUT_COPY); }
td_status td_op_scatter_add(td_call *call) { return scatter(call, "scatter_add", TD_PUT_ADD); }
td_status td_op_scatter_value(td_call *call) { return scatter_value(call, TD_PUT_COPY); }

td_status td_op_scatter_reduced(td_call *call)
{
    td_put put;
    TD_TRY(two_reductions(call->args[4].str, &put));
    return scatter(call, "scatter", put);
}

td_status td_op_scatter_value_reduced(td_call *call)
{
    td_put put;
    TD_TRY(two_reductions(call->args[4].str, &put));
    return scatter_value(call, put);
}

/* ---- scatter_reduce(self, dim, index, src, reduce, *, include_self) ---- */

td_scalar td_index_neutral(td_put put, td_dtype dtype)
{
    if (put == TD_PUT_ADD || put == TD_PUT_MUL) return td_scalar_int(put == TD_PUT_MUL);
    double sign = put == TD_PUT_MAX ? -1 : 1;
    if (!td_is_integral(dtype)) return td_scalar_float(sign * INFINITY);
    if (dtype == TD_BOOL) return td_scalar_bool(put == TD_PUT_MIN);
    int bits = 8 * (int)td_itemsize(dtype) - td_dtypes[dtype].is_signed;
    int64_t high = bits == 64 ? -1 : (int64_t)(((uint64_t)1 << bits) - 1);
    return td_scalar_int(put == TD_PUT_MIN ? high : td_dtypes[dtype].is_signed ? -high - 1 : 0);
}

static td_status scatter_number(const prepared *p, td_tensor *target, td_scalar number, td_put put)
{
    td_tensor *value;
    TD_TRY(td_tensor_from_scalar(&value, &number, (td_dtype)target->dtype));
    td_status status = scatter_into(target, p->dim, p->index, value, put, "scatter_reduce");
    td_tensor_free(value);
    return status;
}

/* Divide every place by how many numbers were added there; places without any by 1. */
static td_status divide_by_counts(const prepared *p, bool include_self)
{
    td_tensor *counts;
    td_scalar start = td_scalar_int(include_self), one = td_scalar_int(1);
    td_dtype dtype = (td_dtype)p->target->dtype;
    td_tensor *unit;
    if (!td_index_can_put(TD_PUT_DIV, dtype) || !td_index_can_put(TD_PUT_MAX, dtype))
        return td_fail(TD_NOT_IMPLEMENTED, "\"scatter_reduce mean\" not implemented for '%s'",
                       td_dtypes[p->target->dtype].type_name);
    if (td_is_meta(p->target)) return TD_OK;
    TD_TRY(td_tensor_empty_like(&counts, p->target, (td_dtype)p->target->dtype));
    td_status status = td_fill(counts, &start);
    if (status == TD_OK) status = scatter_number(p, counts, one, TD_PUT_ADD);
    if (status == TD_OK) status = td_tensor_from_scalar(&unit, &one, (td_dtype)counts->dtype);
    if (status == TD_OK) {
        status = td_places_combine(counts, unit, TD_PUT_MAX, 1);
        if (status == TD_OK) status = td_places_combine(p->target, counts, TD_PUT_DIV, 1);
        td_tensor_free(unit);
    }
    td_tensor_free(counts);
    return status;
}

static td_status reduction_of(const char *reduce, td_put *put)
{
    static const struct {
        const char *name;
        td_put put;
    } known[] = {{"sum", TD_PUT_ADD},
                 {"prod", TD_PUT_MUL},
                 {"mean", TD_PUT_ADD},
                 {"amax", TD_PUT_MAX},
                 {"amin", TD_PUT_MIN}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(reduce, known[i].name) == 0) return *put = known[i].put, TD_OK;
    return td_fail(
        TD_RUNTIME_ERROR,
        "scatter_reduce: reduce argument must be either sum, prod, mean, amax or amin, got %s",
        reduce);
}

td_status td_op_scatter_reduce(td_call *call)
{
    const char *reduce = call->args[4].str;
    bool include_self = TD_BOOLEAN(5);
    td_put put = TD_PUT_ADD;
    prepared p;
    TD_TRY(reduction_of(reduce, &put));
    if (td_is_half(SELF) && td_is_half(TD_TENSOR(3)) && strcmp(reduce, "mean") == 0)
        return td_sums_in_float(call, 3, td_op_scatter_reduce);
    TD_TRY(prepare(&p, call, "scatter_reduce", TD_TENSOR(3)));
    td_status status =
        include_self ? TD_OK
                     : scatter_number(&p, p.target, td_index_neutral(put, (td_dtype)SELF->dtype),
                                      TD_PUT_COPY);
    if (status == TD_OK)
        status = scatter_into(p.target, p.dim, p.index, p.src, put, "scatter_reduce");
    if (status == TD_OK && strcmp(reduce, "mean") == 0) status = divide_by_counts(&p, include_self);
    drop(&p);
    return status;
}

/* ---- take and put: the tensor as one row ---- */

/* Indices of a row: int64 only, negative ones from the end; *out is row-major with all of them in
 * [0, size). */
static td_status row_index(td_tensor **out, const td_tensor *index, int64_t size, const char *name)
{
    const td_index_rule rule = {name, TD_INDEX_ERROR, true, false};
    td_tensor *dense;
    TD_TRY(td_is_meta(index) ? td_contiguous(&dense, index) : td_to_host(&dense, index));
    td_status status =
        td_tensor_empty(out, TD_I64, (td_device)dense->device, index->ndim, index->sizes);
    if (status == TD_OK && !td_is_meta(index) && !td_index_wrap(*out, dense, size)) {
        td_tensor_free(*out);
        status = td_index_check(dense, 0, size, &rule); /* it words the refusal */
        if (status == TD_OK) status = td_index_changed();
    }
    td_tensor_free(dense);
    return status;
}

static td_status check_long(const td_tensor *index, const char *name)
{
    if (index->dtype == TD_I64) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR, "%s(): Expected a long tensor for index, but got %s", name,
                   td_dtypes[index->dtype].name);
}

/* On a device the row is indexed by its kernels, which look at the indices: nothing waits. */
typedef struct row_there {
    td_tensor *dense, *line;
    td_index_plan plan;
} row_there;

static void drop_row(row_there *r)
{
    td_index_plan_free(&r->plan);
    td_tensor_free(r->line);
    td_tensor_free(r->dense);
}

static td_status row_on_device(row_there *r, const td_tensor *t, const td_tensor *index,
                               const char *name)
{
    const td_index_rule rule = {name, TD_INDEX_ERROR, true, false};
    td_tensor *at = NULL;
    *r = (row_there){0};
    td_status status = td_contiguous(&r->dense, t);
    if (status == TD_OK) status = td_view_sizes(&r->line, r->dense, 1, &t->numel);
    if (status == TD_OK) status = td_index_beside(&at, index, t, name);
    if (status == TD_OK) status = td_index_plan_make(&r->plan, r->line, &at, &rule);
    td_tensor_free(at);
    if (status != TD_OK) drop_row(r);
    return status;
}

static td_status take_on_device(td_call *call)
{
    row_there r;
    TD_TRY(row_on_device(&r, SELF, TD_TENSOR(1), "take"));
    td_status status = td_index_read(OUT, r.line, &r.plan);
    drop_row(&r);
    return status;
}

td_status td_op_take(td_call *call)
{
    td_tensor *at, *row;
    const td_tensor *index = TD_TENSOR(1);
    TD_TRY(check_long(index, "take"));
    if (!td_on_host(SELF) && !td_is_meta(SELF)) return take_on_device(call);
    TD_TRY(row_index(&at, index, SELF->numel, "take"));
    td_status status = td_contiguous(&row, SELF);
    if (status == TD_OK) {
        status = td_tensor_empty(OUT, (td_dtype)SELF->dtype, (td_device)SELF->device, index->ndim,
                                 index->sizes);
        if (status == TD_OK && at->numel && !td_is_meta(SELF))
            status = td_places_take_row(call->out[0], at, row);
        td_tensor_free(row);
    }
    td_tensor_free(at);
    return status;
}

static td_status put_row(td_tensor *target, const td_tensor *at, const td_tensor *source,
                         td_put put)
{
    td_tensor *row, *values, *flat;
    int64_t all = at->numel;
    TD_TRY(td_contiguous(&row, target));
    td_status status = td_contiguous(&values, source);
    if (status == TD_OK) {
        status = td_view_sizes(&flat, at, 1, &all);
        if (status == TD_OK) {
            if (td_index_can_scatter(put, (td_dtype)target->dtype))
                status = td_places_put_row(row, flat, values, put);
            else
                status = td_fail(TD_NOT_IMPLEMENTED, "\"put_\" not implemented for '%s'",
                                 td_dtypes[target->dtype].type_name);
            td_tensor_free(flat);
        }
        td_tensor_free(values);
    }
    /* nothing to do if the target is row-major */
    if (status == TD_OK) status = td_copy(target, row);
    td_tensor_free(row);
    return status;
}

static td_status put_on_device(td_tensor *target, const td_tensor *index, const td_tensor *source,
                               td_put put)
{
    row_there r;
    td_tensor *values = NULL, *shaped = NULL;
    TD_TRY(row_on_device(&r, target, index, "put_"));
    td_status status = td_contiguous(&values, source);
    if (status == TD_OK) status = td_view_sizes(&shaped, values, r.plan.ndim, r.plan.sizes);
    if (status == TD_OK) status = td_index_write(r.line, &r.plan, shaped, put, "put_");
    if (status == TD_OK) status = td_copy(target, r.dense); /* nothing, if that is the target */
    td_tensor_free(shaped);
    td_tensor_free(values);
    drop_row(&r);
    return status;
}

static td_status put_at(td_tensor *target, const td_tensor *index, const td_tensor *values,
                        td_put put)
{
    td_tensor *at;
    if (!td_on_host(target) && !td_is_meta(target))
        return index->numel ? put_on_device(target, index, values, put) : TD_OK;
    TD_TRY(row_index(&at, index, target->numel, "put_"));
    td_status status = at->numel && !td_is_meta(target) ? put_row(target, at, values, put) : TD_OK;
    td_tensor_free(at);
    return status;
}

/* put(self, index, source, accumulate) */
td_status td_op_put(td_call *call)
{
    const td_tensor *index = TD_TENSOR(1), *source = TD_TENSOR(2);
    td_tensor *target, *values;
    if (source->dtype != SELF->dtype)
        return td_fail(TD_RUNTIME_ERROR,
                       "put_(): self and source expected to have the same dtype, but got "
                       "self.dtype = %s and source.dtype = %s",
                       td_dtypes[SELF->dtype].name, td_dtypes[source->dtype].name);
    if (source->numel != index->numel)
        return td_fail(TD_INDEX_ERROR,
                       "put_(): Expected source and index to have the same number of elements, but "
                       "got source.numel() = %lld, index.numel() = %lld",
                       (long long)source->numel, (long long)index->numel);
    TD_TRY(check_long(index, "put_"));
    td_status status = td_index_own(&values, call, source);
    if (status == TD_OK) {
        status = td_index_target(call, &target);
        if (status == TD_OK)
            status = put_at(target, index, values, TD_BOOLEAN(3) ? TD_PUT_ADD : TD_PUT_COPY);
        td_tensor_free(values);
    }
    return status;
}
