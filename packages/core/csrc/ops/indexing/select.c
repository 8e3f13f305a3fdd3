/* select.c - one dimension, one vector of indices: index_select, index_add and relatives;
 * embedding. */
#include "cpu/indexing_run.h"
#include "ops/creation.h"
#include "ops/indexing/index.h"
#include "ops/view/view.h"
#include <string.h>

#define SELF TD_TENSOR(0)
#define OUT (&call->out[0])

/* ---- a plan for one dimension; a 0-dim tensor is taken as one of size 1 ---- */

typedef struct selection {
    td_tensor *self, *index; /* owned */
    td_index_plan plan;
} selection;

static td_status with_dims(td_tensor **out, const td_tensor *t)
{
    int64_t one = 1;
    return t->ndim ? td_tensor_alias(out, t) : td_view_sizes(out, t, 1, &one);
}

static void selection_end(selection *s)
{
    td_index_plan_free(&s->plan);
    td_tensor_free(s->self);
    td_tensor_free(s->index);
}

static td_status selection_begin(selection *s, const td_tensor *self, int64_t dim,
                                 const td_tensor *index, const td_index_rule *rule)
{
    td_tensor *indices[TD_MAX_DIMS] = {0}, *dense;
    *s = (selection){0};
    if (index->ndim > 1)
        return td_fail(TD_INDEX_ERROR, "%s(): Index is supposed to be a vector, got %d dimensions",
                       rule->name, index->ndim);
    TD_TRY(td_wrap_dim(dim, self->ndim, &dim));
    TD_TRY(td_index_beside(&dense, index, self, rule->name));
    td_status status = with_dims(&s->index, dense);
    td_tensor_free(dense);
    if (status == TD_OK) status = with_dims(&s->self, self);
    if (status == TD_OK) {
        indices[dim] = s->index;
        status = td_index_plan_make(&s->plan, s->self, indices, rule);
    }
    if (status != TD_OK) selection_end(s);
    return status;
}

td_status td_op_index_select(td_call *call)
{
    static const td_index_rule rule = {"index_select", TD_INDEX_ERROR, false, false};
    selection s;
    if (SELF->ndim == 0 && TD_TENSOR(2)->numel != 1)
        return td_fail(TD_RUNTIME_ERROR,
                       "index_select(): Index to scalar can have only 1 value, got %lld value(s)",
                       (long long)TD_TENSOR(2)->numel);
    TD_TRY(selection_begin(&s, SELF, TD_INT(1), TD_TENSOR(2), &rule));
    if (SELF->ndim == 0) s.plan.ndim = 0;
    td_status status = td_index_read(OUT, s.self, &s.plan);
    selection_end(&s);
    return status;
}

/* ---- index_copy, index_add, index_reduce: (self, dim, index, source) ---- */

/* A number copies to one place and one place to a number; sums and reductions want equal ranks. */
static td_status check_source(const td_tensor *self, int64_t dim, const td_tensor *index,
                              const td_tensor *source, const char *name, td_put put)
{
    char a[TD_SHAPE_TEXT], b[TD_SHAPE_TEXT];
    int64_t count = source->ndim ? source->sizes[dim < source->ndim ? dim : 0] : 1;
    if (source->dtype != self->dtype)
        return td_fail(TD_RUNTIME_ERROR,
                       "%s(): self (%s) and source (%s) must have the same scalar type", name,
                       td_dtypes[self->dtype].name, td_dtypes[source->dtype].name);
    bool copies = put == TD_PUT_COPY;
    bool fits = source->ndim == self->ndim || (copies && source->ndim < 2 && self->ndim < 2);
    for (int d = 0; fits && d < self->ndim; d++)
        fits = d == dim || source->sizes[d] == self->sizes[d];
    if (!fits)
        return td_fail(TD_RUNTIME_ERROR,
                       "%s(): source tensor shape must match self tensor shape, excluding "
                       "dimension %lld. Got self.shape = %s source.shape = %s",
                       name, (long long)dim, td_shape_text(self->ndim, self->sizes, a),
                       td_shape_text(source->ndim, source->sizes, b));
    if (count == index->numel) return TD_OK;
    return td_fail(
        copies ? TD_INDEX_ERROR : TD_RUNTIME_ERROR,
        "%s(): Number of indices (%lld) should be equal to source.size(dim): (%lld), for dim: %lld",
        name, (long long)index->numel, (long long)count, (long long)dim);
}

static bool is_scaled(const td_scalar *alpha) { return !(alpha->re == 1 && alpha->im == 0); }

/* source, row-major and apart from the target; times alpha if there is one */
static td_status ready_source(td_tensor **out, const td_tensor *source, const td_tensor *target,
                              const td_scalar *alpha)
{
    bool scaled = alpha && is_scaled(alpha);
    if (!scaled && (td_is_meta(target) || !td_may_overlap(target, source)))
        return td_contiguous(out, source);
    td_tensor *copy, *factor;
    TD_TRY(td_tensor_empty(&copy, (td_dtype)source->dtype, (td_device)source->device, source->ndim,
                           source->sizes));
    td_status status = td_is_meta(source) ? TD_OK : td_copy(copy, source);
    if (status == TD_OK && scaled && td_index_can_put(TD_PUT_MUL, (td_dtype)copy->dtype) &&
        !td_is_meta(source)) {
        status = td_tensor_from_scalar(&factor, alpha, (td_dtype)copy->dtype);
        if (status == TD_OK) {
            status = td_places_combine(copy, factor, TD_PUT_MUL, 0.5);
            td_tensor_free(factor);
        }
    }
    if (status == TD_OK) *out = copy;
    else td_tensor_free(copy);
    return status;
}

/* Write source in the way of `put`; if `start`, the places that are written begin with that number.
 */
static td_status write_source(const selection *s, const td_tensor *source, td_put put,
                              const td_scalar *start, const char *name)
{
    if (start) {
        td_tensor *first;
        TD_TRY(td_tensor_empty(&first, (td_dtype)source->dtype, (td_device)source->device,
                               source->ndim, source->sizes));
        td_status status = td_fill(first, start);
        if (status == TD_OK) status = td_index_write(s->self, &s->plan, first, TD_PUT_COPY, name);
        td_tensor_free(first);
        TD_TRY(status);
    }
    return td_index_write(s->self, &s->plan, source, put, name);
}

typedef struct writer {
    const char *name;
    td_put put;
    const td_scalar *alpha, *start;
} writer;

static td_status index_write(td_call *call, const writer *w, selection *s)
{
    const td_index_rule rule = {w->name, TD_INDEX_ERROR, false, false};
    const td_tensor *source = TD_TENSOR(3);
    td_tensor *target, *ready;
    int64_t dim;
    TD_TRY(td_wrap_dim(TD_INT(1), SELF->ndim, &dim));
    TD_TRY(check_source(SELF, dim, TD_TENSOR(2), source, w->name, w->put));
    /* all checks before the first write */
    TD_TRY(selection_begin(s, SELF, dim, TD_TENSOR(2), &rule));
    selection_end(s);
    TD_TRY(td_index_target(call, &target));
    TD_TRY(selection_begin(s, target, dim, TD_TENSOR(2), &rule));
    td_status status = ready_source(&ready, source, target, w->alpha);
    if (status == TD_OK) {
        status = write_source(s, ready, w->put, w->start, w->name);
        td_tensor_free(ready);
    }
    if (status != TD_OK) selection_end(s);
    return status;
}

static td_status index_write_once(td_call *call, const writer *w)
{
    selection s;
    TD_TRY(index_write(call, w, &s));
    selection_end(&s);
    return TD_OK;
}

td_status td_op_index_copy(td_call *call)
{
    if (TD_TENSOR(2)->dtype != TD_I64)
        return td_fail(TD_RUNTIME_ERROR,
                       "index_copy_(): Expected a long tensor for index, but got %s",
                       td_dtypes[TD_TENSOR(2)->dtype].name);
    return index_write_once(call, &(writer){"index_copy_", TD_PUT_COPY, NULL, NULL});
}

td_status td_op_index_add(td_call *call)
{
    TD_TRY(td_check_fits(&TD_SCALAR(4), (td_dtype)SELF->dtype));
    if (td_is_half(SELF) && td_is_half(TD_TENSOR(3)) && is_scaled(&TD_SCALAR(4)))
        return td_sums_in_float(call, 3, td_op_index_add);
    return index_write_once(call, &(writer){"index_add_", TD_PUT_ADD, &TD_SCALAR(4), NULL});
}

/* ---- index_reduce(self, dim, index, source, reduce, *, include_self) ---- */

static td_status reduction_of(const char *reduce, td_put *put)
{
    static const struct {
        const char *name;
        td_put put;
    } known[] = {
        {"prod", TD_PUT_MUL}, {"mean", TD_PUT_ADD}, {"amax", TD_PUT_MAX}, {"amin", TD_PUT_MIN}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(reduce, known[i].name) == 0) return *put = known[i].put, TD_OK;
    return td_fail(
        TD_RUNTIME_ERROR,
        "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got %s.",
        reduce);
}

/* How many numbers came to each place of the dimension, at least 1, as a tensor that broadcasts
 * against self. */
static td_status counts_of(td_tensor **out, const selection *s, int64_t dim, bool include_self)
{
    int64_t sizes[TD_MAX_DIMS];
    td_tensor *whole, *index;
    for (int d = 0; d < s->self->ndim; d++) sizes[d] = d == dim ? s->self->sizes[dim] : 1;
    TD_TRY(td_to_host(&index, s->index));
    td_status made = td_tensor_empty(&whole, TD_I64, TD_CPU, s->self->ndim, sizes);
    if (made == TD_OK) td_index_counts(whole, index, include_self);
    td_tensor_free(index);
    TD_TRY(made);
    td_tensor *near;
    td_status status = td_cast(&near, whole, (td_dtype)s->self->dtype);
    td_tensor_free(whole);
    TD_TRY(status);
    status = td_moved_to(out, near, (td_device)s->self->device);
    td_tensor_free(near);
    return status;
}

static td_status divide_by_counts(const selection *s, int64_t dim, bool include_self)
{
    td_tensor *counts;
    if (td_is_meta(s->self) || s->self->numel == 0) return TD_OK;
    TD_TRY(counts_of(&counts, s, dim, include_self));
    td_status status = td_places_combine(s->self, counts, TD_PUT_DIV, 1);
    td_tensor_free(counts);
    return status;
}

td_status td_op_index_reduce(td_call *call)
{
    td_put put = TD_PUT_ADD;
    const char *reduce = call->args[4].str;
    bool include_self = TD_BOOLEAN(5);
    selection s;
    int64_t dim;
    TD_TRY(reduction_of(reduce, &put));
    if (SELF->dtype == TD_BOOL)
        return td_fail(TD_NOT_IMPLEMENTED, "\"index_reduce\" not implemented for 'Bool'");
    td_scalar start = td_index_neutral(put, (td_dtype)SELF->dtype);
    TD_TRY(td_wrap_dim(TD_INT(1), SELF->ndim, &dim));
    if (td_is_half(SELF) && td_is_half(TD_TENSOR(3)) && strcmp(reduce, "mean") == 0)
        return td_sums_in_float(call, 3, td_op_index_reduce);
    TD_TRY(
        index_write(call, &(writer){"index_reduce_", put, NULL, include_self ? NULL : &start}, &s));
    td_status status = strcmp(reduce, "mean") ? TD_OK : divide_by_counts(&s, dim, include_self);
    selection_end(&s);
    return status;
}

/* ---- index_fill(self, dim, index, value) ---- */

static td_status index_fill(td_call *call, const td_scalar *value)
{
    static const td_index_rule rule = {"index_fill_", TD_INDEX_ERROR, true, false};
    selection s;
    td_tensor *target, *values;
    if (TD_TENSOR(2)->dtype != TD_I64)
        return td_fail(TD_INDEX_ERROR, "index_fill_(): Expected dtype int64 for index, got %s",
                       td_dtypes[TD_TENSOR(2)->dtype].name);
    TD_TRY(td_check_fits(value, (td_dtype)SELF->dtype));
    TD_TRY(selection_begin(&s, SELF, TD_INT(1), TD_TENSOR(2), &rule));
    selection_end(&s);
    TD_TRY(td_index_target(call, &target));
    TD_TRY(selection_begin(&s, target, TD_INT(1), TD_TENSOR(2), &rule));
    td_status status = td_tensor_empty(&values, (td_dtype)SELF->dtype, (td_device)SELF->device,
                                       s.plan.ndim, s.plan.sizes);
    if (status == TD_OK) {
        status = td_fill(values, value);
        if (status == TD_OK)
            status = td_index_write(s.self, &s.plan, values, TD_PUT_COPY, "index_fill_");
        td_tensor_free(values);
    }
    selection_end(&s);
    return status;
}

td_status td_op_index_fill_scalar(td_call *call) { return index_fill(call, &TD_SCALAR(3)); }

td_status td_op_index_fill_tensor(td_call *call)
{
    const td_tensor *value = TD_TENSOR(3);
    td_scalar number = td_scalar_int(0);
    if (value->ndim)
        return td_fail(TD_RUNTIME_ERROR,
                       "index_fill_ only supports a 0-dimensional value tensor, but got tensor "
                       "with %d dimension(s).",
                       value->ndim);
    if (!td_is_meta(value)) TD_TRY(td_index_number(&number, value));
    return index_fill(call, &number);
}

/* ---- embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse) ---- */

static const td_index_rule embedding_rule = {"embedding", TD_INDEX_ERROR, false, false};

td_status td_op_embedding(td_call *call)
{
    const td_tensor *indices = TD_TENSOR(1);
    td_tensor *at[2] = {0};
    td_index_plan plan;
    char shape[TD_SHAPE_TEXT];
    if (SELF->ndim != 2)
        return td_fail(TD_RUNTIME_ERROR, "embedding: 'weight' must be 2-D, got shape %s",
                       td_shape_text(SELF->ndim, SELF->sizes, shape));
    TD_TRY(td_index_beside(&at[0], indices, SELF, "embedding"));
    td_status status = td_index_plan_make(&plan, SELF, at, &embedding_rule);
    if (status == TD_OK) {
        status = td_index_read(OUT, SELF, &plan);
        td_index_plan_free(&plan);
    }
    td_tensor_free(at[0]);
    return status;
}

static td_status clear_row(td_tensor *out, int64_t at)
{
    td_tensor *row;
    td_scalar zero = td_scalar_int(0);
    TD_TRY(td_view_select(&row, out, 0, at));
    td_status status = td_fill(row, &zero);
    td_tensor_free(row);
    return status;
}

/* How often the word of each row occurs among all, as a column of the gradient's dtype. */
static td_status frequencies(td_tensor **out, const td_tensor *grad, const td_tensor *index,
                             int64_t words)
{
    int64_t sizes[TD_MAX_DIMS];
    td_tensor *column;
    memcpy(sizes, grad->sizes, sizeof *sizes * (size_t)grad->ndim);
    sizes[grad->ndim - 1] = 1;
    TD_TRY(td_tensor_empty(&column, TD_I64, TD_CPU, grad->ndim, sizes));
    td_status status = td_index_frequencies(column, index, words);
    if (status == TD_OK) status = td_cast(out, column, (td_dtype)grad->dtype);
    td_tensor_free(column);
    return status;
}

/* the same as td_index_scale_rows by frequency, where the rows lie on a device */
static td_status divide_rows(td_tensor *rows, const td_tensor *index, int64_t words)
{
    td_tensor *near, *there, *named;
    TD_TRY(td_to_host(&named, index));
    td_status counted = frequencies(&near, rows, named, words);
    td_tensor_free(named);
    TD_TRY(counted);
    td_status status = td_moved_to(&there, near, (td_device)rows->device);
    td_tensor_free(near);
    TD_TRY(status);
    status = td_places_combine(rows, there, TD_PUT_DIV, 1);
    td_tensor_free(there);
    return status;
}

static td_status add_rows(td_tensor *out, td_tensor *index, const td_tensor *grad, int64_t padding,
                          bool by_frequency)
{
    td_tensor *at[2] = {index}, *dense, *own = NULL;
    td_index_plan plan;
    TD_TRY(td_contiguous(&dense, grad));
    td_status status = td_index_plan_make(&plan, out, at, &embedding_rule);
    bool here = td_on_host(out);
    bool pads = status == TD_OK &&
                (here ? td_index_holds(index, padding) : padding >= 0 && padding < out->sizes[0]);
    if (status == TD_OK && (by_frequency || (pads && here))) {
        status = td_tensor_empty(&own, (td_dtype)grad->dtype, (td_device)grad->device, grad->ndim,
                                 grad->sizes);
        if (status == TD_OK) status = td_copy(own, dense);
        if (status == TD_OK)
            status = here ? td_index_scale_rows(own, index, out->sizes[0], padding, by_frequency)
                          : divide_rows(own, index, out->sizes[0]);
    }
    if (status == TD_OK)
        status =
            td_index_write(out, &plan, own ? own : dense, TD_PUT_ADD, "embedding_dense_backward");
    if (status == TD_OK && pads && !here) status = clear_row(out, padding);
    td_index_plan_free(&plan);
    td_tensor_free(own);
    td_tensor_free(dense);
    return status;
}

/* (grad_output, indices, num_weights, padding_idx, scale_grad_by_freq): the gradient rows added up
 * by index */
td_status td_op_embedding_dense_backward(td_call *call)
{
    const td_tensor *indices = TD_TENSOR(1);
    td_tensor *index;
    td_scalar zero = td_scalar_int(0);
    char a[TD_SHAPE_TEXT], b[TD_SHAPE_TEXT];
    int n = indices->ndim;
    if (td_is_half(SELF) && TD_BOOLEAN(4)) /* divided before it is added up */
        return td_sums_in_float(call, 0, td_op_embedding_dense_backward);
    if (SELF->ndim != n + 1 || memcmp(SELF->sizes, indices->sizes, (size_t)n * sizeof(int64_t)))
        return td_fail(TD_RUNTIME_ERROR,
                       "embedding_dense_backward: the gradient must have the shape of the indices "
                       "and one dimension more, got %s and %s",
                       td_shape_text(SELF->ndim, SELF->sizes, a),
                       td_shape_text(n, indices->sizes, b));
    TD_TRY(td_index_beside(&index, indices, SELF, "embedding_dense_backward"));
    td_status status = td_tensor_empty(OUT, (td_dtype)SELF->dtype, (td_device)SELF->device, 2,
                                       (int64_t[]){TD_INT(2), SELF->sizes[n]});
    if (status == TD_OK) status = td_fill(call->out[0], &zero);
    if (status == TD_OK && !td_is_meta(SELF))
        status = add_rows(call->out[0], index, SELF, TD_INT(3), TD_BOOLEAN(4));
    td_tensor_free(index);
    return status;
}
