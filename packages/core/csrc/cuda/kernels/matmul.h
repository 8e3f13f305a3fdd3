/* matmul.h - products of matrices by tiles in shared memory: right for any strides, dtype and
 * batch; no tensor cores. */
#ifndef TD_MATMUL_TEXT_H
#define TD_MATMUL_TEXT_H
#include "cpu/simd/vrow_complex.h"

#define TD_TILE 16 /* 256 threads, an element of the result each */
#define TD_PRODUCT_DIMS 64

struct td_product_call { /* laid out as in csrc/cuda/matmul.c; strides in elements */
    const char *a, *b, *bias;
    char *c;
    int64_t m, n, k, a_row, a_col, b_row, b_col, c_row, batches, batch_dims;
    td_scalar alpha, beta;
    int64_t batch[TD_PRODUCT_DIMS], a_batch[TD_PRODUCT_DIMS], b_batch[TD_PRODUCT_DIMS],
        c_batch[TD_PRODUCT_DIMS];
};

/* ---- what elements are added up in ---- */
template <int D> struct td_factor { /* integers wrap */
    typedef typename td_mem<D>::type T;
    typedef uint64_t acc;
    static TD_IN acc add(acc a, T x, T y)
    {
        return a + (uint64_t)(int64_t)x * (uint64_t)(int64_t)y;
    }
    static TD_IN acc times(const td_scalar &s, acc a) { return (uint64_t)s.i * a; }
    static TD_IN acc of(T x) { return (uint64_t)(int64_t)x; }
    static TD_IN acc sum(acc a, acc b) { return a + b; }
    static TD_IN T done(acc a) { return (T)a; }
};
#define TD_REAL_FACTOR(D, real, fma)                                                 \
    template <> struct td_factor<D> {                                                \
        typedef real T;                                                              \
        typedef real acc;                                                            \
        static TD_IN acc add(acc a, T x, T y) { return fma(x, y, a); }               \
        static TD_IN acc times(const td_scalar &s, acc a) { return (real)s.re * a; } \
        static TD_IN acc of(T x) { return x; }                                       \
        static TD_IN acc sum(acc a, acc b) { return a + b; }                         \
        static TD_IN T done(acc a) { return a; }                                     \
    };
TD_REAL_FACTOR(TD_F32, float, __fmaf_rn)
TD_REAL_FACTOR(TD_F64, double, __fma_rn)
#define TD_SHORT_FACTOR(D) /* 16 bits: summed in float32, rounded once */             \
    template <> struct td_factor<D> {                                                 \
        typedef td_mem<D>::type T;                                                    \
        typedef float acc;                                                            \
        static TD_IN acc of(T x) { return td_read<D, acc>(x); }                       \
        static TD_IN acc add(acc a, T x, T y) { return __fmaf_rn(of(x), of(y), a); }  \
        static TD_IN acc times(const td_scalar &s, acc a) { return (float)s.re * a; } \
        static TD_IN acc sum(acc a, acc b) { return a + b; }                          \
        static TD_IN T done(acc a) { return td_made<D>(a); }                          \
    };
TD_SHORT_FACTOR(TD_F16)
TD_SHORT_FACTOR(TD_BF16)
#define TD_COMPLEX_FACTOR(D, complex_type, real)                                     \
    template <> struct td_factor<D> {                                                \
        typedef complex_type T;                                                      \
        typedef complex_type acc;                                                    \
        static TD_IN acc product(acc x, acc y)                                       \
        {                                                                            \
            return acc(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re);        \
        }                                                                            \
        static TD_IN acc add(acc a, T x, T y) { return sum(a, product(x, y)); }      \
        static TD_IN acc times(const td_scalar &s, acc a)                            \
        {                                                                            \
            return product(acc((real)s.re, (real)s.im), a);                          \
        }                                                                            \
        static TD_IN acc of(T x) { return x; }                                       \
        static TD_IN acc sum(acc a, acc b) { return acc(a.re + b.re, a.im + b.im); } \
        static TD_IN T done(acc a) { return a; }                                     \
    };
TD_COMPLEX_FACTOR(TD_C64, c64, float)
TD_COMPLEX_FACTOR(TD_C128, c128, double)

VFN bool td_is_number(const td_scalar &s, double value) { return s.re == value && s.im == 0; }

/* factors of dtype D for a result of dtype TO, in which sums of both are added up */
template <int D, int TO>
VFN void td_product_tile(const td_product_call &c, const typename td_factor<D>::T *a,
                         const typename td_factor<D>::T *b, typename td_factor<TO>::T *out,
                         int64_t row0, int64_t col0)
{
    typedef td_factor<D> F;
    typedef td_factor<TO> R;
    typedef typename F::T T;
    __shared__ T left[TD_TILE][TD_TILE + 1];
    __shared__ T right[TD_TILE][TD_TILE + 1];
    int tx = (int)threadIdx.x % TD_TILE, ty = (int)threadIdx.x / TD_TILE;
    int64_t row = row0 + ty, col = col0 + tx;
    typename F::acc sum = typename F::acc(0);
    for (int64_t k0 = 0; k0 < c.k; k0 += TD_TILE) {
        left[ty][tx] = row < c.m && k0 + tx < c.k ? a[row * c.a_row + (k0 + tx) * c.a_col] : T(0);
        right[ty][tx] = col < c.n && k0 + ty < c.k ? b[(k0 + ty) * c.b_row + col * c.b_col] : T(0);
        __syncthreads();
        /* no zeros of the edge: NaN times 0 is NaN */
        int64_t rest = c.k - k0, most = rest < TD_TILE ? rest : TD_TILE;
        for (int i = 0; i < most; i++) sum = F::add(sum, left[ty][i], right[i][tx]);
        __syncthreads();
    }
    if (row >= c.m || col >= c.n) return;
    if (!td_is_number(c.alpha, 1)) sum = F::times(c.alpha, sum);
    typename R::T *place = out + row * c.c_row + col;
    if (!td_is_number(c.beta, 0)) sum = F::sum(sum, F::times(c.beta, R::of(*place)));
    if (c.bias) sum = F::sum(sum, R::of(((const typename R::T *)c.bias)[col]));
    *place = R::done(sum);
}

template <int D, int TO> VFN void td_product_tiles(const td_product_call &c)
{
    typedef typename td_factor<D>::T T;
    int64_t down = (c.m + TD_TILE - 1) / TD_TILE, across = (c.n + TD_TILE - 1) / TD_TILE;
    for (int64_t tile = blockIdx.x; tile < down * across * c.batches; tile += gridDim.x) {
        int64_t at = tile % (down * across), rest = tile / (down * across), a = 0, b = 0, out = 0;
        for (int64_t d = c.batch_dims - 1; d >= 0; d--) {
            int64_t index = rest % c.batch[d];
            rest /= c.batch[d];
            a += index * c.a_batch[d];
            b += index * c.b_batch[d];
            out += index * c.c_batch[d];
        }
        td_product_tile<D, TO>(c, (const T *)c.a + a, (const T *)c.b + b,
                               (typename td_factor<TO>::T *)c.c + out, at / across * TD_TILE,
                               at % across * TD_TILE);
    }
}
template <int D>
__global__ void __launch_bounds__(256)
    td_product_together(const __grid_constant__ td_product_call c)
{
    td_product_tiles<D, D>(c);
}
/* 16 bits whose products stay in float32 */
template <int D>
__global__ void __launch_bounds__(256)
    td_product_wide_together(const __grid_constant__ td_product_call c)
{
    td_product_tiles<D, TD_F32>(c);
}
#endif
