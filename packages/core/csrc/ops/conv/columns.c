/* columns.c - im2col and col2im: the windows of images as columns of a matrix, and columns added back into images. */
#include <string.h>
#include "cpu/indexing.h"
#include "ops/view/view.h"
#include "runtime/cpu.h"
#include "runtime/pool.h"

#define SELF TD_TENSOR(0)
#define OUT (&call->out[0])
#define LL(x) ((long long)(x))

/* Two dimensions of an image, its windows, and how many windows there are. */
typedef struct windows { int64_t in[2], kernel[2], dilation[2], pad[2], stride[2], count[2]; } windows;

static td_status read_pair(const td_call *call, int arg, const char *what, int64_t least, int64_t *out)
{
    if (TD_LEN(arg) != 2 && TD_LEN(arg) != 1)
        return td_fail(TD_RUNTIME_ERROR, "fold and unfold: %s must be one or two ints, got %lld", what, LL(TD_LEN(arg)));
    for (int d = 0; d < 2; d++) {
        out[d] = TD_INTS(arg)[TD_LEN(arg) == 1 ? 0 : d];
        if (out[d] < least || out[d] > INT32_MAX)
            return td_fail(TD_RUNTIME_ERROR, "fold and unfold: %s should be at least %lld and fit 31 bits, got %lld", what, LL(least), LL(out[d]));
    }
    return TD_OK;
}

/* kernel_size, dilation, padding, stride from argument `at` on */
static td_status read_windows(windows *w, const td_call *call, int at)
{
    TD_TRY(read_pair(call, at, "kernel_size", 1, w->kernel));
    TD_TRY(read_pair(call, at + 1, "dilation", 1, w->dilation));
    TD_TRY(read_pair(call, at + 2, "padding", 0, w->pad));
    TD_TRY(read_pair(call, at + 3, "stride", 1, w->stride));
    for (int d = 0; d < 2; d++) {
        int64_t room = w->in[d] + 2 * w->pad[d] - w->dilation[d] * (w->kernel[d] - 1) - 1;
        w->count[d] = room < 0 ? 0 : room / w->stride[d] + 1;
        if (w->count[d] < 1)
            return td_fail(TD_RUNTIME_ERROR, "fold and unfold: given spatial size (%lld, %lld), kernel_size=(%lld, %lld), dilation=(%lld, "
                           "%lld), padding=(%lld, %lld), the windows do not fit: there are (%lld, %lld)", LL(w->in[0]), LL(w->in[1]),
                           LL(w->kernel[0]), LL(w->kernel[1]), LL(w->dilation[0]), LL(w->dilation[1]), LL(w->pad[0]), LL(w->pad[1]),
                           LL(w->count[0]), LL(d ? w->count[1] : 0));
    }
    return TD_OK;
}

/* Windows [*lo, *hi) of n whose place `offset` lies within [0, size). */
static void inside(int64_t offset, int64_t stride, int64_t size, int64_t n, int64_t *lo, int64_t *hi)
{
    *lo = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
    *hi = offset >= size ? 0 : (size - 1 - offset) / stride + 1;
    if (*hi > n) *hi = n;
    if (*lo > *hi) *lo = *hi;
}

typedef struct job {
    const windows *w;
    char *image, *columns;
    int64_t itemsize;
    td_loop move; /* copy, or add */
    bool back;
} job;

/* One channel of one sample: kernel x kernel rows of the matrix, one element of every window each. */
static void channel(const job *j, int64_t plane)
{
    const windows *w = j->w;
    int64_t size = j->itemsize, cells = w->count[0] * w->count[1];
    char *image = j->image + plane * w->in[0] * w->in[1] * size, *row = j->columns + plane * w->kernel[0] * w->kernel[1] * cells * size;
    if (j->back) memset(image, 0, (size_t)(w->in[0] * w->in[1] * size));
    else memset(row, 0, (size_t)(w->kernel[0] * w->kernel[1] * cells * size));
    for (int64_t kh = 0; kh < w->kernel[0]; kh++)
        for (int64_t kw = 0; kw < w->kernel[1]; kw++, row += cells * size) {
            int64_t h0 = kh * w->dilation[0] - w->pad[0], w0 = kw * w->dilation[1] - w->pad[1], top, bottom, left, right;
            inside(h0, w->stride[0], w->in[0], w->count[0], &top, &bottom);
            inside(w0, w->stride[1], w->in[1], w->count[1], &left, &right);
            for (int64_t h = top; h < bottom && left < right; h++) {
                char *place = image + ((h0 + h * w->stride[0]) * w->in[1] + w0 + left * w->stride[1]) * size;
                char *cell = row + (h * w->count[1] + left) * size;
                int64_t apart = w->stride[1] * size;
                j->move((char *const[]){j->back ? place : cell, j->back ? cell : place},
                        (int64_t[]){j->back ? apart : size, j->back ? size : apart}, right - left, NULL);
            }
        }
}

static void run_part(void *context, int64_t begin, int64_t end)
{
    for (int64_t plane = begin; plane < end; plane++) channel(context, plane);
}

static td_status run(const windows *w, const td_tensor *image, const td_tensor *columns, int64_t planes, bool back)
{
    td_loop move = TD_PICK(td_index_kernels)->combine[back ? TD_PUT_ADD : TD_PUT_COPY][image->dtype];
    if (!move) return td_fail(TD_NOT_IMPLEMENTED, "\"%s\" not implemented for '%s'", back ? "col2im" : "im2col", td_dtypes[image->dtype].type_name);
    job j = {w, td_data(image), td_data(columns), td_itemsize((td_dtype)image->dtype), move, back};
    double each = (double)(w->kernel[0] * w->kernel[1] * w->count[0] * w->count[1]) * 0.5;
    void *token = td_heavy_begin(each * (double)planes);
    td_parallel(planes, (int64_t)(10000 / (each + 1)) + 1, run_part, &j);
    td_heavy_end(token);
    return TD_OK;
}

static td_status bad_input(const td_tensor *self, const char *wanted)
{
    char shape[TD_SHAPE_TEXT];
    return td_fail(TD_RUNTIME_ERROR, "Expected %s, but got input of size %s", wanted, td_shape_text(self->ndim, self->sizes, shape));
}

/* im2col(self, kernel_size, dilation, padding, stride): (N, C, H, W) to (N, C * kernel places, windows) */
td_status td_op_im2col(td_call *call)
{
    int n = SELF->ndim;
    windows w;
    td_tensor *dense;
    if ((n != 3 && n != 4) || SELF->sizes[n - 3] == 0 || SELF->sizes[n - 2] == 0 || SELF->sizes[n - 1] == 0)
        return bad_input(SELF, "3D or 4D (batch mode) tensor with non-zero channels and space for unfold");
    w.in[0] = SELF->sizes[n - 2];
    w.in[1] = SELF->sizes[n - 1];
    TD_TRY(read_windows(&w, call, 1));
    int64_t sizes[] = {SELF->sizes[0], SELF->sizes[n - 3], w.count[0] * w.count[1]};
    if (td_mul_overflows(sizes[1], w.kernel[0] * w.kernel[1], &sizes[1])) return bad_input(SELF, "fewer channels or a smaller window");
    TD_TRY(td_tensor_empty(OUT, (td_dtype)SELF->dtype, (td_device)SELF->device, n - 1, n == 4 ? sizes : sizes + 1));
    if (td_is_meta(SELF) || SELF->numel == 0) return TD_OK;
    TD_TRY(td_contiguous(&dense, SELF));
    td_status status = run(&w, dense, call->out[0], SELF->numel / (w.in[0] * w.in[1]), false);
    td_tensor_free(dense);
    return status;
}

/* col2im(self, output_size, kernel_size, dilation, padding, stride): the adjoint */
td_status td_op_col2im(td_call *call)
{
    int n = SELF->ndim;
    windows w;
    td_tensor *dense;
    TD_TRY(read_pair(call, 1, "output_size", 1, w.in));
    TD_TRY(read_windows(&w, call, 2));
    int64_t places = w.kernel[0] * w.kernel[1];
    if ((n != 2 && n != 3) || SELF->sizes[n - 2] == 0 || SELF->sizes[n - 2] % places)
        return bad_input(SELF, "2D or 3D (batch mode) tensor for fold whose rows are divisible by the product of kernel_size");
    if (SELF->sizes[n - 1] != w.count[0] * w.count[1])
        return td_fail(TD_RUNTIME_ERROR, "fold: given output_size=(%lld, %lld), expected the input's last dimension to match the number of "
                       "windows %lld * %lld = %lld, but got input.size(-1)=%lld", LL(w.in[0]), LL(w.in[1]), LL(w.count[0]), LL(w.count[1]),
                       LL(w.count[0] * w.count[1]), LL(SELF->sizes[n - 1]));
    int64_t sizes[] = {SELF->sizes[0], SELF->sizes[n - 2] / places, w.in[0], w.in[1]};
    TD_TRY(td_tensor_empty(OUT, (td_dtype)SELF->dtype, (td_device)SELF->device, n + 1, n == 3 ? sizes : sizes + 1));
    if (td_is_meta(SELF) || call->out[0]->numel == 0) return TD_OK;
    TD_TRY(td_contiguous(&dense, SELF));
    td_status status = run(&w, call->out[0], dense, call->out[0]->numel / (w.in[0] * w.in[1]), true);
    td_tensor_free(dense);
    return status;
}
