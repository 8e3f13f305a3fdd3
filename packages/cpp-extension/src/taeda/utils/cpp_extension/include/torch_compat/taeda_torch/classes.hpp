/* taeda_torch/classes.hpp - m.class_<T>("Name"): C++ classes whose objects Python makes, calls and
 * hands to operators.
 *
 * Every member is an operator, "Name__class__member", which takes the object as its first argument;
 * the library's list of classes says which operators make one, and taeda.classes.<space>.<Name> is
 * built of it. */
#ifndef TAEDA_TORCH_CLASSES_HPP
#define TAEDA_TORCH_CLASSES_HPP
#include "taeda_torch/pybind.hpp"

namespace at TAEDA_HIDDEN {
namespace detail {

template <class... A> struct Made_of {}; /* the arguments of a constructor */
template <class F> struct Made_by {      /* a function in place of a constructor */
    F function;
};

/* A member function, or any function whose first argument is the object, as a function of a counted
 * pointer. */
template <class T, class R, class C, class... A> auto member(R (C::*f)(A...))
{
    return [f](const c10::intrusive_ptr<T> &self, A... a) -> R {
        return ((*self).*f)(std::forward<A>(a)...);
    };
}
template <class T, class R, class C, class... A> auto member(R (C::*f)(A...) const)
{
    return [f](const c10::intrusive_ptr<T> &self, A... a) -> R {
        return ((*self).*f)(std::forward<A>(a)...);
    };
}
template <class T, class F>
std::enable_if_t<!std::is_member_function_pointer_v<std::decay_t<F>>, std::decay_t<F>> member(F &&f)
{
    return std::forward<F>(f);
}

}
}

namespace torch TAEDA_HIDDEN {

using arg = pybind11::arg;
template <class... A> at::detail::Made_of<A...> init() { return {}; }
template <class F> at::detail::Made_by<std::decay_t<F>> init(F &&f) { return {std::forward<F>(f)}; }

/* Names and documents the members of T, a class below torch::CustomClassHolder, for Python. */
template <class T> class class_ {
    static_assert(std::is_base_of_v<CustomClassHolder, T>,
                  "a class that Python holds objects of derives from torch::CustomClassHolder");
    using Pointer = c10::intrusive_ptr<T>;

public:
    class_(const std::string &space, const std::string &name, std::string doc = "")
        : space_(space), name_(name)
    {
        std::string qualified = space + "." + name;
        TORCH_CHECK_VALUE(!at::detail::Objects::all().is_named(typeid(T)),
                          "class_ is called twice for the class of ", qualified);
        at::detail::Objects::all().name(typeid(T), qualified);
        described_ = &at::detail::registry().add_class(space, name, std::move(doc));
    }
    template <class... A>
    class_ &def(at::detail::Made_of<A...>, const std::string &doc = "",
                std::initializer_list<pybind11::arg> arguments = {})
    {
        return add(
            's', "__init__", [](A... a) { return Pointer::make(std::forward<A>(a)...); }, doc,
            arguments);
    }
    template <class F>
    class_ &def(at::detail::Made_by<F> made, const std::string &doc = "",
                std::initializer_list<pybind11::arg> arguments = {})
    {
        return add('s', "__init__", std::move(made.function), doc, arguments);
    }
    template <class F>
    class_ &def(const std::string &name, F &&f, const std::string &doc = "",
                std::initializer_list<pybind11::arg> arguments = {})
    {
        return add('m', name, at::detail::member<T>(std::forward<F>(f)), doc, arguments, true);
    }
    template <class F>
    class_ &def_static(const std::string &name, F &&f, const std::string &doc = "")
    {
        return add('s', name, std::forward<F>(f), doc, {});
    }
    template <class G>
    class_ &def_property(const std::string &name, G &&get, const std::string &doc = "")
    {
        return add('g', name, at::detail::member<T>(std::forward<G>(get)), doc, {}, true);
    }
    template <class G, class S, class = std::enable_if_t<!std::is_convertible_v<S, std::string>>>
    class_ &def_property(const std::string &name, G &&get, S &&set, const std::string &doc = "")
    {
        return def_property(name, std::forward<G>(get), doc)
            .add('w', name, at::detail::member<T>(std::forward<S>(set)), doc, {}, true);
    }
    template <class V>
    class_ &def_readonly(const std::string &name, V T::*field, const std::string &doc = "")
    {
        return def_property(
            name, [field](const Pointer &self) -> V { return (*self).*field; }, doc);
    }
    template <class V>
    class_ &def_readwrite(const std::string &name, V T::*field, const std::string &doc = "")
    {
        return def_property(
            name, [field](const Pointer &self) -> V { return (*self).*field; },
            [field](const Pointer &self, V value) { (*self).*field = std::move(value); }, doc);
    }
    /* What copies and pickles keep of an object, and an object of it. */
    template <class G, class S> class_ &def_pickle(G &&get, S &&set)
    {
        return add('m', "__getstate__", std::forward<G>(get), "", {}, true)
            .add('s', "__setstate__", std::forward<S>(set), "", {});
    }

private:
    template <class F>
    class_ &add(char kind, const std::string &name, F &&f, const std::string &doc,
                std::initializer_list<pybind11::arg> arguments, bool of_object = false)
    {
        std::string op = name_ + "__class__" + (kind == 'w' ? "set_" : "") + name;
        at::detail::Definition &made = at::detail::registry().define(space_, op);
        made.any = at::detail::bound(std::forward<F>(f));
        made.doc = doc;
        if (of_object && arguments.size()) made.arguments.push_back("self");
        for (const pybind11::arg &one : arguments) made.arguments.push_back(one.text());
        *described_ += c10::str("\x1f", kind, name, "\x1f", op);
        return *this;
    }
    std::string space_, name_;
    std::string *described_;
};

template <class T> class_<T> Library::class_(const std::string &name, const std::string &doc)
{
    return torch::class_<T>(space_, name, doc);
}

}
#endif
