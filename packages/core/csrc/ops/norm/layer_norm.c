/* layer_norm.c - normalisation over the last dimensions: layer_norm, rms_norm and their gradients.
 */
#include "ops/norm/norm.h"
#include "ops/norm/passes.h"
#include "runtime/device.h"
#include <string.h>

/* ---- shared helpers ---- */

static td_status check_parameter(const char *op, const td_tensor *x, const td_tensor *p)
{
    bool half = x->dtype == TD_F16 || x->dtype == TD_BF16;
    if (!p || p->dtype == x->dtype || (half && p->dtype == TD_F32)) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR, "%s: expected weights of the input's dtype %s, but found %s",
                   op, td_dtypes[x->dtype].name, td_dtypes[p->dtype].name);
}

td_status td_norm_check_dtypes(const char *op, const td_tensor *x, const td_tensor *weight,
                               const td_tensor *bias)
{
    td_dtype d = (td_dtype)x->dtype;
    if (!td_is_floating(d) || td_is_float8(d))
        return td_fail(TD_NOT_IMPLEMENTED,
                       "%s is not implemented for '%s'; it takes floating-point tensors", op,
                       td_dtypes[d].type_name);
    TD_TRY(check_parameter(op, x, weight));
    return check_parameter(op, x, bias);
}

td_status td_norm_convert(td_tensor **t, td_dtype dtype)
{
    td_tensor *converted;
    if (!*t || (*t)->dtype == dtype) return TD_OK;
    td_status status = td_cast(&converted, *t, dtype);
    td_tensor_free(*t);
    *t = status == TD_OK ? converted : NULL;
    return status;
}

static void *data_or_null(const td_tensor *t) { return t ? td_data(t) : NULL; }

/* ---- shapes ---- */

/* Where the normalised dimensions begin, and how many rows and elements a row that gives. */
static td_status split(const char *op, const td_tensor *x, int64_t nshape, const int64_t *shape,
                       int *axis, td_norm_row *job)
{
    char want[TD_SHAPE_TEXT], have[TD_SHAPE_TEXT];
    if (nshape < 1)
        return td_fail(TD_RUNTIME_ERROR,
                       "%s: expected normalized_shape to have at least one dimension, but got []",
                       op);
    *axis = x->ndim - (int)nshape;
    if (*axis < 0 || memcmp(x->sizes + *axis, shape, (size_t)nshape * sizeof *shape) != 0)
        return td_fail(TD_RUNTIME_ERROR,
                       "%s: given normalized_shape=%s, expected an input whose last dimensions are "
                       "that, but got input of size %s",
                       op, td_shape_text((int)nshape, shape, want),
                       td_shape_text(x->ndim, x->sizes, have));
    job->rows = job->n = 1;
    for (int d = 0; d < x->ndim; d++) *(d < *axis ? &job->rows : &job->n) *= x->sizes[d];
    return TD_OK;
}

static td_status check_shape(const char *op, const char *what, const td_tensor *p, int64_t n,
                             const int64_t *shape)
{
    char want[TD_SHAPE_TEXT], have[TD_SHAPE_TEXT];
    if (!p || (p->ndim == n && memcmp(p->sizes, shape, (size_t)n * sizeof *shape) == 0))
        return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "%s: expected %s to be of same shape as normalized_shape, but got %s of shape "
                   "%s and normalized_shape = %s",
                   op, what, what, td_shape_text(p->ndim, p->sizes, have),
                   td_shape_text((int)n, shape, want));
}

/* ---- forward ---- */

static td_status forward(td_call *call, const char *op, td_norm_row *row, int axis,
                         const td_tensor *weight, const td_tensor *bias)
{
    const td_tensor *self = TD_TENSOR(0);
    td_dtype dtype = (td_dtype)self->dtype, compute = td_norm_dtype(self);
    bool meta = td_is_meta(self);
    int64_t stat[TD_MAX_DIMS];
    for (int d = 0; d < self->ndim; d++) stat[d] = d < axis ? self->sizes[d] : 1;
    int nstats = row->centred ? 2 : 1;
    bool narrow = td_on_host(self) && dtype != compute && row->n <= TD_NORM_SHORT;
    td_dtype stored = meta || narrow ? dtype : compute;
    TD_TRY(
        td_tensor_empty(&call->out[0], stored, (td_device)self->device, self->ndim, self->sizes));
    for (int k = 1; k <= nstats;
         k++) /* not rounded to 16 bits: the gradient subtracts nearly equal numbers */
        TD_TRY(td_tensor_empty(&call->out[k], compute, (td_device)self->device, self->ndim, stat));
    if (meta) return TD_OK;
    td_tensor *x, *w = NULL, *b = NULL;
    TD_TRY(td_cast_optional(&x, self, stored));
    td_status status = td_cast_optional(&w, weight, compute);
    if (status == TD_OK) status = td_cast_optional(&b, bias, compute);
    if (status == TD_OK && row->rows) {
        td_norm_forward j = {compute,
                             *row,
                             td_data(call->out[0]),
                             row->centred ? td_data(call->out[1]) : NULL,
                             td_data(call->out[nstats]),
                             td_data(x),
                             data_or_null(w),
                             data_or_null(b),
                             stored};
        status = td_pass_rows(&j, (td_device)self->device);
    }
    td_tensor_free(x);
    td_tensor_free(w);
    td_tensor_free(b);
    return status == TD_OK ? td_norm_convert(&call->out[0], dtype) : status;
}

/* (input, normalized_shape, weight, bias, eps) -> (out, mean, rstd); the last two in the computing
 * dtype */
td_status td_op_native_layer_norm(td_call *call)
{
    int axis;
    td_norm_row row = {.eps = TD_FLOAT(4), .centred = 1};
    const td_tensor *w = TD_OPT_TENSOR(2), *b = TD_OPT_TENSOR(3);
    TD_TRY(td_norm_check_dtypes("layer_norm", TD_TENSOR(0), w, b));
    TD_TRY(split("layer_norm", TD_TENSOR(0), TD_LEN(1), TD_INTS(1), &axis, &row));
    TD_TRY(check_shape("layer_norm", "weight", w, TD_LEN(1), TD_INTS(1)));
    TD_TRY(check_shape("layer_norm", "bias", b, TD_LEN(1), TD_INTS(1)));
    return forward(call, "layer_norm", &row, axis, w, b);
}

/* (input, normalized_shape, weight, eps) -> (out, rstd) */
td_status td_op__fused_rms_norm(td_call *call)
{
    int axis;
    td_norm_row row = {.eps = TD_FLOAT(3)};
    const td_tensor *w = TD_OPT_TENSOR(2);
    TD_TRY(td_norm_check_dtypes("rms_norm", TD_TENSOR(0), w, NULL));
    TD_TRY(split("rms_norm", TD_TENSOR(0), TD_LEN(1), TD_INTS(1), &axis, &row));
    TD_TRY(check_shape("rms_norm", "weight", w, TD_LEN(1), TD_INTS(1)));
    return forward(call, "rms_norm", &row, axis, w, NULL);
}

/* ---- backward ---- */

typedef struct gradients {
    const td_tensor *grad, *x, *mean, *rstd, *weight;
    bool wanted[3]; /* input, weight, bias */
} gradients;

static td_status make_gradients(td_tensor *out[3], const gradients *g, td_dtype dtype,
                                td_dtype of_weight, int64_t nshape, const int64_t *shape, int count)
{
    const td_tensor *x = g->x;
    for (int k = 0; k < count; k++) {
        td_device device = (td_device)x->device;
        if (g->wanted[k])
            TD_TRY(k ? td_tensor_empty(&out[k], of_weight, device, (int)nshape, shape)
                     : td_tensor_empty(&out[k], dtype, device, x->ndim, x->sizes));
    }
    return TD_OK;
}

static td_status backward(td_call *call, const char *op, const gradients *g, int64_t nshape,
                          const int64_t *shape, bool centred)
{
    int axis, count = centred ? 3 : 2;
    td_norm_row row = {.centred = centred};
    td_dtype dtype = (td_dtype)g->x->dtype, compute = td_norm_dtype(g->x);
    TD_TRY(split(op, g->x, nshape, shape, &axis, &row));
    if (!td_same_shape(g->grad, g->x))
        return td_fail(TD_RUNTIME_ERROR, "%s: grad_out and input must have the same shape", op);
    if (g->rstd->numel != row.rows || (centred && g->mean->numel != row.rows))
        return td_fail(TD_RUNTIME_ERROR, "%s: expected %lld numbers of statistics, one a row", op,
                       (long long)row.rows);
    td_dtype of_weight = g->weight ? (td_dtype)g->weight->dtype : dtype;
    if (td_is_meta(g->x))
        return make_gradients(call->out, g, dtype, of_weight, nshape, shape, count);
    TD_TRY(make_gradients(call->out, g, compute, compute, nshape, shape, count));
    const td_tensor *from[5] = {g->grad, g->x, centred ? g->mean : NULL, g->rstd, g->weight};
    td_tensor *dense[5] = {NULL};
    td_status status = TD_OK;
    for (int k = 0; k < 5 && status == TD_OK; k++)
        status = td_cast_optional(&dense[k], from[k], compute);
    if (status == TD_OK) {
        bool w = g->wanted[1], b = centred && g->wanted[2];
        td_norm_backward j = {compute,
                              row,
                              g->wanted[0] ? td_data(call->out[0]) : NULL,
                              data_or_null(dense[0]),
                              data_or_null(dense[1]),
                              data_or_null(dense[2]),
                              data_or_null(dense[3]),
                              data_or_null(dense[4])};
        status = td_pass_rows_backward(&j, w ? call->out[1] : NULL, b ? call->out[2] : NULL,
                                       (td_device)g->x->device);
    }
    for (int k = 0; k < 5; k++) td_tensor_free(dense[k]);
    for (int k = 0; k < count && status == TD_OK; k++)
        status = td_norm_convert(&call->out[k], k ? of_weight : dtype);
    return status;
}

/* (grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask) -> (dx, dweight,
 * dbias) */
td_status td_op_native_layer_norm_backward(td_call *call)
{
    const int64_t *mask = TD_INTS(7);
    gradients g = {TD_TENSOR(0), TD_TENSOR(1),     TD_TENSOR(3),
                   TD_TENSOR(4), TD_OPT_TENSOR(5), {mask[0], mask[1], mask[2]}};
    TD_TRY(td_norm_check_dtypes("native_layer_norm_backward", g.x, g.weight, NULL));
    TD_TRY(check_shape("native_layer_norm_backward", "weight", g.weight, TD_LEN(2), TD_INTS(2)));
    return backward(call, "native_layer_norm_backward", &g, TD_LEN(2), TD_INTS(2), true);
}

/* (grad_out, input, normalized_shape, rstd, weight, output_mask) -> (dx, dweight) */
td_status td_op__fused_rms_norm_backward(td_call *call)
{
    const int64_t *mask = TD_INTS(5);
    gradients g = {TD_TENSOR(0), TD_TENSOR(1),     NULL,
                   TD_TENSOR(3), TD_OPT_TENSOR(4), {mask[0], mask[1], false}};
    TD_TRY(td_norm_check_dtypes("_fused_rms_norm_backward", g.x, g.weight, NULL));
    TD_TRY(check_shape("_fused_rms_norm_backward", "weight", g.weight, TD_LEN(2), TD_INTS(2)));
    return backward(call, "_fused_rms_norm_backward", &g, TD_LEN(2), TD_INTS(2), false);
}
