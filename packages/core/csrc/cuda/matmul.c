/* matmul.c - products of matrices: by cuBLASLt, or as launches of kernels/matmul.h. */
#include <string.h>
#include "cuda/product_lt.h"
#include "cuda/program.h"

#define TILE 16
#define MOST_BLOCKS 65535

typedef struct product_call { /* laid out as in kernels/matmul.h */
    const char *a, *b, *bias;
    char *c;
    int64_t m, n, k, a_row, a_col, b_row, b_col, c_row, batches, batch_dims;
    td_scalar alpha, beta;
    int64_t batch[TD_MAX_DIMS], a_batch[TD_MAX_DIMS], b_batch[TD_MAX_DIMS], c_batch[TD_MAX_DIMS];
} product_call;
_Static_assert(sizeof(product_call) <= 4096, "a launch carries 4,096 bytes of arguments");

static td_status by_tiles(const td_product *p, int ordinal)
{
    product_call c = {.a = p->a,
                      .b = p->b,
                      .c = p->c,
                      .bias = p->col_bias,
                      .m = p->m,
                      .n = p->n,
                      .k = p->k,
                      .a_row = p->a_row,
                      .a_col = p->a_col,
                      .b_row = p->b_row,
                      .b_col = p->b_col,
                      .c_row = p->c_row,
                      .batches = 1,
                      .batch_dims = p->batch_dims,
                      .alpha = p->alpha,
                      .beta = p->beta};
    size_t bytes = (size_t)p->batch_dims * sizeof(int64_t);
    for (int d = 0; d < p->batch_dims; d++) c.batches *= p->batch[d];
    memcpy(c.batch, p->batch, bytes);
    memcpy(c.a_batch, p->a_batch, bytes);
    memcpy(c.b_batch, p->b_batch, bytes);
    memcpy(c.c_batch, p->c_batch, bytes);
    td_cuda_program w = {.kind = "product",
                         .how = p->shorter ? "product_wide_together" : "product_together",
                         .name = "product",
                         .dtype = p->shorter ? p->shorter : p->dtype,
                         .from = p->dtype};
    void *function;
    TD_TRY(td_cuda_function(&w, ordinal, &function));
    int64_t tiles = (p->m + TILE - 1) / TILE * ((p->n + TILE - 1) / TILE) * c.batches;
    if (!tiles) return TD_OK;
    return td_cuda_launch_blocks(function, ordinal, tiles < MOST_BLOCKS ? tiles : MOST_BLOCKS,
                                 TILE * TILE, &c, "product of matrices");
}

/* The library may decline a bias alone. A sum of no terms with it is C, to which the product is
 * added. */
static td_status bias_first(const td_product *p, int ordinal, td_lt_end *end)
{
    td_product bias = *p, rest = *p;
    bias.k = 0;
    rest.col_bias = NULL;
    rest.beta = td_scalar_int(1);
    TD_TRY(by_tiles(&bias, ordinal));
    return td_cuda_product_lt(&rest, ordinal, end);
}

td_status td_cuda_product(const td_product *p, td_device device)
{
    int ordinal = td_device_index(device);
    td_lt_end end;
    TD_TRY(td_cuda_use(ordinal));
    TD_TRY(td_cuda_product_lt(p, ordinal, &end));
    if (end == TD_LT_DECLINED && p->col_bias) TD_TRY(bias_first(p, ordinal, &end));
    return end == TD_LT_DONE ? TD_OK : by_tiles(p, ordinal);
}
