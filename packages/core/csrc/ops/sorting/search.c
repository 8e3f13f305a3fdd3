/* search.c - places in sorted sequences (searchsorted, bucketize) and counts of values (bincount,
 * histc). */
#include <string.h>
#include "cpu/indexing_run.h"
#include "cpu/sorting/search_run.h"
#include "ops/indexing/index.h"
#include "ops/view/view.h"
#include "runtime/alloc.h"
#include "runtime/device.h"

typedef struct search {
    const char *op;
    const td_tensor *sequence, *values, *sorter;
    bool right, narrow;
} search;

static bool is_ordered(td_dtype d) { return !td_is_complex(d) && !td_is_float8(d) && d <= TD_F64; }

/* what both are compared in: an integer beside a float32 keeps its digits */
static td_dtype common_dtype(const search *s)
{
    td_dtype a = (td_dtype)s->sequence->dtype, b = (td_dtype)s->values->dtype;
    if (td_is_integral(a) && td_is_integral(b)) return TD_I64;
    return td_is_integral(a) || td_is_integral(b) || a == TD_F64 || b == TD_F64 ? TD_F64 : TD_F32;
}

static td_status check_dtypes(const search *s)
{
    td_dtype a = (td_dtype)s->sequence->dtype, b = (td_dtype)s->values->dtype;
    if (!is_ordered(a) || !is_ordered(b))
        return td_fail(TD_NOT_IMPLEMENTED, "%s is not implemented for '%s'", s->op,
                       td_dtypes[is_ordered(a) ? b : a].type_name);
    return TD_OK;
}

static td_status check_sequence(const search *s)
{
    char a[TD_SHAPE_TEXT], b[TD_SHAPE_TEXT];
    const td_tensor *q = s->sequence, *v = s->values;
    if (q->ndim == 0)
        return td_fail(
            TD_RUNTIME_ERROR,
            "%s(): boundaries tensor should have positive dimension, but got 0 dimension", s->op);
    bool fits =
        q->ndim == 1 || (q->ndim == v->ndim &&
                         memcmp(q->sizes, v->sizes, (size_t)(q->ndim - 1) * sizeof *q->sizes) == 0);
    if (!fits)
        return td_fail(TD_RUNTIME_ERROR,
                       "%s(): boundaries should have 1 dimension, or all but the last in common "
                       "with the values, but they are %s and the values %s",
                       s->op, td_shape_text(q->ndim, q->sizes, a),
                       td_shape_text(v->ndim, v->sizes, b));
    if (s->narrow && q->sizes[q->ndim - 1] > INT32_MAX)
        return td_fail(
            TD_RUNTIME_ERROR,
            "%s(): the size of boundaries' last dimension should be less than %d, but we got %lld",
            s->op, INT32_MAX, (long long)q->sizes[q->ndim - 1]);
    return TD_OK;
}

static td_status check_sorter(const search *s)
{
    const td_tensor *sorter = s->sorter;
    if (!sorter) return TD_OK;
    if (!td_same_shape(sorter, s->sequence))
        return td_fail(TD_RUNTIME_ERROR, "%s(): boundary and sorter must have the same size",
                       s->op);
    if (sorter->dtype != TD_I64)
        return td_fail(TD_RUNTIME_ERROR,
                       "%s(): sorter must be a tensor of long dtype but got dtype %s", s->op,
                       td_dtypes[sorter->dtype].name);
    return TD_OK;
}

/* The host looks at the places of a sorter: no kernel reads beside the sequence. */
static td_status check_places(const td_tensor *sorter, int64_t n)
{
    td_tensor *near;
    TD_TRY(td_to_host(&near, sorter));
    td_status status = td_search_check(near, n);
    td_tensor_free(near);
    return status;
}

static td_status run_search(td_tensor *out, const search *s)
{
    td_tensor *q, *v = NULL, *sorter = NULL;
    td_dtype dtype = common_dtype(s);
    TD_TRY(td_cast_optional(&q, s->sequence, dtype));
    td_status status = td_cast_optional(&v, s->values, dtype);
    if (status == TD_OK) status = td_cast_optional(&sorter, s->sorter, TD_I64);
    if (status == TD_OK && sorter) status = check_places(sorter, q->sizes[q->ndim - 1]);
    td_search_job job = {out, q, v, sorter, s->right};
    if (status == TD_OK && td_on_host(v)) td_search_run(out, q, v, sorter, s->right);
    else if (status == TD_OK)
        status = td_work_run(TD_WORK_SEARCH, &job, (td_device)v->device, s->op);
    td_tensor_free(q);
    td_tensor_free(v);
    td_tensor_free(sorter);
    return status;
}

static td_status find_places(td_call *call, const search *s)
{
    TD_TRY(check_sequence(s));
    TD_TRY(check_dtypes(s));
    TD_TRY(check_sorter(s));
    TD_TRY(td_tensor_empty(&call->out[0], s->narrow ? TD_I32 : TD_I64, (td_device)s->values->device,
                           s->values->ndim, s->values->sizes));
    return td_is_meta(s->values) || s->values->numel == 0 ? TD_OK : run_search(call->out[0], s);
}

/* (sorted_sequence, self, out_int32, right, side, sorter) */
td_status td_op_searchsorted(td_call *call)
{
    search s = {"searchsorted",   TD_TENSOR(0),  TD_TENSOR(1),
                TD_OPT_TENSOR(5), TD_BOOLEAN(3), TD_BOOLEAN(2)};
    if (TD_HAS(4)) {
        const char *side = call->args[4].str;
        if (strcmp(side, "left") != 0 && strcmp(side, "right") != 0)
            return td_fail(TD_RUNTIME_ERROR,
                           "searchsorted(): side can only be 'left' or 'right' but got %s", side);
        if (s.right && strcmp(side, "left") == 0)
            return td_fail(TD_RUNTIME_ERROR, "searchsorted(): side 'left' contradicts right=True");
        s.right = strcmp(side, "right") == 0;
    }
    return find_places(call, &s);
}

/* (self, boundaries, out_int32, right) */
td_status td_op_bucketize(td_call *call)
{
    search s = {"bucketize", TD_TENSOR(1), TD_TENSOR(0), NULL, TD_BOOLEAN(3), TD_BOOLEAN(2)};
    if (s.sequence->ndim != 1)
        return td_fail(TD_RUNTIME_ERROR,
                       "bucketize(): boundaries tensor must be 1 dimension, but got dim(%d)",
                       s.sequence->ndim);
    return find_places(call, &s);
}

/* ---- bincount ---- */

/* The numbers as places of the counts, found by the host; those of one place are added up in their
 * order. */
static td_status count_elsewhere(td_tensor *out, const td_tensor *near, const td_tensor *weights)
{
    int64_t item = td_itemsize((td_dtype)out->dtype);
    td_scalar one = td_scalar_int(1), zero = td_scalar_int(0);
    td_tensor *ones = NULL, *at;
    if (near->numel == 0) return TD_OK;
    TD_TRY(td_tensor_empty(&at, TD_I64, TD_CPU, 1, &near->numel));
    td_status status = td_fill(at, &zero);
    if (status == TD_OK &&
        !td_index_add_offsets(td_data(at), near, &(td_index_steps){out->sizes[0], item, false}))
        status = td_index_changed();
    if (status == TD_OK && !weights) {
        status = td_tensor_empty(&ones, TD_I64, (td_device)out->device, 1, &near->numel);
        if (status == TD_OK) status = td_fill(ones, &one);
    }
    if (status == TD_OK)
        status = td_places_put_at(out, at, weights ? weights : ones, TD_PUT_ADD, "bincount");
    td_tensor_free(ones);
    td_tensor_free(at);
    return status;
}

/* (self, weights, minlength) */
td_status td_op_bincount(td_call *call)
{
    const td_tensor *self = TD_TENSOR(0), *weights = TD_OPT_TENSOR(1);
    td_tensor *x, *near = NULL, *w = NULL;
    int64_t length;
    td_scalar zero = td_scalar_int(0);
    td_dtype result = !weights ? TD_I64 : weights->dtype == TD_F32 ? TD_F32 : TD_F64;
    if (TD_INT(2) < 0)
        return td_fail(TD_RUNTIME_ERROR, "bincount: minlength should be >= 0, got %lld",
                       (long long)TD_INT(2));
    if (!td_is_integral((td_dtype)self->dtype) || self->dtype == TD_BOOL)
        return td_fail(TD_NOT_IMPLEMENTED,
                       "bincount is not implemented for '%s'; it takes integers",
                       td_dtypes[self->dtype].type_name);
    if (self->ndim != 1 && self->numel)
        return td_fail(TD_RUNTIME_ERROR,
                       "bincount only supports 1-d non-negative integral inputs, got %d dimensions",
                       self->ndim);
    if (weights && (weights->ndim != 1 || weights->numel != self->numel))
        return td_fail(TD_RUNTIME_ERROR,
                       "bincount: weights should be 1-d and have the same length as input, got "
                       "%lld and %lld elements",
                       (long long)weights->numel, (long long)self->numel);
    if (td_is_meta(self))
        return td_fail(
            TD_NOT_IMPLEMENTED,
            "bincount: the size of the result depends on values, which a meta tensor has not");
    TD_TRY(td_cast_optional(&x, self, TD_I64));
    td_status status = td_cast_optional(&w, weights, result);
    if (status == TD_OK) status = td_to_host(&near, x); /* the size depends on the numbers */
    if (status == TD_OK) status = td_count_length(near, TD_INT(2), &length);
    if (status == TD_OK)
        status = td_tensor_empty(&call->out[0], result, (td_device)self->device, 1, &length);
    if (status == TD_OK) status = td_fill(call->out[0], &zero);
    if (status == TD_OK && td_on_host(self)) td_count_run(call->out[0], near, w);
    else if (status == TD_OK) status = count_elsewhere(call->out[0], near, w);
    td_tensor_free(near);
    td_tensor_free(x);
    td_tensor_free(w);
    return status;
}

/* ---- histc ---- */

/* (self, bins, min, max) */
td_status td_op_histc(td_call *call)
{
    const td_tensor *self = TD_TENSOR(0);
    td_dtype dtype = (td_dtype)self->dtype, compute = dtype == TD_F64 ? TD_F64 : TD_F32;
    int64_t bins = TD_INT(1), places;
    double low = TD_SCALAR(2).re, high = TD_SCALAR(3).re;
    td_tensor *x, *counts = NULL;
    td_scalar zero = td_scalar_int(0);
    if (!td_is_floating(dtype) || td_is_float8(dtype))
        return td_fail(TD_NOT_IMPLEMENTED,
                       "histc is not implemented for '%s'; it takes floating-point tensors",
                       td_dtypes[dtype].type_name);
    if (bins <= 0)
        return td_fail(TD_RUNTIME_ERROR, "histc: bins must be > 0, but got %lld", (long long)bins);
    if (td_add_overflows(bins, 1, &places))
        return td_fail(TD_RUNTIME_ERROR, "histc: %lld bins are too many", (long long)bins);
    if (td_is_meta(self)) return td_tensor_empty(&call->out[0], dtype, TD_META, 1, &bins);
    TD_TRY(td_cast_optional(&x, self, compute));
    td_status status = td_histogram_range(x, &low, &high);
    if (status == TD_OK)
        status = td_tensor_empty(&counts, TD_I64, (td_device)self->device, 1, &places);
    if (status == TD_OK) status = td_fill(counts, &zero);
    if (status == TD_OK) {
        td_histogram_run(counts, x, low, high);
        counts->sizes[0] = counts->numel = bins; /* all but the place for what lies outside */
        status = td_cast(&call->out[0], counts, dtype);
    }
    td_tensor_free(counts);
    td_tensor_free(x);
    return status;
}
