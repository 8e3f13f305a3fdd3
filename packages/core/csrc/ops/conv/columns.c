/* columns.c - im2col and col2im: the windows of images as columns of a matrix, and columns added
 * back into images. */
#include "cpu/conv/windows_run.h"
#include "cpu/indexing_run.h"
#include "ops/indexing/index.h"
#include "ops/view/view.h"
#include "runtime/loops.h"

#define SELF TD_TENSOR(0)
#define OUT (&call->out[0])
#define LL(x) ((long long)(x))

static td_status read_pair(const td_call *call, int arg, const char *what, int64_t least,
                           int64_t *out)
{
    if (TD_LEN(arg) != 2 && TD_LEN(arg) != 1)
        return td_fail(TD_RUNTIME_ERROR, "fold and unfold: %s must be one or two ints, got %lld",
                       what, LL(TD_LEN(arg)));
    for (int d = 0; d < 2; d++) {
        out[d] = TD_INTS(arg)[TD_LEN(arg) == 1 ? 0 : d];
        if (out[d] < least || out[d] > INT32_MAX)
            return td_fail(TD_RUNTIME_ERROR,
                           "fold and unfold: %s should be at least %lld and fit 31 bits, got %lld",
                           what, LL(least), LL(out[d]));
    }
    return TD_OK;
}

/* kernel_size, dilation, padding, stride from argument `at` on */
static td_status read_windows(td_windows *w, const td_call *call, int at)
{
    TD_TRY(read_pair(call, at, "kernel_size", 1, w->kernel));
    TD_TRY(read_pair(call, at + 1, "dilation", 1, w->dilation));
    TD_TRY(read_pair(call, at + 2, "padding", 0, w->pad));
    TD_TRY(read_pair(call, at + 3, "stride", 1, w->stride));
    for (int d = 0; d < 2; d++) {
        int64_t room = w->in[d] + 2 * w->pad[d] - w->dilation[d] * (w->kernel[d] - 1) - 1;
        w->count[d] = room < 0 ? 0 : room / w->stride[d] + 1;
        if (w->count[d] < 1)
            return td_fail(TD_RUNTIME_ERROR,
                           "fold and unfold: given spatial size (%lld, %lld), kernel_size=(%lld, "
                           "%lld), dilation=(%lld, %lld), padding=(%lld, %lld), the windows do not "
                           "fit: there are (%lld, %lld)",
                           LL(w->in[0]), LL(w->in[1]), LL(w->kernel[0]), LL(w->kernel[1]),
                           LL(w->dilation[0]), LL(w->dilation[1]), LL(w->pad[0]), LL(w->pad[1]),
                           LL(w->count[0]), LL(d ? w->count[1] : 0));
    }
    if (td_mul_overflows(w->count[0], w->count[1], &w->cells))
        return td_fail(TD_RUNTIME_ERROR,
                       "fold and unfold: %lld times %lld windows are more than 64 bits count",
                       LL(w->count[0]), LL(w->count[1]));
    return TD_OK;
}

static td_status bad_input(const td_tensor *self, const char *wanted)
{
    char shape[TD_SHAPE_TEXT];
    return td_fail(TD_RUNTIME_ERROR, "Expected %s, but got input of size %s", wanted,
                   td_shape_text(self->ndim, self->sizes, shape));
}

/* `dense` on another device than the processor, its borders filled with zeros: planes x rows x
 * columns */
static td_status with_borders(td_tensor **out, const td_windows *w, const td_tensor *dense,
                              int64_t planes)
{
    const td_scalar zero = td_scalar_int(0);
    int64_t inner[] = {planes, w->in[0], w->in[1]};
    int64_t outer[] = {planes, w->in[0] + 2 * w->pad[0], w->in[1] + 2 * w->pad[1]};
    td_tensor *from = NULL, *rows = NULL, *to = NULL;
    TD_TRY(td_tensor_empty(out, (td_dtype)dense->dtype, (td_device)dense->device, 3, outer));
    td_status status = td_fill(*out, &zero);
    if (status == TD_OK) status = td_view_sizes(&from, dense, 3, inner);
    if (status == TD_OK) status = td_view_narrow(&rows, *out, 1, w->pad[0], w->in[0]);
    if (status == TD_OK) status = td_view_narrow(&to, rows, 2, w->pad[1], w->in[1]);
    if (status == TD_OK) status = td_copy(to, from);
    td_tensor_free(to);
    td_tensor_free(rows);
    td_tensor_free(from);
    if (status != TD_OK) td_tensor_free(*out);
    return status;
}

/* The columns as one strided copy: windows overlap in the view that is read. For devices, which
 * copy any layout but have no loop over windows. */
static td_status copy_windows(const td_windows *w, const td_tensor *dense, const td_tensor *out,
                              int64_t planes)
{
    int64_t width = w->in[1] + 2 * w->pad[1], height = w->in[0] + 2 * w->pad[0];
    int64_t sizes[] = {planes, w->kernel[0], w->kernel[1], w->count[0], w->count[1]};
    int64_t strides[] = {height * width, w->dilation[0] * width, w->dilation[1],
                         w->stride[0] * width, w->stride[1]};
    td_tensor *padded, *from = NULL, *to = NULL;
    TD_TRY(with_borders(&padded, w, dense, planes));
    td_status status = td_view_strided(&from, padded, 5, sizes, strides, 0);
    if (status == TD_OK) status = td_view_sizes(&to, out, 5, sizes);
    if (status == TD_OK) status = td_copy(to, from);
    td_tensor_free(to);
    td_tensor_free(from);
    td_tensor_free(padded);
    return status;
}

/* im2col(self, kernel_size, dilation, padding, stride): (N, C, H, W) to (N, C * kernel places,
 * windows) */
td_status td_op_im2col(td_call *call)
{
    int n = SELF->ndim;
    td_windows w;
    td_tensor *dense;
    if ((n != 3 && n != 4) || SELF->sizes[n - 3] == 0 || SELF->sizes[n - 2] == 0 ||
        SELF->sizes[n - 1] == 0)
        return bad_input(
            SELF, "3D or 4D (batch mode) tensor with non-zero channels and space for unfold");
    w.in[0] = SELF->sizes[n - 2];
    w.in[1] = SELF->sizes[n - 1];
    TD_TRY(read_windows(&w, call, 1));
    int64_t sizes[] = {SELF->sizes[0], SELF->sizes[n - 3], w.cells};
    if (td_mul_overflows(sizes[1], w.kernel[0] * w.kernel[1], &sizes[1]))
        return bad_input(SELF, "fewer channels or a smaller window");
    TD_TRY(td_tensor_empty(OUT, (td_dtype)SELF->dtype, (td_device)SELF->device, n - 1,
                           n == 4 ? sizes : sizes + 1));
    if (td_is_meta(SELF) || SELF->numel == 0) return TD_OK;
    TD_TRY(td_contiguous(&dense, SELF));
    int64_t planes = SELF->numel / (w.in[0] * w.in[1]);
    td_status status = TD_OK;
    if (SELF->device == TD_CPU) status = td_windows_run(&w, dense, call->out[0], planes, false);
    else status = copy_windows(&w, dense, call->out[0], planes);
    td_tensor_free(dense);
    return status;
}

/* One place of the kernel: its element of every window is added to where it came from. */
static td_status add_place(const td_windows *w, const td_tensor *padded, const td_tensor *columns,
                           int64_t kh, int64_t kw)
{
    int64_t width = w->in[1] + 2 * w->pad[1], height = w->in[0] + 2 * w->pad[0];
    int64_t places = w->kernel[0] * w->kernel[1], cells = w->cells;
    int64_t sizes[] = {padded->sizes[0], w->count[0], w->count[1]};
    int64_t to_strides[] = {height * width, w->stride[0] * width, w->stride[1]};
    int64_t from_strides[] = {places * cells, w->count[1], 1};
    td_tensor *to = NULL, *from = NULL;
    td_status status = td_view_strided(&to, padded, 3, sizes, to_strides,
                                       kh * w->dilation[0] * width + kw * w->dilation[1]);
    if (status == TD_OK)
        status = td_view_strided(&from, columns, 3, sizes, from_strides,
                                 columns->offset + (kh * w->kernel[1] + kw) * cells);
    td_places_job job = {.what = TD_PLACES_COMBINE, .out = to, .from = from, .put = TD_PUT_ADD};
    if (status == TD_OK)
        status = td_work_run(TD_WORK_PLACES, &job, (td_device)padded->device, "col2im");
    td_tensor_free(from);
    td_tensor_free(to);
    return status;
}

/* The columns added up in the processor's order, a launch for every place of the kernel: for
 * devices, which have no loop over windows. */
static td_status add_windows(const td_windows *w, const td_tensor *columns, td_tensor *out)
{
    const td_scalar zero = td_scalar_int(0);
    int64_t planes = out->numel / (w->in[0] * w->in[1]);
    int64_t inner[] = {planes, w->in[0], w->in[1]};
    int64_t outer[] = {planes, w->in[0] + 2 * w->pad[0], w->in[1] + 2 * w->pad[1]};
    td_tensor *padded, *rows = NULL, *from = NULL, *to = NULL;
    if (!td_index_can_put(TD_PUT_ADD, (td_dtype)out->dtype))
        return td_fail(TD_NOT_IMPLEMENTED, "\"col2im\" not implemented for '%s'",
                       td_dtypes[out->dtype].type_name);
    TD_TRY(td_tensor_empty(&padded, (td_dtype)out->dtype, (td_device)out->device, 3, outer));
    td_status status = td_fill(padded, &zero);
    for (int64_t kh = 0; kh < w->kernel[0] && status == TD_OK; kh++)
        for (int64_t kw = 0; kw < w->kernel[1] && status == TD_OK; kw++)
            status = add_place(w, padded, columns, kh, kw);
    if (status == TD_OK) status = td_view_narrow(&rows, padded, 1, w->pad[0], w->in[0]);
    if (status == TD_OK) status = td_view_narrow(&from, rows, 2, w->pad[1], w->in[1]);
    if (status == TD_OK) status = td_view_sizes(&to, out, 3, inner);
    if (status == TD_OK) status = td_copy(to, from);
    td_tensor_free(to);
    td_tensor_free(from);
    td_tensor_free(rows);
    td_tensor_free(padded);
    return status;
}

/* col2im(self, output_size, kernel_size, dilation, padding, stride): the adjoint */
td_status td_op_col2im(td_call *call)
{
    int n = SELF->ndim;
    td_windows w;
    td_tensor *dense;
    if (td_is_half(SELF)) return td_sums_in_float(call, 0, td_op_col2im);
    TD_TRY(read_pair(call, 1, "output_size", 1, w.in));
    TD_TRY(read_windows(&w, call, 2));
    int64_t places = w.kernel[0] * w.kernel[1];
    if ((n != 2 && n != 3) || SELF->sizes[n - 2] == 0 || SELF->sizes[n - 2] % places)
        return bad_input(SELF, "2D or 3D (batch mode) tensor for fold whose rows are divisible by "
                               "the product of kernel_size");
    if (SELF->sizes[n - 1] != w.cells)
        return td_fail(
            TD_RUNTIME_ERROR,
            "fold: given output_size=(%lld, %lld), expected the input's last dimension to match "
            "the number of windows %lld * %lld = %lld, but got input.size(-1)=%lld",
            LL(w.in[0]), LL(w.in[1]), LL(w.count[0]), LL(w.count[1]), LL(w.cells),
            LL(SELF->sizes[n - 1]));
    int64_t sizes[] = {SELF->sizes[0], SELF->sizes[n - 2] / places, w.in[0], w.in[1]};
    TD_TRY(td_tensor_empty(OUT, (td_dtype)SELF->dtype, (td_device)SELF->device, n + 1,
                           n == 3 ? sizes : sizes + 1));
    if (td_is_meta(SELF) || call->out[0]->numel == 0) return TD_OK;
    TD_TRY(td_contiguous(&dense, SELF));
    td_status status = SELF->device == TD_CPU
                           ? td_windows_run(&w, call->out[0], dense,
                                            call->out[0]->numel / (w.in[0] * w.in[1]), true)
                           : add_windows(&w, dense, call->out[0]);
    td_tensor_free(dense);
    return status;
}
