/* attention.h - what attention does between its products of matrices (csrc/cuda/attention.c):
 * scores become weights, and in the backward pass weights and slopes, in their place in memory.
 *
 *   td_attention_together<td_attention_weights<D>>  64 threads a row of scores
 *   td_attention_together<td_attention_slopes<D>>
 *   td_attention_alone<td_attention_move<D>>        heads in another order
 *   td_attention_alone<td_attention_round<D>>       ... from float32
 *
 * Scores are float32. What replaces them has dtype D, and a row of 16 bits lies at the beginning of
 * its row of scores. */
#ifndef TD_ATTENTION_TEXT_H
#define TD_ATTENTION_TEXT_H
#include "cuda/kernels/softmax.h"

/* Laid out as in csrc/cuda/attention.c. A pair is a head of keys and values with the `group` heads
 * of queries that share it; its rows are their queries, head by head. */
struct td_attention_call {
    int64_t units; /* blocks with work: rows of scores */
    float *scores, *slopes;
    int64_t wide;             /* from a row of scores to the next */
    int64_t first, rows, all; /* rows of each pair: from `first` on, of `all` */
    int64_t first_pair, kv_heads, group, queries, keys;
    const char *grad, *out;
    int64_t grad_pair, grad_row, out_pair, out_row, width;
    const float *mask;
    int64_t mask_stride[4];
    double *logsumexp;
    float scale;
    int causal;
};
struct td_attention_row {
    int64_t pair, row, query, seen;
    double *logsumexp;
    const float *mask;
};
VFN td_attention_row td_row_of(const td_attention_call &c, int64_t unit)
{
    td_attention_row r;
    r.pair = unit / c.rows;
    r.row = unit - r.pair * c.rows;
    int64_t pair = c.first_pair + r.pair, at = c.first + r.row, head = at / c.queries;
    r.query = at - head * c.queries;
    r.seen = c.causal && r.query + 1 < c.keys ? r.query + 1 : c.keys;
    r.logsumexp = c.logsumexp + pair * c.all + at;
    r.mask = nullptr;
    if (c.mask) {
        const int64_t *s = c.mask_stride;
        int64_t batch = pair / c.kv_heads;
        head += (pair - batch * c.kv_heads) * c.group;
        r.mask = c.mask + batch * s[0] + head * s[1] + r.query * s[2];
    }
    return r;
}
VFN float td_score_of(const td_attention_call &c, const td_attention_row &r, const float *scores,
                      int64_t key)
{
    if (!r.mask) return scores[key];
    float added = r.mask[key * c.mask_stride[3]];
    return added == -INFINITY ? added : scores[key] + added;
}

template <int D> struct td_attention_weights {
    typedef typename td_mem<D>::type T;
    static TD_IN float top_of(const td_attention_call &c, const td_attention_row &r,
                              const float *scores)
    {
        float top = -INFINITY;
        for (int64_t key = threadIdx.x; key < r.seen; key += TD_LANES) {
            float score = td_score_of(c, r, scores, key);
            if (score > top || score != score) top = score;
        }
        return td_tree<td_fold_max, float>(vf(top), TD_LANES);
    }
    static TD_IN void unit(const td_attention_call &c, int64_t unit)
    {
        td_attention_row r = td_row_of(c, unit);
        float *scores = c.scores + unit * c.wide, top = top_of(c, r, scores);
        float shift = top < -3e38f ? -3e38f : top, sum = 0;
        for (int64_t key = threadIdx.x; key < r.seen; key += TD_LANES)
            sum += vexp(vf(td_score_of(c, r, scores, key) - shift)).v;
        sum = td_tree<td_fold_sum, float>(vf(sum), TD_LANES);
        float inverse = sum != 0 ? 1 / sum : 0.0f;
        for (int64_t first = 0; first < c.keys; first += TD_LANES) {
            int64_t key = first + threadIdx.x;
            float weight = 0;
            if (key < r.seen) weight = vexp(vf(td_score_of(c, r, scores, key) - shift)).v * inverse;
            __syncthreads(); /* these scores are read: their place, or that of earlier ones, serves
                              */
            if (key < c.keys) ((T *)scores)[key] = td_made<D>(weight);
        }
        if (threadIdx.x == 0)
            *r.logsumexp = sum != 0 ? (double)top + log((double)sum) : (double)-INFINITY;
    }
};

template <int D> struct td_attention_slopes {
    typedef typename td_mem<D>::type T;
    /* the sum of gradient times result, which all keys of a row share */
    static TD_IN float share_of(const td_attention_call &c, const td_attention_row &r)
    {
        const T *grad = (const T *)c.grad + r.pair * c.grad_pair + r.row * c.grad_row;
        const T *out = (const T *)c.out + r.pair * c.out_pair + r.row * c.out_row;
        float sum = 0;
        for (int64_t e = threadIdx.x; e < c.width; e += TD_LANES)
            sum = __fmaf_rn(td_read<D, float>(grad[e]), td_read<D, float>(out[e]), sum);
        return td_tree<td_fold_sum, float>(vf(sum), TD_LANES);
    }
    static TD_IN void unit(const td_attention_call &c, int64_t unit)
    {
        td_attention_row r = td_row_of(c, unit);
        float *scores = c.scores + unit * c.wide, *slopes = c.slopes + unit * c.wide;
        float share = share_of(c, r);
        double all = *r.logsumexp;
        bool none = all == -INFINITY; /* the query sees nothing */
        for (int64_t first = 0; first < c.keys; first += TD_LANES) {
            int64_t key = first + threadIdx.x;
            float weight = 0, slope = 0;
            if (key < r.seen && !none) {
                weight = vexp(vf((float)((double)td_score_of(c, r, scores, key) - all))).v;
                slope = weight * (slopes[key] - share) * c.scale;
            }
            __syncthreads(); /* as above */
            if (key < c.keys) {
                ((T *)scores)[key] = td_made<D>(weight);
                ((T *)slopes)[key] = td_made<D>(slope);
            }
        }
    }
};
template <class Work>
__global__ void __launch_bounds__(64)
    td_attention_together(const __grid_constant__ td_attention_call c)
{
    for (int64_t at = blockIdx.x; at < c.units; at += gridDim.x) Work::unit(c, at);
}

struct td_attention_move_call { /* laid out as in csrc/cuda/attention.c; strides in elements */
    int64_t n, heads, rows, width;
    char *to;
    const char *from;
    int64_t to_batch, to_head, to_row, from_batch, from_head, from_row;
};
template <int TO, int FROM> VFN void td_move_head(const td_attention_move_call &c, int64_t at)
{
    int64_t line = at / c.width, e = at - line * c.width;
    int64_t head = line / c.rows, row = line - head * c.rows, batch = head / c.heads;
    head -= batch * c.heads;
    typename td_mem<TO>::type *to = (typename td_mem<TO>::type *)c.to + batch * c.to_batch +
                                    head * c.to_head + row * c.to_row + e;
    const typename td_mem<FROM>::type *from = (const typename td_mem<FROM>::type *)c.from +
                                              batch * c.from_batch + head * c.from_head +
                                              row * c.from_row + e;
    if constexpr (TO == FROM) *to = *from;
    else *to = td_made<TO>(td_read<FROM, float>(*from));
}
template <int D> struct td_attention_move {
    static TD_IN void one(const td_attention_move_call &c, int64_t at)
    {
        td_move_head<D, D>(c, at);
    }
};
template <int D> struct td_attention_round {
    static TD_IN void one(const td_attention_move_call &c, int64_t at)
    {
        td_move_head<D, TD_F32>(c, at);
    }
};
template <class Work>
__global__ void __launch_bounds__(256)
    td_attention_alone(const __grid_constant__ td_attention_move_call c)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < c.n; at += step)
        Work::one(c, at);
}
#endif
