/* device.c - contexts, the current device and streams of a thread, waits. */
#include "cuda/fault.h"
#include "cuda/graph.h"
#include "cuda/device.h"
#include "runtime/streams.h"
#include <pthread.h>
#include <stdio.h>
#include "runtime/pool.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *contexts[TD_DEVICE_ORDINALS];
static int arches[TD_DEVICE_ORDINALS];

static _Thread_local int current;
static _Thread_local void *streams[TD_DEVICE_ORDINALS];

bool td_cuda_started(void)
{
    return __atomic_load_n(&td_device_tables[TD_CUDA], __ATOMIC_ACQUIRE) != NULL;
}
int td_cuda_current(void) { return current; }
void td_cuda_set_current(int ordinal) { current = ordinal; }
void *td_cuda_stream(int ordinal) { return streams[ordinal]; }
void td_cuda_set_stream(int ordinal, void *stream)
{
    if (stream) td_streamed = true;
    streams[ordinal] = stream;
}
void *td_cuda_context(int ordinal) { return contexts[ordinal]; }
int td_cuda_arch(int ordinal) { return arches[ordinal]; }

int td_cuda_count(void)
{
    int count = 0;
    if (td_cuda_forked() || td_cuda_driver_open() != TD_OK || td_cu.cuDeviceGetCount(&count))
        return 0;
    return count < TD_DEVICE_ORDINALS ? count : TD_DEVICE_ORDINALS;
}

int td_cuda_attribute(int ordinal, int attribute)
{
    int device = 0, value = 0;
    if (td_cu.cuDeviceGet(&device, ordinal) ||
        td_cu.cuDeviceGetAttribute(&value, attribute, device))
        return 0;
    return value;
}

static td_status open_context(int ordinal)
{
    int device;
    void *context;
    TD_CU(td_cu.cuDeviceGet(&device, ordinal), "choosing the device");
    TD_CU(td_cu.cuDevicePrimaryCtxRetain(&context, device), "opening the device");
    arches[ordinal] = 10 * td_cuda_attribute(ordinal, 75) + td_cuda_attribute(ordinal, 76);
    __atomic_store_n(&contexts[ordinal], context, __ATOMIC_RELEASE);
    return TD_OK;
}

/* The driver is asked, for others change a thread's context behind our back: another library's
 * set_device, CuPy, an extension. It costs some 10 ns. */
static bool is_current(int ordinal)
{
    void *context = __atomic_load_n(&contexts[ordinal], __ATOMIC_ACQUIRE), *now;
    return context && !td_cu.cuCtxGetCurrent(&now) && now == context;
}

td_status td_cuda_use(int ordinal)
{
    if (td_cuda_forked())
        return td_fail(TD_RUNTIME_ERROR,
                       "Cannot re-initialize CUDA in forked subprocess. To use CUDA with "
                       "multiprocessing, you must use the 'spawn' start method");
    if (is_current(ordinal)) return TD_OK;
    if (!__atomic_load_n(&contexts[ordinal], __ATOMIC_ACQUIRE)) {
        pthread_mutex_lock(&lock);
        td_status status = contexts[ordinal] ? TD_OK : open_context(ordinal);
        pthread_mutex_unlock(&lock);
        TD_TRY(status);
    }
    TD_CU(td_cu.cuCtxSetCurrent(contexts[ordinal]), "making the device current");
    return TD_OK;
}

td_status td_cuda_reach(int ordinal, int other)
{
    static uint32_t asked[TD_DEVICE_ORDINALS]; /* bit k: device k */
    if (__atomic_load_n(&asked[ordinal], __ATOMIC_RELAXED) >> other & 1) return TD_OK;
    int here, there, can = 0;
    TD_TRY(td_cuda_use(other)); /* it has a context from now on */
    TD_TRY(td_cuda_use(ordinal));
    TD_CU(td_cu.cuDeviceGet(&here, ordinal), "choosing the device");
    TD_CU(td_cu.cuDeviceGet(&there, other), "choosing the device");
    TD_CU(td_cu.cuDeviceCanAccessPeer(&can, here, there), "asking for peer access");
    int code = can ? td_cu.cuCtxEnablePeerAccess(contexts[other], 0) : 0;
    if (code != TD_CUDA_PEER_ENABLED) TD_CU(code, "opening a device to its peer");
    __atomic_fetch_or(&asked[ordinal], 1u << other, __ATOMIC_RELAXED);
    return TD_OK;
}

/* ---- waits that nobody asked for ---- */
int td_cuda_sync_mode;
td_status (*td_cuda_warn)(const char *text);

td_status td_cuda_waits(const char *doing)
{
    if (td_cuda_sync_mode == TD_CUDA_SYNC_ERROR)
        return td_fail(TD_RUNTIME_ERROR,
                       "called a synchronizing CUDA operation: %s waits for its stream "
                       "(set_sync_debug_mode is 'error')",
                       doing);
    char text[160];
    snprintf(text, sizeof text, "called a synchronizing CUDA operation: %s waits for its stream",
             doing);
    return td_cuda_warn(text);
}

td_status td_cuda_synchronize(td_device device)
{
    TD_TRY(td_cuda_use(td_device_index(device)));
    TD_TRY(td_cuda_not_captured(td_device_index(device), "waiting for the device"));
    void *token = td_heavy_begin(1e9);
    int code = td_cu.cuCtxSynchronize();
    td_heavy_end(token);
    TD_CU(code, "waiting for the device");
    td_order_tell(TD_ORDER_DEVICE_DONE, td_device_index(device), NULL, NULL, 0);
    return td_cuda_fault_check();
}
