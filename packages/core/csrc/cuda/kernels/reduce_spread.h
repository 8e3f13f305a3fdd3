/* reduce_spread.h - few outputs of much, over many blocks and with the bits of reduce.h. Part of
 * it.
 *
 *   td_reduce_parts_together     64 threads a part: `part` elements of a piece that is dense
 *   td_reduce_pieces_together    64 threads a piece: its parts in order, or the piece itself where it has one
 *   td_reduce_outputs_together   64 threads an output: its pieces in order, chunk by chunk
 *   td_reduce_columns_together   columns of neighbours: 32 of them, 16 groups of four rows at a time */
#ifndef TD_REDUCE_SPREAD_H
#define TD_REDUCE_SPREAD_H

VFN int64_t td_outputs(const td_reduce_call &c) { return c.outer_kept * c.strips * c.strip; }

struct td_piece {
    const char *at;
    int64_t m, n, first;
    bool ours; /* else the strip ends before this output; a condition of its own, that of no address
                */
};
/* piece i of the reduced space of an output */
VFN td_piece td_piece_of(const td_reduce_call &c, int64_t output, int64_t i)
{
    int64_t column = output % c.strip, task = output / c.strip, strip = task % c.strips * c.strip,
            left = c.m.size - strip, first = i % c.pieces * c.piece, n = c.n.size - first;
    td_piece p = {NULL, left < c.strip ? left : c.strip, n < c.piece ? n : c.piece, first, false};
    p.ours = column < p.m;
    if (p.ours)
        p.at = c.x + td_offset_of(c.axes, c.kept, task / c.strips, false) +
               (strip + column) * c.m.x +
               td_offset_of(c.axes + c.kept, c.reduced, i / c.pieces, false) + first * c.n.x;
    return p;
}

/* ---- extrema of floats keep the lanes of a row, since which of two equal zeros stays is theirs
 * ---- */

template <class S> struct td_by_lanes {
    enum { value = 0 };
};
#define TD_BY_LANES(name)                          \
    template <int D> struct td_by_lanes<name<D>> { \
        enum { value = td_in_lanes<D>::value };    \
    };
TD_BY_LANES(td_max)
TD_BY_LANES(td_min)
TD_BY_LANES(td_absmax)
TD_BY_LANES(td_absmin)

template <class S, int D> struct td_lanes_of;
template <template <int> class S, int D> struct td_lanes_of<S<D>, D> {
    typedef typename S<D>::R R;
    typedef typename S<D>::fold F;
    typedef typename td_vector<R>::type V;
    enum { lanes = td_vector<R>::lanes };
    static TD_IN void keep(char *parts, int64_t k, const typename S<D>::T *x, int64_t n)
    {
        V a = F::none(V(R(0)));
        if (threadIdx.x >= lanes) return;
        for (int64_t i = threadIdx.x; i < n; i += lanes)
            a = F::join(a, F::map(V(td_element<D, R>(x, i))));
        ((R *)parts)[k * lanes + threadIdx.x] = a.v;
    }
    static TD_IN typename S<D>::acc join(const char *parts, int64_t k, int64_t count)
    {
        V a = F::none(V(R(0)));
        const R *at = (const R *)parts + k * lanes + threadIdx.x;
        if (threadIdx.x < lanes) {
            a = V(at[0]);
            for (int64_t b = 1; b < count; b++) a = F::join(a, V(at[b * lanes]));
        }
        return {td_tree<F, R>(a, lanes), true};
    }
};
template <class S> struct td_dtype_of;
template <template <int> class S, int D> struct td_dtype_of<S<D>> {
    enum { value = D };
};
template <class S> struct td_lanes : td_lanes_of<S, td_dtype_of<S>::value> {
};

/* ---- accumulators in order: 64 are loaded at once, and every thread joins them ---- */

/* JOIN(k, v) of the accumulators at[0], at[1], ... */
template <class A, class JOIN> VFN void td_in_order(const A *at, int64_t count, JOIN join)
{
    __shared__ A tile[TD_LANES];
    int lane = (int)threadIdx.x;
#pragma unroll 1
    for (int64_t base = 0; base < count; base += TD_LANES) {
        int64_t some = count - base < TD_LANES ? count - base : TD_LANES;
        if (lane < some) tile[lane] = at[base + lane];
        __syncthreads();
#pragma unroll 4
        for (int64_t k = 0; k < some; k++) join(base + k, tile[k]);
        __syncthreads();
    }
}

/* Each turn ends at a barrier: threads that have written and those that have not begin the next one
 * together. */
template <class S>
__global__ void __launch_bounds__(64)
    td_reduce_parts_together(const __grid_constant__ td_reduce_call c)
{
    typedef typename S::T T;
    int64_t all = c.pieces * c.outer_reduced;
#pragma unroll 1
    for (int64_t k = blockIdx.x; k < td_outputs(c) * all * c.each; k += gridDim.x) {
        td_piece p = td_piece_of(c, k / c.each / all, k / c.each % all);
        int64_t begin = k % c.each * c.part, n = p.n - begin < c.part ? p.n - begin : c.part;
        if (!p.ours || begin >= p.n) continue; /* of all threads alike */
        const T *x = (const T *)p.at + begin;
        if constexpr (td_by_lanes<S>::value) td_lanes<S>::keep(c.parts, k, x, n);
        else {
            typename S::acc a = S::part(x, n, p.first + begin, c);
            if (threadIdx.x == 0) ((typename S::acc *)c.parts)[k] = a;
            __syncthreads();
        }
    }
}

template <class S>
VFN typename S::acc td_of_parts(const td_reduce_call &c, int64_t k, const td_piece &p)
{
    typedef typename S::acc acc;
    int64_t count = (p.n + c.part - 1) / c.part;
    acc a = S::start();
    if constexpr (td_by_lanes<S>::value) a = td_lanes<S>::join(c.parts, k * c.each, count);
    else
        td_in_order((const acc *)c.parts + k * c.each, count,
                    [&a](int64_t i, const acc &part) { a = S::chain(i > 0, a, part); });
    return td_kept<S>(a, p.at, p.n, c.n.x);
}
template <class S>
__global__ void __launch_bounds__(64)
    td_reduce_pieces_together(const __grid_constant__ td_reduce_call c)
{
    int64_t all = c.pieces * c.outer_reduced;
#pragma unroll 1
    for (int64_t k = blockIdx.x; k < td_outputs(c) * all; k += gridDim.x) {
        td_piece p = td_piece_of(c, k / all, k % all);
        if (!p.ours) continue;
        typename S::acc a = c.each > 1 && p.n > TD_SHORT_ROW
                                ? td_of_parts<S>(c, k, p)
                                : td_block<S, true>(c, p.at, p.m, p.n, p.first);
        if (threadIdx.x == 0) ((typename S::acc *)c.partial)[k] = a;
        __syncthreads();
    }
}

template <class S>
__global__ void __launch_bounds__(64)
    td_reduce_outputs_together(const __grid_constant__ td_reduce_call c)
{
    typedef typename S::acc acc;
    int64_t all = c.pieces * c.outer_reduced, each = all / c.chunks, more = all % c.chunks;
#pragma unroll 1
    for (int64_t output = blockIdx.x; output < td_outputs(c); output += gridDim.x) {
        int64_t chunk = 0, begin = 0, end = each + (more > 0);
        acc a = S::start(), total = a;
        if (!td_piece_of(c, output, 0).ours) continue;
        td_in_order((const acc *)c.partial + output * all, all, [&](int64_t i, const acc &piece) {
            a = i == begin ? piece : S::join(a, piece);
            if (i + 1 < end) return;
            total = chunk ? S::join(total, a) : a;
            chunk++;
            begin = end;
            end += each + (chunk < more);
        });
        if (threadIdx.x == 0) td_write<S>(c, output / c.strip, output % c.strip, total);
        __syncthreads();
    }
}

/* ---- columns ---- */

#define TD_COLUMNS 32 /* side by side in a block */
#define TD_GROUPS 8   /* of four rows, twice */

/* sums of groups of four rows lie in `tile` until the first threads have added them in order */
template <class S> VFN double td_column_tile(const char *x, int64_t n, int64_t xn, bool ours)
{
    typedef typename S::T T;
    typedef typename S::S F;
    __shared__ double tile[2 * TD_GROUPS][TD_COLUMNS];
    int column = (int)threadIdx.x % TD_COLUMNS, group = (int)threadIdx.x / TD_COLUMNS;
    double a = 0;
#pragma unroll 1
    for (int64_t base = 0; base + 4 <= n; base += 8 * TD_GROUPS) {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int64_t row = base + 4 * (half * TD_GROUPS + group);
            const char *at = x + row * xn;
            if (ours && row + 4 <= n)
                tile[half * TD_GROUPS + group][column] =
                    (double)(((F)S::value(*(const T *)at) + (F)S::value(*(const T *)(at + xn))) +
                             ((F)S::value(*(const T *)(at + 2 * xn)) +
                              (F)S::value(*(const T *)(at + 3 * xn))));
        }
        __syncthreads();
        int64_t groups = (n - base) / 4 < 2 * TD_GROUPS ? (n - base) / 4 : 2 * TD_GROUPS;
        if (group == 0 && ours)
#pragma unroll 4
            for (int64_t k = 0; k < groups; k++) a += tile[k][column];
        __syncthreads();
    }
    if (group == 0 && ours)
        for (int64_t row = n / 4 * 4; row < n; row++) a += S::value(*(const T *)(x + row * xn));
    return a;
}
template <class S>
__global__ void __launch_bounds__(256)
    td_reduce_columns_together(const __grid_constant__ td_reduce_call c)
{
    int64_t tiles = (c.strip + TD_COLUMNS - 1) / TD_COLUMNS, all = c.pieces * c.outer_reduced,
            each = all / c.chunks, more = all % c.chunks;
#pragma unroll 1
    for (int64_t k = blockIdx.x; k < c.outer_kept * c.strips * c.chunks * tiles; k += gridDim.x) {
        int64_t column = k % tiles * TD_COLUMNS + threadIdx.x % TD_COLUMNS,
                chunk = k / tiles % c.chunks, task = k / tiles / c.chunks,
                begin = each * chunk + (chunk < more ? chunk : more),
                end = begin + each + (chunk < more);
        typename S::acc a = S::start();
#pragma unroll 1
        for (int64_t i = begin; i < end; i++) {
            td_piece first = td_piece_of(c, task * c.strip, i);
            bool ours = column < first.m;
            double made = td_column_tile<S>(first.at + column * c.m.x, first.n, c.n.x, ours);
            a = i == begin ? made : S::join(a, made);
        }
        if (threadIdx.x >= TD_COLUMNS || column >= td_piece_of(c, task * c.strip, 0).m) continue;
        if (c.partial)
            ((typename S::acc *)c.partial)[(task * c.chunks + chunk) * c.strip + column] = a;
        else td_write<S>(c, task, column, a);
    }
}
#endif
