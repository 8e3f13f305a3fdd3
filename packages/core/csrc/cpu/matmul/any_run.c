/* any_run.c - products of integers and complex numbers over threads. */
#include "cpu/matmul/any.h"
#include "runtime/scratch.h"

typedef struct job {
    const td_any_gemm *g;
    td_any_gemm_fn run;
    td_scratch scratch;
} job;

static void run_rows(void *context, int64_t begin, int64_t end)
{
    job *j = context;
    void *work = td_scratch_take(&j->scratch);
    j->run(j->g, begin, end, work);
    td_scratch_give(&j->scratch, work);
}

td_status td_any_run(td_dtype dtype, const td_any_gemm *g)
{
    job j = {g, TD_PICK(td_any_kernels)->of[dtype], {0}};
    if (!j.run)
        return td_fail(TD_NOT_IMPLEMENTED, "products of matrices are not implemented for '%s'",
                       td_dtypes[dtype].type_name);
    TD_TRY(td_scratch_begin(&j.scratch, TD_ANY_WORK));
    double each = (double)g->n * (double)(g->k + 1) * 0.25; /* nanoseconds a row */
    double grain = 100000 / each;
    td_parallel(g->m, grain < 1 ? 1 : (int64_t)grain, run_rows, &j);
    td_scratch_end(&j.scratch);
    return TD_OK;
}
