/* product_copy.h - factors of products that are copied before they are multiplied. */
#ifndef TD_CUDA_PRODUCT_COPY_H
#define TD_CUDA_PRODUCT_COPY_H
#include "runtime/tensor.h"

typedef struct td_cuda_scratch {
    void *block;
    char *data;
    int64_t bytes;
} td_cuda_scratch;

/* Matrices of a batch; steps in elements. */
typedef struct td_cuda_factor {
    const char *data;
    int64_t rows, columns, row, column;
    int batch_dims;
    const int64_t *batch;
    int64_t *step; /* of each dimension of the batch */
} td_cuda_factor;

/* Row-major from now on, in memory that `s` holds. What is too deep to copy stays as it is. */
td_status td_cuda_factor_copy(td_cuda_factor *f, td_dtype dtype, int ordinal, td_cuda_scratch *s);
void td_cuda_scratch_end(td_cuda_scratch *s);

#endif
