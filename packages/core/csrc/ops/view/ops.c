/* ops.c - the view operators: each hands its arguments to the arithmetic of view.c and view_dims.c.
 */
#include "ops/view/view.h"
#include <string.h>
#include "runtime/device.h"
#include "ops/layout.h"

#define SELF TD_TENSOR(0)
#define OUT (&call->out[0])

/* ---- shape ---- */

td_status td_op_as_strided(td_call *call)
{
    char sizes[TD_SHAPE_TEXT], strides[TD_SHAPE_TEXT];
    if (TD_LEN(1) != TD_LEN(2))
        return td_fail(TD_RUNTIME_ERROR, "as_strided: mismatch in length of size %s and stride %s",
                       td_shape_text((int)TD_LEN(1), TD_INTS(1), sizes),
                       td_shape_text((int)TD_LEN(2), TD_INTS(2), strides));
    return td_view_strided(OUT, SELF, TD_LEN(1), TD_INTS(1), TD_INTS(2),
                           TD_HAS(3) ? TD_INT(3) : SELF->offset);
}

td_status td_op_view(td_call *call) { return td_view_sizes(OUT, SELF, TD_LEN(1), TD_INTS(1)); }
td_status td_op_view_dtype(td_call *call) { return td_view_dtype(OUT, SELF, (td_dtype)TD_INT(1)); }
td_status td_op_reshape(td_call *call) { return td_view_reshape(OUT, SELF, TD_LEN(1), TD_INTS(1)); }
td_status td_op_expand(td_call *call) { return td_view_expand(OUT, SELF, TD_LEN(1), TD_INTS(1)); }

td_status td_op_flatten(td_call *call)
{
    int64_t n = SELF->ndim, first = TD_INT(1), last = TD_INT(2);
    first += first < 0 ? n : 0;
    last += last < 0 ? n : 0;
    if (first != last || first < 0 || first >= n)
        return td_view_flatten(OUT, SELF, TD_INT(1), TD_INT(2));
    call->out[0] = SELF; /* one dimension is flat already */
    return TD_OK;
}

td_status td_op_view_as(td_call *call)
{
    return td_view_sizes(OUT, SELF, TD_TENSOR(1)->ndim, TD_TENSOR(1)->sizes);
}
td_status td_op_reshape_as(td_call *call)
{
    return td_view_reshape(OUT, SELF, TD_TENSOR(1)->ndim, TD_TENSOR(1)->sizes);
}
td_status td_op_expand_as(td_call *call)
{
    return td_view_expand(OUT, SELF, TD_TENSOR(1)->ndim, TD_TENSOR(1)->sizes);
}

td_status td_op_ravel(td_call *call)
{
    int64_t all = -1, none = 0;
    return td_view_reshape(OUT, SELF, 1, SELF->numel ? &all : &none);
}

static td_status bad_unflatten(const td_tensor *self, int64_t dim, int64_t n, const int64_t *sizes)
{
    char text[TD_SHAPE_TEXT];
    return td_fail(TD_RUNTIME_ERROR,
                   "unflatten: Provided sizes %s don't multiply up to the size of dim %lld (%lld) "
                   "in the input tensor",
                   td_shape_text((int)n, sizes, text), (long long)dim, (long long)self->sizes[dim]);
}

td_status td_op_unflatten(td_call *call)
{
    int64_t dim, sizes[2 * TD_MAX_DIMS], n = TD_LEN(2);
    if (n == 0) return td_fail(TD_RUNTIME_ERROR, "unflatten: sizes must be non-empty");
    if (SELF->ndim == 0)
        return td_fail(TD_RUNTIME_ERROR, "unflatten: a 0-dim tensor has no dimension to split");
    TD_TRY(td_wrap_dim(TD_INT(1), SELF->ndim, &dim));
    if (SELF->ndim + n - 1 > TD_MAX_DIMS)
        return td_fail(TD_RUNTIME_ERROR, "unflatten: a tensor has at most %d dimensions",
                       TD_MAX_DIMS);
    if (td_infer_sizes(SELF->sizes[dim], n, TD_INTS(2), sizes + dim) != TD_OK)
        return bad_unflatten(SELF, dim, n, TD_INTS(2));
    memcpy(sizes, SELF->sizes, (size_t)dim * sizeof *sizes);
    memcpy(sizes + dim + n, SELF->sizes + dim + 1, (size_t)(SELF->ndim - dim - 1) * sizeof *sizes);
    return td_view_sizes(OUT, SELF, SELF->ndim + n - 1, sizes);
}

/* ---- dimensions ---- */

td_status td_op_permute(td_call *call) { return td_view_permute(OUT, SELF, TD_LEN(1), TD_INTS(1)); }
td_status td_op_transpose(td_call *call)
{
    return td_view_transpose(OUT, SELF, TD_INT(1), TD_INT(2));
}
td_status td_op_unsqueeze(td_call *call) { return td_view_unsqueeze(OUT, SELF, TD_INT(1)); }
td_status td_op_squeeze(td_call *call) { return td_view_squeeze_all(OUT, SELF); }
td_status td_op_squeeze_dim(td_call *call) { return td_view_squeeze(OUT, SELF, 1, &TD_INT(1)); }
td_status td_op_squeeze_dims(td_call *call)
{
    return td_view_squeeze(OUT, SELF, TD_LEN(1), TD_INTS(1));
}
td_status td_op_movedim_int(td_call *call)
{
    return td_view_movedim(OUT, SELF, 1, &TD_INT(1), &TD_INT(2));
}

td_status td_op_movedim(td_call *call)
{
    char from[TD_SHAPE_TEXT], to[TD_SHAPE_TEXT];
    if (TD_LEN(1) != TD_LEN(2))
        return td_fail(TD_RUNTIME_ERROR,
                       "movedim: source %s and destination %s must have the same length",
                       td_shape_text((int)TD_LEN(1), TD_INTS(1), from),
                       td_shape_text((int)TD_LEN(2), TD_INTS(2), to));
    return td_view_movedim(OUT, SELF, TD_LEN(1), TD_INTS(1), TD_INTS(2));
}

static td_status bad_rank(const td_tensor *self, const char *text)
{
    char shape[TD_SHAPE_TEXT];
    return td_fail(TD_RUNTIME_ERROR, "%s, got a %d-D tensor of shape %s", text, self->ndim,
                   td_shape_text(self->ndim, self->sizes, shape));
}

static td_status swap_last(td_tensor **out, const td_tensor *self)
{
    return self->ndim < 2 ? td_tensor_alias(out, self) : td_view_transpose(out, self, -2, -1);
}

static td_status conjugated(td_tensor **out, td_status status)
{
    if (status == TD_OK && td_is_complex((td_dtype)(*out)->dtype)) (*out)->flags ^= TD_FLAG_CONJ;
    return status;
}

td_status td_op_t(td_call *call)
{
    if (SELF->ndim > 2) return bad_rank(SELF, "t() expects a tensor with <= 2 dimensions");
    return swap_last(OUT, SELF);
}

td_status td_op_numpy_T(td_call *call)
{
    int64_t order[TD_MAX_DIMS];
    for (int d = 0; d < SELF->ndim; d++) order[d] = SELF->ndim - 1 - d;
    return td_view_permute(OUT, SELF, SELF->ndim, order);
}

td_status td_op_mT(td_call *call)
{
    if (SELF->ndim == 1)
        return bad_rank(SELF, "tensor.mT is only supported on matrices or batches of matrices");
    return swap_last(OUT, SELF);
}

td_status td_op_mH(td_call *call)
{
    if (SELF->ndim == 1)
        return bad_rank(
            SELF, "tensor.mH and adjoint() are only supported on matrices or batches of matrices");
    return conjugated(OUT, swap_last(OUT, SELF));
}

td_status td_op_matrix_H(td_call *call)
{
    if (SELF->ndim != 2 && SELF->ndim != 0)
        return bad_rank(SELF, "tensor.H is only supported on matrices (2-D tensors)");
    return conjugated(OUT, swap_last(OUT, SELF));
}

/* ---- parts ---- */

td_status td_op_select(td_call *call) { return td_view_select(OUT, SELF, TD_INT(1), TD_INT(2)); }
td_status td_op_narrow(td_call *call)
{
    return td_view_narrow(OUT, SELF, TD_INT(1), TD_INT(2), TD_INT(3));
}
td_status td_op_diagonal(td_call *call)
{
    return td_view_diagonal(OUT, SELF, TD_INT(1), TD_INT(2), TD_INT(3));
}
td_status td_op_unfold(td_call *call)
{
    return td_view_unfold(OUT, SELF, TD_INT(1), TD_INT(2), TD_INT(3));
}

/* INT64_MIN says "no bound"; as a bound it means what the next number means. */
static int64_t bound(const td_call *call, int k)
{
    if (!TD_HAS(k)) return TD_SLICE_NONE;
    return TD_INT(k) == TD_SLICE_NONE ? TD_SLICE_NONE + 1 : TD_INT(k);
}

td_status td_op_slice(td_call *call)
{
    return td_view_slice(OUT, SELF, TD_INT(1), bound(call, 2), bound(call, 3), TD_INT(4));
}

td_status td_op_narrow_tensor(td_call *call)
{
    const td_tensor *start = TD_TENSOR(2);
    if (start->ndim || !td_is_integral((td_dtype)start->dtype) || start->dtype == TD_BOOL)
        return td_fail(TD_RUNTIME_ERROR,
                       "narrow: start must be a 0-dim integral tensor, got %d dimensions of %s",
                       start->ndim, td_dtypes[start->dtype].name);
    if (td_is_meta(start))
        return td_fail(TD_RUNTIME_ERROR,
                       "narrow: the value of start is unknown on the meta device");
    _Alignas(16) char element[16];
    TD_TRY(td_element(start, element));
    td_scalar at = td_scalar_load((td_dtype)start->dtype, element);
    return td_view_narrow(OUT, SELF, TD_INT(1), at.i, TD_INT(3));
}

/* ---- complex ---- */

td_status td_op_view_as_real(td_call *call) { return td_view_as_real(OUT, SELF); }
td_status td_op_view_as_complex(td_call *call) { return td_view_as_complex(OUT, SELF); }
td_status td_op__conj(td_call *call) { return td_view_conj(OUT, SELF); }

td_status td_op_conj(td_call *call)
{
    if (td_is_complex((td_dtype)SELF->dtype)) return td_view_conj(OUT, SELF);
    call->out[0] = SELF;
    return TD_OK;
}

td_status td_op__neg_view(td_call *call)
{
    td_dtype d = (td_dtype)SELF->dtype;
    if (td_is_integral(d) || td_is_float8(d)) /* no loop changes the sign of those in place */
        return td_fail(TD_RUNTIME_ERROR,
                       "_neg_view: lazy negation needs a floating tensor of 16 bits and more, or a "
                       "complex one, got %s",
                       td_dtypes[d].name);
    TD_TRY(td_tensor_alias(OUT, SELF));
    call->out[0]->flags ^= TD_FLAG_NEG;
    return TD_OK;
}

/* Half of a complex tensor. conj flips the sign of the imaginary half, a neg bit that of both. */
static td_status half(td_tensor **out, const td_tensor *self, int64_t which)
{
    td_tensor *plain, *pairs;
    uint8_t flip = which && (self->flags & TD_FLAG_CONJ) ? TD_FLAG_NEG : 0;
    TD_TRY(td_tensor_alias(&plain, self));
    plain->flags &= (uint8_t)~TD_FLAG_CONJ;
    td_status status = td_view_as_real(&pairs, plain);
    td_tensor_free(plain);
    if (status != TD_OK) return status;
    status = td_view_select(out, pairs, -1, which);
    td_tensor_free(pairs);
    if (status == TD_OK) (*out)->flags ^= flip;
    return status;
}

td_status td_op_real(td_call *call)
{
    if (td_is_complex((td_dtype)SELF->dtype)) return half(OUT, SELF, 0);
    call->out[0] = SELF;
    return TD_OK;
}

td_status td_op_imag(td_call *call)
{
    if (td_is_complex((td_dtype)SELF->dtype)) return half(OUT, SELF, 1);
    return td_fail(TD_RUNTIME_ERROR,
                   "imag is not implemented for tensors with non-complex dtypes, got %s",
                   td_dtypes[SELF->dtype].name);
}

/* ---- the same tensor again, or a copy ---- */

td_status td_op_alias(td_call *call) { return td_tensor_alias(OUT, SELF); }

static td_status copy_in_format(td_call *call, td_dtype dtype, td_device device,
                                td_memory_format format)
{
    TD_TRY(td_empty_format(OUT, SELF, dtype, device, format));
    return device == TD_META || td_is_meta(SELF) ? TD_OK : td_copy(call->out[0], SELF);
}

static td_status resolve(td_call *call, uint8_t flag)
{
    if (!(SELF->flags & flag)) {
        call->out[0] = SELF;
        return TD_OK;
    }
    return copy_in_format(call, (td_dtype)SELF->dtype, (td_device)SELF->device, TD_PRESERVE_FORMAT);
}

td_status td_op_resolve_conj(td_call *call) { return resolve(call, TD_FLAG_CONJ); }
td_status td_op_resolve_neg(td_call *call) { return resolve(call, TD_FLAG_NEG); }

td_status td_op_contiguous(td_call *call)
{
    bool ready;
    TD_TRY(td_has_format(SELF, (td_memory_format)TD_INT(1), &ready));
    if (!ready)
        return copy_in_format(call, (td_dtype)SELF->dtype, (td_device)SELF->device,
                              (td_memory_format)TD_INT(1));
    call->out[0] = SELF;
    return TD_OK;
}

td_status td_op_clone(td_call *call)
{
    td_memory_format format = TD_HAS(1) ? (td_memory_format)TD_INT(1) : TD_PRESERVE_FORMAT;
    return copy_in_format(call, (td_dtype)SELF->dtype, (td_device)SELF->device, format);
}

/* _to_copy(self, *, dtype, device, non_blocking, memory_format): always a new tensor */
td_status td_op__to_copy(td_call *call)
{
    td_device device = TD_HAS(2) ? (td_device)TD_INT(2) : (td_device)SELF->device;
    if (td_is_meta(SELF) && device != TD_META)
        return td_fail(
            TD_NOT_IMPLEMENTED,
            "cannot copy out of a meta tensor: it has no data; use empty_like(..., device=...)");
    td_memory_format format = TD_HAS(4) ? (td_memory_format)TD_INT(4) : TD_PRESERVE_FORMAT;
    td_dtype dtype = TD_DTYPE_OR(1, (td_dtype)SELF->dtype);
    if (!TD_BOOLEAN(3) || device == TD_META || device == SELF->device)
        return copy_in_format(call, dtype, device, format);
    TD_TRY(td_empty_format(OUT, SELF, dtype, device, format));
    /* only into page-locked memory can a device write on its own */
    int from = td_device_type((td_device)SELF->device);
    if (device == TD_CPU && td_device_pins(from)) TD_TRY(td_device_pin(from, call->out[0]));
    return td_copy_queued(call->out[0], SELF);
}
