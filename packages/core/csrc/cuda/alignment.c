/* alignment.c - alignments of sequences as launches of kernels/alignment.h. */
#include "cpu/loss_alignment_run.h"
#include "cuda/program.h"
#include "cuda/workers.h"

typedef struct alignment_call { /* laid out as in kernels/alignment.h */
    char *out;
    const char *emitted;
    const uint8_t *skips;
    const int64_t *real, *steps;
    int64_t longest, batch, states;
    int64_t back;
} alignment_call;

td_status td_cuda_alignment(const void *job, td_device device)
{
    const td_alignment_job *j = job;
    const td_alignments *a = j->a;
    alignment_call c = {.out = td_data(j->out),
                        .emitted = td_data(a->emitted),
                        .skips = td_data(a->skips),
                        .real = td_data(a->states),
                        .steps = td_data(a->steps),
                        .longest = j->out->sizes[0],
                        .batch = j->out->sizes[1],
                        .states = j->out->sizes[2],
                        .back = a->back};
    td_cuda_work w = {.kind = "alignment",
                      .how = "alignment_together",
                      .name = "steps",
                      .dtype = (td_dtype)j->out->dtype};
    int ordinal = td_device_index(device);
    TD_TRY(td_cuda_use(ordinal));
    return td_cuda_blocks(&w, ordinal, c.batch, &c);
}
