/* sort.h - keys and their places, sorted by launches: for kernels that make keys of their own. */
#ifndef TD_CUDA_SORT_H
#define TD_CUDA_SORT_H
#include "runtime/error.h"

/* Lines of keys side by side, each with its place in its line: [0] is read, [1] written. */
typedef struct td_cuda_keys {
    uint64_t *keys[2];
    int64_t *places[2];
} td_cuda_keys;

/* Sort each line of n, stably. They come in [1] and lie in [0] afterwards. */
td_status td_cuda_sort_keys(td_cuda_keys *pairs, int64_t lines, int64_t n, int ordinal);

#endif
