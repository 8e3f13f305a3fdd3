/* taeda_torch/operators.hpp - operators of C++ on tensors and numbers, and how a tensor is printed.
 */
#ifndef TAEDA_TORCH_OPERATORS_HPP
#define TAEDA_TORCH_OPERATORS_HPP
#include "taeda_torch/creation.hpp"

namespace at TAEDA_HIDDEN {

#define TAEDA_TORCH_OPERATOR_(sign, name)                                               \
    inline Tensor operator sign(const Tensor &a, const Tensor &b) { return a.name(b); } \
    inline Tensor operator sign(const Tensor &a, const Scalar &b) { return a.name(b); }
#define TAEDA_TORCH_COMMUTES_(sign, name, turned) \
    TAEDA_TORCH_OPERATOR_(sign, name)             \
    inline Tensor operator sign(const Scalar &a, const Tensor &b) { return b.turned(a); }
TAEDA_TORCH_COMMUTES_(+, add, add)
TAEDA_TORCH_COMMUTES_(*, mul, mul)
TAEDA_TORCH_COMMUTES_(==, eq, eq)
TAEDA_TORCH_COMMUTES_(!=, ne, ne)
TAEDA_TORCH_COMMUTES_(<, lt, gt)
TAEDA_TORCH_COMMUTES_(<=, le, ge)
TAEDA_TORCH_COMMUTES_(>, gt, lt)
TAEDA_TORCH_COMMUTES_(>=, ge, le)
TAEDA_TORCH_COMMUTES_(&, bitwise_and, bitwise_and)
TAEDA_TORCH_COMMUTES_(|, bitwise_or, bitwise_or)
TAEDA_TORCH_COMMUTES_(^, bitwise_xor, bitwise_xor) TAEDA_TORCH_OPERATOR_(-, sub)
    TAEDA_TORCH_OPERATOR_(/, div) TAEDA_TORCH_OPERATOR_(%, remainder)
#undef TAEDA_TORCH_COMMUTES_
#undef TAEDA_TORCH_OPERATOR_
        inline Tensor
        operator-(const Scalar &a, const Tensor &b)
{
    return rsub(b, a);
}
inline Tensor operator/(const Scalar &a, const Tensor &b)
{
    static const detail::Row row("div.Tensor");
    return row.one({a, b});
}
inline Tensor operator-(const Tensor &x) { return x.neg(); }
inline Tensor operator~(const Tensor &x) { return x.bitwise_not(); }
inline Tensor operator!(const Tensor &x) { return x.logical_not(); }

/* Type and shape, and the elements of a small one. */
TAEDA_RARE inline std::ostream &operator<<(std::ostream &out, const Tensor &x)
{
    if (!x.defined()) return out << "[ Tensor (undefined) ]";
    if (x.numel() <= 64 && !x.is_meta()) {
        Tensor flat = x.reshape({-1});
        for (int64_t i = 0; i < flat.numel(); i++) out << (i ? " " : "") << flat[i].item();
        out << "\n";
    }
    out << "[ " << x.toString() << "{";
    for (int64_t d = 0; d < x.dim(); d++) out << (d ? "," : "") << x.size(d);
    return out << "} ]";
}

}
#endif
