/* driver.c - libcuda by dlopen. */
#include "cuda/driver.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "cuda/capture.h"
#include "cuda/device.h"
#include "cuda/lost.h"

td_cuda_driver td_cu;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char refused[400]; /* why it could not be opened; found out once */
static int opened, begun, forked;

/* the part that the environment has in it */
static const char *hidden(char text[160])
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    text[0] = 0;
    if (visible && (!*visible || *visible == '-'))
        snprintf(text, 160, "; CUDA_VISIBLE_DEVICES hides all devices");
    else if (visible) snprintf(text, 160, "; CUDA_VISIBLE_DEVICES is '%.100s'", visible);
    return text;
}

/* A driver that was started cannot be used by a forked child, whoever asked for it: is_available()
 * is enough. */
static void in_child(void) { forked = begun && !refused[0]; }
bool td_cuda_forked(void) { return forked; }

static int load(void *library, const char *path)
{
#define FIND(name, arguments)                                                                 \
    if (!(*(void **)&td_cu.name = dlsym(library, #name)))                                     \
        return snprintf(refused, sizeof refused,                                              \
                        "the driver library %s has no entry point " #name ": it is too old; " \
                        "taeda wants the driver of CUDA 12 or later",                         \
                        path);
    TD_CUDA_ENTRIES(FIND)
#undef FIND
    pthread_atfork(NULL, NULL, in_child);
    begun = 1;
    int code = td_cu.cuInit(0), version = 0;
    if (code) {
        const char *name = NULL;
        char text[160];
        td_cu.cuGetErrorName(code, &name);
        return snprintf(refused, sizeof refused, "the NVIDIA driver does not start: %s (%d)%s",
                        name ? name : "unknown error", code, hidden(text));
    }
    td_cu.cuDriverGetVersion(&version);
    if (version < 12000)
        return snprintf(refused, sizeof refused,
                        "the NVIDIA driver serves CUDA %d.%d; taeda wants CUDA 12.0 or later: "
                        "install a newer driver",
                        version / 1000, version % 1000 / 10);
    return 0;
}

td_status td_cuda_driver_open(void)
{
    if (__atomic_load_n(&opened, __ATOMIC_ACQUIRE)) return TD_OK;
    pthread_mutex_lock(&lock);
    if (!opened && !refused[0]) {
        const char *named = getenv("TAEDA_LIBCUDA"),
                   *path = named && *named ? named : "libcuda.so.1";
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library)
            snprintf(refused, sizeof refused,
                     "no NVIDIA driver was found (%s); install the driver of the graphics card, or "
                     "compute on the cpu",
                     dlerror());
        else if (!load(library, path)) __atomic_store_n(&opened, 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return opened ? TD_OK
                  : td_fail(TD_RUNTIME_ERROR, "device 'cuda' is not available: %s", refused);
}

td_status td_cuda_failed(int code, const char *doing)
{
    const char *name = NULL, *text = NULL;
    td_cu.cuGetErrorName(code, &name);
    td_cu.cuGetErrorString(code, &text);
    if (code == TD_CUDA_NO_MEMORY)
        return td_fail(
            TD_MEMORY_ERROR,
            "CUDA out of memory while %s: the driver found no room for what it needs itself (%s, "
            "%d), also after unused memory was given back. Smaller batches leave it more",
            doing, name ? name : "CUDA_ERROR_OUT_OF_MEMORY", code);
    if (td_cuda_is_of_capture(code)) return td_cuda_capture_lost(code, name, doing);
    const char *lost = td_cuda_lost(code, doing);
    return td_fail(
        TD_RUNTIME_ERROR, "CUDA error while %s: %s (%d)%s%s%s%s%s", doing, name ? name : "unknown",
        code, text ? ": " : "", text ? text : "",
        lost[0] ? ". The device cannot be used in this process any more: restart it. That was seen "
                  "first while "
                : "",
        lost,
        lost[0] && !td_cuda_blocking() ? ". CUDA_LAUNCH_BLOCKING=1 shows which launch it was" : "");
}
