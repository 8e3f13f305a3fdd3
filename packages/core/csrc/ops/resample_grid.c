/* resample_grid.c - _grid_sample: values of images and volumes at the places of a grid. */
#include "cpu/resample_grid.h"
#include "runtime/op.h"

#define INPUT TD_TENSOR(0)
#define GRID TD_TENSOR(1)
#define OUT (&call->out[0])

static td_status check(const td_call *call)
{
    char input[TD_SHAPE_TEXT], grid[TD_SHAPE_TEXT];
    int64_t mode = TD_INT(2), padding = TD_INT(3);
    int dims = INPUT->ndim - 2;
    bool fits = (dims == 2 || dims == 3) && GRID->ndim == INPUT->ndim &&
                GRID->sizes[0] == INPUT->sizes[0] && GRID->sizes[dims + 1] == dims;
    for (int d = 0; d < dims && fits; d++) fits = INPUT->sizes[2 + d] > 0;
    if (!fits)
        return td_fail(TD_RUNTIME_ERROR,
                       "_grid_sample: wanted an input (N, C, H, W) or (N, C, D, H, W) and a grid "
                       "(N, ..., 2 or 3), got %s and %s",
                       td_shape_text(INPUT->ndim, INPUT->sizes, input),
                       td_shape_text(GRID->ndim, GRID->sizes, grid));
    if (INPUT->dtype != GRID->dtype || (INPUT->dtype != TD_F32 && INPUT->dtype != TD_F64))
        return td_fail(
            TD_NOT_IMPLEMENTED,
            "_grid_sample: wanted an input and a grid of float32 or of float64, got %s and %s",
            td_dtypes[INPUT->dtype].name, td_dtypes[GRID->dtype].name);
    if (mode < 0 || mode > (dims == 2 ? TD_SAMPLE_CUBIC : TD_SAMPLE_NEAREST) || padding < 0 ||
        padding > TD_OUTSIDE_REFLECTED)
        return td_fail(TD_RUNTIME_ERROR,
                       "_grid_sample: no mode %lld with padding %lld in %d dimensions",
                       (long long)mode, (long long)padding, dims);
    return TD_OK;
}

static td_status run(td_call *call, const td_tensor *in, const td_tensor *grid)
{
    td_grid s = {.dims = in->ndim - 2,
                 .mode = (td_grid_mode)TD_INT(2),
                 .padding = (td_grid_padding)TD_INT(3),
                 .align = TD_BOOLEAN(4),
                 .channels = in->sizes[1],
                 .plane = 1,
                 .places = 1,
                 .in = td_data(in),
                 .grid = td_data(grid),
                 .out = td_data(call->out[0])};
    for (int d = 0; d < s.dims; d++) {
        s.sizes[d] = in->sizes[2 + d];
        s.places *= grid->sizes[1 + d];
        if (td_mul_overflows(s.plane, s.sizes[d], &s.plane) || s.plane > INT32_MAX)
            return td_fail(TD_NOT_IMPLEMENTED, "_grid_sample: a channel of more than 2^31 numbers");
    }
    td_grid_run(&s, in->sizes[0], in->dtype == TD_F64);
    return TD_OK;
}

td_status td_op__grid_sample(td_call *call)
{
    int64_t sizes[5];
    td_tensor *in, *grid;
    TD_TRY(check(call));
    for (int d = 0; d < INPUT->ndim; d++) sizes[d] = d < 2 ? INPUT->sizes[d] : GRID->sizes[d - 1];
    TD_TRY(
        td_tensor_empty(OUT, (td_dtype)INPUT->dtype, (td_device)INPUT->device, INPUT->ndim, sizes));
    if (td_is_meta(INPUT) || call->out[0]->numel == 0) return TD_OK;
    TD_TRY(td_contiguous(&in, INPUT));
    td_status status = td_contiguous(&grid, GRID);
    if (status == TD_OK) {
        status = run(call, in, grid);
        td_tensor_free(grid);
    }
    td_tensor_free(in);
    return status;
}
