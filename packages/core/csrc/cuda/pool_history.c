/* pool_history.c - the ring. */
#include "cuda/pool_history.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

int td_cuda_recording;
int64_t (*td_cuda_stack)(void);
void (*td_cuda_stack_text)(int64_t stack, char *text, int room);
static td_cuda_step *ring;
static int64_t most, made; /* made: steps so far */
static int64_t room;

void td_cuda_history_start(int64_t wanted, int recording)
{
    td_cuda_recording = recording;
    most = wanted;
    made = room = 0;
    free(ring);
    ring = NULL;
}

/* It grows as it is filled: the usual limit is larger than most programs need. */
static bool grow(void)
{
    int64_t more = room ? 2 * room : 1024;
    if (more > most) more = most;
    td_cuda_step *grown = realloc(ring, (size_t)more * sizeof *grown);
    if (!grown) return false;
    ring = grown;
    room = more;
    return true;
}

void td_cuda_history_add(td_cuda_step step)
{
    struct timespec t;
    if (!most || (made == room && room < most && !grow())) return;
    clock_gettime(CLOCK_REALTIME, &t);
    step.time_us = (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
    ring[made++ % room] = step;
}

td_cuda_step *td_cuda_history_copy(int64_t *n)
{
    *n = made < room ? made : room;
    td_cuda_step *copy = *n ? malloc((size_t)*n * sizeof *copy) : NULL;
    if (!copy) return *n = 0, NULL;
    int64_t first = made > room ? made % room : 0;
    memcpy(copy, ring + first, (size_t)(*n - first) * sizeof *copy);
    memcpy(copy + *n - first, ring, (size_t)first * sizeof *copy);
    return copy;
}
