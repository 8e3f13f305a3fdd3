/* softmax.h - softmax and its kin along one dimension of dense tensors: the passes, lanes and trees
 * of cpu/softmax.c, so its bits. td_softmax_together: 64 threads a row whose elements lie side by
 * side; td_softmax_alone: one thread a column. td_softmax_segments_together: 64 threads a segment
 * of a row.
 */
#ifndef TD_SOFTMAX_TEXT_H
#define TD_SOFTMAX_TEXT_H
#include "cpu/simd/vmath.h"
#include "cuda/kernels/fault.h"
#include "cuda/kernels/reduce.h"

enum td_softmax_kind {
    TD_SOFTMAX,
    TD_LOG_SOFTMAX,
    TD_SOFTMAX_BACKWARD,
    TD_LOG_SOFTMAX_BACKWARD,
    TD_LOGSUMEXP
};

struct td_softmax_call { /* laid out as in csrc/cuda/softmax.c */
    char *out;
    const char *a, *b;
    int64_t outer, n, inner, kind;
    const int64_t *edges; /* segments + 1 of them */
    int64_t segments;
    td_ticket ticket;
};
#define TD_FIRST(a, x) vmax(a, x) /* as the processor's JOIN_TOP: the later number beside a NaN */
TD_FOLD(td_fold_top, -INFINITY, TD_SAME, TD_FIRST)

template <class R> struct td_softmax_of;
template <> struct td_softmax_of<float> {
    enum { dtype = TD_F32 };
};
template <> struct td_softmax_of<double> {
    enum { dtype = TD_F64 };
};
VFN float td_log_of(float x) { return logf(x); }
VFN double td_log_of(double x) { return log(x); }

/* ---- rows ---- */
template <class R> VFN R td_exp_sum(const R *x, int64_t n, R shift)
{
    typedef typename td_vector<R>::type V;
    enum { lanes = td_vector<R>::lanes / 2 }; /* SUM_BYTES */
    V s = V(R(0));
    if (threadIdx.x < lanes)
        for (int64_t i = threadIdx.x; i < n; i += lanes) s = s + vexp(V(x[i]) - V(shift));
    return td_tree<td_fold_sum, R>(s, lanes);
}
template <class R> VFN R td_dot_of(const R *x, const R *y, int64_t n)
{
    typedef typename td_vector<R>::type V;
    enum { lanes = td_vector<R>::lanes / 2 };
    V s = V(R(0));
    if (threadIdx.x < lanes)
        for (int64_t i = threadIdx.x; i < n; i += lanes) s = vfma(V(x[i]), V(y[i]), s);
    return td_tree<td_fold_sum, R>(s, lanes);
}
VFN float td_row_sum(const float *x, int64_t n) { return td_fold_four<td_fold_sum, TD_F32>(x, n); }
VFN double td_row_sum(const double *x, int64_t n)
{
    return td_fold_plain<td_fold_sum, TD_F64, double>(x, n);
}

/* A long row's sums as on the processor: blocks in the working precision, which come together in
 * double. The number that `kind` sums up: exponentials, products, or the numbers. */
#define TD_SOFTMAX_BLOCK 4096
template <class R>
VFN double td_in_blocks(const td_softmax_call &c, const R *x, const R *y, R shift)
{
    double total = 0;
    for (int64_t at = 0; at < c.n; at += TD_SOFTMAX_BLOCK) {
        int64_t m = c.n - at < TD_SOFTMAX_BLOCK ? c.n - at : TD_SOFTMAX_BLOCK;
        total += (double)(c.kind == TD_SOFTMAX_BACKWARD       ? td_dot_of(x + at, y + at, m)
                          : c.kind == TD_LOG_SOFTMAX_BACKWARD ? td_row_sum(x + at, m)
                                                              : td_exp_sum(x + at, m, shift));
    }
    return total;
}

template <class R> VFN void td_softmax_row(const td_softmax_call &c, R *o, const R *x, const R *y)
{
    typedef typename td_vector<R>::type V;
    enum { D = td_softmax_of<R>::dtype };
    bool backward = c.kind == TD_SOFTMAX_BACKWARD || c.kind == TD_LOG_SOFTMAX_BACKWARD;
    R top = backward ? R(0) : td_fold_plain<td_fold_top, D, R>(x, c.n);
    double total = td_in_blocks(c, x, y, c.kind == TD_LOGSUMEXP && isinf(top) ? R(0) : top);
    if (c.kind == TD_LOGSUMEXP) {
        if (threadIdx.x == 0) *o = isinf(top) ? td_log_of(R(total)) : top + td_log_of(R(total));
        return;
    }
    R sum = c.kind == TD_SOFTMAX       ? R(1 / total)
            : c.kind == TD_LOG_SOFTMAX ? td_log_of(R(total))
                                       : R(total);
    for (int64_t i = threadIdx.x; i < c.n; i += TD_LANES) {
        V p = V(x[i]), q = V(y[i]);
        V made = c.kind == TD_SOFTMAX            ? vexp(p - V(top)) * V(sum)
                 : c.kind == TD_LOG_SOFTMAX      ? (p - V(top)) - V(sum)
                 : c.kind == TD_SOFTMAX_BACKWARD ? (p - V(sum)) * q
                                                 : p - vexp(q) * V(sum);
        o[i] = made.v;
    }
}
template <class R>
__global__ void __launch_bounds__(64) td_softmax_together(const __grid_constant__ td_softmax_call c)
{
    for (int64_t row = blockIdx.x; row < c.outer; row += gridDim.x)
        td_softmax_row(c, (R *)c.out + (c.kind == TD_LOGSUMEXP ? row : row * c.n),
                       (const R *)c.a + row * c.n, (const R *)c.b + row * c.n);
}

/* ---- segments of rows: `edges` rise from 0 to the length of a row ---- */
VFN int64_t td_edge(const td_softmax_call &c, int64_t k)
{
    int64_t edge = c.edges[k < c.segments ? k : c.segments];
    return edge < 0 ? 0 : edge > c.n ? c.n : edge;
}
VFN void td_check_edges(const td_softmax_call &c, int64_t k)
{
    int64_t from = c.edges[k], to = c.edges[k < c.segments ? k + 1 : k];
    bool first = k > 0 || from == 0, last = k + 1 < c.segments || to == c.n;
    if (threadIdx.x == 0 && !(from <= to && first && last)) td_note_fault(c.ticket, from);
}
template <class R>
__global__ void __launch_bounds__(64)
    td_softmax_segments_together(const __grid_constant__ td_softmax_call c)
{
    int64_t segments = c.segments ? c.segments : 1, rows = c.outer ? c.outer : 1;
    for (int64_t i = blockIdx.x; i < rows * segments; i += gridDim.x) {
        int64_t k = i % segments, from = td_edge(c, k), to = td_edge(c, k + 1);
        td_check_edges(c, k);
        if (from >= to || c.outer == 0) continue;
        td_softmax_call one = c;
        one.n = to - from;
        int64_t at = i / segments * c.n + from;
        td_softmax_row(one, (R *)c.out + at, (const R *)c.a + at, (const R *)c.b + at);
    }
}

/* ---- columns ---- */
/* A long column's sum: rows together in the working precision, which come together in double. */
#define TD_SOFTMAX_TOGETHER 256
template <class R> VFN R td_column_sum(const td_softmax_call &c, const R *x, const R *y, R shift)
{
    typedef typename td_vector<R>::type V;
    double all = 0;
    R sum = 0;
    for (int64_t at = 0; at < c.n; at += TD_SOFTMAX_TOGETHER) {
        int64_t end = c.n - at < TD_SOFTMAX_TOGETHER ? c.n : at + TD_SOFTMAX_TOGETHER;
        sum = 0;
        for (int64_t i = at; i < end; i++) {
            R p = x[i * c.inner];
            if (c.kind == TD_SOFTMAX_BACKWARD) sum += p * y[i * c.inner];
            else if (c.kind == TD_LOG_SOFTMAX_BACKWARD) sum += p;
            else sum = (V(sum) + vexp(V(p) - V(shift))).v;
        }
        all += (double)sum;
    }
    return c.n > TD_SOFTMAX_TOGETHER ? (R)all : sum;
}
template <class R>
VFN void td_softmax_column(const td_softmax_call &c, R *o, const R *x, const R *y)
{
    typedef typename td_vector<R>::type V;
    R top = -INFINITY, sum = 0;
    if (c.kind == TD_SOFTMAX_BACKWARD || c.kind == TD_LOG_SOFTMAX_BACKWARD) {
        sum = td_column_sum(c, x, y, R(0));
    } else {
        for (int64_t i = 0; i < c.n; i++) top = x[i * c.inner] > top ? x[i * c.inner] : top;
        if (c.kind == TD_LOGSUMEXP && isinf(top)) top = 0;
        sum = td_column_sum(c, x, y, top);
        if (c.kind == TD_LOGSUMEXP) {
            *o = top + td_log_of(sum);
            return;
        }
        sum = c.kind == TD_SOFTMAX ? 1 / sum : td_log_of(sum);
    }
    for (int64_t i = 0; i < c.n; i++) {
        V p = V(x[i * c.inner]), q = V(y[i * c.inner]);
        V made = c.kind == TD_SOFTMAX            ? vexp(p - V(top)) * V(sum)
                 : c.kind == TD_LOG_SOFTMAX      ? (p - V(top)) - V(sum)
                 : c.kind == TD_SOFTMAX_BACKWARD ? (p - V(sum)) * q
                                                 : p - vexp(q) * V(sum);
        o[i * c.inner] = made.v;
    }
}
template <class R>
__global__ void __launch_bounds__(64) td_softmax_alone(const __grid_constant__ td_softmax_call c)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; k < c.outer * c.inner;
         k += step) {
        int64_t at = k / c.inner * c.n * c.inner + k % c.inner;
        td_softmax_column(c, (R *)c.out + (c.kind == TD_LOGSUMEXP ? k : at), (const R *)c.a + at,
                          (const R *)c.b + at);
    }
}
#endif
