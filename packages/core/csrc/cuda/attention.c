/* attention.c - attention as batched products of matrices, with softmax between them
 * (kernels/attention.h).
 *
 *   forward    S = scale Q K', W = softmax(S), O = W V
 *   backward   S and dW = dO V' again, then W and dS; dV = W' dO, dK = dS' Q, dQ = dS K
 *
 * Scores are float32, also of 16 bits. 32 MiB of them are made at a time, for as many heads or
 * queries as that holds: they lie in the cache of the device when they are read. */
#include "cpu/attention_run.h"
#include "cpu/matmul/gemm_run.h"
#include "cuda/program.h"
#include "cuda/workers.h"

#define SCORES_BYTES ((int64_t)32 << 20)

/* ---- laid out as in kernels/attention.h ---- */
typedef struct attention_call {
    int64_t units;
    char *scores, *slopes;
    int64_t wide, first, rows, all, first_pair, kv_heads, group, queries, keys;
    const char *grad, *out;
    int64_t grad_pair, grad_row, out_pair, out_row, width;
    const float *mask;
    int64_t mask_stride[4];
    double *logsumexp;
    float scale;
    int causal;
} attention_call;

typedef struct move_call {
    int64_t n, heads, rows, width;
    char *to;
    const char *from;
    int64_t to_batch, to_head, to_row, from_batch, from_head, from_row;
} move_call;

enum { WEIGHTS, SLOPES, MOVE, ROUND };

static td_cuda_work work_of(int which, td_dtype dtype)
{
    static const char *names[] = {"weights", "slopes", "move", "round"};
    return (td_cuda_work){.kind = "attention",
                          .how = which < MOVE ? "attention_together" : "attention_alone",
                          .name = names[which],
                          .dtype = dtype};
}

/* ---- operands: [pairs][rows][width], where a pair is a head of keys ---- */
typedef struct side {
    td_heads at;         /* of heads, as the caller has them */
    int64_t heads, rows; /* of the caller's tensor */
    int64_t width;
    td_dtype dtype;
    char *data;
    int64_t batch, pair, row; /* steps in elements */
    void *block;              /* of a dense copy */
    int64_t bytes;
} side;

enum { Q, K, V, GRAD, OUT, DQ, DK, DV, SIDES };

typedef struct attention {
    const td_attention *p;
    td_dtype dtype;
    int ordinal;
    int64_t group, rows; /* heads of a pair; their queries */
    int64_t wide;
    bool flat; /* pairs of all samples go on by one step */
    side side[SIDES];
    int sides;
    char *scores, *slopes;
    void *block;
    int64_t bytes;
} attention;

static side side_of(const attention *a, td_heads at, int64_t heads, int64_t rows, int64_t width)
{
    int64_t shared = heads / a->p->kv_heads;
    return (side){.at = at,
                  .heads = heads,
                  .rows = rows,
                  .width = width,
                  .dtype = a->dtype,
                  .data = (char *)at.data,
                  .batch = at.batch,
                  .pair = shared * at.head,
                  .row = at.row};
}

/* Are the rows of the heads of a pair one after the other, and if asked for, pairs of samples? */
static bool goes_on(const attention *a, const side *s, bool over_samples)
{
    bool rows = s->heads == a->p->kv_heads || s->at.head == s->rows * s->at.row;
    return rows && (!over_samples || a->p->batch == 1 || s->at.batch == s->heads * s->at.head);
}

static td_status move(const attention *a, const side *s, bool back)
{
    int64_t head = s->rows * s->width;
    td_cuda_work w = work_of(back && s->dtype != a->dtype ? ROUND : MOVE, a->dtype);
    move_call c = {.n = a->p->batch * s->heads * head,
                   .heads = s->heads,
                   .rows = s->rows,
                   .width = s->width,
                   .to = s->data,
                   .from = (const char *)s->at.data,
                   .to_batch = s->heads * head,
                   .to_head = head,
                   .to_row = s->width,
                   .from_batch = s->at.batch,
                   .from_head = s->at.head,
                   .from_row = s->at.row};
    if (back)
        c = (move_call){c.n,       c.heads,     c.rows,     c.width,   (char *)s->at.data,
                        s->data,   s->at.batch, s->at.head, s->at.row, c.to_batch,
                        c.to_head, c.to_row};
    return td_cuda_threads(&w, a->ordinal, c.n, &c);
}

/* Room for a dense one, in a dtype. */
static td_status make_dense(const attention *a, side *s, td_dtype dtype)
{
    s->dtype = dtype;
    s->pair = s->heads / a->p->kv_heads * s->rows * s->width;
    s->row = s->width;
    s->batch = a->p->kv_heads * s->pair;
    s->bytes = a->p->batch * s->batch * td_itemsize(dtype);
    return td_cuda_alloc(&s->data, s->bytes, td_device_of(TD_CUDA, a->ordinal), &s->block);
}

static bool is_result(int which, bool backward) { return backward ? which >= DQ : which == OUT; }

/* How many pairs have as many scores as are made at a time. */
static int64_t fitting(const attention *a)
{
    int64_t pair = a->rows * a->wide * 4;
    return pair ? SCORES_BYTES / pair : INT64_MAX;
}

/* Dense copies where products could not go over the pairs in one call. */
static td_status settle(attention *a, bool backward)
{
    bool over_samples = a->p->batch > 1 && fitting(a) >= 2 * a->p->kv_heads;
    bool split = fitting(a) < 1; /* then sums over queries have parts, which meet in float32 */
    a->flat = over_samples || a->p->batch == 1;
    for (int i = 0; i < a->sides; i++) {
        side *s = &a->side[i];
        td_dtype dtype = split && i >= DK ? TD_F32 : a->dtype;
        if (goes_on(a, s, over_samples) && dtype == a->dtype) continue;
        TD_TRY(make_dense(a, s, dtype));
        if (!is_result(i, backward)) TD_TRY(move(a, s, false));
    }
    return TD_OK;
}

static td_status finish(attention *a, bool backward)
{
    for (int i = 0; i < a->sides; i++)
        if (is_result(i, backward) && a->side[i].block) TD_TRY(move(a, &a->side[i], true));
    return TD_OK;
}

static void release(attention *a)
{
    for (int i = 0; i < a->sides; i++)
        if (a->side[i].block) td_cuda_release(a->side[i].block, a->side[i].data, a->side[i].bytes);
    if (a->block) td_cuda_release(a->block, a->scores, a->bytes);
}

/* ---- parts: pairs from `pair` on, and rows of each ---- */
typedef struct part {
    int64_t pair, pairs, row, rows, keys;
} part;

static const char *at(const attention *a, int which, const part *p)
{
    const side *s = &a->side[which];
    int64_t batch = p->pair / a->p->kv_heads, pair = p->pair % a->p->kv_heads;
    bool by_row = which != K && which != V && which != DK && which != DV;
    return s->data + (batch * s->batch + pair * s->pair + (by_row ? p->row * s->row : 0)) *
                         td_itemsize(s->dtype);
}

/* A factor or result: an operand, or scores. `turned`: its rows are the product's columns. */
typedef struct factor {
    const char *data;
    int64_t pair, row, column;
    td_dtype dtype;
} factor;

static factor operand(const attention *a, int which, const part *p)
{
    const side *s = &a->side[which];
    return (factor){at(a, which, p), s->pair, s->row, 1, s->dtype};
}
static factor turned(factor f) { return (factor){f.data, f.pair, f.column, f.row, f.dtype}; }
/* what replaced the scores, in a dtype */
static factor weights(const attention *a, const char *data, const part *p, td_dtype dtype)
{
    int64_t row = a->wide * 4 / td_itemsize(dtype);
    return (factor){data, p->rows * row, row, 1, dtype};
}

static td_status multiply(const attention *a, const part *p, factor x, factor y, factor z,
                          const int64_t sizes[3], double alpha, bool add)
{
    if (!sizes[0] || !sizes[1]) return TD_OK;
    td_product product = {.dtype = z.dtype,
                          .shorter = x.dtype != z.dtype ? x.dtype : 0,
                          .m = sizes[0],
                          .n = sizes[1],
                          .k = sizes[2],
                          .a = x.data,
                          .b = y.data,
                          .c = (char *)z.data,
                          .a_row = x.row,
                          .a_col = x.column,
                          .b_row = y.row,
                          .b_col = y.column,
                          .c_row = z.row,
                          .alpha = td_scalar_float(alpha),
                          .beta = td_scalar_int(add),
                          .batch_dims = 1,
                          .batch = {p->pairs},
                          .a_batch = {x.pair},
                          .b_batch = {y.pair},
                          .c_batch = {z.pair}};
    return td_cuda_product(&product, td_device_of(TD_CUDA, a->ordinal));
}

static td_status launch(const attention *a, int work, const part *p)
{
    const td_attention *q = a->p;
    td_cuda_work w = work_of(work, a->dtype);
    attention_call c = {.units = p->pairs * p->rows,
                        .scores = a->scores,
                        .slopes = a->slopes,
                        .wide = a->wide,
                        .first = p->row,
                        .rows = p->rows,
                        .all = a->rows,
                        .first_pair = p->pair,
                        .kv_heads = q->kv_heads,
                        .group = a->group,
                        .queries = q->queries,
                        .keys = p->keys,
                        .mask = q->mask,
                        .logsumexp = q->logsumexp,
                        .scale = q->scale,
                        .causal = q->causal};
    for (int d = 0; d < 4; d++) c.mask_stride[d] = q->mask_stride[d];
    if (work == SLOPES) {
        c.grad = at(a, GRAD, p);
        c.out = at(a, OUT, p);
        c.grad_pair = a->side[GRAD].pair;
        c.grad_row = a->side[GRAD].row;
        c.out_pair = a->side[OUT].pair;
        c.out_row = a->side[OUT].row;
        c.width = q->value_width;
    }
    return td_cuda_blocks(&w, a->ordinal, c.units, &c);
}

static td_status forward_part(attention *a, const part *p)
{
    const td_attention *q = a->p;
    const int64_t score[] = {p->rows, p->keys, q->width};
    const int64_t value[] = {p->rows, q->value_width, p->keys};
    TD_TRY(multiply(a, p, operand(a, Q, p), turned(operand(a, K, p)),
                    weights(a, a->scores, p, TD_F32), score, q->scale, false));
    TD_TRY(launch(a, WEIGHTS, p));
    return multiply(a, p, weights(a, a->scores, p, a->dtype), operand(a, V, p), operand(a, OUT, p),
                    value, 1, false);
}

static td_status backward_part(attention *a, const part *p)
{
    const td_attention *q = a->p;
    bool add = p->row + p->rows < a->rows; /* the last rows come first */
    const int64_t score[] = {p->rows, p->keys, q->width};
    const int64_t slope[] = {p->rows, p->keys, q->value_width};
    const int64_t by_query[] = {p->rows, q->width, p->keys};
    const int64_t by_key[] = {p->keys, q->width, p->rows};
    const int64_t by_value[] = {p->keys, q->value_width, p->rows};
    TD_TRY(multiply(a, p, operand(a, Q, p), turned(operand(a, K, p)),
                    weights(a, a->scores, p, TD_F32), score, q->scale, false));
    TD_TRY(multiply(a, p, operand(a, GRAD, p), turned(operand(a, V, p)),
                    weights(a, a->slopes, p, TD_F32), slope, 1, false));
    TD_TRY(launch(a, SLOPES, p));
    factor w = weights(a, a->scores, p, a->dtype), s = weights(a, a->slopes, p, a->dtype);
    TD_TRY(multiply(a, p, s, operand(a, K, p), operand(a, DQ, p), by_query, 1, false));
    TD_TRY(multiply(a, p, turned(s), operand(a, Q, p), operand(a, DK, p), by_key, 1, add));
    return multiply(a, p, turned(w), operand(a, GRAD, p), operand(a, DV, p), by_value, 1, add);
}

/* What the rows of a part may see. Sums over queries start with the last part, and with all keys.
 */
static int64_t keys_of(const attention *a, const part *p, bool backward)
{
    const td_attention *q = a->p;
    int64_t last = p->row + p->rows - 1;
    if (!q->causal || !p->rows || p->row / q->queries != last / q->queries) return q->keys;
    if (backward && last + 1 == a->rows) return q->keys;
    return last % q->queries + 1 < q->keys ? last % q->queries + 1 : q->keys;
}

/* of a part: all, or as many as fit where those of one pair do not */
static int64_t rows_of(const attention *a)
{
    if (fitting(a) >= 1) return a->rows ? a->rows : 1;
    int64_t rows = SCORES_BYTES / (a->wide * 4) / 64 * 64;
    return rows < 64 ? 64 : rows;
}

static td_status run_parts(attention *a, bool backward)
{
    int64_t all = a->p->batch * a->p->kv_heads, fit = fitting(a), rows = rows_of(a);
    if (fit < 1) fit = 1;
    for (part p = {0}; p.pair < all; p.pair += p.pairs) {
        int64_t rest = a->flat ? all - p.pair : a->p->kv_heads - p.pair % a->p->kv_heads;
        p.pairs = fit < rest ? fit : rest;
        int64_t end = a->rows; /* no rows: gradients of keys are zeros */
        do {
            p.row = end ? (end - 1) / rows * rows : 0;
            p.rows = end - p.row;
            p.keys = keys_of(a, &p, backward);
            TD_TRY(backward ? backward_part(a, &p) : forward_part(a, &p));
            end = p.row;
        } while (end);
    }
    return TD_OK;
}

/* Scores of the largest part, and of a backward pass slopes. */
static td_status take_scores(attention *a, bool backward)
{
    int64_t fit = fitting(a), all = a->p->batch * a->p->kv_heads;
    if (fit < 1) fit = 1;
    int64_t bytes = (fit < all ? fit : all) * rows_of(a) * a->wide * 4;
    a->bytes = backward ? 2 * bytes : bytes;
    TD_TRY(td_cuda_alloc(&a->scores, a->bytes, td_device_of(TD_CUDA, a->ordinal), &a->block));
    a->slopes = a->scores + bytes;
    return TD_OK;
}

td_status td_cuda_attention(const void *job, td_device device)
{
    const td_attention_job *j = job;
    const td_attention *p = j->problem;
    attention a = {.p = p,
                   .dtype = j->dtype,
                   .ordinal = td_device_index(device),
                   .group = p->heads / p->kv_heads,
                   .rows = p->heads / p->kv_heads * p->queries,
                   .wide = (p->keys + 8) / 8 * 8,
                   .sides = j->backward ? SIDES : OUT + 1};
    const td_heads *heads[] = {&p->q, &p->k, &p->v, &p->grad, &p->out, &p->dq, &p->dk, &p->dv};
    for (int i = 0; i < a.sides; i++) {
        bool keys = i == K || i == V || i == DK || i == DV;
        bool values = i == V || i == GRAD || i == OUT || i == DV;
        a.side[i] = side_of(&a, *heads[i], keys ? p->kv_heads : p->heads,
                            keys ? p->keys : p->queries, values ? p->value_width : p->width);
    }
    TD_TRY(td_cuda_use(a.ordinal));
    td_status status = settle(&a, j->backward);
    if (status == TD_OK) status = take_scores(&a, j->backward);
    if (status == TD_OK) status = run_parts(&a, j->backward);
    if (status == TD_OK) status = finish(&a, j->backward);
    release(&a);
    return status;
}
