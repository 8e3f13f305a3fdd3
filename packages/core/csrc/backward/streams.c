/* streams.c - where a walk goes from one stream to another, the second waits for the first. So all
 * work of a walk is in one order, in which memory may go from node to node, and the caller's stream
 * waits for the last. */
#include "backward/streams.h"
#include "runtime/device.h"

/* the first device of CUDA that the node has results on, or -1 */
static int device_of(const Node *n)
{
    for (int k = 0; k < n->nouts; k++)
        if (td_device_type((td_device)n->outs[k].device) == TD_CUDA)
            return td_device_index((td_device)n->outs[k].device);
    return -1;
}

static int change(td_device device, void *to)
{
    td_status status = td_device_follow(device, td_device_stream(device), to);
    if (status) return td_raised(status);
    td_device_set_stream(device, to);
    return 0;
}

int td_stream_change(Run *r, const Node *n)
{
    int ordinal = n->kind == TD_NODE_ACCUMULATE ? -1 : device_of(n); /* those add where they are */
    if (ordinal < 0) return 0;
    td_device device = td_device_of(TD_CUDA, ordinal);
    if (td_device_stream(device) == n->stream) return 0;
    if (!(r->moved >> ordinal & 1)) {
        r->home[ordinal] = td_device_stream(device);
        r->moved |= 1u << ordinal;
    }
    return change(device, n->stream);
}

int td_streams_leave(Run *r, int status)
{
    for (int k = 0; r->moved && k < TD_DEVICE_ORDINALS; k++) {
        td_device device = td_device_of(TD_CUDA, k);
        if (!(r->moved >> k & 1) || td_device_stream(device) == r->home[k]) continue;
        /* a walk that failed has its exception already */
        if (status == 0) status = change(device, r->home[k]);
        td_device_set_stream(device, r->home[k]);
    }
    return status;
}
