/* norm_spread.h - sums and moments of few channels, over many blocks and with the bits of norm.h.
 * Part of it.
 *
 *   td_norm_together<td_norm_product_parts<R>>   64 threads a group of a unit: both sums of it
 *   td_norm_together<td_norm_products<R>>        64 threads a unit: its groups in order
 *   td_norm_together<td_norm_sum_parts<R>>       moments: the sum of a group,
 *   td_norm_together<td_norm_mean<R>>            the first mean of a unit,
 *   td_norm_together<td_norm_square_parts<R>>    what deviates from it in a group,
 *   td_norm_together<td_norm_deviation<R>>       mean and deviation of a unit
 *
 * A group is what TD_OVER_SEGMENTS gathers between two flushes. `chunks` of them make a unit. */
#ifndef TD_NORM_SPREAD_H
#define TD_NORM_SPREAD_H

struct td_norm_pair {
    double a, b;
};

/* body(i) for this thread's elements of `size`, from `first` of a segment on */
template <class BODY>
VFN void td_norm_run(const td_norm_call &c, int64_t unit, int64_t segment, int64_t first,
                     int64_t size, int lanes, BODY body)
{
    int64_t start = unit * c.inner + segment * c.stride + first;
    if ((int)threadIdx.x < lanes)
        for (int64_t i = start + threadIdx.x; i < start + size; i += lanes) body(i);
}
/* Of long segments every whole piece ends a group, which begins with the rest of the segment before
 * it; short ones come together until they are a piece. The last group has what is left. */
template <class BODY>
VFN void td_norm_group(const td_norm_call &c, int64_t unit, int64_t group, int lanes, BODY body)
{
    int64_t whole = c.inner / TD_NORM_PIECE, rest = c.inner % TD_NORM_PIECE;
    if (whole) {
        int64_t segment = group / whole, piece = group % whole;
        if (rest && segment && !piece)
            td_norm_run(c, unit, segment - 1, whole * TD_NORM_PIECE, rest, lanes, body);
        if (segment < c.count)
            td_norm_run(c, unit, segment, piece * TD_NORM_PIECE, TD_NORM_PIECE, lanes, body);
        return;
    }
    int64_t each = (TD_NORM_PIECE + c.inner - 1) / c.inner, end = (group + 1) * each;
    for (int64_t segment = group * each; segment < (end < c.count ? end : c.count); segment++)
        td_norm_run(c, unit, segment, 0, c.inner, lanes, body);
}
VFN void td_norm_keep(const td_norm_call &c, int64_t at, double a, double b)
{
    if (threadIdx.x == 0) ((td_norm_pair *)c.partial)[at] = {a, b};
}
VFN td_norm_pair td_norm_in_order(const td_norm_call &c, int64_t unit)
{
    td_norm_pair all = {0, 0};
    td_in_order((const td_norm_pair *)c.partial + unit * c.chunks, c.chunks,
                [&all](int64_t, const td_norm_pair &part) {
                    all.a += part.a;
                    all.b += part.b;
                });
    return all;
}

template <class R> struct td_norm_product_parts {
    static TD_IN void unit(const td_norm_call &c, int64_t at)
    {
        typedef typename td_vector<R>::type V;
        enum { lanes = td_vector<R>::lanes / 2 };
        int64_t unit = at / c.chunks;
        const R *g = (const R *)c.g, *x = (const R *)c.x;
        V m = V(((const R *)c.mean)[unit % c.period]), s = V(R(0)), t = V(R(0));
        td_norm_group(c, unit, at % c.chunks, lanes, [&](int64_t i) {
            s = s + V(g[i]);
            t = vfma(V(g[i]), V(x[i]) - m, t);
        });
        double sum = (double)td_tree<td_fold_sum, R>(s, lanes);
        td_norm_keep(c, at, sum, (double)td_tree<td_fold_sum, R>(t, lanes));
    }
};
template <class R> struct td_norm_products {
    static TD_IN void unit(const td_norm_call &c, int64_t unit)
    {
        td_norm_pair all = td_norm_in_order(c, unit);
        if (threadIdx.x) return;
        c.sums[2 * unit] = all.a;
        c.sums[2 * unit + 1] = all.b;
    }
};

template <class R> struct td_norm_sum_parts {
    static TD_IN void unit(const td_norm_call &c, int64_t at)
    {
        typedef typename td_vector<R>::type V;
        enum { lanes = td_vector<R>::lanes / 2 };
        const R *x = (const R *)c.x;
        V s = V(R(0));
        td_norm_group(c, at / c.chunks, at % c.chunks, lanes, [&](int64_t i) { s = s + V(x[i]); });
        td_norm_keep(c, at, (double)td_tree<td_fold_sum, R>(s, lanes), 0);
    }
};
template <class R> struct td_norm_mean {
    static TD_IN void unit(const td_norm_call &c, int64_t unit)
    {
        double sum = td_norm_in_order(c, unit).a, all = (double)c.inner * (double)c.count;
        if (threadIdx.x == 0) ((R *)c.mean)[unit] = (R)(sum / all);
    }
};
template <class R> struct td_norm_square_parts {
    static TD_IN void unit(const td_norm_call &c, int64_t at)
    {
        typedef typename td_vector<R>::type V;
        enum { lanes = td_vector<R>::lanes / 2 };
        int64_t unit = at / c.chunks;
        const R *x = (const R *)c.x;
        V m = V(((const R *)c.mean)[unit]), s = V(R(0)), t = V(R(0));
        td_norm_group(c, unit, at % c.chunks, lanes, [&](int64_t i) {
            V d = V(x[i]) - m;
            s = s + d;
            t = vfma(d, d, t);
        });
        double rest = (double)td_tree<td_fold_sum, R>(s, lanes);
        td_norm_keep(c, at, rest, (double)td_tree<td_fold_sum, R>(t, lanes));
    }
};
template <class R> struct td_norm_deviation {
    static TD_IN void unit(const td_norm_call &c, int64_t unit)
    {
        td_norm_pair all = td_norm_in_order(c, unit);
        td_norm_finish<R>(c, unit, (double)((const R *)c.mean)[unit], all.a, all.b);
    }
};
#endif
