/* softmax.c - softmax and its kin, along a dimension or segments, as one launch
 * (kernels/softmax.h). */
#include "cpu/softmax_run.h"
#include "cuda/fault.h"
#include "cuda/program.h"
#include "cuda/scan.h"
#include "cuda/workers.h"

#define UNIT_BLOCK 64
#define MOST_BLOCKS 65535

typedef struct softmax_call { /* laid out as in kernels/softmax.h */
    char *out;
    const char *a, *b;
    int64_t outer, n, inner, kind;
    const int64_t *edges;
    int64_t segments;
    td_cuda_ticket ticket;
} softmax_call;

static td_status launch(softmax_call *c, const char *how, uint8_t dtype, int64_t blocks,
                        int ordinal)
{
    td_cuda_program w = {
        .kind = "softmax", .how = how, .name = "softmax", .dtype = dtype, .from = dtype};
    void *function;
    TD_TRY(td_cuda_function(&w, ordinal, &function));
    return td_cuda_launch_blocks(function, ordinal, blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS,
                                 UNIT_BLOCK, c, "softmax");
}

/* A block takes a segment of a row after the other; without rows or segments it looks at edges
 * alone. */
static td_status along_segments(const td_softmax_job *j, int ordinal)
{
    const td_tensor *a = j->a;
    softmax_call c = {.out = td_data(j->out),
                      .a = td_data(a),
                      .b = td_data(j->b),
                      .outer = a->sizes[0],
                      .n = a->sizes[1],
                      .kind = j->kind,
                      .edges = td_data(j->edges),
                      .segments = j->edges->numel - 1};
    td_cuda_fault fault = {TD_CUDA_BAD_EDGES, TD_RUNTIME_ERROR, "segment softmax", 0, c.n};
    int64_t blocks = (c.outer ? c.outer : 1) * (c.segments ? c.segments : 1);
    TD_TRY(td_cuda_use(ordinal));
    TD_TRY(td_cuda_fault_ticket(&fault, &c.ticket));
    return td_cuda_fault_launched(
        launch(&c, "softmax_segments_together", a->dtype, blocks, ordinal));
}

td_status td_cuda_softmax(const void *job, td_device device)
{
    const td_softmax_job *j = job;
    const td_tensor *a = j->a;
    int64_t dim = j->dim;
    if (j->edges) return along_segments(j, td_device_index(device));
    if (td_is_complex((td_dtype)a->dtype)) return td_cuda_complex_logsumexp(j->out, a, device);
    softmax_call c = {.out = td_data(j->out),
                      .a = td_data(a),
                      .b = td_data(j->b),
                      .outer = 1,
                      .n = a->ndim ? a->sizes[dim] : 1,
                      .inner = 1,
                      .kind = j->kind};
    int ordinal = td_device_index(device);
    for (int64_t d = 0; d < dim; d++) c.outer *= a->sizes[d];
    for (int64_t d = dim + 1; d < a->ndim; d++) c.inner *= a->sizes[d];
    if (a->numel == 0) return TD_OK;
    TD_TRY(td_cuda_use(ordinal));
    int64_t blocks = c.inner == 1 ? c.outer : (c.outer * c.inner + UNIT_BLOCK - 1) / UNIT_BLOCK;
    return launch(&c, c.inner == 1 ? "softmax_together" : "softmax_alone", a->dtype, blocks,
                  ordinal);
}
