/* random.c - dropout as launches of kernels/random.h. */
#include "cpu/random/dropout_job.h"
#include "cuda/graph.h"
#include "cuda/program.h"
#include "cuda/workers.h"

typedef struct random_call { /* laid out as in kernels/random.h */
    char *out;
    const char *x;
    uint8_t *mask;
    int64_t n, elements;
    uint64_t seed, block;
    const uint64_t
        *state; /* NULL, or of a graph: seed and first block, from which `block` counts */
    double scale;
    uint32_t threshold;
} random_call;

td_status td_cuda_dropout(const void *job, td_device device)
{
    const td_dropout_job *j = job;
    int64_t n = j->x->numel, groups = (n + TD_GROUP_WORDS - 1) / TD_GROUP_WORDS;
    random_call c = {.out = td_data(j->out),
                     .x = td_data(j->x),
                     .mask = td_data(j->mask),
                     .n = j->backward ? n : groups * TD_GROUP_BLOCKS,
                     .elements = n,
                     .seed = j->seed,
                     .block = j->block,
                     .scale = j->scale,
                     .threshold = j->threshold};
    td_cuda_work w = {.kind = "random",
                      .how = "random_alone",
                      .name = j->backward ? "masked" : "dropout",
                      .dtype = (td_dtype)j->x->dtype};
    int ordinal = td_device_index(device);
    TD_TRY(td_cuda_use(ordinal));
    td_cuda_graph *graph = j->backward ? NULL : td_cuda_capturing(ordinal);
    if (graph)
        TD_TRY(td_cuda_graph_random(graph, j->seed, j->block, (const void **)&c.state, &c.block));
    return td_cuda_threads(&w, ordinal, c.n, &c);
}
