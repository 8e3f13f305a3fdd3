/* split.c - one tensor cut into several views: unbind, split, chunk, tensor_split and their
 * relatives. */
#include "runtime/device.h"
#include "ops/view/view.h"

#define SELF TD_TENSOR(0)

static td_status need_dim(const td_tensor *self, const char *name)
{
    return self->ndim
               ? TD_OK
               : td_fail(TD_RUNTIME_ERROR,
                         "%s expects at least a 1-dimensional tensor, got a 0-dim one", name);
}

td_status td_op_unbind(td_call *call)
{
    int64_t dim;
    if (SELF->ndim == 0)
        return td_fail(TD_INDEX_ERROR,
                       "unbind: dimension specified as %lld but tensor has no dimensions",
                       (long long)TD_INT(1));
    TD_TRY(td_wrap_dim(TD_INT(1), SELF->ndim, &dim));
    TD_TRY(td_outs(call, SELF->sizes[dim]));
    for (int64_t i = 0; i < SELF->sizes[dim]; i++)
        TD_TRY(td_view_select(&call->outs[i], SELF, dim, i));
    return TD_OK;
}

/* Pieces of `length`, the last one shorter; at least one piece. */
static td_status split_evenly(td_call *call, int64_t dim, int64_t length)
{
    int64_t size = SELF->sizes[dim], n = size && length ? (size - 1) / length + 1 : 1;
    TD_TRY(td_outs(call, n));
    for (int64_t i = 0; i < n; i++) {
        int64_t from = i * length, to = size - from < length ? size : from + length;
        TD_TRY(td_view_slice(&call->outs[i], SELF, dim, from, to, 1));
    }
    return TD_OK;
}

td_status td_op_split(td_call *call)
{
    int64_t dim, length = TD_INT(1);
    TD_TRY(need_dim(SELF, "split"));
    TD_TRY(td_wrap_dim(TD_INT(2), SELF->ndim, &dim));
    if (length < 0)
        return td_fail(TD_RUNTIME_ERROR,
                       "split expects split_size be non-negative, but got split_size=%lld",
                       (long long)length);
    if (length == 0 && SELF->sizes[dim])
        return td_fail(
            TD_RUNTIME_ERROR,
            "split_size can only be 0 if dimension size is 0, but got dimension size of %lld",
            (long long)SELF->sizes[dim]);
    return split_evenly(call, dim, length);
}

static td_status check_split_sizes(const td_call *call, int64_t dim)
{
    char text[TD_SHAPE_TEXT];
    int64_t total = 0, n = TD_LEN(1);
    for (int64_t i = 0; i < n; i++) {
        if (TD_INTS(1)[i] < 0)
            return td_fail(TD_RUNTIME_ERROR,
                           "split_with_sizes expects split_sizes have only non-negative entries, "
                           "but got split_sizes=%s",
                           td_shape_text((int)n, TD_INTS(1), text));
        if (td_add_overflows(total, TD_INTS(1)[i], &total)) total = INT64_MAX;
    }
    if (total == SELF->sizes[dim]) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "split_with_sizes expects split_sizes to sum exactly to %lld (input tensor's "
                   "size at dimension %lld), but got split_sizes=%s",
                   (long long)SELF->sizes[dim], (long long)dim,
                   td_shape_text((int)n, TD_INTS(1), text));
}

td_status td_op_split_with_sizes(td_call *call)
{
    int64_t dim, from = 0;
    TD_TRY(need_dim(SELF, "split_with_sizes"));
    TD_TRY(td_wrap_dim(TD_INT(2), SELF->ndim, &dim));
    TD_TRY(check_split_sizes(call, dim));
    TD_TRY(td_outs(call, TD_LEN(1)));
    for (int64_t i = 0; i < TD_LEN(1); from += TD_INTS(1)[i++])
        TD_TRY(td_view_slice(&call->outs[i], SELF, dim, from, from + TD_INTS(1)[i], 1));
    return TD_OK;
}

td_status td_op_chunk(td_call *call)
{
    int64_t dim, chunks = TD_INT(1);
    TD_TRY(need_dim(SELF, "chunk"));
    if (chunks <= 0)
        return td_fail(TD_RUNTIME_ERROR, "chunk expects `chunks` to be greater than 0, got: %lld",
                       (long long)chunks);
    TD_TRY(td_wrap_dim(TD_INT(2), SELF->ndim, &dim));
    int64_t size = SELF->sizes[dim];
    if (size) return split_evenly(call, dim, (size - 1) / chunks + 1);
    TD_TRY(td_outs(call, chunks)); /* of nothing, as many pieces as were asked for */
    for (int64_t i = 0; i < chunks; i++) TD_TRY(td_view_slice(&call->outs[i], SELF, dim, 0, 0, 1));
    return TD_OK;
}

/* ---- tensor_split: uneven sections, or the positions of the cuts ---- */

static td_status split_sections(td_call *call, int64_t dim, int64_t sections)
{
    int64_t size = SELF->sizes[dim], from = 0;
    if (sections <= 0)
        return td_fail(TD_RUNTIME_ERROR,
                       "tensor_split: number of sections must be larger than 0, got %lld",
                       (long long)sections);
    TD_TRY(td_outs(call, sections));
    for (int64_t i = 0; i < sections; i++) {
        int64_t to = from + size / sections + (i < size % sections);
        TD_TRY(td_view_slice(&call->outs[i], SELF, dim, from, to, 1));
        from = to;
    }
    return TD_OK;
}

static td_status split_at(td_call *call, int64_t dim, int64_t n, const int64_t *cuts)
{
    TD_TRY(td_outs(call, n + 1));
    for (int64_t i = 0; i <= n; i++)
        TD_TRY(td_view_slice(&call->outs[i], SELF, dim, i ? cuts[i - 1] : 0,
                             i < n ? cuts[i] : SELF->sizes[dim], 1));
    return TD_OK;
}

static td_status split_dim(const td_call *call, int64_t wanted, int64_t *dim)
{
    TD_TRY(need_dim(SELF, "tensor_split"));
    return td_wrap_dim(wanted, SELF->ndim, dim);
}

td_status td_op_tensor_split_sections(td_call *call)
{
    int64_t dim;
    TD_TRY(split_dim(call, TD_INT(2), &dim));
    return split_sections(call, dim, TD_INT(1));
}

td_status td_op_tensor_split_indices(td_call *call)
{
    int64_t dim;
    TD_TRY(split_dim(call, TD_INT(2), &dim));
    return split_at(call, dim, TD_LEN(1), TD_INTS(1));
}

td_status td_op_tensor_split_tensor(td_call *call)
{
    const td_tensor *cuts = TD_TENSOR(1);
    int64_t dim, n = cuts->numel;
    if (cuts->dtype != TD_I64 || cuts->ndim > 1)
        return td_fail(TD_RUNTIME_ERROR,
                       "tensor_split: tensor_indices_or_sections must be int64 with at most one "
                       "dimension, got %s with %d dimensions",
                       td_dtypes[cuts->dtype].name, cuts->ndim);
    if (td_is_meta(cuts))
        return td_fail(TD_RUNTIME_ERROR, "tensor_split: the cuts are unknown on the meta device");
    TD_TRY(split_dim(call, TD_INT(2), &dim));
    td_tensor *host;
    TD_TRY(td_to_host(&host, cuts));
    const int64_t *data = td_data(host);
    td_status status =
        cuts->ndim ? split_at(call, dim, n, data) : split_sections(call, dim, data[0]);
    td_tensor_free(host);
    return status;
}

/* ---- hsplit, vsplit, dsplit: tensor_split along a fixed dimension, in equal sections ---- */

static td_status named_split(td_call *call, const char *name, int rank, int dim)
{
    char shape[TD_SHAPE_TEXT];
    if (SELF->ndim < rank)
        return td_fail(TD_RUNTIME_ERROR,
                       "%s requires a tensor with at least %d dimension%s, but got shape %s", name,
                       rank, rank > 1 ? "s" : "", td_shape_text(SELF->ndim, SELF->sizes, shape));
    if (call->args[1].kind == TD_ARG_INTS) return split_at(call, dim, TD_LEN(1), TD_INTS(1));
    int64_t sections = TD_INT(1), size = SELF->sizes[dim];
    if (sections <= 0 || size % sections)
        return td_fail(TD_RUNTIME_ERROR,
                       "%s attempted to split along dimension %d, but the size of the dimension "
                       "%lld is not divisible by the split_size %lld",
                       name, dim, (long long)size, (long long)sections);
    return split_sections(call, dim, sections);
}

td_status td_op_hsplit(td_call *call) { return named_split(call, "hsplit", 1, SELF->ndim > 1); }
td_status td_op_vsplit(td_call *call) { return named_split(call, "vsplit", 2, 0); }
td_status td_op_dsplit(td_call *call) { return named_split(call, "dsplit", 3, 2); }
