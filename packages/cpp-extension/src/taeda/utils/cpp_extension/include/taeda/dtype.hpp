/* taeda/dtype.hpp - element types: their C++ types, and what is known of each. */
#ifndef TAEDA_DTYPE_HPP
#define TAEDA_DTYPE_HPP
#include <complex>
#include <cstdint>

#include "taeda/error.hpp"
#include "taeda/half.hpp"

namespace taeda TAEDA_HIDDEN {

using DType = taeda_dtype;

namespace detail {
template <class T> struct DTypeOf;
#define TAEDA_DTYPE(type, value)              \
    template <> struct DTypeOf<type> {        \
        static constexpr DType dtype = value; \
    };
TAEDA_DTYPE(bool, TAEDA_BOOL)
TAEDA_DTYPE(uint8_t, TAEDA_UINT8)
TAEDA_DTYPE(int8_t, TAEDA_INT8)
TAEDA_DTYPE(int16_t, TAEDA_INT16)
TAEDA_DTYPE(int32_t, TAEDA_INT32)
TAEDA_DTYPE(int64_t, TAEDA_INT64)
TAEDA_DTYPE(uint16_t, TAEDA_UINT16)
TAEDA_DTYPE(uint32_t, TAEDA_UINT32)
TAEDA_DTYPE(uint64_t, TAEDA_UINT64)
TAEDA_DTYPE(Half, TAEDA_FLOAT16)
TAEDA_DTYPE(BFloat16, TAEDA_BFLOAT16)
TAEDA_DTYPE(float, TAEDA_FLOAT32)
TAEDA_DTYPE(double, TAEDA_FLOAT64)
TAEDA_DTYPE(std::complex<float>, TAEDA_COMPLEX64)
TAEDA_DTYPE(std::complex<double>, TAEDA_COMPLEX128)
#undef TAEDA_DTYPE
}
template <class T> inline constexpr DType dtype_of = detail::DTypeOf<T>::dtype;

TAEDA_RARE inline taeda_dtype_facts facts_of(DType dtype)
{
    taeda_dtype_facts facts{};
    taeda_error error{};
    facts.size = sizeof facts;
    detail::check(api().dtype_facts(dtype, &facts, &error), error);
    return facts;
}
inline const char *name_of(DType dtype) { return facts_of(dtype).name; } /* "float32" */
namespace detail {
inline void append(std::string &to, taeda_dtype dtype) { to += name_of(dtype); }
}
inline bool is_floating_point(DType dtype)
{
    return facts_of(dtype).category == TAEDA_CATEGORY_FLOAT;
}
/* The dtype that values of both fit in. */
inline DType promote(DType a, DType b)
{
    int32_t made;
    taeda_error error{};
    detail::check(api().promote_dtypes(a, b, &made, &error), error);
    return DType(made);
}
inline DType default_dtype() { return DType(api().default_dtype()); }

}
#endif
