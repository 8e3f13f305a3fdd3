/* memory.h - of the stand-in driver (libcuda_null.c): allocations, also of other processes, and
 * page-locked memory. */
#ifndef NULL_MEMORY_H
#define NULL_MEMORY_H

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
    NOT_CAPTURED(NULL);
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
    NOT_CAPTURED(NOWHERE);
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
    NOT_CAPTURED(NOWHERE);
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
#endif
