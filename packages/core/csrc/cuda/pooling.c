/* pooling.c - pooling as launches of kernels/pooling.h. */
#include <string.h>
#include "cpu/pooling/pooling_run.h"
#include "cuda/program.h"
#include "cuda/workers.h"

typedef struct pooling_call { /* laid out as in kernels/pooling.h */
    const char *x, *g;
    char *to;
    int64_t *where;
    int64_t n;
    int64_t in[3], out[3], window[3], stride[3], pad[3], dilation[3];
    int64_t divisor, include_pad, lowest;
} pooling_call;

static pooling_call call_of(const td_pool_job *j)
{
    const td_pool *p = j->pool;
    pooling_call c = {.x = td_data(j->x),
                      .g = j->grad ? td_data(j->grad) : NULL,
                      .to = td_data(j->out),
                      .where = j->where ? td_data(j->where) : NULL,
                      .n = j->out->numel,
                      .divisor = p->divisor,
                      .include_pad = p->include_pad,
                      .lowest = p->lowest};
    memcpy(c.in, p->in, sizeof c.in);
    memcpy(c.out, p->out, sizeof c.out);
    memcpy(c.window, p->window, sizeof c.window);
    memcpy(c.stride, p->stride, sizeof c.stride);
    memcpy(c.pad, p->pad, sizeof c.pad);
    memcpy(c.dilation, p->dilation, sizeof c.dilation);
    return c;
}

td_status td_cuda_pool_windows(const void *job, td_device device)
{
    static const char *names[][2] = {
        [TD_POOL_MAX] = {"max", "max_backward"},
        [TD_POOL_AVERAGE] = {"average", "average_backward"},
        [TD_POOL_ADAPTIVE_MAX] = {"adaptive_max", NULL},
        [TD_POOL_ADAPTIVE_AVERAGE] = {"adaptive_average", "adaptive_average_backward"},
    };
    const td_pool_job *j = job;
    pooling_call c = call_of(j);
    td_cuda_work w = {.kind = "pooling",
                      .how = "pooling_alone",
                      .name = names[j->kind][j->grad != NULL],
                      .dtype = (td_dtype)j->x->dtype};
    int ordinal = td_device_index(device);
    TD_TRY(td_cuda_use(ordinal));
    return td_cuda_threads(&w, ordinal, c.n, &c);
}
