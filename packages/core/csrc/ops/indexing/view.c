/* view.c - writing through a view of a new tensor: select_scatter and relatives replace a part of a
 * copy; the backward operators of views put a gradient back where it was read. */
#include "cpu/indexing_run.h"
#include "ops/indexing/index.h"
#include "ops/layout.h"
#include "ops/view/view.h"
#include "runtime/alloc.h"

#define SELF TD_TENSOR(0)
#define OUT (&call->out[0])

/* ---- self with a part replaced ---- */

static td_status write_part(td_tensor *part, const td_tensor *src) /* takes the part over */
{
    char a[TD_SHAPE_TEXT], b[TD_SHAPE_TEXT];
    td_status status = TD_OK;
    if (!td_same_shape(part, src))
        status = td_fail(TD_RUNTIME_ERROR,
                         "expected src to have a size equal to the slice of self. src size = %s, "
                         "slice size = %s",
                         td_shape_text(src->ndim, src->sizes, a),
                         td_shape_text(part->ndim, part->sizes, b));
    else if (!td_is_meta(part)) status = td_copy(part, src);
    td_tensor_free(part);
    return status;
}

static td_status copy_of_self(td_call *call)
{
    TD_TRY(td_empty_format(OUT, SELF, (td_dtype)SELF->dtype, (td_device)SELF->device,
                           TD_PRESERVE_FORMAT));
    return td_is_meta(SELF) ? TD_OK : td_copy(call->out[0], SELF);
}

static int64_t bound(const td_call *call, int k)
{
    if (!TD_HAS(k)) return TD_SLICE_NONE;
    return TD_INT(k) == TD_SLICE_NONE ? TD_SLICE_NONE + 1 : TD_INT(k);
}

td_status td_op_select_scatter(td_call *call)
{
    td_tensor *part;
    TD_TRY(copy_of_self(call));
    TD_TRY(td_view_select(&part, call->out[0], TD_INT(2), TD_INT(3)));
    return write_part(part, TD_TENSOR(1));
}

td_status td_op_slice_scatter(td_call *call)
{
    td_tensor *part;
    TD_TRY(copy_of_self(call));
    TD_TRY(
        td_view_slice(&part, call->out[0], TD_INT(2), bound(call, 3), bound(call, 4), TD_INT(5)));
    return write_part(part, TD_TENSOR(1));
}

td_status td_op_diagonal_scatter(td_call *call)
{
    td_tensor *part;
    TD_TRY(copy_of_self(call));
    TD_TRY(td_view_diagonal(&part, call->out[0], TD_INT(2), TD_INT(3), TD_INT(4)));
    return write_part(part, TD_TENSOR(1));
}

/* (self, src, size, stride, storage_offset): the result is row-major */
td_status td_op_as_strided_scatter(td_call *call)
{
    td_tensor *part;
    char a[TD_SHAPE_TEXT], b[TD_SHAPE_TEXT];
    if (TD_LEN(2) != TD_LEN(3))
        return td_fail(TD_RUNTIME_ERROR,
                       "as_strided_scatter: mismatch in length of size %s and stride %s",
                       td_shape_text((int)TD_LEN(2), TD_INTS(2), a),
                       td_shape_text((int)TD_LEN(3), TD_INTS(3), b));
    TD_TRY(copy_of_self(call));
    TD_TRY(td_view_strided(&part, call->out[0], TD_LEN(2), TD_INTS(2), TD_INTS(3),
                           TD_HAS(4) ? TD_INT(4) : 0));
    return write_part(part, TD_TENSOR(1));
}

/* ---- gradients of views: (grad, input_sizes, the view's own arguments) ---- */

typedef td_status (*view_of)(td_tensor **part, td_tensor *whole, const td_call *call);

static td_status whole_on(td_call *call, td_tensor **whole, td_device device)
{
    return td_tensor_empty(whole, (td_dtype)SELF->dtype, device, (int)TD_LEN(1), TD_INTS(1));
}

static td_status zeros(td_call *call)
{
    td_scalar zero = td_scalar_int(0);
    TD_TRY(whole_on(call, OUT, (td_device)SELF->device));
    return td_fill(call->out[0], &zero);
}

/* The sizes are a caller's, and may be of any product: what does not fit is refused before memory
 * is taken for them. */
static td_status put_back(td_call *call, view_of view)
{
    td_tensor *shell, *part;
    TD_TRY(whole_on(call, &shell, TD_META));
    td_status status = view(&part, shell, call);
    if (status == TD_OK) status = write_part(part, SELF);
    td_tensor_free(shell);
    TD_TRY(status);
    TD_TRY(zeros(call));
    TD_TRY(view(&part, call->out[0], call));
    return write_part(part, SELF);
}

static td_status selected(td_tensor **part, td_tensor *whole, const td_call *call)
{
    return td_view_select(part, whole, TD_INT(2), TD_INT(3));
}

static td_status sliced(td_tensor **part, td_tensor *whole, const td_call *call)
{
    return td_view_slice(part, whole, TD_INT(2), bound(call, 3), bound(call, 4), TD_INT(5));
}

static td_status on_diagonal(td_tensor **part, td_tensor *whole, const td_call *call)
{
    return td_view_diagonal(part, whole, TD_INT(2), TD_INT(3), TD_INT(4));
}

td_status td_op_select_backward(td_call *call) { return put_back(call, selected); }

td_status td_op_slice_backward(td_call *call) { return put_back(call, sliced); }

td_status td_op_diagonal_backward(td_call *call) { return put_back(call, on_diagonal); }

/* ---- places that stand for several elements, on a device ---- */

/* byte offsets of the elements of a tensor, row-major */
static void fill_offsets(int64_t *at, const td_tensor *t)
{
    int64_t item = td_itemsize((td_dtype)t->dtype), index[TD_MAX_DIMS] = {0}, offset = 0;
    for (int64_t i = 0; i < t->numel; i++) {
        at[i] = offset * item;
        for (int d = t->ndim - 1; d >= 0; d--) {
            offset += t->strides[d];
            if (++index[d] < t->sizes[d]) break;
            offset -= t->strides[d] * t->sizes[d];
            index[d] = 0;
        }
    }
}

static td_status combine_elsewhere(td_tensor *target, const td_tensor *source, td_put put)
{
    td_tensor *spread = NULL, *dense = NULL, *near = NULL, *at, *there = NULL;
    td_device device = (td_device)target->device;
    TD_TRY(td_tensor_empty(&at, TD_I64, TD_CPU, 1, &target->numel));
    fill_offsets(td_data(at), target);
    td_status status = td_sent_constant(&there, at, device);
    if (status == TD_OK) status = td_moved_to(&near, source, device);
    if (status == TD_OK) status = td_view_expand(&spread, near, target->ndim, target->sizes);
    if (status == TD_OK) status = td_contiguous(&dense, spread);
    if (status == TD_OK)
        status = td_places_put_at(target, there, dense, put, "gradients of overlapping views");
    td_tensor_free(dense);
    td_tensor_free(spread);
    td_tensor_free(near);
    td_tensor_free(there);
    td_tensor_free(at);
    return status;
}

/* target op= source in the order of the elements: places of the target may stand for several */
static td_status combine(td_tensor *target, const td_tensor *source, td_put put)
{
    if (!td_index_can_put(put, (td_dtype)target->dtype))
        return td_fail(TD_NOT_IMPLEMENTED, "gradients of overlapping views of %s are not supported",
                       td_dtypes[target->dtype].name);
    if (target->numel == 0 || td_is_meta(target)) return TD_OK;
    if (!td_on_host(target)) return combine_elsewhere(target, source, put);
    return td_index_combine_serial(target, source, put);
}

td_status td_op_unfold_backward(td_call *call)
{
    td_tensor *windows;
    if (td_is_half(SELF)) return td_sums_in_float(call, 0, td_op_unfold_backward);
    TD_TRY(zeros(call));
    TD_TRY(td_view_unfold(&windows, call->out[0], TD_INT(2), TD_INT(3), TD_INT(4)));
    td_status status = combine(windows, SELF, TD_PUT_ADD);
    td_tensor_free(windows);
    return status;
}

/* ---- as_strided: by way of a piece of storage that holds both the input and the view ---- */

/* One past the last element that sizes and strides reach from the offset; refuses what is no
 * geometry. */
static td_status end_of(const td_arg *sizes, const td_arg *strides, int64_t offset, int64_t *end)
{
    int64_t step, numel;
    if (sizes->n != strides->n || sizes->n > TD_MAX_DIMS)
        return td_fail(
            TD_RUNTIME_ERROR,
            "as_strided_backward: %lld sizes and %lld strides are not those of one tensor",
            (long long)sizes->n, (long long)strides->n);
    TD_TRY(td_numel((int)sizes->n, sizes->ints, &numel));
    bool over = offset < 0;
    for (int64_t d = 0; d < sizes->n && !over; d++) {
        int64_t last = numel ? sizes->ints[d] - 1 : 0;
        over = strides->ints[d] < 0 || td_mul_overflows(last, strides->ints[d], &step) ||
               td_add_overflows(offset, step, &offset);
    }
    if (over || td_add_overflows(offset, 1, end))
        return td_fail(TD_RUNTIME_ERROR, "as_strided_backward: strides and offset must not be "
                                         "negative nor reach beyond 64 bits");
    return TD_OK;
}

/* Where the input's own elements share places, each of them gets its part of the sum. */
static td_status share_out(td_tensor *storage, td_tensor *input)
{
    td_tensor *counts, *seen, *one_tensor;
    td_scalar zero = td_scalar_int(0), one = td_scalar_int(1);
    TD_TRY(td_tensor_empty(&counts, (td_dtype)storage->dtype, (td_device)storage->device, 1,
                           storage->sizes));
    td_status status = td_fill(counts, &zero);
    if (status == TD_OK)
        status = td_tensor_from_scalar(&one_tensor, &one, (td_dtype)storage->dtype);
    if (status == TD_OK) {
        status =
            td_tensor_view(&seen, counts, input->ndim, input->sizes, input->strides, input->offset);
        if (status == TD_OK) {
            status = combine(seen, one_tensor, TD_PUT_ADD);
            td_tensor_free(seen);
        }
        if (status == TD_OK) status = combine(counts, one_tensor, TD_PUT_MAX);
        if (status == TD_OK) status = combine(storage, counts, TD_PUT_DIV);
        td_tensor_free(one_tensor);
    }
    td_tensor_free(counts);
    return status;
}

/* A gradient of other sizes would be spread over a view of any length. */
static td_status need_sizes(const td_tensor *grad, const td_arg *sizes)
{
    bool same = grad->ndim == sizes->n;
    for (int64_t d = 0; same && d < sizes->n; d++) same = grad->sizes[d] == sizes->ints[d];
    if (same) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "as_strided_backward: the gradient has not the sizes of the view; got %lld "
                   "dimensions of %lld elements in all for %lld sizes",
                   (long long)grad->ndim, (long long)grad->numel, (long long)sizes->n);
}

/* (grad, input_sizes, input_strides, input_offset, size, stride, offset) */
td_status td_op_as_strided_backward(td_call *call)
{
    int64_t low = TD_INT(3) < TD_INT(6) ? TD_INT(3) : TD_INT(6);
    int64_t input_end = 0, view_end = 0;
    TD_TRY(end_of(&call->args[1], &call->args[2], TD_INT(3), &input_end));
    TD_TRY(end_of(&call->args[4], &call->args[5], TD_INT(6), &view_end));
    int64_t span = (input_end > view_end ? input_end : view_end) - low;
    td_scalar zero = td_scalar_int(0);
    td_tensor *storage, *view, *input;
    TD_TRY(need_sizes(SELF, &call->args[4]));
    if (td_is_half(SELF)) return td_sums_in_float(call, 0, td_op_as_strided_backward);
    if (td_is_meta(SELF))
        return td_tensor_empty(OUT, (td_dtype)SELF->dtype, TD_META, (int)TD_LEN(1), TD_INTS(1));
    TD_TRY(td_tensor_empty(&storage, (td_dtype)SELF->dtype, (td_device)SELF->device, 1, &span));
    td_status status = td_fill(storage, &zero);
    if (status == TD_OK)
        status =
            td_view_strided(&view, storage, TD_LEN(4), TD_INTS(4), TD_INTS(5), TD_INT(6) - low);
    if (status == TD_OK) {
        status = combine(view, SELF, TD_PUT_ADD);
        td_tensor_free(view);
    }
    if (status == TD_OK)
        status =
            td_view_strided(&input, storage, TD_LEN(1), TD_INTS(1), TD_INTS(2), TD_INT(3) - low);
    if (status == TD_OK) {
        if (!td_is_dense(input)) status = share_out(storage, input);
        if (status == TD_OK)
            status = td_tensor_empty(OUT, (td_dtype)SELF->dtype, (td_device)SELF->device,
                                     input->ndim, input->sizes);
        if (status == TD_OK) status = td_copy(call->out[0], input);
        td_tensor_free(input);
    }
    td_tensor_free(storage);
    return status;
}
