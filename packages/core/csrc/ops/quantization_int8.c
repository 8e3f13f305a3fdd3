/* quantization_int8.c - floats as integers of 8 bits, and layers on them with matrices that are
 * packed once. */
#include <math.h>
#include "cpu/quantization/int8_layers_run.h"
#include "cpu/quantization/steps_run.h"
#include "ops/quantization_range.h"
#include "runtime/op.h"

/* ---- _quantize_int8(self, scale, zero_point, dtype) ---- */

static td_status check_numbers(const char *op, const td_tensor *t, td_dtype dtype)
{
    if (t->dtype == dtype) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR, "%s: wanted %s, but got %s", op, td_dtypes[dtype].name,
                   td_dtypes[t->dtype].name);
}

static td_status check_scale(const char *op, double scale)
{
    float single = (float)scale;
    if (isfinite(single) && single > 0 && isfinite(1 / single)) return TD_OK;
    const char *why = scale > 0 ? ": it and 1 / scale are float32, from 2.94e-39 to 3.4e38" : "";
    return td_fail(TD_RUNTIME_ERROR, "%s: wanted a finite scale above 0, but got %g%s", op, scale,
                   why);
}

static td_status check_zero(const char *op, int64_t zero, bool with_sign)
{
    int64_t low = with_sign ? -128 : 0;
    if (zero >= low && zero <= low + 255) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR, "%s: zero_point %lld is out of the range %lld to %lld", op,
                   (long long)zero, (long long)low, (long long)(low + 255));
}

static td_status check_bytes(const char *op, td_dtype dtype)
{
    if (dtype == TD_U8 || dtype == TD_I8) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR, "%s: wanted integers of uint8 or int8, but got %s", op,
                   td_dtypes[dtype].name);
}

/* numbers in the order of memory, as td_tensor_empty_like keeps it */
static td_status as_it_lies(td_tensor **out, const td_tensor *x)
{
    return td_is_dense(x) ? td_cast(out, x, (td_dtype)x->dtype) : td_contiguous(out, x);
}

td_status td_op__quantize_int8(td_call *call)
{
    static const char op[] = "_quantize_int8";
    const td_tensor *x = TD_TENSOR(0);
    td_dtype dtype = TD_DTYPE_OR(3, TD_U8);
    td_tensor *dense, **out = &call->out[0];
    TD_TRY(check_numbers(op, x, TD_F32));
    TD_TRY(check_bytes(op, dtype));
    TD_TRY(check_scale(op, TD_FLOAT(1)));
    TD_TRY(check_zero(op, TD_INT(2), dtype == TD_I8));
    TD_TRY(td_tensor_empty_like(out, x, dtype));
    if (td_is_meta(x) || x->numel == 0) return TD_OK;
    TD_TRY(as_it_lies(&dense, x));
    td_steps steps = td_steps_of((float)TD_FLOAT(1), TD_INT(2), dtype == TD_I8);
    td_steps_quantize(&steps, td_data(dense), x->numel, td_data(*out));
    td_tensor_free(dense);
    return TD_OK;
}

/* ---- _dequantize_int8(self, scale, zero_point) ---- */

td_status td_op__dequantize_int8(td_call *call)
{
    static const char op[] = "_dequantize_int8";
    const td_tensor *x = TD_TENSOR(0);
    bool with_sign = x->dtype == TD_I8;
    td_tensor *dense, **out = &call->out[0];
    TD_TRY(check_bytes(op, (td_dtype)x->dtype));
    TD_TRY(check_scale(op, TD_FLOAT(1)));
    TD_TRY(check_zero(op, TD_INT(2), with_sign));
    TD_TRY(td_tensor_empty_like(out, x, TD_F32));
    if (td_is_meta(x) || x->numel == 0) return TD_OK;
    TD_TRY(as_it_lies(&dense, x));
    td_steps_floats(td_data(dense), (float)TD_FLOAT(1), TD_INT(2), with_sign, x->numel,
                    td_data(*out));
    td_tensor_free(dense);
    return TD_OK;
}

/* ---- _int8_pack(self, groups) -> (panels, sums) ---- */

static td_status pack(const td_tensor *x, int64_t groups, td_tensor *panels, td_tensor *sums)
{
    td_tensor *dense;
    TD_TRY(td_contiguous(&dense, x));
    td_int8_pack(td_data(dense), groups, x->sizes[0] / groups, x->sizes[1], td_data(panels),
                 td_data(sums));
    td_tensor_free(dense);
    return TD_OK;
}

static int64_t up(int64_t n, int64_t by) { return (n + by - 1) / by; }

td_status td_op__int8_pack(td_call *call)
{
    const td_tensor *x = TD_TENSOR(0);
    int64_t groups = TD_INT(1);
    char text[TD_SHAPE_TEXT];
    if (x->dtype != TD_I8 || x->ndim != 2 || x->numel == 0)
        return td_fail(
            TD_RUNTIME_ERROR,
            "_int8_pack: wanted a matrix of int8 with at least one number, but got %s of shape %s",
            td_dtypes[x->dtype].name, td_shape_text(x->ndim, x->sizes, text));
    if (groups < 1 || x->sizes[0] % groups)
        return td_fail(TD_RUNTIME_ERROR, "_int8_pack: %lld groups do not divide %lld rows",
                       (long long)groups, (long long)x->sizes[0]);
    int64_t sizes[] = {groups, up(x->sizes[0] / groups, TD_PANEL), up(x->sizes[1], TD_WORD),
                       TD_PANEL * TD_WORD};
    TD_TRY(td_tensor_empty(&call->out[0], TD_I8, (td_device)x->device, 4, sizes));
    TD_TRY(td_tensor_empty(&call->out[1], TD_I32, (td_device)x->device, 1, x->sizes));
    return td_is_meta(x) ? TD_OK : pack(x, groups, call->out[0], call->out[1]);
}

/* ---- layers: what they are given ---- */

enum { INPUT, PANELS, SUMS, SCALES, ZEROS, BIAS, GIVEN };

/* The arguments that layers share, dense, and the matrix they make. */
typedef struct layer {
    const char *op;
    td_tensor *dense[GIVEN];
    td_int8_matrix w;
    td_int8_results out;
} layer;

static void layer_end(layer *a)
{
    for (int i = 0; i < GIVEN; i++) td_tensor_free(a->dense[i]);
}

static td_status vector(layer *a, int which, const char *name, const td_tensor *t, td_dtype dtype)
{
    char text[TD_SHAPE_TEXT];
    bool one = which == SCALES && t->ndim == 1 && t->sizes[0] == 1;
    if (t->dtype != dtype || t->ndim != 1 || (t->sizes[0] != a->w.n && !one))
        return td_fail(TD_RUNTIME_ERROR,
                       "%s: %s must be %lld numbers of %s, but got %s of shape %s", a->op, name,
                       (long long)a->w.n, td_dtypes[dtype].name, td_dtypes[t->dtype].name,
                       td_shape_text(t->ndim, t->sizes, text));
    return td_contiguous(&a->dense[which], t);
}

/* Panels (panels, words, 16, 4) hold 16 channels, each a group and a result of its own. */
static bool is_depthwise(const td_tensor *panels)
{
    return panels->ndim == 4 && panels->sizes[2] == TD_PANEL && panels->sizes[3] == TD_WORD;
}

static td_status check_depthwise(const layer *a, const td_tensor *panels, int64_t channels,
                                 bool zeros)
{
    if (panels->dtype == TD_I8 && a->w.n == channels && !zeros &&
        panels->sizes[0] == up(channels, TD_PANEL) && panels->sizes[1] == up(a->w.k, TD_WORD))
        return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "%s: depthwise panels want one row of %lld numbers of int8 for each of %lld "
                   "channels and no zero points, but got %lld rows, panels of %lld by %lld%s",
                   a->op, (long long)a->w.k, (long long)channels, (long long)a->w.n,
                   (long long)panels->sizes[0], (long long)panels->sizes[1],
                   zeros ? ", and zero points" : "");
}

static td_status check_panels(const layer *a, const td_tensor *t)
{
    char text[TD_SHAPE_TEXT];
    bool fits = t->dtype == TD_I8 && t->ndim == 4 && t->sizes[0] > 0 && a->w.n % t->sizes[0] == 0 &&
                a->w.n > 0 && t->sizes[1] == up(a->w.n / t->sizes[0], TD_PANEL) &&
                t->sizes[2] == up(a->w.k, TD_WORD) && t->sizes[3] == TD_PANEL * TD_WORD;
    if (fits) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "%s: panels of shape %s and type %s do not fit a weight of %lld rows of %lld "
                   "numbers: _int8_pack makes them",
                   a->op, td_shape_text(t->ndim, t->sizes, text), td_dtypes[t->dtype].name,
                   (long long)a->w.n, (long long)a->w.k);
}

/* args: panels, sums, scales, zeros, bias, one after the other */
static td_status take_matrix(layer *a, const td_call *call, int at, bool depthwise)
{
    const td_tensor *sums = TD_TENSOR(at + 1), *zeros = TD_OPT_TENSOR(at + 3),
                    *bias = TD_OPT_TENSOR(at + 4);
    a->w.n = sums->ndim == 1 ? sums->sizes[0] : 0;
    if (depthwise) TD_TRY(check_depthwise(a, TD_TENSOR(at), TD_TENSOR(0)->sizes[4], zeros));
    else TD_TRY(check_panels(a, TD_TENSOR(at)));
    TD_TRY(td_contiguous(&a->dense[PANELS], TD_TENSOR(at)));
    TD_TRY(vector(a, SUMS, "sums", sums, TD_I32));
    TD_TRY(vector(a, SCALES, "scales", TD_TENSOR(at + 2), TD_F32));
    if (zeros) TD_TRY(vector(a, ZEROS, "zero_points", zeros, TD_I32));
    if (bias) TD_TRY(vector(a, BIAS, "bias", bias, TD_F32));
    a->w.groups = depthwise ? 1 : TD_TENSOR(at)->sizes[0];
    a->w.each = TD_TENSOR(at + 2)->sizes[0] != 1;
    if (td_is_meta(sums)) return TD_OK;
    a->w.panels = td_data(a->dense[PANELS]);
    a->w.sums = td_data(a->dense[SUMS]);
    a->w.scales = td_data(a->dense[SCALES]);
    a->w.zeros = zeros ? td_data(a->dense[ZEROS]) : NULL;
    a->w.bias = bias ? td_data(a->dense[BIAS]) : NULL;
    return TD_OK;
}

static td_status check_features(const layer *a, const td_tensor *x)
{
    if (x->ndim > 0 && x->sizes[x->ndim - 1] == a->w.k && a->w.k > 0) return TD_OK;
    char text[TD_SHAPE_TEXT];
    return td_fail(TD_RUNTIME_ERROR, "%s: wanted %lld input features, but got a tensor of shape %s",
                   a->op, (long long)a->w.k, td_shape_text(x->ndim, x->sizes, text));
}

static td_status make_rows(const layer *a, const td_tensor *x, td_dtype dtype, td_tensor **out)
{
    int64_t sizes[TD_MAX_DIMS];
    for (int d = 0; d < x->ndim; d++) sizes[d] = x->sizes[d];
    sizes[x->ndim - 1] = a->w.n;
    return td_tensor_empty(out, dtype, (td_device)x->device, x->ndim, sizes);
}

static td_status check_facts(const char *op, double scale, int64_t zero, bool with_sign)
{
    TD_TRY(check_scale(op, scale));
    return check_zero(op, zero, with_sign);
}

/* ---- _int8_linear(self, self_scale, self_zero_point, panels, sums, scales, zero_points, bias,
 *                   features, scale, zero_point, relu) ---- */

static td_status linear(layer *a, const td_call *call, td_tensor **out)
{
    const td_tensor *x = TD_TENSOR(0);
    bool with_sign = x->dtype == TD_I8;
    TD_TRY(check_bytes(a->op, (td_dtype)x->dtype));
    TD_TRY(check_features(a, x));
    TD_TRY(take_matrix(a, call, 3, false));
    TD_TRY(check_facts(a->op, TD_FLOAT(1), TD_INT(2), with_sign));
    TD_TRY(check_facts(a->op, TD_FLOAT(9), TD_INT(10), with_sign));
    TD_TRY(make_rows(a, x, (td_dtype)x->dtype, out));
    if (td_is_meta(x) || (*out)->numel == 0) return TD_OK;
    TD_TRY(td_contiguous(&a->dense[INPUT], x));
    td_int8_numbers in = {td_data(a->dense[INPUT]), (float)TD_FLOAT(1), TD_INT(2), with_sign};
    td_int8_results to = {
        {td_data(*out), (float)TD_FLOAT(9), TD_INT(10), with_sign}, false, TD_BOOLEAN(11)};
    return td_int8_linear(&a->w, &in, x->numel / a->w.k, &to);
}

td_status td_op__int8_linear(td_call *call)
{
    layer a = {.op = "_int8_linear", .w.k = TD_INT(8)};
    td_status status = linear(&a, call, &call->out[0]);
    layer_end(&a);
    return status;
}

/* ---- _int8_linear_dynamic(self, panels, sums, scales, zero_points, bias, features, reduce_range,
 *                           relu) ---- */

static td_status linear_dynamic(layer *a, const td_call *call, td_tensor **out)
{
    const td_tensor *x = TD_TENSOR(0);
    float ends[2], scale;
    int64_t zero;
    TD_TRY(check_numbers(a->op, x, TD_F32));
    TD_TRY(check_features(a, x));
    TD_TRY(take_matrix(a, call, 1, false));
    TD_TRY(make_rows(a, x, TD_F32, out));
    if (td_is_meta(x) || (*out)->numel == 0) return TD_OK;
    TD_TRY(td_contiguous(&a->dense[INPUT], x));
    const void *numbers = td_data(a->dense[INPUT]);
    if (!td_steps_range(numbers, x->numel, ends))
        return td_fail(TD_RUNTIME_ERROR,
                       "quantization wants finite numbers, but the range of the input is %g to %g",
                       ends[0], ends[1]);
    td_choose_parameters(ends, TD_BOOLEAN(7) ? 127 : 255, &scale, &zero);
    td_int8_results to = {{td_data(*out), 1, 0, false}, true, TD_BOOLEAN(8)};
    return td_int8_linear_floats(&a->w, numbers, scale, zero, x->numel / a->w.k, &to);
}

td_status td_op__int8_linear_dynamic(td_call *call)
{
    layer a = {.op = "_int8_linear_dynamic", .w.k = TD_INT(6)};
    td_status status = linear_dynamic(&a, call, &call->out[0]);
    layer_end(&a);
    return status;
}

/* ---- _int8_conv(self, self_scale, self_zero_point, panels, sums, scales, zero_points, bias,
 *                 kernel, stride, padding, dilation, scale, zero_point, relu, dtype) ---- */

#define FAR INT32_MAX /* no step or window is wider, so products fit */

static td_status check_list(const char *op, const char *name, const td_call *call, int at,
                            int least)
{
    const int64_t *n = TD_INTS(at);
    bool fits = TD_LEN(at) == 3;
    for (int d = 0; fits && d < 3; d++) fits = n[d] >= least && n[d] < FAR;
    if (fits) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR, "%s: %s must be three numbers of at least %d", op, name,
                   least);
}

static td_status fill_windows(const char *op, const td_call *call, td_int8_windows *g)
{
    const td_tensor *x = TD_TENSOR(0);
    g->samples = x->sizes[0], g->channels = x->sizes[4];
    for (int d = 0; d < 3; d++) {
        g->in[d] = x->sizes[d + 1];
        g->kernel[d] = TD_INTS(8)[d], g->stride[d] = TD_INTS(9)[d];
        g->padding[d] = TD_INTS(10)[d], g->dilation[d] = TD_INTS(11)[d];
        int64_t reach = g->dilation[d] * (g->kernel[d] - 1) + 1,
                room = g->in[d] + 2 * g->padding[d] - reach;
        if (g->in[d] >= FAR || room < 0)
            return td_fail(TD_RUNTIME_ERROR,
                           "%s: a window of %lld does not fit into %lld places with %lld around",
                           op, (long long)reach, (long long)g->in[d], (long long)g->padding[d]);
        g->out[d] = room / g->stride[d] + 1;
    }
    return TD_OK;
}

static td_status windows(layer *a, const td_call *call, td_int8_windows *g)
{
    const td_tensor *x = TD_TENSOR(0), *panels = TD_TENSOR(3);
    char text[TD_SHAPE_TEXT];
    bool depthwise = is_depthwise(panels);
    int64_t groups = panels->ndim == 4 && panels->sizes[0] > 0 && !depthwise ? panels->sizes[0] : 1;
    if (x->ndim != 5 || x->sizes[4] == 0 || x->sizes[4] % groups)
        return td_fail(TD_RUNTIME_ERROR,
                       "%s: wanted (samples, three places, channels in %lld groups), but got %s",
                       a->op, (long long)groups, td_shape_text(x->ndim, x->sizes, text));
    TD_TRY(check_list(a->op, "kernel", call, 8, 1));
    TD_TRY(check_list(a->op, "stride", call, 9, 1));
    TD_TRY(check_list(a->op, "padding", call, 10, 0));
    TD_TRY(check_list(a->op, "dilation", call, 11, 1));
    TD_TRY(fill_windows(a->op, call, g));
    a->w.k = depthwise ? 1 : x->sizes[4] / groups;
    for (int d = 0; d < 3; d++)
        if (__builtin_mul_overflow(a->w.k, g->kernel[d], &a->w.k))
            return td_fail(TD_RUNTIME_ERROR, "%s: the window is too large", a->op);
    return TD_OK;
}

static td_status conv(layer *a, const td_call *call, td_tensor **out)
{
    const td_tensor *x = TD_TENSOR(0);
    td_dtype dtype = TD_DTYPE_OR(15, (td_dtype)x->dtype);
    bool depthwise = is_depthwise(TD_TENSOR(3));
    td_int8_windows g;
    TD_TRY(check_bytes(a->op, (td_dtype)x->dtype));
    TD_TRY(check_bytes(a->op, dtype));
    TD_TRY(windows(a, call, &g));
    TD_TRY(take_matrix(a, call, 3, depthwise));
    TD_TRY(check_facts(a->op, TD_FLOAT(1), TD_INT(2), x->dtype == TD_I8));
    TD_TRY(check_facts(a->op, TD_FLOAT(12), TD_INT(13), dtype == TD_I8));
    TD_TRY(td_tensor_empty(out, dtype, (td_device)x->device, 5,
                           (int64_t[]){g.samples, g.out[0], g.out[1], g.out[2], a->w.n}));
    if (td_is_meta(x) || (*out)->numel == 0) return TD_OK;
    TD_TRY(td_contiguous(&a->dense[INPUT], x));
    td_int8_numbers in = {td_data(a->dense[INPUT]), (float)TD_FLOAT(1), TD_INT(2),
                          x->dtype == TD_I8};
    td_int8_results to = {
        {td_data(*out), (float)TD_FLOAT(12), TD_INT(13), dtype == TD_I8}, false, TD_BOOLEAN(14)};
    return (depthwise ? td_int8_depthwise : td_int8_conv)(&a->w, &in, &g, &to);
}

td_status td_op__int8_conv(td_call *call)
{
    layer a = {.op = "_int8_conv"};
    td_status status = conv(&a, call, &call->out[0]);
    layer_end(&a);
    return status;
}
