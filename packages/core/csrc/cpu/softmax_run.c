/* softmax_run.c - how threads share rows, or strips of columns. */
#include "cpu/softmax_run.h"
#include <complex.h>
#include <math.h>
#include "runtime/cpu.h"
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
