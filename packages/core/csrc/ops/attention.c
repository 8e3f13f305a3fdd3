/* attention.c - fused attention and its gradients as operators: shapes and strides.
 *
 * q [B, H, T, E], k [B, G, S, E], v [B, G, S, V], mask broadcasts to [B, H, T, S]; H is a multiple
 * of G. Results lie in memory as [B, T, H, V], the order in which the projections before and after
 * hold them. */
#include "cpu/attention_run.h"
#include "runtime/device.h"
#include "runtime/op.h"

static const char *shape(const td_tensor *t, char buffer[TD_SHAPE_TEXT])
{
    return td_shape_text(t->ndim, t->sizes, buffer);
}

/* ---- arguments ---- */
static td_status check_heads(const td_tensor *q, const td_tensor *k, const td_tensor *v)
{
    char a[TD_SHAPE_TEXT], b[TD_SHAPE_TEXT], c[TD_SHAPE_TEXT];
    bool fits = q->ndim == 4 && k->ndim == 4 && v->ndim == 4;
    fits = fits && q->sizes[0] == k->sizes[0] && k->sizes[0] == v->sizes[0] &&
           k->sizes[1] == v->sizes[1];
    fits = fits && k->sizes[2] == v->sizes[2] && q->sizes[3] == k->sizes[3];
    fits = fits && (k->sizes[1] ? q->sizes[1] % k->sizes[1] == 0 : q->sizes[1] == 0);
    if (!fits)
        return td_fail(TD_RUNTIME_ERROR,
                       "attention: expected query [B, H, T, E], key [B, G, S, E] and value [B, G, "
                       "S, V] with H a multiple of G, but the shapes are %s, %s and %s",
                       shape(q, a), shape(k, b), shape(v, c));
    bool narrow = (q->dtype == TD_F16 || q->dtype == TD_BF16) && !td_is_meta(q) &&
                  td_table_of((td_device)q->device)->short_products;
    if ((q->dtype == TD_F32 || narrow) && q->dtype == k->dtype && q->dtype == v->dtype)
        return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "attention: the fused kernel takes float32, and on devices float16 and "
                   "bfloat16, but got %s, %s and %s",
                   td_dtypes[q->dtype].name, td_dtypes[k->dtype].name, td_dtypes[v->dtype].name);
}

/* strides of the mask as if it had the full shape */
static td_status read_mask(const td_tensor *mask, const td_tensor *q, const td_tensor *k,
                           td_attention *p)
{
    char text[TD_SHAPE_TEXT], wanted[TD_SHAPE_TEXT];
    int64_t full[4] = {q->sizes[0], q->sizes[1], q->sizes[2], k->sizes[2]};
    bool fits = !mask || (mask->ndim <= 4 && mask->dtype == TD_F32);
    for (int d = 0; mask && fits && d < mask->ndim; d++) {
        int to = 4 - mask->ndim + d;
        fits = mask->sizes[d] == full[to] || mask->sizes[d] == 1;
        p->mask_stride[to] = mask->sizes[d] == 1 ? 0 : mask->strides[d];
    }
    if (!fits)
        return td_fail(
            TD_RUNTIME_ERROR,
            "attention: the mask must be float32 and broadcast to %s, but it is %s of shape %s",
            td_shape_text(4, full, wanted), td_dtypes[mask->dtype].name, shape(mask, text));
    p->mask = mask ? td_data(mask) : NULL;
    return TD_OK;
}

static td_status read_problem(const td_tensor *q, const td_tensor *k, const td_tensor *v,
                              const td_tensor *mask, bool causal, double scale, td_attention *p)
{
    TD_TRY(check_heads(q, k, v));
    *p = (td_attention){.batch = q->sizes[0],
                        .heads = q->sizes[1],
                        .kv_heads = k->sizes[1],
                        .queries = q->sizes[2],
                        .keys = k->sizes[2],
                        .width = q->sizes[3],
                        .value_width = v->sizes[3],
                        .scale = (float)scale,
                        .causal = causal};
    return read_mask(mask, q, k, p);
}

/* ---- layouts ---- */
/* t itself if its rows are adjacent elements, else a copy */
static td_status with_rows(td_tensor **out, const td_tensor *t)
{
    bool rows = t->ndim == 4 && (t->strides[3] == 1 || t->sizes[3] <= 1);
    return rows ? td_tensor_alias(out, t) : td_contiguous(out, t);
}

static td_heads heads_of(const td_tensor *t)
{
    return (td_heads){td_data(t), t->strides[0], t->strides[1], t->strides[2]};
}

/* a new [B, H, T, E] that lies in memory as [B, T, H, E] */
static td_status empty_heads(td_tensor **out, const td_tensor *like, const int64_t sizes[4])
{
    int64_t e = sizes[3] ? sizes[3] : 1, h = sizes[1] ? sizes[1] : 1, t = sizes[2] ? sizes[2] : 1;
    return td_tensor_empty_strided(out, (td_dtype)like->dtype, (td_device)like->device, 4, sizes,
                                   (const int64_t[]){e * h * t, e, e * h, 1});
}

typedef struct operands { /* q, k, v and in the backward pass grad, out */
    td_tensor *t[5];
    int n;
} operands;

static td_status prepare(operands *o, const td_tensor *const *from, int n)
{
    for (o->n = 0; o->n < n; o->n++) TD_TRY(with_rows(&o->t[o->n], from[o->n]));
    return TD_OK;
}

static void release(operands *o)
{
    while (o->n) td_tensor_free(o->t[--o->n]);
}

/* on the processor, or by the device's kernels */
static td_status run(const td_attention *p, bool backward, const td_tensor *q)
{
    td_device device = (td_device)q->device;
    if (device == TD_CPU) return td_attention_run(p, backward);
    td_attention_job job = {p, (td_dtype)q->dtype, backward};
    return td_work_run(TD_WORK_ATTENTION, &job, device, "attention");
}

/* ---- _fused_attention(query, key, value, attn_mask, is_causal, scale) -> (output, logsumexp) ----
 */
td_status td_op__fused_attention(td_call *call)
{
    td_attention p;
    operands o = {0};
    const td_tensor *in[] = {TD_TENSOR(0), TD_TENSOR(1), TD_TENSOR(2)};
    TD_TRY(read_problem(in[0], in[1], in[2], TD_OPT_TENSOR(3), TD_BOOLEAN(4), TD_FLOAT(5), &p));
    td_device device = (td_device)in[0]->device;
    TD_TRY(empty_heads(&call->out[0], in[0],
                       (const int64_t[]){p.batch, p.heads, p.queries, p.value_width}));
    TD_TRY(td_tensor_empty(&call->out[1], TD_F64, device, 3,
                           (const int64_t[]){p.batch, p.heads, p.queries}));
    if (device == TD_META || call->out[1]->numel == 0) return TD_OK;
    td_status status = prepare(&o, in, 3);
    if (status == TD_OK) {
        p.q = heads_of(o.t[0]);
        p.k = heads_of(o.t[1]);
        p.v = heads_of(o.t[2]);
        p.out = heads_of(call->out[0]);
        p.logsumexp = td_data(call->out[1]);
        status = run(&p, false, in[0]);
    }
    release(&o);
    return status;
}

/* ---- _fused_attention_backward(grad, query, key, value, attn_mask, output, logsumexp, is_causal,
 * scale) ---- */
td_status td_op__fused_attention_backward(td_call *call)
{
    td_attention p;
    operands o = {0};
    const td_tensor *in[] = {TD_TENSOR(1), TD_TENSOR(2), TD_TENSOR(3), TD_TENSOR(0), TD_TENSOR(5)};
    const td_tensor *logsumexp = TD_TENSOR(6);
    TD_TRY(read_problem(in[0], in[1], in[2], TD_OPT_TENSOR(4), TD_BOOLEAN(7), TD_FLOAT(8), &p));
    int64_t output[4] = {p.batch, p.heads, p.queries, p.value_width};
    for (int i = 3; i < 5; i++)
        for (int d = 0; d < 4; d++)
            if (in[i]->ndim != 4 || in[i]->dtype != in[0]->dtype || in[i]->sizes[d] != output[d])
                return td_fail(
                    TD_RUNTIME_ERROR,
                    "attention: gradient and output must be of the output's shape and dtype");
    if (logsumexp->numel != p.batch * p.heads * p.queries || logsumexp->dtype != TD_F64 ||
        !td_is_contiguous(logsumexp))
        return td_fail(TD_RUNTIME_ERROR, "attention: logsumexp must be that of the forward pass");
    for (int i = 0; i < 3; i++) TD_TRY(empty_heads(&call->out[i], in[0], in[i]->sizes));
    if (td_is_meta(in[0]) || p.batch * p.kv_heads == 0) return TD_OK;
    td_status status = prepare(&o, in, 5);
    if (status == TD_OK) {
        td_heads *to[] = {&p.q, &p.k, &p.v, &p.grad, &p.out, &p.dq, &p.dk, &p.dv};
        for (int i = 0; i < 8; i++) *to[i] = heads_of(i < 5 ? o.t[i] : call->out[i - 5]);
        p.logsumexp = td_data(logsumexp);
        status = run(&p, true, in[0]);
    }
    release(&o);
    return status;
}
