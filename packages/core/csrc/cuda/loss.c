/* loss.c - losses as launches of kernels/loss.h. Sums of blocks are added by a launch of their own,
 * in the processor's order; targets and probabilities are looked at by the kernels (fault.h). */
#include "cpu/loss_class_run.h"
#include "cpu/loss_margin_run.h"
#include "cpu/loss_pairs.h"
#include "cpu/loss_run.h"
#include "cuda/fault.h"
#include "cuda/program.h"
#include "cuda/workers.h"

#define TARGETS 4096       /* of one partial sum */
#define BLOCKS_OF_CHUNK 32 /* of pairs: the processor's threads take 32,768 at a time */
#define UNIT_BLOCK 64
#define MOST_BLOCKS 65535

typedef struct loss_call { /* laid out as in kernels/loss.h */
    char *out, *slope;
    const char *x, *t, *g, *weight, *scale, *statistics;
    double *partial;
    const double *total;
    int64_t n, count, classes, inner, ignore, each, mean, chunk;
    double scale_by, parameter, divisor;
    td_cuda_ticket ticket;
} loss_call;

static td_status launch(const char *how, const char *name, td_dtype dtype, loss_call *c,
                        int ordinal)
{
    td_cuda_program w = {.kind = "loss", .how = how, .name = name, .dtype = dtype, .from = dtype};
    void *function;
    if (c->n == 0) return TD_OK;
    TD_TRY(td_cuda_function(&w, ordinal, &function));
    if (how[5] == 'a') return td_cuda_launch(function, ordinal, c->n, c, name); /* loss_alone */
    return td_cuda_launch_blocks(function, ordinal, c->n < MOST_BLOCKS ? c->n : MOST_BLOCKS,
                                 UNIT_BLOCK, c, name);
}

/* ---- sums of blocks, and their sum ---- */

typedef struct partials {
    char *data;
    void *block;
    int64_t bytes;
} partials;

static td_status partials_begin(partials *p, int64_t n, loss_call *c, td_device device)
{
    p->bytes = (n + 1) * (int64_t)sizeof(double);
    TD_TRY(td_cuda_alloc(&p->data, p->bytes, device, &p->block));
    c->partial = (double *)p->data;
    return TD_OK;
}

/* of c->n blocks, into `to` */
static td_status partials_join(const char *name, loss_call *c, td_tensor *to, int ordinal)
{
    loss_call join = *c;
    join.count = c->n;
    join.n = 1;
    join.out = td_data(to);
    return launch("loss_join_together", name, TD_F64, &join, ordinal);
}

static void partials_end(partials *p) { td_cuda_release(p->block, p->data, p->bytes); }

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
    int ordinal = td_device_index(device);
    c->n = (c->count + TD_LOSS_BLOCK - 1) / TD_LOSS_BLOCK;
    c->chunk = BLOCKS_OF_CHUNK;
    c->divisor = j->divisor;
    TD_TRY(partials_begin(&parts, c->n, c, device));
    td_status status =
        launch("loss_sum_together", sums[p->kind], (td_dtype)p->x->dtype, c, ordinal);
    if (status == TD_OK) status = partials_join("one", c, j->sum, ordinal);
    partials_end(&parts);
    return status;
}

/* Probabilities lie in [0, 1]: the kernels of the loss itself look at them. */
static td_status ask_for_probabilities(const td_pair_job *j, loss_call *c)
{
    static const td_cuda_fault fault = {
        .kind = TD_CUDA_BAD_PROBABILITY, .error = TD_RUNTIME_ERROR, .op = "binary_cross_entropy"};
    bool looks = j->problem->kind == TD_BCE && !j->g;
    return looks ? td_cuda_fault_ticket(&fault, &c->ticket) : TD_OK;
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
    TD_TRY(ask_for_probabilities(j, &c));
    if (!j->out) return td_cuda_fault_launched(total(j, &c, device));
    const char *name = (j->g ? slopes : singles)[p->kind];
    return td_cuda_fault_launched(
        launch("loss_alone", name, (td_dtype)p->x->dtype, &c, td_device_index(device)));
}

/* ---- of class scores ---- */

static td_status ask_for_targets(const td_class_scores *s, loss_call *c)
{
    const td_cuda_fault fault = {
        .kind = TD_CUDA_BAD_TARGET, .error = TD_INDEX_ERROR, .op = s->op, .size = s->classes};
    return td_cuda_fault_ticket(&fault, &c->ticket);
}

static td_status pick(const td_class_job *j, loss_call *c, td_device device)
{
    partials parts;
    int ordinal = td_device_index(device);
    c->n = (c->count + TARGETS - 1) / TARGETS;
    c->chunk = 1;
    c->mean = j->s->reduction == 1;
    TD_TRY(partials_begin(&parts, 2 * c->n, c, device));
    td_status status = launch("loss_alone", "pick", (td_dtype)j->s->x->dtype, c, ordinal);
    if (status == TD_OK) status = partials_join("two", c, j->sums, ordinal);
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
            if (s->inner == 1) return launch("loss_rows_together", "rows", dtype, &c, ordinal);
            return launch("loss_alone", "columns", dtype, &c, ordinal);
        case TD_CLASS_PICK:
            TD_TRY(ask_for_targets(s, &c));
            return td_cuda_fault_launched(pick(j, &c, device));
        case TD_CLASS_SCALES:
            TD_TRY(ask_for_targets(s, &c));
            c.total = s->reduction == 1 ? td_data(j->total) : NULL;
            return td_cuda_fault_launched(launch("loss_alone", "scales", dtype, &c, ordinal));
        default: c.n *= s->classes; return launch("loss_alone", "gradient", dtype, &c, ordinal);
    }
}

/* ---- margins between the classes of a sample ---- */

/* Labels are classes, and those of a sample with several end at the first -1. */
static td_status ask_for_labels(const td_margins *m, loss_call *c)
{
    const td_cuda_fault fault = {.kind = TD_CUDA_BAD_TARGET,
                                 .error = TD_RUNTIME_ERROR,
                                 .op = m->target->ndim > 1 ? "multilabel_margin_loss"
                                                           : "multi_margin_loss",
                                 .size = c->classes};
    c->ignore = m->target->ndim > 1 ? -1 : 0; /* the least that a label may be */
    return td_cuda_fault_ticket(&fault, &c->ticket);
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
    TD_TRY(ask_for_labels(m, &c));
    return td_cuda_fault_launched(launch("loss_margins_together", "margins", (td_dtype)m->x->dtype,
                                         &c, td_device_index(device)));
}
