/* taeda/half.hpp - elements of 16 bits: numbers that are computed with as float and rounded to the
 * nearest, ties to even. */
#ifndef TAEDA_HALF_HPP
#define TAEDA_HALF_HPP
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "taeda/error.hpp"

namespace taeda TAEDA_HIDDEN {

namespace detail {
TAEDA_HOST_DEVICE inline uint32_t bits_of(float v)
{
    uint32_t bits;
    std::memcpy(&bits, &v, sizeof bits);
    return bits;
}
TAEDA_HOST_DEVICE inline float float_of(uint32_t bits)
{
    float v;
    std::memcpy(&v, &bits, sizeof v);
    return v;
}
TAEDA_HOST_DEVICE inline bool is_nan(uint32_t bits) { return (bits & 0x7fffffffu) > 0x7f800000u; }

/* ---- float16: 1 sign, 5 exponent and 10 fraction bits ---- */
TAEDA_HOST_DEVICE inline uint16_t half_bits(float v)
{
    uint32_t bits = bits_of(v), sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
    if (is_nan(bits)) return uint16_t(sign | 0x7e00u);
    if (size >= 0x47800000u) return uint16_t(sign | 0x7c00u); /* 65536 and more */
    /* below 2**-14: steps of 2**-24, which a sum with 0.5 rounds to */
    if (size < 0x38800000u) {
        uint32_t sum = bits_of(float_of(size) + 0.5f);
        return uint16_t(sign | (sum - bits_of(0.5f)));
    }
    uint32_t odd = size >> 13 & 1;
    return uint16_t(sign | ((size + 0xfffu + odd - 0x38000000u) >> 13));
}
TAEDA_HOST_DEVICE inline float half_value(uint16_t half)
{
    uint32_t sign = uint32_t(half & 0x8000u) << 16, size = half & 0x7fffu;
    if (size < 0x400u) return float_of(sign | bits_of(float(size) * 0x1p-24f));
    if (size >= 0x7c00u) return float_of(sign | 0x7f800000u | (size & 0x3ffu) << 13);
    return float_of(sign | ((size << 13) + 0x38000000u));
}
struct HalfCode {
    TAEDA_HOST_DEVICE static uint16_t bits(float v) { return half_bits(v); }
    TAEDA_HOST_DEVICE static float value(uint16_t b) { return half_value(b); }
};

/* ---- bfloat16: the upper half of a float ---- */
struct BFloat16Code {
    TAEDA_HOST_DEVICE static uint16_t bits(float v)
    {
        uint32_t b = bits_of(v);
        return is_nan(b) ? uint16_t(0x7fc0u) : uint16_t((b + 0x7fffu + (b >> 16 & 1)) >> 16);
    }
    TAEDA_HOST_DEVICE static float value(uint16_t b) { return float_of(uint32_t(b) << 16); }
};

template <class Code> struct Short {
    uint16_t bits;

    Short() = default;
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    Short(T v) : bits(Code::bits(float(v)))
    {
    }
    Short(uint16_t) = delete; /* the number or the bits? from_bits(n), or Half(float(n)) */
    static Short from_bits(uint16_t bits)
    {
        Short made;
        made.bits = bits;
        return made;
    }
    operator float() const { return Code::value(bits); }
    Short operator-() const { return from_bits(uint16_t(bits ^ 0x8000u)); }
    Short &operator+=(float v) { return *this = Short(float(*this) + v); }
    Short &operator-=(float v) { return *this = Short(float(*this) - v); }
    Short &operator*=(float v) { return *this = Short(float(*this) * v); }
    Short &operator/=(float v) { return *this = Short(float(*this) / v); }
};
}
/* The C++ types of float16 and bfloat16 elements. */
using Half = detail::Short<detail::HalfCode>;
using BFloat16 = detail::Short<detail::BFloat16Code>;
static_assert(sizeof(Half) == 2 && std::is_trivially_copyable_v<Half>,
              "elements lie in memory as they are");

namespace detail {
template <class Self> struct ShortLimits : std::numeric_limits<float> {
    static constexpr bool is_iec559 = false;
    static Self infinity() { return Self(std::numeric_limits<float>::infinity()); }
    static Self quiet_NaN() { return Self(std::numeric_limits<float>::quiet_NaN()); }
};
}
}

namespace std {
template <> struct numeric_limits<taeda::Half> : taeda::detail::ShortLimits<taeda::Half> {
    static constexpr int digits = 11;
    static taeda::Half max() { return taeda::Half::from_bits(0x7bff); }
    static taeda::Half lowest() { return taeda::Half::from_bits(0xfbff); }
    static taeda::Half min() { return taeda::Half::from_bits(0x0400); }
    static taeda::Half denorm_min() { return taeda::Half::from_bits(1); }
    static taeda::Half epsilon() { return taeda::Half::from_bits(0x1400); }
};
template <> struct numeric_limits<taeda::BFloat16> : taeda::detail::ShortLimits<taeda::BFloat16> {
    static constexpr int digits = 8;
    static taeda::BFloat16 max() { return taeda::BFloat16::from_bits(0x7f7f); }
    static taeda::BFloat16 lowest() { return taeda::BFloat16::from_bits(0xff7f); }
    static taeda::BFloat16 min() { return taeda::BFloat16::from_bits(0x0080); }
    static taeda::BFloat16 denorm_min() { return taeda::BFloat16::from_bits(1); }
    static taeda::BFloat16 epsilon() { return taeda::BFloat16::from_bits(0x3c00); }
};
}
#endif
