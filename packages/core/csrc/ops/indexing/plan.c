/* plan.c - index tensors made ready, and walks over the places they name. */
#include <string.h>
#include "cpu/indexing_run.h"
#include "ops/indexing/index.h"
#include "ops/layout.h"
#include "ops/view/view.h"
#include "runtime/alloc.h"
#include "runtime/wraps.h"

/* ---- index tensors ---- */

td_status td_index_long(td_tensor **out, const td_tensor *index, const char *name)
{
    if (index->dtype != TD_I64 && index->dtype != TD_I32)
        return td_fail(TD_RUNTIME_ERROR, "%s(): Expected dtype int32 or int64 for index, got %s",
                       name, td_dtypes[index->dtype].name);
    if (td_on_host(index) || td_is_meta(index)) return td_cast_contiguous(out, index, TD_I64);
    td_tensor *near;
    TD_TRY(td_to_host(&near, index));
    td_status status = td_cast_contiguous(out, near, TD_I64);
    td_tensor_free(near);
    return status;
}

td_status td_index_beside(td_tensor **out, const td_tensor *index, const td_tensor *self,
                          const char *name)
{
    td_tensor *dense;
    if (td_on_host(self) || td_is_meta(self) || td_is_meta(index))
        return td_index_long(out, index, name);
    if (td_on_host(index)) { /* a copy: the caller may write to pinned memory before it is sent */
        td_tensor *own;
        TD_TRY(td_tensor_empty_like(&own, index, (td_dtype)index->dtype));
        td_status copied = td_copy(own, index);
        if (copied == TD_OK) copied = td_index_long(&dense, own, name);
        td_tensor_free(own);
        TD_TRY(copied);
    } else if (index->dtype == TD_I64 || index->dtype == TD_I32)
        TD_TRY(td_cast_contiguous(&dense, index, TD_I64));
    else return td_index_long(out, index, name); /* it words the refusal */
    td_status status = td_sent_to(out, dense, (td_device)self->device);
    td_tensor_free(dense);
    return status;
}

td_status td_index_check(const td_tensor *index, int64_t dim, int64_t size,
                         const td_index_rule *rule)
{
    const int64_t *at = td_data(index);
    if (td_is_meta(index) || td_index_all_in_range(at, index->numel, size)) return TD_OK;
    int64_t low = rule->wraps ? -size : 0;
    for (int64_t i = 0; i < index->numel; i++)
        if (at[i] < low || at[i] >= size) {
            int own = strcmp(rule->name, "index") != 0; /* not "index: index 3 ..." */
            return td_fail(rule->kind,
                           "%s%sindex %lld is out of bounds for dimension %lld with size %lld",
                           own ? rule->name : "", own ? ": " : "", (long long)at[i], (long long)dim,
                           (long long)size);
        }
    return TD_OK;
}

/* ---- offsets ---- */

typedef td_index_dims dims;

static void add_dim(dims *d, int64_t size, int64_t stride)
{
    d->sizes[d->n] = size;
    d->strides[d->n++] = stride;
}

static int64_t product(const dims *d)
{
    int64_t n = 1;
    for (int i = 0; i < d->n; i++) n *= d->sizes[i];
    return n;
}

/* Offsets of all places of the dimensions, in row-major order: each dimension repeats what is
 * there, shifted. */
static void list_offsets(const dims *d, int64_t *out)
{
    int64_t n = 1;
    out[0] = 0;
    for (int i = d->n - 1; i >= 0; i--) {
        for (int64_t k = 1; k < d->sizes[i]; k++)
            for (int64_t j = 0; j < n; j++) out[k * n + j] = out[j] + k * d->strides[i];
        n *= d->sizes[i];
    }
}

/* Take the dimensions that lie densely in memory off the end of `d`: they make one run of bytes. */
static int64_t take_run(dims *d, int64_t itemsize)
{
    int64_t run = itemsize;
    while (d->n && (d->sizes[d->n - 1] == 1 || d->strides[d->n - 1] == run))
        run *= d->sizes[--d->n];
    return run;
}

/* ---- the plan ---- */

static td_status common_shape(td_tensor *const *indices, int n, dims *shape)
{
    shape->n = 0;
    for (int d = 0; d < n; d++) {
        if (!indices[d]) continue;
        char a[TD_SHAPE_TEXT], b[TD_SHAPE_TEXT];
        if (td_broadcast(shape->n, shape->sizes, indices[d]->ndim, indices[d]->sizes, &shape->n,
                         shape->sizes) != TD_OK)
            return td_fail(TD_INDEX_ERROR,
                           "shape mismatch: indexing tensors could not be broadcast together with "
                           "shapes %s, %s",
                           td_shape_text(shape->n, shape->sizes, a),
                           td_shape_text(indices[d]->ndim, indices[d]->sizes, b));
    }
    return TD_OK;
}

/* The first indexed dimension, and whether the indexed ones stand side by side. */
static int first_indexed(td_tensor *const *indices, int n, bool *together)
{
    int first = -1, runs = 0;
    for (int d = 0; d < n; d++) {
        if (!indices[d]) continue;
        if (first < 0) first = d;
        runs += d == 0 || !indices[d - 1];
    }
    *together = runs == 1;
    return first;
}

static td_status result_sizes(td_index_plan *p, const dims *before, const dims *shape,
                              const dims *after)
{
    const dims *parts[] = {before, shape, after};
    int64_t numel;
    p->ndim = 0;
    if (before->n + shape->n + after->n > TD_MAX_DIMS)
        return td_fail(TD_RUNTIME_ERROR,
                       "indexing would give %d dimensions, at most %d are possible",
                       before->n + shape->n + after->n, TD_MAX_DIMS);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < parts[k]->n; i++) p->sizes[p->ndim++] = parts[k]->sizes[i];
    return td_numel(p->ndim, p->sizes, &numel);
}

/* Add the offsets that one index tensor gives. */
static td_status add_offsets(int64_t *at, const td_tensor *index, const dims *shape,
                             const td_tensor *self, int d, const td_index_rule *rule)
{
    td_tensor *wide, *dense;
    TD_TRY(td_view_expand(&wide, index, shape->n, shape->sizes));
    td_status status = td_contiguous(&dense, wide);
    td_tensor_free(wide);
    if (status != TD_OK) return status;
    int64_t step = td_wrapping_mul(self->strides[d], td_itemsize((td_dtype)self->dtype));
    bool inside =
        td_index_add_offsets(at, dense, &(td_index_steps){self->sizes[d], step, rule->wraps});
    td_tensor_free(dense);
    if (inside) return TD_OK;
    TD_TRY(td_index_check(index, d, self->sizes[d], rule)); /* it words the refusal */
    return td_index_changed();
}

static td_status plan_offsets(td_index_plan *p, const td_tensor *self, td_tensor *const *indices,
                              const dims *before, const dims *shape, dims *after,
                              const td_index_rule *rule)
{
    int64_t itemsize = td_itemsize((td_dtype)self->dtype), *next;
    p->walk.run = take_run(after, itemsize);
    p->walk.outer = product(before);
    p->walk.count = product(shape);
    p->walk.inner = product(after);
    /* no more than three times the result's elements */
    bool fits = !td_add_overflows(p->walk.outer, p->walk.count, &p->bytes) &&
                !td_add_overflows(p->bytes, p->walk.inner, &p->bytes) &&
                !td_mul_overflows(p->bytes, 8, &p->bytes);
    p->memory = next = fits ? td_alloc(p->bytes) : NULL;
    if (!next)
        return td_fail(TD_MEMORY_ERROR, "indexing: no memory for %lld offsets",
                       (long long)(p->walk.count > p->walk.inner ? p->walk.count : p->walk.inner));
    list_offsets(before, next);
    p->walk.outer_at = next;
    list_offsets(after, next + p->walk.outer);
    p->walk.inner_at = next + p->walk.outer;
    next += p->walk.outer + p->walk.inner;
    memset(next, 0, (size_t)p->walk.count * 8);
    p->walk.at = next;
    for (int d = 0; d < self->ndim; d++)
        if (indices[d]) TD_TRY(add_offsets(next, indices[d], shape, self, d, rule));
    return TD_OK;
}

/* The same on a device, whose kernels add up offsets and look at the indices. */
static td_status device_offsets(td_index_plan *p, const td_tensor *self, td_tensor *const *indices,
                                const dims *shape, const td_index_rule *rule)
{
    td_device device = (td_device)self->device;
    td_places_job job = {
        .what = TD_PLACES_OFFSETS, .name = rule->name, .error = rule->kind, .wraps = rule->wraps};
    TD_TRY(td_tensor_empty(&p->offsets, TD_I64, device, 1, &p->walk.count));
    td_status status = TD_OK;
    for (int d = 0; d < self->ndim && status == TD_OK; d++) {
        td_tensor *wide, *dense = NULL, *there = NULL;
        if (!indices[d]) continue;
        TD_TRY(td_view_expand(&wide, indices[d], shape->n, shape->sizes));
        status = td_contiguous(&dense, wide);
        if (status == TD_OK)
            status = (rule->own ? td_sent_constant : td_sent_to)(&there, dense, device);
        job.out = p->offsets;
        job.at = job.from = there;
        job.dim = d;
        job.size = self->sizes[d];
        job.step = td_wrapping_mul(self->strides[d], td_itemsize((td_dtype)self->dtype));
        if (status == TD_OK) status = td_work_run(TD_WORK_PLACES, &job, device, "indexing");
        job.more = true;
        td_tensor_free(wide);
        td_tensor_free(dense);
        td_tensor_free(there);
    }
    return status;
}

static td_status plan_on_device(td_index_plan *p, const td_tensor *self, td_tensor *const *indices,
                                const dims *before, const dims *shape, const dims *after,
                                const td_index_rule *rule)
{
    p->before = *before;
    p->after = *after;
    p->walk.run = take_run(&p->after, td_itemsize((td_dtype)self->dtype));
    p->walk.outer = product(before);
    p->walk.count = product(shape);
    p->walk.inner = product(&p->after);
    TD_TRY(device_offsets(p, self, indices, shape, rule));
    p->walk.at = td_data(p->offsets);
    return TD_OK;
}

/* Where nothing is read or written, the indices still have to be right. */
static td_status check_all(const td_tensor *self, td_tensor *const *indices,
                           const td_index_rule *rule)
{
    for (int d = 0; d < self->ndim; d++)
        if (indices[d]) TD_TRY(td_index_check(indices[d], d, self->sizes[d], rule));
    return TD_OK;
}

td_status td_index_plan_make(td_index_plan *p, const td_tensor *self, td_tensor *const *indices,
                             const td_index_rule *rule)
{
    dims before = {0}, shape = {0}, after = {0};
    bool together, meta = td_is_meta(self);
    int64_t itemsize = td_itemsize((td_dtype)self->dtype), numel = 1;
    *p = (td_index_plan){0};
    TD_TRY(common_shape(indices, self->ndim, &shape));
    int first = first_indexed(indices, self->ndim, &together);
    for (int d = 0; d < self->ndim; d++) {
        if (!indices[d])
            add_dim(together && d < first ? &before : &after, self->sizes[d],
                    td_wrapping_mul(self->strides[d], itemsize));
    }
    TD_TRY(result_sizes(p, &before, &shape, &after));
    TD_TRY(td_numel(p->ndim, p->sizes, &numel));
    if (meta) return TD_OK;
    bool here = td_on_host(self);
    if (numel == 0 && here) return check_all(self, indices, rule);
    if (numel == 0 && !product(&shape)) return TD_OK;
    td_status status = !here ? plan_on_device(p, self, indices, &before, &shape, &after, rule)
                             : plan_offsets(p, self, indices, &before, &shape, &after, rule);
    if (status != TD_OK) td_index_plan_free(p);
    return status;
}

void td_index_plan_free(td_index_plan *p)
{
    if (p->memory) td_free(p->memory, p->bytes);
    p->memory = NULL;
    td_tensor_free(p->offsets);
    p->offsets = NULL;
}

/* The plan may have moved since it was made. */
static const td_index_walk *walk_of(const td_index_plan *p, td_index_walk *walk)
{
    *walk = p->walk;
    walk->before = &p->before;
    walk->after = &p->after;
    return walk;
}

/* ---- reading ---- */

td_status td_index_read(td_tensor **out, const td_tensor *self, const td_index_plan *p)
{
    td_index_walk walk;
    TD_TRY(td_tensor_empty(out, (td_dtype)self->dtype, (td_device)self->device, p->ndim, p->sizes));
    if ((*out)->numel == 0 || td_is_meta(self)) return TD_OK;
    return td_places_take(*out, self, walk_of(p, &walk));
}

/* ---- writing ---- */

td_status td_index_write(td_tensor *self, const td_index_plan *p, const td_tensor *source,
                         td_put put, const char *name)
{
    td_index_walk walk;
    if (!td_index_can_put(put, (td_dtype)self->dtype))
        return td_fail(TD_NOT_IMPLEMENTED, "\"%s\" not implemented for '%s'", name,
                       td_dtypes[self->dtype].type_name);
    if (source->numel == 0 || td_is_meta(self)) return TD_OK;
    return td_places_put(self, walk_of(p, &walk), source, put);
}

/* ---- targets ---- */

/* the first behind self: the index */
static const td_tensor *first_tensor(const td_call *call)
{
    for (int k = 1; k < call->nargs; k++)
        if (call->args[k].kind == TD_ARG_TENSOR) return call->args[k].tensor;
    return NULL;
}

static td_status check_apart(const td_call *call, const td_tensor *self)
{
    const char *name = call->op ? call->op->name : "index";
    if (td_has_zero_stride(self))
        return td_fail(TD_RUNTIME_ERROR,
                       "%s_: more than one element of the written-to tensor refers to a single "
                       "memory location; clone() it first",
                       name);
    const td_tensor *index = first_tensor(call);
    td_overlap how = index ? td_overlap_of(self, index) : TD_APART;
    if (how != TD_IDENTICAL && how != TD_TANGLED) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "%s_: unsupported operation: some elements of the index and the written-to "
                   "tensor refer to a single memory location; clone() the index first",
                   name);
}

td_status td_index_target(td_call *call, td_tensor **out)
{
    const td_tensor *self = TD_TENSOR(0);
    if (call->out[0]) {
        TD_TRY(check_apart(call, self));
        *out = call->out[0];
        return TD_OK;
    }
    TD_TRY(td_empty_format(&call->out[0], self, (td_dtype)self->dtype, (td_device)self->device,
                           TD_PRESERVE_FORMAT));
    *out = call->out[0];
    return td_is_meta(self) ? TD_OK : td_copy(*out, self);
}

td_status td_index_own(td_tensor **out, const td_call *call, const td_tensor *t)
{
    const td_tensor *self = TD_TENSOR(0);
    if (call->out[0] != self || td_is_meta(self) || !td_may_overlap(self, t))
        return td_tensor_alias(out, t);
    TD_TRY(td_tensor_empty_like(out, t, (td_dtype)t->dtype));
    td_status status = td_copy(*out, t);
    if (status != TD_OK) td_tensor_free(*out);
    return status;
}
