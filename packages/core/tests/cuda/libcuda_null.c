/* libcuda_null.c - a stand-in for libcuda.so.1 on a machine without a GPU; TAEDA_LIBCUDA names it.
 *
 * Device memory is host memory that is closed (PROT_NONE) except while a copy or a launch runs, so
 * host code that follows a device pointer faults. An image of a module is the path of a shared
 * library of emulated kernels (emulate.h). Settings:
 *
 *   TAEDA_NULL_DEVICES=2       how many devices there are
 *   TAEDA_NULL_MIB=4096        memory of each
 *   TAEDA_NULL_PROTECT=0       leave memory open: for measuring
 *   TAEDA_NULL_LATE=1          work runs when somebody waits: a missing wait shows as a wrong number
 *   TAEDA_NULL_FAIL=name:n:c   the n-th call of entry point `name` answers with code c; 700 and above stay for good
 *
 * CUDA_VISIBLE_DEVICES holds ordinals, as the driver reads them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define ENTRY __attribute__((visibility("default"))) int
enum {
    OK,
    INVALID,
    NO_MEMORY,
    NOT_STARTED,
    NO_DEVICE = 100,
    BAD_DEVICE,
    BAD_CONTEXT = 201,
    BAD_HANDLE = 400,
    NOT_FOUND = 500
};
enum { DEVICES = 16, SEGMENTS = 4096 };

typedef struct {
    const char *name;
    int (*run)(unsigned grid, unsigned block, void **arguments);
    size_t bytes;
} emulated;
typedef struct {
    const emulated *kernels;
} module;
typedef struct {
    double at;
    int recorded, timed;
} event;

static struct {
    char *data;
    size_t bytes;
    int device;
} segments[SEGMENTS];
static struct {
    size_t size, used;
} devices[DEVICES];
static int ndevices, started, protect = 1, late, sticky;
static long fail_at, fail_code, calls;
static char fail_name[64];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int current = -1;

/* ---- faults ---- */
static int checked(const char *name)
{
    if (!started) return NOT_STARTED;
    if (sticky) return sticky;
    if (fail_name[0] && !strcmp(name, fail_name) &&
        __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) == fail_at) {
        if (fail_code >= 700) sticky = (int)fail_code;
        return (int)fail_code;
    }
    return OK;
}
#define CHECK                          \
    do {                               \
        int code_ = checked(__func__); \
        if (code_) return code_;       \
    } while (0)

/* ---- memory ---- */
static void set_protection(int how)
{
    for (int i = 0; protect && i < SEGMENTS; i++)
        if (segments[i].data) mprotect(segments[i].data, segments[i].bytes, how);
}
static void open_memory(void)
{
    pthread_mutex_lock(&lock);
    set_protection(PROT_READ | PROT_WRITE);
}
static void close_memory(void)
{
    set_protection(PROT_NONE);
    pthread_mutex_unlock(&lock);
}

/* a whole range within one segment of the device; else the address is nobody's */
static int holds(const void *address, size_t bytes)
{
    const char *at = address;
    for (int i = 0; i < SEGMENTS; i++)
        if (segments[i].data && at >= segments[i].data &&
            at + bytes <= segments[i].data + segments[i].bytes)
            return 1;
    return 0;
}

/* ---- work that waits ---- */
typedef struct work {
    struct work *next;
    const emulated *kernel;
    unsigned grid, block;
    char *to, *from; /* a copy of `bytes`; staged: from is the queue's own */
    size_t bytes;
    int staged;
    event *recorded;
    _Alignas(16) char argument[];
} work;
static work *first, **last = &first;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int perform(work *w) /* memory is open */
{
    int code = OK;
    if (w->kernel) {
        void *argument = w->argument;
        /* threads that wait for ever */
        if (w->kernel->run(w->grid, w->block, &argument)) code = sticky = 700;
    } else if (w->recorded) {
        w->recorded->at = now();
        w->recorded->recorded = 1;
    } else {
        memmove(w->to, w->from, w->bytes);
    }
    if (w->staged) free(w->from);
    return code;
}

static int drain(void)
{
    int code = OK;
    open_memory();
    while (first) {
        work *w = first;
        first = w->next;
        if (!code) code = perform(w);
        free(w);
    }
    last = &first;
    close_memory();
    return code ? code : sticky;
}

static int submit(work *w)
{
    pthread_mutex_lock(&lock);
    *last = w;
    last = &w->next;
    pthread_mutex_unlock(&lock);
    return late ? OK : drain();
}

static work *new_work(size_t argument)
{
    size_t bytes = (sizeof(work) + argument + 15) / 16 * 16;
    work *w = aligned_alloc(16, bytes);
    memset(w, 0, sizeof *w);
    return w;
}

/* ---- start and devices ---- */
ENTRY cuInit(unsigned flags)
{
    const char *count = getenv("TAEDA_NULL_DEVICES"), *mib = getenv("TAEDA_NULL_MIB"),
               *open = getenv("TAEDA_NULL_PROTECT");
    const char *fail = getenv("TAEDA_NULL_FAIL"), *visible = getenv("CUDA_VISIBLE_DEVICES"),
               *wait = getenv("TAEDA_NULL_LATE");
    if (started) return OK;
    ndevices = count ? atoi(count) : 2;
    if (ndevices > DEVICES) ndevices = DEVICES;
    if (visible) { /* up to the first ordinal that there is not */
        int seen = 0;
        for (const char *at = visible; *at >= '0' && *at <= '9' && atoi(at) < ndevices; seen++) {
            at += strspn(at, "0123456789");
            at += *at == ',';
        }
        ndevices = seen;
    }
    for (int i = 0; i < DEVICES; i++) devices[i].size = (size_t)(mib ? atol(mib) : 4096) << 20;
    protect = !open || *open != '0';
    late = wait && *wait == '1';
    if (fail) sscanf(fail, "%63[^:]:%ld:%ld", fail_name, &fail_at, &fail_code);
    if (!ndevices) return NO_DEVICE;
    started = 1;
    return checked(__func__);
}
ENTRY cuDriverGetVersion(int *version) { return *version = 13000, OK; }
ENTRY cuDeviceGetCount(int *n) { return *n = ndevices, started ? OK : NOT_STARTED; }
ENTRY cuDeviceGet(int *device, int ordinal)
{
    return *device = ordinal, ordinal >= 0 && ordinal < ndevices ? OK : BAD_DEVICE;
}
ENTRY cuDeviceGetName(char *name, int n, int device)
{
    return snprintf(name, (size_t)n, "taeda stand-in"), OK;
}
ENTRY cuDeviceTotalMem_v2(size_t *n, int device) { return *n = devices[device].size, OK; }
ENTRY cuDeviceGetAttribute(int *value, int attribute, int device)
{
    *value = attribute == 75   ? 9
             : attribute == 76 ? 0
             : attribute == 16 ? 4
             : attribute == 1  ? 1024
             : attribute == 10 ? 32
             : attribute == 39 ? 2048
                               : 0;
    return OK;
}
ENTRY cuDevicePrimaryCtxRetain(void **context, int device)
{
    CHECK;
    return *context = (void *)(intptr_t)(device + 1), OK;
}
ENTRY cuCtxSetCurrent(void *context)
{
    CHECK;
    current = (int)(intptr_t)context - 1;
    return OK;
}
ENTRY cuMemGetInfo_v2(size_t *unused, size_t *total)
{
    if (current < 0) return BAD_CONTEXT;
    *total = devices[current].size;
    *unused = *total - devices[current].used;
    return OK;
}
ENTRY cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
    CHECK;
    if (current < 0) return BAD_CONTEXT;
    size_t whole = (bytes + 4095) / 4096 * 4096;
    int code = NO_MEMORY;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < SEGMENTS && whole <= devices[current].size - devices[current].used; i++) {
        if (segments[i].data) continue;
        char *data = mmap(NULL, whole, protect ? PROT_NONE : PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (data == MAP_FAILED) break;
        segments[i].data = data;
        segments[i].bytes = whole;
        segments[i].device = current;
        devices[current].used += whole;
        *address = (uint64_t)(uintptr_t)data;
        code = OK;
        break;
    }
    pthread_mutex_unlock(&lock);
    return code;
}
ENTRY cuMemFree_v2(uint64_t address)
{
    CHECK;
    if (drain()) return sticky;
    for (int i = 0; i < SEGMENTS; i++) {
        if ((uint64_t)(uintptr_t)segments[i].data != address || !address) continue;
        munmap(segments[i].data, segments[i].bytes);
        devices[segments[i].device].used -= segments[i].bytes;
        segments[i].data = NULL;
        return OK;
    }
    return INVALID;
}

/* ---- copies ---- */
static int copy(char *to, char *from, size_t bytes, int staged)
{
    work *w = new_work(0);
    w->to = to;
    w->from = from;
    w->bytes = bytes;
    w->staged = staged;
    return submit(w);
}
ENTRY cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream)
{
    CHECK;
    if (!holds((void *)to, bytes)) return INVALID;
    char *staged = malloc(bytes); /* from pageable memory the driver returns after staging */
    memcpy(staged, from, bytes);
    return copy((char *)to, staged, bytes, 1);
}
ENTRY cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream)
{
    CHECK;
    if (!holds((void *)from, bytes)) return INVALID;
    return copy(to, (char *)from, bytes, 0);
}
ENTRY cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
    CHECK;
    if (!holds((void *)to, bytes) || !holds((void *)from, bytes)) return INVALID;
    return copy((char *)to, (char *)from, bytes, 0);
}
ENTRY cuMemcpyPeerAsync(uint64_t to, void *to_context, uint64_t from, void *from_context,
                        size_t bytes, void *stream)
{
    CHECK;
    if (!holds((void *)to, bytes) || !holds((void *)from, bytes)) return INVALID;
    return copy((char *)to, (char *)from, bytes, 0);
}

/* ---- streams and events: one queue for all ---- */
ENTRY cuCtxSynchronize(void)
{
    CHECK;
    return drain();
}
ENTRY cuStreamCreateWithPriority(void **stream, unsigned flags, int priority)
{
    CHECK;
    return *stream = malloc(16), OK;
}
ENTRY cuStreamSynchronize(void *stream)
{
    CHECK;
    return drain();
}
ENTRY cuStreamQuery(void *stream)
{
    CHECK;
    return first ? 600 : OK;
}
ENTRY cuStreamWaitEvent(void *stream, void *waited, unsigned flags)
{
    CHECK;
    return OK;
}
ENTRY cuEventCreate(void **made, unsigned flags)
{
    CHECK;
    event *e = calloc(1, sizeof *e);
    e->timed = !(flags & 2);
    return *made = e, OK;
}
ENTRY cuEventDestroy_v2(void *e)
{
    drain();
    free(e);
    return OK;
}
ENTRY cuEventRecord(void *e, void *stream)
{
    CHECK;
    work *w = new_work(0);
    w->recorded = e;
    w->recorded->recorded = 0;
    return submit(w);
}
ENTRY cuEventQuery(void *e)
{
    CHECK;
    return first ? 600 : OK;
}
ENTRY cuEventSynchronize(void *e)
{
    CHECK;
    return drain();
}
ENTRY cuEventElapsedTime(float *ms, void *begin, void *end)
{
    CHECK;
    event *a = begin, *b = end;
    if (!a->timed || !b->timed || !a->recorded || !b->recorded) return BAD_HANDLE;
    return *ms = (float)(b->at - a->at), OK;
}

/* ---- kernels ---- */
ENTRY cuModuleLoadData(void **made, const void *image)
{
    CHECK;
    void *library = dlopen(image, RTLD_NOW | RTLD_LOCAL);
    if (!library) return fprintf(stderr, "stand-in: %s\n", dlerror()), NOT_FOUND;
    module *m = malloc(sizeof *m);
    m->kernels = dlsym(library, "td_emulated_kernels");
    return *made = m, m->kernels ? OK : NOT_FOUND;
}
ENTRY cuModuleGetFunction(void **function, void *m, const char *name)
{
    CHECK;
    for (const emulated *e = ((module *)m)->kernels; e->name; e++)
        if (!strcmp(e->name, name)) return *function = (void *)e, OK;
    return NOT_FOUND;
}
static long launches;
__attribute__((visibility("default"))) long td_null_launches(void) { return launches; }
ENTRY cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                     unsigned by, unsigned bz, unsigned shared, void *stream, void **arguments,
                     void **extra)
{
    CHECK;
    const emulated *e = function;
    if (!gx || gy != 1 || gz != 1 || !bx || by != 1 || bz != 1 || bx > 1024) return INVALID;
    work *w = new_work(e->bytes);
    w->kernel = e;
    w->grid = gx;
    w->block = bx;
    memcpy(w->argument, arguments[0], e->bytes);
    __atomic_add_fetch(&launches, 1, __ATOMIC_RELAXED);
    return submit(w);
}

/* ---- errors ---- */
ENTRY cuGetErrorName(int code, const char **name)
{
    *name = code == OK           ? "CUDA_SUCCESS"
            : code == INVALID    ? "CUDA_ERROR_INVALID_VALUE"
            : code == NO_MEMORY  ? "CUDA_ERROR_OUT_OF_MEMORY"
            : code == NO_DEVICE  ? "CUDA_ERROR_NO_DEVICE"
            : code == BAD_DEVICE ? "CUDA_ERROR_INVALID_DEVICE"
            : code == BAD_HANDLE ? "CUDA_ERROR_INVALID_HANDLE"
            : code == NOT_FOUND  ? "CUDA_ERROR_NOT_FOUND"
            : code == 700        ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                                 : "CUDA_ERROR_UNKNOWN";
    return OK;
}
ENTRY cuGetErrorString(int code, const char **text)
{
    *text = code == 700 ? "an illegal memory access was encountered"
                        : "an error of the stand-in driver";
    return OK;
}
