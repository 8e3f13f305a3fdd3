/* taeda_torch/library.hpp - TORCH_LIBRARY and its kin: definitions and kernels of operators. */
#ifndef TAEDA_TORCH_LIBRARY_HPP
#define TAEDA_TORCH_LIBRARY_HPP
#include "taeda_torch/registry.hpp"

namespace at TAEDA_HIDDEN {
enum class Tag {
    core,
    inplace_view,
    nondeterministic_seeded,
    pointwise,
    pt2_compliant_tag,
    needs_fixed_stride_order
};
}
namespace c10 TAEDA_HIDDEN {
enum class DispatchKey {
    Undefined,
    CPU,
    CUDA,
    Meta,
    Autograd,
    AutogradCPU,
    AutogradCUDA,
    CompositeImplicitAutograd,
    CompositeExplicitAutograd,
    CatchAll = CompositeImplicitAutograd
};
}

namespace torch TAEDA_HIDDEN {

using c10::DispatchKey;
template <class T> class class_; /* classes.hpp */

/* A function with the key it is for. */
struct CppFunction {
    DispatchKey key;
    std::shared_ptr<const at::detail::Callable> callable;
};
template <class F> CppFunction dispatch(DispatchKey key, F &&f)
{
    return {key, at::detail::bound(std::forward<F>(f))};
}
template <class F> CppFunction dispatch(c10::DeviceType type, F &&f)
{
    return dispatch(type == c10::kCPU    ? DispatchKey::CPU
                    : type == c10::kCUDA ? DispatchKey::CUDA
                                         : DispatchKey::Meta,
                    std::forward<F>(f));
}
inline std::string schema(const std::string &text) { return text; }

namespace detail {
template <class F> CppFunction keyed(DispatchKey key, F &&f)
{
    if constexpr (std::is_same_v<std::decay_t<F>, CppFunction>) return f;
    else return dispatch(key, std::forward<F>(f));
}
inline void set(at::detail::Definition &to, CppFunction f)
{
    auto slot = &at::detail::Definition::any;
    switch (f.key) {
        case DispatchKey::CPU: slot = &at::detail::Definition::cpu; break;
        case DispatchKey::CUDA: slot = &at::detail::Definition::cuda; break;
        case DispatchKey::Meta: slot = &at::detail::Definition::meta; break;
        case DispatchKey::Autograd:
        case DispatchKey::AutogradCPU:
        case DispatchKey::AutogradCUDA: slot = &at::detail::Definition::autograd; break;
        default: break;
    }
    TORCH_CHECK(!(to.*slot), to.qualified(), " is given two kernels for one key");
    to.*slot = std::move(f.callable);
}
}

/* What the body of TORCH_LIBRARY(name, m) and of its kin gets as m. */
class Library {
public:
    explicit Library(std::string space, DispatchKey key = DispatchKey::CompositeImplicitAutograd)
        : space_(std::move(space)), key_(key)
    {
    }
    /* A definition whose kernels come by `impl`. */
    Library &def(const std::string &schema, const std::vector<at::Tag> & = {})
    {
        at::detail::registry().define(space_, schema);
        return *this;
    }
    /* With a function for every device that has none of its own; of a name alone the schema follows
     * from its type. */
    template <class F, class = std::enable_if_t<!std::is_convertible_v<F, std::vector<at::Tag>>>>
    Library &def(const std::string &text, F &&f)
    {
        detail::set(at::detail::registry().define(space_, text),
                    detail::keyed(DispatchKey::CompositeImplicitAutograd, std::forward<F>(f)));
        return *this;
    }
    template <class F> Library &impl(const std::string &name, F &&f)
    {
        detail::set(at::detail::registry().kernels(space_, name),
                    detail::keyed(key_, std::forward<F>(f)));
        return *this;
    }
    template <class F> Library &impl(const std::string &name, DispatchKey key, F &&f)
    {
        detail::set(at::detail::registry().kernels(space_, name),
                    detail::keyed(key, std::forward<F>(f)));
        return *this;
    }
    /* A class of C++ whose objects Python holds. */
    template <class T>
    torch::class_<T> class_(const std::string &name, const std::string &doc = "");
    /* They tell which module of Python registers shapes; it is imported by the program. */
    Library &impl_abstract_pystub(const char *, const char * = "") { return *this; }
    Library &set_python_module(const char *, const char * = "") { return *this; }

private:
    std::string space_;
    DispatchKey key_;
};

/* static auto registry = torch::RegisterOperators().op("mine::f", &f).op("mine::g(Tensor x) ->
 * Tensor", &g); */
class RegisterOperators {
public:
    RegisterOperators() = default;
    template <class F> RegisterOperators(const std::string &text, F &&f)
    {
        op(text, std::forward<F>(f));
    }
    template <class F> RegisterOperators &op(const std::string &text, F &&f) &
    {
        /* Bound later, too: names of types in schemas are made while the library is opened. */
        at::detail::registry().later([text, f = std::decay_t<F>(std::forward<F>(f))] {
            detail::set(at::detail::registry().define("", text),
                        dispatch(DispatchKey::CompositeImplicitAutograd, f));
        });
        return *this;
    }
    template <class F> RegisterOperators &&op(const std::string &text, F &&f) &&
    {
        op(text, std::forward<F>(f));
        return std::move(*this);
    }
};

}
namespace torch TAEDA_HIDDEN {
namespace jit {
using torch::RegisterOperators;
}
}
namespace c10 TAEDA_HIDDEN {
using RegisterOperators = torch::RegisterOperators;
}

#define TAEDA_TORCH_JOIN2_(a, b) a##b
#define TAEDA_TORCH_JOIN_(a, b) TAEDA_TORCH_JOIN2_(a, b)
/* `function` is a name that is made once; the body of m follows */
#define TAEDA_TORCH_BLOCK_(function, m, ...)                                  \
    static void function(::torch::Library &);                                 \
    static const ::at::detail::Later TAEDA_TORCH_JOIN_(function, _later)([] { \
        ::torch::Library made(__VA_ARGS__);                                   \
        function(made);                                                       \
    });                                                                       \
    static void function([[maybe_unused]] ::torch::Library &m)
#define TORCH_LIBRARY_FRAGMENT(name, m) \
    TAEDA_TORCH_BLOCK_(TAEDA_TORCH_JOIN_(taeda_torch_library_, __COUNTER__), m, TAEDA_TEXT(name))
#define TORCH_LIBRARY(name, m) TORCH_LIBRARY_FRAGMENT(name, m)
#define TORCH_LIBRARY_IMPL(name, key, m)                                                          \
    TAEDA_TORCH_BLOCK_(TAEDA_TORCH_JOIN_(taeda_torch_kernels_, __COUNTER__), m, TAEDA_TEXT(name), \
                       ::c10::DispatchKey::key)
#define TORCH_FN(f) (f)
#define TORCH_SELECTIVE_NAME(name) name
#define TORCH_SELECTIVE_SCHEMA(schema) schema
#define STABLE_TORCH_LIBRARY(name, m) TORCH_LIBRARY(name, m)
#define STABLE_TORCH_LIBRARY_FRAGMENT(name, m) TORCH_LIBRARY(name, m)
#define STABLE_TORCH_LIBRARY_IMPL(name, key, m) TORCH_LIBRARY_IMPL(name, key, m)
#define TORCH_BOX(f) (f)
#endif
