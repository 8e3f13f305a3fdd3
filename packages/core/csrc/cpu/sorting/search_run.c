/* search_run.c - bisection for every value; counts and histograms in one pass. */
#include "cpu/sorting/search_run.h"
#include <math.h>
#include "runtime/pool.h"

/* ---- searching: elements of one of three types ---- */

typedef struct search_job {
    const char *sequence, *values;
    const int64_t *sorter; /* NULL: the sequence is sorted as it lies */
    char *out;
    td_dtype dtype; /* TD_I64, TD_F32 or TD_F64 */
    /* rows of the sequence have n elements; one row only: all values look there */
    int64_t n, values_a_row;
    bool right, narrow, one_row; /* narrow: int32 results */
} search_job;

/* The first place whose element is not less than v (or, on the right, is greater); a NaN looks past
 * the end. */
#define BISECT(name, T)                                                                       \
    static int64_t name(const T *sequence, const int64_t *sorter, int64_t n, T v, bool right) \
    {                                                                                         \
        int64_t low = 0, high = n;                                                            \
        while (low < high) {                                                                  \
            int64_t middle = low + (high - low) / 2;                                          \
            T at = sequence[sorter ? sorter[middle] : middle];                                \
            if (right ? !(at > v) : !(at >= v)) low = middle + 1;                             \
            else high = middle;                                                               \
        }                                                                                     \
        return low;                                                                           \
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
            place = bisect_f32((const float *)j->sequence + row, sorter, j->n,
                               ((const float *)j->values)[i], j->right);
        else
            place = bisect_f64((const double *)j->sequence + row, sorter, j->n,
                               ((const double *)j->values)[i], j->right);
        if (j->narrow) ((int32_t *)j->out)[i] = (int32_t)place;
        else ((int64_t *)j->out)[i] = place;
    }
}

td_status td_search_check(const td_tensor *sorter, int64_t n)
{
    const int64_t *at = td_data(sorter);
    for (int64_t i = 0; i < sorter->numel; i++)
        if (at[i] < 0 || at[i] >= n)
            return td_fail(TD_RUNTIME_ERROR,
                           "searchsorted(): sorter index out of range: %lld in a dimension of %lld",
                           (long long)at[i], (long long)n);
    return TD_OK;
}

void td_search_run(td_tensor *out, const td_tensor *sequence, const td_tensor *values,
                   const td_tensor *sorter, bool right)
{
    search_job j = {td_data(sequence),
                    td_data(values),
                    sorter ? td_data(sorter) : NULL,
                    td_data(out),
                    (td_dtype)values->dtype,
                    sequence->sizes[sequence->ndim - 1],
                    values->ndim ? values->sizes[values->ndim - 1] : 1,
                    right,
                    out->dtype == TD_I32,
                    sequence->ndim == 1};
    void *token = td_heavy_begin((double)values->numel * 20);
    td_parallel(values->numel, 2048, search_range, &j);
    td_heavy_end(token);
}

/* ---- counts ---- */

td_status td_count_length(const td_tensor *x, int64_t minlength, int64_t *length)
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

void td_count_run(td_tensor *out, const td_tensor *x, const td_tensor *weights)
{
    const int64_t *at = td_data(x);
    for (int64_t i = 0; i < x->numel; i++) {
        if (!weights) ((int64_t *)td_data(out))[at[i]]++;
        else if (weights->dtype == TD_F32)
            ((float *)td_data(out))[at[i]] += ((const float *)td_data(weights))[i];
        else ((double *)td_data(out))[at[i]] += ((const double *)td_data(weights))[i];
    }
}

/* ---- histograms ---- */

/* Bin k holds edge(k) <= x < edge(k + 1), the last one its upper edge too; the quotient is one off
 * at most. */
#define HISTOGRAM(name, T)                                                                     \
    static void name(T *counts, const T *x, int64_t n, int64_t bins, T low, T high)            \
    {                                                                                          \
        double width = ((double)high - (double)low) / (double)bins;                            \
        for (int64_t i = 0; i < n; i++) {                                                      \
            if (!(x[i] >= low && x[i] <= high)) continue;                                      \
            int64_t bin = (int64_t)(((double)x[i] - (double)low) / width);                     \
            bin = bin < bins ? bin : bins - 1;                                                 \
            if (bin + 1 < bins && x[i] >= (T)((double)low + (double)(bin + 1) * width)) bin++; \
            if (bin > 0 && x[i] < (T)((double)low + (double)bin * width)) bin--;               \
            counts[bin]++;                                                                     \
        }                                                                                      \
    }
HISTOGRAM(histogram_f32, float)
HISTOGRAM(histogram_f64, double)

/* The range of the elements where none is given; a single value gets one unit on either side. */
td_status td_histogram_range(const td_tensor *x, double *low, double *high)
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
        return td_fail(TD_RUNTIME_ERROR, "histc: max must be larger than min, got %g and %g", *high,
                       *low);
    return TD_OK;
}

void td_histogram_run(td_tensor *counts, const td_tensor *x, double low, double high)
{
    int64_t bins = counts->numel;
    if (x->dtype == TD_F64) histogram_f64(td_data(counts), td_data(x), x->numel, bins, low, high);
    else histogram_f32(td_data(counts), td_data(x), x->numel, bins, (float)low, (float)high);
}
