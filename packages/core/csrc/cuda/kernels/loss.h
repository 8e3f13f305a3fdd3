/* loss.h - losses between pairs of elements, and of class scores: the sums of cpu/loss.c in the
 * same blocks, lanes and trees, so the processor's bits.
 *
 *   td_loss_sum_together<Pair, R>                 64 threads a block of 4,096 pairs; its sum, as double
 *   td_loss_join_together<td_loss_one>            one block: the sum of these; td_loss_two: of losses and weights
 *   td_loss_alone<td_loss_each<Pair, R>>          the single losses
 *   td_loss_alone<td_loss_slope<Pair, R>>         the gradient
 *   td_loss_rows_together<R>                      statistics of cross entropy: 64 threads a row of scores
 *   td_loss_alone<td_loss_columns<R>>             the same where scores lie apart
 *   td_loss_alone<td_loss_pick<R>>                a thread for 4,096 targets: their losses and weights
 *   td_loss_alone<td_loss_scales<R>>              the factor of every target's gradient
 *   td_loss_alone<td_loss_gradient<R>>            a thread for each score
 *   td_loss_margins_together<R>                   margins between classes: 64 threads a row */
#ifndef TD_LOSS_TEXT_H
#define TD_LOSS_TEXT_H
#include "cpu/loss_pairs.h"
#include "cuda/kernels/fault.h"
#include "cuda/kernels/softmax.h"

#define TD_LOSS_TARGETS 4096 /* targets of one partial sum */

struct td_loss_call { /* laid out as in csrc/cuda/loss.c */
    char *out, *slope;
    const char *x, *t, *g, *weight, *scale, *statistics; /* t: of pairs, or the targets (int64) */
    double *partial;
    const double *total; /* the sum of weights that the gradient of a mean is divided by, or NULL */
    int64_t n, count, classes, inner, ignore, each; /* n: threads, blocks or rows with work */
    int64_t mean, chunk; /* chunk: how many partial sums meet before they join the others */
    double scale_by, parameter, divisor;
    td_ticket ticket; /* of targets that are no class, and of what is no probability */
};

/* ---- pairs ---- */
#define TD_PAIR(name, VALUE, SLOPE)                                              \
    struct td_pair_##name {                                                      \
        template <class V> static TD_IN V value(V x, V t, V p) { return VALUE; } \
        template <class V> static TD_IN V slope(V x, V t, V p) { return SLOPE; } \
    };
TD_PAIR(mse, MSE_VALUE, MSE_SLOPE)
TD_PAIR(l1, L1_VALUE, L1_SLOPE)
TD_PAIR(smoothl1, SMOOTH_L1_VALUE, SMOOTH_L1_SLOPE)
TD_PAIR(huber, HUBER_VALUE, HUBER_SLOPE)
TD_PAIR(softmargin, SOFT_MARGIN_VALUE, SOFT_MARGIN_SLOPE)
TD_PAIR(bce, BCE_VALUE, BCE_SLOPE)
TD_PAIR(bcelogits, BCE_LOGITS_VALUE, BCE_LOGITS_SLOPE)

template <class Pair, class R> VFN R td_pair_input(const td_loss_call &c, R x)
{
    /* kernels of binary cross entropy have a ticket */
    if (c.ticket.number && (x < 0 || x > 1)) td_note_fault(c.ticket, 0);
    return x;
}
template <class Pair, class R>
__global__ void __launch_bounds__(64) td_loss_sum_together(const __grid_constant__ td_loss_call c)
{
    typedef typename td_vector<R>::type V;
    enum { lanes = td_vector<R>::lanes / 2 }; /* SUM_BYTES */
    for (int64_t block = blockIdx.x; block < c.n; block += gridDim.x) {
        const R *x = (const R *)c.x + block * TD_LOSS_BLOCK;
        const R *t = (const R *)c.t + block * TD_LOSS_BLOCK;
        int64_t left = c.count - block * TD_LOSS_BLOCK;
        V s = V(R(0));
        if (threadIdx.x < lanes)
            for (int64_t i = threadIdx.x; i < TD_LOSS_BLOCK && i < left; i += lanes)
                s = s + Pair::value(V(td_pair_input<Pair, R>(c, x[i])), V(t[i]), V((R)c.parameter));
        R sum = td_tree<td_fold_sum, R>(s, lanes);
        if (threadIdx.x == 0) c.partial[block] = (double)sum;
    }
}
template <class Pair, class R> struct td_loss_each {
    static TD_IN void one(const td_loss_call &c, int64_t i)
    {
        typedef typename td_vector<R>::type V;
        V x = V(td_pair_input<Pair, R>(c, ((const R *)c.x)[i])), t = V(((const R *)c.t)[i]);
        ((R *)c.out)[i] = V(Pair::value(x, t, V((R)c.parameter))).v;
    }
};
template <class Pair, class R> struct td_loss_slope {
    static TD_IN void one(const td_loss_call &c, int64_t i)
    {
        typedef typename td_vector<R>::type V;
        V x = V(((const R *)c.x)[i]), t = V(((const R *)c.t)[i]);
        V g = V(((const R *)c.g)[c.each ? i : 0] * (R)c.scale_by);
        ((R *)c.out)[i] = (g * V(Pair::slope(x, t, V((R)c.parameter)))).v;
    }
};

/* ---- statistics of cross entropy: the largest score, and the logarithm of the sum below it ----
 */
template <class R>
__global__ void __launch_bounds__(64) td_loss_rows_together(const __grid_constant__ td_loss_call c)
{
    enum { D = td_softmax_of<R>::dtype };
    for (int64_t row = blockIdx.x; row < c.n; row += gridDim.x) {
        const R *x = (const R *)c.x + row * c.classes;
        R top = td_fold_plain<td_fold_top, D, R>(x, c.classes);
        R sum = td_exp_sum(x, c.classes, top);
        if (threadIdx.x == 0) {
            ((R *)c.out)[row] = top;
            ((R *)c.out)[c.count + row] = td_log_of(sum);
        }
    }
}
/* where the score of target i and class k stands */
VFN int64_t td_score_at(const td_loss_call &c, int64_t i, int64_t k)
{
    return (i / c.inner * c.classes + k) * c.inner + i % c.inner;
}
template <class R> struct td_loss_columns {
    static TD_IN void one(const td_loss_call &c, int64_t i)
    {
        typedef typename td_vector<R>::type V;
        const R *x = (const R *)c.x + td_score_at(c, i, 0);
        R top = -INFINITY;
        V sum = V(R(0));
        for (int64_t k = 0; k < c.classes; k++) top = x[k * c.inner] > top ? x[k * c.inner] : top;
        for (int64_t k = 0; k < c.classes; k++) sum = sum + vexp(V(x[k * c.inner]) - V(top));
        ((R *)c.out)[i] = top;
        ((R *)c.out)[c.count + i] = td_log_of(sum.v);
    }
};

/* ---- the sum of the blocks' sums: chunks of them, which join from left to right ---- */
VFN double td_chunk_sum(const td_loss_call &c, int64_t chunk, int64_t width, int64_t of)
{
    double sum = 0;
    int64_t first = chunk * c.chunk;
    for (int64_t b = first; b < first + c.chunk && b < c.count; b++)
        sum += c.partial[b * width + of];
    return sum;
}
VFN double td_joined(const td_loss_call &c, int64_t width, int64_t of)
{
    __shared__ double sums[TD_LANES];
    int64_t chunks = (c.count + c.chunk - 1) / c.chunk;
    double all = 0;
    for (int64_t first = 0; first < chunks; first += TD_LANES) {
        int64_t mine = first + threadIdx.x;
        sums[threadIdx.x] = mine < chunks ? td_chunk_sum(c, mine, width, of) : 0;
        __syncthreads();
        for (int64_t k = 0; k < TD_LANES && first + k < chunks; k++) all += sums[k];
        __syncthreads();
    }
    return all;
}
struct td_loss_one {
    static TD_IN void unit(const td_loss_call &c)
    {
        double sum = td_joined(c, 1, 0);
        if (threadIdx.x == 0) *(double *)c.out = sum / c.divisor;
    }
};
struct td_loss_two { /* of losses and of weights */
    static TD_IN void unit(const td_loss_call &c)
    {
        double sum = td_joined(c, 2, 0), weight = td_joined(c, 2, 1);
        if (threadIdx.x) return;
        ((double *)c.out)[0] = c.mean ? sum / weight : sum;
        ((double *)c.out)[1] = weight;
    }
};
template <class Work>
__global__ void __launch_bounds__(64) td_loss_join_together(const __grid_constant__ td_loss_call c)
{
    Work::unit(c);
}

/* ---- targets: classes, or ignored; what is neither counts as ignored ---- */
template <class R> struct td_loss_pick {
    static TD_IN void one(const td_loss_call &c, int64_t chunk)
    {
        const R *stat = (const R *)c.statistics, *x = (const R *)c.x;
        double sum = 0, weight = 0;
        int64_t first = chunk * TD_LOSS_TARGETS;
        for (int64_t i = first; i < first + TD_LOSS_TARGETS && i < c.count; i++) {
            int64_t target = ((const int64_t *)c.t)[i];
            double loss = 0;
            if (target != c.ignore && td_checked(c.ticket, target, c.classes, false) >= 0) {
                double score = (double)x[td_score_at(c, i, target)];
                double w = c.weight ? (double)((const R *)c.weight)[target] : 1;
                loss = stat ? (double)stat[c.count + i] - (score - (double)stat[i]) : -score;
                loss = w * loss;
                sum += loss;
                weight += w;
            }
            if (c.out) ((R *)c.out)[i] = (R)loss;
        }
        c.partial[2 * chunk] = sum;
        c.partial[2 * chunk + 1] = weight;
    }
};
template <class R> struct td_loss_scales {
    static TD_IN void one(const td_loss_call &c, int64_t i)
    {
        int64_t target = ((const int64_t *)c.t)[i];
        bool used = target != c.ignore && td_checked(c.ticket, target, c.classes, false) >= 0;
        double w = used && c.weight ? (double)((const R *)c.weight)[target] : 1;
        double g = (double)((const R *)c.g)[c.each ? i : 0];
        ((R *)c.out)[i] = (R)(used ? g * w * (c.total ? 1 / *c.total : 1) : 0);
    }
};
template <class R> struct td_loss_gradient {
    static TD_IN void one(const td_loss_call &c, int64_t at)
    {
        typedef typename td_vector<R>::type V;
        int64_t k = at / c.inner % c.classes;
        int64_t i = at / c.inner / c.classes * c.inner + at % c.inner;
        int64_t target = ((const int64_t *)c.t)[i];
        const R *stat = (const R *)c.statistics;
        R scale = ((const R *)c.scale)[i], made = R(0);
        if (stat && scale == 0) made = c.inner == 1 ? R(0) : scale;
        else if (stat)
            made =
                (vexp((V(((const R *)c.x)[at]) - V(stat[i])) - V(stat[c.count + i])) * V(scale)).v;
        if (target == k && target != c.ignore) made = (R)((double)made - (double)scale);
        ((R *)c.out)[at] = made;
    }
};

/* ---- margins: t holds `inner` labels a row, those before the first that is no class; `ignore`:
 * the least label ---- */
VFN bool td_is_label(const int64_t *labels, int64_t count, int64_t i)
{
    for (int64_t k = 0; k < count; k++)
        if (labels[k] == i) return true;
    return false;
}
/* one label against the classes that are none: the sum, and how many are above; their slopes */
template <class R>
VFN R td_margins_above(R *slope, const R *x, const int64_t *labels, int64_t count, int64_t classes,
                       R shift, double *sum)
{
    typedef typename td_vector<R>::type V;
    enum { lanes = td_vector<R>::lanes / 2 }; /* SUM_BYTES */
    V s = V(R(0)), above = V(R(0));
    if (threadIdx.x < lanes)
        for (int64_t i = threadIdx.x; i < classes; i += lanes) {
            if (td_is_label(labels, count, i)) continue;
            R gap = x[i] + shift;
            s = s + V(gap < 0 ? R(0) : gap);
            if (!(gap > 0)) continue;
            above = above + V(R(1));
            slope[i] += 1;
        }
    *sum += (double)td_tree<td_fold_sum, R>(s, lanes);
    return td_tree<td_fold_sum, R>(above, lanes);
}
template <class R>
__global__ void __launch_bounds__(64)
    td_loss_margins_together(const __grid_constant__ td_loss_call c)
{
    for (int64_t row = blockIdx.x; row < c.n; row += gridDim.x) {
        const R *x = (const R *)c.x + row * c.classes;
        const int64_t *labels = (const int64_t *)c.t + row * c.inner;
        R *slope = (R *)c.slope + row * c.classes;
        int64_t count = 0;
        double sum = 0;
        for (int64_t k = threadIdx.x; k < c.inner; k += blockDim.x)
            if (labels[k] != c.ignore) td_checked(c.ticket, labels[k], c.classes, false);
        while (count < c.inner && labels[count] >= 0 && labels[count] < c.classes) count++;
        for (int64_t i = threadIdx.x; i < c.classes; i += blockDim.x) slope[i] = R(0);
        __syncthreads();
        for (int64_t k = 0; k < count; k++) {
            R shift = (R)c.parameter - x[labels[k]];
            R above = td_margins_above(slope, x, labels, count, c.classes, shift, &sum);
            if (threadIdx.x == 0) slope[labels[k]] -= above;
        }
        __syncthreads();
        for (int64_t i = threadIdx.x; i < c.classes; i += blockDim.x) slope[i] /= (R)c.classes;
        if (threadIdx.x == 0) ((R *)c.out)[row] = (R)(sum / (double)c.classes);
    }
}

template <class Work>
__global__ void __launch_bounds__(256) td_loss_alone(const __grid_constant__ td_loss_call c)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < c.n; at += step)
        Work::one(c, at);
}
#endif
