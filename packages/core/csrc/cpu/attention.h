/* attention.h - softmax(scale * Q K^T + mask) V and its gradients without the matrix of weights
 * ever in memory.
 *
 * Float only. Rows of q, k, v, out and the gradients have adjacent elements; their other strides
 * are free, so heads that are views of one projection need no copies. Scores are kept transposed, a
 * row per key and a lane per query: softmax then works on whole vectors, and both products read
 * them in place. */
#ifndef TD_ATTENTION_H
#define TD_ATTENTION_H
#include <stdint.h>
#include "runtime/cpu.h"

typedef struct td_heads { /* [batch][head][row][element] */
    float *data;
    int64_t batch, head, row; /* strides, in elements */
} td_heads;

typedef struct td_attention {
    /* heads / kv_heads queries' heads share one of keys and values */
    int64_t batch, heads, kv_heads;
    int64_t queries, keys;
    int64_t width, value_width; /* elements of a row of q and k, and of v */
    td_heads q, k, v, out;
    const float *mask; /* added to the scores, or NULL */
    int64_t mask_stride[4];
    float scale;
    int causal;        /* query i sees the keys 0 .. i */
    double *logsumexp; /* [batch][heads][queries], dense; -inf for a query that sees nothing */
    td_heads grad, dq, dk, dv; /* backward only */
} td_attention;

#define TD_ATTENTION_QUERIES 64 /* in a task of the forward pass */

typedef struct td_attention_kernel {
    int64_t (*forward_work)(const td_attention *p); /* bytes of scratch */
    /* tasks: blocks of queries, head by head */
    void (*forward)(const td_attention *p, int64_t begin, int64_t end, void *work);
    int64_t (*backward_work)(const td_attention *p);
    /* tasks: heads of keys */
    void (*backward)(const td_attention *p, int64_t begin, int64_t end, void *work);
} td_attention_kernel;

static inline int64_t td_attention_blocks(const td_attention *p)
{
    return (p->queries + TD_ATTENTION_QUERIES - 1) / TD_ATTENTION_QUERIES;
}

extern const td_attention_kernel td_attention_kernel_generic;
#ifdef __x86_64__
extern const td_attention_kernel td_attention_kernel_avx2, td_attention_kernel_avx512;
#endif
#endif
