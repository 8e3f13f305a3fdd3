/* pool_history.h - what the allocator of device memory did: a ring of the last entries. */
#ifndef TD_CUDA_POOL_HISTORY_H
#define TD_CUDA_POOL_HISTORY_H
#include <stdbool.h>
#include <stdint.h>

typedef struct td_cuda_step {
    const char *action; /* "alloc", "free_requested", "free_completed", "segment_alloc", ... */
    uint64_t address;
    int64_t bytes, time_us, stack; /* stack: a number that the binding gave, or -1 */
    void *stream;
    int ordinal;
} td_cuda_step;

/* what is kept: steps; where blocks were made, steps too, and frees */
enum { TD_CUDA_STEPS = 1, TD_CUDA_STACKS = 2, TD_CUDA_STEP_STACKS = 4, TD_CUDA_FREE_STACKS = 8 };
extern int td_cuda_recording;
/* Where Python is now, as a number, and that number as text; filled by the binding. */
extern int64_t (*td_cuda_stack)(void);
extern void (*td_cuda_stack_text)(int64_t stack, char *text, int room);

/* Keep the last `most` steps from now on; what was kept is forgotten. */
void td_cuda_history_start(int64_t most, int recording);
/* with the pool's lock held */
void td_cuda_history_add(td_cuda_step step);
/* A copy of the steps, oldest first, to be freed; *n of them. NULL if there are none. */
td_cuda_step *td_cuda_history_copy(int64_t *n);

#endif
