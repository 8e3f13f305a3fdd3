/* search.c - places in sorted sequences (searchsorted, bucketize) and counts of values (bincount, histc). */
#include <math.h>
#include <string.h>
#include "ops/view/view.h"
#include "runtime/pool.h"

/* ---- searching: elements of one of three types ---- */

typedef struct search_job {
    const char *sequence, *values;
    const int64_t *sorter;       /* NULL: the sequence is sorted as it lies */
    char *out;
    td_dtype dtype;              /* TD_I64, TD_F32 or TD_F64 */
    int64_t n, values_a_row; /* rows of the sequence have n elements; one row only: all values look there */
    bool right, narrow, one_row; /* narrow: int32 results */
} search_job;

/* The first place whose element is not less than v (or, on the right, is greater); a NaN looks past the
 * end. */
#define BISECT(name, T)                                                                                     \
    static int64_t name(const T *sequence, const int64_t *sorter, int64_t n, T v, bool right)               \
    {                                                                                                       \
        int64_t low = 0, high = n;                                                                          \
        while (low < high) {                                                                                \
            int64_t middle = low + (high - low) / 2;                                                        \
            T at = sequence[sorter ? sorter[middle] : middle];                                              \
            if (right ? !(at > v) : !(at >= v))                                                             \
                low = middle + 1;                                                                           \
            else                                                                                            \
                high = middle;                                                                              \
        }                                                                                                   \
        return low;                                                                                         \
    }
BISECT(bisect_i64, int64_t)
BISECT(bisect_f32, float)
BISECT(bisect_f64, double)

static void search_range(void *context, int64_t begin, int64_t end)
{
    const search_job *j = context;
    for (int64_t i = begin; i < end; i++) {
        int64_t row = j->one_row ? 0 : i / j->values_a_row * j->n, place;
        const int64_t *sorter = j->sorter ? j->sorter + row : NULL;
        if (j->dtype == TD_I64)
            place = bisect_i64((const int64_t *)j->sequence + row, sorter, j->n,
                               ((const int64_t *)j->values)[i], j->right);
        else if (j->dtype == TD_F32)
            place = bisect_f32((const float *)j->sequence + row, sorter, j->n, ((const float *)j->values)[i],
                               j->right);
        else
            place = bisect_f64((const double *)j->sequence + row, sorter, j->n,
                               ((const double *)j->values)[i], j->right);
        if (j->narrow)
            ((int32_t *)j->out)[i] = (int32_t)place;
        else
            ((int64_t *)j->out)[i] = place;
    }
}

typedef struct search {
    const char *op;
    const td_tensor *sequence, *values, *sorter;
    bool right, narrow;
} search;

static td_status check_dtypes(const search *s)
{
    td_dtype a = (td_dtype)s->sequence->dtype, b = (td_dtype)s->values->dtype;
    if (a != b)
        return td_fail(
            TD_RUNTIME_ERROR,
            "%s(): boundary tensor should have same dtype as input value tensor, but got boundary tensor "
            "dtype %s and input value tensor dtype %s",
            s->op, td_dtypes[a].name, td_dtypes[b].name);
    if (td_is_complex(a) || td_is_float8(a) || a > TD_F64)
        return td_fail(TD_NOT_IMPLEMENTED, "%s is not implemented for '%s'", s->op, td_dtypes[a].type_name);
    return TD_OK;
}

static td_status check_sequence(const search *s)
{
    char a[TD_SHAPE_TEXT], b[TD_SHAPE_TEXT];
    const td_tensor *q = s->sequence, *v = s->values;
    if (q->ndim == 0)
        return td_fail(TD_RUNTIME_ERROR,
                       "%s(): boundaries tensor should have positive dimension, but got 0 dimension", s->op);
    bool fits = q->ndim == 1 || (q->ndim == v->ndim &&
                                 memcmp(q->sizes, v->sizes, (size_t)(q->ndim - 1) * sizeof *q->sizes) == 0);
    if (!fits)
        return td_fail(
            TD_RUNTIME_ERROR,
            "%s(): boundaries should have 1 dimension, or all but the last in common with the "
            "values, but they are %s and the values %s",
            s->op, td_shape_text(q->ndim, q->sizes, a), td_shape_text(v->ndim, v->sizes, b));
    if (s->narrow && q->sizes[q->ndim - 1] > INT32_MAX)
        return td_fail(TD_RUNTIME_ERROR,
                       "%s(): the size of boundaries' last dimension should be less than %d, but we got %lld",
                       s->op, INT32_MAX, (long long)q->sizes[q->ndim - 1]);
    return TD_OK;
}

static td_status check_sorter(const search *s)
{
    const td_tensor *sorter = s->sorter;
    if (!sorter) return TD_OK;
    if (!td_same_shape(sorter, s->sequence))
        return td_fail(TD_RUNTIME_ERROR, "%s(): boundary and sorter must have the same size", s->op);
    if (sorter->dtype != TD_I64)
        return td_fail(TD_RUNTIME_ERROR, "%s(): sorter must be a tensor of long dtype but got dtype %s",
                       s->op, td_dtypes[sorter->dtype].name);
    return TD_OK;
}

static td_status check_sorter_values(const td_tensor *sorter, int64_t n)
{
    const int64_t *at = td_data(sorter);
    for (int64_t i = 0; i < sorter->numel; i++)
        if (at[i] < 0 || at[i] >= n)
            return td_fail(TD_RUNTIME_ERROR,
                           "searchsorted(): sorter index out of range: %lld in a dimension of %lld",
                           (long long)at[i], (long long)n);
    return TD_OK;
}

static td_status run_search(td_tensor *out, const search *s)
{
    td_tensor *q, *v = NULL, *sorter = NULL;
    td_dtype own = (td_dtype)s->values->dtype, dtype = td_is_integral(own) ? TD_I64
                                                       : own == TD_F64     ? TD_F64
                                                                           : TD_F32;
    TD_TRY(td_cast_optional(&q, s->sequence, dtype));
    td_status status = td_cast_optional(&v, s->values, dtype);
    if (status == TD_OK) status = td_cast_optional(&sorter, s->sorter, TD_I64);
    int64_t n = q->sizes[q->ndim - 1];
    if (status == TD_OK && sorter) status = check_sorter_values(sorter, n);
    if (status == TD_OK) {
        search_job j = {td_data(q), td_data(v), sorter ? td_data(sorter) : NULL, td_data(out), dtype, n,
                        v->ndim ? v->sizes[v->ndim - 1] : 1, s->right, s->narrow, q->ndim == 1};
        void *token = td_heavy_begin((double)v->numel * 20);
        td_parallel(v->numel, 2048, search_range, &j);
        td_heavy_end(token);
    }
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
    search s = {"searchsorted", TD_TENSOR(0), TD_TENSOR(1), TD_OPT_TENSOR(5), TD_BOOLEAN(3), TD_BOOLEAN(2)};
    if (TD_HAS(4)) {
        const char *side = call->args[4].str;
        if (strcmp(side, "left") != 0 && strcmp(side, "right") != 0)
            return td_fail(TD_RUNTIME_ERROR, "searchsorted(): side can only be 'left' or 'right' but got %s",
                           side);
        if (s.right && strcmp(side, "left") == 0)
            return td_fail(
                TD_RUNTIME_ERROR,
                "searchsorted(): side 'left' contradicts right=True");
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
    if (s.sequence->dtype == s.values->dtype) return find_places(call, &s);
    td_tensor *wide;
    int common = td_promote(s.sequence->dtype, s.values->dtype);
    if (common < 0) return check_dtypes(&s);
    TD_TRY(td_cast(&wide, s.sequence, (td_dtype)common));
    s.sequence = wide;
    td_tensor *values;
    td_status status = td_cast(&values, s.values, (td_dtype)common);
    if (status == TD_OK) {
        s.values = values;
        status = find_places(call, &s);
        td_tensor_free(values);
    }
    td_tensor_free(wide);
    return status;
}

/* ---- bincount ---- */

static td_status count_length(const td_tensor *x, int64_t minlength, int64_t *length)
{
    const int64_t *at = td_data(x);
    *length = minlength;
    for (int64_t i = 0; i < x->numel; i++) {
        if (at[i] < 0)
            return td_fail(TD_RUNTIME_ERROR,
                           "bincount only supports 1-d non-negative integral inputs, got %lld",
                           (long long)at[i]);
        if (at[i] >= *length && td_add_overflows(at[i], 1, length))
            return td_fail(TD_RUNTIME_ERROR, "bincount: %lld is too large", (long long)at[i]);
    }
    return TD_OK;
}

static void add_counts(td_tensor *out, const td_tensor *x, const td_tensor *weights)
{
    const int64_t *at = td_data(x);
    for (int64_t i = 0; i < x->numel; i++) {
        if (!weights)
            ((int64_t *)td_data(out))[at[i]]++;
        else if (weights->dtype == TD_F32)
            ((float *)td_data(out))[at[i]] += ((const float *)td_data(weights))[i];
        else
            ((double *)td_data(out))[at[i]] += ((const double *)td_data(weights))[i];
    }
}

/* (self, weights, minlength) */
td_status td_op_bincount(td_call *call)
{
    const td_tensor *self = TD_TENSOR(0), *weights = TD_OPT_TENSOR(1);
    td_tensor *x, *w = NULL;
    int64_t length;
    td_scalar zero = td_scalar_int(0);
    td_dtype result = !weights ? TD_I64 : weights->dtype == TD_F32 ? TD_F32 : TD_F64;
    if (TD_INT(2) < 0)
        return td_fail(TD_RUNTIME_ERROR, "bincount: minlength should be >= 0, got %lld",
                       (long long)TD_INT(2));
    if (!td_is_integral((td_dtype)self->dtype) || self->dtype == TD_BOOL)
        return td_fail(TD_NOT_IMPLEMENTED, "bincount is not implemented for '%s'; it takes integers",
                       td_dtypes[self->dtype].type_name);
    if (self->ndim != 1 && self->numel)
        return td_fail(TD_RUNTIME_ERROR,
                       "bincount only supports 1-d non-negative integral inputs, got %d dimensions",
                       self->ndim);
    if (weights && (weights->ndim != 1 || weights->numel != self->numel))
        return td_fail(
            TD_RUNTIME_ERROR,
            "bincount: weights should be 1-d and have the same length as input, got %lld and %lld elements",
            (long long)weights->numel, (long long)self->numel);
    if (td_is_meta(self))
        return td_fail(TD_NOT_IMPLEMENTED,
                       "bincount: the size of the result depends on values, which a meta tensor has not");
    TD_TRY(td_cast_optional(&x, self, TD_I64));
    td_status status = td_cast_optional(&w, weights, result);
    if (status == TD_OK) status = count_length(x, TD_INT(2), &length);
    if (status == TD_OK) status = td_tensor_empty(&call->out[0], result, TD_CPU, 1, &length);
    if (status == TD_OK) status = td_fill(call->out[0], &zero);
    if (status == TD_OK) add_counts(call->out[0], x, w);
    td_tensor_free(x);
    td_tensor_free(w);
    return status;
}

/* ---- histc ---- */

/* Bin k holds edge(k) <= x < edge(k + 1), the last one its upper edge too; the quotient is one off at most. */
#define HISTOGRAM(name, T)                                                                              \
    static void name(T *counts, const T *x, int64_t n, int64_t bins, T low, T high)                     \
    {                                                                                                   \
        double width = ((double)high - (double)low) / (double)bins;                                     \
        for (int64_t i = 0; i < n; i++) {                                                               \
            if (!(x[i] >= low && x[i] <= high)) continue;                                               \
            int64_t bin = (int64_t)(((double)x[i] - (double)low) / width);                              \
            bin = bin < bins ? bin : bins - 1;                                                          \
            if (bin + 1 < bins && x[i] >= (T)((double)low + (double)(bin + 1) * width)) bin++;          \
            if (bin > 0 && x[i] < (T)((double)low + (double)bin * width)) bin--;                        \
            counts[bin]++;                                                                              \
        }                                                                                               \
    }
HISTOGRAM(histogram_f32, float)
HISTOGRAM(histogram_f64, double)

/* The range of the elements where none is given; a single value gets one unit on either side. */
static td_status histogram_range(const td_tensor *x, double *low, double *high)
{
    if (*low == *high && x->numel) {
        *low = INFINITY;
        *high = -INFINITY;
        for (int64_t i = 0; i < x->numel; i++) {
            double v = x->dtype == TD_F64 ? ((const double *)td_data(x))[i]
                                          : (double)((const float *)td_data(x))[i];
            *low = v < *low || isnan(v) ? v : *low;
            *high = v > *high || isnan(v) ? v : *high;
        }
    }
    if (*low == *high) {
        *low -= 1;
        *high += 1;
    }
    if (!isfinite(*low) || !isfinite(*high))
        return td_fail(TD_RUNTIME_ERROR, "histc: range of [%g, %g] is not finite", *low, *high);
    if (*low > *high)
        return td_fail(TD_RUNTIME_ERROR, "histc: max must be larger than min, got %g and %g", *high, *low);
    return TD_OK;
}

/* (self, bins, min, max) */
td_status td_op_histc(td_call *call)
{
    const td_tensor *self = TD_TENSOR(0);
    td_dtype dtype = (td_dtype)self->dtype, compute = dtype == TD_F64 ? TD_F64 : TD_F32;
    int64_t bins = TD_INT(1);
    double low = TD_SCALAR(2).re, high = TD_SCALAR(3).re;
    td_tensor *x, *counts = NULL;
    td_scalar zero = td_scalar_int(0);
    if (!td_is_floating(dtype) || td_is_float8(dtype))
        return td_fail(TD_NOT_IMPLEMENTED,
                       "histc is not implemented for '%s'; it takes floating-point tensors",
                       td_dtypes[dtype].type_name);
    if (bins <= 0) return td_fail(TD_RUNTIME_ERROR, "histc: bins must be > 0, but got %lld", (long long)bins);
    if (td_is_meta(self)) return td_tensor_empty(&call->out[0], dtype, TD_META, 1, &bins);
    TD_TRY(td_cast_optional(&x, self, compute));
    td_status status = histogram_range(x, &low, &high);
    if (status == TD_OK) status = td_tensor_empty(&counts, compute, TD_CPU, 1, &bins);
    if (status == TD_OK) status = td_fill(counts, &zero);
    if (status == TD_OK && compute == TD_F64)
        histogram_f64(td_data(counts), td_data(x), x->numel, bins, low, high);
    if (status == TD_OK && compute == TD_F32)
        histogram_f32(td_data(counts), td_data(x), x->numel, bins, (float)low, (float)high);
    if (status == TD_OK) status = td_cast(&call->out[0], counts, dtype);
    td_tensor_free(counts);
    td_tensor_free(x);
    return status;
}
