/* sums.c - sums and products of float16 and bfloat16 numbers that meet at one place: in float32,
 * and rounded once. Rounded each time, a sum of ones stops at 256 in bfloat16 and at 2048 in
 * float16. */
#include "cpu/indexing_sums_run.h"
#include "ops/indexing/index.h"
#include "ops/layout.h"
#include "runtime/alloc.h"

bool td_is_half(const td_tensor *t) { return t->dtype == TD_F16 || t->dtype == TD_BF16; }

/* ---- the whole target in float32 ---- */

/* How many elements of memory the tensor reaches over, and which of them is its first. */
static int64_t reach(const td_tensor *t, int64_t *first)
{
    int64_t low = 0, high = 1;
    for (int d = 0; d < t->ndim; d++) {
        int64_t far = (t->sizes[d] - 1) * t->strides[d];
        if (far < 0) low += far;
        else high += far;
    }
    *first = -low;
    return high - low;
}

/* A copy in float32 with the strides of the target: distances in bytes are twice its own. */
static td_status widen(td_tensor **out, const td_tensor *target)
{
    td_tensor *row;
    int64_t first, extent = reach(target, &first);
    TD_TRY(td_tensor_empty(&row, TD_F32, (td_device)target->device, 1, &extent));
    td_status status =
        td_tensor_view(out, row, target->ndim, target->sizes, target->strides, first);
    td_tensor_free(row);
    if (status == TD_OK && (status = td_copy(*out, target)) != TD_OK) td_tensor_free(*out);
    return status;
}

static void twice(int64_t *to, const int64_t *from, int64_t n)
{
    for (int64_t i = 0; i < n; i++) to[i] = 2 * from[i];
}

/* The same walk over numbers of twice the size. */
static td_status double_walk(td_index_walk *out, const td_index_walk *w, int64_t **memory,
                             int64_t *bytes)
{
    *out = *w;
    *bytes = (w->outer + w->count + w->inner) * 8;
    int64_t *next = *memory = td_alloc(*bytes);
    if (!next)
        return td_fail(TD_MEMORY_ERROR, "indexing: no memory for %lld offsets",
                       (long long)(*bytes / 8));
    twice(next, w->outer_at, w->outer);
    twice(next + w->outer, w->inner_at, w->inner);
    twice(next + w->outer + w->inner, w->at, w->count);
    out->outer_at = next;
    out->inner_at = next + w->outer;
    out->at = next + w->outer + w->inner;
    out->run = 2 * w->run;
    return TD_OK;
}

static td_status put_wide(td_tensor *self, const td_index_walk *w, const td_tensor *source,
                          td_put put)
{
    td_tensor *wide, *from;
    td_index_walk walk;
    int64_t *memory, bytes;
    TD_TRY(double_walk(&walk, w, &memory, &bytes));
    td_status status = widen(&wide, self);
    if (status == TD_OK) {
        status = td_cast_contiguous(&from, source, TD_F32);
        if (status == TD_OK) {
            status = td_places_put(wide, &walk, from, put);
            td_tensor_free(from);
        }
        if (status == TD_OK) status = td_copy(self, wide);
        td_tensor_free(wide);
    }
    td_free(memory, bytes);
    return status;
}

#define WIDE_ROW 8 /* numbers: from here on a row is worth a search for its place */
#define FEW 4      /* of so many elements for each index, most would be converted for nothing */

td_status td_sums_put(td_tensor *self, const td_index_walk *w, const td_tensor *source, td_put put)
{
    int64_t first;
    bool few = w->run >= 2 * WIDE_ROW || source->numel <= TD_SUMS_FEW ||
               reach(self, &first) > FEW * source->numel;
    return few && td_on_host(self) ? td_index_put_many(self, w, source, put)
                                   : put_wide(self, w, source, put);
}

/* the part of src that the index has numbers for, in float32 */
static td_status wide_part(td_tensor **out, const td_tensor *src, const td_tensor *index)
{
    td_tensor *part;
    if (src->ndim != index->ndim) return td_cast(out, src, TD_F32);
    TD_TRY(td_tensor_view(&part, src, src->ndim, index->sizes, src->strides, src->offset));
    td_status status = td_cast(out, part, TD_F32);
    td_tensor_free(part);
    return status;
}

td_status td_sums_scatter(td_tensor *target, int64_t dim, const td_tensor *index,
                          const td_tensor *src, td_put put)
{
    td_tensor *wide, *from;
    bool few = index->numel <= TD_SUMS_FEW || target->numel > FEW * index->numel;
    if (few && td_on_host(target)) return td_index_scatter_many(target, dim, index, src, put);
    TD_TRY(td_cast(&wide, target, TD_F32));
    td_status status = wide_part(&from, src, index);
    if (status == TD_OK) {
        status = td_places_scatter(wide, dim, index, from, put);
        td_tensor_free(from);
    }
    if (status == TD_OK) status = td_copy(target, wide);
    td_tensor_free(wide);
    return status;
}

/* ---- whole operators ---- */

/* the result where it was asked for: in self, or a new tensor of its type */
static td_status deliver(td_call *call, td_tensor *given, td_tensor *made, td_dtype dtype)
{
    td_status status = TD_OK;
    call->out[0] = given;
    if (!given) status = td_cast(&call->out[0], made, dtype);
    else if (!td_is_meta(given)) status = td_copy(given, made);
    td_tensor_free(made);
    return status;
}

td_status td_sums_in_float(td_call *call, int source, td_impl op)
{
    td_tensor *self = TD_TENSOR(0), *from = TD_TENSOR(source), *given = call->out[0], *target,
              *wide[2];
    if (given) TD_TRY(td_index_target(call, &target)); /* it looks at what shares its memory */
    TD_TRY(td_cast(&wide[0], self, TD_F32));
    td_status status =
        source ? td_cast(&wide[1], from, TD_F32) : td_tensor_alias(&wide[1], wide[0]);
    if (status == TD_OK) {
        call->args[0].tensor = wide[0];
        call->args[source].tensor = wide[1];
        call->out[0] = NULL;
        status = op(call);
        td_tensor *made = call->out[0];
        call->args[0].tensor = self;
        call->args[source].tensor = from;
        if (status == TD_OK) status = deliver(call, given, made, (td_dtype)self->dtype);
        else {
            td_tensor_free(made);
            call->out[0] = given;
        }
        td_tensor_free(wide[1]);
    }
    td_tensor_free(wide[0]);
    return status;
}
