/* alloc_events.c - a ring of what the allocator did. It keeps a fixed number of events: who asks
 * fetches them after every operation. A full ring keeps the oldest and counts what it lost, so that
 * who fetches knows that its sums are off. */
#define _POSIX_C_SOURCE 200809L
#include "runtime/alloc_events.h"
#include <pthread.h>
#include <time.h>

#define ROOM ((int64_t)1 << 14)

static struct {
    pthread_mutex_t lock;
    td_alloc_event events[ROOM];
    int64_t first, count, lost;
} ring = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool td_alloc_noting;

void td_alloc_note_on(bool on)
{
    pthread_mutex_lock(&ring.lock);
    ring.first = ring.count = ring.lost = 0;
    __atomic_store_n(&td_alloc_noting, on, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&ring.lock);
}

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void td_alloc_note(const void *block, int64_t bytes)
{
    pthread_mutex_lock(&ring.lock);
    if (ring.count == ROOM) {
        ring.lost++;
    } else {
        ring.events[(ring.first + ring.count++) % ROOM] =
            (td_alloc_event){.when = now(), .block = (int64_t)(intptr_t)block, .bytes = bytes};
    }
    pthread_mutex_unlock(&ring.lock);
}

int64_t td_alloc_fetch(td_alloc_event *out, int64_t room, int64_t *lost)
{
    pthread_mutex_lock(&ring.lock);
    int64_t n = ring.count < room ? ring.count : room;
    for (int64_t i = 0; i < n; i++) out[i] = ring.events[(ring.first + i) % ROOM];
    ring.first = (ring.first + n) % ROOM;
    ring.count -= n;
    *lost = ring.lost;
    ring.lost = 0;
    pthread_mutex_unlock(&ring.lock);
    return n;
}
