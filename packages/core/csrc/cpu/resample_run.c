/* resample_run.c - how threads share planes, and lines of whole planes. */
#include "cpu/resample_run.h"
#include <math.h>
#include <string.h>
#include "runtime/cpu.h"
#include "runtime/scratch.h"

/* ---- the last two dimensions ---- */

typedef struct job {
    td_planes planes;
    td_scratch scratch;
    bool wide, adjoint;
} job;

static void run_planes(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    td_planes p = j->planes;
    p.line = td_scratch_take(&j->scratch);
    (j->adjoint ? TD_PICK(td_resample_kernels)->adjoint
                : TD_PICK(td_resample_kernels)->planes)[j->wide](&p, begin, end);
    td_scratch_give(&j->scratch, p.line);
}

td_status td_resample_planes(const td_planes *p, int64_t planes, bool wide, bool adjoint)
{
    job run = {.planes = *p, .wide = wide, .adjoint = adjoint}, *j = &run;
    const td_taps *r = &j->planes.rows, *c = &j->planes.columns;
    double each =
        (double)r->out * ((double)(c->in * r->count) * 0.2 + (double)(c->out * c->count) * 0.8);
    TD_TRY(td_scratch_begin(&j->scratch, c->in * (j->wide ? 8 : 4)));
    void *token = td_heavy_begin(each * (double)planes);
    td_parallel(planes, (int64_t)(10000 / (each + 1)) + 1, run_planes, j);
    td_heavy_end(token);
    td_scratch_end(&j->scratch);
    return TD_OK;
}

/* ---- the third dimension from the end: lines of `inner` numbers; `outer` of them side by side
 * ---- */

typedef struct deep_job {
    const td_taps *taps;
    const char *from;
    char *to;
    int64_t inner;
    bool wide, adjoint;
} deep_job;

static void run_deep(void *context, int64_t begin, int64_t end)
{
    const deep_job *j = context;
    const td_taps *t = j->taps;
    int64_t bytes = j->inner * (j->wide ? 8 : 4), read = j->adjoint ? t->out : t->in,
            write = j->adjoint ? t->in : t->out;
    for (int64_t o = begin; o < end; o++) {
        const char *from = j->from + o * read * bytes;
        char *to = j->to + o * write * bytes;
        memset(to, 0, (size_t)(write * bytes));
        for (int64_t k = 0; k < t->count * t->out; k++) {
            double weight = j->wide ? ((double *)t->weight)[k] : (double)((float *)t->weight)[k];
            int64_t in = t->place[k], out = k % t->out;
            TD_PICK(td_resample_kernels)
                ->add_line[j->wide](to + (j->adjoint ? in : out) * bytes,
                                    from + (j->adjoint ? out : in) * bytes, weight, j->inner);
        }
    }
}

void td_resample_deep(td_tensor *out, const td_tensor *from, const td_taps *taps, int64_t outer,
                      int64_t inner, bool adjoint)
{
    deep_job j = {taps, td_data(from), td_data(out), inner, from->dtype == TD_F64, adjoint};
    double each = (double)(taps->count * taps->out * inner) * 0.3;
    void *token = td_heavy_begin(each * (double)outer);
    td_parallel(outer, (int64_t)(10000 / (each + 1)) + 1, run_deep, &j);
    td_heavy_end(token);
}

/* Numbers of bytes: halves go up. Weights may be negative, so sums may leave the range. */
void td_round_bytes(td_tensor *made)
{
    float *x = td_data(made);
    for (int64_t i = 0; i < made->numel; i++) x[i] = fminf(255, fmaxf(0, floorf(x[i] + 0.5f)));
}
