/* resample_grid.c - _grid_sample: values of images and volumes at the places of a grid, and what
 * the images and the grid get back. */
#include "cpu/resample_grid.h"
#include "runtime/device.h"
#include "runtime/op.h"
#include "runtime/work.h"

/* What both directions are called with. */
typedef struct sampling {
    const char *name;
    const td_tensor *in, *grid, *by_out; /* by_out: NULL in the forward direction */
    td_grid_mode mode;
    td_grid_padding padding;
    bool align;
} sampling;

static td_status check_shapes(const sampling *s)
{
    char input[TD_SHAPE_TEXT], grid[TD_SHAPE_TEXT];
    int dims = s->in->ndim - 2;
    bool fits = (dims == 2 || dims == 3) && s->grid->ndim == s->in->ndim &&
                s->grid->sizes[0] == s->in->sizes[0] && s->grid->sizes[dims + 1] == dims;
    for (int d = 0; d < dims && fits; d++) fits = s->in->sizes[2 + d] > 0;
    if (fits) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "%s: wanted an input (N, C, H, W) or (N, C, D, H, W) and a grid (N, ..., 2 or "
                   "3), got %s and %s",
                   s->name, td_shape_text(s->in->ndim, s->in->sizes, input),
                   td_shape_text(s->grid->ndim, s->grid->sizes, grid));
}

static td_status check(const sampling *s)
{
    TD_TRY(check_shapes(s));
    int dims = s->in->ndim - 2, dtype = s->in->dtype;
    if (dtype != s->grid->dtype || (dtype != TD_F32 && dtype != TD_F64))
        return td_fail(TD_NOT_IMPLEMENTED,
                       "%s: wanted an input and a grid of float32 or of float64, got %s and %s",
                       s->name, td_dtypes[dtype].name, td_dtypes[s->grid->dtype].name);
    int mode = (int)s->mode, padding = (int)s->padding;
    if (mode < 0 || mode > (dims == 2 ? TD_SAMPLE_CUBIC : TD_SAMPLE_NEAREST) || padding < 0 ||
        padding > TD_OUTSIDE_REFLECTED)
        return td_fail(TD_RUNTIME_ERROR, "%s: no mode %d with padding %d in %d dimensions", s->name,
                       mode, padding, dims);
    return TD_OK;
}

static void result_sizes(const sampling *s, int64_t sizes[5])
{
    for (int d = 0; d < s->in->ndim; d++)
        sizes[d] = d < 2 ? s->in->sizes[d] : s->grid->sizes[d - 1];
}

static td_status fill(td_grid *g, const sampling *s)
{
    *g = (td_grid){.dims = s->in->ndim - 2,
                   .mode = s->mode,
                   .padding = s->padding,
                   .align = s->align,
                   .channels = s->in->sizes[1],
                   .plane = 1,
                   .places = 1};
    for (int d = 0; d < g->dims; d++) {
        g->sizes[d] = s->in->sizes[2 + d];
        g->places *= s->grid->sizes[1 + d];
        if (td_mul_overflows(g->plane, g->sizes[d], &g->plane) || g->plane > INT32_MAX)
            return td_fail(TD_NOT_IMPLEMENTED, "%s: a channel of more than 2^31 numbers", s->name);
    }
    return TD_OK;
}

/* by the processor's threads, or the kernels of the device where the tensors lie */
static td_status compute(const td_grid *g, const sampling *s)
{
    int64_t samples = s->in->sizes[0];
    bool wide = s->in->dtype == TD_F64;
    if (!td_on_host(s->in))
        return td_work_run(TD_WORK_GRID, &(td_grid_job){g, samples, wide}, (td_device)s->in->device,
                           "sampling by a grid");
    if (s->by_out) td_grid_run_backward(g, samples, wide);
    else td_grid_run(g, samples, wide);
    return TD_OK;
}

/* ---- values ---- */

static td_status run(td_call *call, const sampling *s, td_tensor *rows[2])
{
    td_grid g;
    TD_TRY(fill(&g, s));
    TD_TRY(td_contiguous(&rows[0], s->in));
    TD_TRY(td_contiguous(&rows[1], s->grid));
    g.in = td_data(rows[0]);
    g.grid = td_data(rows[1]);
    g.out = td_data(call->out[0]);
    return compute(&g, s);
}

/* (input, grid, mode, padding_mode, align_corners) -> values */
td_status td_op__grid_sample(td_call *call)
{
    sampling s = {.name = "_grid_sample",
                  .in = TD_TENSOR(0),
                  .grid = TD_TENSOR(1),
                  .mode = (td_grid_mode)TD_INT(2),
                  .padding = (td_grid_padding)TD_INT(3),
                  .align = TD_BOOLEAN(4)};
    int64_t sizes[5];
    td_tensor *rows[2] = {NULL, NULL};
    TD_TRY(check(&s));
    result_sizes(&s, sizes);
    TD_TRY(td_tensor_empty(&call->out[0], (td_dtype)s.in->dtype, (td_device)s.in->device,
                           s.in->ndim, sizes));
    if (td_is_meta(s.in) || call->out[0]->numel == 0) return TD_OK;
    td_status status = run(call, &s, rows);
    for (int k = 0; k < 2; k++) td_tensor_free(rows[k]);
    return status;
}

/* ---- gradients ---- */

static td_status check_gradient(const sampling *s)
{
    char got[TD_SHAPE_TEXT], wanted[TD_SHAPE_TEXT];
    int64_t sizes[5];
    result_sizes(s, sizes);
    bool fits = s->by_out->ndim == s->in->ndim && s->by_out->dtype == s->in->dtype;
    for (int d = 0; d < s->in->ndim && fits; d++) fits = s->by_out->sizes[d] == sizes[d];
    if (fits) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR, "%s: wanted grad_output %s of %s, got %s of %s", s->name,
                   td_shape_text(s->in->ndim, sizes, wanted), td_dtypes[s->in->dtype].name,
                   td_shape_text(s->by_out->ndim, s->by_out->sizes, got),
                   td_dtypes[s->by_out->dtype].name);
}

static td_status zeros_of(td_tensor **out, const td_tensor *like)
{
    td_scalar zero = td_scalar_int(0);
    TD_TRY(td_tensor_empty(out, (td_dtype)like->dtype, (td_device)like->device, like->ndim,
                           like->sizes));
    return td_fill(*out, &zero);
}

static td_status run_backward(td_call *call, const sampling *s, td_tensor *rows[3])
{
    td_grid g;
    TD_TRY(fill(&g, s));
    const td_tensor *in[3] = {s->in, s->grid, s->by_out};
    for (int k = 0; k < 3; k++) TD_TRY(td_contiguous(&rows[k], in[k]));
    g.in = td_data(rows[0]);
    g.grid = td_data(rows[1]);
    g.by_out = td_data(rows[2]);
    g.by_in = call->out[0] ? td_data(call->out[0]) : NULL;
    /* the nearest pixel is the same all around: the grid's gradient stays 0 */
    g.by_grid = call->out[1] && s->mode != TD_SAMPLE_NEAREST ? td_data(call->out[1]) : NULL;
    return compute(&g, s);
}

/* (grad_output, input, grid, mode, padding_mode, align_corners, output_mask) -> by input, by grid
 */
td_status td_op__grid_sample_backward(td_call *call)
{
    sampling s = {.name = "_grid_sample_backward",
                  .by_out = TD_TENSOR(0),
                  .in = TD_TENSOR(1),
                  .grid = TD_TENSOR(2),
                  .mode = (td_grid_mode)TD_INT(3),
                  .padding = (td_grid_padding)TD_INT(4),
                  .align = TD_BOOLEAN(5)};
    const int64_t *mask = TD_INTS(6);
    const td_tensor *like[2] = {s.in, s.grid};
    td_tensor *rows[3] = {NULL, NULL, NULL};
    TD_TRY(check(&s));
    TD_TRY(check_gradient(&s));
    for (int k = 0; k < 2; k++)
        if (mask[k]) TD_TRY(zeros_of(&call->out[k], like[k]));
    if (td_is_meta(s.in) || s.by_out->numel == 0) return TD_OK;
    td_status status = run_backward(call, &s, rows);
    for (int k = 0; k < 3; k++) td_tensor_free(rows[k]);
    return status;
}
