/* taeda_torch/pybind.hpp - PYBIND11_MODULE: functions by name for Python, as operators of the
 * extension's namespace.
 *
 * The words of pybind11 that bindings of functions use, on the binary interface: no Python is in
 * the library, and it runs on every version of Python. Classes and Python objects are not bound. */
#ifndef TAEDA_TORCH_PYBIND_HPP
#define TAEDA_TORCH_PYBIND_HPP
#include "taeda_torch/enumeration.hpp"

namespace pybind11 TAEDA_HIDDEN {

struct none {};
struct kw_only {};
struct pos_only {};
template <class...> struct call_guard {};
struct gil_scoped_release : taeda::WithoutPython {};
struct gil_scoped_acquire { /* operators take Python's lock themselves */
    gil_scoped_acquire() {}
    ~gil_scoped_acquire() {}
};

namespace detail {
inline std::string quoted(const std::string &text)
{
    TORCH_CHECK_VALUE(text.find_first_of("\"\\\n") == std::string::npos,
                      "a default may not hold quotes, backslashes or ends of lines: ", text);
    return "\"" + text + "\"";
}
/* A default as schemas write it. */
template <class T> std::string written(const T &v)
{
    if constexpr (std::is_same_v<T, bool>) return v ? "True" : "False";
    else if constexpr (std::is_floating_point_v<T>) {
        char text[40];
        std::snprintf(text, sizeof text, "%.17g", double(v));
        return std::string(text).find_first_of(".en") == std::string::npos
                   ? std::string(text) + ".0"
                   : text;
    } else if constexpr (std::is_arithmetic_v<T>) return std::to_string(v);
    else if constexpr (std::is_enum_v<T>) return std::to_string(int64_t(v));
    else if constexpr (std::is_same_v<T, none> || std::is_same_v<T, c10::nullopt_t>) return "None";
    else if constexpr (std::is_convertible_v<T, std::string>) return quoted(v);
    else if constexpr (std::is_same_v<T, at::Tensor>) {
        TORCH_CHECK(!v.defined(), "a default that is a Tensor is undefined, or none");
        return "None";
    } else {
        static_assert(sizeof(T) == 0, "a default is a number, a text, none or nullopt");
        return "";
    }
}
template <class T> std::string written(const std::optional<T> &v)
{
    return v ? written(*v) : "None";
}
template <class T> std::string written(const std::vector<T> &list)
{
    std::string made = "[";
    for (size_t i = 0; i < list.size(); i++) made += (i ? ", " : "") + written(T(list[i]));
    return made + "]";
}
}

/* py::arg("k"), py::arg("k") = 3 */
class arg {
public:
    explicit arg(const char *name) : text_(name) {}
    template <class T> arg &operator=(const T &v)
    {
        text_ += "=" + detail::written(v);
        return *this;
    }
    arg &noconvert(bool = true) { return *this; } /* arguments are never converted */
    arg &none(bool = true) { return *this; }      /* None is for what is optional */
    const std::string &text() const { return text_; }

private:
    std::string text_;
};
namespace literals {
inline arg operator""_a(const char *name, size_t) { return arg(name); }
}
template <class... A> struct overload_cast_impl {
    template <class R> constexpr auto operator()(R (*f)(A...)) const { return f; }
};
template <class... A> inline constexpr overload_cast_impl<A...> overload_cast{};

/* What the body of PYBIND11_MODULE(name, m) gets as m. */
class module_ {
public:
    explicit module_(std::string space) : space_(std::move(space)) {}
    template <class F, class... Extra> module_ &def(const char *name, F &&f, const Extra &...extra)
    {
        at::detail::Definition &made = at::detail::registry().define(space_, name);
        made.for_python = true;
        made.any = at::detail::bound(std::forward<F>(f));
        (add(made, extra), ...);
        return *this;
    }
    const std::string &space() const { return space_; }
    std::string &doc() { return at::detail::registry().module_doc; }

private:
    static void add(at::detail::Definition &to, const char *doc) { to.doc = doc; }
    static void add(at::detail::Definition &to, const std::string &doc) { to.doc = doc; }
    static void add(at::detail::Definition &to, const arg &a) { to.arguments.push_back(a.text()); }
    template <class... G> static void add(at::detail::Definition &, const call_guard<G...> &) {}
    std::string space_;
};
using module = module_;

}
namespace py = pybind11;

#ifndef TORCH_EXTENSION_NAME
#define TORCH_EXTENSION_NAME TAEDA_EXTENSION_NAME
#endif
#define PYBIND11_MODULE(name, m, ...)                                                  \
    static void taeda_torch_module(::pybind11::module_ &);                             \
    static const ::at::detail::Later taeda_torch_module_later([] {                     \
        if (::taeda::detail::space.empty()) ::taeda::detail::space = TAEDA_TEXT(name); \
        ::pybind11::module_ made(::taeda::detail::space);                              \
        taeda_torch_module(made);                                                      \
    });                                                                                \
    static void taeda_torch_module([[maybe_unused]] ::pybind11::module_ &m)
#endif
