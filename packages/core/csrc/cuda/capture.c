/* capture.c - what captures forbid. */
#include "cuda/capture.h"
#include "cuda/driver.h"

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
