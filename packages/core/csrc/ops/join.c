/* join.c - cat and stack: tensors side by side along an old or a new dimension. */
#include <string.h>
#include "cpu/join_run.h"
#include "ops/layout.h"
#include "runtime/device.h"
#include "ops/view/view.h"

#define TENSORS (call->args[0].tensors)
#define COUNT TD_LEN(0)
#define OUT (&call->out[0])

/* ---- the common dtype ---- */

static td_status common_dtype(const td_call *call, td_dtype *out)
{
    int dtype = TENSORS[0]->dtype;
    for (int64_t i = 1; i < COUNT; i++) {
        int next = dtype == TENSORS[i]->dtype
                       ? dtype
                       : td_promote((td_dtype)dtype, (td_dtype)TENSORS[i]->dtype);
        if (next < 0)
            return td_fail(TD_RUNTIME_ERROR,
                           "cannot join tensors of %s and %s: the two have no common dtype",
                           td_dtypes[dtype].name, td_dtypes[TENSORS[i]->dtype].name);
        dtype = next;
    }
    *out = (td_dtype)dtype;
    return TD_OK;
}

/* ---- copying ---- */

/* Blocks can be copied as bytes if everything is row-major and of one dtype. */
static bool plain(const td_pieces *p, const td_tensor *out)
{
    if (!td_is_contiguous(out)) return false;
    for (int64_t i = 0; i < p->count; i++)
        if (p->tensors[i]->dtype != out->dtype || !td_is_contiguous(p->tensors[i])) return false;
    return true;
}

static td_status copy_each(const td_pieces *p, const td_tensor *out)
{
    int64_t at = 0;
    for (int64_t i = 0; i < p->count; i++) {
        td_tensor *target;
        if (p->tensors[i]->numel == 0) continue;
        int64_t steps = td_steps_of(p, p->tensors[i]);
        TD_TRY(p->stacked ? td_view_select(&target, out, p->dim, at)
                          : td_view_slice(&target, out, p->dim, at, at + steps, 1));
        td_status status = td_copy(target, p->tensors[i]);
        td_tensor_free(target);
        if (status != TD_OK) return status;
        at += steps;
    }
    return TD_OK;
}

static td_status copy_pieces(td_call *call, int dim, bool stacked)
{
    td_tensor *out = call->out[0];
    td_pieces p = {.tensors = TENSORS, .count = COUNT, .dim = dim, .stacked = stacked};
    int64_t rows = 1;
    if (out->numel == 0 || td_is_meta(out)) return TD_OK;
    for (int d = 0; d < dim; d++) rows *= out->sizes[d];
    p.inner_bytes = td_itemsize((td_dtype)out->dtype);
    for (int d = dim + 1; d < out->ndim; d++) p.inner_bytes *= out->sizes[d];
    /* then each piece is shared out by itself */
    bool few_rows = rows < 4 && (double)out->numel * (double)p.inner_bytes > TD_JOIN_PARALLEL;
    if (few_rows || !td_on_host(out) || !plain(&p, out)) return copy_each(&p, out);
    td_join_run(&p, out, rows);
    return TD_OK;
}

/* ---- cat ---- */

/* A 1-dim tensor without elements joins anything: it is skipped. */
static bool skipped(const td_tensor *t) { return t->ndim == 1 && t->numel == 0; }

static td_status cat_mismatch(const td_call *call, const td_tensor *first, int64_t dim, int64_t i)
{
    const td_tensor *t = TENSORS[i];
    char a[TD_SHAPE_TEXT], b[TD_SHAPE_TEXT];
    td_shape_text(first->ndim, first->sizes, a);
    td_shape_text(t->ndim, t->sizes, b);
    if (t->ndim != first->ndim)
        return td_fail(TD_RUNTIME_ERROR,
                       "cat: Tensors must have same number of dimensions: got %d %s and %d %s "
                       "(tensor number %lld in the list)",
                       first->ndim, a, t->ndim, b, (long long)i);
    return td_fail(TD_RUNTIME_ERROR,
                   "cat: Sizes of tensors must match except in dimension %lld. Expected %s but got "
                   "%s for tensor number %lld in the list.",
                   (long long)dim, a, b, (long long)i);
}

static bool joins(const td_tensor *first, const td_tensor *t, int64_t dim)
{
    if (t->ndim != first->ndim) return false;
    for (int d = 0; d < t->ndim; d++)
        if (d != dim && t->sizes[d] != first->sizes[d]) return false;
    return true;
}

static td_status cat_shape(const td_call *call, const td_tensor *first, int64_t dim, int64_t *sizes)
{
    memcpy(sizes, first->sizes, (size_t)first->ndim * sizeof *sizes);
    sizes[dim] = 0;
    for (int64_t i = 0; i < COUNT; i++) {
        if (skipped(TENSORS[i])) continue;
        if (!joins(first, TENSORS[i], dim)) return cat_mismatch(call, first, dim, i);
        if (td_add_overflows(sizes[dim], TENSORS[i]->sizes[dim], &sizes[dim]))
            return td_fail(TD_RUNTIME_ERROR, "cat: the size of dimension %lld overflowed 64 bits",
                           (long long)dim);
    }
    return TD_OK;
}

/* The one that decides about dimensions; NULL if all are skipped. */
static const td_tensor *leader(const td_call *call)
{
    for (int64_t i = 0; i < COUNT; i++)
        if (!skipped(TENSORS[i])) return TENSORS[i];
    return NULL;
}

static td_memory_format cat_format(const td_call *call)
{
    int ndim = TENSORS[0]->ndim;
    for (int64_t i = 0; i < COUNT; i++)
        if (td_is_contiguous(TENSORS[i]) || !td_is_channels_last(TENSORS[i]) ||
            TENSORS[i]->ndim != ndim)
            return TD_CONTIGUOUS_FORMAT;
    return ndim == 4 ? TD_CHANNELS_LAST : TD_CHANNELS_LAST_3D;
}

td_status td_op_cat(td_call *call)
{
    int64_t dim, sizes[TD_MAX_DIMS], strides[TD_MAX_DIMS], numel;
    td_dtype dtype = TD_F32;
    if (COUNT == 0) return td_fail(TD_VALUE_ERROR, "cat: expected a non-empty list of Tensors");
    for (int64_t i = 0; i < COUNT; i++)
        if (TENSORS[i]->ndim == 0)
            return td_fail(TD_RUNTIME_ERROR,
                           "cat: zero-dimensional tensor (at position %lld) cannot be concatenated",
                           (long long)i);
    TD_TRY(common_dtype(call, &dtype));
    const td_tensor *first = leader(call);
    td_device device = (td_device)TENSORS[0]->device;
    if (!first) return td_tensor_empty(OUT, dtype, device, 1, (int64_t[]){0});
    TD_TRY(td_wrap_dim(TD_INT(1), first->ndim, &dim));
    TD_TRY(cat_shape(call, first, dim, sizes));
    TD_TRY(td_numel(first->ndim, sizes, &numel));
    TD_TRY(td_format_strides(cat_format(call), first->ndim, sizes, strides));
    TD_TRY(td_tensor_empty_strided(OUT, dtype, device, first->ndim, sizes, strides));
    return copy_pieces(call, (int)dim, false);
}

/* ---- stack ---- */

td_status td_op_stack(td_call *call)
{
    int64_t dim, sizes[TD_MAX_DIMS + 1];
    td_dtype dtype = TD_F32;
    char a[TD_SHAPE_TEXT], b[TD_SHAPE_TEXT];
    if (COUNT == 0) return td_fail(TD_RUNTIME_ERROR, "stack expects a non-empty TensorList");
    const td_tensor *first = TENSORS[0];
    TD_TRY(td_wrap_dim(TD_INT(1), first->ndim + 1, &dim));
    for (int64_t i = 1; i < COUNT; i++)
        if (!td_same_shape(first, TENSORS[i]))
            return td_fail(TD_RUNTIME_ERROR,
                           "stack expects each tensor to be equal size, but got %s at entry 0 and "
                           "%s at entry %lld",
                           td_shape_text(first->ndim, first->sizes, a),
                           td_shape_text(TENSORS[i]->ndim, TENSORS[i]->sizes, b), (long long)i);
    TD_TRY(common_dtype(call, &dtype));
    for (int64_t d = 0; d <= first->ndim; d++)
        sizes[d] = d < dim ? first->sizes[d] : d == dim ? COUNT : first->sizes[d - 1];
    TD_TRY(td_tensor_empty(OUT, dtype, (td_device)first->device, first->ndim + 1, sizes));
    return copy_pieces(call, (int)dim, true);
}
