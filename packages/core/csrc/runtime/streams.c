/* streams.c - what the core knows of the streams of devices. */
#include "runtime/streams.h"

bool td_streamed;
_Thread_local const char *td_running;
void (*td_order_heard)(td_order, int, const void *, const void *, int64_t);
int64_t td_order_work;
void (*td_recorded)(int, struct td_storage *);
