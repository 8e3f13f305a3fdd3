/* transfer.c - bytes between the host and a device, within a device and between two, on the current
 * stream of the device. */
#include "cuda/device.h"
#include "runtime/pool.h"

#define NANOSECONDS_A_BYTE 0.1

static td_status wait_for(void *stream)
{
    void *token = td_heavy_begin(1e9);
    int code = td_cu.cuStreamSynchronize(stream);
    td_heavy_end(token);
    TD_CU(code, "waiting for a copy");
    return TD_OK;
}

td_status td_cuda_transfer(char *to, td_device to_device, const char *from, td_device from_device,
                           int64_t bytes, bool wait)
{
    if (bytes == 0) return TD_OK;
    bool from_host = from_device == TD_CPU, to_host = to_device == TD_CPU;
    int here = td_device_index(from_host ? to_device : from_device);
    TD_TRY(td_cuda_use(here));
    void *stream = td_cuda_stream(here);
    uint64_t a = (uint64_t)(uintptr_t)to, b = (uint64_t)(uintptr_t)from;
    int there = td_device_index(to_device), code;
    if (!from_host && !to_host && here != there) {
        TD_TRY(td_cuda_use(there));
        TD_TRY(td_cuda_use(here));
    }
    void *token = td_heavy_begin((double)bytes * NANOSECONDS_A_BYTE);
    if (from_host) code = td_cu.cuMemcpyHtoDAsync_v2(a, from, (size_t)bytes, stream);
    else if (to_host) code = td_cu.cuMemcpyDtoHAsync_v2(to, b, (size_t)bytes, stream);
    else if (here == there) code = td_cu.cuMemcpyDtoDAsync_v2(a, b, (size_t)bytes, stream);
    else
        code = td_cu.cuMemcpyPeerAsync(a, td_cuda_context(there), b, td_cuda_context(here),
                                       (size_t)bytes, stream);
    td_heavy_end(token);
    TD_CU(code, "copying");
    /* Work of one device is in order; the host, and another device's stream, must know that the
     * bytes are there. */
    bool same = !from_host && !to_host && here == there;
    return !same && (wait || here != there) ? wait_for(stream) : TD_OK;
}
