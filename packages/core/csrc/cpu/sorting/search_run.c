/* search_run.c - bisection for every value; counts and histograms in one pass. */
#include "cpu/sorting/search_run.h"
#include <math.h>
#include <string.h>
#include "cpu/sorting/bisect.h"
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

static void search_range(void *context, int64_t begin, int64_t end)
{
    const search_job *j = context;
    for (int64_t i = begin; i < end; i++) {
        int64_t row = j->one_row ? 0 : i / j->values_a_row * j->n, place;
        const int64_t *sorter = j->sorter ? j->sorter + row : NULL;
        if (j->dtype == TD_I64)
            place = td_bisect_i64((const int64_t *)j->sequence + row, sorter, j->n,
                                  ((const int64_t *)j->values)[i], j->right);
        else if (j->dtype == TD_F32)
            place = td_bisect_f32((const float *)j->sequence + row, sorter, j->n,
                                  ((const float *)j->values)[i], j->right);
        else
            place = td_bisect_f64((const double *)j->sequence + row, sorter, j->n,
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

static td_status negative_count(const int64_t *at, int64_t n)
{
    int64_t i = 0;
    while (i + 1 < n && at[i] >= 0) i++;
    return td_fail(TD_RUNTIME_ERROR,
                   "bincount only supports 1-d non-negative integral inputs, got %lld",
                   (long long)at[i]);
}

td_status td_count_length(const td_tensor *x, int64_t minlength, int64_t *length)
{
    const int64_t *at = td_data(x);
    int64_t low = 0, high = -1;
    for (int64_t i = 0; i < x->numel; i++) {
        low = at[i] < low ? at[i] : low;
        high = at[i] > high ? at[i] : high;
    }
    if (low < 0) return negative_count(at, x->numel);
    *length = minlength;
    if (high >= minlength && td_add_overflows(high, 1, length))
        return td_fail(TD_RUNTIME_ERROR, "bincount: %lld is too large", (long long)high);
    return TD_OK;
}

/* Places are read once and looked at again: another thread may write to them since their largest
 * was found. */
#define COUNT(name, T, STEP)                                                            \
    static void name(T *counts, int64_t size, const int64_t *at, const T *w, int64_t n) \
    {                                                                                   \
        (void)w;                                                                        \
        for (int64_t i = 0; i < n; i++) {                                               \
            int64_t place = ((const volatile int64_t *)at)[i];                          \
            if ((uint64_t)place < (uint64_t)size) counts[place] += STEP;                \
        }                                                                               \
    }
COUNT(count_ones, int64_t, 1)
COUNT(count_f32, float, w[i])
COUNT(count_f64, double, w[i])

void td_count_run(td_tensor *out, const td_tensor *x, const td_tensor *weights)
{
    const int64_t *at = td_data(x);
    int64_t size = out->numel, n = x->numel;
    if (!weights) count_ones(td_data(out), size, at, NULL, n);
    else if (weights->dtype == TD_F32) count_f32(td_data(out), size, at, td_data(weights), n);
    else count_f64(td_data(out), size, at, td_data(weights), n);
}

/* ---- histograms ---- */

/* An element's bin is its place in the range, times the bins, in the element's own arithmetic: 0.7
 * is then at the edge of the eighth of ten. What lies outside goes to bin `bins`, which nobody
 * reads: no branch depends on a value. */
#define HISTOGRAM(name, T, I, BLOCK)                                                    \
    static void name(int64_t *counts, const T *given, int64_t n, I bins, T low, T high) \
    {                                                                                   \
        T width = high - low, all = (T)bins;                                            \
        I at[BLOCK];                                                                    \
        T x[BLOCK]; /* no other thread changes what is compared */                      \
        for (int64_t begin = 0; begin < n; begin += BLOCK) {                            \
            int size = n - begin < BLOCK ? (int)(n - begin) : BLOCK;                    \
            memcpy(x, given + begin, (size_t)size * sizeof *x);                         \
            for (int i = 0; i < size; i++) {                                            \
                I inside = (x[i] >= low) & (x[i] <= high);                              \
                T place = inside ? (x[i] - low) * all / width : 0;                      \
                I bin = (I)(place < all ? place : all - 1);                             \
                at[i] = inside ? bin < bins ? bin : bins - 1 : bins;                    \
            }                                                                           \
            for (int i = 0; i < size; i++) counts[at[i]]++;                             \
        }                                                                               \
    }
HISTOGRAM(histogram_f32, float, int32_t, 256)
HISTOGRAM(histogram_f64, double, int32_t, 256)
HISTOGRAM(histogram_many_f32, float, int64_t, 256)
HISTOGRAM(histogram_many_f64, double, int64_t, 256)

/* Lanes of their own, so that the compiler makes vectors of them; a NaN leaves no range. */
#define RANGE(name, T)                                                 \
    static void name(const T *x, int64_t n, double *low, double *high) \
    {                                                                  \
        enum { LANES = 16 };                                           \
        T lows[LANES], highs[LANES], least, most;                      \
        int nans = 0;                                                  \
        int64_t i = 0;                                                 \
        for (int k = 0; k < LANES; k++) lows[k] = highs[k] = x[0];     \
        for (; i + LANES <= n; i += LANES)                             \
            for (int k = 0; k < LANES; k++) {                          \
                T v = x[i + k];                                        \
                lows[k] = v < lows[k] ? v : lows[k];                   \
                highs[k] = v > highs[k] ? v : highs[k];                \
            }                                                          \
        for (; i < n; i++) {                                           \
            lows[0] = x[i] < lows[0] ? x[i] : lows[0];                 \
            highs[0] = x[i] > highs[0] ? x[i] : highs[0];              \
        }                                                              \
        least = lows[0], most = highs[0];                              \
        for (int k = 1; k < LANES; k++) {                              \
            least = lows[k] < least ? lows[k] : least;                 \
            most = highs[k] > most ? highs[k] : most;                  \
        }                                                              \
        for (i = 0; i < n; i++) nans |= x[i] != x[i];                  \
        *low = nans ? NAN : (double)least;                             \
        *high = nans ? NAN : (double)most;                             \
    }
RANGE(range_f32, float)
RANGE(range_f64, double)

/* The range of the elements where none is given; a single value gets one unit on either side. */
td_status td_histogram_range(const td_tensor *x, double *low, double *high)
{
    if (*low == *high && x->numel) {
        if (x->dtype == TD_F64) range_f64(td_data(x), x->numel, low, high);
        else range_f32(td_data(x), x->numel, low, high);
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
    int64_t bins = counts->numel - 1, n = x->numel, *at = td_data(counts);
    bool wide = x->dtype == TD_F64, many = bins >= INT32_MAX;
    float f_low = (float)low, f_high = (float)high;
    if (many && wide) histogram_many_f64(at, td_data(x), n, bins, low, high);
    else if (many) histogram_many_f32(at, td_data(x), n, bins, f_low, f_high);
    else if (wide) histogram_f64(at, td_data(x), n, (int32_t)bins, low, high);
    else histogram_f32(at, td_data(x), n, (int32_t)bins, f_low, f_high);
}
