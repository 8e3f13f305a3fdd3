/* distance.c - distances between rows as launches of kernels/distance.h. */
#include <math.h>
#include "cpu/distance_run.h"
#include "cuda/program.h"
#include "cuda/workers.h"

typedef struct distance_call { /* laid out as in kernels/distance.h */
    char *out;
    const char *x, *y, *grad, *distance;
    int64_t units;
    int64_t rows, others, n;
    double p;
} distance_call;

td_status td_cuda_distance(const void *job, td_device device)
{
    static const char *names[] = {"one",      "two",      "inf",      "p",
                                  "pull_one", "pull_two", "pull_inf", "pull_p"};
    const td_distance_job *j = job;
    const td_distances *d = j->d;
    distance_call c = {.out = td_data(j->out),
                       .x = td_data(d->x),
                       .y = td_data(d->y),
                       .grad = j->grad ? td_data(j->grad) : NULL,
                       .distance = j->grad ? td_data(j->distance) : NULL,
                       .units = j->out->numel,
                       .rows = d->rows,
                       .others = d->others,
                       .n = d->n,
                       .p = d->p};
    int kind = d->p == 1 ? 0 : d->p == 2 ? 1 : isinf(d->p) ? 2 : 3, work = kind + (j->grad ? 4 : 0);
    td_cuda_work w = {.kind = "distance",
                      .how = "distance_alone",
                      .name = names[work],
                      .dtype = (td_dtype)d->x->dtype};
    int ordinal = td_device_index(device);
    TD_TRY(td_cuda_use(ordinal));
    return td_cuda_threads(&w, ordinal, c.units, &c);
}
