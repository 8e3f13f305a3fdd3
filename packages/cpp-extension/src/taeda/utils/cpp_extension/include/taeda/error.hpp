/* taeda/error.hpp - the core's functions, and how their failures and ours become exceptions. */
#ifndef TAEDA_ERROR_HPP
#define TAEDA_ERROR_HPP
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "taeda/abi.h"

static_assert(TAEDA_ABI >= TAEDA_ABI_OF(1, 5), "taeda.hpp needs the header abi.h of 1.5");

#define TAEDA_RARE \
    __attribute__((cold, noinline)) /* runs once, or in an error: compiled for size, and sooner */
#ifdef __CUDACC__
#define TAEDA_HOST_DEVICE __host__ __device__ /* kernels call it, too */
#else
#define TAEDA_HOST_DEVICE
#endif
#define TAEDA_HIDDEN \
    __attribute__((visibility("hidden"))) /* two extensions in one process share nothing */

namespace taeda TAEDA_HIDDEN {

class Dims;
class Device;

namespace detail {
inline const taeda_api *table = nullptr;
}
/* The core's functions; set when the extension is loaded. */
inline const taeda_api &api() { return *detail::table; }

/* The base of all below, and what becomes RuntimeError. */
class Error : public std::runtime_error {
public:
    explicit Error(const std::string &message, int32_t code = TAEDA_RUNTIME_ERROR)
        : std::runtime_error(message), code_(code)
    {
    }
    int32_t code() const { return code_; }

private:
    int32_t code_;
};
class TypeError : public Error {
public:
    explicit TypeError(const std::string &message) : Error(message, TAEDA_TYPE_ERROR) {}
};
class ValueError : public Error {
public:
    explicit ValueError(const std::string &message) : Error(message, TAEDA_VALUE_ERROR) {}
};
class IndexError : public Error {
public:
    explicit IndexError(const std::string &message) : Error(message, TAEDA_INDEX_ERROR) {}
};
class NotImplementedError : public Error {
public:
    explicit NotImplementedError(const std::string &message) : Error(message, TAEDA_NOT_IMPLEMENTED)
    {
    }
};

namespace detail {
/* ---- what a message may be made of ---- */
TAEDA_RARE inline void append(std::string &to, std::string_view s) { to += s; }
TAEDA_RARE inline void append(std::string &to, const char *s) { to += s ? s : "(null)"; }
inline void append(std::string &to, Dims dims);     /* "[2, 3]": layout.hpp */
inline void append(std::string &to, taeda_dtype t); /* "float32": dtype.hpp */
inline void append(std::string &to, Device device); /* "cuda:1": device.hpp */
TAEDA_RARE inline void append_real(std::string &to, double v)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", v);
    to += text;
}
template <class T> std::enable_if_t<std::is_arithmetic_v<T>> append(std::string &to, T v)
{
    if constexpr (std::is_same_v<T, bool>) to += v ? "true" : "false";
    else if constexpr (std::is_same_v<T, char>) to += v;
    else if constexpr (std::is_floating_point_v<T>) append_real(to, double(v));
    else to += std::to_string(v);
}
template <class T> TAEDA_RARE void append(std::string &to, const std::vector<T> &list)
{
    to += "[";
    for (size_t i = 0; i < list.size(); i++) {
        if (i) to += ", ";
        append(to, T(list[i]));
    }
    to += "]";
}
template <class T, class = void> inline constexpr bool can_append = false;
template <class T>
inline constexpr bool can_append<
    T, std::void_t<decltype(append(std::declval<std::string &>(), std::declval<const T &>()))>> =
    true;
template <class T> void append_part(std::string &to, const T &part)
{
    static_assert(can_append<T>, "this type cannot be a part of a message: texts, numbers, "
                                 "x.sizes(), x.dtype(), x.device() and vectors of these can");
    if constexpr (can_append<T>) append(to, part);
}
template <class... Parts> TAEDA_RARE std::string concat(const Parts &...parts)
{
    std::string made;
    (append_part(made, parts), ...);
    return made;
}

[[noreturn]] TAEDA_RARE inline void fail(int32_t code, const taeda_error &error)
{
    throw Error(error.message, code);
}
inline void check(int32_t code, const taeda_error &error)
{
    if (code) fail(code, error);
}
}

}

/* Throw Error, with a message made of the further arguments (texts, numbers, x.sizes(), x.dtype(),
 * x.device(), vectors of these), unless `condition` holds. */
#define TAEDA_CHECK(condition, ...)                                                   \
    do {                                                                              \
        if (!(condition)) throw ::taeda::Error(::taeda::detail::concat(__VA_ARGS__)); \
    } while (0)
#define TAEDA_CHECK_TYPE(condition, ...)                                                  \
    do {                                                                                  \
        if (!(condition)) throw ::taeda::TypeError(::taeda::detail::concat(__VA_ARGS__)); \
    } while (0)
#define TAEDA_CHECK_VALUE(condition, ...)                                                  \
    do {                                                                                   \
        if (!(condition)) throw ::taeda::ValueError(::taeda::detail::concat(__VA_ARGS__)); \
    } while (0)
#endif
