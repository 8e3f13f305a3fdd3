/* libcuda_null.c - a stand-in for libcuda.so.1 on a machine without a GPU; TAEDA_LIBCUDA names it.
 *
 * Device memory is host memory that is closed (PROT_NONE) except while a copy or a launch runs, so
 * host code that follows a device pointer faults. An image of a module is the path of a shared
 * library of emulated kernels (emulate.h). Settings:
 *
 *   TAEDA_NULL_DEVICES=2       how many devices there are
 *   TAEDA_NULL_MIB=4096        memory of each
 *   TAEDA_NULL_PROTECT=0       leave memory open: for measuring
 *   TAEDA_NULL_SKIP=1          launches are counted and do nothing: for measuring the host's part
 *   TAEDA_NULL_LATE=1          work of a stream runs when somebody waits for it, and no other stream's
 *                              with it: a missing wait shows as a wrong number
 *   TAEDA_NULL_PEERS=0         no device reaches another's memory
 *   TAEDA_NULL_HOST_MIB=4096   page-locked memory that can be had
 *   TAEDA_NULL_IPC=0           no memory can be shared with other processes
 *   TAEDA_NULL_VERSION=11080   the CUDA that the driver serves; 13000
 *   TAEDA_NULL_FAIL=name:n:c   the n-th call of entry point `name` answers with code c; 700 and above stay for good
 *
 * CUDA_VISIBLE_DEVICES holds ordinals, beginnings of UUIDs ("GPU-...") or names of MIG instances
 * ("MIG-..."), as the driver reads them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
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
/* Records of an event submitted and performed; of one for other processes they lie in shared
 * memory. */
typedef struct {
    volatile long wanted, done;
} records;
typedef struct event {
    double at;
    records *seen, own;
    int remote, place;           /* of another process; which of the shared ones */
    int timed, blocking, owners; /* owners: who made it, and the works that name it */
    struct stream *on;
    long asked; /* questions answered with no */
} event;
typedef struct stream {
    struct work *first, **last;
    int device, priority;
    long asked;
    struct stream *next;
} stream;

static struct {
    char *data;
    size_t bytes;
    int device;
    off_t at; /* where it lies in `shared`; -1: of another process */
    char origin[64];
} segments[SEGMENTS];
static int shared = -1, ipc = 1; /* a file without a name: the memory of all devices */
static off_t shared_end;
static struct {
    char *data;
    size_t bytes;
} hosts[SEGMENTS]; /* page-locked */
static struct {
    size_t size, used;
    int physical; /* which one it is without CUDA_VISIBLE_DEVICES */
    stream null;
    int peers;
} devices[DEVICES];
static size_t host_size, host_used;
static int ndevices, started, protect = 1, late, skip, sticky, peers = 1;
static long fail_at, fail_code, calls;
static char fail_name[64];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int current = -1;

/* ---- faults ---- */
enum { NAMES = 64 };
static struct {
    const char *name; /* __func__ of the entry point */
    long calls;
} counted[NAMES];
static int counting;

static void count(const char *name)
{
    pthread_mutex_lock(&lock);
    int k = 0;
    while (k < NAMES - 1 && counted[k].name && counted[k].name != name) k++;
    counted[k].name = name;
    counted[k].calls++;
    pthread_mutex_unlock(&lock);
}

static void discard_all(void);
/* From now on the n-th call of `name` answers with `code`; an empty name: none does. A device that
 * was lost is there again, and what it had to do is not done. */
__attribute__((visibility("default"))) void td_null_fail(const char *name, long n, long code)
{
    pthread_mutex_lock(&lock);
    if (sticky) discard_all();
    snprintf(fail_name, sizeof fail_name, "%s", name);
    fail_at = n, fail_code = code, calls = 0, sticky = 0;
    pthread_mutex_unlock(&lock);
}
/* Count calls from now on. */
__attribute__((visibility("default"))) void td_null_count(void)
{
    pthread_mutex_lock(&lock);
    memset(counted, 0, sizeof counted);
    counting = 1;
    pthread_mutex_unlock(&lock);
}
/* The k-th entry point that was called since, and how often; NULL behind the last. */
__attribute__((visibility("default"))) const char *td_null_counted(int k, long *n)
{
    counting = 0;
    *n = k < NAMES ? counted[k].calls : 0;
    return k < NAMES ? counted[k].name : NULL;
}

static int checked(const char *name)
{
    if (!started) return NOT_STARTED;
    if (counting) count(name);
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
    void (*call)(void *argument); /* of another library's stand-in */
    unsigned grid, block;
    char *to, *from; /* a copy of `bytes`; staged: from is the queue's own */
    size_t bytes;
    int staged;
    event *recorded, *waited;
    stream *on; /* where `waited` was recorded */
    long version;
    _Alignas(16) char argument[];
} work;
static stream *streams;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static stream *stream_of(void *handle) /* NULL, 1 and 2 are the default stream of the device */
{
    return (uintptr_t)handle > 2 ? handle : &devices[current < 0 ? 0 : current].null;
}

static void disown(event *e)
{
    if (e && --e->owners == 0) free(e);
}

/* With the lock held and memory open: the work of a stream, up to a version of an event if one is
 * given. Work that waits for another stream runs that stream so far. */
static int run_stream(stream *s, const event *until, long version);

/* Another process does what leads to the event: 10 s of patience. */
static int await(const event *e, long version)
{
    for (int i = 0; e->seen->done < version && i < 100000; i++) usleep(100);
    return e->seen->done < version ? 600 : OK;
}

static int perform(work *w)
{
    int code = OK;
    if (w->kernel) {
        void *argument = w->argument;
        /* threads that wait for ever */
        if (w->kernel->run(w->grid, w->block, &argument)) code = sticky = 700;
    } else if (w->call) {
        w->call(w->argument);
    } else if (w->recorded) {
        w->recorded->at = now();
        w->recorded->seen->done = w->version;
    } else if (w->waited && w->waited->remote) {
        code = await(w->waited, w->version);
    } else if (w->waited) {
        if (w->waited->seen->done < w->version) code = run_stream(w->on, w->waited, w->version);
    } else {
        memmove(w->to, w->from, w->bytes);
    }
    if (w->staged) free(w->from);
    disown(w->recorded);
    disown(w->waited);
    return code;
}

static int run_stream(stream *s, const event *until, long version)
{
    int code = OK;
    while (s->first && !(until && until->seen->done >= version)) {
        work *w = s->first;
        s->first = w->next;
        if (!s->first) s->last = &s->first;
        if (w->recorded) w->recorded->owners++; /* `until` may be it */
        event *kept = w->recorded;
        if (!code) code = perform(w);
        free(w);
        int over = kept && kept == until && kept->seen->done >= version;
        disown(kept);
        if (over) break;
    }
    return code ? code : sticky;
}

static void discard(stream *s)
{
    for (work *w = s->first, *next; w; w = next) {
        next = w->next;
        if (w->staged) free(w->from);
        if (w->recorded) w->recorded->seen->done = w->version;
        disown(w->recorded);
        disown(w->waited);
        free(w);
    }
    s->first = NULL;
    s->last = &s->first;
}
static void discard_all(void)
{
    for (int i = 0; i < DEVICES; i++) discard(&devices[i].null);
    for (stream *t = streams; t; t = t->next) discard(t);
}

static int drain(stream *s) /* NULL: all of them */
{
    int code = OK;
    open_memory();
    if (s) code = run_stream(s, NULL, 0);
    for (int i = 0; !s && i < DEVICES; i++) {
        int one = devices[i].null.last ? run_stream(&devices[i].null, NULL, 0) : OK;
        code = code ? code : one;
    }
    for (stream *t = s ? NULL : streams; t; t = t->next) {
        int one = run_stream(t, NULL, 0);
        code = code ? code : one;
    }
    close_memory();
    return code ? code : sticky;
}

static int submit(work *w, stream *s)
{
    pthread_mutex_lock(&lock);
    *s->last = w;
    s->last = &w->next;
    pthread_mutex_unlock(&lock);
    return late ? OK : drain(s);
}

static work *new_work(size_t argument)
{
    size_t bytes = (sizeof(work) + argument + 15) / 16 * 16;
    work *w = aligned_alloc(16, bytes);
    memset(w, 0, sizeof *w);
    return w;
}

/* ---- start and devices ---- */
static void uuid_of(int physical, char text[48])
{
    snprintf(text, 48, "GPU-7ae0a000-0000-0000-0000-0000000000%02x", physical);
}

/* one entry of CUDA_VISIBLE_DEVICES: the physical device, or -1 */
static int entry(const char *at, size_t length, int n)
{
    char uuid[48];
    if (length && strspn(at, "0123456789") == length) return atoi(at) < n ? atoi(at) : -1;
    for (int i = 0; i < n; i++) {
        uuid_of(i, uuid);
        if (length >= 4 && !strncmp(at, uuid, length)) return i;
        memcpy(uuid, "MIG", 3);
        if (length == strlen(uuid) && !strncmp(at, uuid, length)) return i;
    }
    return -1;
}

/* Up to the first entry that there is not; a device named twice hides all. */
static int choose(const char *at, int n)
{
    int seen = 0;
    while (*at && seen < DEVICES) {
        size_t length = strcspn(at, ",");
        int found = entry(at, length, n);
        if (found < 0) break;
        for (int i = 0; i < seen; i++)
            if (devices[i].physical == found) return 0;
        devices[seen++].physical = found;
        at += length;
        at += *at == ',';
    }
    return seen;
}

ENTRY cuInit(unsigned flags)
{
    const char *count = getenv("TAEDA_NULL_DEVICES"), *mib = getenv("TAEDA_NULL_MIB"),
               *open = getenv("TAEDA_NULL_PROTECT");
    const char *fail = getenv("TAEDA_NULL_FAIL"), *visible = getenv("CUDA_VISIBLE_DEVICES"),
               *wait = getenv("TAEDA_NULL_LATE");
    const char *peer = getenv("TAEDA_NULL_PEERS"), *host = getenv("TAEDA_NULL_HOST_MIB");
    if (started) return OK;
    ndevices = count ? atoi(count) : 2;
    if (ndevices > DEVICES) ndevices = DEVICES;
    for (int i = 0; i < DEVICES; i++) devices[i].physical = i;
    if (visible) ndevices = choose(visible, ndevices);
    for (int i = 0; i < DEVICES; i++) {
        devices[i].size = (size_t)(mib ? atol(mib) : 4096) << 20;
        devices[i].null = (stream){.last = &devices[i].null.first, .device = i};
    }
    host_size = (size_t)(host ? atol(host) : 4096) << 20;
    peers = !peer || *peer != '0';
    protect = !open || *open != '0';
    late = wait && *wait == '1';
    const char *shares = getenv("TAEDA_NULL_IPC");
    ipc = !shares || *shares != '0';
    const char *skips = getenv("TAEDA_NULL_SKIP");
    skip = skips && *skips == '1';
    if (fail) sscanf(fail, "%63[^:]:%ld:%ld", fail_name, &fail_at, &fail_code);
    if (!ndevices) return NO_DEVICE;
    started = 1;
    return checked(__func__);
}
ENTRY cuDriverGetVersion(int *version)
{
    const char *told = getenv("TAEDA_NULL_VERSION");
    return *version = told ? atoi(told) : 13000, OK;
}
ENTRY cuDeviceGetCount(int *n) { return *n = ndevices, started ? OK : NOT_STARTED; }
ENTRY cuDeviceGet(int *device, int ordinal)
{
    return *device = ordinal, ordinal >= 0 && ordinal < ndevices ? OK : BAD_DEVICE;
}
ENTRY cuDeviceGetName(char *name, int n, int device)
{
    CHECK;
    return snprintf(name, (size_t)n, "taeda stand-in"), OK;
}
ENTRY cuDeviceGetUuid_v2(char uuid[16], int device)
{
    CHECK;
    const char start[4] = {0x7a, (char)0xe0, (char)0xa0, 0x00};
    memset(uuid, 0, 16);
    memcpy(uuid, start, 4);
    uuid[15] = (char)devices[device].physical;
    return OK;
}
ENTRY cuDeviceGetPCIBusId(char *text, int n, int device)
{
    return snprintf(text, (size_t)n, "0000:%02X:00.0", 0x10 + devices[device].physical), OK;
}
ENTRY cuDeviceCanAccessPeer(int *can, int a, int b)
{
    CHECK;
    return *can = peers && a != b, OK;
}
ENTRY cuCtxEnablePeerAccess(void *context, unsigned flags)
{
    CHECK;
    int other = (int)(intptr_t)context - 1;
    if (current < 0) return BAD_CONTEXT;
    if (!peers || other == current) return 217;
    if (devices[current].peers >> other & 1) return 704;
    devices[current].peers |= 1 << other;
    return OK;
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
ENTRY cuCtxGetCurrent(void **context)
{
    if (!started) return NOT_STARTED;
    return *context = (void *)(intptr_t)(current + 1), OK;
}
static long async_allocs;
ENTRY cuMemGetInfo_v2(size_t *unused, size_t *total)
{
    CHECK;
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
        if (shared < 0) shared = memfd_create("stand-in", MFD_CLOEXEC);
        if (ftruncate(shared, shared_end + (off_t)whole)) break;
        char *data = mmap(NULL, whole, protect ? PROT_NONE : PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_NORESERVE, shared, shared_end);
        if (data == MAP_FAILED) break;
        segments[i].at = shared_end;
        shared_end += (off_t)whole;
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
    if (drain(NULL)) return sticky;
    for (int i = 0; i < SEGMENTS; i++) {
        if ((uint64_t)(uintptr_t)segments[i].data != address || !address) continue;
        if (segments[i].at < 0) return INVALID;
        fallocate(shared, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, segments[i].at,
                  (off_t)segments[i].bytes);
        munmap(segments[i].data, segments[i].bytes);
        devices[segments[i].device].used -= segments[i].bytes;
        segments[i].data = NULL;
        segments[i].origin[0] = 0;
        return OK;
    }
    return INVALID;
}

/* ---- memory and events of other processes ---- */
typedef struct {
    char bytes[64];
} handle;
typedef struct {
    pid_t pid;
    int fd, physical, asynchronous;
    off_t at;
    size_t bytes;
} place;
static int async_memory(uint64_t address);

static int segment_of(uint64_t address)
{
    for (int i = 0; i < SEGMENTS; i++)
        if (segments[i].data && (char *)address >= segments[i].data &&
            (char *)address < segments[i].data + segments[i].bytes)
            return i;
    return -1;
}
ENTRY cuMemGetAddressRange_v2(uint64_t *base, size_t *bytes, uint64_t address)
{
    CHECK;
    int i = segment_of(address);
    if (i < 0) return NOT_FOUND;
    return *base = (uint64_t)segments[i].data, *bytes = segments[i].bytes, OK;
}
ENTRY cuIpcGetMemHandle(handle *out, uint64_t address)
{
    CHECK;
    int i = segment_of(address);
    if (!ipc) return 801;
    if (i < 0 || segments[i].at < 0 || async_memory(address)) return INVALID;
    place p = {.pid = getpid(), .fd = shared, .at = segments[i].at, .bytes = segments[i].bytes};
    p.physical = devices[segments[i].device].physical;
    memset(out, 0, sizeof *out);
    memcpy(out, &p, sizeof p);
    return OK;
}
static int file_of(pid_t pid, int fd)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
    return open(path, O_RDWR | O_CLOEXEC);
}
ENTRY cuIpcOpenMemHandle_v2(uint64_t *address, handle given, unsigned flags)
{
    CHECK;
    place p;
    memcpy(&p, &given, sizeof p);
    if (current < 0 || p.pid == getpid()) return BAD_CONTEXT;
    if (p.physical != devices[current].physical) return BAD_DEVICE;
    int empty = -1;
    for (int i = SEGMENTS - 1; i >= 0; i--)
        if (!segments[i].data) empty = i;
        else if (!memcmp(segments[i].origin, &given, sizeof given)) return 208;
    int fd = file_of(p.pid, p.fd);
    if (fd < 0 || empty < 0) return INVALID;
    char *data =
        mmap(NULL, p.bytes, protect ? PROT_NONE : PROT_READ | PROT_WRITE, MAP_SHARED, fd, p.at);
    close(fd);
    if (data == MAP_FAILED) return NO_MEMORY;
    pthread_mutex_lock(&lock);
    segments[empty].data = data;
    segments[empty].bytes = p.bytes;
    segments[empty].device = current;
    segments[empty].at = -1;
    memcpy(segments[empty].origin, &given, sizeof given);
    pthread_mutex_unlock(&lock);
    return *address = (uint64_t)data, OK;
}
ENTRY cuIpcCloseMemHandle(uint64_t address)
{
    CHECK;
    if (drain(NULL)) return sticky;
    int i = segment_of(address);
    if (i < 0 || segments[i].at >= 0) return INVALID;
    pthread_mutex_lock(&lock);
    munmap(segments[i].data, segments[i].bytes);
    segments[i].data = NULL;
    memset(segments[i].origin, 0, sizeof segments[i].origin);
    pthread_mutex_unlock(&lock);
    return OK;
}
static long opened_handles(void)
{
    long n = 0;
    for (int i = 0; i < SEGMENTS; i++) n += segments[i].data && segments[i].at < 0;
    return n;
}
/* How many allocations of other processes are open. */
__attribute__((visibility("default"))) long td_null_opened(void) { return opened_handles(); }

enum { SHARED_EVENTS = 1024 };
static records *event_records;
static int event_file = -1, event_count;

static records *map_events(int fd)
{
    void *made =
        mmap(NULL, SHARED_EVENTS * sizeof(records), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return made == MAP_FAILED ? NULL : made;
}
static int share_event(event *e)
{
    if (event_file < 0) {
        event_file = memfd_create("stand-in events", MFD_CLOEXEC);
        if (ftruncate(event_file, SHARED_EVENTS * sizeof(records))) return NO_MEMORY;
        event_records = map_events(event_file);
    }
    if (!event_records || event_count == SHARED_EVENTS) return NO_MEMORY;
    e->place = event_count++;
    e->seen = &event_records[e->place];
    return OK;
}
ENTRY cuIpcGetEventHandle(handle *out, void *given)
{
    CHECK;
    event *e = given;
    if (!ipc) return 801;
    if (e->seen == &e->own || e->remote) return INVALID;
    place p = {.pid = getpid(), .fd = event_file, .at = e->place};
    memset(out, 0, sizeof *out);
    memcpy(out, &p, sizeof p);
    return OK;
}
ENTRY cuIpcOpenEventHandle(void **out, handle given)
{
    CHECK;
    place p;
    memcpy(&p, &given, sizeof p);
    if (p.pid == getpid()) return BAD_CONTEXT;
    int fd = file_of(p.pid, p.fd);
    records *all = fd < 0 ? NULL : map_events(fd);
    if (fd >= 0) close(fd);
    if (!all) return INVALID;
    event *e = calloc(1, sizeof *e);
    e->seen = &all[p.at];
    e->remote = e->owners = 1;
    return *out = e, OK;
}

/* Asynchronous memory: what streams do with it is over when it goes, as this pool waits. */
ENTRY cuMemAllocAsync(uint64_t *address, size_t bytes, void *on)
{
    CHECK;
    async_allocs++;
    int code = cuMemAlloc_v2(address, bytes);
    if (!code) segments[segment_of(*address)].origin[0] = 'a';
    return code;
}
static int async_memory(uint64_t address) { return segments[segment_of(address)].origin[0] == 'a'; }
ENTRY cuMemFreeAsync(uint64_t address, void *on)
{
    CHECK;
    return cuMemFree_v2(address);
}
ENTRY cuDeviceGetDefaultMemPool(void **pool, int device)
{
    CHECK;
    return *pool = &devices[device], OK;
}
ENTRY cuMemPoolTrimTo(void *pool, size_t keep)
{
    CHECK;
    return OK;
}
__attribute__((visibility("default"))) long td_null_async_allocs(void) { return async_allocs; }

/* ---- page-locked memory of the host ---- */
static int is_host(const void *address, size_t bytes)
{
    const char *at = address;
    for (int i = 0; i < SEGMENTS; i++)
        if (hosts[i].data && at >= hosts[i].data && at + bytes <= hosts[i].data + hosts[i].bytes)
            return 1;
    return 0;
}

/* pages that somebody else has */
static void *registered[64];
static void **registration(void *address)
{
    for (int i = 0; i < 64; i++)
        if (registered[i] == address) return &registered[i];
    return NULL;
}
ENTRY cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags)
{
    CHECK;
    if (current < 0) return BAD_CONTEXT;
    if (!address || !bytes || flags > 15) return INVALID;
    if (registration(address)) return 712;
    void **free_place = registration(NULL);
    return free_place ? (*free_place = address, OK) : NO_MEMORY;
}
ENTRY cuMemHostUnregister(void *address)
{
    CHECK;
    void **place = address ? registration(address) : NULL;
    return place ? (*place = NULL, OK) : 713;
}
ENTRY cuProfilerStart(void)
{
    CHECK;
    return OK;
}
ENTRY cuProfilerStop(void)
{
    CHECK;
    return OK;
}
ENTRY cuMemHostAlloc(void **address, size_t bytes, unsigned flags)
{
    CHECK;
    if (current < 0) return BAD_CONTEXT;
    int code = NO_MEMORY;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < SEGMENTS && bytes <= host_size - host_used; i++) {
        if (hosts[i].data) continue;
        if (posix_memalign(address, 4096, bytes)) break;
        hosts[i].data = *address;
        host_used += hosts[i].bytes = bytes;
        code = OK;
        break;
    }
    pthread_mutex_unlock(&lock);
    return code;
}
ENTRY cuMemFreeHost(void *address)
{
    CHECK;
    if (drain(NULL)) return sticky;
    for (int i = 0; i < SEGMENTS; i++) {
        if (hosts[i].data != address || !address) continue;
        free(address);
        host_used -= hosts[i].bytes;
        hosts[i].data = NULL;
        return OK;
    }
    return INVALID;
}

/* ---- copies ---- */
static int copy(char *to, char *from, size_t bytes, int staged, void *on)
{
    work *w = new_work(0);
    w->to = to;
    w->from = from;
    w->bytes = bytes;
    w->staged = staged;
    return submit(w, stream_of(on));
}
static long crossed[2]; /* bytes to devices, and back */
__attribute__((visibility("default"))) long td_null_crossed(int back) { return crossed[back]; }
ENTRY cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream)
{
    CHECK;
    __atomic_fetch_add(&crossed[0], (long)bytes, __ATOMIC_RELAXED);
    if (!holds((void *)to, bytes)) return INVALID;
    if (is_host(from, bytes)) return copy((char *)to, (char *)from, bytes, 0, stream);
    char *staged = malloc(bytes); /* from pageable memory the driver returns after staging */
    memcpy(staged, from, bytes);
    return copy((char *)to, staged, bytes, 1, stream);
}
ENTRY cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream)
{
    CHECK;
    __atomic_fetch_add(&crossed[1], (long)bytes, __ATOMIC_RELAXED);
    if (!holds((void *)from, bytes)) return INVALID;
    return copy(to, (char *)from, bytes, 0, stream);
}
ENTRY cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
    CHECK;
    if (!holds((void *)to, bytes) || !holds((void *)from, bytes)) return INVALID;
    return copy((char *)to, (char *)from, bytes, 0, stream);
}
ENTRY cuMemcpyPeerAsync(uint64_t to, void *to_context, uint64_t from, void *from_context,
                        size_t bytes, void *stream)
{
    CHECK;
    if (!holds((void *)to, bytes) || !holds((void *)from, bytes)) return INVALID;
    return copy((char *)to, (char *)from, bytes, 0, stream);
}

/* ---- streams and events ---- */
ENTRY cuCtxSynchronize(void)
{
    CHECK;
    return drain(NULL);
}
ENTRY cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    CHECK;
    return *least = 0, *greatest = -5, OK;
}
ENTRY cuStreamCreateWithPriority(void **made, unsigned flags, int priority)
{
    CHECK;
    stream *s = malloc(sizeof *s);
    pthread_mutex_lock(&lock);
    *s = (stream){.last = &s->first, .device = current, .priority = priority, .next = streams};
    streams = s;
    pthread_mutex_unlock(&lock);
    return *made = s, OK;
}
ENTRY cuStreamGetPriority(void *on, int *priority)
{
    CHECK;
    return *priority = stream_of(on)->priority, OK;
}
ENTRY cuStreamSynchronize(void *on)
{
    CHECK;
    return drain(stream_of(on));
}

/* Time passes with questions: the fourth one is answered with yes. */
enum { PATIENCE = 4 };
ENTRY cuStreamQuery(void *on)
{
    CHECK;
    stream *s = stream_of(on);
    if (!s->first) return OK;
    if (++s->asked < PATIENCE) return 600;
    s->asked = 0;
    return drain(s);
}
ENTRY cuStreamWaitEvent(void *on, void *waited, unsigned flags)
{
    CHECK;
    event *e = waited;
    if (!e->seen->wanted) return OK;
    work *w = new_work(0);
    w->waited = e;
    w->version = e->seen->wanted;
    w->on = e->on;
    e->owners++;
    return submit(w, stream_of(on));
}
ENTRY cuEventCreate(void **made, unsigned flags)
{
    CHECK;
    event *e = calloc(1, sizeof *e);
    e->timed = !(flags & 2);
    e->blocking = flags & 1;
    e->owners = 1;
    e->seen = &e->own;
    if (flags & 4 && !(flags & 2)) return free(e), INVALID; /* such have no times */
    int code = flags & 4 ? share_event(e) : OK;
    if (code) return free(e), code;
    return *made = e, OK;
}
ENTRY cuEventDestroy_v2(void *e)
{
    CHECK;
    disown(e);
    return OK;
}
ENTRY cuEventRecord(void *recorded, void *on)
{
    CHECK;
    event *e = recorded;
    work *w = new_work(0);
    w->recorded = e;
    w->version = ++e->seen->wanted;
    e->on = stream_of(on);
    e->owners++;
    e->asked = 0;
    return submit(w, e->on);
}
ENTRY cuEventQuery(void *asked)
{
    CHECK;
    event *e = asked;
    if (e->seen->done >= e->seen->wanted) return OK;
    if (e->remote) return 600;
    if (++e->asked < PATIENCE) return 600;
    e->asked = 0;
    open_memory();
    int code = run_stream(e->on, e, e->seen->wanted);
    close_memory();
    return code;
}
ENTRY cuEventSynchronize(void *waited)
{
    CHECK;
    event *e = waited;
    if (e->seen->done >= e->seen->wanted) return OK;
    if (e->remote) return await(e, e->seen->wanted);
    open_memory();
    int code = run_stream(e->on, e, e->seen->wanted);
    close_memory();
    return code;
}
ENTRY cuEventElapsedTime(float *ms, void *begin, void *end)
{
    CHECK;
    event *a = begin, *b = end;
    if (!a->timed || !b->timed || !a->seen->wanted || !b->seen->wanted) return BAD_HANDLE;
    if (a->seen->done < a->seen->wanted || b->seen->done < b->seen->wanted) return 600;
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
                     unsigned by, unsigned bz, unsigned shared, void *stream_, void **arguments,
                     void **extra)
{
    CHECK;
    const emulated *e = function;
    if (!gx || gy != 1 || gz != 1 || !bx || by != 1 || bz != 1 || bx > 1024) return INVALID;
    if (skip) return __atomic_add_fetch(&launches, 1, __ATOMIC_RELAXED), OK;
    work *w = new_work(e->bytes);
    w->kernel = e;
    w->grid = gx;
    w->block = bx;
    memcpy(w->argument, arguments[0], e->bytes);
    __atomic_add_fetch(&launches, 1, __ATOMIC_RELAXED);
    return submit(w, stream_of(stream_));
}

/* ---- for stand-ins of other libraries ---- */
__attribute__((visibility("default"))) int td_null_checked(const char *name)
{
    return checked(name);
}
__attribute__((visibility("default"))) int td_null_current(void) { return current; }
/* Does a range lie within an allocation of the current device? */
__attribute__((visibility("default"))) int td_null_holds(const void *address, size_t bytes)
{
    int i = segment_of((uint64_t)(uintptr_t)address);
    return i >= 0 && segments[i].device == current && holds(address, bytes);
}
/* Work for a stream: `call` with a copy of the argument, device memory open. */
__attribute__((visibility("default"))) int
td_null_submit(void (*call)(void *), const void *argument, size_t bytes, void *stream_)
{
    if (skip) return OK;
    work *w = new_work(bytes);
    w->call = call;
    memcpy(w->argument, argument, bytes);
    return submit(w, stream_of(stream_));
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
            : code == 801        ? "CUDA_ERROR_NOT_SUPPORTED"
                                 : "CUDA_ERROR_UNKNOWN";
    return OK;
}
ENTRY cuGetErrorString(int code, const char **text)
{
    *text = code == 700 ? "an illegal memory access was encountered"
                        : "an error of the stand-in driver";
    return OK;
}
