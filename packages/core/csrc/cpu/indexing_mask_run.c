/* indexing_mask_run.c - how threads share a mask. */
#include "cpu/run/walk.h"
#include "cpu/indexing_mask_run.h"
#include <string.h>
#include "runtime/alloc.h"
#include "runtime/cpu.h"
#include "runtime/pool.h"

#define CHUNK 65536

static int64_t chunk_length(const td_mask_chunks *c, int64_t k)
{
    return c->n - k * CHUNK < CHUNK ? c->n - k * CHUNK : CHUNK;
}

static void count_chunks(void *context, int64_t begin, int64_t end)
{
    td_mask_chunks *c = context;
    for (int64_t k = begin; k < end; k++)
        c->first[k + 1] = TD_PICK(td_index_kernels)->count(c->mask + k * CHUNK, chunk_length(c, k));
}

static void move_chunks(void *context, int64_t begin, int64_t end)
{
    const td_mask_chunks *c = context;
    const td_index_kernels *kernels = TD_PICK(td_index_kernels);
    for (int64_t k = begin; k < end; k++) {
        int64_t found = c->first[k + 1] - c->first[k];
        const uint8_t *mask = c->mask + k * CHUNK;
        if (c->size < 0)
            kernels->positions((int64_t *)c->to + c->first[k], mask, k * CHUNK, chunk_length(c, k),
                               found);
        else
            kernels->compress[c->size](c->to + (c->first[k] << c->size),
                                       c->from + (k * CHUNK << c->size), mask, chunk_length(c, k),
                                       found);
    }
}

td_status td_mask_begin(td_mask_chunks *c, const td_tensor *mask)
{
    *c = (td_mask_chunks){
        .mask = td_data(mask), .n = mask->numel, .count = (mask->numel + CHUNK - 1) / CHUNK};
    c->first = td_alloc((c->count + 1) * 8);
    if (!c->first)
        return td_fail(TD_MEMORY_ERROR, "no memory for a mask of %lld elements",
                       (long long)mask->numel);
    c->first[0] = 0;
    td_parallel(c->count, 2, count_chunks, c);
    for (int64_t k = 0; k < c->count; k++) c->first[k + 1] += c->first[k];
    c->total = c->first[c->count];
    return TD_OK;
}

void td_mask_end(td_mask_chunks *c) { td_free(c->first, (c->count + 1) * 8); }

/* Linear places to coordinates, in place for the last row. Most steps stay within the row; the rest
 * divide. */
static void split_places(int64_t *rows, int64_t total, int ndim, const int64_t *sizes)
{
    int64_t *linear = rows + (ndim - 1) * total;
    for (int d = ndim - 1; d > 0; d--) {
        int64_t *here = rows + d * total, *outside = here - total, size = sizes[d], row = 0;
        for (int64_t i = 0; i < total; i++) {
            int64_t at = linear[i];
            if (at - row * size >= size) row = at / size;
            here[i] = at - row * size;
            outside[i] = row;
        }
        linear = outside;
    }
}

void td_mask_places(td_mask_chunks *c, td_tensor *out, int ndim, const int64_t *sizes)
{
    c->size = -1;
    c->to = (char *)((int64_t *)td_data(out) + (ndim - 1) * c->total);
    void *token = td_heavy_begin((double)c->n);
    td_parallel(c->count, 1, move_chunks, c);
    split_places(td_data(out), c->total, ndim, sizes);
    td_heavy_end(token);
}

void td_mask_compress(td_mask_chunks *c, td_tensor *out, const td_tensor *from)
{
    c->size = __builtin_ctzll((uint64_t)td_itemsize((td_dtype)from->dtype));
    c->from = td_data(from);
    c->to = td_data(out);
    void *token = td_heavy_begin((double)c->n * 0.5);
    td_parallel(c->count, 1, move_chunks, c);
    td_heavy_end(token);
}

td_status td_mask_fill(td_tensor *out, const td_tensor *self, const td_tensor *mask,
                       const td_scalar *value)
{
    _Alignas(16) char element[16] = {0};
    td_nd nd;
    td_dtype dtype = (td_dtype)out->dtype;
    td_scalar_store(value, dtype, element);
    TD_TRY(td_nd_init(&nd, 3, (td_tensor *const[]){out, (td_tensor *)self, (td_tensor *)mask}));
    td_loop loop =
        TD_PICK(td_index_kernels)->masked_fill[__builtin_ctzll((uint64_t)td_itemsize(dtype))];
    td_nd_run(&nd, loop, element, 0.4);
    return TD_OK;
}

td_status td_mask_place(td_tensor *out, const td_tensor *mask, const td_tensor *source)
{
    int64_t itemsize = td_itemsize((td_dtype)out->dtype), used = 0;
    const uint8_t *truths = td_data(mask);
    const char *from = td_data(source);
    char *to = td_data(out);
    int64_t needed = TD_PICK(td_index_kernels)->count(truths, mask->numel);
    if (needed > source->numel)
        return td_fail(
            TD_RUNTIME_ERROR,
            "masked_scatter: Number of elements of source < number of ones in mask: %lld < %lld",
            (long long)source->numel, (long long)needed);
    for (int64_t i = 0; used < needed && i < mask->numel; i++)
        if (truths[i]) memcpy(to + i * itemsize, from + used++ * itemsize, (size_t)itemsize);
    return TD_OK;
}
