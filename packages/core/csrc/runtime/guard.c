/* guard.c - blocks between pages that nobody may touch, for tests.
 *
 *   behind   | no rights | ....... block, canary | no rights |      before   | no rights | block ....... | no rights |
 *
 * A block begins at a multiple of 16, so behind its last byte there may be up to 15 before the
 * page: they hold a canary. Blocks are cut off one range of address space, one after the other, and
 * never given out again: whoever uses one after its end is found, too. */
#define _GNU_SOURCE
#include "runtime/guard.h"
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RANGE ((int64_t)1 << 40)
#define CANARY 0xA5
#define ALIGNMENT 16

td_guard td_guard_mode;
char *td_guard_range;
int64_t td_guard_size;
static struct {
    pthread_mutex_t lock;
    int64_t used, written; /* bytes of the range; blocks with a damaged canary */
} guard = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

static char *cut(int64_t bytes)
{
    char *at = NULL;
    pthread_mutex_lock(&guard.lock);
    if (guard.used + bytes <= td_guard_size) {
        at = td_guard_range + guard.used;
        guard.used += bytes;
    }
    pthread_mutex_unlock(&guard.lock);
    return at;
}

void *td_guard_take(int64_t bytes)
{
    int64_t page = sysconf(_SC_PAGESIZE), room = round_up(bytes ? bytes : 1, ALIGNMENT),
            pages = round_up(room, page);
    /* the page before is the last one of the block before */
    char *start = pages < RANGE ? cut(pages + page) : NULL;
    if (!start || mprotect(start + page, (size_t)pages, PROT_READ | PROT_WRITE)) return NULL;
    char *b = start + page + (td_guard_mode == TD_GUARD_BEFORE ? 0 : pages - room);
    memset(b + bytes, CANARY, (size_t)(room - bytes));
    return b;
}

void td_guard_give(void *block, int64_t bytes)
{
    int64_t page = sysconf(_SC_PAGESIZE), room = round_up(bytes ? bytes : 1, ALIGNMENT);
    const unsigned char *b = block;
    bool damaged = false;
    for (int64_t i = bytes; i < room; i++) damaged |= b[i] != CANARY;
    if (damaged) __atomic_fetch_add(&guard.written, 1, __ATOMIC_RELAXED);
    char *start = (char *)((uintptr_t)block / (uintptr_t)page * (uintptr_t)page);
    madvise(start, (size_t)round_up(room, page), MADV_DONTNEED);
    mprotect(start, (size_t)round_up(room, page), PROT_NONE);
}

static bool reserve(void)
{
    char *at =
        mmap(NULL, (size_t)RANGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return false;
    td_guard_range = at;
    td_guard_size = RANGE - sysconf(_SC_PAGESIZE);
    return true;
}

int64_t td_alloc_guard(td_guard mode)
{
    if (mode && !td_guard_size && !reserve()) return -1;
    td_guard_mode = mode;
    return __atomic_load_n(&guard.written, __ATOMIC_RELAXED);
}
