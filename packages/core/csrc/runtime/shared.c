/* shared.c - storages on memory that other processes see. */
#define _GNU_SOURCE
#include "runtime/shared.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include "runtime/alloc.h"

static td_status system_error(const char *what, int64_t nbytes)
{
    const char *advice =
        errno == ENOSPC || errno == EDQUOT
            ? ". Free some space, or enlarge the file system (in a container: --shm-size)"
        : errno == ENOMEM ? ". Memory or address space is out"
                          : "";
    return td_fail(TD_RUNTIME_ERROR, "shared memory: cannot %s %lld bytes: %s (%d)%s", what,
                   (long long)nbytes, strerror(errno), errno, advice);
}

/* ---- the file ---- */
static td_status identify(td_segment *s, int fd, int64_t end)
{
    struct stat facts;
    if (fstat(fd, &facts)) return system_error("look at a file for", end);
    s->device = facts.st_dev;
    s->inode = facts.st_ino;
    if (facts.st_size >= end) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR, "shared memory: the file has %lld bytes, %lld are needed",
                   (long long)facts.st_size, (long long)end);
}

static td_status write_all(int fd, const char *data, int64_t nbytes, int64_t offset)
{
    for (int64_t done = 0; done < nbytes;) {
        ssize_t n = pwrite(fd, data + done, (size_t)(nbytes - done), offset + done);
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) errno = ENOSPC;
        if (n <= 0) return system_error("write", nbytes);
        done += n;
    }
    return TD_OK;
}

/* ---- the mapping ---- */
static td_status map_range(td_segment *s, int fd, int64_t nbytes, int flags)
{
    int64_t page = sysconf(_SC_PAGESIZE), skipped = s->offset % page;
    if (td_add_overflows(nbytes, skipped, &s->length))
        return td_fail(TD_RUNTIME_ERROR, "shared memory: a size overflows 64 bits");
    int mode = flags & TD_MAP_SHARED ? MAP_SHARED : MAP_PRIVATE;
    char *base = mmap(NULL, (size_t)s->length, PROT_READ | PROT_WRITE, mode, fd,
                      (off_t)(s->offset - skipped));
    if (base == MAP_FAILED) return system_error("map", nbytes);
    s->base = base;
    return TD_OK;
}

/* The end of a process says the same: a message lost to a full socket costs time, not memory. */
static void tell_end(const td_segment *s)
{
    if (s->watch < 0 || !s->name || s->watcher_of != getpid()) return;
    struct iovec parts[2] = {{"-", 1}, {s->name, strlen(s->name)}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    sendmsg(s->watch, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void segment_free(td_segment *s)
{
    tell_end(s);
    if (s->base) munmap(s->base, (size_t)s->length);
    if (s->fd >= 0) close(s->fd);
    td_storage_drop(s->before);
    free(s->name);
    free(s);
}
static void release_segment(void *context, char *data, int64_t nbytes) { segment_free(context); }

/* The descriptor stays the caller's; segment_own takes it when all else has gone well. */
static td_status segment_new(td_segment **out, int fd, int64_t offset, int64_t nbytes, int flags,
                             const char *name)
{
    int64_t end;
    if (offset < 0 || nbytes < 0 || td_add_overflows(offset, nbytes, &end))
        return td_fail(TD_RUNTIME_ERROR, "shared memory: %lld bytes at offset %lld cannot exist",
                       (long long)nbytes, (long long)offset);
    td_segment *s = calloc(1, sizeof *s);
    char *copy = name ? strdup(name) : NULL;
    if (!s || (name && !copy)) {
        free(s);
        free(copy);
        return td_fail(TD_MEMORY_ERROR, "out of memory: no room for a shared segment");
    }
    *s = (td_segment){.fd = -1,
                      .watch = -1,
                      .shared = (flags & TD_MAP_SHARED) != 0,
                      .offset = offset,
                      .name = copy};
    td_status status = identify(s, fd, end);
    if (!status && nbytes) status = map_range(s, fd, nbytes, flags);
    if (status) segment_free(s);
    else *out = s;
    return status;
}

static void segment_own(td_segment *s, int fd, int flags)
{
    if (flags & TD_MAP_KEEP_FD) s->fd = fd;
    else close(fd);
}

/* ---- the table: two handles to one place in one file are one storage ---- */
enum { BUCKETS = 1024 };
static struct {
    pthread_mutex_t lock;
    td_storage *first[BUCKETS];
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void lock_table(void) { pthread_mutex_lock(&table.lock); }
static void unlock_table(void) { pthread_mutex_unlock(&table.lock); }
static void survive_fork(void) { pthread_atfork(lock_table, unlock_table, unlock_table); }
static td_storage **bucket(ino_t inode) { return &table.first[(uint64_t)inode % BUCKETS]; }
static td_storage **next_of(td_storage *s) { return &((td_segment *)s->context)->next; }

static void enlist(td_storage *s, td_segment *segment)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, survive_fork);
    lock_table();
    segment->next = *bucket(segment->inode);
    *bucket(segment->inode) = s;
    s->listed = 1;
    unlock_table();
}

static td_storage *find(int fd, int64_t offset, int64_t nbytes)
{
    struct stat facts;
    if (fstat(fd, &facts)) return NULL;
    lock_table();
    td_storage *s = *bucket(facts.st_ino);
    for (; s; s = *next_of(s)) {
        const td_segment *at = s->context;
        if (at->inode == facts.st_ino && at->device == facts.st_dev && at->offset == offset &&
            s->nbytes == nbytes)
            break;
    }
    if (s) td_storage_keep(s);
    unlock_table();
    return s;
}

bool td_shared_leave(td_storage *s)
{
    lock_table();
    bool last = __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) == 0;
    if (last) {
        td_storage **link = bucket(((td_segment *)s->context)->inode);
        while (*link != s) link = next_of(*link);
        *link = *next_of(s);
    }
    unlock_table();
    return last;
}

static void put_on_segment(td_storage *s, td_segment *segment, int64_t nbytes)
{
    s->data = segment->base ? segment->base + (segment->length - nbytes) : NULL;
    s->nbytes = nbytes;
    s->fixed = 1;
    s->release = release_segment;
    s->context = segment;
}

static void enlist_shared(td_storage *s)
{
    const td_segment *segment = s->context;
    if (s->nbytes && segment->shared) enlist(s, s->context);
}

const td_segment *td_segment_of(const td_storage *s)
{
    return s->release == release_segment ? s->context : NULL;
}

bool td_shared_watch(td_storage *s, int socket)
{
    const td_segment *now = td_segment_of(s);
    if (!now || !now->name || now->watcher_of == getpid()) return false;
    td_segment *segment = s->context;
    segment->watch = socket;
    segment->watcher_of = getpid();
    return true;
}

static td_status on_segment(td_storage **out, int fd, int64_t offset, int64_t nbytes, int flags,
                            const char *name)
{
    td_segment *segment = NULL;
    TD_TRY(segment_new(&segment, fd, offset, nbytes, flags, name));
    td_status status = td_storage_new(out, 0, TD_CPU);
    if (status) {
        segment_free(segment);
        return status;
    }
    put_on_segment(*out, segment, nbytes);
    return TD_OK;
}

td_status td_shared_map(td_storage **out, int fd, int64_t offset, int64_t nbytes, int flags,
                        const char *name)
{
    if (flags & TD_MAP_FIND && (*out = find(fd, offset, nbytes))) {
        /* a started process inherits one descriptor for several handles */
        if (fd != td_segment_of(*out)->fd) close(fd);
        return TD_OK;
    }
    TD_TRY(on_segment(out, fd, offset, nbytes, flags, name));
    segment_own((*out)->context, fd, flags);
    enlist_shared(*out);
    return TD_OK;
}

td_status td_shared_copy(td_tensor **out, const char *from, int64_t nbytes, int fd, int64_t offset,
                         int flags, const char *name)
{
    td_storage *there;
    td_tensor *handle;
    if (nbytes) TD_TRY(write_all(fd, from, nbytes, offset));
    TD_TRY(td_tensor_empty(&handle, TD_U8, TD_META, 1, &nbytes));
    td_status status = on_segment(&there, fd, offset, nbytes, flags, name);
    if (status) {
        td_tensor_free(handle);
        return status;
    }
    td_storage_drop(handle->storage);
    handle->storage = there;
    *out = handle;
    return TD_OK;
}

static td_status may_land(const td_storage *s, const td_tensor *there, const char *from)
{
    const td_segment *now = td_segment_of(s);
    if (now && now->shared)
        return td_fail(TD_RUNTIME_ERROR, "shared memory: the storage is shared already");
    if (s->device != TD_CPU)
        return td_fail(TD_RUNTIME_ERROR, "shared memory: a meta storage has no bytes to share");
    if (s->data == from && s->nbytes == there->storage->nbytes) return TD_OK;
    return td_fail(
        TD_RUNTIME_ERROR,
        "shared memory: the storage was resized while its bytes were copied; share it again");
}

td_status td_shared_land(td_storage *s, td_tensor *there, const char *from, int fd, int flags)
{
    td_status status = may_land(s, there, from);
    if (status) {
        td_tensor_free(there);
        return status;
    }
    td_segment *segment = there->storage->context;
    segment_own(segment, fd, flags);
    td_storage_swap(s, there->storage);
    enlist_shared(s);
    /* somebody may hold the address it had */
    if (s->exported) segment->before = td_storage_keep(there->storage);
    td_tensor_retire(there, s);
    return TD_OK;
}
