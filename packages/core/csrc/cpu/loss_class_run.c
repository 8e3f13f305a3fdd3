/* loss_class_run.c - how threads share targets, and rows or strips of scores. */
#include "cpu/loss_class_run.h"
#include "runtime/alloc.h"
#include "runtime/cpu.h"
#include "runtime/pool.h"

#define CHUNK 4096 /* targets of one partial sum */
#define EXP_NS 0.6

static double read_number(const td_tensor *t, int64_t i)
{
    return t->dtype == TD_F64 ? ((const double *)td_data(t))[i]
                              : (double)((const float *)td_data(t))[i];
}

static void write_number(td_tensor *t, int64_t i, double value)
{
    if (t->dtype == TD_F64) ((double *)td_data(t))[i] = value;
    else ((float *)td_data(t))[i] = (float)value;
}

/* ---- the loss of every target ---- */

typedef struct picking {
    const td_class_scores *s;
    const td_tensor *statistics; /* [2, ...] of cross entropy; NULL: x holds log-probabilities */
    td_tensor *each;             /* losses, or NULL when they are only summed */
    td_class_sum *partials;
} picking;

static bool is_class(const td_class_scores *s, int64_t target)
{
    return target >= 0 && target < s->classes;
}

/* Target i, read once: another thread may write to it, and what was looked at is what is used. */
static int64_t target_of(const td_class_scores *s, int64_t i)
{
    return ((const volatile int64_t *)td_data(s->target))[i];
}

/* Where the score of target i stands. */
static int64_t position(const td_class_scores *s, int64_t i, int64_t target)
{
    return (i / s->inner * s->classes + target) * s->inner + i % s->inner;
}

static double loss_at(const picking *p, int64_t i, int64_t target)
{
    double score = read_number(p->s->x, position(p->s, i, target));
    if (!p->statistics) return -score;
    return read_number(p->statistics, td_class_count(p->s) + i) -
           (score - read_number(p->statistics, i));
}

static void pick_chunks(void *context, int64_t begin, int64_t end)
{
    const picking *p = context;
    const td_class_scores *s = p->s;
    for (int64_t chunk = begin; chunk < end; chunk++) {
        int64_t last =
            (chunk + 1) * CHUNK < td_class_count(s) ? (chunk + 1) * CHUNK : td_class_count(s);
        td_class_sum sum = {0, 0, -1};
        for (int64_t i = chunk * CHUNK; i < last; i++) {
            double loss = 0;
            int64_t target = target_of(s, i);
            if (target != s->ignore && !is_class(s, target)) {
                sum.bad = i;
            } else if (target != s->ignore) {
                double w = s->weight ? read_number(s->weight, target) : 1;
                loss = w * loss_at(p, i, target);
                sum.loss += loss;
                sum.weight += w;
            }
            if (p->each) write_number(p->each, i, loss);
        }
        p->partials[chunk] = sum;
    }
}

static td_status pick(const picking *p, td_class_sum *sum)
{
    picking job = *p;
    int64_t n = td_class_count(p->s), chunks = n / CHUNK + (n % CHUNK != 0),
            bytes = (chunks + 1) * (int64_t)sizeof(td_class_sum);
    *sum = (td_class_sum){0, 0, -1};
    if (!(job.partials = td_alloc(bytes)))
        return td_fail(TD_MEMORY_ERROR, "no memory for %lld bytes of td_class_sum sums",
                       (long long)bytes);
    td_parallel(chunks, 1, pick_chunks, &job);
    for (int64_t c = 0; c < chunks; c++) {
        sum->loss += job.partials[c].loss;
        sum->weight += job.partials[c].weight;
        if (sum->bad < 0) sum->bad = job.partials[c].bad;
    }
    td_free(job.partials, bytes);
    if (sum->bad < 0) return TD_OK;
    return td_fail(TD_INDEX_ERROR, "%s: Target %lld is out of bounds: there are %lld classes",
                   p->s->op, (long long)((const int64_t *)td_data(p->s->target))[sum->bad],
                   (long long)p->s->classes);
}

td_status td_class_pick(const td_class_scores *s, const td_tensor *statistics, td_tensor *each,
                        td_class_sum *sum)
{
    return pick(&(picking){.s = s, .statistics = statistics, .each = each}, sum);
}

/* ---- gradients ---- */

td_status td_class_scales(td_tensor *out, const td_class_scores *s, const td_tensor *grad,
                          double factor)
{
    bool one = s->reduction != 0;
    for (int64_t i = 0; i < out->numel; i++) {
        int64_t target = target_of(s, i);
        bool used = target != s->ignore;
        if (used && !is_class(s, target))
            return td_fail(TD_INDEX_ERROR,
                           "%s: Target %lld is out of bounds: there are %lld classes", s->op,
                           (long long)target, (long long)s->classes);
        double w = used && s->weight ? read_number(s->weight, target) : 1;
        write_number(out, i, used ? read_number(grad, one ? 0 : i) * w * factor : 0);
    }
    return TD_OK;
}

void td_class_subtract(td_tensor *out, const td_class_scores *s, const td_tensor *scale)
{
    for (int64_t i = 0; i < td_class_count(s); i++) {
        int64_t target = target_of(s, i);
        if (target == s->ignore || !is_class(s, target)) continue;
        int64_t at = position(s, i, target);
        write_number(out, at, read_number(out, at) - read_number(scale, i));
    }
}

/* ---- statistics, and gradients by them ---- */

typedef struct class_job {
    const td_class_kernel *kernel;
    const td_class_scores *s;
    char *out, *top, *log;
    const char *x, *scale; /* scale NULL: compute the statistics */
    int64_t itemsize, strips;
} class_job;

static void class_rows(void *context, int64_t begin, int64_t end)
{
    const class_job *j = context;
    int64_t n = j->s->classes, at = begin * n * j->itemsize, stat = begin * j->itemsize;
    if (j->scale)
        j->kernel->rows_gradient(j->out + at, j->x + at, j->top + stat, j->log + stat,
                                 j->scale + stat, end - begin, n);
    else j->kernel->rows(j->top + stat, j->log + stat, j->x + at, end - begin, n);
}

static void class_strips(void *context, int64_t begin, int64_t end)
{
    const class_job *j = context;
    int64_t n = j->s->classes, inner = j->s->inner;
    for (int64_t i = begin; i < end; i++) {
        int64_t sample = i / j->strips, first = i % j->strips * TD_CLASS_STRIP,
                m = inner - first < TD_CLASS_STRIP ? inner - first : TD_CLASS_STRIP;
        int64_t at = (sample * n * inner + first) * j->itemsize,
                stat = (sample * inner + first) * j->itemsize;
        if (j->scale)
            j->kernel->cols_gradient(j->out + at, j->x + at, j->top + stat, j->log + stat,
                                     j->scale + stat, n, inner, m);
        else j->kernel->cols(j->top + stat, j->log + stat, j->x + at, n, inner, m);
    }
}

void td_class_run(const td_class_scores *s, const td_tensor *statistics, const td_tensor *scale,
                  td_tensor *out)
{
    int64_t itemsize = td_itemsize((td_dtype)s->x->dtype), n = td_class_count(s);
    class_job j = {&TD_PICK(td_loss_kernels)->classes[s->x->dtype == TD_F64],
                   s,
                   out ? td_data(out) : NULL,
                   td_data(statistics),
                   (char *)td_data(statistics) + n * itemsize,
                   td_data(s->x),
                   scale ? td_data(scale) : NULL,
                   itemsize,
                   (s->inner + TD_CLASS_STRIP - 1) / TD_CLASS_STRIP};
    int64_t unit = s->classes * (s->inner == 1 ? 1 : s->inner / (j.strips ? j.strips : 1) + 1),
            grain = 8192 / (unit + 1);
    if (n == 0) return;
    void *token = td_heavy_begin((double)n * (double)s->classes * EXP_NS);
    if (s->inner == 1) td_parallel(s->samples, grain > 1 ? grain : 1, class_rows, &j);
    else td_parallel(s->samples * j.strips, grain > 1 ? grain : 1, class_strips, &j);
    td_heavy_end(token);
}
