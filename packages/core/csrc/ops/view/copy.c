/* copy.c - copies in another order: flip, roll, repeat, tile, repeat_interleave. */
#include <string.h>
#include "ops/layout.h"
#include "ops/view/view.h"
#include "runtime/device.h"
#include "runtime/work.h"

#define SELF TD_TENSOR(0)

/* ---- flip: a copy of the view that walks dimensions backwards ---- */

td_status td_op_flip(td_call *call)
{
    int64_t strides[TD_MAX_DIMS], offset = SELF->offset;
    uint64_t mask = 0;
    TD_TRY(td_dim_mask(&mask, TD_LEN(1), TD_INTS(1), SELF->ndim));
    TD_TRY(td_empty_format(&call->out[0], SELF, (td_dtype)SELF->dtype, (td_device)SELF->device,
                           TD_PRESERVE_FORMAT));
    if (SELF->numel == 0 || td_is_meta(SELF)) return TD_OK;
    for (int d = 0; d < SELF->ndim; d++) {
        bool back = mask >> d & 1;
        strides[d] = back ? -SELF->strides[d] : SELF->strides[d];
        if (back) offset += (SELF->sizes[d] - 1) * SELF->strides[d];
    }
    td_tensor *backwards;
    TD_TRY(td_tensor_view(&backwards, SELF, SELF->ndim, SELF->sizes, strides, offset));
    td_status status = td_copy(call->out[0], backwards);
    td_tensor_free(backwards);
    return status;
}

/* ---- roll: both sides are cut at the seam of each rolled dimension ---- */

/* Copy `length` places of dimension `dim` from src[from...] to dst[to...], the dimensions after it
 * rolled by shifts. */
static td_status roll_into(td_tensor *dst, const td_tensor *src, int dim, const int64_t *shifts);

static td_status roll_part(td_tensor *dst, const td_tensor *src, int dim, const int64_t *shifts,
                           int64_t to, int64_t from, int64_t length)
{
    td_tensor *target, *source;
    TD_TRY(td_view_narrow(&target, dst, dim, to, length));
    td_status status = td_view_narrow(&source, src, dim, from, length);
    if (status == TD_OK) {
        status = roll_into(target, source, dim + 1, shifts);
        td_tensor_free(source);
    }
    td_tensor_free(target);
    return status;
}

static td_status roll_into(td_tensor *dst, const td_tensor *src, int dim, const int64_t *shifts)
{
    while (dim < src->ndim && shifts[dim] == 0) dim++;
    if (dim == src->ndim) return td_copy(dst, src);
    int64_t size = src->sizes[dim], shift = shifts[dim];
    TD_TRY(roll_part(dst, src, dim, shifts, shift, 0, size - shift));
    return roll_part(dst, src, dim, shifts, 0, size - shift, shift);
}

static int64_t wrapped(int64_t shift, int64_t size)
{
    shift %= size;
    return shift < 0 ? shift + size : shift;
}

/* Without dims the elements are rolled as one row. */
static td_status roll_flat(td_tensor *out, const td_tensor *self, int64_t shift)
{
    td_tensor *row, *target;
    TD_TRY(td_view_flatten(&row, self, 0, -1));
    td_status status = td_view_flatten(&target, out, 0, -1); /* out is row-major: a view */
    if (status == TD_OK) {
        shift = wrapped(shift, row->numel);
        status = roll_into(target, row, 0, &shift);
        td_tensor_free(target);
    }
    td_tensor_free(row);
    return status;
}

td_status td_op_roll(td_call *call)
{
    int64_t shifts[TD_MAX_DIMS] = {0}, n = TD_LEN(1);
    if (n == 0) return td_fail(TD_RUNTIME_ERROR, "roll: `shifts` required");
    if (!(TD_LEN(2) == 0 && n == 1) && TD_LEN(2) != n)
        return td_fail(TD_RUNTIME_ERROR,
                       "roll: shifts and dimensions must align. shifts: %lld, dims: %lld",
                       (long long)n, (long long)TD_LEN(2));
    if (SELF->ndim == 0 && TD_LEN(2))
        return td_fail(TD_INDEX_ERROR, "roll: a 0-dim tensor has no dimension %lld",
                       (long long)TD_INTS(2)[0]);
    for (int64_t i = 0; i < TD_LEN(2); i++) {
        int64_t d;
        TD_TRY(td_wrap_dim(TD_INTS(2)[i], SELF->ndim, &d));
        if (SELF->sizes[d])
            shifts[d] = wrapped(shifts[d] + wrapped(TD_INTS(1)[i], SELF->sizes[d]), SELF->sizes[d]);
    }
    TD_TRY(td_tensor_empty(&call->out[0], (td_dtype)SELF->dtype, (td_device)SELF->device,
                           SELF->ndim, SELF->sizes));
    if (SELF->numel == 0 || td_is_meta(SELF)) return TD_OK;
    return TD_LEN(2) ? roll_into(call->out[0], SELF, 0, shifts)
                     : roll_flat(call->out[0], SELF, TD_INTS(1)[0]);
}

/* ---- repeat: every dimension becomes (copies, size); the source walks the copies with stride 0
 * ---- */

typedef struct repetition {
    int64_t sizes[TD_MAX_DIMS], to[TD_MAX_DIMS], from[TD_MAX_DIMS];
    int ndim;
} repetition;

/* Dimensions of size 1 are left out, so at most 63 remain: each at least doubles the number of
 * elements. */
static void add_axis(repetition *r, int64_t size, int64_t to, int64_t from)
{
    if (size == 1) return;
    r->sizes[r->ndim] = size;
    r->to[r->ndim] = to;
    r->from[r->ndim++] = from;
}

static td_status copy_repeated(td_tensor *out, const td_tensor *self, const int64_t *repeats)
{
    repetition r = {.ndim = 0};
    int lead = out->ndim - self->ndim;
    for (int d = 0; d < out->ndim; d++) {
        int64_t size = d < lead ? 1 : self->sizes[d - lead],
                stride = d < lead ? 0 : self->strides[d - lead];
        add_axis(&r, repeats[d], size * out->strides[d], 0);
        add_axis(&r, size, out->strides[d], stride);
    }
    td_tensor *target, *source;
    TD_TRY(td_tensor_view(&target, out, r.ndim, r.sizes, r.to, 0));
    td_status status = td_tensor_view(&source, self, r.ndim, r.sizes, r.from, self->offset);
    if (status == TD_OK) {
        status = td_copy(target, source);
        td_tensor_free(source);
    }
    td_tensor_free(target);
    return status;
}

static td_status repeat(td_call *call, int64_t n, const int64_t *repeats)
{
    int64_t sizes[TD_MAX_DIMS], lead = n - SELF->ndim;
    char text[TD_SHAPE_TEXT], shape[TD_SHAPE_TEXT];
    if (n > TD_MAX_DIMS)
        return td_fail(TD_RUNTIME_ERROR, "repeat: a tensor has at most %d dimensions", TD_MAX_DIMS);
    for (int64_t d = 0; d < n; d++)
        if (repeats[d] < 0 ||
            td_mul_overflows(repeats[d], d < lead ? 1 : SELF->sizes[d - lead], &sizes[d]))
            return td_fail(TD_RUNTIME_ERROR,
                           "repeat: cannot repeat a tensor of shape %s %s times: a dimension would "
                           "be negative or too large",
                           td_shape_text(SELF->ndim, SELF->sizes, shape),
                           td_shape_text((int)n, repeats, text));
    TD_TRY(td_tensor_empty(&call->out[0], (td_dtype)SELF->dtype, (td_device)SELF->device, (int)n,
                           sizes));
    if (call->out[0]->numel == 0 || td_is_meta(SELF)) return TD_OK;
    return copy_repeated(call->out[0], SELF, repeats);
}

td_status td_op_repeat(td_call *call)
{
    char text[TD_SHAPE_TEXT], shape[TD_SHAPE_TEXT];
    if (TD_LEN(1) < SELF->ndim)
        return td_fail(TD_RUNTIME_ERROR,
                       "repeat: the number of repeats %s can not be smaller than the number of "
                       "dimensions of the tensor %s",
                       td_shape_text((int)TD_LEN(1), TD_INTS(1), text),
                       td_shape_text(SELF->ndim, SELF->sizes, shape));
    return repeat(call, TD_LEN(1), TD_INTS(1));
}

td_status td_op_tile(td_call *call)
{
    int64_t repeats[TD_MAX_DIMS], missing = SELF->ndim - TD_LEN(1);
    if (missing <= 0) return repeat(call, TD_LEN(1), TD_INTS(1));
    for (int64_t d = 0; d < missing; d++) repeats[d] = 1;
    if (TD_LEN(1)) memcpy(repeats + missing, TD_INTS(1), (size_t)TD_LEN(1) * sizeof *repeats);
    return repeat(call, SELF->ndim, repeats);
}

/* ---- repeat_interleave(counts): 0 counts[0] times, 1 counts[1] times, ... ---- */

static td_status total_count(const td_tensor *counts, int64_t *out)
{
    int64_t total = 0, step = counts->strides[0];
    for (int64_t i = 0; i < counts->numel; i++) {
        int64_t n = counts->dtype == TD_I64 ? ((int64_t *)td_data(counts))[i * step]
                                            : ((int32_t *)td_data(counts))[i * step];
        if (n < 0)
            return td_fail(TD_RUNTIME_ERROR, "repeats can not be negative, got %lld at %lld",
                           (long long)n, (long long)i);
        if (td_add_overflows(total, n, &total))
            return td_fail(TD_RUNTIME_ERROR, "repeat_interleave: the result is too large");
    }
    *out = total;
    return TD_OK;
}

#define INTERLEAVE(type)                                       \
    for (int64_t i = 0; i < counts->numel; i++)                \
        for (int64_t k = ((type *)from)[i * step]; k > 0; k--) \
            *(type *)(to += sizeof(type)) = (type)i;

static void interleave(const td_tensor *counts, td_tensor *out)
{
    const void *from = td_data(counts);
    int64_t step = counts->strides[0];
    char *to = (char *)td_data(out) - td_itemsize((td_dtype)out->dtype);
    if (counts->dtype == TD_I64) INTERLEAVE(int64_t) else INTERLEAVE(int32_t)
}

/* In the host's memory, as the size of the result depends on them; a copy, as another thread may
 * write to them between their sum and their use. */
static td_status own_counts(td_tensor **out, const td_tensor *counts)
{
    td_tensor *near;
    TD_TRY(td_to_host(&near, counts));
    td_status status = td_tensor_empty(out, (td_dtype)near->dtype, TD_CPU, 1, near->sizes);
    if (status == TD_OK && (status = td_copy(*out, near)) != TD_OK) td_tensor_free(*out);
    td_tensor_free(near);
    return status;
}

td_status td_op_repeat_interleave(td_call *call)
{
    const td_tensor *counts = SELF;
    int64_t total;
    if (counts->ndim != 1)
        return td_fail(TD_RUNTIME_ERROR,
                       "repeat_interleave only accepts 1D vector as repeat, got %d dimensions",
                       counts->ndim);
    if (counts->dtype != TD_I64 && counts->dtype != TD_I32)
        return td_fail(TD_RUNTIME_ERROR, "repeats has to be Long or Int tensor, got %s",
                       td_dtypes[counts->dtype].type_name);
    if (td_is_meta(counts)) {
        if (!TD_HAS(1))
            return td_fail(TD_NOT_IMPLEMENTED, "repeat_interleave on the meta device needs "
                                               "output_size: the sum of the counts is its values'");
        return td_tensor_empty(&call->out[0], (td_dtype)counts->dtype, TD_META, 1, &TD_INT(1));
    }
    td_tensor *near, *made;
    TD_TRY(own_counts(&near, counts));
    td_status status = total_count(near, &total);
    if (status == TD_OK && TD_HAS(1) && TD_INT(1) != total)
        status = td_fail(TD_RUNTIME_ERROR,
                         "repeat_interleave: output_size is %lld but the repeats add up to %lld",
                         (long long)TD_INT(1), (long long)total);
    if (status == TD_OK)
        status = td_tensor_empty(&made, (td_dtype)counts->dtype, TD_CPU, 1, &total);
    if (status == TD_OK) {
        if (total) interleave(near, made);
        status = td_moved_to(&call->out[0], made, (td_device)counts->device);
        td_tensor_free(made);
    }
    td_tensor_free(near);
    return status;
}
