/* system.c - stands between the core and the system (the linker's --wrap), so that a test can let a
 * call fail. */
#define _GNU_SOURCE
#include "harness.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static __thread int countdown[CALL_KINDS];
int harness_short_write;

void fail_call(call_kind kind, int n) { countdown[kind] = n; }

static bool fails(call_kind kind)
{
    int *left = &countdown[kind];
    if (*left == 0) return false;
    if (*left == -1) return true;
    *left += *left > 0 ? -1 : 1;
    return *left == 0;
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t each);
void *__real_aligned_alloc(size_t alignment, size_t n);
void *__real_mmap(void *at, size_t n, int rights, int flags, int fd, off_t offset);
int __real_mprotect(void *at, size_t n, int rights);
long __real_sysconf(int name);
char *__real_strdup(const char *text);
int __real_fstat(int fd, struct stat *out);
ssize_t __real_pwrite(int fd, const void *data, size_t n, off_t offset);

void *__wrap_malloc(size_t n) { return fails(CALL_MALLOC) ? NULL : __real_malloc(n); }
void *__wrap_calloc(size_t n, size_t each)
{
    return fails(CALL_CALLOC) ? NULL : __real_calloc(n, each);
}
void *__wrap_aligned_alloc(size_t a, size_t n)
{
    return fails(CALL_ALIGNED_ALLOC) ? NULL : __real_aligned_alloc(a, n);
}
int __wrap_mprotect(void *at, size_t n, int rights)
{
    return fails(CALL_MPROTECT) ? -1 : __real_mprotect(at, n, rights);
}
long __wrap_sysconf(int name) { return fails(CALL_SYSCONF) ? -1 : __real_sysconf(name); }
char *__wrap_strdup(const char *text) { return fails(CALL_STRDUP) ? NULL : __real_strdup(text); }

void *__wrap_mmap(void *at, size_t n, int rights, int flags, int fd, off_t offset)
{
    if (!fails(CALL_MMAP)) return __real_mmap(at, n, rights, flags, fd, offset);
    errno = ENOMEM;
    return MAP_FAILED;
}

int __wrap_fstat(int fd, struct stat *out)
{
    if (!fails(CALL_FSTAT)) return __real_fstat(fd, out);
    errno = EBADF;
    return -1;
}

/* harness_short_write: 1 is interrupted before a byte, -1 meets a full quota, more writes that many
 * bytes less one */
ssize_t __wrap_pwrite(int fd, const void *data, size_t n, off_t offset)
{
    int part = harness_short_write;
    harness_short_write = 0;
    if (part == 1 || part == -1) {
        errno = part == 1 ? EINTR : EDQUOT;
        return -1;
    }
    if (part > 1 && (size_t)part - 1 < n) n = (size_t)part - 1;
    if (!fails(CALL_PWRITE)) return __real_pwrite(fd, data, n, offset);
    errno = ENOSPC;
    return harness_short_write = 0;
}
