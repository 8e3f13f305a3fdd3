/* reduce.h - reductions by the plan of cpu/reduction/reduce_plan.h: the same blocks, lanes and
 * trees as cpu/reduction/*.c, so the same bits, whatever the grid.
 *
 *   unit = (output strip, chunk, output of the strip)      td_reduce_together: 64 threads a unit, for rows that lie side by side
 *                                                          td_reduce_alone: one thread a unit, neighbours read neighbours
 *   chunks of a unit, if there are several                 td_reduce_join: one thread an output
 * Few outputs of much are spread over more blocks: kernels/reduce_spread.h. */
#ifndef TD_REDUCE_TEXT_H
#define TD_REDUCE_TEXT_H
#include "cpu/reduction/norm_power.h"
#include "cpu/simd/vrow_complex.h"

#define TD_LANES \
    64 /* threads of a unit: the lanes of a fold of float; a fold of double has half as many */
#define TD_SHORT_ROW 12
#define TD_ROW_BLOCK 4096

struct td_axis {
    int64_t size, x, out;
};
struct td_reduce_call { /* laid out as in csrc/cuda/reduce.c */
    const char *x;
    char *out[2], *partial;
    int64_t out_size[2];
    double divisor, correction, exponent;
    int64_t root, kept, reduced, strip, strips, piece, pieces, chunks, outer_kept, outer_reduced;
    char *parts; /* kernels/reduce_spread.h */
    int64_t part, each;
    td_axis m, n, axes[64]; /* first the kept, then the reduced ones */
};

/* ---- folds of a row by all threads ---- */
#define TD_SAME(x) (x)
#define TD_ABS(x) vabs(x)
#define TD_SQUARE(x) ((x) * (x))
#define TD_NUMBERS(x) vsel(visnan(x), vzero(x), x)
#define TD_ADD(a, x) ((a) + (x))
#define TD_MUL(a, x) ((a) * (x))
#define TD_TOP(a, x) vsel(visnan(x), x, vmax(x, a))
#define TD_LOW(a, x) vsel(visnan(x), x, vmin(x, a))
#define TD_FOLD(name, identity, MAP, JOIN)                                              \
    struct name {                                                                       \
        template <class V> static TD_IN V none(V like) { return vset(like, identity); } \
        template <class V> static TD_IN V map(V x) { return MAP(x); }                   \
        template <class V> static TD_IN V join(V a, V x) { return JOIN(a, x); }         \
    };
TD_FOLD(td_fold_sum, 0, TD_SAME, TD_ADD)
TD_FOLD(td_fold_nansum, 0, TD_NUMBERS, TD_ADD)
TD_FOLD(td_fold_abs, 0, TD_ABS, TD_ADD)
TD_FOLD(td_fold_square, 0, TD_SQUARE, TD_ADD)
TD_FOLD(td_fold_product, 1, TD_SAME, TD_MUL)
TD_FOLD(td_fold_max, -INFINITY, TD_SAME, TD_TOP)
TD_FOLD(td_fold_min, INFINITY, TD_SAME, TD_LOW)
TD_FOLD(td_fold_absmax, 0, TD_ABS, TD_TOP)
TD_FOLD(td_fold_absmin, INFINITY, TD_ABS, TD_LOW)

template <class R> struct td_vector;
template <> struct td_vector<float> {
    typedef vf type;
    enum { lanes = 64 };
};
template <> struct td_vector<double> {
    typedef vd type;
    enum { lanes = 32 };
};

/* lane i joined with lane i + by, halving `by`; every thread gets the result */
template <class F, class R, class V> VFN_CALLED R td_tree(V a, int lanes)
{
    __shared__ R slots[TD_LANES];
    int lane = (int)threadIdx.x;
    if (lane < lanes) slots[lane] = a.v;
    __syncthreads();
#pragma unroll 1
    for (int by = lanes / 2; by; by /= 2) {
        if (lane < by) slots[lane] = F::join(V(slots[lane]), V(slots[lane + by])).v;
        __syncthreads();
    }
    R found = slots[0];
    __syncthreads();
    return found;
}
/* x[i] as the number to compute in: R, or a short float */
template <int D, class R> VFN R td_element(const typename td_mem<D>::type *x, int64_t i)
{
    return td_read<D, R>(x[i]);
}

template <class F, int D, class R> VFN R td_fold_plain(const typename td_mem<D>::type *x, int64_t n)
{
    typedef typename td_vector<R>::type V;
    enum { lanes = td_vector<R>::lanes };
    V a = F::none(V(R(0)));
    if (threadIdx.x < lanes)
        for (int64_t i = threadIdx.x; i < n; i += lanes)
            a = F::join(a, F::map(V(td_element<D, R>(x, i))));
    return td_tree<F, R>(a, lanes);
}
/* sums of float take four groups at a time (ROW_SUM_F32 of cpu/simd/rows.h) */
template <class F, int D> VFN float td_fold_four(const typename td_mem<D>::type *x, int64_t n)
{
    bool few = n < 8 * TD_LANES;
    vf a = vf(0.0f);
    int64_t i = 0;
    for (; !few && i + 4 * TD_LANES <= n; i += 4 * TD_LANES) {
        const typename td_mem<D>::type *at = x + i + threadIdx.x;
        vf p = F::map(vf(td_element<D, float>(at, 0))),
           q = F::map(vf(td_element<D, float>(at, TD_LANES)));
        vf r = F::map(vf(td_element<D, float>(at, 2 * TD_LANES))),
           s = F::map(vf(td_element<D, float>(at, 3 * TD_LANES)));
        a = a + ((p + q) + (r + s));
    }
    float found = few ? 0.0f : td_tree<F, float>(a, TD_LANES);
    if (i == n && !few) return found;
    float rest = td_fold_plain<F, D, float>(x + i, n - i);
    return few ? rest : found + rest;
}
template <class F, int D, class R>
VFN double td_fold_sum_of(const typename td_mem<D>::type *x, int64_t n)
{
    if constexpr (sizeof(R) == 4) return (double)td_fold_four<F, D>(x, n);
    else return td_fold_plain<F, D, R>(x, n);
}

/* ---- reducers: what cpu/reduction says of each ---- */
/* reducers with a `kept`, which looks at a block once more */
template <class S> struct td_reads_again {
    enum { value = 0 };
};
template <int D> struct td_real {
    typedef typename td_mem<D>::type type;
};
template <> struct td_real<TD_F16> {
    typedef float type;
};
template <> struct td_real<TD_BF16> {
    typedef float type;
};
template <int D> struct td_is_short {
    enum { value = D == TD_F16 || D == TD_BF16 };
};
template <int D> struct td_in_lanes { /* extrema by the lanes of a row */
    enum { value = D == TD_F32 || D == TD_F64 };
};

/* what four numbers of a sum along columns are added in */
template <int D> struct td_four {
    typedef double type;
};
template <> struct td_four<TD_F16> {
    typedef float type;
};
template <> struct td_four<TD_BF16> {
    typedef float type;
};

/* squares of float32 and bfloat16 have half the range of their root: a piece whose sum is infinite,
 * NaN or near the denormals is added again in double (SQUARES_OR of cpu/reduction/reduce.c) */
template <int D, class R>
VFN_CALLED double td_squares_or(double sum, const typename td_mem<D>::type *x, int64_t n)
{
    if ((D != TD_F32 && D != TD_BF16) || (sum >= 0x1p-100 && sum < INFINITY)) return sum;
    double total = 0;
#pragma unroll 1
    for (int64_t i = 0; i < n; i++) {
        double v = (double)td_read<D, R>(x[i]);
        total += v * v;
    }
    return total;
}
#define TD_AS_IS(D, sum, x, n) (sum)
#define TD_SQUARES_OR(D, sum, x, n) td_squares_or<D, R>(sum, x, n)

/* a row as its parts of `block` elements, in order */
template <class S>
VFN typename S::acc td_row_of_parts(const typename S::T *x, int64_t n, int64_t block, int64_t first,
                                    const td_reduce_call &c)
{
    typename S::acc a = S::start();
#pragma unroll 1
    for (int64_t i = 0; i < n; i += block)
        a = S::chain(i > 0, a, S::part(x + i, n - i < block ? n - i : block, first + i, c));
    return a;
}

/* sums in double of what STEP makes of an element; a block of rows is cut into PIECE elements, of
 * which KEEP says what the sum is worth, four rows of a column are added in FOUR */
#define TD_SUMS(name, FOLD, PIECE, KEEP, FOUR, VALUE, DONE)                                     \
    template <int D> struct name {                                                              \
        typedef typename td_mem<D>::type T;                                                     \
        typedef typename td_real<D>::type R;                                                    \
        typedef FOUR S;                                                                         \
        typedef double acc;                                                                     \
        enum { columns = 1 };                                                                   \
        static TD_IN double value(T t)                                                          \
        {                                                                                       \
            double v = (double)td_read<D, R>(t);                                                \
            return VALUE;                                                                       \
        }                                                                                       \
        static TD_IN acc start() { return 0; }                                                  \
        static TD_IN void step(acc &a, T t, int64_t, const td_reduce_call &) { a += value(t); } \
        static TD_IN acc part(const T *x, int64_t n, int64_t, const td_reduce_call &)           \
        {                                                                                       \
            double sum = td_fold_sum_of<FOLD, D, R>(x, n);                                      \
            return KEEP(D, sum, x, n);                                                          \
        }                                                                                       \
        static TD_IN acc chain(bool begun, acc a, acc part) { return (begun ? a : 0) + part; }  \
        static TD_IN acc row(const T *x, int64_t n, int64_t first, const td_reduce_call &c)     \
        {                                                                                       \
            return td_row_of_parts<name>(x, n, PIECE, first, c);                                \
        }                                                                                       \
        static TD_IN acc column(const char *x, int64_t n, int64_t xn)                           \
        {                                                                                       \
            double a = 0;                                                                       \
            _Pragma("unroll 1") for (; n >= 4; n -= 4, x += 4 * xn) a +=                        \
                (double)(((S)value(*(const T *)x) + (S)value(*(const T *)(x + xn))) +           \
                         ((S)value(*(const T *)(x + 2 * xn)) +                                  \
                          (S)value(*(const T *)(x + 3 * xn))));                                 \
            _Pragma("unroll 1") for (; n > 0; n--, x += xn) a += value(*(const T *)x);          \
            return a;                                                                           \
        }                                                                                       \
        static TD_IN acc join(acc a, acc b) { return a + b; }                                   \
        static TD_IN void finish(const td_reduce_call &c, acc a, char *out, int)                \
        {                                                                                       \
            double made = DONE;                                                                 \
            if (c.out_size[0] == 8) *(double *)out = made;                                      \
            else *(float *)out = (float)made;                                                   \
        }                                                                                       \
    };
#define TD_PIECE (D == TD_F16 || D == TD_BF16 ? 512 : TD_ROW_BLOCK)
TD_SUMS(td_sum_real, td_fold_sum, TD_PIECE, TD_AS_IS, typename td_four<D>::type, v, a / c.divisor)
TD_SUMS(td_nansum, td_fold_nansum, TD_PIECE, TD_AS_IS, double, v == v ? v : 0.0, a / c.divisor)
TD_SUMS(td_norm1, td_fold_abs, TD_PIECE, TD_AS_IS, double, fabs(v), a / c.divisor)
TD_SUMS(td_norm2, td_fold_square, TD_PIECE, TD_SQUARES_OR, double, v *v, sqrt(a))

/* parts of a row that may be joined as rows are */
#define TD_ANY_PART(row)                                                                 \
    static TD_IN acc part(const T *x, int64_t n, int64_t first, const td_reduce_call &c) \
    {                                                                                    \
        return row(x, n, first, c);                                                      \
    }                                                                                    \
    static TD_IN acc chain(bool begun, acc a, acc part) { return begun ? join(a, part) : part; }

/* accumulators that give the same in any order, or have one order only: threads of a row take every
 * 64th element, or one takes all */
#define TD_PLAIN(name, ACC, START, STEP, JOIN, OUT, ANY_ORDER)                              \
    template <int D> struct name {                                                          \
        typedef typename td_mem<D>::type T;                                                 \
        typedef ACC acc;                                                                    \
        enum { plain = !ANY_ORDER, columns = 0 };                                           \
        static TD_IN acc start() { return START; }                                          \
        static TD_IN void step(acc &a, T v, int64_t, const td_reduce_call &c) { STEP; }     \
        static TD_IN acc join(acc a, acc v)                                                 \
        {                                                                                   \
            JOIN;                                                                           \
            return a;                                                                       \
        }                                                                                   \
        static TD_IN acc row(const T *x, int64_t n, int64_t first, const td_reduce_call &c) \
        {                                                                                   \
            return td_row_of<name>(x, n, first, c);                                         \
        }                                                                                   \
        TD_ANY_PART(row)                                                                    \
        static TD_IN void finish(const td_reduce_call &c, acc a, char *out, int k) { OUT; } \
    };
template <class S>
VFN typename S::acc td_row_of(const typename S::T *x, int64_t n, int64_t first,
                              const td_reduce_call &c)
{
    __shared__ typename S::acc slots[TD_LANES];
    int lane = (int)threadIdx.x;
    if (!S::plain || lane == 0) { /* of plain ones the first thread takes the row in order */
        typename S::acc a = S::start();
        for (int64_t i = S::plain ? 0 : lane; i < n; i += S::plain ? 1 : TD_LANES)
            S::step(a, x[i], first + i, c);
        slots[lane] = a;
    }
    /* one for all: a barrier that threads of a warp reach on two ways is undefined */
    __syncthreads();
    typename S::acc found = slots[0];
    if (!S::plain)
#pragma unroll 1
        for (int i = 1; i < TD_LANES; i++) found = S::join(found, slots[i]);
    __syncthreads();
    return found;
}
#define TD_AS_I64 *(int64_t *)out = (int64_t)a
#define TD_AS_BOOL *(uint8_t *)out = a
#define TD_AS_REAL(VALUE)                           \
    if (c.out_size[0] == 8) *(double *)out = VALUE; \
    else *(float *)out = (float)(VALUE)
VFN_CALLED double td_power_called(double size, double exponent)
{
    return td_norm_power(size, exponent);
}
TD_PLAIN(td_sum_whole, uint64_t, 0, a += (uint64_t)(int64_t)v, a += v, TD_AS_I64, 1)
TD_PLAIN(td_prod_whole, uint64_t, 1, a *= (uint64_t)(int64_t)v, a *= v, TD_AS_I64, 1)
TD_PLAIN(td_count, uint64_t, 0, a += v != 0, a += v, TD_AS_I64, 1)
TD_PLAIN(td_any, uint8_t, 0, a |= v != 0, a |= v, TD_AS_BOOL, 1)
TD_PLAIN(td_all, uint8_t, 1, a &= v != 0, a &= v, TD_AS_BOOL, 1)
TD_PLAIN(td_norm0, double, 0, a += v != 0, a += v, TD_AS_REAL(a / c.divisor), 1)
TD_PLAIN(td_normp, double, 0, a += td_power_called(fabs((double)v), c.exponent), a += v,
         TD_AS_REAL(pow(a, 1 / c.exponent)), 0)

template <int D> struct td_prod_real {
    typedef typename td_mem<D>::type T;
    typedef double acc;
    enum { columns = 1 };
    static TD_IN acc start() { return 1; }
    static TD_IN void step(acc &a, T v, int64_t, const td_reduce_call &) { a *= (double)v; }
    static TD_IN acc join(acc a, acc b) { return a * b; }
    static TD_IN acc part(const T *x, int64_t n, int64_t, const td_reduce_call &)
    {
        return (double)td_fold_plain<td_fold_product, D, T>(x, n);
    }
    static TD_IN acc chain(bool begun, acc a, acc part) { return (begun ? a : 1) * part; }
    static TD_IN acc row(const T *x, int64_t n, int64_t first, const td_reduce_call &c)
    {
        return td_row_of_parts<td_prod_real>(x, n, TD_ROW_BLOCK, first, c);
    }
    static TD_IN acc column(const char *x, int64_t n, int64_t xn)
    {
        double a = 1;
        for (; n > 0; n--, x += xn) a *= (double)*(const T *)x;
        return a;
    }
    static TD_IN void finish(const td_reduce_call &c, acc a, char *out, int)
    {
        TD_AS_REAL(a / c.divisor);
    }
};

/* complex numbers one after the other, in double: in no other order */
template <int D> struct td_prod_complex {
    typedef typename td_mem<D>::type T;
    struct acc {
        double re, im;
    };
    enum { plain = 1, columns = 0 };
    static TD_IN acc start() { return {1, 0}; }
    static TD_IN acc join(acc a, acc v)
    {
        return {a.re * v.re - a.im * v.im, a.re * v.im + a.im * v.re};
    }
    static TD_IN void step(acc &a, T v, int64_t, const td_reduce_call &)
    {
        a = join(a, {(double)v.re, (double)v.im});
    }
    static TD_IN acc row(const T *x, int64_t n, int64_t first, const td_reduce_call &c)
    {
        return td_row_of<td_prod_complex>(x, n, first, c);
    }
    TD_ANY_PART(row)
    static TD_IN void finish(const td_reduce_call &, acc a, char *out, int)
    {
        typedef decltype(T::re) R;
        *(T *)out = T((R)a.re, (R)a.im);
    }
};

/* ---- extrema ---- */
template <class T> VFN bool td_better(T v, T a, bool max)
{
    return (max ? v > a : v < a) | (v != v & !(a != a));
}
#define TD_EXTREMUM(name, FOLD, MAX, VALUE)                                                      \
    template <int D> struct name {                                                               \
        typedef typename td_mem<D>::type T;                                                      \
        typedef typename td_real<D>::type R;                                                     \
        struct acc {                                                                             \
            R value;                                                                             \
            bool begun;                                                                          \
        };                                                                                       \
        static TD_IN acc start() { return {R(0), false}; }                                       \
        static TD_IN void take(acc &a, R v)                                                      \
        {                                                                                        \
            bool better = (MAX ? v > a.value : v < a.value) | (v != v);                          \
            if constexpr (td_is_short<D>::value) /* the processor's order: -0 below 0 */         \
                better |=                                                                        \
                    v == a.value && signbit(MAX ? a.value : v) && !signbit(MAX ? v : a.value);   \
            if (!a.begun || better) a = {v, true};                                               \
        }                                                                                        \
        static TD_IN void step(acc &a, T t, int64_t, const td_reduce_call &)                     \
        {                                                                                        \
            R v = td_read<D, R>(t);                                                              \
            take(a, VALUE);                                                                      \
        }                                                                                        \
        static TD_IN acc join(acc a, acc b)                                                      \
        {                                                                                        \
            if (b.begun) take(a, b.value);                                                       \
            return a;                                                                            \
        }                                                                                        \
        static TD_IN acc row(const T *x, int64_t n, int64_t first, const td_reduce_call &c)      \
        {                                                                                        \
            if constexpr (td_in_lanes<D>::value) return {td_fold_plain<FOLD, D, R>(x, n), true}; \
            else return td_row_of<name>(x, n, first, c);                                         \
        }                                                                                        \
        TD_ANY_PART(row)                                                                         \
        typedef FOLD fold;                                                                       \
        enum { plain = 0, columns = 0 };                                                         \
        static TD_IN void finish(const td_reduce_call &, acc a, char *out, int)                  \
        {                                                                                        \
            *(R *)out = a.value;                                                                 \
        }                                                                                        \
    };
TD_EXTREMUM(td_max, td_fold_max, true, v)
TD_EXTREMUM(td_min, td_fold_min, false, v)
TD_EXTREMUM(td_absmax, td_fold_absmax, true, v < 0 ? -v : v)
TD_EXTREMUM(td_absmin, td_fold_absmin, false, v < 0 ? -v : v)

/* NaN wins over every number; among equals the first index */
template <int D, bool Max> struct td_arg_of {
    typedef typename td_mem<D>::type T;
    struct acc {
        int64_t index;
        T value;
    };
    enum { plain = 0, columns = 0 };
    static TD_IN acc start() { return {-1, T(0)}; }
    static TD_IN void step(acc &a, T v, int64_t i, const td_reduce_call &)
    {
        if (a.index < 0 || td_better(v, a.value, Max)) a = {i, v};
    }
    static TD_IN acc join(acc a, acc b)
    {
        if (b.index < 0) return a;
        if (a.index < 0 || td_better(b.value, a.value, Max)) return b;
        return !td_better(a.value, b.value, Max) && b.index < a.index ? b : a;
    }
    static TD_IN acc row(const T *x, int64_t n, int64_t first, const td_reduce_call &c)
    {
        return td_row_of<td_arg_of>(x, n, first, c);
    }
    TD_ANY_PART(row)
    static TD_IN void finish(const td_reduce_call &, acc a, char *out, int k)
    {
        if (k) *(int64_t *)out = a.index;
        else *(T *)out = a.value;
    }
};
template <int D> struct td_argmax : td_arg_of<D, true> {
};
template <int D> struct td_argmin : td_arg_of<D, false> {
};

/* ---- variance: what kernels/moments.h says ---- */
#include "cuda/kernels/moments.h"

/* ---- units ---- */
VFN_CALLED int64_t td_offset_of(const td_axis *axes, int64_t n, int64_t index, bool of_out)
{
    int64_t offset = 0;
#pragma unroll 1
    for (int64_t i = n - 1; i > 0; i--) {
        offset += index % axes[i].size * (of_out ? axes[i].out : axes[i].x);
        index /= axes[i].size;
    }
    return n ? offset + index * (of_out ? axes[0].out : axes[0].x) : 0;
}
/* what a block is worth, n elements xn bytes apart; double moments may want to read them again */
template <class S>
VFN typename S::acc td_kept(typename S::acc a, const char *x, int64_t n, int64_t xn)
{
    if constexpr (td_reads_again<S>::value) return S::kept(a, x, n, xn);
    else return a;
}
template <class S, bool Together>
VFN typename S::acc td_block(const td_reduce_call &c, const char *x, int64_t m, int64_t n,
                             int64_t first)
{
    typedef typename S::T T;
    if (n > TD_SHORT_ROW && c.n.x == (int64_t)sizeof(T)) {
        if constexpr (Together) return td_kept<S>(S::row((const T *)x, n, first, c), x, n, c.n.x);
    } else if constexpr (S::columns) {
        if (c.m.x == (int64_t)sizeof(T) && m >= 4)
            return td_kept<S>(S::column(x, n, c.n.x), x, n, c.n.x);
    }
    typename S::acc a = S::start();
#pragma unroll(Together ? 1 : 4)
    for (int64_t i = 0; i < n; i++) S::step(a, *(const T *)(x + i * c.n.x), first + i, c);
    return td_kept<S>(a, x, n, c.n.x);
}
template <class S>
VFN void td_write(const td_reduce_call &c, int64_t task, int64_t column, typename S::acc a)
{
    int64_t at = td_offset_of(c.axes, c.kept, task / c.strips, true) +
                 (task % c.strips * c.strip + column) * c.m.out;
#pragma unroll 1
    for (int k = 0; k < 2; k++)
        if (c.out[k]) S::finish(c, a, c.out[k] + at * c.out_size[k], k);
}
template <class S, bool Together>
VFN void td_unit(const td_reduce_call &c, int64_t unit, bool writes)
{
    int64_t column = unit % c.strip, chunk = unit / c.strip % c.chunks,
            task = unit / c.strip / c.chunks;
    int64_t left = c.m.size - task % c.strips * c.strip, m = left < c.strip ? left : c.strip,
            all = c.pieces * c.outer_reduced;
    if (column >= m) return;
    int64_t each = all / c.chunks, more = all % c.chunks;
    int64_t begin = each * chunk + (chunk < more ? chunk : more),
            end = begin + each + (chunk < more);
    const char *x = c.x + td_offset_of(c.axes, c.kept, task / c.strips, false) +
                    (task % c.strips * c.strip + column) * c.m.x;
    typename S::acc a = S::start();
#pragma unroll 1
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i % c.pieces * c.piece, n = c.n.size - first;
        const char *at =
            x + td_offset_of(c.axes + c.kept, c.reduced, i / c.pieces, false) + first * c.n.x;
        typename S::acc made = td_block<S, Together>(c, at, m, n < c.piece ? n : c.piece, first);
        a = i == begin ? made : S::join(a, made);
    }
    if (!writes) return;
    if (c.partial) ((typename S::acc *)c.partial)[unit] = a;
    else td_write<S>(c, task, column, a);
}

template <class S>
__global__ void __launch_bounds__(64) td_reduce_together(const __grid_constant__ td_reduce_call c)
{
#pragma unroll 1
    for (int64_t unit = blockIdx.x; unit < c.outer_kept * c.strips * c.chunks * c.strip;
         unit += gridDim.x)
        td_unit<S, true>(c, unit, threadIdx.x == 0);
}
template <class S>
__global__ void __launch_bounds__(64) td_reduce_alone(const __grid_constant__ td_reduce_call c)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
#pragma unroll 1
    for (int64_t unit = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
         unit < c.outer_kept * c.strips * c.chunks * c.strip; unit += step)
        td_unit<S, false>(c, unit, true);
}
template <class S>
__global__ void __launch_bounds__(64) td_reduce_join(const __grid_constant__ td_reduce_call c)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
#pragma unroll 1
    for (int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
         k < c.outer_kept * c.strips * c.strip; k += step) {
        int64_t task = k / c.strip, column = k % c.strip;
        if (task % c.strips * c.strip + column >= c.m.size) continue;
        const typename S::acc *parts =
            (const typename S::acc *)c.partial + task * c.chunks * c.strip + column;
        typename S::acc a = parts[0];
#pragma unroll 1
        for (int64_t i = 1; i < c.chunks; i++) a = S::join(a, parts[i * c.strip]);
        td_write<S>(c, task, column, a);
    }
}
#include "cuda/kernels/reduce_spread.h"
#endif
