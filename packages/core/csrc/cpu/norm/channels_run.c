/* channels_run.c - the passes of norm_channels.h, cut into tasks. */
#include "cpu/norm/channels_run.h"
#include "cpu/norm/norm_job.h"
#include "runtime/alloc.h"
#include "runtime/cpu.h"
#include "runtime/pool.h"

#define ELEMENT_NS 0.4
#define ROW_CHUNKS 16 /* of a column sum */

const td_norm_kernel *td_norm_kernel_for(td_dtype dtype)
{
    return &(*TD_PICK(td_norm_kernels))[dtype == TD_F64];
}

typedef struct job {
    const td_norm_kernel *kernel;
    const td_channels *shape;
    const td_tensor *numbers;
    char *out;
    const char *grad, *x;
    int64_t itemsize, chunks, strips;
    double *sums;
} job;

static int64_t grain_of(int64_t unit)
{
    int64_t grain = unit ? 16384 / unit : 1;
    return grain > 1 ? grain : 1;
}

static void run(const job *j, int64_t tasks, int64_t unit, td_range_fn fn)
{
    void *token = td_heavy_begin((double)tasks * (double)unit * ELEMENT_NS);
    td_parallel(tasks, grain_of(unit), fn, (void *)j);
    td_heavy_end(token);
}

static job job_of(td_tensor *out, const td_tensor *grad, const td_tensor *x,
                  const td_tensor *numbers, const td_channels *shape)
{
    td_dtype dtype = (td_dtype)x->dtype;
    return (job){td_norm_kernel_for(dtype),
                 shape,
                 numbers,
                 out ? td_data(out) : NULL,
                 grad ? td_data(grad) : NULL,
                 td_data(x),
                 td_itemsize(dtype),
                 0,
                 0,
                 NULL};
}

static double number(const job *j, int64_t i) { return td_norm_read(j->numbers, i); }

/* ---- scaling ---- */

static void scale_segments(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    j->kernel->segment_scale(j->out, j->x, td_numbers_row(j->numbers, 0),
                             td_numbers_row(j->numbers, 1), td_numbers_row(j->numbers, 2), begin,
                             end, j->shape->period, j->shape->inner);
}

static void scale_columns(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    int64_t n = j->shape->channels, at = begin * n * j->itemsize;
    j->kernel->column_scale(j->out + at, j->x + at, td_numbers_row(j->numbers, 0),
                            td_numbers_row(j->numbers, 1), td_numbers_row(j->numbers, 2),
                            end - begin, n);
}

void td_channel_scale(td_tensor *out, const td_tensor *x, const td_tensor *numbers,
                      const td_channels *shape)
{
    job j = job_of(out, NULL, x, numbers, shape);
    if (shape->columns) run(&j, shape->outer, shape->channels, scale_columns);
    else run(&j, shape->outer * shape->channels, shape->inner, scale_segments);
}

/* ---- mixing gradient and input ---- */

static void mix_segments(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    j->kernel->segment_mix(j->out, j->grad, j->x, td_numbers_row(j->numbers, 0),
                           td_numbers_row(j->numbers, 1), td_numbers_row(j->numbers, 2), begin, end,
                           j->shape->period, j->shape->inner);
}

static void mix_columns(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    int64_t n = j->shape->channels, at = begin * n * j->itemsize;
    j->kernel->column_mix(j->out + at, j->grad + at, j->x + at, td_numbers_row(j->numbers, 0),
                          td_numbers_row(j->numbers, 1), td_numbers_row(j->numbers, 2), end - begin,
                          n);
}

void td_channel_mix(td_tensor *out, const td_tensor *grad, const td_tensor *x,
                    const td_tensor *numbers, const td_channels *shape)
{
    job j = job_of(out, grad, x, numbers, shape);
    if (shape->columns) run(&j, shape->outer, shape->channels, mix_columns);
    else run(&j, shape->outer * shape->channels, shape->inner, mix_segments);
}

/* ---- sums ---- */

static void sum_segments(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    int64_t bytes = j->shape->inner * j->itemsize;
    for (int64_t s = begin; s < end; s++)
        j->kernel->segment_sums(j->sums + 2 * s, j->grad + s * bytes, j->x + s * bytes,
                                number(j, s % j->shape->period), j->shape->inner, 1, 0);
}

static void sum_channels(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    int64_t bytes = j->shape->inner * j->itemsize;
    for (int64_t c = begin; c < end; c++)
        j->kernel->segment_sums(j->sums + 2 * c, j->grad + c * bytes, j->x + c * bytes,
                                number(j, c), j->shape->inner, j->shape->outer,
                                j->shape->channels * j->shape->inner);
}

static void channel_moments(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    for (int64_t c = begin; c < end; c++)
        j->kernel->segment_moments(j->sums + 2 * c, j->x + c * j->shape->inner * j->itemsize,
                                   j->shape->inner, j->shape->outer,
                                   j->shape->channels * j->shape->inner);
}

void td_channel_moments(double *moments, const td_tensor *x, const td_channels *shape)
{
    job j = job_of(NULL, NULL, x, NULL, shape);
    j.sums = moments;
    run(&j, shape->channels, shape->outer * shape->inner, channel_moments);
}

/* Task: one strip of columns over one chunk of rows. Chunk k has its own 2 * channels sums. */
static void sum_columns(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    for (int64_t task = begin; task < end; task++) {
        int64_t chunk = task / j->strips, n = j->shape->channels,
                column = task % j->strips * TD_NORM_STRIP;
        int64_t first = chunk * j->shape->outer / j->chunks,
                rows = (chunk + 1) * j->shape->outer / j->chunks - first;
        int64_t at = (first * n + column) * j->itemsize,
                m = n - column < TD_NORM_STRIP ? n - column : TD_NORM_STRIP;
        double *sum_g = j->sums + 2 * n * chunk + column;
        j->kernel->column_sums(sum_g, sum_g + n, j->grad + at, j->x + at,
                               (const char *)td_data(j->numbers) + column * j->itemsize, rows, n,
                               m);
    }
}

int64_t td_column_chunks(const td_channels *shape)
{
    int64_t wanted = shape->outer * shape->channels / 65536;
    return wanted < 1 ? 1 : wanted > ROW_CHUNKS ? ROW_CHUNKS : wanted;
}

static td_status column_sums(job *j, double *sums)
{
    int64_t n = j->shape->channels, work = j->shape->outer * n;
    j->chunks = td_column_chunks(j->shape);
    j->strips = (n + TD_NORM_STRIP - 1) / TD_NORM_STRIP;
    int64_t bytes = j->chunks * 2 * n * (int64_t)sizeof(double);
    if (!(j->sums = td_alloc(bytes)))
        return td_fail(TD_MEMORY_ERROR, "no memory for %lld bytes of partial sums",
                       (long long)bytes);
    run(j, j->chunks * j->strips, work / (j->chunks * j->strips), sum_columns);
    for (int64_t c = 0; c < n; c++) {
        sums[2 * c] = sums[2 * c + 1] = 0;
        for (int64_t k = 0; k < j->chunks; k++) {
            sums[2 * c] += j->sums[2 * n * k + c];
            sums[2 * c + 1] += j->sums[2 * n * k + n + c];
        }
    }
    td_free(j->sums, bytes);
    return TD_OK;
}

td_status td_channel_sums(double *sums, const td_tensor *grad, const td_tensor *x,
                          const td_tensor *mean, const td_channels *shape, bool together)
{
    job j = job_of(NULL, grad, x, mean, shape);
    if (shape->channels == 0) return TD_OK;
    if (shape->columns) return column_sums(&j, sums);
    j.sums = sums;
    if (together) run(&j, shape->channels, shape->outer * shape->inner, sum_channels);
    else run(&j, shape->outer * shape->channels, shape->inner, sum_segments);
    return TD_OK;
}
