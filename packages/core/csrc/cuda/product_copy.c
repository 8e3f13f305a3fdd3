/* product_copy.c - a factor that cuBLASLt cannot read where it is, in a row-major copy. */
#include "cuda/product_copy.h"
#include "cuda/device.h"
#include <string.h>

static int64_t dense_of(const td_cuda_factor *f)
{
    int64_t numel = f->rows * f->columns;
    for (int d = 0; d < f->batch_dims; d++) numel *= f->step[d] ? f->batch[d] : 1;
    return numel;
}

/* Matrices that a batch repeats (a step of 0) are copied once. */
td_status td_cuda_factor_copy(td_cuda_factor *f, td_dtype dtype, int ordinal, td_cuda_scratch *s)
{
    td_device device = td_device_of(TD_CUDA, ordinal);
    int64_t item = td_itemsize(dtype), dense = f->rows * f->columns;
    int64_t sizes[TD_MAX_DIMS + 2], to[TD_MAX_DIMS + 2], from[TD_MAX_DIMS + 2];
    int n = f->batch_dims;
    td_nd nd;
    if (n + 2 > TD_MAX_DIMS) return TD_OK;
    s->bytes = dense_of(f) * item;
    TD_TRY(td_cuda_alloc(&s->data, s->bytes, device, &s->block));
    for (int d = n - 1; d >= 0; d--) {
        bool repeats = f->step[d] == 0;
        sizes[d] = repeats ? 1 : f->batch[d];
        to[d] = dense * item;
        from[d] = f->step[d] * item;
        if (!repeats) f->step[d] = dense, dense *= f->batch[d];
    }
    sizes[n] = f->rows;
    to[n] = f->columns * item;
    from[n] = f->row * item;
    sizes[n + 1] = f->columns;
    to[n + 1] = item;
    from[n + 1] = f->column * item;
    td_nd_init_raw(&nd, 2, (char *const[]){s->data, (char *)f->data}, n + 2, sizes,
                   (const int64_t *const[]){to, from});
    td_walk w = {.kind = TD_WALK_COPY, .nd = &nd, .dtypes = {dtype, dtype}};
    TD_TRY(td_cuda_walk(&w, device));
    f->data = s->data;
    f->row = f->columns;
    f->column = 1;
    return TD_OK;
}

/* work that is queued still reads it: the next owner's comes after, on the same stream */
void td_cuda_scratch_end(td_cuda_scratch *s)
{
    if (s->data) td_cuda_release(s->block, s->data, s->bytes);
    memset(s, 0, sizeof *s);
}
