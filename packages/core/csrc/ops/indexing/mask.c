/* mask.c - operators on masks: masked_fill, masked_select, masked_scatter, nonzero, and
 * where(condition). */
#include <string.h>
#include "cpu/indexing_mask_run.h"
#include "ops/creation.h"
#include "ops/indexing/index.h"
#include "ops/layout.h"
#include "ops/view/view.h"

#define SELF TD_TENSOR(0)
#define OUT (&call->out[0])

/* ---- masks ---- */

static td_status no_values(const char *name)
{
    return td_fail(
        TD_NOT_IMPLEMENTED,
        "%s: the shape of the result depends on values, which a meta tensor does not have", name);
}

static td_status check_mask(const char *name, const td_tensor *mask)
{
    if (mask->dtype == TD_BOOL) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR, "%s only supports boolean masks, but got mask with dtype %s",
                   name, td_dtypes[mask->dtype].name);
}

/* ---- the places of true elements ---- */

td_status td_index_true_places(td_tensor **out, const td_tensor *mask)
{
    td_tensor *bytes;
    td_mask_chunks c;
    if (td_is_meta(mask)) return no_values("nonzero");
    TD_TRY(td_cast_contiguous(&bytes, mask, TD_BOOL));
    if (!td_on_host(bytes)) {
        td_tensor *near;
        td_status moved = td_to_host(&near, bytes);
        td_tensor_free(bytes);
        TD_TRY(moved);
        bytes = near;
    }
    td_status status = td_mask_begin(&c, bytes);
    if (status == TD_OK) {
        status = td_tensor_empty(out, TD_I64, TD_CPU, 2, (int64_t[]){mask->ndim, c.total});
        if (status == TD_OK && (*out)->numel) td_mask_places(&c, *out, mask->ndim, mask->sizes);
        td_mask_end(&c);
    }
    td_tensor_free(bytes);
    return status;
}

/* the same where the mask lies */
static td_status true_places(td_tensor **out, const td_tensor *mask)
{
    td_tensor *rows;
    TD_TRY(td_index_true_places(&rows, mask));
    td_status status = td_moved_to(out, rows, (td_device)mask->device);
    td_tensor_free(rows);
    return status;
}

td_status td_op_nonzero(td_call *call)
{
    td_tensor *rows;
    TD_TRY(true_places(&rows, SELF));
    td_status status = td_view_transpose(OUT, rows, 0, 1);
    if (status == TD_OK && SELF->ndim == 0) { /* (0 dims, n): one step of nothing, or none */
        td_tensor_free(call->out[0]);
        call->out[0] = NULL;
        char any[16] = {0};
        td_tensor *bytes;
        status = td_cast_contiguous(&bytes, SELF, TD_BOOL);
        if (status == TD_OK) {
            status = td_element(bytes, any);
            td_tensor_free(bytes);
        }
        if (status == TD_OK) {
            int64_t sizes[] = {any[0] != 0, 0};
            status = td_tensor_empty(OUT, TD_I64, (td_device)SELF->device, 2, sizes);
        }
    }
    td_tensor_free(rows);
    return status;
}

/* where(condition), nonzero(as_tuple=True): one tensor a dimension; a 0-dim one counts as one of
 * size 1 */
td_status td_op_nonzero_numpy(td_call *call)
{
    td_tensor *rows, *self;
    int64_t one = 1;
    TD_TRY(SELF->ndim ? td_tensor_alias(&self, SELF) : td_view_sizes(&self, SELF, 1, &one));
    td_status status = true_places(&rows, self);
    if (status == TD_OK) {
        status = td_outs(call, self->ndim);
        for (int d = 0; d < self->ndim && status == TD_OK; d++)
            status = td_view_select(&call->outs[d], rows, 0, d);
        td_tensor_free(rows);
    }
    td_tensor_free(self);
    return status;
}

/* ---- masked_select ---- */

td_status td_index_compress(td_tensor **out, const td_tensor *self, const td_tensor *mask)
{
    td_tensor *bytes, *dense;
    td_mask_chunks c;
    TD_TRY(td_cast_contiguous(&bytes, mask, TD_BOOL));
    td_status status = td_contiguous(&dense, self);
    if (status == TD_OK && !td_on_host(self)) {
        status = td_places_compress(out, dense, bytes);
        td_tensor_free(dense);
    } else if (status == TD_OK) {
        status = td_mask_begin(&c, bytes);
        if (status == TD_OK) {
            status =
                td_tensor_empty(out, (td_dtype)self->dtype, (td_device)self->device, 1, &c.total);
            if (status == TD_OK && c.total) td_mask_compress(&c, *out, dense);
            td_mask_end(&c);
        }
        td_tensor_free(dense);
    }
    td_tensor_free(bytes);
    return status;
}

/* Both operands as views of their common shape. */
static td_status expand_both(const td_tensor *a, const td_tensor *b, td_tensor **wide_a,
                             td_tensor **wide_b)
{
    int64_t sizes[TD_MAX_DIMS];
    int n;
    TD_TRY(td_broadcast(a->ndim, a->sizes, b->ndim, b->sizes, &n, sizes));
    TD_TRY(td_view_expand(wide_a, a, n, sizes));
    td_status status = td_view_expand(wide_b, b, n, sizes);
    if (status != TD_OK) td_tensor_free(*wide_a);
    return status;
}

td_status td_op_masked_select(td_call *call)
{
    td_tensor *self, *mask;
    TD_TRY(check_mask("masked_select", TD_TENSOR(1)));
    if (td_is_meta(SELF)) return no_values("masked_select");
    TD_TRY(expand_both(SELF, TD_TENSOR(1), &self, &mask));
    td_status status = td_index_compress(OUT, self, mask);
    td_tensor_free(self);
    td_tensor_free(mask);
    return status;
}

/* ---- masked_fill ---- */

td_status td_index_masked_fill(td_tensor *out, const td_tensor *self, const td_tensor *mask,
                               const td_scalar *value)
{
    return td_places_fill(out, self, mask, value);
}

/* In place: each element is read before it is written, so the mask may be the tensor itself, but no
 * part of it. */
static td_status fill_self(td_tensor *self, const td_tensor *mask, const td_scalar *value)
{
    td_tensor *own;
    if (self->numel == 0) return TD_OK;
    if (td_has_zero_stride(self)) return td_fail_overlap_within();
    td_overlap how = td_may_overlap(self, mask) ? td_overlap_of(self, mask) : TD_APART;
    if (how == TD_TANGLED) return td_fail_overlap();
    if (how != TD_UNCLEAR) return td_index_masked_fill(self, self, mask, value);
    TD_TRY(td_tensor_empty_like(&own, mask, TD_BOOL));
    td_status status = td_copy(own, mask);
    if (status == TD_OK) status = td_index_masked_fill(self, self, own, value);
    td_tensor_free(own);
    return status;
}

static td_status masked_fill(td_call *call, const td_scalar *value)
{
    int64_t sizes[TD_MAX_DIMS];
    int n;
    const td_tensor *mask = TD_TENSOR(1);
    char a[TD_SHAPE_TEXT], b[TD_SHAPE_TEXT];
    TD_TRY(check_mask("masked_fill", mask));
    TD_TRY(td_broadcast(SELF->ndim, SELF->sizes, mask->ndim, mask->sizes, &n, sizes));
    bool same = n == SELF->ndim && memcmp(sizes, SELF->sizes, (size_t)n * sizeof *sizes) == 0;
    if (call->out[0] && !same)
        return td_fail(TD_RUNTIME_ERROR,
                       "masked_fill_: output with shape %s doesn't match the broadcast shape %s",
                       td_shape_text(SELF->ndim, SELF->sizes, a), td_shape_text(n, sizes, b));
    td_dtype dtype = (td_dtype)SELF->dtype;
    td_device device = (td_device)SELF->device;
    if (call->out[0] && !td_is_meta(SELF)) return fill_self(SELF, mask, value);
    if (!call->out[0])
        TD_TRY(same ? td_empty_format(OUT, SELF, dtype, device, TD_PRESERVE_FORMAT)
                    : td_tensor_empty(OUT, dtype, device, n, sizes));
    if (td_is_meta(SELF) || call->out[0]->numel == 0) return TD_OK;
    return td_index_masked_fill(call->out[0], SELF, mask, value);
}

td_status td_op_masked_fill_scalar(td_call *call)
{
    TD_TRY(td_check_fits(&TD_SCALAR(2), (td_dtype)SELF->dtype));
    return masked_fill(call, &TD_SCALAR(2));
}

td_status td_index_number(td_scalar *out, const td_tensor *t)
{
    char element[16];
    TD_TRY(td_element(t, element));
    *out = td_scalar_load((td_dtype)t->dtype, element);
    return TD_OK;
}

td_status td_op_masked_fill_tensor(td_call *call)
{
    const td_tensor *value = TD_TENSOR(2);
    td_scalar number = td_scalar_int(0);
    if (value->ndim)
        return td_fail(TD_RUNTIME_ERROR,
                       "masked_fill only supports a 0-dimensional value tensor, but got tensor "
                       "with %d dimension(s).",
                       value->ndim);
    if (!td_is_meta(value)) TD_TRY(td_index_number(&number, value));
    TD_TRY(td_check_fits(&number, (td_dtype)SELF->dtype));
    return masked_fill(call, &number);
}

/* ---- masked_scatter: the next element of source at every true one ---- */

static td_status masked_scatter(td_tensor *out, const td_tensor *mask, const td_tensor *source)
{
    td_tensor *wide, *bytes, *dense;
    TD_TRY(td_view_expand(&wide, mask, out->ndim, out->sizes));
    td_status status = td_contiguous(&bytes, wide);
    td_tensor_free(wide);
    if (status != TD_OK) return status;
    status = td_contiguous(&dense, source);
    if (status == TD_OK) {
        status = td_places_place(out, bytes, dense);
        td_tensor_free(dense);
    }
    td_tensor_free(bytes);
    return status;
}

td_status td_op_masked_scatter(td_call *call)
{
    const td_tensor *mask = TD_TENSOR(1), *source = TD_TENSOR(2);
    td_tensor *self, *wide_mask;
    TD_TRY(check_mask("masked_scatter", mask));
    if (source->dtype != SELF->dtype)
        return td_fail(
            TD_RUNTIME_ERROR,
            "masked_scatter: expected self and source to have same dtypes but got %s and %s",
            td_dtypes[SELF->dtype].name, td_dtypes[source->dtype].name);
    TD_TRY(expand_both(SELF, mask, &self, &wide_mask));
    td_status status = td_tensor_empty(OUT, (td_dtype)self->dtype, (td_device)self->device,
                                       self->ndim, self->sizes);
    if (status == TD_OK && !td_is_meta(self)) {
        status = td_copy(call->out[0], self);
        if (status == TD_OK) status = masked_scatter(call->out[0], wide_mask, source);
    }
    td_tensor_free(self);
    td_tensor_free(wide_mask);
    return status;
}
