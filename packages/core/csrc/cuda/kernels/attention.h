/* attention.h - fused attention and its gradients, without the matrix of weights in memory: 64
 * threads a row, which go over what it sees 64 at a time with a running softmax. Products add in
 * another order than the processor's.
 *
 *   td_attention_together<td_attention_forward>   a row of results
 *   td_attention_together<td_attention_queries>   a row of the gradient of queries
 *   td_attention_together<td_attention_keys>      a row of the gradients of keys and values */
#ifndef TD_ATTENTION_TEXT_H
#define TD_ATTENTION_TEXT_H
#include "cuda/kernels/softmax.h"

struct td_heads_at { /* strides in elements; rows have adjacent elements */
    float *data;
    int64_t batch, head, row;
};
struct td_attention_call { /* laid out as in csrc/cuda/attention.c; names are cpu/attention.h's */
    int64_t units;         /* blocks with work */
    int64_t batch, heads, kv_heads, queries, keys, width, value_width;
    td_heads_at q, k, v, out, grad, dq, dk, dv;
    const float *mask;
    int64_t mask_stride[4];
    double *logsumexp;
    float scale;
    int causal;
};

VFN float *td_row_at(const td_heads_at &h, int64_t batch, int64_t head, int64_t row)
{
    return h.data + batch * h.batch + head * h.head + row * h.row;
}
VFN float td_dot_one(const float *a, const float *b, int64_t n)
{
    float sum = 0;
    for (int64_t e = 0; e < n; e++) sum = __fmaf_rn(a[e], b[e], sum);
    return sum;
}
struct td_pair_at { /* a head of a sample */
    int64_t batch, head, shared;
};
VFN td_pair_at td_pair_of(const td_attention_call &c, int64_t batch, int64_t head)
{
    td_pair_at p = {batch, head, head / (c.heads / c.kv_heads)};
    return p;
}
VFN float td_score_of(const td_attention_call &c, const td_pair_at &p, int64_t query, int64_t key)
{
    float score = c.scale * td_dot_one(td_row_at(c.q, p.batch, p.head, query),
                                       td_row_at(c.k, p.batch, p.shared, key), c.width);
    if (!c.mask) return score;
    const int64_t *s = c.mask_stride;
    return score + c.mask[p.batch * s[0] + p.head * s[1] + query * s[2] + key * s[3]];
}
VFN double td_logsumexp_of(const td_attention_call &c, const td_pair_at &p, int64_t query)
{
    return c.logsumexp[(p.batch * c.heads + p.head) * c.queries + query];
}
/* the weight of a key as the forward pass made it; none for a query that sees nothing */
VFN float td_weight_of(const td_attention_call &c, const td_pair_at &p, int64_t query, int64_t key)
{
    double all = td_logsumexp_of(c, p, query);
    if (all == -INFINITY) return 0;
    return vexp(vf((float)((double)td_score_of(c, p, query, key) - all))).v;
}
VFN int64_t td_keys_seen(const td_attention_call &c, int64_t query)
{
    return c.causal && query + 1 < c.keys ? query + 1 : c.keys;
}
/* `to` += the sum of factor[j] * row j of n rows; every thread its own elements */
VFN void td_add_rows(float *to, float keep, const float *factor, const float *from, int64_t row,
                     int64_t n, int64_t width)
{
    for (int64_t e = threadIdx.x; e < width; e += TD_LANES) {
        float sum = keep * to[e];
        for (int64_t j = 0; j < n; j++) sum = __fmaf_rn(factor[j], from[j * row + e], sum);
        to[e] = sum;
    }
}
VFN void td_fill_row(float *to, int64_t width)
{
    for (int64_t e = threadIdx.x; e < width; e += TD_LANES) to[e] = 0;
}
VFN int64_t td_tile(int64_t first, int64_t end)
{
    return end - first < TD_LANES ? end - first : TD_LANES;
}

struct td_attention_forward {
    static TD_IN void unit(const td_attention_call &c, int64_t unit)
    {
        __shared__ float weights[TD_LANES];
        int64_t query = unit % c.queries, head = unit / c.queries;
        td_pair_at p = td_pair_of(c, head / c.heads, head % c.heads);
        float *out = td_row_at(c.out, p.batch, p.head, query);
        float top = -INFINITY, sum = 0;
        int64_t seen = td_keys_seen(c, query);
        td_fill_row(out, c.value_width);
        for (int64_t first = 0; first < seen; first += TD_LANES) {
            int64_t n = td_tile(first, seen), key = first + threadIdx.x;
            bool mine = threadIdx.x < n;
            float score = mine ? td_score_of(c, p, query, key) : -INFINITY;
            float now = td_tree<td_fold_max, float>(vf(score), TD_LANES);
            now = now > top || now != now ? now : top;
            float shift = now < -3e38f ? -3e38f : now;
            float weight = mine ? vexp(vf(score - shift)).v : 0.0f;
            float factor = vexp(vf(top - shift)).v;
            weights[threadIdx.x] = weight;
            sum = sum * factor + td_tree<td_fold_sum, float>(vf(weight), TD_LANES);
            top = now;
            td_add_rows(out, factor, weights, td_row_at(c.v, p.batch, p.shared, first), c.v.row, n,
                        c.value_width);
            __syncthreads(); /* before the next weights */
        }
        float inverse = sum != 0 ? 1 / sum : 0.0f;
        for (int64_t e = threadIdx.x; e < c.value_width; e += TD_LANES) out[e] *= inverse;
        if (threadIdx.x == 0)
            c.logsumexp[unit] = sum != 0 ? (double)top + log((double)sum) : (double)-INFINITY;
    }
};

/* of a query: the sum of gradient times result, which all of its keys share */
VFN float td_share_of(const td_attention_call &c, const td_pair_at &p, int64_t query)
{
    return td_dot_one(td_row_at(c.grad, p.batch, p.head, query),
                      td_row_at(c.out, p.batch, p.head, query), c.value_width);
}
/* what the gradients of query and key are multiplied by */
VFN float td_slope_of(const td_attention_call &c, const td_pair_at &p, int64_t query, int64_t key,
                      float weight, float share)
{
    float part = td_dot_one(td_row_at(c.grad, p.batch, p.head, query),
                            td_row_at(c.v, p.batch, p.shared, key), c.value_width);
    return weight * (part - share) * c.scale;
}
struct td_attention_queries {
    static TD_IN void unit(const td_attention_call &c, int64_t unit)
    {
        __shared__ float slopes[TD_LANES];
        int64_t query = unit % c.queries, head = unit / c.queries;
        td_pair_at p = td_pair_of(c, head / c.heads, head % c.heads);
        float *to = td_row_at(c.dq, p.batch, p.head, query), share = td_share_of(c, p, query);
        int64_t seen = td_keys_seen(c, query);
        td_fill_row(to, c.width);
        for (int64_t first = 0; first < seen; first += TD_LANES) {
            int64_t n = td_tile(first, seen), key = first + threadIdx.x;
            if (threadIdx.x < n)
                slopes[threadIdx.x] =
                    td_slope_of(c, p, query, key, td_weight_of(c, p, query, key), share);
            __syncthreads();
            td_add_rows(to, 1, slopes, td_row_at(c.k, p.batch, p.shared, first), c.k.row, n,
                        c.width);
            __syncthreads();
        }
    }
};
struct td_attention_keys {
    static TD_IN void unit(const td_attention_call &c, int64_t unit)
    {
        __shared__ float slopes[TD_LANES], weights[TD_LANES];
        int64_t key = unit % c.keys, group = unit / c.keys, each = c.heads / c.kv_heads;
        int64_t batch = group / c.kv_heads, shared = group % c.kv_heads;
        float *dk = td_row_at(c.dk, batch, shared, key), *dv = td_row_at(c.dv, batch, shared, key);
        td_fill_row(dk, c.width);
        td_fill_row(dv, c.value_width);
        for (int64_t head = shared * each; head < (shared + 1) * each; head++) {
            td_pair_at p = td_pair_of(c, batch, head);
            for (int64_t first = c.causal ? key : 0; first < c.queries; first += TD_LANES) {
                int64_t n = td_tile(first, c.queries), query = first + threadIdx.x;
                if (threadIdx.x < n) {
                    float weight = td_weight_of(c, p, query, key);
                    weights[threadIdx.x] = weight;
                    slopes[threadIdx.x] =
                        td_slope_of(c, p, query, key, weight, td_share_of(c, p, query));
                }
                __syncthreads();
                td_add_rows(dk, 1, slopes, td_row_at(c.q, batch, head, first), c.q.row, n, c.width);
                td_add_rows(dv, 1, weights, td_row_at(c.grad, batch, head, first), c.grad.row, n,
                            c.value_width);
                __syncthreads();
            }
        }
    }
};

template <class Work>
__global__ void __launch_bounds__(64)
    td_attention_together(const __grid_constant__ td_attention_call c)
{
    for (int64_t unit = blockIdx.x; unit < c.units; unit += gridDim.x) Work::unit(c, unit);
}
#endif
