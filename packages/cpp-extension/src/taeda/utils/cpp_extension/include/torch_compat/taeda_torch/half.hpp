/* taeda_torch/half.hpp - elements of 16 bits whose arithmetic gives elements of 16 bits, and
 * complex ones. */
#ifndef TAEDA_TORCH_HALF_HPP
#define TAEDA_TORCH_HALF_HPP
#include <complex>
#include <limits>
#include <ostream>

#include "taeda_torch/error.hpp"

#if defined(__CUDACC__) || defined(__HIPCC__)
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#else
#define C10_HOST_DEVICE
#define C10_DEVICE
#define C10_HOST
#endif

namespace c10 TAEDA_HIDDEN {

namespace detail {
/* Rounded to the nearest, ties to even, at each operation; Code: taeda/half.hpp. */
template <class Code> struct alignas(2) Short {
    struct from_bits_t {};
    C10_HOST_DEVICE static constexpr from_bits_t from_bits() { return {}; }
    uint16_t x;

    Short() = default;
    C10_HOST_DEVICE constexpr Short(uint16_t bits, from_bits_t) : x(bits) {}
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    C10_HOST_DEVICE Short(T v) : x(Code::bits(float(v)))
    {
    }
    C10_HOST_DEVICE operator float() const { return Code::value(x); }
    C10_HOST_DEVICE Short operator-() const { return Short(uint16_t(x ^ 0x8000u), from_bits()); }
};
#define TAEDA_TORCH_SHORT_(sign)                                                             \
    template <class C> C10_HOST_DEVICE Short<C> operator sign(Short<C> a, Short<C> b)        \
    {                                                                                        \
        return Short<C>(float(a) sign float(b));                                             \
    }                                                                                        \
    template <class C> C10_HOST_DEVICE float operator sign(Short<C> a, float b)              \
    {                                                                                        \
        return float(a) sign b;                                                              \
    }                                                                                        \
    template <class C> C10_HOST_DEVICE float operator sign(float a, Short<C> b)              \
    {                                                                                        \
        return a sign float(b);                                                              \
    }                                                                                        \
    template <class C> C10_HOST_DEVICE double operator sign(Short<C> a, double b)            \
    {                                                                                        \
        return double(float(a)) sign b;                                                      \
    }                                                                                        \
    template <class C> C10_HOST_DEVICE double operator sign(double a, Short<C> b)            \
    {                                                                                        \
        return a sign double(float(b));                                                      \
    }                                                                                        \
    template <class C, class T, class = std::enable_if_t<std::is_integral_v<T>>>             \
    C10_HOST_DEVICE Short<C> operator sign(Short<C> a, T b)                                  \
    {                                                                                        \
        return a sign Short<C>(b);                                                           \
    }                                                                                        \
    template <class C, class T, class = std::enable_if_t<std::is_integral_v<T>>>             \
    C10_HOST_DEVICE Short<C> operator sign(T a, Short<C> b)                                  \
    {                                                                                        \
        return Short<C>(a) sign b;                                                           \
    }                                                                                        \
    template <class C, class T> C10_HOST_DEVICE Short<C> &operator sign##=(Short<C> &a, T b) \
    {                                                                                        \
        return a = Short<C>(float(a) sign float(b));                                         \
    }                                                                                        \
    template <class C> C10_HOST_DEVICE float &operator sign##=(float &a, Short<C> b)         \
    {                                                                                        \
        return a = a sign float(b);                                                          \
    }                                                                                        \
    template <class C> C10_HOST_DEVICE double &operator sign##=(double &a, Short<C> b)       \
    {                                                                                        \
        return a = a sign double(float(b));                                                  \
    }
TAEDA_TORCH_SHORT_(+)
TAEDA_TORCH_SHORT_(-)
TAEDA_TORCH_SHORT_(*)
TAEDA_TORCH_SHORT_(/)
#undef TAEDA_TORCH_SHORT_
template <class C> std::ostream &operator<<(std::ostream &out, Short<C> v)
{
    return out << float(v);
}
}
using Half = detail::Short<taeda::detail::HalfCode>;
using BFloat16 = detail::Short<taeda::detail::BFloat16Code>;
template <class T> using complex = std::complex<T>;

}

namespace std {
template <> struct numeric_limits<c10::Half> : taeda::detail::ShortLimits<c10::Half> {
    static constexpr int digits = 11;
    static constexpr c10::Half of(uint16_t bits) { return {bits, c10::Half::from_bits()}; }
    static constexpr c10::Half max() { return of(0x7bff); }
    static constexpr c10::Half lowest() { return of(0xfbff); }
    static constexpr c10::Half min() { return of(0x0400); }
    static constexpr c10::Half denorm_min() { return of(1); }
    static constexpr c10::Half epsilon() { return of(0x1400); }
};
template <> struct numeric_limits<c10::BFloat16> : taeda::detail::ShortLimits<c10::BFloat16> {
    static constexpr int digits = 8;
    static constexpr c10::BFloat16 of(uint16_t bits) { return {bits, c10::BFloat16::from_bits()}; }
    static constexpr c10::BFloat16 max() { return of(0x7f7f); }
    static constexpr c10::BFloat16 lowest() { return of(0xff7f); }
    static constexpr c10::BFloat16 min() { return of(0x0080); }
    static constexpr c10::BFloat16 denorm_min() { return of(1); }
    static constexpr c10::BFloat16 epsilon() { return of(0x3c00); }
};
}

namespace taeda TAEDA_HIDDEN {
namespace detail {
template <> struct DTypeOf<c10::Half> {
    static constexpr DType dtype = TAEDA_FLOAT16;
};
template <> struct DTypeOf<c10::BFloat16> {
    static constexpr DType dtype = TAEDA_BFLOAT16;
};
}
}

namespace at TAEDA_HIDDEN {
using c10::BFloat16;
using c10::Half;
/* In what sums of such elements are computed. */
template <class T> struct OpMathType {
    using type = T;
};
template <> struct OpMathType<Half> {
    using type = float;
};
template <> struct OpMathType<BFloat16> {
    using type = float;
};
template <class T> using opmath_type = typename OpMathType<T>::type;
template <class T, bool is_cuda> struct AccumulateType {
    using type = std::conditional_t<
        std::is_integral_v<T>, int64_t,
        std::conditional_t<is_cuda || !std::is_same_v<opmath_type<T>, float>, opmath_type<T>,
                           std::conditional_t<std::is_same_v<T, float>, double, float>>>;
};
template <class T, bool is_cuda> using acc_type = typename AccumulateType<T, is_cuda>::type;
}
#endif
