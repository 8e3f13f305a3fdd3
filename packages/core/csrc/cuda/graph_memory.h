/* graph_memory.h - the memory of others that a CUDA graph works on. */
#ifndef TD_CUDA_GRAPH_MEMORY_H
#define TD_CUDA_GRAPH_MEMORY_H
#include "cuda/device.h"
#include "runtime/tensor.h"

typedef struct td_cuda_kept {
    td_storage *storage;
    const char *data; /* where its memory lay when it was recorded */
    char op[40];      /* that had it first */
} td_cuda_kept;

typedef struct td_cuda_held {
    td_cuda_kept *kept;
    int64_t n, room;
    int64_t *slots; /* of a table by address: places in `kept`, from 1 on */
    int64_t nslots;
    bool lost; /* there was no memory to note something */
} td_cuda_held;

/* All three with the interpreter lock held. */
void td_cuda_held_add(td_cuda_held *h, td_storage *s);
/* RuntimeError where memory has moved since: its storage was resized, or exchanged it. */
td_status td_cuda_held_check(const td_cuda_held *h);
void td_cuda_held_drop(td_cuda_held *h);

#endif
