/* windows_run.c - one channel of one sample at a time: an element of every window for each place of
 * the kernel. */
#include "cpu/conv/windows_run.h"
#include <string.h>
#include "cpu/indexing.h"
#include "runtime/cpu.h"
#include "runtime/pool.h"

/* Windows [*lo, *hi) of n whose place `offset` lies within [0, size). */
static void inside(int64_t offset, int64_t stride, int64_t size, int64_t n, int64_t *lo,
                   int64_t *hi)
{
    *lo = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
    *hi = offset >= size ? 0 : (size - 1 - offset) / stride + 1;
    if (*hi > n) *hi = n;
    if (*lo > *hi) *lo = *hi;
}

typedef struct job {
    const td_windows *w;
    char *image, *columns;
    int64_t itemsize;
    td_loop move; /* copy, or add */
    bool back;
} job;

/* One channel of one sample: kernel x kernel rows of the matrix, one element of every window each.
 */
static void channel(const job *j, int64_t plane)
{
    const td_windows *w = j->w;
    int64_t size = j->itemsize, cells = w->cells;
    char *image = j->image + plane * w->in[0] * w->in[1] * size,
         *row = j->columns + plane * w->kernel[0] * w->kernel[1] * cells * size;
    if (j->back) memset(image, 0, (size_t)(w->in[0] * w->in[1] * size));
    else memset(row, 0, (size_t)(w->kernel[0] * w->kernel[1] * cells * size));
    for (int64_t kh = 0; kh < w->kernel[0]; kh++)
        for (int64_t kw = 0; kw < w->kernel[1]; kw++, row += cells * size) {
            int64_t h0 = kh * w->dilation[0] - w->pad[0], w0 = kw * w->dilation[1] - w->pad[1], top,
                    bottom, left, right;
            inside(h0, w->stride[0], w->in[0], w->count[0], &top, &bottom);
            inside(w0, w->stride[1], w->in[1], w->count[1], &left, &right);
            for (int64_t h = top; h < bottom && left < right; h++) {
                char *place =
                    image + ((h0 + h * w->stride[0]) * w->in[1] + w0 + left * w->stride[1]) * size;
                char *cell = row + (h * w->count[1] + left) * size;
                int64_t apart = w->stride[1] * size;
                j->move((char *const[]){j->back ? place : cell, j->back ? cell : place},
                        (int64_t[]){j->back ? apart : size, j->back ? size : apart}, right - left,
                        NULL);
            }
        }
}

static void run_part(void *context, int64_t begin, int64_t end)
{
    for (int64_t plane = begin; plane < end; plane++) channel(context, plane);
}

td_status td_windows_run(const td_windows *w, const td_tensor *image, const td_tensor *columns,
                         int64_t planes, bool back)
{
    td_loop move =
        TD_PICK(td_index_kernels)->combine[back ? TD_PUT_ADD : TD_PUT_COPY][image->dtype];
    if (!move)
        return td_fail(TD_NOT_IMPLEMENTED, "\"%s\" not implemented for '%s'",
                       back ? "col2im" : "im2col", td_dtypes[image->dtype].type_name);
    job j = {w, td_data(image), td_data(columns), td_itemsize((td_dtype)image->dtype), move, back};
    double each = (double)(w->kernel[0] * w->kernel[1] * w->count[0] * w->count[1]) * 0.5;
    void *token = td_heavy_begin(each * (double)planes);
    td_parallel(planes, (int64_t)(10000 / (each + 1)) + 1, run_part, &j);
    td_heavy_end(token);
    return TD_OK;
}
