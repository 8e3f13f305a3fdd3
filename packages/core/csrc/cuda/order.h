/* order.h - what a watcher of the order between streams hears: what orders work. The work itself is
 * told by the dispatcher (dispatch/accesses.c). Nobody watches unless taeda.cuda._sanitizer asks.
 */
#ifndef TD_CUDA_ORDER_H
#define TD_CUDA_ORDER_H
#include <stdint.h>

/* `stream` and `other` are addresses. Python knows these by their numbers. */
typedef enum td_cuda_order {
    TD_CUDA_ORDER_RECORD,      /* `other`, an event, marks the work that `stream` has now */
    TD_CUDA_ORDER_WAIT,        /* later work of `stream` comes after the mark of `other` */
    TD_CUDA_ORDER_FORGET,      /* `other`, an event, is gone */
    TD_CUDA_ORDER_EVENT_DONE,  /* the host knows that the mark of `other` was reached */
    TD_CUDA_ORDER_STREAM_DONE, /* the host knows that the work of `stream` is done */
    TD_CUDA_ORDER_DEVICE_DONE, /* the host knows that all work of the device is done */
    /* `bytes` at `other` serve again only after the work that `stream` has now */
    TD_CUDA_ORDER_MEMORY_DONE
} td_cuda_order;

/* filled by the binding while somebody watches, else NULL */
extern void (*td_cuda_heard)(td_cuda_order what, int ordinal, const void *stream, const void *other,
                             int64_t bytes);
static inline void td_cuda_tell(td_cuda_order what, int ordinal, const void *stream,
                                const void *other, int64_t bytes)
{
    if (__builtin_expect(td_cuda_heard != 0, 0)) td_cuda_heard(what, ordinal, stream, other, bytes);
}

/* Work is numbered as it is queued, over all threads and devices. */
extern int64_t td_cuda_work_number;
static inline int64_t td_cuda_next_work(void)
{
    return td_cuda_heard ? __atomic_add_fetch(&td_cuda_work_number, 1, __ATOMIC_RELAXED) : 0;
}
#endif
