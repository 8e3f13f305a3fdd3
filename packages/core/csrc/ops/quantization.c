/* quantization.c - products with weights of 8 and 4 bits, and these weights as float32. */
#include "cpu/quantization/packed_run.h"
#include "runtime/op.h"

/* A weight as it is given: `offsets` and `bias` may be NULL; k numbers in a row. */
typedef struct weight {
    const char *op;
    const td_tensor *weight, *scales, *offsets;
    bool nibbles;
    int64_t k;
} weight;

/* ---- what is refused ---- */

static td_status check_bytes(const weight *w)
{
    const td_tensor *t = w->weight;
    td_dtype wanted = w->nibbles ? TD_U8 : TD_I8;
    char text[TD_SHAPE_TEXT];
    int64_t bytes = w->nibbles ? (w->k + 127) / 128 * 64 : w->k;
    if (t->dtype != wanted || t->ndim != 2)
        return td_fail(TD_RUNTIME_ERROR,
                       "%s: weight must be a matrix of dtype %s, but it has dtype %s and shape %s",
                       w->op, td_dtypes[wanted].name, td_dtypes[t->dtype].name,
                       td_shape_text(t->ndim, t->sizes, text));
    if (w->k <= 0 || w->k % TD_PIECE)
        return td_fail(
            TD_RUNTIME_ERROR,
            "%s: rows of the weight have %lld numbers; packed rows have a multiple of %d", w->op,
            (long long)w->k, TD_PIECE);
    if (t->sizes[1] == bytes) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "%s: rows of %lld numbers take %lld bytes, but weight has shape %s", w->op,
                   (long long)w->k, (long long)bytes, td_shape_text(t->ndim, t->sizes, text));
}

static td_status check_scales(const weight *w, const td_tensor *t, const char *name)
{
    char text[TD_SHAPE_TEXT];
    int64_t pieces = w->k / TD_PIECE, least = w->nibbles ? TD_PIECE : TD_PIECE / 2;
    bool fits = t->ndim == 2 && t->sizes[0] == w->weight->sizes[0] && t->sizes[1] > 0 &&
                (pieces % t->sizes[1] == 0 || t->sizes[1] * least == w->k);
    if (t->dtype != TD_F16 && t->dtype != TD_F32)
        return td_fail(TD_NOT_IMPLEMENTED, "%s: %s must be of dtype float16 or float32, not %s",
                       w->op, name, td_dtypes[t->dtype].name);
    if (fits) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "%s: %s must have a row for each of %lld rows of the weight, and in it a number "
                   "for every %s32, 64, 96 ... of %lld numbers; its shape is %s",
                   w->op, name, (long long)w->weight->sizes[0], w->nibbles ? "" : "16, ",
                   (long long)w->k, td_shape_text(t->ndim, t->sizes, text));
}

static td_status check_weight(const weight *w)
{
    const td_tensor *s = w->scales, *o = w->offsets;
    TD_TRY(check_bytes(w));
    TD_TRY(check_scales(w, s, "scales"));
    if (!o) return TD_OK;
    TD_TRY(check_scales(w, o, "offsets"));
    if (o->dtype == s->dtype && o->sizes[1] == s->sizes[1]) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR, "%s: scales and offsets must have one shape and one dtype",
                   w->op);
}

static td_status check_input(const weight *w, const td_tensor *x, const td_tensor *bias)
{
    char text[TD_SHAPE_TEXT];
    if (x->dtype != TD_F32 && x->dtype != TD_F16 && x->dtype != TD_BF16)
        return td_fail(TD_NOT_IMPLEMENTED,
                       "%s: self must be of dtype float32, bfloat16 or float16, not %s", w->op,
                       td_dtypes[x->dtype].name);
    if (!bias) return TD_OK;
    if (bias->dtype != x->dtype && bias->dtype != TD_F32)
        return td_fail(TD_RUNTIME_ERROR, "%s: bias must be of dtype %s or float32, not %s", w->op,
                       td_dtypes[x->dtype].name, td_dtypes[bias->dtype].name);
    if (bias->ndim == 1 && bias->sizes[0] == w->weight->sizes[0]) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR, "%s: bias must have shape [%lld], but it has shape %s", w->op,
                   (long long)w->weight->sizes[0], td_shape_text(bias->ndim, bias->sizes, text));
}

/* ---- dense tensors for the kernels ---- */

enum { X, BIAS, WEIGHT, SCALES, OFFSETS, DENSE };

static void free_all(td_tensor *t[DENSE])
{
    for (int i = 0; i < DENSE; i++) td_tensor_free(t[i]);
}

static td_status dense_weight(const weight *w, td_tensor *t[DENSE], td_packed *p)
{
    TD_TRY(td_contiguous(&t[WEIGHT], w->weight));
    TD_TRY(td_contiguous(&t[SCALES], w->scales));
    if (w->offsets) TD_TRY(td_contiguous(&t[OFFSETS], w->offsets));
    *p = (td_packed){.rows = w->weight->sizes[0],
                     .pieces = w->k / TD_PIECE,
                     .weight = td_data(t[WEIGHT]),
                     .row_bytes = w->weight->sizes[1],
                     .nibbles = w->nibbles,
                     .short_scales = w->scales->dtype == TD_F16,
                     .scales = w->scales->sizes[1],
                     .scale = td_data(t[SCALES]),
                     .offset = w->offsets ? td_data(t[OFFSETS]) : NULL};
    return TD_OK;
}

/* out: float32 */
static td_status multiply(const weight *w, const td_tensor *x, const td_tensor *bias,
                          td_tensor *out)
{
    td_tensor *t[DENSE] = {NULL};
    td_packed p;
    int64_t m = x->numel / w->k;
    bool narrow = x->dtype == TD_BF16 && td_packed_takes_bf16(m);
    td_status status = td_cast_contiguous(&t[X], x, narrow ? TD_BF16 : TD_F32);
    if (status == TD_OK && bias) status = td_cast_contiguous(&t[BIAS], bias, TD_F32);
    if (status == TD_OK) status = dense_weight(w, t, &p);
    const float *added = status == TD_OK && bias ? td_data(t[BIAS]) : NULL;
    if (status == TD_OK)
        status = narrow ? td_packed_times_bf16(&p, td_data(t[X]), m, added, td_data(out))
                        : td_packed_times(&p, td_data(t[X]), m, added, td_data(out));
    free_all(t);
    return status;
}

static td_status product(weight *w, const td_tensor *x, const td_tensor *bias, td_tensor **out)
{
    int64_t sizes[TD_MAX_DIMS];
    if (x->ndim == 0)
        return td_fail(TD_RUNTIME_ERROR, "%s: self needs at least 1 dimension", w->op);
    w->k = x->sizes[x->ndim - 1];
    TD_TRY(check_input(w, x, bias));
    TD_TRY(check_weight(w));
    for (int d = 0; d < x->ndim; d++) sizes[d] = x->sizes[d];
    sizes[x->ndim - 1] = w->weight->sizes[0];
    bool direct = x->dtype == TD_F32 || td_is_meta(x);
    td_tensor *sums;
    TD_TRY(td_tensor_empty(&sums, direct ? (td_dtype)x->dtype : TD_F32, (td_device)x->device,
                           x->ndim, sizes));
    td_status status = TD_OK;
    if (!td_is_meta(x) && sums->numel > 0) status = multiply(w, x, bias, sums);
    if (status == TD_OK && !direct) status = td_cast(out, sums, (td_dtype)x->dtype);
    if (status == TD_OK && direct) *out = sums;
    else td_tensor_free(sums);
    return status;
}

/* (self, weight, scales, bias) */
td_status td_op__weight_int8_mm(td_call *call)
{
    weight w = {.op = "_weight_int8_mm", .weight = TD_TENSOR(1), .scales = TD_TENSOR(2)};
    return product(&w, TD_TENSOR(0), TD_OPT_TENSOR(3), &call->out[0]);
}

/* (self, weight, scales, offsets, bias) */
td_status td_op__weight_int4_mm(td_call *call)
{
    weight w = {.op = "_weight_int4_mm",
                .weight = TD_TENSOR(1),
                .scales = TD_TENSOR(2),
                .offsets = TD_OPT_TENSOR(3),
                .nibbles = true};
    return product(&w, TD_TENSOR(0), TD_OPT_TENSOR(4), &call->out[0]);
}

/* ---- as float32 ---- */

static td_status expand(const weight *w, td_tensor **out)
{
    td_tensor *t[DENSE] = {NULL};
    td_packed p;
    TD_TRY(check_weight(w));
    TD_TRY(td_tensor_empty(out, TD_F32, (td_device)w->weight->device, 2,
                           (const int64_t[]){w->weight->sizes[0], w->k}));
    if (td_is_meta(w->weight) || (*out)->numel == 0) return TD_OK;
    td_status status = dense_weight(w, t, &p);
    if (status == TD_OK) status = td_packed_expand(&p, td_data(*out));
    free_all(t);
    return status;
}

/* (weight, scales) */
td_status td_op__weight_int8_expand(td_call *call)
{
    weight w = {.op = "_weight_int8_expand", .weight = TD_TENSOR(0), .scales = TD_TENSOR(1)};
    w.k = w.weight->ndim == 2 ? w.weight->sizes[1] : 0;
    return expand(&w, &call->out[0]);
}

/* (weight, scales, offsets, k) */
td_status td_op__weight_int4_expand(td_call *call)
{
    weight w = {.op = "_weight_int4_expand",
                .weight = TD_TENSOR(0),
                .scales = TD_TENSOR(1),
                .offsets = TD_OPT_TENSOR(2),
                .nibbles = true,
                .k = TD_INT(3)};
    return expand(&w, &call->out[0]);
}
