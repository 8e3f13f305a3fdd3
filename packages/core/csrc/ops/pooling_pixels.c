/* pooling_pixels.c - channels to pixels and back: copies of views with two more dimensions.
 *
 *   shuffle    (..., C, r, s, H, W)  is read as  (..., C, H, r, W, s)
 *   unshuffle  (..., C, H, r, W, s)  is read as  (..., C, r, s, H, W)
 */
#include <string.h>
#include "ops/view/view.h"
#include "runtime/device.h"

#define SELF TD_TENSOR(0)
#define LL(x) ((long long)(x))

static td_status check_image(const char *name, const td_tensor *x, const char *factor, int64_t r)
{
    if (x->ndim < 3 || x->ndim > TD_MAX_DIMS - 2)
        return td_fail(TD_RUNTIME_ERROR,
                       "%s expects input to have at least 3 dimensions (at most %d), but got input "
                       "with %d dimension(s)",
                       name, TD_MAX_DIMS - 2, x->ndim);
    if (r > 0) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR, "%s expects a positive %s, but got %lld", name, factor, LL(r));
}

static td_status too_large(const char *name, int64_t r)
{
    return td_fail(TD_RUNTIME_ERROR, "%s: the factor %lld makes a shape that is too large", name,
                   LL(r));
}

/* A stride; it wraps only where there are no elements to be reached. */
static int64_t times(int64_t step, int64_t n) { return (int64_t)((uint64_t)step * (uint64_t)n); }

/* A new tensor whose last 3 dimensions are `last`, and the copy into it: its memory is that of
 * `ndim` sizes, the source's those of `strides`. */
static td_status copy_split(td_call *call, const int64_t *last, const int64_t *split,
                            const int64_t *strides)
{
    int64_t sizes[TD_MAX_DIMS], steps[TD_MAX_DIMS];
    int lead = SELF->ndim - 3, ndim = lead + 5;
    memcpy(sizes, SELF->sizes, (size_t)lead * sizeof *sizes);
    memcpy(sizes + lead, last, 3 * sizeof *sizes);
    TD_TRY(td_tensor_empty(&call->out[0], (td_dtype)SELF->dtype, (td_device)SELF->device,
                           SELF->ndim, sizes));
    if (SELF->numel == 0 || td_is_meta(SELF)) return TD_OK;
    memcpy(sizes + lead, split, 5 * sizeof *sizes);
    memcpy(steps, SELF->strides, (size_t)lead * sizeof *steps);
    memcpy(steps + lead, strides, 5 * sizeof *steps);
    td_tensor *source, *target;
    TD_TRY(td_tensor_view(&source, SELF, ndim, sizes, steps, SELF->offset));
    td_row_major(ndim, sizes, steps);
    td_status status = td_tensor_view(&target, call->out[0], ndim, sizes, steps, 0);
    if (status == TD_OK) {
        status = td_copy(target, source);
        td_tensor_free(target);
    }
    td_tensor_free(source);
    return status;
}

td_status td_op_pixel_shuffle(td_call *call)
{
    int64_t r = TD_INT(1), square, height, width;
    TD_TRY(check_image("pixel_shuffle", SELF, "upscale_factor", r));
    const int64_t *n = SELF->sizes + SELF->ndim - 3, *step = SELF->strides + SELF->ndim - 3;
    if (td_mul_overflows(r, r, &square) || td_mul_overflows(n[1], r, &height) ||
        td_mul_overflows(n[2], r, &width))
        return too_large("pixel_shuffle", r);
    if (n[0] % square)
        return td_fail(
            TD_RUNTIME_ERROR,
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            "of upscale_factor, but input.size(-3)=%lld is not divisible by %lld",
            LL(n[0]), LL(square));
    const int64_t channels = n[0] / square, last[] = {channels, height, width},
                  split[] = {channels, n[1], r, n[2], r},
                  strides[] = {times(step[0], square), step[1], times(step[0], r), step[2],
                               step[0]};
    return copy_split(call, last, split, strides);
}

td_status td_op_pixel_unshuffle(td_call *call)
{
    int64_t r = TD_INT(1), channels;
    TD_TRY(check_image("pixel_unshuffle", SELF, "downscale_factor", r));
    const int64_t *n = SELF->sizes + SELF->ndim - 3, *step = SELF->strides + SELF->ndim - 3;
    if (n[1] % r || n[2] % r)
        return td_fail(TD_RUNTIME_ERROR,
                       "pixel_unshuffle expects height and width to be divisible by "
                       "downscale_factor, but %lld x %lld is not divisible by %lld",
                       LL(n[1]), LL(n[2]), LL(r));
    if (td_mul_overflows(n[0], r, &channels) || td_mul_overflows(channels, r, &channels))
        return too_large("pixel_unshuffle", r);
    const int64_t height = n[1] / r, width = n[2] / r, last[] = {channels, height, width},
                  split[] = {n[0], r, r, height, width},
                  strides[] = {step[0], step[1], step[2], times(step[1], r), times(step[2], r)};
    return copy_split(call, last, split, strides);
}
