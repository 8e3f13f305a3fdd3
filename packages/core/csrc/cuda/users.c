/* users.c - events on the streams that use released memory. */
#include "cuda/users.h"
#include "cuda/capture.h"
#include <pthread.h>
#include "runtime/alloc.h"

#define UNTIMED 2

/* ---- events that were made before ---- */
typedef struct kept {
    struct kept *next;
    void *event;
} kept;

static kept *events[TD_DEVICE_ORDINALS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

td_status td_cuda_event_take(int ordinal, void **event)
{
    pthread_mutex_lock(&lock);
    kept *k = events[ordinal];
    if (k) events[ordinal] = k->next;
    pthread_mutex_unlock(&lock);
    if (k) {
        *event = k->event;
        td_free_struct(k, sizeof *k);
        return TD_OK;
    }
    TD_TRY(td_cuda_use(ordinal));
    TD_CU(td_cu.cuEventCreate(event, UNTIMED), "making an event");
    return TD_OK;
}

void td_cuda_event_keep(int ordinal, void *event)
{
    kept *k = td_alloc_struct(sizeof *k);
    if (!k) {
        td_cu.cuEventDestroy_v2(event);
        return;
    }
    k->event = event;
    pthread_mutex_lock(&lock);
    k->next = events[ordinal];
    events[ordinal] = k;
    pthread_mutex_unlock(&lock);
}

/* ---- lists of users ---- */
td_status td_cuda_users_add(td_cuda_user **list, int ordinal, void *stream)
{
    for (td_cuda_user *u = *list; u; u = u->next)
        if (u->stream == stream && u->ordinal == ordinal) return TD_OK;
    td_cuda_user *made = td_alloc_struct(sizeof *made);
    if (!made) return td_fail(TD_MEMORY_ERROR, "no memory to note that a stream uses a block");
    *made = (td_cuda_user){.next = *list, .stream = stream, .ordinal = ordinal};
    *list = made;
    return TD_OK;
}

/* In a driver that refuses everything no work runs any more, so nothing needs to be waited for. */
static void mark(td_cuda_user *u)
{
    void *event;
    int captured = 0;
    u->late = false;
    if (td_cuda_use(u->ordinal) != TD_OK) return;
    if (__atomic_load_n(&td_cuda_captures, __ATOMIC_RELAXED) && u->stream &&
        !td_cu.cuStreamIsCapturing(u->stream, &captured) && captured) {
        u->late = true; /* an event of a capture answers nobody */
        return;
    }
    if (td_cuda_event_take(u->ordinal, &event) == TD_OK) {
        if (!td_cu.cuEventRecord(event, u->stream)) {
            u->event = event;
            return;
        }
        td_cuda_event_keep(u->ordinal, event);
    }
    td_cu.cuStreamSynchronize(u->stream);
}

void td_cuda_users_mark(td_cuda_user **list)
{
    for (td_cuda_user *u = *list; u; u = u->next) mark(u);
}

static void drop(td_cuda_user **at)
{
    td_cuda_user *u = *at;
    *at = u->next;
    if (u->event) td_cuda_event_keep(u->ordinal, u->event);
    td_free_struct(u, sizeof *u);
}

static bool is_late(void *event)
{
    int mode = td_cuda_relax(), code = td_cu.cuEventQuery(event);
    td_cuda_strict(mode);
    return code != 0;
}

bool td_cuda_users_done(td_cuda_user **list)
{
    while (*list) {
        td_cuda_user *u = *list;
        if (u->late) mark(u);
        /* a driver that does not answer has not said that the work is done */
        if (u->late || (u->event && (td_cuda_use(u->ordinal) != TD_OK || is_late(u->event))))
            return false;
        drop(list);
    }
    return true;
}

void td_cuda_users_wait(td_cuda_user **list)
{
    if (__atomic_load_n(&td_cuda_captures, __ATOMIC_RELAXED)) return; /* it would end the capture */
    while (*list) {
        td_cuda_user *u = *list;
        if (u->late) mark(u);
        if (u->event && td_cuda_use(u->ordinal) == TD_OK && td_cu.cuEventSynchronize(u->event))
            (void)td_cu.cuCtxSynchronize(); /* on a device that is lost no work goes on */
        drop(list);
    }
}
