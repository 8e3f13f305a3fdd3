/* noted.h - which kernels this thread ran, and when, for a profile that asks no more: the gate
 * notes them without a call of Python. Off, a call pays nothing: it is asked where tracers are. */
#ifndef TD_NOTED_H
#define TD_NOTED_H
#include "object/py.h"
#include <time.h>

static inline int64_t td_noted_now(void) /* as time.perf_counter_ns */
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* One that began at `start` and ends now. A call that finds no memory for it is counted. */
void td_noted_add(const td_schema *schema, int64_t start);
PyMethodDef *td_noted_methods(void);
#endif
