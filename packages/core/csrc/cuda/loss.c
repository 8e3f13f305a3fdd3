/* loss.c - losses as launches of kernels/loss.h. Sums of blocks are read back and added in order:
 * the processor adds them so, too. */
#include <stdlib.h>
#include "cpu/loss_class_run.h"
#include "cpu/loss_margin_run.h"
#include "cpu/loss_run.h"
#include "cuda/program.h"

#define BLOCK 4096        /* pairs or targets of one partial sum */
#define BLOCKS_OF_CHUNK 8 /* of pairs: the processor's threads take 32,768 at a time */
#define UNIT_BLOCK 64
#define MOST_BLOCKS 65535

typedef struct loss_call { /* laid out as in kernels/loss.h */
    char *out, *slope;
    const char *x, *t, *g, *weight, *scale, *statistics;
    double *partial;
    int64_t n, count, classes, inner, ignore, each;
    double scale_by, parameter;
} loss_call;

/* `key` tells one work and dtype from all others */
static td_status launch(const char *how, const char *name, int key, td_dtype dtype, loss_call *c,
                        int ordinal)
{
    td_cuda_program w = {.kind = "loss",
                         .how = how,
                         .name = name,
                         .dtype = dtype,
                         .from = dtype,
                         .key = (const void *)(intptr_t)(key << 8 | dtype | 0x10000)};
    void *function;
    if (c->n == 0) return TD_OK;
    TD_TRY(td_cuda_function(&w, ordinal, &function));
    if (how[5] == 'a') return td_cuda_launch(function, ordinal, c->n, c, name); /* loss_alone */
    return td_cuda_launch_blocks(function, ordinal, c->n < MOST_BLOCKS ? c->n : MOST_BLOCKS,
                                 UNIT_BLOCK, c, name);
}

/* ---- numbers that a kernel leaves for the host ---- */

typedef struct partials {
    double *host;
    char *device;
    void *block;
    int64_t bytes;
} partials;

static td_status partials_begin(partials *p, int64_t n, loss_call *c, td_device device)
{
    p->bytes = (n + 1) * (int64_t)sizeof(double);
    if (!(p->host = malloc((size_t)p->bytes)))
        return td_fail(TD_MEMORY_ERROR, "no memory for %lld bytes of partial sums",
                       (long long)p->bytes);
    td_status status = td_cuda_alloc(&p->device, p->bytes, device, &p->block);
    if (status != TD_OK) free(p->host);
    c->partial = (double *)p->device;
    return status;
}

static td_status partials_read(partials *p, td_device device)
{
    int64_t used = p->bytes - (int64_t)sizeof(double);
    return td_cuda_transfer((char *)p->host, TD_CPU, p->device, device, used, true);
}

static void partials_end(partials *p)
{
    td_cuda_release(p->block, p->device, p->bytes);
    free(p->host);
}

/* ---- between pairs of elements ---- */

static const char *sums[TD_PAIR_KINDS] = {"sum_mse",        "sum_l1",  "sum_smoothl1", "sum_huber",
                                          "sum_softmargin", "sum_bce", "sum_bcelogits"};
static const char *singles[TD_PAIR_KINDS] = {"each_mse",      "each_l1",         "each_smoothl1",
                                             "each_huber",    "each_softmargin", "each_bce",
                                             "each_bcelogits"};
static const char *slopes[TD_PAIR_KINDS] = {"slope_mse",      "slope_l1",         "slope_smoothl1",
                                            "slope_huber",    "slope_softmargin", "slope_bce",
                                            "slope_bcelogits"};

static td_status total(const td_pair_job *j, loss_call *c, td_device device)
{
    const td_pair_problem *p = j->problem;
    partials parts;
    c->n = (c->count + BLOCK - 1) / BLOCK;
    TD_TRY(partials_begin(&parts, c->n, c, device));
    td_status status = launch("loss_sum_together", sums[p->kind], p->kind, (td_dtype)p->x->dtype, c,
                              td_device_index(device));
    if (status == TD_OK) status = partials_read(&parts, device);
    *j->total = 0;
    for (int64_t first = 0; first < c->n && status == TD_OK; first += BLOCKS_OF_CHUNK) {
        double chunk = 0;
        for (int64_t b = first; b < first + BLOCKS_OF_CHUNK && b < c->n; b++)
            chunk += parts.host[b];
        *j->total += chunk;
    }
    partials_end(&parts);
    return status;
}

td_status td_cuda_pair_loss(const void *job, td_device device)
{
    const td_pair_job *j = job;
    const td_pair_problem *p = j->problem;
    loss_call c = {.x = td_data(p->x),
                   .t = td_data(p->t),
                   .out = j->out ? td_data(j->out) : NULL,
                   .g = j->g ? td_data(j->g) : NULL,
                   .n = p->x->numel,
                   .count = p->x->numel,
                   .each = j->each,
                   .scale_by = j->scale,
                   .parameter = p->parameter};
    TD_TRY(td_cuda_use(td_device_index(device)));
    if (!j->out) return total(j, &c, device);
    const char *name = (j->g ? slopes : singles)[p->kind];
    return launch("loss_alone", name, p->kind + (j->g ? 32 : 64), (td_dtype)p->x->dtype, &c,
                  td_device_index(device));
}

/* ---- of class scores ---- */

/* The targets are looked at here: no kernel reads beside the scores. */
static td_status check_targets(const td_class_scores *s)
{
    td_tensor *near;
    int64_t bad = -1;
    TD_TRY(td_to_host(&near, s->target));
    const int64_t *targets = td_data(near);
    for (int64_t i = 0; i < near->numel; i++) {
        bool out = targets[i] != s->ignore && (targets[i] < 0 || targets[i] >= s->classes);
        if (out && (bad < 0 || i / BLOCK == bad / BLOCK)) bad = i; /* as the processor tells it */
    }
    td_status status = bad < 0 ? TD_OK
                               : td_fail(TD_INDEX_ERROR,
                                         "%s: Target %lld is out of bounds: there are %lld classes",
                                         s->op, (long long)targets[bad], (long long)s->classes);
    td_tensor_free(near);
    return status;
}

enum { ROWS = 96, COLUMNS, PICK, SCALES, GRADIENT, MARGINS };

static td_status pick(const td_class_job *j, loss_call *c, td_device device)
{
    partials parts;
    c->n = (c->count + BLOCK - 1) / BLOCK;
    TD_TRY(check_targets(j->s));
    TD_TRY(partials_begin(&parts, 2 * c->n, c, device));
    td_status status =
        launch("loss_alone", "pick", PICK, (td_dtype)j->s->x->dtype, c, td_device_index(device));
    if (status == TD_OK) status = partials_read(&parts, device);
    *j->sum = (td_class_sum){0, 0, -1};
    for (int64_t k = 0; k < c->n && status == TD_OK; k++) {
        j->sum->loss += parts.host[2 * k];
        j->sum->weight += parts.host[2 * k + 1];
    }
    partials_end(&parts);
    return status;
}

td_status td_cuda_class_loss(const void *job, td_device device)
{
    const td_class_job *j = job;
    const td_class_scores *s = j->s;
    td_dtype dtype = (td_dtype)s->x->dtype;
    int ordinal = td_device_index(device);
    loss_call c = {.x = td_data(s->x),
                   .t = td_data(s->target),
                   .out = j->out ? td_data(j->out) : NULL,
                   .g = j->grad ? td_data(j->grad) : NULL,
                   .weight = s->weight ? td_data(s->weight) : NULL,
                   .scale = j->scale ? td_data(j->scale) : NULL,
                   .statistics = j->statistics ? td_data(j->statistics) : NULL,
                   .n = td_class_count(s),
                   .count = td_class_count(s),
                   .classes = s->classes,
                   .inner = s->inner,
                   .ignore = s->ignore,
                   .each = s->reduction == 0,
                   .scale_by = j->factor};
    TD_TRY(td_cuda_use(ordinal));
    switch (j->what) {
        case TD_CLASS_STATISTICS:
            if (s->inner == 1)
                return launch("loss_rows_together", "rows", ROWS, dtype, &c, ordinal);
            return launch("loss_alone", "columns", COLUMNS, dtype, &c, ordinal);
        case TD_CLASS_PICK: return pick(j, &c, device);
        case TD_CLASS_SCALES:
            TD_TRY(check_targets(s));
            return launch("loss_alone", "scales", SCALES, dtype, &c, ordinal);
        default:
            c.n *= s->classes;
            return launch("loss_alone", "gradient", GRADIENT, dtype, &c, ordinal);
    }
}

/* ---- margins between the classes of a sample ---- */

static td_status check_labels(const td_margins *m)
{
    td_tensor *near;
    TD_TRY(td_to_host(&near, m->target));
    td_status status = td_margins_check(near, m->x->sizes[1]);
    td_tensor_free(near);
    return status;
}

td_status td_cuda_margins(const void *job, td_device device)
{
    const td_margins *m = job;
    loss_call c = {.out = td_data(m->loss),
                   .slope = td_data(m->slope),
                   .x = td_data(m->x),
                   .t = td_data(m->target),
                   .n = m->x->sizes[0],
                   .classes = m->x->sizes[1],
                   .inner = m->target->ndim > 1 ? m->target->sizes[1] : 1,
                   .parameter = m->margin};
    TD_TRY(td_cuda_use(td_device_index(device)));
    TD_TRY(check_labels(m));
    return launch("loss_margins_together", "margins", MARGINS, (td_dtype)m->x->dtype, &c,
                  td_device_index(device));
}
