/* padding_inside.c - _pad_inside: a border of what is inside, mirrored or repeated; negative
 * padding cuts. */
#include "cpu/padding_run.h"
#include "ops/indexing/index.h"
#include "ops/layout.h"
#include "runtime/alloc.h"

#define SELF TD_TENSOR(0)
#define OUT (&call->out[0])
#define LL(x) ((long long)(x))

/* One pair of `padding`: for the last dimension, the one before it, ... */
static td_status padded_size(const td_call *call, int pair, td_border border, int64_t *size)
{
    int64_t before = TD_INTS(1)[2 * pair], after = TD_INTS(1)[2 * pair + 1];
    int64_t in = SELF->sizes[SELF->ndim - 1 - pair];
    char shape[TD_SHAPE_TEXT];
    if (border == TD_REFLECT && (before >= in || after >= in))
        return td_fail(TD_RUNTIME_ERROR,
                       "Padding size should be less than the corresponding input dimension, but "
                       "got: padding (%lld, %lld) at dimension %d of input %s",
                       LL(before), LL(after), -1 - pair,
                       td_shape_text(SELF->ndim, SELF->sizes, shape));
    if (border == TD_REPLICATE && in == 0)
        return td_fail(TD_RUNTIME_ERROR, "pad: nothing to replicate in dimension %d of input %s",
                       -1 - pair, td_shape_text(SELF->ndim, SELF->sizes, shape));
    if (before < -INT64_MAX / 2 || td_add_overflows(in, before, size) ||
        td_add_overflows(*size, after, size) || *size < 1)
        return td_fail(TD_RUNTIME_ERROR,
                       "pad: size %lld of dimension %d is too small for padding (%lld, %lld)",
                       LL(in), -1 - pair, LL(before), LL(after));
    return TD_OK;
}

static void fill_places(const td_call *call, td_placing *p, int64_t *places, td_border border)
{
    int last = p->ndim - 1;
    p->begin = 0;
    p->end = p->out[last];
    for (int pair = 0; pair < TD_LEN(1) / 2; pair++) {
        int d = last - pair;
        int64_t before = TD_INTS(1)[2 * pair], after = TD_INTS(1)[2 * pair + 1];
        if (before == 0 && after == 0) continue;
        td_border_places(places, p->out[d], before, p->in[d], border);
        p->place[d] = places;
        places += p->out[d];
        if (pair > 0) continue;
        p->begin = before > 0 ? before : 0;
        p->end = p->out[d] - (after > 0 ? after : 0);
        if (p->begin >= p->end) p->begin = p->end = 0; /* borders only */
    }
}

static td_status run(td_call *call, const td_tensor *from, td_border border)
{
    td_placing p = {.from = td_data(from),
                    .to = td_data(call->out[0]),
                    .ndim = from->ndim,
                    .itemsize = td_itemsize((td_dtype)from->dtype)};
    int64_t count = 0;
    for (int d = 0; d < p.ndim; d++) {
        p.in[d] = from->sizes[d];
        p.out[d] = call->out[0]->sizes[d];
        if (d >= p.ndim - TD_LEN(1) / 2) count += p.out[d];
    }
    int64_t bytes = count * (int64_t)sizeof(int64_t), *places = td_alloc(bytes);
    if (!places)
        return td_fail(TD_MEMORY_ERROR, "pad: no memory for %lld bytes of places", LL(bytes));
    fill_places(call, &p, places, border);
    td_placing_run(&p);
    td_free(places, bytes);
    return TD_OK;
}

/* ---- on a device: a dimension at a time, gathered along it ---- */

/* The places of dimension d of `from`, on its device, as indices of the shape `sizes`: one line of
 * numbers, of stride 0 in every other dimension. */
static td_status places_along(td_tensor **out, const td_tensor *from, const int64_t *sizes, int d,
                              int64_t before, td_border border)
{
    int64_t strides[TD_MAX_DIMS] = {0};
    td_tensor *line, *there;
    strides[d] = 1;
    TD_TRY(td_tensor_empty(&line, TD_I64, TD_CPU, 1, &sizes[d]));
    td_border_places_of(line, before, from->sizes[d], border);
    td_status status = td_sent_constant(&there, line, (td_device)from->device);
    td_tensor_free(line);
    if (status != TD_OK) return status;
    status = td_tensor_view(out, there, from->ndim, sizes, strides, there->offset);
    td_tensor_free(there);
    return status;
}

/* `from` with dimension d padded, row-major */
static td_status pad_dimension(td_tensor **out, const td_tensor *from, int d, int64_t before,
                               int64_t size, td_border border)
{
    int64_t sizes[TD_MAX_DIMS];
    td_tensor *places;
    bool inside;
    for (int k = 0; k < from->ndim; k++) sizes[k] = k == d ? size : from->sizes[k];
    TD_TRY(places_along(&places, from, sizes, d, before, border));
    td_status status =
        td_tensor_empty(out, (td_dtype)from->dtype, (td_device)from->device, from->ndim, sizes);
    if (status == TD_OK) {
        status = td_places_gather(*out, places, from, d, &inside);
        if (status != TD_OK) td_tensor_free(*out);
    }
    td_tensor_free(places);
    return status;
}

static td_status pad_elsewhere(td_call *call, td_tensor *dense, td_border border)
{
    td_tensor *now, *next;
    TD_TRY(td_tensor_alias(&now, dense));
    for (int pair = 0; pair < TD_LEN(1) / 2; pair++) {
        int d = SELF->ndim - 1 - pair;
        int64_t before = TD_INTS(1)[2 * pair], size = call->out[0]->sizes[d];
        if (before == 0 && size == now->sizes[d]) continue;
        td_status status = pad_dimension(&next, now, d, before, size, border);
        td_tensor_free(now);
        if (status != TD_OK) return status;
        now = next;
    }
    td_status status = td_copy(call->out[0], now);
    td_tensor_free(now);
    return status;
}

td_status td_op__pad_inside(td_call *call)
{
    int64_t sizes[TD_MAX_DIMS], pairs = TD_LEN(1) / 2;
    td_tensor *dense;
    if (TD_LEN(1) % 2 || pairs < 1 || pairs > SELF->ndim || TD_INT(2) < 0 ||
        TD_INT(2) > TD_REPLICATE)
        return td_fail(
            TD_RUNTIME_ERROR,
            "_pad_inside: wanted 1 to %d pairs and mode 0 or 1, got %lld sizes and mode %lld",
            SELF->ndim, LL(TD_LEN(1)), LL(TD_INT(2)));
    for (int d = 0; d < SELF->ndim; d++) sizes[d] = SELF->sizes[d];
    for (int pair = 0; pair < pairs; pair++)
        if (TD_INTS(1)[2 * pair] || TD_INTS(1)[2 * pair + 1])
            TD_TRY(padded_size(call, pair, (td_border)TD_INT(2), &sizes[SELF->ndim - 1 - pair]));
    TD_TRY(td_tensor_empty(OUT, (td_dtype)SELF->dtype, (td_device)SELF->device, SELF->ndim, sizes));
    if (td_is_meta(SELF) || call->out[0]->numel == 0) return TD_OK;
    TD_TRY(td_cast_contiguous(&dense, SELF, (td_dtype)SELF->dtype));
    td_status status = SELF->device == TD_CPU ? run(call, dense, (td_border)TD_INT(2))
                                              : pad_elsewhere(call, dense, (td_border)TD_INT(2));
    td_tensor_free(dense);
    return status;
}
