/* quantization_pool.c - the largest integers of windows, and their averages. */
#include "cpu/quantization/int8_pool_run.h"
#include "runtime/op.h"

/* ---- _int8_pool(self, zero_point, planes, lines, columns, largest, divisor) ---- */

static const char op[] = "_int8_pool";

static td_status check_input(const td_tensor *x)
{
    char text[TD_SHAPE_TEXT];
    bool fits = (x->dtype == TD_U8 || x->dtype == TD_I8) && x->ndim == 5;
    if (fits && x->sizes[4] > 0) return TD_OK;
    return td_fail(
        TD_RUNTIME_ERROR,
        "%s: wanted uint8 or int8 (samples, three places, channels), but got %s of shape %s", op,
        td_dtypes[x->dtype].name, td_shape_text(x->ndim, x->sizes, text));
}

static td_status check_zero(const td_tensor *x, int64_t zero)
{
    int64_t low = x->dtype == TD_I8 ? -128 : 0;
    if (zero >= low && zero <= low + 255) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR, "%s: zero_point %lld is out of the range %lld to %lld", op,
                   (long long)zero, (long long)low, (long long)(low + 255));
}

/* three numbers for each output along an axis; *most: places of the longest span, at least 1 */
static td_status take_spans(td_int8_pool *p, const td_call *call, int axis, int64_t *most)
{
    int64_t size = p->in[axis], count = TD_LEN(2 + axis) / 3;
    const td_int8_span *spans = (const td_int8_span *)TD_INTS(2 + axis);
    bool fits = TD_LEN(2 + axis) % 3 == 0 && count > 0;
    for (int64_t i = 0; fits && i < count; i++) {
        const td_int8_span *s = spans + i;
        fits = s->first >= 0 && s->first <= size && s->end >= 0 && s->end <= size && s->count > 0 &&
               s->count <= TD_POOL_TAPS;
        if (fits && s->end - s->first > *most) *most = s->end - s->first;
        if (fits && s->count > *most) *most = s->count;
    }
    p->spans[axis] = spans;
    p->out[axis] = count;
    if (fits) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "%s: axis %d wants for each output where its window begins and ends in %lld "
                   "places, and a count above 0",
                   op, axis, (long long)size);
}

static td_status take_windows(td_int8_pool *p, const td_call *call, double *taps)
{
    *taps = 1;
    for (int axis = 0; axis < 3; axis++) {
        int64_t most = 1;
        p->in[axis] = TD_TENSOR(0)->sizes[axis + 1];
        TD_TRY(take_spans(p, call, axis, &most));
        *taps *= (double)most;
    }
    if (*taps <= TD_POOL_TAPS) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR, "%s: a window of %g places is too large; at most %d fit", op,
                   *taps, TD_POOL_TAPS);
}

td_status td_op__int8_pool(td_call *call)
{
    const td_tensor *x = TD_TENSOR(0);
    td_tensor *dense, **out = &call->out[0];
    double taps;
    TD_TRY(check_input(x));
    TD_TRY(check_zero(x, TD_INT(1)));
    td_int8_pool p = {
        .channels = x->sizes[4], .largest = TD_BOOLEAN(5), .divisor = TD_INT(6), .zero = TD_INT(1)};
    TD_TRY(take_windows(&p, call, &taps));
    TD_TRY(td_tensor_empty(out, (td_dtype)x->dtype, (td_device)x->device, 5,
                           (int64_t[]){x->sizes[0], p.out[0], p.out[1], p.out[2], p.channels}));
    if (td_is_meta(x) || (*out)->numel == 0) return TD_OK;
    TD_TRY(td_contiguous(&dense, x));
    td_int8_pool_run(&p, td_data(dense), td_data(*out), x->dtype == TD_I8, x->sizes[0],
                     taps * (double)(*out)->numel);
    td_tensor_free(dense);
    return TD_OK;
}
