/* fault.c - the note that kernels leave, and the tickets that tell whose it is. */
#include "cuda/fault.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define PORTABLE 1 /* page-locked for every context: kernels of all devices reach it */
#define KEPT 4096  /* tickets that are remembered: launches between a fault and the next wait */

typedef struct issued {
    int64_t number;
    td_cuda_fault fault;
    char place[TD_CUDA_PLACE_TEXT];
} issued;

void (*td_cuda_fault_place)(char text[TD_CUDA_PLACE_TEXT]);
static issued tickets[KEPT];
static int64_t last;
static volatile int64_t *note; /* the ticket's number, or 0; then the value */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int make_note(void)
{
    void *made = NULL;
    int code = note ? 0 : td_cu.cuMemHostAlloc(&made, 2 * sizeof *note, PORTABLE);
    if (!code && made) {
        memset(made, 0, 2 * sizeof *note);
        note = made;
    }
    return code;
}

td_status td_cuda_fault_ticket(const td_cuda_fault *fault, td_cuda_ticket *ticket)
{
    char place[TD_CUDA_PLACE_TEXT] = "";
    if (td_cuda_fault_place) td_cuda_fault_place(place);
    pthread_mutex_lock(&lock);
    int code = make_note();
    issued *t = &tickets[++last % KEPT];
    t->number = last;
    t->fault = *fault;
    memcpy(t->place, place, sizeof place);
    *ticket = (td_cuda_ticket){(int64_t *)note, last};
    pthread_mutex_unlock(&lock);
    TD_CU(code, "making room for what kernels find wrong");
    return TD_OK;
}

static td_status told(const issued *t, int64_t value)
{
    const td_cuda_fault *f = &t->fault;
    const char *own = strcmp(f->op, "index") ? f->op : ""; /* not "index: index 3 ..." */
    char where[TD_CUDA_PLACE_TEXT + 80];
    snprintf(where, sizeof where, "%s%s. The device found it; the call was earlier than this one",
             t->place[0] ? ", called at " : "", t->place);
    switch (f->kind) {
        case TD_CUDA_BAD_INDEX:
            return td_fail(f->error,
                           "%s%sindex %lld is out of bounds for dimension %lld with size %lld%s",
                           own, own[0] ? ": " : "", (long long)value, (long long)f->dim,
                           (long long)f->size, where);
        case TD_CUDA_BAD_TARGET:
            return td_fail(f->error, "%s: Target %lld is out of bounds: there are %lld classes%s",
                           f->op, (long long)value, (long long)f->size, where);
        case TD_CUDA_BAD_EDGES:
            return td_fail(f->error, "%s: edges must rise from 0 to the %lld columns%s", f->op,
                           (long long)f->size, where);
        default:
            return td_fail(f->error, "%s: all elements of input should be between 0 and 1%s", f->op,
                           where);
    }
}

td_status td_cuda_fault_check(void)
{
    if (!note || !note[0]) return TD_OK;
    pthread_mutex_lock(&lock);
    int64_t number = note[0], value = note[1];
    issued t = tickets[number % KEPT];
    note[0] = 0;
    pthread_mutex_unlock(&lock);
    if (!number) return TD_OK; /* another thread tells it */
    if (t.number == number) return told(&t, value);
    return td_fail(TD_INDEX_ERROR,
                   "an index or target is out of bounds: %lld, in a call more than %d checked ones "
                   "ago; CUDA_LAUNCH_BLOCKING=1 names the call",
                   (long long)value, KEPT);
}

td_status td_cuda_fault_launched(td_status launched)
{
    return launched == TD_OK && td_cuda_blocking() ? td_cuda_fault_check() : launched;
}
