/* taeda_torch/enumeration.hpp - py::enum_<T>(m, "Name"): enumerations of C++ for Python.
 *
 * A member crosses as its number. Python makes a class of the numbers by their names; a number that
 * is none of them is refused before the function runs. */
#ifndef TAEDA_TORCH_ENUMERATION_HPP
#define TAEDA_TORCH_ENUMERATION_HPP
#include "taeda_torch/library.hpp"

namespace at TAEDA_HIDDEN {
namespace detail {
/* What Python is told of an enumeration: its names and numbers. */
struct Enumeration {
    std::string name;
    std::vector<std::pair<std::string, int64_t>> members;

    bool has(int64_t number) const
    {
        for (const auto &one : members)
            if (one.second == number) return true;
        return false;
    }
    std::string text() const
    {
        std::string made;
        for (const auto &[member, number] : members)
            made += c10::str(made.empty() ? "" : ", ", member, "=", number);
        return made;
    }
};
template <class T> Enumeration &enumeration()
{
    static Enumeration made;
    return made;
}

template <class T> struct Out<T, std::enable_if_t<std::is_enum_v<T>>> {
    static std::string kinds() { return "i"; }
    static void put(T v, Results &to) { Out<int64_t>::put(int64_t(v), to); }
};
}
}

namespace taeda TAEDA_HIDDEN {
namespace detail {
template <class T> struct Argument<T, std::enable_if_t<std::is_enum_v<T>>> : Plain<T> {
    static constexpr const char *schema = "int";
    explicit Argument(const taeda_value &v) : Plain<T>{T(whole(v))}
    {
        const at::detail::Enumeration &known = at::detail::enumeration<T>();
        if (known.members.empty())
            throw NotImplementedError("an argument is an enumeration that no py::enum_ binds");
        if (!known.has(v.as.integer))
            throw ValueError(concat(v.as.integer, " is no member of ", known.name, "; there are ",
                                    known.text()));
    }
};
}
}

namespace pybind11 TAEDA_HIDDEN {
struct arithmetic {}; /* numbers and members are compared anyway */

template <class T> class enum_ {
    static_assert(std::is_enum_v<T>, "py::enum_ binds an enumeration of C++");

public:
    template <class Module, class... Extra>
    enum_(Module &m, const char *name, const Extra &...extra)
        : listed_(at::detail::registry().add_enumeration(m.space(), name))
    {
        at::detail::enumeration<T>() = {name, {}};
        (add(extra), ...);
    }
    enum_ &value(const char *name, T v, const char *doc = nullptr)
    {
        if (doc) listed_.doc += c10::str("\n", name, ": ", doc);
        at::detail::Enumeration &made = at::detail::enumeration<T>();
        made.members.emplace_back(name, int64_t(v));
        listed_.members = made.text();
        return *this;
    }
    /* The members are names of the module, too. */
    enum_ &export_values()
    {
        listed_.exported = true;
        return *this;
    }

private:
    void add(const char *doc) { listed_.doc = doc; }
    void add(arithmetic) {}
    at::detail::Listed &listed_;
};
}
#endif
