/* loss_margin_run.c - margins between the classes of a sample, samples shared out among threads. */
#include "cpu/loss_margin_run.h"
#include "cpu/loss.h"
#include "runtime/cpu.h"
#include "runtime/scratch.h"

#define PAIR_NS 0.5 /* of a label and another class */

typedef struct margin_job {
    const td_margins *m;
    const td_margin_kernel *kernel;
    int64_t classes, labels, item; /* labels of a row of the target */
    td_scratch scratch;            /* a row: 1 for classes that are no labels, else 0 */
} margin_job;

static int64_t labels_of(const td_margins *m)
{
    return m->target->ndim > 1 ? m->target->sizes[1] : 1;
}

td_status td_margins_check(const td_tensor *targets, int64_t classes)
{
    const int64_t *target = td_data(targets);
    bool several = targets->ndim > 1;
    int64_t least = several ? -1 : 0;
    for (int64_t i = 0; i < targets->numel; i++)
        if (target[i] < least || target[i] >= classes)
            return td_fail(TD_RUNTIME_ERROR, "target out of range: %s are %lld to %lld, got %lld",
                           several ? "labels" : "classes", (long long)least, (long long)classes - 1,
                           (long long)target[i]);
    return TD_OK;
}

/* how many labels stand before the first that is none */
static int64_t count_labels(const int64_t *target, int64_t most)
{
    int64_t n = 0;
    while (n < most && target[n] >= 0) n++;
    return n;
}

static void run_samples(void *context, int64_t begin, int64_t end)
{
    margin_job *j = context;
    char *others = td_scratch_take(&j->scratch), *x = td_data(j->m->x), *loss = td_data(j->m->loss),
         *slope = td_data(j->m->slope);
    const int64_t *target = td_data(j->m->target);
    for (int64_t i = begin; i < end; i++) {
        const int64_t *own = target + i * j->labels, row = i * j->classes * j->item;
        j->kernel->row(loss + i * j->item, slope + row, x + row, j->classes, own,
                       count_labels(own, j->labels), j->m->margin, others);
    }
    td_scratch_give(&j->scratch, others);
}

static td_status run_checked(const td_margins *m)
{
    bool is_double = m->x->dtype == TD_F64;
    int64_t samples = m->x->sizes[0], classes = m->x->sizes[1];
    margin_job j = {.m = m,
                    .kernel = &TD_PICK(td_loss_kernels)->margin[is_double],
                    .classes = classes,
                    .labels = labels_of(m),
                    .item = td_itemsize((td_dtype)m->x->dtype)};
    double each = (double)classes * (double)(j.labels + 2) * PAIR_NS,
           grain = each < 4000 ? 8000 / (each + 1) : 1;
    TD_TRY(td_margins_check(m->target, classes));
    TD_TRY(td_scratch_begin(&j.scratch, classes * j.item));
    void *token = td_heavy_begin((double)samples * each);
    td_parallel(samples, (int64_t)grain + 1, run_samples, &j);
    td_heavy_end(token);
    td_scratch_end(&j.scratch);
    return TD_OK;
}

/* by labels of the call's own: another thread may write to those that were given */
td_status td_margins_run(const td_margins *m)
{
    td_margins own = *m;
    td_tensor *target;
    TD_TRY(td_tensor_empty(&target, TD_I64, TD_CPU, m->target->ndim, m->target->sizes));
    td_status status = td_copy(target, m->target);
    own.target = target;
    if (status == TD_OK) status = run_checked(&own);
    td_tensor_free(target);
    return status;
}
