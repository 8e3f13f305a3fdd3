/* attention_ragged_run.c - how threads share the heads and blocks of queries of all sequences. A
 * task is that of one sequence alone, so its bits do not depend on what stands beside it. */
#include "cpu/attention_ragged_run.h"
#include "runtime/scratch.h"

static td_heads from_row(td_heads h, int64_t row, int64_t itemsize)
{
    if (h.data) h.data = (float *)((char *)h.data + row * h.row * itemsize);
    return h;
}

td_attention td_ragged_attention_of(const td_ragged_attention *r, int64_t sequence)
{
    td_attention p = r->all;
    int64_t query = r->query_ends[sequence], key = r->key_ends[sequence];
    p.queries = r->query_ends[sequence + 1] - query;
    p.keys = r->key_ends[sequence + 1] - key;
    td_heads *by_query[] = {&p.q, &p.out, &p.grad, &p.dq}, *by_key[] = {&p.k, &p.v, &p.dk, &p.dv};
    for (int i = 0; i < 4; i++) {
        *by_query[i] = from_row(*by_query[i], query, r->itemsize);
        *by_key[i] = from_row(*by_key[i], key, r->itemsize);
    }
    p.logsumexp += p.heads * query;
    return p;
}

typedef struct job {
    const td_ragged_attention *r;
    const td_attention_kernel *kernel;
    const int64_t *first; /* task of each sequence, and how many there are */
    bool backward;
    td_scratch scratch;
} job;

/* the sequence of a task: the last that begins at or before it */
static int64_t sequence_of(const job *j, int64_t task)
{
    int64_t low = 0, high = j->r->sequences;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (j->first[middle] <= task) low = middle;
        else high = middle;
    }
    return low;
}

static void run_tasks(void *context, int64_t begin, int64_t end)
{
    job *j = context;
    void *work = td_scratch_take(&j->scratch);
    for (int64_t i = sequence_of(j, begin); begin < end; i++) {
        int64_t last = j->first[i + 1] < end ? j->first[i + 1] : end;
        if (last <= begin) continue; /* a sequence without tasks */
        td_attention p = td_ragged_attention_of(j->r, i);
        (j->backward ? j->kernel->backward : j->kernel->forward)(&p, begin - j->first[i],
                                                                 last - j->first[i], work);
        begin = last;
    }
    td_scratch_give(&j->scratch, work);
}

/* Counts the tasks of each sequence; the work space of the largest, and the cost of all. */
static int64_t survey(const job *j, int64_t *first, double *cost)
{
    int64_t most = 0;
    for (int64_t i = 0; i < j->r->sequences; i++) {
        td_attention p = td_ragged_attention_of(j->r, i);
        int64_t tasks = j->backward ? p.kv_heads : p.heads * td_attention_blocks(&p);
        int64_t work = (j->backward ? j->kernel->backward_work : j->kernel->forward_work)(&p);
        first[i + 1] = first[i] + tasks;
        *cost += td_attention_cost(&p, j->backward);
        most = work > most ? work : most;
    }
    return most;
}

static td_status run_all(job *j, int64_t work, double cost)
{
    int64_t tasks = j->first[j->r->sequences];
    TD_TRY(td_scratch_begin(&j->scratch, work));
    void *token = td_heavy_begin(cost);
    td_parallel(tasks, td_attention_grain(tasks, cost), run_tasks, j);
    td_heavy_end(token);
    td_scratch_end(&j->scratch);
    return TD_OK;
}

td_status td_ragged_attention_run(const td_ragged_attention *r, bool backward)
{
    int64_t bytes = (r->sequences + 1) * (int64_t)sizeof(int64_t);
    int64_t *first = td_alloc(bytes);
    if (!first) return td_fail(TD_MEMORY_ERROR, "no memory for %lld bytes", (long long)bytes);
    first[0] = 0;
    job j = {r, TD_PICK(td_attention_kernel), first, backward, {0}};
    double cost = 0;
    int64_t work = survey(&j, first, &cost);
    td_status status = run_all(&j, work, cost);
    td_free(first, bytes);
    return status;
}
