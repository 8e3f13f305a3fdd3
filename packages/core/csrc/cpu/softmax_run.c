/* softmax_run.c - how threads share rows, or strips of columns. */
#include "cpu/softmax_run.h"
#include <complex.h>
#include <math.h>
#include "runtime/cpu.h"
#include "runtime/error.h"
#include "runtime/pool.h"

#define EXP_NS 0.6 /* per element and thread, all passes */

/* ---- running a kernel over outer * n * inner elements, dense ---- */

typedef struct job {
    const td_softmax_kernel *kernel;
    char *out;
    const char *a, *b;
    int64_t n, inner, strips, itemsize;
    bool reduces; /* one result for n elements */
} job;

static void run_rows(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    int64_t at = begin * j->n * j->itemsize;
    j->kernel->rows(j->out + (j->reduces ? begin * j->itemsize : at), j->a + at, j->b + at,
                    end - begin, j->n);
}

static void run_strips(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    for (int64_t i = begin; i < end; i++) {
        int64_t outer = i / j->strips, first = i % j->strips * TD_SOFTMAX_STRIP,
                left = j->inner - first;
        int64_t at = (outer * j->n * j->inner + first) * j->itemsize;
        char *out = j->out + (j->reduces ? (outer * j->inner + first) * j->itemsize : at);
        j->kernel->cols(out, j->a + at, j->b + at, j->n, j->inner,
                        left < TD_SOFTMAX_STRIP ? left : TD_SOFTMAX_STRIP);
    }
}

static void run(job *j, int64_t outer)
{
    double work = (double)outer * (double)j->n * (double)j->inner * EXP_NS;
    int64_t grain = 8192 / j->n;
    void *token = td_heavy_begin(work);
    j->strips = (j->inner + TD_SOFTMAX_STRIP - 1) / TD_SOFTMAX_STRIP;
    if (j->inner == 1) td_parallel(outer, grain > 1 ? grain : 1, run_rows, j);
    else td_parallel(outer * j->strips, grain / 64 > 1 ? grain / 64 : 1, run_strips, j);
    td_heavy_end(token);
}

void td_softmax_run(td_softmax_kind kind, td_tensor *out, const td_tensor *a, const td_tensor *b,
                    int64_t dim)
{
    int64_t outer = 1, n = a->ndim ? a->sizes[dim] : 1, inner = 1;
    for (int64_t d = 0; d < dim; d++) outer *= a->sizes[d];
    for (int64_t d = dim + 1; d < a->ndim; d++) inner *= a->sizes[d];
    if (a->numel == 0) return;
    job j = {&(*TD_PICK(td_softmax_kernels))[kind][a->dtype == TD_F64],
             td_data(out),
             td_data(a),
             td_data(b),
             n,
             inner,
             0,
             td_itemsize((td_dtype)a->dtype),
             kind == TD_LOGSUMEXP};
    run(&j, outer);
}

/* ---- along segments of rows ---- */

typedef struct segments {
    const td_softmax_kernel *kernel;
    char *out;
    const char *a, *b;
    int64_t count, n, itemsize;
    const volatile int64_t *edges;
} segments;

static int64_t within(int64_t edge, int64_t most)
{
    return edge < 0 ? 0 : edge > most ? most : edge;
}

static void run_segments(void *context, int64_t begin, int64_t end)
{
    const segments *s = context;
    for (int64_t i = begin; i < end; i++) {
        int64_t from = within(s->edges[i % s->count], s->n),
                to = within(s->edges[i % s->count + 1], s->n);
        int64_t at = (i / s->count * s->n + from) * s->itemsize;
        if (from < to) s->kernel->rows(s->out + at, s->a + at, s->b + at, 1, to - from);
    }
}

/* edges rise from 0 to the length of a row, so each element is written to once */
static td_status check_edges(const td_tensor *edges, int64_t n)
{
    const int64_t *x = td_data(edges);
    bool fits = x[0] == 0 && x[edges->numel - 1] == n;
    for (int64_t k = 1; fits && k < edges->numel; k++) fits = x[k - 1] <= x[k];
    if (fits) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR, "segment softmax: edges must rise from 0 to the %lld columns",
                   (long long)n);
}

td_status td_softmax_segments(td_softmax_kind kind, td_tensor *out, const td_tensor *a,
                              const td_tensor *b, const td_tensor *edges)
{
    TD_TRY(check_edges(edges, a->sizes[1]));
    if (a->numel == 0) return TD_OK;
    segments s = {&(*TD_PICK(td_softmax_kernels))[kind][a->dtype == TD_F64],
                  td_data(out),
                  td_data(a),
                  td_data(b),
                  edges->numel - 1,
                  a->sizes[1],
                  td_itemsize((td_dtype)a->dtype),
                  td_data(edges)};
    int64_t grain = 8192 * s.count / s.n;
    void *token = td_heavy_begin((double)a->numel * EXP_NS);
    td_parallel(a->sizes[0] * s.count, grain > 1 ? grain : 1, run_segments, &s);
    td_heavy_end(token);
    return TD_OK;
}

/* ---- logsumexp over rows ---- */

/* Rows of complex numbers: the largest real part keeps the exponentials finite. */
static void complex_rows(double complex *out, const double complex *x, int64_t rows, int64_t n)
{
    for (int64_t r = 0; r < rows; r++, x += n) {
        double top = -INFINITY;
        for (int64_t i = 0; i < n; i++) top = creal(x[i]) > top ? creal(x[i]) : top;
        if (isinf(top)) top = 0;
        double complex sum = 0;
        for (int64_t i = 0; i < n; i++) sum += cexp(x[i] - top);
        out[r] = top + clog(sum);
    }
}

void td_logsumexp_rows(td_tensor *out, const td_tensor *x, int64_t n)
{
    if (td_is_complex((td_dtype)x->dtype)) {
        complex_rows(td_data(out), td_data(x), out->numel, n);
        return;
    }
    job j = {&(*TD_PICK(td_softmax_kernels))[TD_LOGSUMEXP][x->dtype == TD_F64],
             td_data(out),
             td_data(x),
             td_data(x),
             n,
             1,
             0,
             td_itemsize((td_dtype)x->dtype),
             true};
    run(&j, out->numel);
}
