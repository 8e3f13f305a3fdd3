/* streams.h - what the core knows of the streams of devices: whether anybody left the default one,
 * what runs on a device now, and what a watcher of the order between streams hears.
 *
 * The work itself is told by the dispatcher (dispatch/accesses.c). Nobody watches unless
 * taeda.cuda._sanitizer asks. */
#ifndef TD_STREAMS_H
#define TD_STREAMS_H
#include <stdbool.h>
#include <stdint.h>

extern bool td_streamed; /* some thread has chosen another stream than the default one */
/* the operator that runs on a device in this thread, or NULL */
extern _Thread_local const char *td_running;

/* `stream` and `other` are addresses. Python knows these by their numbers. */
typedef enum td_order {
    TD_ORDER_RECORD,      /* `other`, an event, marks the work that `stream` has now */
    TD_ORDER_WAIT,        /* later work of `stream` comes after the mark of `other` */
    TD_ORDER_FORGET,      /* `other`, an event, is gone */
    TD_ORDER_EVENT_DONE,  /* the host knows that the mark of `other` was reached */
    TD_ORDER_STREAM_DONE, /* the host knows that the work of `stream` is done */
    TD_ORDER_DEVICE_DONE, /* the host knows that all work of the device is done */
    /* `bytes` at `other` serve again only after the work that `stream` has now */
    TD_ORDER_MEMORY_DONE
} td_order;

/* filled by the binding while somebody watches, else NULL */
extern void (*td_order_heard)(td_order what, int ordinal, const void *stream, const void *other,
                              int64_t bytes);
static inline void td_order_tell(td_order what, int ordinal, const void *stream, const void *other,
                                 int64_t bytes)
{
    if (__builtin_expect(td_order_heard != 0, 0))
        td_order_heard(what, ordinal, stream, other, bytes);
}

/* Work is numbered as it is queued, over all threads and devices. */
extern int64_t td_order_work;
static inline int64_t td_order_next(void)
{
    return td_order_heard ? __atomic_add_fetch(&td_order_work, 1, __ATOMIC_RELAXED) : 0;
}

/* Filled while a device's work is recorded instead of done, else NULL: what an operator had as an
 * argument or a result is needed by each replay. */
struct td_storage;
extern void (*td_recorded)(int ordinal, struct td_storage *s);
#endif
