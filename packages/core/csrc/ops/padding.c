/* padding.c - constant_pad_nd: a tensor inside a larger one of a single value; negative padding
 * cuts. */
#include "ops/creation.h"
#include "ops/layout.h"
#include "ops/view/view.h"

#define SELF TD_TENSOR(0)
#define OUT (&call->out[0])

/* Padding is given in pairs (before, after) for the last dimension, the one before it, ... */
static td_status padded_sizes(const td_call *call, int64_t *sizes)
{
    const int64_t *pad = TD_INTS(1);
    char shape[TD_SHAPE_TEXT], pads[TD_SHAPE_TEXT];
    for (int d = 0; d < SELF->ndim; d++) {
        int64_t k = 2 * (SELF->ndim - 1 - d);
        sizes[d] = SELF->sizes[d];
        if (k >= TD_LEN(1)) continue;
        bool fits = !td_add_overflows(sizes[d], pad[k], &sizes[d]) &&
                    !td_add_overflows(sizes[d], pad[k + 1], &sizes[d]);
        bool cut_away = pad[k] < -SELF->sizes[d] ||
                        pad[k + 1] < -SELF->sizes[d] || /* more than there is */
                        (pad[k] < 0 && pad[k + 1] < 0 && sizes[d] < 0);
        if (!fits || sizes[d] < 0 || cut_away)
            return td_fail(TD_RUNTIME_ERROR,
                           "constant_pad_nd: the input size %lld, plus negative padding %lld and "
                           "%lld, resulted in a negative or too large output size at dimension %d "
                           "(input %s, pad %s)",
                           (long long)SELF->sizes[d], (long long)pad[k], (long long)pad[k + 1], d,
                           td_shape_text(SELF->ndim, SELF->sizes, shape),
                           td_shape_text((int)TD_LEN(1), pad, pads));
    }
    return TD_OK;
}

/* The part of the input that stays, and the place in the output where it goes. */
static td_status common_part(const td_call *call, td_tensor **from, td_tensor **to)
{
    const int64_t *pad = TD_INTS(1);
    int64_t sizes[TD_MAX_DIMS], in = SELF->offset, out = 0;
    const td_tensor *whole = call->out[0];
    for (int d = 0; d < SELF->ndim; d++) {
        int64_t k = 2 * (SELF->ndim - 1 - d), before = k < TD_LEN(1) ? pad[k] : 0,
                after = k < TD_LEN(1) ? pad[k + 1] : 0;
        sizes[d] = SELF->sizes[d] + (before < 0 ? before : 0) + (after < 0 ? after : 0);
        if (before < 0) in -= before * SELF->strides[d];
        else out += before * whole->strides[d];
    }
    TD_TRY(td_tensor_view(from, SELF, SELF->ndim, sizes, SELF->strides, in));
    td_status status = td_tensor_view(to, whole, SELF->ndim, sizes, whole->strides, out);
    if (status != TD_OK) td_tensor_free(*from);
    return status;
}

static bool has_border(const td_call *call)
{
    for (int64_t k = 0; k < TD_LEN(1); k++)
        if (TD_INTS(1)[k] > 0) return true;
    return false;
}

td_status td_op_constant_pad_nd(td_call *call)
{
    int64_t sizes[TD_MAX_DIMS], strides[TD_MAX_DIMS], numel;
    bool last = td_is_channels_last(SELF) && !td_is_contiguous(SELF);
    td_tensor *from, *to;
    if (TD_LEN(1) % 2 || TD_LEN(1) / 2 > SELF->ndim)
        return td_fail(TD_RUNTIME_ERROR,
                       "constant_pad_nd: the length of pad must be even and at most two times the "
                       "input dimension %d, got %lld",
                       SELF->ndim, (long long)TD_LEN(1));
    TD_TRY(td_check_fits(&TD_SCALAR(2), (td_dtype)SELF->dtype));
    TD_TRY(padded_sizes(call, sizes));
    TD_TRY(td_numel(SELF->ndim, sizes, &numel));
    TD_TRY(td_format_strides(!last             ? TD_CONTIGUOUS_FORMAT
                             : SELF->ndim == 4 ? TD_CHANNELS_LAST
                                               : TD_CHANNELS_LAST_3D,
                             SELF->ndim, sizes, strides));
    TD_TRY(td_tensor_empty_strided(OUT, (td_dtype)SELF->dtype, (td_device)SELF->device, SELF->ndim,
                                   sizes, strides));
    if (numel == 0 || td_is_meta(SELF)) return TD_OK;
    if (has_border(call)) TD_TRY(td_fill(call->out[0], &TD_SCALAR(2)));
    TD_TRY(common_part(call, &from, &to));
    td_status status = td_copy(to, from);
    td_tensor_free(from);
    td_tensor_free(to);
    return status;
}
