/* attention.c - fused attention as launches of kernels/attention.h. */
#include "cpu/attention_run.h"
#include "cuda/program.h"

typedef struct attention_call { /* laid out as in kernels/attention.h */
    int64_t units;
    int64_t batch, heads, kv_heads, queries, keys, width, value_width;
    td_heads q, k, v, out, grad, dq, dk, dv;
    const float *mask;
    int64_t mask_stride[4];
    double *logsumexp;
    float scale;
    int causal;
} attention_call;

enum { FORWARD, QUERIES, KEYS };

static td_status launch(int work, attention_call *c, int64_t units, int ordinal)
{
    static const char *names[] = {"forward", "queries", "keys"};
    td_cuda_work w = {.kind = "attention",
                      .how = "attention_together",
                      .name = names[work],
                      .work = work,
                      .dtype = TD_F32};
    c->units = units;
    return td_cuda_blocks(&w, ordinal, units, c);
}

td_status td_cuda_attention(const void *job, td_device device)
{
    const td_attention_job *j = job;
    const td_attention *p = j->problem;
    int ordinal = td_device_index(device);
    attention_call c = {.batch = p->batch,
                        .heads = p->heads,
                        .kv_heads = p->kv_heads,
                        .queries = p->queries,
                        .keys = p->keys,
                        .width = p->width,
                        .value_width = p->value_width,
                        .q = p->q,
                        .k = p->k,
                        .v = p->v,
                        .out = p->out,
                        .grad = p->grad,
                        .dq = p->dq,
                        .dk = p->dk,
                        .dv = p->dv,
                        .mask = p->mask,
                        .logsumexp = p->logsumexp,
                        .scale = p->scale,
                        .causal = p->causal};
    for (int d = 0; d < 4; d++) c.mask_stride[d] = p->mask_stride[d];
    TD_TRY(td_cuda_use(ordinal));
    if (!j->backward) return launch(FORWARD, &c, p->batch * p->heads * p->queries, ordinal);
    TD_TRY(launch(QUERIES, &c, p->batch * p->heads * p->queries, ordinal));
    return launch(KEYS, &c, p->batch * p->kv_heads * p->keys, ordinal);
}
