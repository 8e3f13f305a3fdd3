/* users.h - streams that work on memory beside the stream it belongs to: the memory serves again
 * when their work of that time is done. */
#ifndef TD_CUDA_USERS_H
#define TD_CUDA_USERS_H
#include "cuda/device.h"

typedef struct td_cuda_user {
    struct td_cuda_user *next;
    void *stream, *event; /* event: recorded when the memory was released; NULL before */
    int ordinal;
    bool late; /* it was released while the stream was captured: to be marked when that is over */
} td_cuda_user;

/* `list` tells of the stream from now on, once. */
td_status td_cuda_users_add(td_cuda_user **list, int ordinal, void *stream);

/* The memory is released: mark the work that each stream has now. A stream that cannot be marked is
 * waited for. */
void td_cuda_users_mark(td_cuda_user **list);

/* Is the marked work done? What is done leaves the list. */
bool td_cuda_users_done(td_cuda_user **list);

/* Wait for it. */
void td_cuda_users_wait(td_cuda_user **list);

/* An event of a device, from those that were made before; `td_cuda_event_keep` gives it back. */
td_status td_cuda_event_take(int ordinal, void **event);
void td_cuda_event_keep(int ordinal, void *event);

#endif
