/* int8_run.c - products of int8 over threads: columns of the result in parts. */
#include "cpu/matmul/int8_run.h"
#include "runtime/pool.h"
#include "runtime/scratch.h"

#define WIDEST 1024 /* columns of a part, whose panels stay near */
#define PANEL 32
#define SERIAL (1 << 21) /* multiplications below which waking a thread costs more */

typedef struct job {
    const td_int8_gemm *g;
    int64_t step;
    td_scratch scratch;
} job;

static const td_int8_kernels *kernels(void) { return TD_PICK_QUADS(td_int8_kernels); }

bool td_multiplies_int8(void) { return kernels()->run; }

static void run_parts(void *context, int64_t begin, int64_t end)
{
    job *j = context;
    void *work = td_scratch_take(&j->scratch);
    for (int64_t i = begin; i < end; i++) {
        int64_t last = (i + 1) * j->step;
        kernels()->run(j->g, i * j->step, last < j->g->n ? last : j->g->n, work);
    }
    td_scratch_give(&j->scratch, work);
}

td_status td_int8_run(const td_int8_gemm *g)
{
    double cost = (double)g->m * (double)g->n * (double)g->k;
    int64_t parts = cost < SERIAL ? 1 : td_num_threads(),
            step = ((g->n + parts - 1) / parts + PANEL - 1) / PANEL * PANEL;
    job j = {.g = g, .step = step < WIDEST ? step : WIDEST};
    TD_TRY(td_scratch_begin(&j.scratch, kernels()->work(g, j.step)));
    void *token = td_heavy_begin(cost / 200);
    td_parallel((g->n + j.step - 1) / j.step, 1, run_parts, &j);
    td_heavy_end(token);
    td_scratch_end(&j.scratch);
    return TD_OK;
}
