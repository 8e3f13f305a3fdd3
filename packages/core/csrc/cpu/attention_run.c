/* attention_run.c - how threads share heads and blocks of queries. */
#include "cpu/attention_run.h"
#include "runtime/scratch.h"

typedef struct job {
    const td_attention *p;
    void (*run)(const td_attention *p, int64_t begin, int64_t end, void *work);
    td_scratch scratch;
} job;

static void run_tasks(void *context, int64_t begin, int64_t end)
{
    job *j = context;
    void *work = td_scratch_take(&j->scratch);
    j->run(j->p, begin, end, work);
    td_scratch_give(&j->scratch, work);
}

double td_attention_cost(const td_attention *p, bool backward)
{
    double pairs = (double)p->batch * (double)p->heads * (double)p->queries * (double)p->keys;
    return pairs * (double)(p->width + p->value_width + 16) / 40 * (backward ? 2.5 : 1);
}

int64_t td_attention_grain(int64_t tasks, double cost)
{
    double grain = tasks ? 8000 * (double)tasks / (cost + 1) : 1;
    return grain < 1 ? 1 : grain > 1e9 ? tasks : (int64_t)grain;
}

td_status td_attention_run(const td_attention *p, bool backward)
{
    const td_attention_kernel *kernel = TD_PICK(td_attention_kernel);
    job j = {p, backward ? kernel->backward : kernel->forward, {0}};
    int64_t tasks =
        backward ? p->batch * p->kv_heads : p->batch * p->heads * td_attention_blocks(p);
    double cost = td_attention_cost(p, backward);
    TD_TRY(td_scratch_begin(&j.scratch,
                            backward ? kernel->backward_work(p) : kernel->forward_work(p)));
    void *token = td_heavy_begin(cost);
    td_parallel(tasks, td_attention_grain(tasks, cost), run_tasks, &j);
    td_heavy_end(token);
    td_scratch_end(&j.scratch);
    return TD_OK;
}
