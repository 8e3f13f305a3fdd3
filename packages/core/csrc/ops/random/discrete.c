/* random_discrete.c - bernoulli, multinomial. */
#include <math.h>
#include <stdatomic.h>
#include "ops/random/random.h"
#include "ops/random/draws.h"
#include "runtime/alloc.h"
#include "runtime/cpu.h"
#include "runtime/pool.h"

#define SELF TD_TENSOR(0)
#define OUT (&call->out[0])
#define GENERATOR(k) (call->args[k].generator)

/* ---- bernoulli ---- */
static td_status check_coin(td_dtype d, const char *name)
{
    bool missing = td_is_complex(d) || td_is_float8(d) || d >= TD_QINT8;
    return missing ? td_fail(TD_NOT_IMPLEMENTED, "%s is not implemented for %s", name, td_dtypes[d].name) : TD_OK;
}

static td_status flip(td_tensor *t, td_generator *g, double p)
{
    TD_TRY(check_coin((td_dtype)t->dtype, "bernoulli_"));
    if (!(p >= 0 && p <= 1)) return td_fail(TD_RUNTIME_ERROR, "bernoulli_ expects p in [0, 1], but got p=%g", p);
    if (td_is_meta(t)) return TD_OK;
    td_coin_params params = {.threshold = (uint64_t)(p * 0x1p32 + 0.5)};
    td_scalar one = td_scalar_int(1);
    td_scalar_store(&one, (td_dtype)t->dtype, &params.one);
    int size = __builtin_ctzll((uint64_t)td_itemsize((td_dtype)t->dtype));
    return td_sample_tensor(t, g, &(td_sampling){TD_PICK(td_mask_kernels)->coin[size], &params, (td_dtype)t->dtype, TD_GROUP_WORDS, 2});
}

static td_status check_probabilities(const td_tensor *p)
{
    for (int64_t i = 0; i < p->numel; i++) {
        double v = p->dtype == TD_F32 ? ((const float *)td_data(p))[i] : ((const double *)td_data(p))[i];
        if (!(v >= 0 && v <= 1)) return td_fail(TD_RUNTIME_ERROR, "bernoulli expects p in [0, 1], but got p=%g", v);
    }
    return TD_OK;
}

static td_status flip_each(td_tensor *t, td_generator *g, const td_tensor *p)
{
    const td_mask_kernels *k = TD_PICK(td_mask_kernels);
    td_tensor *values, *ones = NULL;
    TD_TRY(td_widened(&values, p, t, p->dtype == TD_F64 ? TD_F64 : TD_F32));
    td_coins_params params = {td_data(values)};
    td_sampling how = {values->dtype == TD_F64 ? k->coins_f64 : k->coins_f32, &params, TD_BOOL, TD_GROUP_WORDS, 3};
    td_status status = check_probabilities(values);
    if (status == TD_OK) status = td_sample_new(&ones, t->ndim, t->sizes, g, &how);
    if (status == TD_OK) status = td_copy(t, ones);
    td_tensor_free(ones);
    td_tensor_free(values);
    return status;
}

td_status td_op_bernoulli(td_call *call)
{
    TD_TRY(td_random_floating((td_dtype)SELF->dtype, false, "bernoulli"));
    TD_TRY(td_tensor_empty_like(OUT, SELF, (td_dtype)SELF->dtype));
    return td_is_meta(SELF) ? TD_OK : flip_each(call->out[0], GENERATOR(1), SELF);
}

td_status td_op_bernoulli_p(td_call *call)
{
    TD_TRY(td_tensor_empty_like(OUT, SELF, (td_dtype)SELF->dtype));
    return flip(call->out[0], GENERATOR(2), TD_FLOAT(1));
}

td_status td_op_bernoulli_float_(td_call *call)
{
    TD_TRY(td_random_target(SELF, "bernoulli_"));
    return flip(SELF, GENERATOR(2), TD_FLOAT(1));
}

td_status td_op_bernoulli_tensor_(td_call *call)
{
    td_tensor *p = TD_TENSOR(1);
    int64_t sizes[TD_MAX_DIMS];
    int ndim;
    char wanted[TD_SHAPE_TEXT], got[TD_SHAPE_TEXT];
    TD_TRY(td_random_target(SELF, "bernoulli_"));
    TD_TRY(check_coin((td_dtype)SELF->dtype, "bernoulli_"));
    TD_TRY(td_random_floating((td_dtype)p->dtype, false, "bernoulli_ with a tensor p"));
    TD_TRY(td_broadcast(SELF->ndim, SELF->sizes, p->ndim, p->sizes, &ndim, sizes));
    td_tensor shape = {.ndim = ndim, .sizes = sizes};
    if (!td_same_shape(&shape, SELF))
        return td_fail(TD_RUNTIME_ERROR, "bernoulli_: p of shape %s does not expand to the shape %s of the tensor",
                       td_shape_text(p->ndim, p->sizes, got), td_shape_text(SELF->ndim, SELF->sizes, wanted));
    return td_is_meta(SELF) ? TD_OK : flip_each(SELF, GENERATOR(2), p);
}

/* ---- multinomial ---- */
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

/* Say what is wrong with the first row that was refused. */
static td_status explain(const double *w, int64_t n, int64_t row)
{
    for (int64_t i = 0; i < n; i++)
        if (!(w[i] >= 0 && w[i] < INFINITY))
            return td_fail(TD_RUNTIME_ERROR, "multinomial expects finite weights >= 0, but got %g at category %lld of row %lld",
                           w[i], (long long)i, (long long)row);
    return td_fail(TD_RUNTIME_ERROR, "multinomial: the weights of row %lld sum to %g, but they must sum to a finite number above 0",
                   (long long)row, total_of(w, n));
}

static bool row_is_fine(const double *w, int64_t n)
{
    double total = total_of(w, n);
    return total > 0 && total < INFINITY;
}

/* First category whose running sum passes u times the total; the sums replace the weights. A category without weight
 * adds nothing to the sum, so it is never the first. */
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

static bool earlier(const double *key, int64_t a, int64_t b) { return key[a] < key[b] || (key[a] == key[b] && a < b); }

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

/* A race: category i arrives after an exponential time of rate w[i]; the first ones home are the sample, in that order.
 * A category without weight never arrives, and is taken only when the others are used up. */
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
        if (!row_is_fine(w, m->categories)) { /* left untouched, for the message */
            refuse(m, row);
            continue;
        }
        int64_t *out = m->out + row * m->samples;
        if (m->replacement) draw_again(m, w, m->uniforms + row * m->samples, out);
        else draw_once(m, w, m->uniforms + row * m->categories, m->order + row * m->categories, out);
    }
}

static td_status check_multinomial(const td_tensor *t, int64_t samples, bool replacement)
{
    if (!td_is_floating((td_dtype)t->dtype) || td_is_float8((td_dtype)t->dtype))
        return td_fail(TD_RUNTIME_ERROR, "multinomial expects floating-point weights, but got %s", td_dtypes[t->dtype].name);
    if (t->ndim != 1 && t->ndim != 2)
        return td_fail(TD_RUNTIME_ERROR, "multinomial expects weights of 1 or 2 dimensions, but got %d", t->ndim);
    int64_t categories = t->sizes[t->ndim - 1];
    if (samples <= 0) return td_fail(TD_RUNTIME_ERROR, "multinomial expects num_samples > 0, but got %lld", (long long)samples);
    if (!replacement && samples > categories)
        return td_fail(TD_RUNTIME_ERROR, "multinomial: cannot draw %lld samples of %lld categories without replacement",
                       (long long)samples, (long long)categories);
    if (categories == 0 && (t->ndim == 1 || t->sizes[0] > 0))
        return td_fail(TD_RUNTIME_ERROR, "multinomial: there is no category to draw");
    return TD_OK;
}

/* `order` is work space for draws without replacement. */
static td_status multinomial_run(td_tensor *out, td_tensor *values, td_tensor *uniforms, td_tensor *order, bool replacement)
{
    weights m = {td_data(values), td_data(uniforms), td_data(out), order ? td_data(order) : NULL,
                 values->sizes[values->ndim - 1], out->sizes[out->ndim - 1], replacement, INT64_MAX};
    int64_t rows = values->ndim == 2 ? values->sizes[0] : 1;
    void *token = td_heavy_begin((double)values->numel * 20);
    td_parallel(rows, 1 + 4096 / (m.categories + 1), draw_rows, &m);
    td_heavy_end(token);
    if (m.refused == INT64_MAX) return TD_OK;
    return explain(m.weights + m.refused * m.categories, m.categories, m.refused);
}

td_status td_op_multinomial(td_call *call)
{
    int64_t samples = TD_INT(1), sizes[2] = {samples, samples};
    bool replacement = TD_BOOLEAN(2);
    TD_TRY(check_multinomial(SELF, samples, replacement));
    if (SELF->ndim == 2) sizes[0] = SELF->sizes[0];
    TD_TRY(td_tensor_empty(OUT, TD_I64, (td_device)SELF->device, SELF->ndim, sizes));
    if (td_is_meta(SELF) || call->out[0]->numel == 0) return TD_OK;
    td_tensor *values, *uniforms = NULL, *order = NULL;
    TD_TRY(td_widened(&values, SELF, SELF, TD_F64));
    td_sampling how = {TD_PICK(td_random_kernels)->open_f64, NULL, TD_F64, TD_GROUP_NUMBERS, 5};
    const int64_t *drawn = replacement ? sizes : SELF->sizes;
    td_status status = td_sample_new(&uniforms, SELF->ndim, drawn, GENERATOR(3), &how);
    if (status == TD_OK && !replacement) status = td_tensor_empty(&order, TD_I64, TD_CPU, SELF->ndim, SELF->sizes);
    if (status == TD_OK) status = multinomial_run(call->out[0], values, uniforms, order, replacement);
    td_tensor_free(values);
    td_tensor_free(uniforms);
    td_tensor_free(order);
    return status;
}
