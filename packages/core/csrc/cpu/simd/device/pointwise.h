/* pointwise.h - the two kernels of every elementwise loop: td_flat for operands that lie side by
 * side, td_strided for any strides. */
#ifndef TD_POINTWISE_H
#define TD_POINTWISE_H

/* ---- memory ---- */
template <class R> struct alignas(2 * sizeof(R)) td_complex_of {
    R re, im;
    td_complex_of() = default;
    TD_IN td_complex_of(R r, R i = 0) : re(r), im(i) {}
    template <class Q> explicit TD_IN td_complex_of(td_complex_of<Q> z) : re((R)z.re), im((R)z.im)
    {
    }
    friend TD_IN bool operator==(td_complex_of a, td_complex_of b)
    {
        return a.re == b.re && a.im == b.im;
    }
    friend TD_IN bool operator!=(td_complex_of a, td_complex_of b)
    {
        return a.re != b.re || a.im != b.im;
    }
};
typedef td_complex_of<float> c64;
typedef td_complex_of<double> c128;

template <int D> struct td_mem {
    typedef uint8_t type;
};
#define TD_MEM(D, T)               \
    template <> struct td_mem<D> { \
        typedef T type;            \
    };
TD_MEM(TD_I8, int8_t)
TD_MEM(TD_I16, int16_t)
TD_MEM(TD_I32, int32_t)
TD_MEM(TD_I64, int64_t)
TD_MEM(TD_U16, uint16_t)
TD_MEM(TD_U32, uint32_t)
TD_MEM(TD_U64, uint64_t)
TD_MEM(TD_F16, uint16_t)
TD_MEM(TD_BF16, uint16_t)
TD_MEM(TD_F32, float)
TD_MEM(TD_F64, double)
TD_MEM(TD_C32, uint32_t)
TD_MEM(TD_C64, c64)
TD_MEM(TD_C128, c128)

template <class To, class From> VFN To td_same_bits(From x)
{
    static_assert(sizeof(To) == sizeof(From), "a row reads what lies there");
    union U {
        From from;
        To to;
        TD_IN U() {}
    } u;
    u.from = x;
    return u.to;
}
/* an element as a row of type T sees it; short floats compute in float32 */
template <int D, class T> VFN T td_read(typename td_mem<D>::type x)
{
    if constexpr (D == TD_F16 && sizeof(T) == 4) return td_same_bits<T>(td_f16_load(x));
    else if constexpr (D == TD_BF16 && sizeof(T) == 4) return td_same_bits<T>(td_bf16_load(x));
    else if constexpr (D == TD_C32)
        return td_same_bits<T>(c64(td_f16_load((uint16_t)x), td_f16_load((uint16_t)(x >> 16))));
    else return td_same_bits<T>(x);
}
template <int D, class T> VFN typename td_mem<D>::type td_made(T x)
{
    if constexpr (D == TD_F16 && sizeof(T) == 4) return td_f16_store(td_same_bits<float>(x));
    else if constexpr (D == TD_BF16 && sizeof(T) == 4) return td_bf16_store(td_same_bits<float>(x));
    else if constexpr (D == TD_C32) {
        c64 z = td_same_bits<c64>(x);
        return td_f16_store(z.re) | (uint32_t)td_f16_store(z.im) << 16;
    } else return td_same_bits<typename td_mem<D>::type>(x);
}
template <class T, int N> struct alignas(sizeof(T) * N) td_chunk {
    T v[N];
};

/* ---- launches: laid out as in csrc/cuda/walk.c ---- */
#define TD_OPERANDS 4
#define TD_ARGS 8
struct alignas(16) td_numbers {
    char bytes[TD_OPERANDS][16];
};
struct td_flat_call {
    td_numbers number; /* operands that are numbers */
    char *data[TD_OPERANDS];
    int64_t n;
    /* bit k: operand k is number[k]; bit 16 + k: it is as wide as the row computes, where others of
     * its dtype are short floats */
    uint32_t numbers;
    td_arg args[TD_ARGS];
};
/* Dimensions as td_nd has them, the inner one first; an index is divided by a multiplication. Fewer
 * than 2^31 elements. */
#define TD_DEVICE_DIMS 64
struct td_strided_call {
    td_numbers number;
    char *data[TD_OPERANDS];
    uint32_t n, numbers;
    int32_t ndim;
    td_arg args[TD_ARGS];
    struct {
        uint32_t size, magic, shift;
        int64_t strides[TD_OPERANDS];
    } dim[TD_DEVICE_DIMS];
};

template <int... K> struct td_ints {
};
template <int N> struct td_count;
template <> struct td_count<1> {
    typedef td_ints<0> all;
};
template <> struct td_count<2> {
    typedef td_ints<0, 1> all;
};
template <> struct td_count<3> {
    typedef td_ints<0, 1, 2> all;
};
VFN constexpr int td_largest(int a) { return a; }
template <class... R> VFN constexpr int td_largest(int a, int b, R... rest)
{
    return td_largest(a > b ? a : b, rest...);
}
/* the condition of where is a bool beside any type */
template <int D, class T> struct td_seen {
    typedef T type;
};
template <class T> struct td_seen<TD_BOOL, T> {
    typedef uint8_t type;
};

/* one element of operand k */
template <int D, class T> VFN T td_element(const char *at, uint32_t numbers, int k)
{
    if constexpr (((D == TD_F16 || D == TD_BF16) && sizeof(T) == 4) || D == TD_C32)
        if (numbers >> (16 + k) & 1) return *(const T *)at;
    return td_read<D, T>(*(const typename td_mem<D>::type *)at);
}
/* N elements of operand k, as a row sees them */
template <int N, int D, class T>
VFN td_chunk<T, N> td_take(const td_flat_call &c, int k, int64_t at)
{
    typedef typename td_mem<D>::type M;
    td_chunk<T, N> made;
    if (c.numbers >> k & 1) {
        T number = td_element<D, T>(c.number.bytes[k], c.numbers, k);
#pragma unroll
        for (int i = 0; i < N; i++) made.v[i] = number;
        return made;
    }
    td_chunk<M, N> read = *(const td_chunk<M, N> *)((const M *)c.data[k] + at);
#pragma unroll
    for (int i = 0; i < N; i++) made.v[i] = td_read<D, T>(read.v[i]);
    return made;
}

/* rows that take long to compile: one element at a time, so that they are compiled once */
#ifdef TD_LONG_ROWS
enum { TD_LONG = 1 };
#else
enum { TD_LONG = 0 };
#endif
template <class L> struct td_run;
template <class Row, int Out, int... In> struct td_run<td_loop_of<Row, Out, In...>> {
    typedef typename td_mem<Out>::type to;
    typedef typename td_count<sizeof...(In)>::all all;
    enum {
        widest = td_largest((int)sizeof(to), (int)sizeof(typename td_mem<In>::type)...),
        N = widest >= 16 || TD_LONG ? 1
            : widest >= 4           ? 16 / widest
                                    : 4 /* narrow types: more would spill registers */
    };
    template <int W, class... X> static TD_IN void put(const td_flat_call &c, int64_t at, X... x)
    {
        td_chunk<to, W> made;
#pragma unroll
        for (int i = 0; i < W; i++) made.v[i] = td_made<Out>(Row::apply(c.args, x.v[i]...));
        *(td_chunk<to, W> *)((to *)c.data[0] + at) = made;
    }
    template <int W, int... K>
    static TD_IN void step(const td_flat_call &c, int64_t at, td_ints<K...>)
    {
        put<W>(c, at,
               td_take<W, In, typename td_seen<In, typename Row::in_t>::type>(c, K + 1, at)...);
    }
    template <int... K>
    static TD_IN void at(const td_strided_call &c, char *const *d, td_ints<K...>)
    {
        *(to *)d[0] = td_made<Out>(
            Row::apply(c.args, td_element<In, typename td_seen<In, typename Row::in_t>::type>(
                                   c.numbers >> (K + 1) & 1 ? c.number.bytes[K + 1] : d[K + 1],
                                   c.numbers, K + 1)...));
    }
};

/* all operands side by side and 16-byte aligned, or numbers */
template <class L>
__global__ void __launch_bounds__(256) td_flat(const __grid_constant__ td_flat_call c)
{
    enum { N = td_run<L>::N };
    int64_t step = (int64_t)gridDim.x * blockDim.x,
            first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    int64_t chunks = N > 1 ? c.n / N : 0;
    if constexpr (N > 1) {
#pragma unroll 1
        for (int64_t i = first; i < chunks; i += step)
            td_run<L>::template step<N>(c, i * N, typename td_run<L>::all());
    }
#pragma unroll 1
    for (int64_t at = chunks * N + first; at < c.n; at += step)
        td_run<L>::template step<1>(c, at, typename td_run<L>::all());
}

template <class L>
__global__ void __launch_bounds__(256) td_strided(const __grid_constant__ td_strided_call c)
{
#pragma unroll 1
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < c.n;
         i += (uint64_t)gridDim.x * blockDim.x) {
        char *d[TD_OPERANDS] = {c.data[0], c.data[1], c.data[2], c.data[3]};
        uint32_t rest = (uint32_t)i;
#pragma unroll 1
        for (int k = 0; k < c.ndim; k++) {
            uint32_t quotient =
                (uint32_t)(((uint64_t)__umulhi(rest, c.dim[k].magic) + rest) >> c.dim[k].shift);
            uint32_t index = rest - quotient * c.dim[k].size;
            rest = quotient;
#pragma unroll
            for (int o = 0; o < TD_OPERANDS; o++) d[o] += index * c.dim[k].strides[o];
        }
        td_run<L>::at(c, d, typename td_run<L>::all());
    }
}
#endif
