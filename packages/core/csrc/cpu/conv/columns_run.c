/* columns_run.c - convolutions of integers and complex numbers: patches are copied to a matrix,
 * then multiplied. */
#include <string.h>
#include "cpu/conv/conv_run.h"
#include "cpu/matmul/gemm_run.h"
#include "runtime/alloc.h"
#include "runtime/pool.h"

typedef struct columns {
    const td_conv *c;
    const char *x; /* of one image and group */
    char *to;      /* [channels * taps][pixels] */
    int64_t item;
} columns;

static void copy_row(const columns *k, const char *plane, const td_tap *tap, char *to)
{
    const td_conv *c = k->c;
    int64_t p[3];
    for (p[0] = 0; p[0] < c->out[0]; p[0]++)
        for (p[1] = 0; p[1] < c->out[1]; p[1]++)
            for (p[2] = 0; p[2] < c->out[2]; p[2]++, to += k->item) {
                bool inside = true;
                int64_t at = 0;
                for (int d = 0; d < 3; d++) {
                    int64_t i = p[d] * c->stride[d] + tap->at[d];
                    inside = inside && i >= 0 && i < c->in[d];
                    at = at * c->in[d] + i;
                }
                if (inside) memcpy(to, plane + at * k->item, (size_t)k->item);
                else memset(to, 0, (size_t)k->item);
            }
}

static void copy_rows(void *context, int64_t begin, int64_t end)
{
    const columns *k = context;
    int64_t plane = td_volume(k->c->in) * k->item, row = td_volume(k->c->out) * k->item;
    for (int64_t i = begin; i < end; i++)
        copy_row(k, k->x + i / k->c->taps * plane, &k->c->tap[i % k->c->taps], k->to + i * row);
}

static void make_columns(const td_conv *c, int64_t which, char *to)
{
    int64_t item = td_itemsize(c->dtype), pixels = td_volume(c->out);
    columns k = {c, c->x + which * c->channels * td_volume(c->in) * item, to, item};
    if (pixels) td_parallel(c->channels * c->taps, 1 + 4096 / pixels, copy_rows, &k);
}

static void fill_bias(const td_conv *c, const char *bias, char *y)
{
    int64_t item = td_itemsize(c->dtype), pixels = td_volume(c->out);
    for (int64_t o = 0; o < c->outputs; o++)
        for (int64_t i = 0; i < pixels; i++, y += item) memcpy(y, bias + o * item, (size_t)item);
}

static td_status take_matrix(const td_conv *c, char **matrix, int64_t *bytes)
{
    int64_t depth = c->channels * c->taps, row = td_volume(c->out) * td_itemsize(c->dtype);
    if (td_mul_overflows(depth, row, bytes))
        return td_fail(TD_MEMORY_ERROR, "convolution: no memory for %lld rows of %lld bytes",
                       (long long)depth, (long long)row);
    *matrix = td_alloc(*bytes);
    return *matrix ? TD_OK
                   : td_fail(TD_MEMORY_ERROR, "convolution: no memory for %lld bytes",
                             (long long)*bytes);
}

td_status td_conv_columns_forward(const td_conv *c)
{
    char *matrix;
    int64_t bytes, item = td_itemsize(c->dtype), depth = c->channels * c->taps,
                   pixels = td_volume(c->out);
    td_status status = take_matrix(c, &matrix, &bytes);
    if (status != TD_OK) return status;
    for (int64_t i = 0; i < c->images * c->groups && status == TD_OK; i++) {
        int64_t group = i % c->groups;
        td_product p = {.dtype = c->dtype,
                        .m = c->outputs,
                        .n = pixels,
                        .k = depth,
                        .a = c->w + group * c->outputs * depth * item,
                        .b = matrix,
                        .c = c->y + i * c->outputs * pixels * item,
                        .a_row = depth,
                        .a_col = 1,
                        .b_row = pixels,
                        .b_col = 1,
                        .c_row = pixels,
                        .alpha = td_scalar_int(1),
                        .beta = td_scalar_int(c->bias != NULL)};
        make_columns(c, i, matrix);
        if (c->bias) fill_bias(c, c->bias + group * c->outputs * item, p.c);
        status = td_product_run(&p);
    }
    td_free(matrix, bytes);
    return status;
}

td_status td_conv_columns_weight(const td_conv *c, const char *g, char *dw)
{
    char *matrix;
    int64_t bytes, item = td_itemsize(c->dtype), depth = c->channels * c->taps,
                   pixels = td_volume(c->out);
    td_status status = take_matrix(c, &matrix, &bytes);
    if (status != TD_OK) return status;
    for (int64_t i = 0; i < c->images * c->groups && status == TD_OK; i++) {
        td_product p = {.dtype = c->dtype,
                        .m = c->outputs,
                        .n = depth,
                        .k = pixels,
                        .a = g + i * c->outputs * pixels * item,
                        .b = matrix,
                        .c = dw + i % c->groups * c->outputs * depth * item,
                        .a_row = pixels,
                        .a_col = 1,
                        .b_row = 1,
                        .b_col = pixels,
                        .c_row = depth,
                        .alpha = td_scalar_int(1),
                        .beta = td_scalar_int(i >= c->groups)};
        make_columns(c, i, matrix);
        status = td_product_run(&p);
    }
    td_free(matrix, bytes);
    return status;
}
