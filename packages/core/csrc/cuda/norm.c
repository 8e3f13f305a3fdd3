/* norm.c - normalisation as launches of kernels/norm.h. */
#include "cpu/norm/norm_job.h"
#include "cuda/program.h"
#include "cuda/workers.h"

typedef struct norm_call { /* laid out as in kernels/norm.h */
    char *out, *mean, *rstd, *bias_out, *partial;
    const char *x, *g, *weight, *bias, *numbers;
    double *sums;
    int64_t units;
    int64_t rows, n, centred, chunks;
    int64_t inner, period, count, stride;
    double eps;
} norm_call;

enum {
    ROWS,
    SLOPE,
    WEIGHTS,
    JOINED,
    SUMS,
    MOMENTS,
    COLUMNS,
    COLUMN_TOTAL,
    SCALED,
    MIXED,
    PRODUCT_PARTS,
    PRODUCTS,
    SUM_PARTS,
    MEAN,
    SQUARE_PARTS,
    DEVIATION
};
static const struct {
    const char *name;
    bool together;
} works[] = {
    [ROWS] = {"rows", true},
    [SLOPE] = {"slope", true},
    [WEIGHTS] = {"weights", false},
    [JOINED] = {"joined", false},
    [SUMS] = {"sums", true},
    [MOMENTS] = {"moments", true},
    [COLUMNS] = {"columns", false},
    [COLUMN_TOTAL] = {"column_total", false},
    [SCALED] = {"scaled", false},
    [MIXED] = {"mixed", false},
    [PRODUCT_PARTS] = {"product_parts", true},
    [PRODUCTS] = {"products", true},
    [SUM_PARTS] = {"sum_parts", true},
    [MEAN] = {"mean", true},
    [SQUARE_PARTS] = {"square_parts", true},
    [DEVIATION] = {"deviation", true},
};

static td_status launch(int work, td_dtype dtype, norm_call *c, int ordinal)
{
    td_cuda_work w = {.kind = "norm",
                      .how = works[work].together ? "norm_together" : "norm_alone",
                      .name = works[work].name,
                      .dtype = dtype};
    return works[work].together ? td_cuda_blocks(&w, ordinal, c->units, c)
                                : td_cuda_threads(&w, ordinal, c->units, c);
}

/* ---- rows ---- */

static td_status rows(const td_norm_forward *p, int ordinal)
{
    norm_call c = {.out = p->out,
                   .mean = p->mean,
                   .rstd = p->rstd,
                   .x = p->x,
                   .weight = p->weight,
                   .bias = p->bias,
                   .units = p->row.rows,
                   .n = p->row.n,
                   .eps = p->row.eps,
                   .centred = p->row.centred};
    return launch(ROWS, p->dtype, &c, ordinal);
}

/* A scratch of `bytes` for the launches of `first` and `then`: `then` has a unit a column. */
static td_status in_two(int first, int then, int64_t bytes, td_dtype dtype, norm_call *c,
                        td_device device)
{
    void *block;
    if (c->n == 0) return TD_OK;
    TD_TRY(td_cuda_alloc(&c->partial, bytes, device, &block));
    c->units = c->chunks * c->n;
    td_status status = launch(first, dtype, c, td_device_index(device));
    c->units = c->n;
    if (status == TD_OK) status = launch(then, dtype, c, td_device_index(device));
    /* the next owner's work comes after, on the same stream */
    td_cuda_release(block, c->partial, bytes);
    return status;
}

static td_status rows_backward(const td_norm_job *job, td_device device)
{
    const td_norm_backward *p = job->backward;
    norm_call c = {.out = p->dx,
                   .mean = (char *)p->mean,
                   .rstd = (char *)p->rstd,
                   .x = p->x,
                   .g = p->grad,
                   .weight = p->weight,
                   .units = p->row.rows,
                   .rows = p->row.rows,
                   .n = p->row.n,
                   .chunks = td_row_chunks(&p->row),
                   .centred = p->row.centred};
    if (p->dx) TD_TRY(launch(SLOPE, p->dtype, &c, td_device_index(device)));
    if (!job->dweight && !job->dbias) return TD_OK;
    c.out = job->dweight ? td_data(job->dweight) : NULL;
    c.bias_out = job->dbias ? td_data(job->dbias) : NULL;
    return in_two(WEIGHTS, JOINED, 2 * c.chunks * c.n * td_itemsize(p->dtype), p->dtype, &c,
                  device);
}

/* ---- channels ---- */

static norm_call channels(const td_norm_job *j)
{
    const td_channels *s = j->shape;
    return (norm_call){.x = td_data(j->x),
                       .g = j->grad ? td_data(j->grad) : NULL,
                       .sums = j->sums,
                       .n = s->channels,
                       .inner = s->inner,
                       .period = s->period,
                       .count = 1};
}

static td_status elements(int work, const td_norm_job *j, int ordinal)
{
    norm_call c = channels(j);
    c.out = td_data(j->out[0]);
    c.numbers = td_data(j->numbers);
    c.n = j->numbers->sizes[1];
    c.units = j->x->numel;
    return launch(work, (td_dtype)j->x->dtype, &c, ordinal);
}

/* over the samples, or a segment for itself */
static void gather(norm_call *c, const td_channels *s, bool together)
{
    c->units = together ? s->channels : s->outer * s->channels;
    c->count = together ? s->outer : 1;
    c->stride = s->channels * s->inner;
}

/* ---- few channels: a block for each group of pieces ---- */

enum { PIECE = 4096, ENOUGH_BLOCKS = 1024 }; /* PIECE as in cpu/norm/norm.c */

/* How many groups a unit is summed in (kernels/norm_spread.h); 0 where its one block will do. */
static int64_t groups(const norm_call *c)
{
    if (c->units >= ENOUGH_BLOCKS || c->inner == 0) return 0;
    int64_t whole = c->inner / PIECE, each = (PIECE + c->inner - 1) / c->inner;
    int64_t made = 1 + (whole ? whole * c->count : c->count / each);
    return made < 4 ? 0 : made;
}

/* Pairs of launches: the parts of all groups, then each unit's in order. */
static td_status spread(norm_call *c, const int *works_in_turn, int count, td_dtype dtype,
                        td_device device)
{
    void *block;
    int64_t units = c->units, bytes = 2 * units * c->chunks * (int64_t)sizeof(double);
    td_status status = td_cuda_alloc(&c->partial, bytes, device, &block);
    if (status) return status;
    for (int k = 0; k < count && status == TD_OK; k++) {
        c->units = k % 2 ? units : units * c->chunks;
        status = launch(works_in_turn[k], dtype, c, td_device_index(device));
    }
    /* the next owner's work comes after, on the same stream */
    td_cuda_release(block, c->partial, bytes);
    return status;
}

static td_status sums(const td_norm_job *j, td_device device)
{
    norm_call c = channels(j);
    td_dtype dtype = (td_dtype)j->x->dtype;
    c.mean = td_data(j->numbers);
    c.rows = j->shape->outer;
    gather(&c, j->shape, j->together);
    if (j->shape->columns) {
        c.chunks = td_column_chunks(j->shape);
        return in_two(COLUMNS, COLUMN_TOTAL, 2 * c.chunks * c.n * (int64_t)sizeof(double), dtype,
                      &c, device);
    }
    if ((c.chunks = groups(&c)))
        return spread(&c, (int[]){PRODUCT_PARTS, PRODUCTS}, 2, dtype, device);
    return launch(SUMS, dtype, &c, td_device_index(device));
}

static td_status moments(const td_norm_job *j, td_device device)
{
    norm_call c = channels(j);
    td_dtype dtype = (td_dtype)j->x->dtype;
    gather(&c, j->shape, true);
    c.out = td_data(j->out[0]);
    c.mean = td_data(j->out[1]);
    if ((c.chunks = groups(&c)))
        return spread(&c, (int[]){SUM_PARTS, MEAN, SQUARE_PARTS, DEVIATION}, 4, dtype, device);
    return launch(MOMENTS, dtype, &c, td_device_index(device));
}

static td_status numbers(const td_norm_job *j, int ordinal)
{
    static const char *names[TD_NUMBER_KINDS] = {
        [TD_NUMBER_INVERSE] = "inverse",
        [TD_NUMBER_RUNNING] = "running",
        [TD_NUMBER_SCALE] = "scale",
        [TD_NUMBER_MIX] = "mix",
        [TD_NUMBER_GRADIENT] = "gradient",
        [TD_NUMBER_TOGETHER] = "together",
        [TD_NUMBER_SPREAD] = "spread",
        [TD_NUMBER_GROUP_MIX] = "group_mix",
        [TD_NUMBER_GROUP_GRADIENT] = "group_gradient",
    };
    struct td_norm_numbers call = *j->of;
    td_cuda_work w = {
        .kind = "numbers", .how = "numbers_alone", .name = names[j->kind], .dtype = TD_F64};
    return td_cuda_threads(&w, ordinal, call.n, &call);
}

td_status td_cuda_norm(const void *job, td_device device)
{
    const td_norm_job *j = job;
    int ordinal = td_device_index(device);
    TD_TRY(td_cuda_use(ordinal));
    switch (j->what) {
        case TD_NORM_ROWS: return rows(j->forward, ordinal);
        case TD_NORM_ROWS_BACKWARD: return rows_backward(j, device);
        case TD_NORM_SCALE: return elements(SCALED, j, ordinal);
        case TD_NORM_MIX: return elements(MIXED, j, ordinal);
        case TD_NORM_SUMS: return sums(j, device);
        case TD_NORM_MOMENTS: return moments(j, device);
        default: return numbers(j, ordinal);
    }
}
