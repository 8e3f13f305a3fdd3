/* pool_settings.h - how the allocator of device memory works: what PYTORCH_CUDA_ALLOC_CONF or
 * TAEDA_CUDA_ALLOC_CONF says. */
#ifndef TD_CUDA_POOL_SETTINGS_H
#define TD_CUDA_POOL_SETTINGS_H
#include <stdbool.h>
#include <stdint.h>
#include "runtime/error.h"

enum { TD_CUDA_DIVISIONS = 16 }; /* of sizes from 1 MiB on: one for each power of two */

typedef struct td_cuda_pool_settings {
    int64_t max_split;   /* blocks of so many bytes are handed out whole */
    int64_t max_unsplit; /* and may be larger than what is asked for by so many */
    /* sizes are rounded to this part of a power of two; 0: not */
    int divisions[TD_CUDA_DIVISIONS];
    /* share of the memory from which unused segments go back */
    double collect_at;
    bool async;     /* the driver's own pool of streams allocates */
    char text[512]; /* as given */
} td_cuda_pool_settings;

extern td_cuda_pool_settings td_cuda_settings;

/* "key:value,key:value". ValueError for what is not understood; the settings then stay. */
td_status td_cuda_settings_read(const char *text);
/* From TAEDA_CUDA_ALLOC_CONF, or PyTorch's PYTORCH_CUDA_ALLOC_CONF and PYTORCH_ALLOC_CONF. */
td_status td_cuda_settings_from_environment(void);

/* bytes as the settings round them; `bytes` itself without divisions */
int64_t td_cuda_settings_round(int64_t bytes);

#endif
