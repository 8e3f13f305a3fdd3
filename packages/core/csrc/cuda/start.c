/* start.c - the driver is opened, and CUDA gets its row in the table of devices. Nothing else of
 * this folder names all of it. */
#include "cuda/start.h"
#include <pthread.h>
#include <stdlib.h>
#include "cuda/host.h"
#include "cuda/pool.h"
#include "cuda/pool_settings.h"
#include "cuda/workers.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

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
    .short_products = true,
    .current = td_cuda_current,
    .use = td_cuda_use,
    .stream = td_cuda_stream,
    .set_stream = td_cuda_set_stream,
    .follow = td_cuda_follow,
    .used = td_cuda_pool_used,
    .pin = td_cuda_pin,
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
    if (!td_cuda_started() && status == TD_OK) {
        td_cuda_set_blocking(is_set("CUDA_LAUNCH_BLOCKING"));
        td_cuda_pool_uncached(is_set("TAEDA_NO_CUDA_MEMORY_CACHING") ||
                              is_set("PYTORCH_NO_CUDA_MEMORY_CACHING"));
#define FILL(work, worker) td_workers[TD_CUDA][work] = worker;
        TD_CUDA_WORKERS(FILL)
#undef FILL
        status = td_device_register(TD_CUDA, &table);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

const td_device_opener td_cuda_opener = {.open = td_cuda_start, .count = td_cuda_count};
