/* pooling_run.h - pooling of dense planes, shared out among threads. */
#ifndef TD_POOLING_RUN_H
#define TD_POOLING_RUN_H
#include "cpu/pooling/pooling.h"
#include "runtime/tensor.h"
#include "runtime/work.h"

typedef enum td_pool_kind {
    TD_POOL_MAX,
    TD_POOL_AVERAGE,
    TD_POOL_ADAPTIVE_MAX,
    TD_POOL_ADAPTIVE_AVERAGE
} td_pool_kind;

bool td_pool_has(td_pool_kind kind, td_dtype dtype, bool backward);
/* `unit` is the work for an output, in places of a window; `where` (or NULL) gets the place of each
 * output in its plane. */
void td_pool_forward_run(td_pool_kind kind, const td_pool *pool, int64_t planes, double unit,
                         const td_tensor *x, td_tensor *out, td_tensor *where);
void td_pool_backward_run(td_pool_kind kind, const td_pool *pool, int64_t planes, double unit,
                          const td_tensor *x, const td_tensor *grad, td_tensor *out);

/* What a device with kernels of its own is asked for (TD_WORK_POOLING): the two above. */
typedef struct td_pool_job {
    td_pool_kind kind;
    const td_pool *pool;       /* without its places */
    const td_tensor *x, *grad; /* grad is NULL forward */
    td_tensor *out, *where;
} td_pool_job;

#endif
