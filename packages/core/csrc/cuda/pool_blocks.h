/* pool_blocks.h - blocks, segments and pools, for the files of the allocator.
 *
 *   segment of the driver   |  block in use  | free |  block in use  |      free       |
 *                              prev <------------ neighbours ------------> next
 */
#ifndef TD_CUDA_POOL_BLOCKS_H
#define TD_CUDA_POOL_BLOCKS_H
#include "cuda/pool.h"
#include <pthread.h>
#include "cuda/pool_settings.h"
#include "cuda/users.h"

#define TD_CUDA_GRAIN 512
#define TD_CUDA_BINS 48

typedef struct td_cuda_segment {
    struct td_cuda_segment *before, *after;
    struct td_cuda_block *first;
    char *data;
    int64_t bytes;
} td_cuda_segment;

typedef struct td_cuda_block {
    struct td_cuda_block *prev, *next;    /* neighbours in the segment */
    struct td_cuda_block *before, *after; /* in the list of free ones */
    /* NULL: straight from the driver, or somebody's function */
    td_cuda_segment *segment;
    struct td_cuda_lists *lists;
    char *data;
    int64_t bytes, asked, stack, freed_at; /* freed_at: in allocations of the device */
    void *stream;
    td_cuda_user *users; /* streams that work on it beside `stream` */
    uint8_t ordinal, small, state, direct;
} td_cuda_block;

/* of one device */
typedef struct td_cuda_lists {
    td_cuda_block *bins[2][TD_CUDA_BINS]; /* small and large; bin k: sizes from GRAIN << k on */
    td_cuda_block *busy;                  /* released, but other streams still work on them */
    td_cuda_segment *segments;
    td_cuda_private *home;
} td_cuda_lists;

struct td_cuda_private {
    td_cuda_private *next;
    td_cuda_give give;
    td_cuda_take take;
    int64_t id;
    int owners; /* its maker, and who allocates from it */
    td_cuda_lists devices[TD_DEVICE_ORDINALS];
};

enum { TD_CUDA_CACHED, TD_CUDA_PLAIN, TD_CUDA_ASYNC, TD_CUDA_FOREIGN }; /* `direct` */

extern td_cuda_private td_cuda_common;
extern td_cuda_stats td_cuda_pool_counts[TD_DEVICE_ORDINALS];
extern td_cuda_private *td_cuda_privates; /* all that are not the common one */
extern pthread_mutex_t td_cuda_pool_lock; /* guards everything; Python never runs under it */
extern int64_t td_cuda_limits[TD_DEVICE_ORDINALS]; /* bytes; 0: none */
extern bool td_cuda_allocated;                     /* something, ever */

/* The pool that this thread allocates from. */
td_cuda_private *td_cuda_chosen(int ordinal);
int td_cuda_direct(const td_cuda_private *home); /* how its blocks come */

/* With the lock held: blocks whose streams are done serve again. */
void td_cuda_settle(struct td_cuda_lists *p, bool wait);
/* Whole segments that were free for `age` allocations or longer go back, until `enough` bytes are
 * free. The driver's code. */
int td_cuda_trim(struct td_cuda_lists *p, int ordinal, int64_t age, int64_t enough);
void td_cuda_drop_empty(void); /* private pools without maker and segments */
td_status td_cuda_no_memory(int ordinal, int64_t bytes); /* without the lock */

/* The driver's or somebody's memory for a segment or a block that is not kept; the driver's code.
 */
int td_cuda_memory_take(const td_cuda_private *home, int direct, int64_t bytes, int ordinal,
                        void *stream, char **out);
int td_cuda_memory_give(const td_cuda_private *home, int direct, char *data, int64_t bytes,
                        int ordinal, void *stream);

/* What the driver keeps of asynchronous memory goes back. */
int td_cuda_memory_trim(int ordinal);

#define TD_CUDA_ADD(ordinal, name, small, change)                                \
    do {                                                                         \
        struct td_cuda_count *td_c = td_cuda_pool_counts[ordinal].name;          \
        td_cuda_counted(&td_c[TD_CUDA_ALL], change);                             \
        td_cuda_counted(&td_c[(small) ? TD_CUDA_SMALL : TD_CUDA_LARGE], change); \
    } while (0)

#endif
