/* attention_ragged.c - fused attention of sequences of different lengths, without padding.
 *
 * q [H, T, E], k [G, S, E], v [G, S, V]: the sequences lie one after the other along T and S, as
 * two lists of offsets say; H is a multiple of G. A query sees keys of its own sequence. The result
 * [H, T, V] lies in memory as [T, H, V]; logsumexp [H * T] has sequence after sequence, head after
 * head in each. */
#include "cpu/attention_ragged_run.h"
#include "runtime/device.h"
#include "runtime/op.h"

static const char *shape(const td_tensor *t, char buffer[TD_SHAPE_TEXT])
{
    return td_shape_text(t->ndim, t->sizes, buffer);
}

/* ---- arguments ---- */
static td_status check_shapes(const td_tensor *q, const td_tensor *k, const td_tensor *v)
{
    char a[TD_SHAPE_TEXT], b[TD_SHAPE_TEXT], c[TD_SHAPE_TEXT];
    bool fits = q->ndim == 3 && k->ndim == 3 && v->ndim == 3;
    fits = fits && k->sizes[0] == v->sizes[0] && k->sizes[1] == v->sizes[1] &&
           q->sizes[2] == k->sizes[2];
    fits = fits && (k->sizes[0] ? q->sizes[0] % k->sizes[0] == 0 : q->sizes[0] == 0);
    if (!fits)
        return td_fail(TD_RUNTIME_ERROR,
                       "ragged attention: expected query [H, T, E], key [G, S, E] and value [G, S, "
                       "V] with H a multiple of G, but the shapes are %s, %s and %s",
                       shape(q, a), shape(k, b), shape(v, c));
    bool narrow = (q->dtype == TD_F16 || q->dtype == TD_BF16) && !td_is_meta(q) &&
                  td_table_of((td_device)q->device)->short_products;
    if ((q->dtype == TD_F32 || narrow) && q->dtype == k->dtype && q->dtype == v->dtype)
        return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "ragged attention: the kernel takes float32, and on devices float16 and "
                   "bfloat16, but got %s, %s and %s",
                   td_dtypes[q->dtype].name, td_dtypes[k->dtype].name, td_dtypes[v->dtype].name);
}

/* offsets begin at 0, never fall, and end where the rows do */
static td_status check_offsets(const char *name, const int64_t *ends, int64_t n, int64_t rows)
{
    bool fits = n >= 1 && ends[0] == 0 && ends[n - 1] == rows;
    for (int64_t i = 1; fits && i < n; i++) fits = ends[i] >= ends[i - 1];
    if (fits) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "ragged attention: %s must begin at 0, never fall, and end at the %lld rows",
                   name, (long long)rows);
}

static td_status read_all(td_ragged_attention *r, const td_call *call, int at, int offsets)
{
    const td_tensor *q = TD_TENSOR(at), *k = TD_TENSOR(at + 1), *v = TD_TENSOR(at + 2);
    if (TD_LEN(offsets) != TD_LEN(offsets + 1))
        return td_fail(TD_RUNTIME_ERROR,
                       "ragged attention: query_offsets and key_offsets must be of one length, but "
                       "have %lld and %lld",
                       (long long)TD_LEN(offsets), (long long)TD_LEN(offsets + 1));
    *r = (td_ragged_attention){.sequences = TD_LEN(offsets) - 1,
                               .itemsize = td_itemsize((td_dtype)q->dtype),
                               .query_ends = TD_INTS(offsets),
                               .key_ends = TD_INTS(offsets + 1)};
    TD_TRY(check_shapes(q, k, v));
    TD_TRY(check_offsets("query_offsets", r->query_ends, r->sequences + 1, q->sizes[1]));
    TD_TRY(check_offsets("key_offsets", r->key_ends, r->sequences + 1, k->sizes[1]));
    r->all = (td_attention){.batch = 1,
                            .heads = q->sizes[0],
                            .kv_heads = k->sizes[0],
                            .width = q->sizes[2],
                            .value_width = v->sizes[2],
                            .causal = TD_BOOLEAN(offsets + 2),
                            .scale = (float)TD_FLOAT(offsets + 3)};
    return TD_OK;
}

/* ---- layouts ---- */
static td_heads heads_of(const td_tensor *t)
{
    return (td_heads){td_data(t), 0, t->strides[0], t->strides[1]};
}

/* a new [H, T, E] that lies in memory as [T, H, E] */
static td_status empty_heads(td_tensor **out, const td_tensor *like, int64_t h, int64_t t,
                             int64_t e)
{
    int64_t width = e ? e : 1, heads = h ? h : 1;
    return td_tensor_empty_strided(out, (td_dtype)like->dtype, (td_device)like->device, 3,
                                   (const int64_t[]){h, t, e},
                                   (const int64_t[]){width, width * heads, 1});
}

typedef struct operands { /* q, k, v and in the backward pass grad, out; rows of adjacent elements
                           */
    td_tensor *t[5];
    int n;
} operands;

static td_status prepare(operands *o, const td_tensor *const *from, int n)
{
    for (o->n = 0; o->n < n; o->n++) {
        const td_tensor *t = from[o->n];
        bool rows = t->strides[2] == 1 || t->sizes[2] <= 1;
        TD_TRY(rows ? td_tensor_alias(&o->t[o->n], t) : td_contiguous(&o->t[o->n], t));
    }
    return TD_OK;
}

static void release(operands *o)
{
    while (o->n) td_tensor_free(o->t[--o->n]);
}

/* ---- on the processor; or on a device, sequence by sequence ---- */
static td_status run_on_device(const td_ragged_attention *r, bool backward, const td_tensor *q)
{
    for (int64_t i = 0; i < r->sequences; i++) {
        td_attention p = td_ragged_attention_of(r, i);
        if ((backward ? p.kv_heads * (p.queries + p.keys) : p.heads * p.queries) == 0) continue;
        td_attention_job job = {&p, (td_dtype)q->dtype, backward};
        TD_TRY(td_work_run(TD_WORK_ATTENTION, &job, (td_device)q->device, "attention"));
    }
    return TD_OK;
}

static td_status run(const td_ragged_attention *r, bool backward, const td_tensor *q)
{
    return q->device == TD_CPU ? td_ragged_attention_run(r, backward)
                               : run_on_device(r, backward, q);
}

/* ---- _ragged_attention(query, key, value, query_offsets, key_offsets, is_causal, scale)
 * -> (output, logsumexp) ---- */
td_status td_op__ragged_attention(td_call *call)
{
    td_ragged_attention r;
    operands o = {0};
    const td_tensor *in[] = {TD_TENSOR(0), TD_TENSOR(1), TD_TENSOR(2)};
    TD_TRY(read_all(&r, call, 0, 3));
    int64_t heads = in[0]->sizes[0], rows = in[0]->sizes[1];
    TD_TRY(empty_heads(&call->out[0], in[0], heads, rows, in[2]->sizes[2]));
    TD_TRY(td_tensor_empty(&call->out[1], TD_F64, (td_device)in[0]->device, 1,
                           (const int64_t[]){heads * rows}));
    if (td_is_meta(in[0]) || call->out[1]->numel == 0) return TD_OK;
    td_status status = prepare(&o, in, 3);
    if (status == TD_OK) {
        td_heads *to[] = {&r.all.q, &r.all.k, &r.all.v, &r.all.out};
        for (int i = 0; i < 4; i++) *to[i] = heads_of(i < 3 ? o.t[i] : call->out[0]);
        r.all.logsumexp = td_data(call->out[1]);
        status = run(&r, false, in[0]);
    }
    release(&o);
    return status;
}

static td_status check_results(const td_tensor *const *in, const td_tensor *logsumexp)
{
    const int64_t sizes[] = {in[0]->sizes[0], in[0]->sizes[1], in[2]->sizes[2]};
    for (int i = 3; i < 5; i++)
        for (int d = 0; d < 3; d++)
            if (in[i]->ndim != 3 || in[i]->dtype != in[0]->dtype || in[i]->sizes[d] != sizes[d])
                return td_fail(TD_RUNTIME_ERROR, "ragged attention: gradient and output must be of "
                                                 "the output's shape and dtype");
    if (logsumexp->numel == sizes[0] * sizes[1] && logsumexp->dtype == TD_F64 &&
        td_is_contiguous(logsumexp))
        return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "ragged attention: logsumexp must be that of the forward pass");
}

/* ---- _ragged_attention_backward(grad, query, key, value, output, logsumexp, query_offsets,
 * key_offsets, is_causal, scale) ---- */
td_status td_op__ragged_attention_backward(td_call *call)
{
    td_ragged_attention r;
    operands o = {0};
    const td_tensor *in[] = {TD_TENSOR(1), TD_TENSOR(2), TD_TENSOR(3), TD_TENSOR(0), TD_TENSOR(4)};
    TD_TRY(read_all(&r, call, 1, 6));
    TD_TRY(check_results(in, TD_TENSOR(5)));
    for (int i = 0; i < 3; i++) {
        const int64_t *n = in[i]->sizes;
        TD_TRY(empty_heads(&call->out[i], in[0], n[0], n[1], n[2]));
    }
    if (td_is_meta(in[0]) || r.all.kv_heads == 0) return TD_OK;
    td_status status = prepare(&o, in, 5);
    if (status == TD_OK) {
        td_attention *p = &r.all;
        td_heads *to[] = {&p->q, &p->k, &p->v, &p->grad, &p->out, &p->dq, &p->dk, &p->dv};
        for (int i = 0; i < 8; i++) *to[i] = heads_of(i < 5 ? o.t[i] : call->out[i - 5]);
        p->logsumexp = td_data(TD_TENSOR(5));
        status = run(&r, true, in[0]);
    }
    release(&o);
    return status;
}
