/* regions.c - address space for huge pages, from which blocks are cut.
 *
 * Regions are address space for huge pages: with small ones a step over many tensors of some
 * hundred KiB spends an eighth of its time on translating addresses. A block is cut off a region
 * once. Given back, it loses its pages and keeps its addresses for the next block of that size:
 * unmapped one by one, blocks among others in use would leave more holes than the system keeps
 * account of (65,530 mappings), and then it maps nothing more. */
#define _GNU_SOURCE
#include "runtime/regions.h"
#include "runtime/size_classes.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE ((int64_t)2 << 20)
#define REGION ((int64_t)32 << 20)
#define REGION_FROM ((int64_t)64 << 10)

void *td_map_huge(int64_t bytes)
{
    char *start = mmap(NULL, (size_t)(bytes + HUGE_PAGE), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return NULL;
    char *aligned = (char *)(((uintptr_t)start + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
    if (aligned > start) munmap(start, (size_t)(aligned - start));
    munmap(aligned + bytes, (size_t)(start + HUGE_PAGE - aligned));
    madvise(aligned, (size_t)bytes, MADV_HUGEPAGE); /* a wish: without it the pages are small */
    return aligned;
}

/* outside the block: to write there would bring a page back */
typedef struct hollow {
    struct hollow *next;
    void *block;
} hollow;

static struct {
    pthread_mutex_t lock;
    char *next, *end; /* what is left of the present one */
    hollow *hollows[CLASSES];
} region = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool td_region_holds(int64_t bytes)
{
    return bytes > REGION_FROM && bytes % sysconf(_SC_PAGESIZE) == 0;
}

/* a block without pages; NULL: there is none */
static void *reuse_hollow(int64_t bytes)
{
    hollow **list = &region.hollows[td_class_of(bytes)], *first = *list;
    if (!first) return NULL;
    void *b = first->block;
    *list = first->next;
    free(first);
    return b;
}

static void *cut(int64_t bytes)
{
    if (region.end - region.next < bytes) {
        if (region.end > region.next) munmap(region.next, (size_t)(region.end - region.next));
        region.next = td_map_huge(REGION);
        region.end = region.next ? region.next + REGION : NULL;
    }
    char *b = region.next;
    if (b) region.next += bytes;
    return b;
}

void *td_region_take(int64_t bytes)
{
    pthread_mutex_lock(&region.lock);
    void *b = reuse_hollow(bytes);
    if (!b) b = cut(bytes);
    pthread_mutex_unlock(&region.lock);
    return b;
}

void td_region_give(void *b, int64_t bytes)
{
    hollow *h = malloc(sizeof *h);
    if (!h) {
        munmap(b, (size_t)bytes);
        return;
    }
    madvise(b, (size_t)bytes, MADV_DONTNEED);
    h->block = b;
    pthread_mutex_lock(&region.lock);
    h->next = region.hollows[td_class_of(bytes)];
    region.hollows[td_class_of(bytes)] = h;
    pthread_mutex_unlock(&region.lock);
}

void td_region_lock(void) { pthread_mutex_lock(&region.lock); }
void td_region_unlock(void) { pthread_mutex_unlock(&region.lock); }
