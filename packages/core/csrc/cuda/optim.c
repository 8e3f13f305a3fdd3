/* optim.c - work on lists of tensors as launches of kernels/optim.h, so many tensors at a time as
 * the arguments of a launch hold. */
#include <math.h>
#include "cpu/optim_run.h"
#include "cpu/optim_steps.h"
#include "cuda/graph.h"
#include "cuda/program.h"
#include "cuda/workers.h"

#define SLICES 40

typedef struct optim_slice { /* laid out as in kernels/optim.h */
    char *data[5];
    int64_t first, numel;
    double rate, correction;
    const void *counter;
} optim_slice;
typedef struct optim_call {
    int64_t n, count;
    double *partial, *counted;
    const void *scale, *found_inf;
    double lr, lr_decay, momentum, dampening, beta1, beta2, weight_decay, eps, grad_scale, number,
        p;
    int64_t nesterov, maximize, first, amsgrad, decoupled, operation;
    optim_slice slices[SLICES];
} optim_call;
_Static_assert(sizeof(optim_call) <= 4096, "a launch carries 4,096 bytes of arguments");

enum { SGD, ADAM, ADAGRAD, NUMBER, COUNTS, POWERS };

/* ---- parameters ---- */

static void read_sgd(optim_call *c, const td_sgd_params *o)
{
    c->lr = o->lr;
    c->momentum = o->momentum;
    c->dampening = o->dampening;
    c->weight_decay = o->weight_decay;
    c->grad_scale = o->grad_scale;
    c->nesterov = o->nesterov;
    c->maximize = o->maximize;
    c->first = o->first;
}

static void read_adam(optim_call *c, const td_adam_params *o)
{
    c->lr = o->lr;
    c->beta1 = o->beta1;
    c->beta2 = o->beta2;
    c->weight_decay = o->weight_decay;
    c->eps = o->eps;
    c->grad_scale = o->grad_scale;
    c->amsgrad = o->amsgrad;
    c->maximize = o->maximize;
    c->decoupled = o->decoupled;
}

static void read_adagrad(optim_call *c, const td_adagrad_params *o)
{
    c->lr = o->lr;
    c->lr_decay = o->lr_decay;
    c->weight_decay = o->weight_decay;
    c->eps = o->eps;
    c->grad_scale = o->grad_scale;
    c->maximize = o->maximize;
}

static int read_params(optim_call *c, const td_optim_job *j)
{
    c->p = j->p;
    c->scale = j->flat->grad_scale;
    c->found_inf = j->flat->found_inf;
    if (!j->params) return POWERS;
    switch (j->work) {
        case TD_FLAT_SGD: return read_sgd(c, j->params), SGD;
        case TD_FLAT_ADAM: return read_adam(c, j->params), ADAM;
        case TD_FLAT_ADAGRAD: return read_adagrad(c, j->params), ADAGRAD;
        case TD_FLAT_MULTIPLY: c->operation = 'm'; break;
        case TD_FLAT_DIVIDE: c->operation = 'd'; break;
        case TD_FLAT_ADD: c->operation = 'a'; break;
    }
    c->number = *(const double *)j->params;
    return NUMBER;
}

/* what the counter of a slice gives, in double */
static void read_counter(optim_slice *s, int work, const td_optim_job *j, double step)
{
    if (work == ADAM) {
        const td_adam_params *o = j->params;
        s->rate = TD_ADAM_RATE(step);
        s->correction = TD_ADAM_CORRECTION(step);
    } else if (work == ADAGRAD) {
        const td_adagrad_params *o = j->params;
        s->rate = TD_ADAGRAD_RATE(step);
    }
}

/* ---- launches ---- */

static td_status launch(int work, td_dtype dtype, optim_call *c, int ordinal)
{
    static const char *names[] = {"sgd", "adam", "adagrad", "number", "counts", "powers"};
    td_cuda_work w = {.kind = "optim",
                      .how = work == POWERS ? "optim_together" : "optim_alone",
                      .name = names[work],
                      .dtype = dtype};
    return work == POWERS ? td_cuda_blocks(&w, ordinal, c->n, c)
                          : td_cuda_threads(&w, ordinal, c->n, c);
}

/* Slices from `from` on that fit one launch; returns the first that does not. */
static int64_t gather(optim_call *c, int work, const td_optim_job *j, int64_t from)
{
    const td_flat *f = j->flat;
    int64_t i = from;
    c->n = c->count = 0;
    for (; i < f->count && c->count < SLICES; i++) {
        const td_slice *s = &f->slices[i];
        if (f->lists[0][i]->dtype != f->lists[0][from]->dtype) break;
        if (s->numel == 0) continue;
        optim_slice *to = &c->slices[c->count++];
        *to = (optim_slice){.first = c->n, .numel = s->numel};
        for (int k = 0; k < 5; k++) to->data[k] = s->data[k];
        to->counter = s->counter;
        if (!s->counter) read_counter(to, work, j, s->step);
        c->n += work == POWERS ? (s->numel + TD_CHUNK - 1) / TD_CHUNK : s->numel;
    }
    return i;
}

/* What counters on the device give comes from a launch of its own, not once an element. */
static td_status launch_counted(int work, td_dtype dtype, optim_call *c, td_device device)
{
    int ordinal = td_device_index(device);
    bool counts = false;
    for (int64_t i = 0; i < c->count; i++) counts |= c->slices[i].counter != NULL;
    if (!counts) return launch(work, dtype, c, ordinal);
    int64_t bytes = c->count * 2 * (int64_t)sizeof(double), n = c->n;
    char *counted;
    void *block;
    TD_TRY(td_cuda_alloc(&counted, bytes, device, &block));
    c->counted = (double *)counted;
    c->n = c->count;
    c->operation = work == ADAM;
    td_status status = launch(COUNTS, TD_F32, c, ordinal);
    c->n = n;
    if (status == TD_OK) status = launch(work, dtype, c, ordinal);
    c->counted = NULL;
    td_cuda_release(block, counted, bytes);
    return status;
}

/* Numbers of the host are what a graph holds for good: a step that it counts would stay what it
 * was. */
static td_status check_counters(const td_optim_job *j, int work, int ordinal)
{
    if (work != ADAM || !td_cuda_capturing(ordinal)) return TD_OK;
    for (int64_t i = 0; i < j->flat->count; i++)
        if (!j->flat->slices[i].counter)
            return td_cuda_not_captured(
                ordinal, "a step of an optimizer that the host counts (say capturable=True)");
    return TD_OK;
}

static td_status run(const td_optim_job *j, double *partial, td_device device)
{
    optim_call c = {0};
    int work = read_params(&c, j);
    TD_TRY(check_counters(j, work, td_device_index(device)));
    for (int64_t i = 0; i < j->flat->count;) {
        int64_t from = i;
        c.partial = partial ? partial + j->flat->first[from] : NULL;
        i = gather(&c, work, j, from);
        TD_TRY(launch_counted(work, (td_dtype)j->flat->lists[0][from]->dtype, &c, device));
    }
    return TD_OK;
}

static td_status sums(const td_optim_job *j, td_device device)
{
    char *partial;
    void *block;
    int64_t bytes = j->flat->first[j->flat->count] * (int64_t)sizeof(double);
    if (bytes == 0) return TD_OK;
    TD_TRY(td_cuda_alloc(&partial, bytes, device, &block));
    td_status status = run(j, (double *)partial, device);
    if (status == TD_OK)
        status = td_cuda_transfer((char *)j->partial, TD_CPU, partial, device, bytes, true);
    td_cuda_release(block, partial, bytes);
    return status;
}

td_status td_cuda_optim(const void *job, td_device device)
{
    const td_optim_job *j = job;
    TD_TRY(td_cuda_use(td_device_index(device)));
    return j->params ? run(j, NULL, device) : sums(j, device);
}
