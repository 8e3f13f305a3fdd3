/* distance_run.c - rows in panels, and rows of results shared out among threads. */
#include "cpu/distance_run.h"
#include <math.h>
#include <string.h>
#include "cpu/distance.h"
#include "runtime/alloc.h"
#include "runtime/cpu.h"
#include "runtime/pool.h"

#define TERM_NS 0.1 /* of a feature of a pair; of a power 20 */
#define POWER_NS 20

typedef struct job {
    const td_distances *d;
    td_distance_kernel kernel;
    /* bytes of a number; rows of a panel; panels of a batch */
    int64_t item, width, panels;
    const char *packed, *grad, *distance; /* what `panel` reads, or `pull` */
    char *out;
} job;

static td_distance_kind kind_of(double p)
{
    return p == 1     ? TD_DISTANCE_1
           : p == 2   ? TD_DISTANCE_2
           : isinf(p) ? TD_DISTANCE_INF
                      : TD_DISTANCE_P;
}

static job job_of(const td_distances *d)
{
    bool is_double = d->x->dtype == TD_F64;
    job j = {.d = d,
             .kernel = TD_PICK(td_distance_kernels)->of[kind_of(d->p)][is_double],
             .item = td_itemsize((td_dtype)d->x->dtype)};
    j.width = TD_PANEL_BYTES / j.item;
    j.panels = (d->others + j.width - 1) / j.width;
    return j;
}

static void share(const job *j, void (*body)(void *, int64_t, int64_t))
{
    const td_distances *d = j->d;
    double each =
        (double)d->others * (double)d->n * (kind_of(d->p) == TD_DISTANCE_P ? POWER_NS : TERM_NS);
    int64_t grain = each < 4000 ? (int64_t)(8000 / (each + 1)) + 1 : 1;
    void *token = td_heavy_begin((double)d->batches * (double)d->rows * each);
    td_parallel(d->batches * d->rows, grain, body, (void *)j);
    td_heavy_end(token);
}

/* ---- distances ---- */

/* Rows of y as panels; the places of rows that are not there hold 0. */
static void pack(const job *j, char *to)
{
    const td_distances *d = j->d;
    const char *y = td_data(d->y);
    int64_t row_bytes = d->n * j->item;
    memset(to, 0, (size_t)(d->batches * j->panels * d->n * TD_PANEL_BYTES));
    for (int64_t b = 0; b < d->batches; b++)
        for (int64_t r = 0; r < d->others; r++, y += row_bytes) {
            char *at = to + (b * j->panels + r / j->width) * d->n * TD_PANEL_BYTES +
                       r % j->width * j->item;
            for (int64_t i = 0; i < d->n; i++)
                memcpy(at + i * TD_PANEL_BYTES, y + i * j->item, (size_t)j->item);
        }
}

/* Squares in float have half the range of their root: distances that are infinite, or small, are
 * found again in double. Numbers of y lie `width` apart, one panel's row beside the other. */
static void mend(float *out, const float *x, const float *panel, int64_t n, int64_t width)
{
    for (int64_t k = 0; k < width; k++) {
        if (!(out[k] < 0x1p-50F || out[k] == INFINITY)) continue;
        double sum = 0;
        for (int64_t i = 0; i < n; i++) {
            double apart = (double)x[i] - (double)panel[i * width + k];
            sum += apart * apart;
        }
        out[k] = (float)sqrt(sum);
    }
}

/* The same in double: scaled by the power of two of their largest difference. */
static void mend_double(double *out, const double *x, const double *panel, int64_t n, int64_t width)
{
    for (int64_t k = 0; k < width; k++) {
        if (!(out[k] < 1e-140 || out[k] == INFINITY)) continue;
        double most = 0, sum = 0;
        for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(x[i] - panel[i * width + k]));
        if (most == 0 || isinf(most)) continue;
        double power = ldexp(1, ilogb(most));
        for (int64_t i = 0; i < n; i++) {
            double apart = (x[i] - panel[i * width + k]) / power;
            sum += apart * apart;
        }
        out[k] = sqrt(sum) * power;
    }
}

static void run_rows(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    const td_distances *d = j->d;
    _Alignas(64) char last[TD_PANEL_BYTES];
    for (int64_t row = begin; row < end; row++) {
        const char *x = (const char *)td_data(d->x) + row * d->n * j->item,
                   *panel = j->packed + row / d->rows * j->panels * d->n * TD_PANEL_BYTES;
        char *out = j->out + row * d->others * j->item;
        for (int64_t left = d->others; left > 0; left -= j->width) {
            bool whole = left >= j->width;
            void *to = whole ? out : last;
            j->kernel.panel(to, x, panel, d->n, d->p);
            if (kind_of(d->p) == TD_DISTANCE_2 && d->x->dtype == TD_F32)
                mend(to, (const float *)x, (const float *)panel, d->n, j->width);
            else if (kind_of(d->p) == TD_DISTANCE_2)
                mend_double(to, (const double *)x, (const double *)panel, d->n, j->width);
            if (!whole) memcpy(out, last, (size_t)(left * j->item));
            out += TD_PANEL_BYTES;
            panel += d->n * TD_PANEL_BYTES;
        }
    }
}

td_status td_distances_run(const td_distances *d, td_tensor *out)
{
    job j = job_of(d);
    int64_t bytes;
    if (td_mul_overflows(d->batches * j.panels, d->n * TD_PANEL_BYTES, &bytes))
        return td_fail(TD_MEMORY_ERROR, "_row_distances: too many rows to arrange");
    if (bytes == 0) bytes = TD_PANEL_BYTES; /* rows without features are 0 apart */
    char *packed = td_alloc(bytes);
    if (!packed)
        return td_fail(TD_MEMORY_ERROR, "no memory for %lld bytes of work space", (long long)bytes);
    pack(&j, packed);
    j.packed = packed;
    j.out = td_data(out);
    share(&j, run_rows);
    td_free(packed, bytes);
    return TD_OK;
}

/* ---- slopes ---- */

static void pull_rows(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    const td_distances *d = j->d;
    for (int64_t row = begin; row < end; row++) {
        int64_t own = row * d->n * j->item, pairs = row * d->others * j->item;
        const char *y = (const char *)td_data(d->y) + row / d->rows * d->others * d->n * j->item;
        j->kernel.pull(j->out + own, (const char *)td_data(d->x) + own, y, d->others, d->n,
                       j->grad + pairs, j->distance + pairs, d->p);
    }
}

td_status td_distances_pull(const td_distances *d, const td_tensor *grad, const td_tensor *distance,
                            td_tensor *out)
{
    job j = job_of(d);
    j.grad = td_data(grad);
    j.distance = td_data(distance);
    j.out = td_data(out);
    share(&j, pull_rows);
    return TD_OK;
}
