/* ranges.c - numbers at equal steps as a launch of kernels/ranges.h. */
#include "cpu/creation_ranges.h"
#include "cuda/program.h"
#include "cuda/workers.h"

typedef struct ranges_call { /* laid out as in kernels/ranges.h */
    char *out;
    int64_t n, first, by;
    double start, step;
} ranges_call;

td_status td_cuda_range(const void *job, td_device device)
{
    const td_range_job *j = job;
    ranges_call c = {td_data(j->out), j->out->numel, j->first, j->by, j->start, j->step};
    td_cuda_work w = {
        .kind = "ranges", .how = "ranges_alone", .name = "steps", .dtype = (td_dtype)j->out->dtype};
    TD_TRY(td_cuda_use(td_device_index(device)));
    return td_cuda_threads(&w, td_device_index(device), c.n, &c);
}
