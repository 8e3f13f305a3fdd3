/* transfer.c - bytes between the host and a device, within a device and between two, on the current
 * stream of the device.
 *
 * The host waits unless it is told not to, and then only page-locked memory (host.c) lets the copy
 * go on alone: from other memory the driver returns when it has taken the bytes along, and into
 * other memory this file waits. Two devices wait for each other's streams, and not the host. */
#include "cuda/fault.h"
#include "cuda/graph.h"
#include "cuda/host.h"
#include "runtime/streams.h"
#include "cuda/users.h"
#include "runtime/pool.h"

#define NANOSECONDS_A_BYTE 0.1

static td_status wait_for(int ordinal, void *stream)
{
    void *token = td_heavy_begin(1e9);
    int code = td_cu.cuStreamSynchronize(stream);
    /* The caller gives up the memory that the copy may still go to: a driver that refused this call
     * only is asked once more. On a device that is lost no copy goes on. */
    if (code) (void)td_cu.cuCtxSynchronize();
    td_heavy_end(token);
    TD_CU(code, "waiting for a copy");
    td_order_tell(TD_ORDER_STREAM_DONE, ordinal, stream, NULL, 0);
    return td_cuda_fault_check();
}

static bool is_captured(void *stream)
{
    int status = 0;
    return stream && !td_cu.cuStreamIsCapturing(stream, &status) && status;
}

/* A capture would be lost by an order that it cannot hold. */
static td_status refuse_crossing(int first_device, void *first, int later_device, void *later)
{
    bool inside = is_captured(first), joins = is_captured(later);
    if (joins && !inside)
        return td_cuda_not_captured(later_device, "waiting for work that is not captured");
    return inside && !later
               ? td_cuda_not_captured(first_device, "letting a default stream wait for it")
               : TD_OK;
}

td_status td_cuda_follow(int first_device, void *first, int later_device, void *later)
{
    void *event;
    if (__atomic_load_n(&td_cuda_captures, __ATOMIC_RELAXED))
        TD_TRY(refuse_crossing(first_device, first, later_device, later));
    TD_TRY(td_cuda_event_take(first_device, &event));
    td_status status = td_cuda_use(first_device);
    int code = status ? 0 : td_cu.cuEventRecord(event, first);
    if (!status) status = td_cuda_use(later_device);
    if (!status && !code) code = td_cu.cuStreamWaitEvent(later, event, 0);
    if (!status && !code) {
        td_order_tell(TD_ORDER_RECORD, first_device, first, event, 0);
        td_order_tell(TD_ORDER_WAIT, later_device, later, event, 0);
    }
    td_cuda_event_keep(first_device, event); /* the wait is of the record, not of the event */
    TD_TRY(status);
    TD_CU(code, "ordering two streams");
    return TD_OK;
}

/* On the stream of the device that has the bytes: after the other's work with the memory they go
 * to, and before its later work. */
static td_status between(char *to, int there, const char *from, int here, int64_t bytes)
{
    void *ours = td_cuda_stream(here), *theirs = td_cuda_stream(there);
    TD_TRY(td_cuda_reach(here, there));
    TD_TRY(td_cuda_follow(there, theirs, here, ours));
    TD_TRY(td_cuda_use(here));
    TD_CU(td_cu.cuMemcpyPeerAsync((uint64_t)(uintptr_t)to, td_cuda_context(there),
                                  (uint64_t)(uintptr_t)from, td_cuda_context(here), (size_t)bytes,
                                  ours),
          "copying between devices");
    return td_cuda_follow(here, ours, there, theirs);
}

static td_status with_host(char *to, const char *from, bool from_host, int here, int64_t bytes,
                           bool wait)
{
    void *stream = td_cuda_stream(here);
    td_status noted = TD_OK;
    bool free_going = !wait && td_cuda_host_used(from_host ? from : to, here, stream, &noted);
    TD_TRY(noted);
    bool waits = wait || (!from_host && !free_going);
    if (waits || !free_going)
        TD_TRY(td_cuda_not_captured(here, from_host
                                              ? "copying memory of the host that is not pinned"
                                              : "reading the device"));
    if (waits)
        TD_TRY(td_cuda_note_wait(from_host ? "copying to the device" : "reading the device"));
    void *token = td_heavy_begin((double)bytes * NANOSECONDS_A_BYTE);
    int code =
        from_host
            ? td_cu.cuMemcpyHtoDAsync_v2((uint64_t)(uintptr_t)to, from, (size_t)bytes, stream)
            : td_cu.cuMemcpyDtoHAsync_v2(to, (uint64_t)(uintptr_t)from, (size_t)bytes, stream);
    td_heavy_end(token);
    TD_CU(code, "copying");
    return waits ? wait_for(here, stream) : TD_OK;
}

td_status td_cuda_transfer(char *to, td_device to_device, const char *from, td_device from_device,
                           int64_t bytes, bool wait)
{
    if (bytes == 0) return TD_OK;
    bool from_host = from_device == TD_CPU;
    int here = td_device_index(from_host ? to_device : from_device),
        there = td_device_index(to_device);
    TD_TRY(td_cuda_use(here));
    if (from_host || to_device == TD_CPU) return with_host(to, from, from_host, here, bytes, wait);
    if (here != there) return between(to, there, from, here, bytes);
    TD_CU(td_cu.cuMemcpyDtoDAsync_v2((uint64_t)(uintptr_t)to, (uint64_t)(uintptr_t)from,
                                     (size_t)bytes, td_cuda_stream(here)),
          "copying");
    return TD_OK;
}
