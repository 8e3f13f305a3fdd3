/* device.c - contexts, the current device of a thread, and registration. */
#include "cuda/fault.h"
#include "cuda/graph.h"
#include "cuda/device.h"
#include "cuda/order.h"
#include "runtime/work.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "cuda/pool.h"
#include "cuda/pool_settings.h"
#include "runtime/pool.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *contexts[TD_CUDA_DEVICES];
static int arches[TD_CUDA_DEVICES], started, blocking;

static _Thread_local int current;
static _Thread_local void *streams[TD_CUDA_DEVICES];

bool td_cuda_streamed;

bool td_cuda_started(void) { return __atomic_load_n(&started, __ATOMIC_ACQUIRE); }
bool td_cuda_blocking(void) { return blocking; }
int td_cuda_current(void) { return current; }
void td_cuda_set_current(int ordinal) { current = ordinal; }
void *td_cuda_stream(int ordinal) { return streams[ordinal]; }
void td_cuda_set_stream(int ordinal, void *stream)
{
    if (stream) td_cuda_streamed = true;
    streams[ordinal] = stream;
}
void *td_cuda_context(int ordinal) { return contexts[ordinal]; }
int td_cuda_arch(int ordinal) { return arches[ordinal]; }

int td_cuda_count(void)
{
    int count = 0;
    if (td_cuda_forked() || td_cuda_driver_open() != TD_OK || td_cu.cuDeviceGetCount(&count))
        return 0;
    return count < TD_CUDA_DEVICES ? count : TD_CUDA_DEVICES;
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
    static uint32_t asked[TD_CUDA_DEVICES]; /* bit k: device k */
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

/* ---- the order between streams, for who watches ---- */
void (*td_cuda_heard)(td_cuda_order, int, const void *, const void *, int64_t);
int64_t td_cuda_work_number;

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
    td_cuda_tell(TD_CUDA_ORDER_DEVICE_DONE, td_device_index(device), NULL, NULL, 0);
    return td_cuda_fault_check();
}

/* ---- the row ---- */
static int count_started(void)
{
    static int known;
    if (!known) known = td_cuda_count();
    return known;
}

static const td_device_table table = {
    .size = sizeof table,
    .name = "cuda",
    .count = count_started,
    .alloc = td_cuda_alloc,
    .release = td_cuda_release,
    .walk = td_cuda_walk,
    .transfer = td_cuda_transfer,
    .reduce = td_cuda_reduce,
    .gemm = td_cuda_product,
    .synchronize = td_cuda_synchronize,
    .softmax = td_cuda_softmax,
    .short_products = true,
};

static bool is_set(const char *name)
{
    const char *text = getenv(name);
    return text && *text && *text != '0';
}

td_status td_cuda_start(void)
{
    if (td_cuda_started()) return TD_OK;
    if (td_cuda_forked()) return td_cuda_use(0);
    TD_TRY(td_cuda_driver_open());
    if (td_cuda_count() == 0) {
        const char *visible = getenv("CUDA_VISIBLE_DEVICES");
        if (visible)
            return td_fail(TD_RUNTIME_ERROR,
                           "device 'cuda' is not available: the driver shows no device; "
                           "CUDA_VISIBLE_DEVICES is '%.100s'",
                           visible);
        return td_fail(TD_RUNTIME_ERROR,
                       "device 'cuda' is not available: the driver shows no device");
    }
    pthread_mutex_lock(&lock);
    td_status status = td_cuda_settings_from_environment();
    if (!started && status == TD_OK) {
        blocking = is_set("CUDA_LAUNCH_BLOCKING");
        td_cuda_pool_uncached(is_set("TAEDA_NO_CUDA_MEMORY_CACHING") ||
                              is_set("PYTORCH_NO_CUDA_MEMORY_CACHING"));
        status = td_device_register(TD_CUDA, &table);
        td_workers[TD_CUDA][TD_WORK_PLACES] = td_cuda_places;
        td_workers[TD_CUDA][TD_WORK_PAIR_LOSS] = td_cuda_pair_loss;
        td_workers[TD_CUDA][TD_WORK_CLASS_LOSS] = td_cuda_class_loss;
        td_workers[TD_CUDA][TD_WORK_MARGINS] = td_cuda_margins;
        td_workers[TD_CUDA][TD_WORK_CONV] = td_cuda_conv;
        td_workers[TD_CUDA][TD_WORK_NORM] = td_cuda_norm;
        td_workers[TD_CUDA][TD_WORK_SEARCH] = td_cuda_search;
        td_workers[TD_CUDA][TD_WORK_RESAMPLE] = td_cuda_resample;
        td_workers[TD_CUDA][TD_WORK_GRID] = td_cuda_resample_grid;
        td_workers[TD_CUDA][TD_WORK_SORT] = td_cuda_sort;
        td_workers[TD_CUDA][TD_WORK_RANK] = td_cuda_rank;
        td_workers[TD_CUDA][TD_WORK_SCAN] = td_cuda_scan;
        td_workers[TD_CUDA][TD_WORK_TRIANGLE] = td_cuda_triangle;
        td_workers[TD_CUDA][TD_WORK_ATTENTION] = td_cuda_attention;
        td_workers[TD_CUDA][TD_WORK_OPTIM] = td_cuda_optim;
        td_workers[TD_CUDA][TD_WORK_DROPOUT] = td_cuda_dropout;
        td_workers[TD_CUDA][TD_WORK_RECURRENCE] = td_cuda_recurrence;
        td_workers[TD_CUDA][TD_WORK_POOLING] = td_cuda_pool_windows;
        td_workers[TD_CUDA][TD_WORK_DISTANCE] = td_cuda_distance;
        td_workers[TD_CUDA][TD_WORK_RANGE] = td_cuda_range;
        td_workers[TD_CUDA][TD_WORK_ALIGNMENT] = td_cuda_alignment;
        if (status == TD_OK) __atomic_store_n(&started, 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return status;
}
