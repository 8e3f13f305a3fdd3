/* softmax.c - softmax and its kin as one launch (kernels/softmax.h). */
#include "cpu/softmax_run.h"
#include "cuda/program.h"
#include "cuda/scan.h"
#include "cuda/workers.h"

#define UNIT_BLOCK 64
#define MOST_BLOCKS 65535

typedef struct softmax_call { /* laid out as in kernels/softmax.h */
    char *out;
    const char *a, *b;
    int64_t outer, n, inner, kind;
} softmax_call;

td_status td_cuda_softmax(const void *job, td_device device)
{
    const td_softmax_job *j = job;
    const td_tensor *a = j->a;
    int64_t dim = j->dim;
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
    td_cuda_program w = {.kind = "softmax",
                         .how = c.inner == 1 ? "softmax_together" : "softmax_alone",
                         .name = "softmax",
                         .dtype = a->dtype,
                         .from = a->dtype};
    void *function;
    TD_TRY(td_cuda_function(&w, ordinal, &function));
    int64_t blocks = c.inner == 1 ? c.outer : (c.outer * c.inner + UNIT_BLOCK - 1) / UNIT_BLOCK;
    return td_cuda_launch_blocks(function, ordinal, blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS,
                                 UNIT_BLOCK, &c, "softmax");
}
