/* multinomial_run.c - categories by their weights, a row at a time. */
#include <math.h>
#include <stdatomic.h>
#include "cpu/random/sample_run.h"
#include "runtime/pool.h"

typedef struct weights { /* one row each of weights, uniform numbers and results */
    double *weights, *uniforms;
    int64_t *out, *order;
    int64_t categories, samples;
    bool replacement;
    _Atomic int64_t refused; /* the first row that cannot be drawn from; INT64_MAX: none */
} weights;

/* The sum of the weights, or -1 if one of them is negative, infinite or NaN. */
static double total_of(const double *w, int64_t n)
{
    double sum = 0;
    int64_t good = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += w[i];
        good += w[i] >= 0 && w[i] < INFINITY;
    }
    return good == n ? sum : -1;
}

static int64_t drawable(const double *w, int64_t n) /* categories that have a weight */
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) count += w[i] > 0;
    return count;
}

/* Say what is wrong with the first row that was refused. */
static td_status explain(const weights *m)
{
    int64_t n = m->categories, row = m->refused;
    const double *w = m->weights + row * n;
    for (int64_t i = 0; i < n; i++)
        if (!(w[i] >= 0 && w[i] < INFINITY))
            return td_fail(
                TD_RUNTIME_ERROR,
                "multinomial expects finite weights >= 0, but got %g at category %lld of row %lld",
                w[i], (long long)i, (long long)row);
    double total = total_of(w, n);
    if (total > 0 && total < INFINITY)
        return td_fail(TD_RUNTIME_ERROR,
                       "multinomial: %lld samples without replacement need as many categories with "
                       "a weight above 0, but row %lld has %lld: pass replacement=True, or fewer",
                       (long long)m->samples, (long long)row, (long long)drawable(w, n));
    return td_fail(TD_RUNTIME_ERROR,
                   "multinomial: the weights of row %lld sum to %g, but they must sum to a finite "
                   "number above 0",
                   (long long)row, total);
}

static bool row_is_fine(const weights *m, const double *w)
{
    double total = total_of(w, m->categories);
    return total > 0 && total < INFINITY &&
           (m->replacement || drawable(w, m->categories) >= m->samples);
}

/* First category whose running sum passes u times the total; the sums replace the weights. A
 * category without weight adds nothing to the sum, so it is never the first. */
static void draw_again(const weights *m, double *w, const double *u, int64_t *out)
{
    for (int64_t i = 1; i < m->categories; i++) w[i] += w[i - 1];
    for (int64_t k = 0; k < m->samples; k++) {
        double target = u[k] * w[m->categories - 1];
        int64_t low = 0, high = m->categories - 1;
        while (low < high) {
            int64_t middle = low + (high - low) / 2;
            if (w[middle] > target) high = middle;
            else low = middle + 1;
        }
        out[k] = low;
    }
}

static bool earlier(const double *key, int64_t a, int64_t b)
{
    return key[a] < key[b] || (key[a] == key[b] && a < b);
}

static void sift_down(const double *key, int64_t *heap, int64_t n, int64_t i)
{
    for (int64_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && earlier(key, heap[child + 1], heap[child])) child++;
        if (!earlier(key, heap[child], heap[i])) return;
        int64_t moved = heap[i];
        heap[i] = heap[child];
        heap[child] = moved;
    }
}

/* A race: category i arrives after an exponential time of rate w[i]; the first ones home are the
 * sample, in that order. A category without weight never arrives, and is taken only when the others
 * are used up. */
static void draw_once(const weights *m, double *w, const double *u, int64_t *heap, int64_t *out)
{
    int64_t n = m->categories;
    for (int64_t i = 0; i < n; i++) {
        w[i] = -log(u[i]) / w[i];
        heap[i] = i;
    }
    for (int64_t i = n / 2 - 1; i >= 0; i--) sift_down(w, heap, n, i);
    for (int64_t k = 0; k < m->samples; k++) {
        out[k] = heap[0];
        heap[0] = heap[--n];
        sift_down(w, heap, n, 0);
    }
}

static void refuse(weights *m, int64_t row)
{
    int64_t first = m->refused;
    while (row < first && !atomic_compare_exchange_weak(&m->refused, &first, row)) {}
}

static void draw_rows(void *context, int64_t begin, int64_t end)
{
    weights *m = context;
    for (int64_t row = begin; row < end; row++) {
        double *w = m->weights + row * m->categories;
        if (!row_is_fine(m, w)) { /* left untouched, for the message */
            refuse(m, row);
            continue;
        }
        int64_t *out = m->out + row * m->samples;
        if (m->replacement) draw_again(m, w, m->uniforms + row * m->samples, out);
        else
            draw_once(m, w, m->uniforms + row * m->categories, m->order + row * m->categories, out);
    }
}

td_status td_multinomial_run(td_tensor *out, td_tensor *values, td_tensor *uniforms,
                             td_tensor *order, bool replacement)
{
    weights m = {td_data(values),
                 td_data(uniforms),
                 td_data(out),
                 order ? td_data(order) : NULL,
                 values->sizes[values->ndim - 1],
                 out->sizes[out->ndim - 1],
                 replacement,
                 INT64_MAX};
    int64_t rows = values->ndim == 2 ? values->sizes[0] : 1;
    void *token = td_heavy_begin((double)values->numel * 20);
    td_parallel(rows, 1 + 4096 / (m.categories + 1), draw_rows, &m);
    td_heavy_end(token);
    if (m.refused == INT64_MAX) return TD_OK;
    return explain(&m);
}
