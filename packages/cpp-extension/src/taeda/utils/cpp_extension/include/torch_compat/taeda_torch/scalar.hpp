/* taeda_torch/scalar.hpp - a number of any kind. */
#ifndef TAEDA_TORCH_SCALAR_HPP
#define TAEDA_TORCH_SCALAR_HPP
#include "taeda_torch/scalar_type.hpp"

namespace c10 TAEDA_HIDDEN {

class Scalar {
public:
    Scalar() : Scalar(int64_t(0)) {}
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    Scalar(T v) : value_{TAEDA_KIND_INT, 0, 0, {}}
    {
        if constexpr (std::is_floating_point_v<T>) {
            value_.kind = TAEDA_KIND_FLOAT;
            value_.as.real = double(v);
        } else {
            if (std::is_same_v<T, bool>) value_.kind = TAEDA_KIND_BOOL;
            else if (std::is_unsigned_v<T> && uint64_t(v) > uint64_t(INT64_MAX))
                value_.kind = TAEDA_KIND_UINT;
            value_.as.natural = uint64_t(v);
        }
    }
    Scalar(Half v) : Scalar(float(v)) {}
    Scalar(BFloat16 v) : Scalar(float(v)) {}
    template <class T> Scalar(std::complex<T> v) : value_{TAEDA_KIND_COMPLEX, 0, 0, {}}
    {
        value_.as.pair[0] = double(v.real());
        value_.as.pair[1] = double(v.imag());
    }
    explicit Scalar(const taeda_value &value) : value_(value) {}

    bool isFloatingPoint() const { return value_.kind == TAEDA_KIND_FLOAT; }
    bool isComplex() const { return value_.kind == TAEDA_KIND_COMPLEX; }
    bool isBoolean() const { return value_.kind == TAEDA_KIND_BOOL; }
    bool isIntegral(bool with_bool) const
    {
        return isBoolean() ? with_bool
                           : value_.kind == TAEDA_KIND_INT || value_.kind == TAEDA_KIND_UINT;
    }
    ScalarType type() const
    {
        return isFloatingPoint() ? kDouble
               : isComplex()     ? kComplexDouble
               : isBoolean()     ? kBool
                                 : kLong;
    }
    /* RuntimeError for a value that the type cannot hold. */
    template <class T> T to() const
    {
        if constexpr (std::is_same_v<T, std::complex<float>> ||
                      std::is_same_v<T, std::complex<double>>) {
            if (isComplex())
                return T(typename T::value_type(value_.as.pair[0]),
                         typename T::value_type(value_.as.pair[1]));
            return T(typename T::value_type(to<double>()));
        } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
            if (isFloatingPoint())
                return in_range<T>(value_.as.real) ? T(value_.as.real) : overflow<T>();
            return narrow<T>();
        } else return T(real());
    }
    double toDouble() const { return to<double>(); }
    float toFloat() const { return to<float>(); }
    int64_t toLong() const { return to<int64_t>(); }
    int toInt() const { return to<int>(); }
    bool toBool() const { return to<bool>(); }
    Half toHalf() const { return to<Half>(); }
    Scalar operator-() const
    {
        if (isFloatingPoint()) return -value_.as.real;
        if (isComplex()) return -to<std::complex<double>>();
        return -to<int64_t>();
    }
    const taeda_value &value() const { return value_; }

private:
    template <class T> [[noreturn]] TAEDA_RARE static T overflow()
    {
        throw Error(str("value cannot be converted to a type of ", 8 * sizeof(T),
                        " bits without overflow"));
    }
    template <class T> static bool in_range(double v)
    {
        return v >= double(std::numeric_limits<T>::lowest()) &&
               v < 2 * double(T(1) << (std::numeric_limits<T>::digits - 1));
    }
    template <class T> T narrow() const
    {
        if (isComplex()) return T(real());
        if (value_.kind == TAEDA_KIND_UINT)
            return sizeof(T) == 8 && std::is_unsigned_v<T> ? T(value_.as.natural) : overflow<T>();
        T made = T(value_.as.integer);
        return int64_t(made) == value_.as.integer ? made : overflow<T>();
    }
    double real() const
    {
        if (isComplex()) {
            TORCH_CHECK(value_.as.pair[1] == 0,
                        "value cannot be converted to a real type: its imaginary part is ",
                        value_.as.pair[1]);
            return value_.as.pair[0];
        }
        if (isFloatingPoint()) return value_.as.real;
        return value_.kind == TAEDA_KIND_UINT ? double(value_.as.natural)
                                              : double(value_.as.integer);
    }
    taeda_value value_;
};
TAEDA_RARE inline std::ostream &operator<<(std::ostream &out, const Scalar &v)
{
    if (v.isComplex()) return out << v.to<std::complex<double>>();
    if (v.isFloatingPoint()) return out << v.to<double>();
    return v.isBoolean() ? out << (v.to<bool>() ? "true" : "false") : out << v.value().as.integer;
}

}
#endif
