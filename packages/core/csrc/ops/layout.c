/* layout.c - memory formats: which strides a new tensor gets. */
#include "ops/layout.h"
#include <string.h>

/* Row-major strides over the dimensions in `order`, the outermost first. */
static void strides_in_order(int ndim, const int64_t *sizes, const int *order, int64_t *strides)
{
    uint64_t step = 1; /* wraps where the tensor is too large, which who allocates it refuses */
    for (int i = ndim - 1; i >= 0; i--) {
        strides[order[i]] = (int64_t)step;
        step *= sizes[order[i]] > 1 ? (uint64_t)sizes[order[i]] : 1;
    }
}

td_status td_format_strides(td_memory_format format, int ndim, const int64_t *sizes,
                            int64_t *strides)
{
    static const int order4[] = {0, 2, 3, 1}, order5[] = {0, 2, 3, 4, 1};
    int wanted = format == TD_CHANNELS_LAST ? 4 : format == TD_CHANNELS_LAST_3D ? 5 : ndim;
    if (ndim != wanted)
        return td_fail(TD_RUNTIME_ERROR, "required rank %d tensor to use %s format, got rank %d",
                       wanted, wanted == 4 ? "channels_last" : "channels_last_3d", ndim);
    if (format == TD_CHANNELS_LAST) strides_in_order(4, sizes, order4, strides);
    else if (format == TD_CHANNELS_LAST_3D) strides_in_order(5, sizes, order5, strides);
    else td_row_major(ndim, sizes, strides);
    return TD_OK;
}

/* 1: a lies outside b; -1: inside; 0: their strides do not say (expanded dimensions). */
static int compare_dims(const td_tensor *t, int a, int b)
{
    int64_t x = t->strides[a], y = t->strides[b];
    if (x == 0 || y == 0) return 0;
    if (x != y) return x > y ? 1 : -1;
    return t->sizes[a] > t->sizes[b] ? 1 : 0;
}

void td_dense_strides_like(const td_tensor *like, int64_t *strides)
{
    int order[TD_MAX_DIMS], n = like->ndim; /* outermost first */
    if (td_is_dense(like)) {
        memcpy(strides, like->strides, (size_t)n * sizeof *strides);
        return;
    }
    for (int i = 0; i < n; i++) order[i] = i;
    /* insert dimension i among those after it; undecided pairs are passed over */
    for (int i = n - 2; i >= 0; i--) {
        int at = i;
        for (int j = i + 1; j < n; j++) {
            int side = compare_dims(like, order[at], order[j]);
            if (side > 0) break;
            if (side == 0) continue;
            int moved = order[at];
            order[at] = order[j];
            order[j] = moved;
            at = j;
        }
    }
    strides_in_order(n, like->sizes, order, strides);
}

td_status td_has_format(const td_tensor *self, td_memory_format format, bool *out)
{
    int64_t wanted[TD_MAX_DIMS];
    if (format == TD_PRESERVE_FORMAT)
        return td_fail(TD_RUNTIME_ERROR, "contiguous: preserve_format is not a layout to ask for");
    if (format == TD_CONTIGUOUS_FORMAT) {
        *out = td_is_contiguous(self);
        return TD_OK;
    }
    TD_TRY(td_format_strides(format, self->ndim, self->sizes, wanted));
    *out = true;
    for (int d = 0; d < self->ndim && self->numel; d++)
        if (self->sizes[d] != 1 && self->strides[d] != wanted[d]) *out = false;
    return TD_OK;
}

td_status td_empty_format(td_tensor **out, const td_tensor *like, td_dtype dtype, td_device device,
                          td_memory_format format)
{
    int64_t strides[TD_MAX_DIMS], numel;
    if (format == TD_PRESERVE_FORMAT) td_dense_strides_like(like, strides);
    else TD_TRY(td_format_strides(format, like->ndim, like->sizes, strides));
    TD_TRY(td_numel(like->ndim, like->sizes, &numel));
    return td_tensor_empty_strided(out, dtype, device, like->ndim, like->sizes, strides);
}

td_status td_match_channels_last(td_tensor **out, const td_tensor *like)
{
    td_tensor *again;
    if (td_is_contiguous(like) || !td_is_channels_last(like) || (*out)->ndim != like->ndim)
        return TD_OK;
    TD_TRY(td_empty_format(&again, *out, (td_dtype)(*out)->dtype, (td_device)(*out)->device,
                           like->ndim == 4 ? TD_CHANNELS_LAST : TD_CHANNELS_LAST_3D));
    td_status status = td_is_meta(*out) ? TD_OK : td_copy(again, *out);
    td_tensor_free(status == TD_OK ? *out : again);
    if (status == TD_OK) *out = again;
    return status;
}
