/* capture.c - what captures forbid. */
#include "cuda/capture.h"
#include "cuda/driver.h"
#include "cuda/fault.h"
#include "runtime/streams.h"

int td_cuda_captures;

int td_cuda_relax(void)
{
    int mode = TD_CUDA_RELAXED;
    if (!__atomic_load_n(&td_cuda_captures, __ATOMIC_RELAXED)) return -1;
    td_cu.cuThreadExchangeStreamCaptureMode(&mode);
    return mode;
}

void td_cuda_strict(int mode)
{
    if (mode >= 0) td_cu.cuThreadExchangeStreamCaptureMode(&mode);
}

bool td_cuda_is_of_capture(int code) { return code >= 900 && code <= 908; }

static const char *reason_of(int code)
{
    switch (code) {
        case 904: return "a stream that joined the capture has not been waited for";
        case 905: return "captured work would wait for work that is not captured";
        case 906: return "the default stream would wait for captured work";
        case 907: return "an event of a capture cannot be asked or waited for by the host";
        default: return "a call within or beside it is none that a capture allows";
    }
}

td_status td_cuda_capture_lost(int code, const char *name, const char *doing)
{
    char place[TD_CUDA_PLACE_TEXT] = "";
    if (td_cuda_fault_place) td_cuda_fault_place(place);
    return td_fail(
        TD_RUNTIME_ERROR,
        "the capture of a CUDA graph is lost: %s. The driver said so while %s%s%s%s%s: %s (%d)",
        reason_of(code), doing, td_running ? " in " : "", td_running ? td_running : "",
        place[0] ? ", called at " : "", place, name ? name : "unknown", code);
}
