/* resample_run.h - sums over neighbours, by tables that say which and how much, shared out among
 * threads. */
#ifndef TD_RESAMPLE_RUN_H
#define TD_RESAMPLE_RUN_H
#include "cpu/resample.h"
#include "runtime/tensor.h"
#include "runtime/work.h"

/* The last two dimensions of `planes` dense planes, of double if wide, else of float; adjoint:
 * gradients go the other way. */
td_status td_resample_planes(const td_planes *p, int64_t planes, bool wide, bool adjoint);
/* The third dimension from the end: lines of `inner` numbers, `outer` times. */
void td_resample_deep(td_tensor *out, const td_tensor *from, const td_taps *taps, int64_t outer,
                      int64_t inner, bool adjoint);
/* What a device with kernels of its own is asked for (TD_WORK_RESAMPLE): the two above, or
 * td_round_bytes. Tables lie in the host's memory. */
typedef struct td_resample_job {
    const td_taps *rows, *columns; /* columns NULL: `rows` are taps of the third dimension; both
                                      NULL: `to` is rounded where it lies */
    const char *from;
    char *to;
    int64_t n, inner; /* elements of `to` */
    bool wide, adjoint;
} td_resample_job;

/* float32 to the numbers of bytes, where they lie */
void td_round_bytes(td_tensor *made);

#endif
