/* convert.h - copies and conversions of elements where a thread computes one: the meaning of
 * cpu/convert.c. A copy is td_copy_of by the size of an element, a conversion td_cast of two
 * dtypes; both are loops of pointwise.h. */
#ifndef TD_CONVERT_H
#define TD_CONVERT_H
#include "cpu/simd/vrow_complex.h"

VFN int32_t td_to_i32(double x)
{
    return x > -2147483649.0 && x < 2147483648.0 ? (int32_t)x : INT32_MIN;
}
VFN int64_t td_to_i64(double x) { return x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN; }
VFN uint64_t td_to_u64(double x)
{
    return x >= 0x1p63 && x < 0x1p64 ? (uint64_t)(int64_t)(x - 0x1p63) + ((uint64_t)1 << 63)
                                     : (uint64_t)td_to_i64(x);
}

/* what a dtype computes in */
template <int D> struct td_value {
    typedef typename td_mem<D>::type type;
};
template <> struct td_value<TD_F16> {
    typedef float type;
};
template <> struct td_value<TD_BF16> {
    typedef float type;
};
template <> struct td_value<TD_C32> {
    typedef c64 type;
};
template <int D> struct td_is_whole {
    enum { value = D <= TD_U64 };
};
template <int D> struct td_is_pair {
    enum { value = D == TD_C32 || D == TD_C64 || D == TD_C128 };
};

/* a real number of type F to dtype To */
template <int To, class F> VFN typename td_value<To>::type td_real_to(F x)
{
    typedef typename td_value<To>::type T;
    constexpr bool floating = F(0.5) != F(0);
    if constexpr (To == TD_BOOL) return x != 0;
    else if constexpr (!td_is_whole<To>::value || !floating) return (T)x;
    else if constexpr (To == TD_U64) return td_to_u64((double)x);
    else if constexpr (To == TD_I64 || To == TD_U32) return (T)td_to_i64((double)x);
    else return (T)td_to_i32((double)x);
}
template <int To, int From>
VFN typename td_value<To>::type td_convert(typename td_value<From>::type x)
{
    typedef typename td_value<To>::type T;
    if constexpr (td_is_pair<From>::value && To == TD_BOOL) return x.re != 0 || x.im != 0;
    else if constexpr (td_is_pair<From>::value && td_is_pair<To>::value) return T(x);
    else if constexpr (td_is_pair<From>::value) return td_real_to<To>(x.re);
    else if constexpr (td_is_pair<To>::value) {
        typedef decltype(T().re) R;
        return T((R)x, 0);
    } else return td_real_to<To>(x);
}
template <int To, int From> struct td_cast_row {
    typedef typename td_value<To>::type out_t;
    typedef typename td_value<From>::type in_t;
    static TD_IN out_t apply(const void *, in_t x) { return td_convert<To, From>(x); }
};
template <int To, int From> using td_cast = td_loop_of<td_cast_row<To, From>, To, From>;

/* elements as bits, by a dtype of that size */
template <int D> struct td_copy_row {
    typedef typename td_mem<D>::type out_t;
    typedef typename td_mem<D>::type in_t;
    static TD_IN out_t apply(const void *, in_t x) { return x; }
};
template <int D> using td_copy_of = td_loop_of<td_copy_row<D>, D, D>;

/* the sign of one part, in place: D is a dtype of that part's size */
template <int D> struct td_negate_row {
    typedef typename td_mem<D>::type out_t;
    typedef typename td_mem<D>::type in_t;
    static TD_IN out_t apply(const void *, in_t x)
    {
        if constexpr (sizeof(in_t) == 2) return (out_t)(x ^ 0x8000);
        else return -x;
    }
};
template <int D> using td_negate = td_loop_of<td_negate_row<D>, D, D>;
#endif
