/* taeda_torch/dispatch.hpp - AT_DISPATCH_*: a body that is compiled for several element types, and
 * run for one. */
#ifndef TAEDA_TORCH_DISPATCH_HPP
#define TAEDA_TORCH_DISPATCH_HPP
#include "taeda_torch/tensor.hpp"

namespace at TAEDA_HIDDEN {
namespace detail {
inline ScalarType scalar_type(ScalarType t) { return t; }
inline ScalarType scalar_type(const DeprecatedTypeProperties &t) { return t.scalarType(); }
[[noreturn]] TAEDA_RARE inline void not_for(const std::string &name, ScalarType t)
{
    throw NotImplementedError(str("\"", name, "\" not implemented for '", t, "'"));
}
}
}

#define AT_DISPATCH_SWITCH(TYPE, NAME, ...)                                          \
    [&] {                                                                            \
        const ::c10::ScalarType taeda_torch_type_ = ::at::detail::scalar_type(TYPE); \
        switch (taeda_torch_type_) {                                                 \
            __VA_ARGS__                                                              \
            default: ::at::detail::not_for(NAME, taeda_torch_type_);                 \
        }                                                                            \
    }()
#define AT_PRIVATE_CASE_TYPE_USING_HINT(type, hint, ...)                       \
    case type: {                                                               \
        using hint [[maybe_unused]] = ::c10::impl::ScalarTypeToCPPTypeT<type>; \
        return __VA_ARGS__();                                                  \
    }
#define AT_DISPATCH_CASE(type, ...) AT_PRIVATE_CASE_TYPE_USING_HINT(type, scalar_t, __VA_ARGS__)

#define TAEDA_TORCH_CASES1_(a, ...) AT_DISPATCH_CASE(a, __VA_ARGS__)
#define TAEDA_TORCH_CASES2_(a, b, ...) \
    AT_DISPATCH_CASE(a, __VA_ARGS__) AT_DISPATCH_CASE(b, __VA_ARGS__)
#define TAEDA_TORCH_CASES3_(a, b, c, ...) \
    TAEDA_TORCH_CASES2_(a, b, __VA_ARGS__) AT_DISPATCH_CASE(c, __VA_ARGS__)
#define TAEDA_TORCH_CASES4_(a, b, c, d, ...) \
    TAEDA_TORCH_CASES2_(a, b, __VA_ARGS__) TAEDA_TORCH_CASES2_(c, d, __VA_ARGS__)
#define TAEDA_TORCH_CASES5_(a, b, c, d, e, ...) \
    TAEDA_TORCH_CASES4_(a, b, c, d, __VA_ARGS__) AT_DISPATCH_CASE(e, __VA_ARGS__)
#define TAEDA_TORCH_CASES6_(a, b, c, d, e, f, ...) \
    TAEDA_TORCH_CASES4_(a, b, c, d, __VA_ARGS__) TAEDA_TORCH_CASES2_(e, f, __VA_ARGS__)

#define AT_DISPATCH_CASE_FLOATING_TYPES(...) \
    TAEDA_TORCH_CASES2_(::c10::ScalarType::Double, ::c10::ScalarType::Float, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...)                                                      \
    TAEDA_TORCH_CASES5_(::c10::ScalarType::Byte, ::c10::ScalarType::Char, ::c10::ScalarType::Int, \
                        ::c10::ScalarType::Long, ::c10::ScalarType::Short, __VA_ARGS__)
#define AT_DISPATCH_CASE_COMPLEX_TYPES(...)                                                \
    TAEDA_TORCH_CASES2_(::c10::ScalarType::ComplexDouble, ::c10::ScalarType::ComplexFloat, \
                        __VA_ARGS__)
#define AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(...) \
    TAEDA_TORCH_CASES2_(::c10::ScalarType::Half, ::c10::ScalarType::BFloat16, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...) \
    AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(...) \
    AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(...) \
    AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)

/* a family, and types that are named before it */
#define TAEDA_TORCH_DISPATCH0_(family, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, family(__VA_ARGS__))
#define TAEDA_TORCH_DISPATCH1_(family, a, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, family(__VA_ARGS__) TAEDA_TORCH_CASES1_(a, __VA_ARGS__))
#define TAEDA_TORCH_DISPATCH2_(family, a, b, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, family(__VA_ARGS__) TAEDA_TORCH_CASES2_(a, b, __VA_ARGS__))
#define TAEDA_TORCH_DISPATCH3_(family, a, b, c, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, family(__VA_ARGS__) TAEDA_TORCH_CASES3_(a, b, c, __VA_ARGS__))
#define TAEDA_TORCH_DISPATCH4_(family, a, b, c, d, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, family(__VA_ARGS__) TAEDA_TORCH_CASES4_(a, b, c, d, __VA_ARGS__))

#define AT_DISPATCH_FLOATING_TYPES(...) \
    TAEDA_TORCH_DISPATCH0_(AT_DISPATCH_CASE_FLOATING_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(...) \
    TAEDA_TORCH_DISPATCH1_(AT_DISPATCH_CASE_FLOATING_TYPES, ::c10::ScalarType::Half, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND(...) \
    TAEDA_TORCH_DISPATCH1_(AT_DISPATCH_CASE_FLOATING_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND2(...) \
    TAEDA_TORCH_DISPATCH2_(AT_DISPATCH_CASE_FLOATING_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND3(...) \
    TAEDA_TORCH_DISPATCH3_(AT_DISPATCH_CASE_FLOATING_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND4(...) \
    TAEDA_TORCH_DISPATCH4_(AT_DISPATCH_CASE_FLOATING_TYPES, __VA_ARGS__)
#define AT_DISPATCH_INTEGRAL_TYPES(...) \
    TAEDA_TORCH_DISPATCH0_(AT_DISPATCH_CASE_INTEGRAL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_INTEGRAL_TYPES_AND(...) \
    TAEDA_TORCH_DISPATCH1_(AT_DISPATCH_CASE_INTEGRAL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_COMPLEX_TYPES(...) \
    TAEDA_TORCH_DISPATCH0_(AT_DISPATCH_CASE_COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(...) \
    TAEDA_TORCH_DISPATCH0_(AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES(...) TAEDA_TORCH_DISPATCH0_(AT_DISPATCH_CASE_ALL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND(...) \
    TAEDA_TORCH_DISPATCH1_(AT_DISPATCH_CASE_ALL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_HALF(...) \
    TAEDA_TORCH_DISPATCH1_(AT_DISPATCH_CASE_ALL_TYPES, ::c10::ScalarType::Half, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND2(...) \
    TAEDA_TORCH_DISPATCH2_(AT_DISPATCH_CASE_ALL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND3(...) \
    TAEDA_TORCH_DISPATCH3_(AT_DISPATCH_CASE_ALL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND4(...) \
    TAEDA_TORCH_DISPATCH4_(AT_DISPATCH_CASE_ALL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(...) \
    TAEDA_TORCH_DISPATCH0_(AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND(...) \
    TAEDA_TORCH_DISPATCH1_(AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND1(...) \
    TAEDA_TORCH_DISPATCH1_(AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2(...) \
    TAEDA_TORCH_DISPATCH2_(AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND3(...) \
    TAEDA_TORCH_DISPATCH3_(AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX(...) \
    TAEDA_TORCH_DISPATCH0_(AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND(...) \
    TAEDA_TORCH_DISPATCH1_(AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(...) \
    TAEDA_TORCH_DISPATCH2_(AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(...) \
    TAEDA_TORCH_DISPATCH3_(AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND4(...) \
    TAEDA_TORCH_DISPATCH4_(AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX, __VA_ARGS__)
#define AT_DISPATCH_INDEX_TYPES(TYPE, NAME, ...)                                      \
    AT_DISPATCH_SWITCH(                                                               \
        TYPE, NAME,                                                                   \
        AT_PRIVATE_CASE_TYPE_USING_HINT(::c10::ScalarType::Int, index_t, __VA_ARGS__) \
            AT_PRIVATE_CASE_TYPE_USING_HINT(::c10::ScalarType::Long, index_t, __VA_ARGS__))
#endif
