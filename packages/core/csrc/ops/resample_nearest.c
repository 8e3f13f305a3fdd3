/* resample_nearest.c - upsample_nearest1d to 3d and their exact forms: every output is one input.
 */
#include <math.h>
#include "ops/indexing/index.h"
#include "ops/layout.h"

#define SELF TD_TENSOR(0)
#define OUT (&call->out[0])
#define LL(x) ((long long)(x))

static const td_index_rule rule = {"upsample_nearest", TD_INDEX_ERROR, false, true};

/* In single precision, as the field does it: which neighbour is nearest depends on the rounding. */
static int64_t source_of(int64_t i, int64_t in, int64_t out, double scale, bool exact)
{
    if (in == out && scale == 0) return i;
    float step = scale > 0 ? (float)(1 / scale) : (float)in / (float)out;
    /* more than an int64 holds, for some scales */
    float at = floorf(((float)i + (exact ? 0.5f : 0.0f)) * step);
    return at < (float)in && (int64_t)at < in ? (int64_t)at : in - 1;
}

/* Sources of one dimension, as an index that broadcasts against those of the others. */
static td_status axis_index(td_tensor **out, int dims, int d, int64_t in, int64_t size,
                            double scale, bool exact)
{
    int64_t sizes[3] = {1, 1, 1};
    sizes[d] = size;
    TD_TRY(td_tensor_empty(out, TD_I64, TD_CPU, dims, sizes));
    /* images: the sizes count, not the factor */
    if (dims == 2 && !exact && (size == in || size == 2 * in)) scale = 0;
    for (int64_t i = 0; i < size; i++)
        ((int64_t *)td_data(*out))[i] = source_of(i, in, size, scale, exact);
    return TD_OK;
}

/* (self, output_size, scales...) or (grad, output_size, input_size, scales...) */
static td_status check(const td_call *call, const char *name, int dims, bool backward)
{
    char shape[TD_SHAPE_TEXT];
    const int64_t *in = backward ? TD_INTS(2) : SELF->sizes;
    bool fits = SELF->ndim == dims + 2 && TD_LEN(1) == dims && (!backward || TD_LEN(2) == dims + 2);
    for (int d = 0; d < dims && fits; d++)
        fits = in[2 + d] > 0 && TD_INTS(1)[d] > 0 &&
               (!backward || SELF->sizes[2 + d] == TD_INTS(1)[d]);
    fits = fits && in[1] > 0 && (!backward || (SELF->sizes[0] == in[0] && SELF->sizes[1] == in[1]));
    if (fits) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "%s: Input and output sizes should be greater than 0 and of %d spatial "
                   "dimensions, but got input %s and output_size of length %lld",
                   name, dims, td_shape_text(SELF->ndim, SELF->sizes, shape), LL(TD_LEN(1)));
}

static td_status plan_of(td_index_plan *plan, const td_call *call, const td_tensor *input, int dims,
                         bool exact, int scales)
{
    td_tensor *at[5] = {0};
    td_status status = TD_OK;
    for (int d = 0; d < dims && status == TD_OK; d++)
        status = axis_index(&at[2 + d], dims, d, input->sizes[2 + d], TD_INTS(1)[d],
                            TD_HAS(scales + d) ? TD_FLOAT(scales + d) : 0, exact);
    if (status == TD_OK) status = td_index_plan_make(plan, input, at, &rule);
    for (int d = 0; d < 5; d++) td_tensor_free(at[d]);
    return status;
}

#define LARGE (1 << 24) /* elements of a result that may be more than memory holds */

static td_status forward(td_call *call, const char *name, int dims, bool exact)
{
    td_index_plan plan;
    int64_t sizes[5] = {SELF->sizes[0], SELF->sizes[1]}, numel;
    TD_TRY(check(call, name, dims, false));
    for (int d = 0; d < dims; d++) sizes[2 + d] = TD_INTS(1)[d];
    TD_TRY(td_numel(dims + 2, sizes, &numel));
    if (td_is_meta(SELF) || numel > LARGE) { /* before a table of places, which takes its time */
        TD_TRY(
            td_tensor_empty(OUT, (td_dtype)SELF->dtype, (td_device)SELF->device, dims + 2, sizes));
        if (td_is_meta(SELF)) return td_match_channels_last(OUT, SELF);
        td_tensor_free(call->out[0]); /* there is memory for it */
        call->out[0] = NULL;
    }
    TD_TRY(plan_of(&plan, call, SELF, dims, exact, 2));
    td_status status = td_index_read(OUT, SELF, &plan);
    td_index_plan_free(&plan);
    return status == TD_OK ? td_match_channels_last(OUT, SELF) : status;
}

static td_status backward(td_call *call, const char *name, int dims, bool exact)
{
    td_index_plan plan;
    td_tensor *grad;
    td_scalar zero = td_scalar_int(0);
    TD_TRY(check(call, name, dims, true));
    TD_TRY(
        td_tensor_empty(OUT, (td_dtype)SELF->dtype, (td_device)SELF->device, dims + 2, TD_INTS(2)));
    if (td_is_meta(SELF)) return td_match_channels_last(OUT, SELF);
    TD_TRY(td_fill(call->out[0], &zero));
    TD_TRY(plan_of(&plan, call, call->out[0], dims, exact, 3));
    td_status status = td_contiguous(&grad, SELF);
    if (status == TD_OK) {
        status = td_index_write(call->out[0], &plan, grad, TD_PUT_ADD, name);
        td_tensor_free(grad);
    }
    td_index_plan_free(&plan);
    return status == TD_OK ? td_match_channels_last(OUT, SELF) : status;
}

#define NEAREST(name, dims, exact)                                                      \
    td_status td_op_##name(td_call *call) { return forward(call, #name, dims, exact); } \
    td_status td_op_##name##_backward(td_call *call) { return backward(call, #name, dims, exact); }
NEAREST(upsample_nearest1d, 1, false)
NEAREST(upsample_nearest2d, 2, false)
NEAREST(upsample_nearest3d, 3, false)
NEAREST(_upsample_nearest_exact1d, 1, true)
NEAREST(_upsample_nearest_exact2d, 2, true)
NEAREST(_upsample_nearest_exact3d, 3, true)
