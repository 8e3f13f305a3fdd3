/* streams.h - a node runs on the stream that its forward ran on. */
#ifndef TD_BACKWARD_STREAMS_H
#define TD_BACKWARD_STREAMS_H
#include "backward/slots.h"
#include "runtime/streams.h"

int td_stream_change(Run *r, const Node *n);
/* Work of this walk goes to the node's stream from now on. 0, or -1 with an exception */
static inline int td_stream_enter(Run *r, const Node *n)
{
    return __builtin_expect(td_streamed, 0) ? td_stream_change(r, n) : 0;
}
/* The caller's streams come after the walk's work, and are current again. status, or -1 */
int td_streams_leave(Run *r, int status);
#endif
