/* attention.c - one block of queries against blocks of keys, with a running softmax; and backwards.
 */
#include "cpu/attention.h"
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include "cpu/matmul/gemm.h"
#include "cpu/simd/gemm_vec.h"
#include "runtime/loops.h"

#define LANES VF_LANES
#define QB TD_ATTENTION_QUERIES
#define KB 256 /* keys in a block: its scores measure 64 KiB */

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Scores are kept in units of ln 2, so that weights are powers of two. */
#define LOG2_E 1.44269504f

/* 2^x for x <= 0 or NaN, off by 1e-7 at most; below the normal numbers it is 0 */
TD_INLINE vf exp2_vf(vf x)
{
    x = vf_max(vf_set1(-127.f), x);
    vf n = vf_round(x), r = vf_sub(x, n);
    vf q = vf_fma(vf_set1(.001326472615f), r, vf_set1(.009671512991f));
    q = vf_fma(q, r, vf_set1(.05550733581f));
    q = vf_fma(q, r, vf_set1(.2402224243f));
    q = vf_fma(q, r, vf_set1(.6931470037f));
    return vf_scale(vf_fma(q, r, vf_set1(1.f)), n);
}

/* ---- products, both operands in place ---- */
static void multiply(int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t a_row,
                     int64_t a_col, const float *b, int64_t b_row, float *c, int64_t c_row, int add)
{
    td_gemm g = {.m = m,
                 .n = n,
                 .k = k,
                 .a = a,
                 .a_row = a_row,
                 .a_col = a_col,
                 .b = b,
                 .b_row = b_row,
                 .b_col = 1,
                 .c = c,
                 .c_row = c_row,
                 .alpha = alpha,
                 .add = add,
                 .way = TD_GEMM_SMALL};
    TD_SYM(td_gemm_kernels).real[0].run(&g, NULL);
}

/* ---- one head ---- */
typedef struct head {
    const td_attention *p;
    const float *q, *k, *v, *mask;
    float *out;
    double *logsumexp;
    const float *grad;
    float *dq, *dk, *dv;
} head;

static float *at(const td_heads *h, int64_t batch, int64_t number)
{
    return h->data ? h->data + batch * h->batch + number * h->head : NULL;
}

static head head_of(const td_attention *p, int64_t batch, int64_t number)
{
    int64_t shared = number / (p->heads / p->kv_heads);
    head h = {.p = p,
              .q = at(&p->q, batch, number),
              .k = at(&p->k, batch, shared),
              .v = at(&p->v, batch, shared),
              .out = at(&p->out, batch, number),
              .grad = at(&p->grad, batch, number),
              .dq = at(&p->dq, batch, number),
              .dk = at(&p->dk, batch, shared),
              .dv = at(&p->dv, batch, shared)};
    h.mask = p->mask ? p->mask + batch * p->mask_stride[0] + number * p->mask_stride[1] : NULL;
    h.logsumexp = p->logsumexp + (batch * p->heads + number) * p->queries;
    return h;
}

/* rows [0, n) of `width` elements to columns: to[width][QB] */
static void turn_in(float *to, const float *from, int64_t row, int64_t n, int64_t width)
{
    for (int64_t i = 0; i < n; i += LANES)
        for (int64_t e = 0; e < width; e += LANES) {
            vf r[LANES];
            uint32_t bits = td_lanes(width - e, LANES);
            for (int64_t j = 0; j < LANES; j++)
                r[j] = i + j < n ? vf_load_part(bits, from + (i + j) * row + e) : vf_zero();
            vf_transpose(r);
            for (int64_t j = 0; j < least(LANES, width - e); j++)
                vf_store(to + (e + j) * QB + i, r[j]);
        }
}

/* from[width][QB], times `factor` per column, to rows */
static void turn_out(float *to, int64_t row, const float *from, const float *factor, int64_t n,
                     int64_t width)
{
    for (int64_t i = 0; i < n; i += LANES)
        for (int64_t e = 0; e < width; e += LANES) {
            vf r[LANES], f = vf_load(factor + i);
            for (int64_t j = 0; j < LANES; j++)
                r[j] = e + j < width ? vf_mul(vf_load(from + (e + j) * QB + i), f) : vf_zero();
            vf_transpose(r);
            uint32_t bits = td_lanes(width - e, LANES);
            for (int64_t j = 0; j < least(LANES, n - i); j++)
                vf_store_part(to + (i + j) * row + e, bits, r[j]);
        }
}

/* ---- scores[key][QB] ---- */

/* add mask[query][key]; minus infinity hides a score whatever it is */
static void add_mask(const head *h, float *scores, int64_t first_query, int64_t n,
                     int64_t first_key, int64_t keys)
{
    const int64_t *stride = h->p->mask_stride;
    const float *mask = h->mask + first_query * stride[2] + first_key * stride[3];
    for (int64_t i = 0; i < n; i += LANES)
        for (int64_t s = 0; s < keys; s += LANES) {
            vf r[LANES];
            uint32_t bits = td_lanes(keys - s, LANES);
            for (int64_t j = 0; j < LANES; j++) {
                const float *from = mask + (i + j) * stride[2] + s * stride[3];
                r[j] = i + j >= n       ? vf_zero()
                       : stride[3] == 1 ? vf_load_part(bits, from)
                                        : vf_gather(bits, from, stride[3]);
            }
            vf_transpose(r);
            for (int64_t j = 0; j < least(LANES, keys - s); j++) {
                float *row = scores + (s + j) * QB + i;
                vf_store(row, vf_hidden(r[j], vf_fma(r[j], vf_set1(LOG2_E), vf_load(row))));
            }
        }
}

static void score(const head *h, const float *turned_q, float *scores, int64_t first_query,
                  int64_t n, int64_t first_key, int64_t keys)
{
    const td_attention *p = h->p;
    multiply(keys, n, p->width, p->scale * LOG2_E, h->k + first_key * p->k.row, p->k.row, 1,
             turned_q, QB, scores, QB, 0);
    if (h->mask) add_mask(h, scores, first_query, n, first_key, keys);
}

/* Which keys of a block the LANES queries from `query` on may see: all of them the first `whole`,
 * some of them those before `some`, none of them the rest. */
typedef struct sight {
    int64_t query, first_key, whole, some;
} sight;

static int64_t within(int64_t x, int64_t most) { return x < 0 ? 0 : x < most ? x : most; }

static sight sight_of(const td_attention *p, int64_t query, int64_t first_key, int64_t keys)
{
    if (!p->causal) return (sight){query, first_key, keys, keys};
    return (sight){query, first_key, within(query + 1 - first_key, keys),
                   within(query + LANES - first_key, keys)};
}

/* the scores of key s, -inf for the queries before it */
TD_INLINE vf partly_seen(const sight *g, const float *row, int64_t s)
{
    uint32_t hidden = td_lanes(g->first_key + s - g->query, LANES);
    return vf_select(hidden, vf_set1(-INFINITY), vf_load(row));
}

static int64_t keys_seen(const td_attention *p, int64_t first_query, int64_t n)
{
    return p->causal ? least(p->keys, first_query + n) : p->keys;
}

/* ---- forward ---- */
typedef struct running { /* the softmax of each query so far */
    float top[QB], sum[QB], factor[QB];
} running;

/* the largest score of each lane, with that of earlier blocks */
TD_INLINE vf new_top(const sight *g, const float *scores, vf old)
{
    vf a = old, b = old;
    int64_t s = 0;
    for (; s + 2 <= g->whole; s += 2) {
        a = vf_max(a, vf_load(scores + s * QB));
        b = vf_max(b, vf_load(scores + (s + 1) * QB));
    }
    if (s < g->whole) a = vf_max(a, vf_load(scores + s * QB));
    for (s = g->whole; s < g->some; s++) b = vf_max(b, partly_seen(g, scores + s * QB, s));
    return vf_max(a, b);
}

/* Scores of LANES queries to weights; a lane that has seen nothing keeps the top -inf and gets
 * zeros. Returns the sums. */
TD_INLINE vf weigh(const sight *g, float *scores, int64_t keys, vf top)
{
    vf shift = vf_max(vf_set1(-3e38f), top), sum = vf_zero(), more = vf_zero();
    int64_t s = 0;
    for (; s + 2 <= g->whole; s += 2) {
        vf x = exp2_vf(vf_sub(vf_load(scores + s * QB), shift)),
           y = exp2_vf(vf_sub(vf_load(scores + (s + 1) * QB), shift));
        vf_store(scores + s * QB, x);
        vf_store(scores + (s + 1) * QB, y);
        sum = vf_add(sum, x);
        more = vf_add(more, y);
    }
    for (; s < g->some; s++) {
        vf x = exp2_vf(vf_sub(
            s < g->whole ? vf_load(scores + s * QB) : partly_seen(g, scores + s * QB, s), shift));
        vf_store(scores + s * QB, x);
        sum = vf_add(sum, x);
    }
    for (; s < keys; s++) vf_store(scores + s * QB, vf_zero());
    return vf_add(sum, more);
}

/* scores to weights; sums and tops move on; factor: by what earlier results shrink */
static void soften(const td_attention *p, float *scores, int64_t first_query, int64_t n,
                   int64_t first_key, int64_t keys, running *r)
{
    for (int64_t i = 0; i < n; i += LANES) {
        sight g = sight_of(p, first_query + i, first_key, keys);
        vf old = vf_load(r->top + i), top = new_top(&g, scores + i, old);
        vf sum = weigh(&g, scores + i, keys, top),
           factor = exp2_vf(vf_sub(old, vf_max(vf_set1(-3e38f), top)));
        vf_store(r->factor + i, factor);
        vf_store(r->sum + i, vf_fma(vf_load(r->sum + i), factor, sum));
        vf_store(r->top + i, top);
    }
}

static void shrink(float *sums, int64_t n, int64_t width, const float *factor)
{
    for (int64_t i = 0; i < n; i += LANES) {
        vf f = vf_load(factor + i);
        for (int64_t e = 0; e < width; e++)
            vf_store(sums + e * QB + i, vf_mul(vf_load(sums + e * QB + i), f));
    }
}

/* In double: rounded to float it would be off by more than the weights that backward makes from it.
 */
static double log_sum(float top, float sum)
{
    return sum != 0 ? top + log2((double)sum) : -INFINITY;
}

static void finish_rows(const head *h, running *r, const float *sums, int64_t first, int64_t n)
{
    const td_attention *p = h->p;
    for (int64_t i = 0; i < QB; i++) r->factor[i] = i < n && r->sum[i] != 0 ? 1 / r->sum[i] : 0;
    for (int64_t i = 0; i < n; i++) h->logsumexp[first + i] = log_sum(r->top[i], r->sum[i]) * M_LN2;
    turn_out(h->out + first * p->out.row, p->out.row, sums, r->factor, n, p->value_width);
}

/* work: turned q [width][QB], scores [KB][QB], sums [value_width][QB] */
static void start_rows(running *r)
{
    for (int64_t i = 0; i < QB; i++) {
        r->top[i] = -INFINITY;
        r->sum[i] = 0;
    }
}

static void forward_block(const head *h, int64_t first, int64_t n, float *work)
{
    const td_attention *p = h->p;
    float *turned = work, *scores = turned + p->width * QB, *sums = scores + KB * QB;
    running r;
    start_rows(&r);
    turn_in(turned, h->q + first * p->q.row, p->q.row, n, p->width);
    int64_t seen = keys_seen(p, first, n);
    memset(sums, 0, (size_t)(p->value_width * QB) * sizeof(float));
    for (int64_t s = 0; s < seen; s += KB) {
        int64_t keys = least(KB, seen - s);
        score(h, turned, scores, first, n, s, keys);
        soften(p, scores, first, n, s, keys, &r);
        if (s > 0) shrink(sums, n, p->value_width, r.factor);
        multiply(p->value_width, n, keys, 1, h->v + s * p->v.row, 1, p->v.row, scores, QB, sums, QB,
                 s > 0);
    }
    finish_rows(h, &r, sums, first, n);
}

/* ---- forward with few queries: a row of scores per query, keys read in place ---- */
#define FEW 6

static void soften_row(float *row, int64_t keys, float *sum_out, float *top_out)
{
    vf best = vf_set1(-INFINITY), sum = vf_zero();
    int64_t s = 0;
    for (; s + LANES <= keys; s += LANES) best = vf_max(best, vf_load(row + s));
    float top = vf_top(best);
    for (; s < keys; s++) top = top > row[s] ? top : row[s];
    vf shift = vf_max(vf_set1(-3e38f), vf_set1(top));
    for (s = 0; s < keys; s += LANES) {
        uint32_t bits = td_lanes(keys - s, LANES);
        vf x = exp2_vf(
            vf_sub(vf_select(bits, vf_load_part(bits, row + s), vf_set1(-INFINITY)), shift));
        vf_store_part(row + s, bits, x);
        sum = vf_add(sum, x);
    }
    *sum_out = vf_sum(sum);
    *top_out = top;
}

static void few_scores(const head *h, float *scores)
{
    const td_attention *p = h->p;
    td_gemm g = {.m = p->queries,
                 .n = p->keys,
                 .k = p->width,
                 .a = h->q,
                 .a_row = p->q.row,
                 .a_col = 1,
                 .b = h->k,
                 .b_row = 1,
                 .b_col = p->k.row,
                 .c = scores,
                 .c_row = p->keys,
                 .alpha = p->scale * LOG2_E,
                 .way = TD_GEMM_DOT};
    TD_SYM(td_gemm_kernels).real[0].run(&g, NULL);
}

/* scores of query i to weights that add up to `sum`; the logarithm of the sum, in the scores' units
 */
static double soften_few(const head *h, int64_t i, float *row, float *sum)
{
    const td_attention *p = h->p;
    int64_t seen = keys_seen(p, i, 1);
    float top;
    if (h->mask)
        for (int64_t s = 0; s < seen; s++) {
            float added = h->mask[i * p->mask_stride[2] + s * p->mask_stride[3]];
            row[s] = added == -INFINITY ? added : row[s] + added * LOG2_E;
        }
    soften_row(row, seen, sum, &top);
    return log_sum(top, *sum);
}

/* work: scores [queries][keys], then what the product kernel wants */
static void forward_few(const head *h, float *work)
{
    const td_attention *p = h->p;
    float *scores = work, *pack = scores + (p->queries * p->keys + 15) / 16 * 16;
    few_scores(h, scores);
    for (int64_t i = 0; i < p->queries; i++) {
        float *row = scores + i * p->keys, sum;
        int64_t seen = keys_seen(p, i, 1);
        h->logsumexp[i] = soften_few(h, i, row, &sum) * M_LN2;
        for (int64_t s = 0; s < seen; s++) row[s] = sum != 0 ? row[s] / sum : 0;
        for (int64_t s = seen; s < p->keys; s++) row[s] = 0;
    }
    td_gemm g = {.m = p->queries,
                 .n = p->value_width,
                 .k = p->keys,
                 .a = scores,
                 .a_row = p->keys,
                 .a_col = 1,
                 .b = h->v,
                 .b_row = p->v.row,
                 .b_col = 1,
                 .c = h->out,
                 .c_row = p->out.row,
                 .alpha = 1,
                 .way = TD_GEMM_DIRECT};
    TD_SYM(td_gemm_kernels).real[0].run(&g, pack);
}

static int64_t forward_work(const td_attention *p)
{
    int64_t blocks = (p->width + KB + p->value_width) * QB,
            few = p->queries * p->keys + 64 + FEW * 512 + 64;
    return (p->queries <= FEW ? few : blocks) * (int64_t)sizeof(float);
}

static void forward(const td_attention *p, int64_t begin, int64_t end, void *work)
{
    int64_t blocks = td_attention_blocks(p);
    for (int64_t task = begin; task < end; task++) {
        int64_t which = task / blocks, first = task % blocks * QB;
        head h = head_of(p, which / p->heads, which % p->heads);
        if (p->queries <= FEW) forward_few(&h, work);
        else forward_block(&h, first, least(QB, p->queries - first), work);
    }
}

/* ---- backward: weights come again from the scores and their saved logsumexp ---- */
typedef struct block_work {
    float *turned_q, *turned_grad; /* [width][QB], [value_width][QB] */
    /* [KB][QB]: softmax weights, and the gradient with respect to the scores */
    float *weights, *slopes;
    float *dq; /* [width][QB] */
    /* logsumexp of each query, in the scores' units, as the sum of two */
    float shift[QB], low[QB];
    float delta[QB]; /* sum of its gradient times its output */
    float *few;      /* [queries][keys], where there are few queries */
} block_work;

static void set_shift(block_work *w, int64_t i, double sum)
{
    bool seen = sum != -INFINITY; /* a query that saw nothing: all its weights are 0 */
    w->shift[i] = seen ? (float)sum : INFINITY;
    w->low[i] = seen ? (float)(sum - w->shift[i]) : 0;
}

/* More than the two products round small scores apart? Then the sum given is not of these keys
 * alone, or the scores are large. */
static bool is_another_sum(double given, double own)
{
    return fabs(given - own) > 2e-6 + 1e-7 * fabs(own);
}

/* by how much each given sum is larger than that of the scores of few queries as forward had them
 */
static void add_what_is_more(const head *h, double *own, const double *given, float *scores)
{
    few_scores(h, scores);
    for (int64_t i = 0; i < h->p->queries; i++) {
        float sum;
        own[i] += given[i] - soften_few(h, i, scores + i * h->p->keys, &sum) * M_LN2;
    }
}

/* Few queries had their scores from another product, which rounds otherwise; large scores differ by
 * more than weights may. Their sums come from the scores that backward itself computes. A sum given
 * may be of more keys than these (a ring of processes); what it has more is added. */
static void sum_again(const head *h, block_work *w, int64_t n)
{
    const td_attention *p = h->p;
    const double *given = h->logsumexp;
    double own[FEW];
    bool others = false;
    int64_t seen = keys_seen(p, 0, n);
    running r;
    start_rows(&r);
    for (int64_t s = 0; s < seen; s += KB) {
        int64_t keys = least(KB, seen - s);
        score(h, w->turned_q, w->weights, 0, n, s, keys);
        soften(p, w->weights, 0, n, s, keys, &r);
    }
    for (int64_t i = 0; i < n; i++) {
        own[i] = log_sum(r.top[i], r.sum[i]) * M_LN2;
        others |= is_another_sum(given[i], own[i]);
    }
    if (others) add_what_is_more(h, own, given, w->few);
    for (int64_t i = 0; i < n; i++) /* NaN: neither this call nor forward saw a key */
        set_shift(w, i, given[i] == -INFINITY || isnan(own[i]) ? given[i] / M_LN2 : own[i] / M_LN2);
}

static void start_block(const head *h, block_work *w, int64_t first, int64_t n)
{
    const td_attention *p = h->p;
    turn_in(w->turned_q, h->q + first * p->q.row, p->q.row, n, p->width);
    turn_in(w->turned_grad, h->grad + first * p->grad.row, p->grad.row, n, p->value_width);
    for (int64_t i = 0; i < QB; i++) {
        set_shift(w, i, i < n ? h->logsumexp[first + i] / M_LN2 : 0);
        w->delta[i] = 0;
        if (i >= n) continue;
        const float *g = h->grad + (first + i) * p->grad.row,
                    *o = h->out + (first + i) * p->out.row;
        w->delta[i] = (float)TD_SYM(td_gemm_kernels).real[0].dot(p->value_width, g, 1, o, 1);
    }
    if (p->queries <= FEW) sum_again(h, w, n);
}

/* weights = 2^(scores - shift); slopes = weights * (slopes - delta). The scores have the bits that
 * forward had, and the sum its digits, so the weights of a query add up to 1 whatever their size.
 */
TD_INLINE void differentiate_row(float *weights, float *slopes, vf scores, vf shift, vf low,
                                 vf delta)
{
    vf x = exp2_vf(vf_sub(vf_sub(scores, shift), low));
    vf_store(weights, x);
    vf_store(slopes, vf_mul(x, vf_sub(vf_load(slopes), delta)));
}

static void differentiate(const td_attention *p, block_work *w, int64_t first_query, int64_t n,
                          int64_t first_key, int64_t keys)
{
    for (int64_t i = 0; i < n; i += LANES) {
        sight g = sight_of(p, first_query + i, first_key, keys);
        vf shift = vf_load(w->shift + i), low = vf_load(w->low + i), delta = vf_load(w->delta + i);
        float *weights = w->weights + i, *slopes = w->slopes + i;
        int64_t s = 0;
        for (; s < g.whole; s++)
            differentiate_row(weights + s * QB, slopes + s * QB, vf_load(weights + s * QB), shift,
                              low, delta);
        for (; s < g.some; s++)
            differentiate_row(weights + s * QB, slopes + s * QB,
                              partly_seen(&g, weights + s * QB, s), shift, low, delta);
        for (; s < keys; s++) {
            vf_store(weights + s * QB, vf_zero());
            vf_store(slopes + s * QB, vf_zero());
        }
    }
}

/* one block of keys: adds to its rows of dk and dv, and to dq */
static void backward_keys(const head *h, block_work *w, int64_t first, int64_t n, int64_t s,
                          int64_t keys)
{
    const td_attention *p = h->p;
    score(h, w->turned_q, w->weights, first, n, s, keys);
    multiply(keys, n, p->value_width, 1, h->v + s * p->v.row, p->v.row, 1, w->turned_grad, QB,
             w->slopes, QB, 0);
    differentiate(p, w, first, n, s, keys);
    multiply(keys, p->value_width, n, 1, w->weights, QB, 1, h->grad + first * p->grad.row,
             p->grad.row, h->dv + s * p->dv.row, p->dv.row, 1);
    multiply(keys, p->width, n, p->scale, w->slopes, QB, 1, h->q + first * p->q.row, p->q.row,
             h->dk + s * p->dk.row, p->dk.row, 1);
    multiply(p->width, n, keys, p->scale, h->k + s * p->k.row, 1, p->k.row, w->slopes, QB, w->dq,
             QB, s > 0);
}

static void clear_rows(float *rows, int64_t row, int64_t from, int64_t to, int64_t width)
{
    for (int64_t i = from; i < to; i++) memset(rows + i * row, 0, (size_t)width * sizeof(float));
}

/* one head of queries; `started`: keys whose dk and dv hold sums already */
static int64_t backward_head(const head *h, block_work *w, int64_t started)
{
    const td_attention *p = h->p;
    float one[QB];
    for (int64_t i = 0; i < QB; i++) one[i] = 1;
    for (int64_t first = 0; first < p->queries; first += QB) {
        int64_t n = least(QB, p->queries - first), seen = keys_seen(p, first, n);
        start_block(h, w, first, n);
        if (started < seen) { /* rows that nothing was added to yet */
            clear_rows(h->dk, p->dk.row, started, seen, p->width);
            clear_rows(h->dv, p->dv.row, started, seen, p->value_width);
            started = seen;
        }
        /* the first block of keys starts the sums; without one they are zeros */
        if (!seen) memset(w->dq, 0, (size_t)(p->width * QB) * sizeof *w->dq);
        for (int64_t s = 0; s < seen; s += KB)
            backward_keys(h, w, first, n, s, least(KB, seen - s));
        turn_out(h->dq + first * p->dq.row, p->dq.row, w->dq, one, n, p->width);
    }
    return started;
}

static int64_t backward_work(const td_attention *p)
{
    int64_t few = p->queries <= FEW ? p->queries * p->keys + 64 : 0;
    return ((2 * p->width + p->value_width + 2 * KB) * QB + few) * (int64_t)sizeof(float);
}

static void backward(const td_attention *p, int64_t begin, int64_t end, void *work)
{
    block_work w = {.turned_q = work};
    int64_t group = p->heads / p->kv_heads;
    w.turned_grad = w.turned_q + p->width * QB;
    w.weights = w.turned_grad + p->value_width * QB;
    w.slopes = w.weights + KB * QB;
    w.dq = w.slopes + KB * QB;
    w.few = w.dq + p->width * QB;
    for (int64_t task = begin; task < end; task++) {
        int64_t batch = task / p->kv_heads, shared = task % p->kv_heads, started = 0;
        head h = {0};
        for (int64_t i = 0; i < group; i++) {
            h = head_of(p, batch, shared * group + i);
            started = backward_head(&h, &w, started);
        }
        clear_rows(h.dk, p->dk.row, started, p->keys, p->width);
        clear_rows(h.dv, p->dv.row, started, p->keys, p->value_width);
    }
}

const td_attention_kernel TD_SYM(td_attention_kernel) = {forward_work, forward, backward_work,
                                                         backward};
