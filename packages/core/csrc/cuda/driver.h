/* driver.h - libcuda, opened when CUDA is first used. TAEDA_LIBCUDA names another library with the
 * same entry points. */
#ifndef TD_CUDA_DRIVER_H
#define TD_CUDA_DRIVER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "runtime/error.h"

/* of memory or of an event, for other processes */
typedef struct td_cuda_handle {
    char bytes[64];
} td_cuda_handle;

/* X(name in libcuda, type of the arguments) */
#define TD_CUDA_ENTRIES(X)                                                                  \
    X(cuInit, (unsigned flags))                                                             \
    X(cuDriverGetVersion, (int *version))                                                   \
    X(cuDeviceGetCount, (int *count))                                                       \
    X(cuDeviceGet, (int *device, int ordinal))                                              \
    X(cuDeviceGetName, (char *name, int length, int device))                                \
    X(cuDeviceGetAttribute, (int *value, int attribute, int device))                        \
    X(cuDeviceTotalMem_v2, (size_t *bytes, int device))                                     \
    X(cuDevicePrimaryCtxRetain, (void **context, int device))                               \
    X(cuCtxSetCurrent, (void *context))                                                     \
    X(cuCtxGetCurrent, (void **context))                                                    \
    X(cuCtxSynchronize, (void))                                                             \
    X(cuMemGetInfo_v2, (size_t *unused, size_t *total))                                     \
    X(cuMemAlloc_v2, (uint64_t *address, size_t bytes))                                     \
    X(cuMemFree_v2, (uint64_t address))                                                     \
    X(cuMemAllocAsync, (uint64_t *address, size_t bytes, void *stream))                     \
    X(cuMemFreeAsync, (uint64_t address, void *stream))                                     \
    X(cuDeviceGetDefaultMemPool, (void **pool, int device))                                 \
    X(cuMemPoolTrimTo, (void *pool, size_t keep))                                           \
    X(cuMemGetAddressRange_v2, (uint64_t *base, size_t *bytes, uint64_t address))           \
    X(cuIpcGetMemHandle, (td_cuda_handle * handle, uint64_t address))                       \
    X(cuIpcOpenMemHandle_v2, (uint64_t *address, td_cuda_handle handle, unsigned flags))    \
    X(cuIpcCloseMemHandle, (uint64_t address))                                              \
    X(cuIpcGetEventHandle, (td_cuda_handle * handle, void *event))                          \
    X(cuIpcOpenEventHandle, (void **event, td_cuda_handle handle))                          \
    X(cuMemHostAlloc, (void **address, size_t bytes, unsigned flags))                       \
    X(cuMemFreeHost, (void *address))                                                       \
    X(cuDeviceGetUuid_v2, (char uuid[16], int device))                                      \
    X(cuDeviceGetPCIBusId, (char *text, int length, int device))                            \
    X(cuDeviceCanAccessPeer, (int *can, int device, int other))                             \
    X(cuCtxEnablePeerAccess, (void *context, unsigned flags))                               \
    X(cuMemcpyHtoDAsync_v2, (uint64_t to, const void *from, size_t bytes, void *stream))    \
    X(cuMemcpyDtoHAsync_v2, (void *to, uint64_t from, size_t bytes, void *stream))          \
    X(cuMemcpyDtoDAsync_v2, (uint64_t to, uint64_t from, size_t bytes, void *stream))       \
    X(cuMemcpyPeerAsync, (uint64_t to, void *to_context, uint64_t from, void *from_context, \
                          size_t bytes, void *stream))                                      \
    X(cuStreamCreateWithPriority, (void **stream, unsigned flags, int priority))            \
    X(cuCtxGetStreamPriorityRange, (int *least, int *greatest))                             \
    X(cuStreamGetPriority, (void *stream, int *priority))                                   \
    X(cuStreamSynchronize, (void *stream))                                                  \
    X(cuStreamQuery, (void *stream))                                                        \
    X(cuStreamWaitEvent, (void *stream, void *event, unsigned flags))                       \
    X(cuEventCreate, (void **event, unsigned flags))                                        \
    X(cuEventDestroy_v2, (void *event))                                                     \
    X(cuEventRecord, (void *event, void *stream))                                           \
    X(cuEventRecordWithFlags, (void *event, void *stream, unsigned flags))                  \
    X(cuEventQuery, (void *event))                                                          \
    X(cuEventSynchronize, (void *event))                                                    \
    X(cuEventElapsedTime, (float *milliseconds, void *begin, void *end))                    \
    X(cuModuleLoadData, (void **module, const void *image))                                 \
    X(cuModuleGetFunction, (void **function, void *module, const char *name))               \
    X(cuLaunchKernel,                                                                       \
      (void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,     \
       unsigned bz, unsigned shared, void *stream, void **arguments, void **extra))         \
    X(cuStreamBeginCapture_v2, (void *stream, int mode))                                    \
    X(cuStreamEndCapture, (void *stream, void **graph))                                     \
    X(cuStreamIsCapturing, (void *stream, int *status))                                     \
    X(cuThreadExchangeStreamCaptureMode, (int *mode))                                       \
    X(cuGraphInstantiateWithFlags, (void **exec, void *graph, unsigned long long flags))    \
    X(cuGraphLaunch, (void *exec, void *stream))                                            \
    X(cuGraphExecDestroy, (void *exec))                                                     \
    X(cuGraphDestroy, (void *graph))                                                        \
    X(cuGraphDebugDotPrint, (void *graph, const char *path, unsigned flags))                \
    X(cuGetErrorName, (int code, const char **name))                                        \
    X(cuGetErrorString, (int code, const char **text))

typedef struct td_cuda_driver {
#define SLOT(name, arguments) int(*name) arguments;
    TD_CUDA_ENTRIES(SLOT)
#undef SLOT
} td_cuda_driver;

enum {
    TD_CUDA_NO_MEMORY = 2,
    TD_CUDA_BAD_IMAGE = 200,
    TD_CUDA_NO_BINARY = 209,
    TD_CUDA_BAD_PTX = 218,
    TD_CUDA_NEWER_PTX = 222,
    TD_CUDA_NOT_READY = 600,
    TD_CUDA_PEER_ENABLED = 704
};

extern td_cuda_driver td_cu; /* filled by td_cuda_driver_open */

/* Open the library and cuInit; the same answer again after the first time. */
td_status td_cuda_driver_open(void);
/* Is this a forked child of a process that had started the driver? Nothing of CUDA works there. */
bool td_cuda_forked(void);

/* The driver's refusal of what this library was about to do, as an error: "launching exp:
 * CUDA_ERROR_... (700): ...". Memory that ran out is an OutOfMemoryError. */
td_status td_cuda_failed(int code, const char *doing);
#define TD_CU(call, doing)                                        \
    do {                                                          \
        int td_cu_code = (call);                                  \
        if (td_cu_code) return td_cuda_failed(td_cu_code, doing); \
    } while (0)

#endif
