/* taeda/functions.hpp - operators of C++ and the common operations by name, as programs for ATen write them.
 *
 *     Tensor y = taeda::relu(x * 2 + bias);
 *     Tensor z = taeda::softmax(taeda::matmul(q, taeda::transpose(k, -2, -1)) / std::sqrt(64.0), -1);
 *
 * Each is a call of the core's table (operator.hpp), which checks, promotes and broadcasts as in Python, and records no derivative;
 * any other operation is taeda::call("name", ...). Where a Tensor stands second it may be a number. */
#ifndef TAEDA_FUNCTIONS_HPP
#define TAEDA_FUNCTIONS_HPP
#include <string>
#include <type_traits>
#include <vector>

#include "taeda/operator.hpp"

namespace taeda TAEDA_HIDDEN {

using IntList = std::vector<int64_t>;

namespace detail {
template <class T> inline constexpr bool is_operand = std::is_same_v<T, Tensor> || std::is_arithmetic_v<T>;
/* numbers in the types that values have: long long and float are others to the compiler */
inline const Tensor &plain(const Tensor &x) { return x; }
template <class T> auto plain(T v)
{
    if constexpr (std::is_same_v<T, bool>) return v;
    else if constexpr (std::is_floating_point_v<T>) return double(v);
    else if constexpr (std::is_same_v<T, uint64_t>) return v;
    else return int64_t(v);
}
}

#define TAEDA_UNARY_(name)                                                                                             \
    inline Tensor name(const Tensor &x)                                                                                \
    {                                                                                                                  \
        static const Operator op(#name);                                                                               \
        return op(x);                                                                                                  \
    }
TAEDA_UNARY_(abs) TAEDA_UNARY_(acos) TAEDA_UNARY_(all) TAEDA_UNARY_(any) TAEDA_UNARY_(asin) TAEDA_UNARY_(atan)
TAEDA_UNARY_(bitwise_not) TAEDA_UNARY_(ceil) TAEDA_UNARY_(clone) TAEDA_UNARY_(cos) TAEDA_UNARY_(cosh) TAEDA_UNARY_(detach)
TAEDA_UNARY_(erf) TAEDA_UNARY_(exp) TAEDA_UNARY_(expm1) TAEDA_UNARY_(floor) TAEDA_UNARY_(isfinite) TAEDA_UNARY_(isinf)
TAEDA_UNARY_(isnan) TAEDA_UNARY_(log) TAEDA_UNARY_(log10) TAEDA_UNARY_(log1p) TAEDA_UNARY_(log2) TAEDA_UNARY_(logical_not)
TAEDA_UNARY_(max) TAEDA_UNARY_(mean) TAEDA_UNARY_(min) TAEDA_UNARY_(neg) TAEDA_UNARY_(nonzero) TAEDA_UNARY_(prod)
TAEDA_UNARY_(reciprocal) TAEDA_UNARY_(relu) TAEDA_UNARY_(round) TAEDA_UNARY_(rsqrt) TAEDA_UNARY_(sigmoid) TAEDA_UNARY_(sign)
TAEDA_UNARY_(sin) TAEDA_UNARY_(sinh) TAEDA_UNARY_(sqrt) TAEDA_UNARY_(square) TAEDA_UNARY_(squeeze) TAEDA_UNARY_(sum)
TAEDA_UNARY_(t) TAEDA_UNARY_(tan) TAEDA_UNARY_(tanh) TAEDA_UNARY_(trunc)
#undef TAEDA_UNARY_

/* of a tensor and a tensor or number; the second form for numbers that stand first */
#define TAEDA_BINARY_(name, row)                                                                                       \
    template <class B, class = std::enable_if_t<detail::is_operand<B>>> Tensor name(const Tensor &a, const B &b)       \
    {                                                                                                                  \
        static const Operator op(row);                                                                                 \
        return op(a, detail::plain(b));                                                                                \
    }
#define TAEDA_OPERATOR_(sign, name)                                                                                    \
    template <class B, class = std::enable_if_t<detail::is_operand<B>>>                                                \
    Tensor operator sign(const Tensor &a, const B &b)                                                                  \
    {                                                                                                                  \
        return name(a, b);                                                                                             \
    }
TAEDA_BINARY_(add, "add.Tensor") TAEDA_BINARY_(sub, "sub.Tensor") TAEDA_BINARY_(mul, "mul.Tensor") TAEDA_BINARY_(div, "div.Tensor")
TAEDA_BINARY_(remainder, "remainder.Tensor") TAEDA_BINARY_(pow, "pow.Tensor_Tensor") TAEDA_BINARY_(atan2, "atan2")
TAEDA_BINARY_(eq, "eq.Tensor") TAEDA_BINARY_(ne, "ne.Tensor") TAEDA_BINARY_(lt, "lt.Tensor") TAEDA_BINARY_(le, "le.Tensor")
TAEDA_BINARY_(gt, "gt.Tensor") TAEDA_BINARY_(ge, "ge.Tensor") TAEDA_BINARY_(maximum, "maximum") TAEDA_BINARY_(minimum, "minimum")
TAEDA_BINARY_(bitwise_and, "bitwise_and.Tensor") TAEDA_BINARY_(bitwise_or, "bitwise_or.Tensor")
TAEDA_BINARY_(bitwise_xor, "bitwise_xor.Tensor") TAEDA_BINARY_(logical_and, "logical_and") TAEDA_BINARY_(logical_or, "logical_or")
TAEDA_OPERATOR_(+, add) TAEDA_OPERATOR_(-, sub) TAEDA_OPERATOR_(*, mul) TAEDA_OPERATOR_(/, div) TAEDA_OPERATOR_(%, remainder)
TAEDA_OPERATOR_(==, eq) TAEDA_OPERATOR_(!=, ne) TAEDA_OPERATOR_(<, lt) TAEDA_OPERATOR_(<=, le) TAEDA_OPERATOR_(>, gt)
TAEDA_OPERATOR_(>=, ge) TAEDA_OPERATOR_(&, bitwise_and) TAEDA_OPERATOR_(|, bitwise_or) TAEDA_OPERATOR_(^, bitwise_xor)
#undef TAEDA_OPERATOR_
#undef TAEDA_BINARY_
#define TAEDA_NUMBER_FIRST_(sign, row)                                                                                 \
    template <class A, class = std::enable_if_t<std::is_arithmetic_v<A>>> Tensor operator sign(A a, const Tensor &b)   \
    {                                                                                                                  \
        static const Operator op(row);                                                                                 \
        return op(detail::plain(a), b);                                                                                \
    }
TAEDA_NUMBER_FIRST_(+, "add.Tensor") TAEDA_NUMBER_FIRST_(-, "sub.Tensor") TAEDA_NUMBER_FIRST_(*, "mul.Tensor")
TAEDA_NUMBER_FIRST_(/, "div.Tensor")
#undef TAEDA_NUMBER_FIRST_
inline Tensor operator-(const Tensor &x) { return neg(x); }
inline Tensor operator~(const Tensor &x) { return bitwise_not(x); }

/* ---- along dimensions ---- */
#define TAEDA_ALONG_(name, row)                                                                                        \
    inline Tensor name(const Tensor &x, const IntList &dim, bool keepdim = false)                                      \
    {                                                                                                                  \
        static const Operator op(row);                                                                                 \
        return op(x, dim, keepdim);                                                                                    \
    }                                                                                                                  \
    inline Tensor name(const Tensor &x, int64_t dim, bool keepdim = false) { return name(x, IntList{dim}, keepdim); }
TAEDA_ALONG_(sum, "sum.dim_IntList") TAEDA_ALONG_(mean, "mean.dim") TAEDA_ALONG_(amax, "amax") TAEDA_ALONG_(amin, "amin")
TAEDA_ALONG_(logsumexp, "logsumexp")
#undef TAEDA_ALONG_
#define TAEDA_CALL_(name, row, parameters, ...)                                                                        \
    inline Tensor name parameters                                                                                      \
    {                                                                                                                  \
        static const Operator op(row);                                                                                 \
        return op(__VA_ARGS__);                                                                                        \
    }
TAEDA_CALL_(argmax, "argmax", (const Tensor &x, int64_t dim, bool keepdim = false), x, dim, keepdim)
TAEDA_CALL_(argmin, "argmin", (const Tensor &x, int64_t dim, bool keepdim = false), x, dim, keepdim)
TAEDA_CALL_(cumsum, "cumsum", (const Tensor &x, int64_t dim), x, dim)
TAEDA_CALL_(cumprod, "cumprod", (const Tensor &x, int64_t dim), x, dim)
TAEDA_CALL_(softmax, "softmax.int", (const Tensor &x, int64_t dim), x, dim)
TAEDA_CALL_(log_softmax, "log_softmax.int", (const Tensor &x, int64_t dim), x, dim)

/* ---- products ---- */
TAEDA_CALL_(matmul, "matmul", (const Tensor &a, const Tensor &b), a, b)
TAEDA_CALL_(mm, "mm", (const Tensor &a, const Tensor &b), a, b)
TAEDA_CALL_(bmm, "bmm", (const Tensor &a, const Tensor &b), a, b)
TAEDA_CALL_(mv, "mv", (const Tensor &a, const Tensor &x), a, x)
TAEDA_CALL_(dot, "dot", (const Tensor &a, const Tensor &b), a, b)
TAEDA_CALL_(outer, "outer", (const Tensor &a, const Tensor &b), a, b)
TAEDA_CALL_(addmm, "addmm", (const Tensor &bias, const Tensor &a, const Tensor &b), bias, a, b)

/* ---- shapes ---- */
TAEDA_CALL_(reshape, "reshape", (const Tensor &x, const IntList &shape), x, shape)
TAEDA_CALL_(permute, "permute", (const Tensor &x, const IntList &dims), x, dims)
TAEDA_CALL_(transpose, "transpose.int", (const Tensor &x, int64_t a, int64_t b), x, a, b)
TAEDA_CALL_(unsqueeze, "unsqueeze", (const Tensor &x, int64_t dim), x, dim)
TAEDA_CALL_(squeeze, "squeeze.dim", (const Tensor &x, int64_t dim), x, dim)
TAEDA_CALL_(expand, "expand", (const Tensor &x, const IntList &size), x, size)
TAEDA_CALL_(select, "select.int", (const Tensor &x, int64_t dim, int64_t index), x, dim, index)
TAEDA_CALL_(narrow, "narrow", (const Tensor &x, int64_t dim, int64_t start, int64_t length), x, dim, start, length)
TAEDA_CALL_(flip, "flip", (const Tensor &x, const IntList &dims), x, dims)
TAEDA_CALL_(tril, "tril", (const Tensor &x, int64_t diagonal = 0), x, diagonal)
TAEDA_CALL_(triu, "triu", (const Tensor &x, int64_t diagonal = 0), x, diagonal)
TAEDA_CALL_(cat, "cat", (const std::vector<Tensor> &tensors, int64_t dim = 0), tensors, dim)
TAEDA_CALL_(stack, "stack", (const std::vector<Tensor> &tensors, int64_t dim = 0), tensors, dim)

/* ---- places and choices ---- */
TAEDA_CALL_(where, "where.self", (const Tensor &condition, const Tensor &a, const Tensor &b), condition, a, b)
TAEDA_CALL_(index_select, "index_select", (const Tensor &x, int64_t dim, const Tensor &index), x, dim, index)
TAEDA_CALL_(gather, "gather", (const Tensor &x, int64_t dim, const Tensor &index), x, dim, index)
TAEDA_CALL_(scatter_add, "scatter_add", (const Tensor &x, int64_t dim, const Tensor &index, const Tensor &source), x, dim, index, source)
TAEDA_CALL_(index_add, "index_add", (const Tensor &x, int64_t dim, const Tensor &index, const Tensor &source), x, dim, index, source)
TAEDA_CALL_(masked_select, "masked_select", (const Tensor &x, const Tensor &mask), x, mask)

/* ---- new ones; the dtype first in mind is float32, as in creation.hpp ---- */
TAEDA_CALL_(ones, "ones", (const IntList &size, DType dtype = TAEDA_FLOAT32), size, dtype)
TAEDA_CALL_(full, "full", (const IntList &size, double value, DType dtype), size, value, dtype) /* with the dtype of a value: creation.hpp */
TAEDA_CALL_(arange, "arange", (int64_t end), end)
TAEDA_CALL_(to, "_to_copy", (const Tensor &x, DType dtype), x, dtype)
#undef TAEDA_CALL_

}
#endif
