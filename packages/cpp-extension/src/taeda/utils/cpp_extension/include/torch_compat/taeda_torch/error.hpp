/* taeda_torch/error.hpp - exceptions and the checks that throw them. */
#ifndef TAEDA_TORCH_ERROR_HPP
#define TAEDA_TORCH_ERROR_HPP
#include <iostream>
#include <sstream>
#include <string>

#include "taeda/taeda.hpp"

namespace c10 TAEDA_HIDDEN {

/* What TORCH_CHECK throws; the boundary makes it the Python exception of its kind. */
class Error : public taeda::Error {
public:
    explicit Error(const std::string &message, int32_t code = TAEDA_RUNTIME_ERROR)
        : taeda::Error(message, code)
    {
    }
    Error(const std::string &message, const std::string &) : Error(message) {}
    const char *what_without_backtrace() const { return what(); }
    std::string msg() const { return what(); }
};
template <int32_t kind> class ErrorOf : public Error {
public:
    explicit ErrorOf(const std::string &message) : Error(message, kind) {}
};
using IndexError = ErrorOf<TAEDA_INDEX_ERROR>;
using ValueError = ErrorOf<TAEDA_VALUE_ERROR>;
using TypeError = ErrorOf<TAEDA_TYPE_ERROR>;
using NotImplementedError = ErrorOf<TAEDA_NOT_IMPLEMENTED>;

namespace detail {
template <class T, class = void> inline constexpr bool is_written = false;
template <class T>
inline constexpr bool is_written<
    T, std::void_t<decltype(std::declval<std::ostream &>() << std::declval<const T &>())>> = true;
template <class T> void write_part(std::ostream &to, const T &part)
{
    static_assert(is_written<T>, "this type cannot be a part of a message: it has no operator<<");
    if constexpr (is_written<T>) to << part;
}
}
/* The parts as one text, each as `<<` writes it. */
template <class... Parts> TAEDA_RARE std::string str(const Parts &...parts)
{
    std::ostringstream made;
    (detail::write_part(made, parts), ...);
    return made.str();
}

namespace detail {
TAEDA_RARE inline std::string message(const char *condition, const std::string &given)
{
    return given.empty() ? std::string("Expected ") + condition + " to be true, but got false."
                         : given;
}
template <class E>
[[noreturn]] TAEDA_RARE void fail(const char *condition, const std::string &given)
{
    throw E(message(condition, given));
}
TAEDA_RARE inline void warn(const std::string &text)
{
    std::cerr << "Warning: " << text << std::endl;
}
}

}

/* A statement by itself, as torch's: programs leave the semicolon away. */
#define TAEDA_TORCH_CHECK_(type, condition, ...)                        \
    if (__builtin_expect(!(condition), 0)) {                            \
        ::c10::detail::fail<type>(#condition, ::c10::str(__VA_ARGS__)); \
    }
#define TORCH_CHECK(condition, ...) TAEDA_TORCH_CHECK_(::c10::Error, condition, __VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) \
    TAEDA_TORCH_CHECK_(::c10::IndexError, condition, __VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) \
    TAEDA_TORCH_CHECK_(::c10::ValueError, condition, __VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) \
    TAEDA_TORCH_CHECK_(::c10::TypeError, condition, __VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) \
    TAEDA_TORCH_CHECK_(::c10::NotImplementedError, condition, __VA_ARGS__)
#define TORCH_CHECK_ARG(condition, number, ...) \
    TAEDA_TORCH_CHECK_(::c10::Error, condition, "invalid argument ", number, ": ", __VA_ARGS__)
#define TORCH_INTERNAL_ASSERT(condition, ...) \
    TAEDA_TORCH_CHECK_(::c10::Error, condition, __VA_ARGS__)
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(condition, ...) \
    TAEDA_TORCH_CHECK_(::c10::Error, condition, __VA_ARGS__)
#define STD_TORCH_CHECK(condition, ...) TAEDA_TORCH_CHECK_(::c10::Error, condition, __VA_ARGS__)
#define STD_TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) \
    TAEDA_TORCH_CHECK_(::c10::NotImplementedError, condition, __VA_ARGS__)
#define AT_ASSERT(condition, ...) TAEDA_TORCH_CHECK_(::c10::Error, condition, __VA_ARGS__)
#define AT_ASSERTM(condition, ...) TAEDA_TORCH_CHECK_(::c10::Error, condition, __VA_ARGS__)
#define AT_CHECK(condition, ...) TAEDA_TORCH_CHECK_(::c10::Error, condition, __VA_ARGS__)
#define AT_ERROR(...) throw ::c10::Error(::c10::str(__VA_ARGS__))
#define C10_THROW_ERROR(kind, ...) throw ::c10::kind(::c10::str(__VA_ARGS__))

#define TAEDA_TORCH_COMPARE_(a, sign, b) \
    TORCH_CHECK((a)sign(b), "Check failed: " #a " " #sign " " #b " (", (a), " vs. ", (b), "). ")
#define TORCH_CHECK_EQ(a, b) TAEDA_TORCH_COMPARE_(a, ==, b)
#define TORCH_CHECK_NE(a, b) TAEDA_TORCH_COMPARE_(a, !=, b)
#define TORCH_CHECK_LT(a, b) TAEDA_TORCH_COMPARE_(a, <, b)
#define TORCH_CHECK_LE(a, b) TAEDA_TORCH_COMPARE_(a, <=, b)
#define TORCH_CHECK_GT(a, b) TAEDA_TORCH_COMPARE_(a, >, b)
#define TORCH_CHECK_GE(a, b) TAEDA_TORCH_COMPARE_(a, >=, b)

/* The boundary has no way to Python's warnings: the text goes to the error stream. */
#define TORCH_WARN(...) ::c10::detail::warn(::c10::str(__VA_ARGS__))
#define AT_WARN(...) TORCH_WARN(__VA_ARGS__)
#define TORCH_WARN_ONCE(...)                                      \
    do {                                                          \
        static const bool said = (TORCH_WARN(__VA_ARGS__), true); \
        (void)said;                                               \
    } while (0)
#endif
