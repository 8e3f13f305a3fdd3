/* taeda/dispatch.hpp - code chosen by dtype. */
#ifndef TAEDA_DISPATCH_HPP
#define TAEDA_DISPATCH_HPP
#include <utility>

#include "taeda/operator.hpp"

namespace taeda TAEDA_HIDDEN {

namespace detail {
template <class First, class... Rest, class F>
decltype(auto) pick(const Tensor &x, const char *what, F &&f)
{
    if (x.dtype() == dtype_of<First>) return f(First{});
    if constexpr (sizeof...(Rest) > 0) return pick<Rest...>(x, what, std::forward<F>(f));
    else throw TypeError(concat(what, ": ", name_of(x.dtype()), " is not supported"));
}
}
/* Call `f` with a zero of x's element type, if that is one of Types; TypeError otherwise:
 *     dispatch<float, double>(x, "scale", [&](auto zero) { using T = decltype(zero); ... }); */
template <class... Types, class F> decltype(auto) dispatch(const Tensor &x, const char *what, F &&f)
{
    return detail::pick<Types...>(x, what, std::forward<F>(f));
}
/* The same for a family of types, and for more that are named: dispatch_floating<Half, BFloat16>(x,
 * "scale", ...). */
template <class... More, class F>
decltype(auto) dispatch_floating(const Tensor &x, const char *what, F &&f)
{
    return detail::pick<float, double, More...>(x, what, std::forward<F>(f));
}
template <class... More, class F>
decltype(auto) dispatch_integral(const Tensor &x, const char *what, F &&f)
{
    return detail::pick<int64_t, int32_t, int16_t, int8_t, uint8_t, More...>(x, what,
                                                                             std::forward<F>(f));
}
template <class... More, class F>
decltype(auto) dispatch_complex(const Tensor &x, const char *what, F &&f)
{
    return detail::pick<std::complex<float>, std::complex<double>, More...>(x, what,
                                                                            std::forward<F>(f));
}
/* floating and integral */
template <class... More, class F>
decltype(auto) dispatch_all(const Tensor &x, const char *what, F &&f)
{
    return detail::pick<float, double, int64_t, int32_t, int16_t, int8_t, uint8_t, More...>(
        x, what, std::forward<F>(f));
}

template <class T> T Tensor::item() const
{
    if (!facts().on_cpu && !is_meta()) return cpu().item<T>();
    if (numel() != 1 || !facts().data)
        throw ValueError(
            detail::concat("item: wanted one element, got shape ", shape_text(sizes())));
    return dispatch<double, float, int64_t, int32_t, int16_t, int8_t, uint8_t, bool, Half, BFloat16,
                    uint16_t, uint32_t, uint64_t>(*this, "item", [&](auto zero) {
        return T(*static_cast<const decltype(zero) *>(facts().data));
    });
}

}
#endif
