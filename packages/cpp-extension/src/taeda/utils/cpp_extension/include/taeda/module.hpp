/* taeda/module.hpp - the operators of an extension, and what the core looks for in its library. */
#ifndef TAEDA_MODULE_HPP
#define TAEDA_MODULE_HPP
#include <string>
#include <utility>

#include "taeda/binding.hpp"

namespace taeda TAEDA_HIDDEN {

/* An operator that is being described. */
class Definition {
public:
    /* What runs on tensors without memory: a function of the same type that makes results of the
     * right shape and dtype. */
    template <class R, class... A> Definition &meta(R (*function)(A...))
    {
        if constexpr (detail::binds<R, A...>) {
            functions_->meta = reinterpret_cast<void (*)()>(function);
            signatures_[1] = &detail::signature_of<R, A...>();
            kernels_.meta = detail::Binding<R, A...>::meta;
        }
        return *this;
    }
    /* What runs on tensors of a CUDA device: a function of the same type. It queues its kernels on
     * taeda::current_stream of the tensors' device, which is current when it is called, and does
     * not wait for them. */
    template <class R, class... A> Definition &cuda(R (*function)(A...))
    {
        if constexpr (detail::binds<R, A...>) {
            functions_->cuda = reinterpret_cast<void (*)()>(function);
            signatures_[2] = &detail::signature_of<R, A...>();
            kernels_.cuda = detail::Binding<R, A...>::cuda;
        }
        return *this;
    }
    /* The operator that computes its derivative, bound in the same extension. Argument names of its
     * schema say what it gets: `grad`, arguments of this one by their names, `result`; it returns a
     * gradient for each Tensor argument. A derivative of a derivative takes what arrives as
     * `Tensor?[] grads`, since `grad` is an argument there. The whole list is in taeda/abi.h,
     * taeda_derivative. */
    Definition &derivative(const std::string &backward)
    {
        backward_ = backward;
        return *this;
    }

private:
    friend class Module;
    std::string schema_, doc_, backward_;
    const char *number_ = "";
    detail::Functions *functions_ = nullptr;
    const detail::Signature *signatures_[3] = {}; /* of cpu, meta, cuda */
    taeda_op_def kernels_{};
    Definition *next_ = nullptr;

    std::string name() const { return schema_.substr(0, schema_.find_first_of("(.")); }
    TAEDA_RARE void define(const std::string &space)
    {
        std::string schema = space + "::" + schema_;
        taeda_error error{};
        kernels_.size = sizeof kernels_;
        kernels_.schema = schema.c_str();
        kernels_.user = functions_;
        kernels_.doc = doc_.c_str();
        detail::check(api().define_op(&kernels_, &error), error); /* the schema is one */
        static const char *const which[] = {"the C++ function", "the function for meta",
                                            "the function for cuda"};
        for (int i = 0; i < 3; i++)
            if (signatures_[i]) detail::compare(which[i], schema_, *signatures_[i]);
    }
    TAEDA_RARE void derive(const std::string &space) const
    {
        if (backward_.empty()) return;
        std::string op = space + "::" + name(), backward = space + "::" + backward_;
        taeda_derivative made{};
        taeda_error error{};
        made.size = sizeof made;
        made.op = op.c_str();
        made.backward = backward.c_str();
        detail::check(api().define_derivative(&made, &error), error);
    }
};

/* What TAEDA_EXTENSION's body fills. */
class Module {
public:
    /* Bind `function`. `text` is a schema, "scale(Tensor x, float factor=2) -> Tensor", or a name
     * alone: then the schema follows from the function's type, and the arguments are called arg0,
     * arg1, ... */
    template <class R, class... A>
    Definition &def(const std::string &text, R (*function)(A...), const std::string &doc = "")
    {
        if constexpr (detail::binds<R, A...>) {
            using B = detail::Binding<R, A...>;
            Definition &made =
                add(text.find('(') == std::string::npos ? B::schema(text) : text, doc,
                    reinterpret_cast<void (*)()>(function), B::cpu, B::number());
            made.signatures_[0] = &detail::signature_of<R, A...>();
            return made;
        } else
            return add(text, doc, nullptr, nullptr, ""); /* does not compile, for the cause said */
    }
    /* Register what was bound under `space`; returns for each, for Python: its schema, and what the
     * number is that it returns. */
    TAEDA_RARE std::string finish(const std::string &space)
    {
        std::string described;
        for (Definition *one = first_; one; one = one->next_) one->define(space);
        for (Definition *one = first_; one; one = one->next_) {
            one->derive(space);
            described += detail::concat(one->schema_, "\x1f", one->number_, "\x1e");
        }
        return described;
    }
    Module() = default;
    Module(const Module &) = delete;
    Module &operator=(const Module &) = delete;
    ~Module()
    {
        while (first_) delete std::exchange(first_, first_->next_);
    }

private:
    TAEDA_RARE Definition &add(const std::string &schema, const std::string &doc,
                               void (*function)(), taeda_kernel kernel, const char *number)
    {
        Definition *made = *last_ = new Definition;
        last_ = &made->next_;
        made->schema_ = schema;
        made->doc_ = doc;
        made->number_ = number;
        /* for as long as the library is loaded, which is for ever */
        made->functions_ = new detail::Functions;
        made->functions_->cpu = function;
        made->functions_->in_place = schema.find('!', schema.rfind("->")) != std::string::npos;
        made->functions_->views = schema.find("Tensor(", schema.rfind("->")) != std::string::npos;
        made->kernels_.cpu = kernel;
        return *made;
    }
    Definition *first_ = nullptr, **last_ = &first_;
};

namespace detail {
inline std::string space, described, failure;

TAEDA_RARE inline int32_t start(const taeda_api *given, void (*fill)(Module &))
{
    table = given;
    taeda_error error{};
    int32_t code = guarded(&error, [&] {
        Module m;
        fill(m);
        described = m.finish(space);
    });
    if (code) failure = error.message;
    return code;
}
}

}

#define TAEDA_EXPORT extern "C" __attribute__((visibility("default")))
#ifndef TAEDA_EXTENSION_NAME
#define TAEDA_EXTENSION_NAME extension
#endif
#define TAEDA_TEXT_(x) #x
#define TAEDA_TEXT(x) TAEDA_TEXT_(x)

/* Defines what the core looks for in an extension; the body binds functions: TAEDA_EXTENSION(m) {
 * m.def("f", f); } The operators' namespace is TAEDA_EXTENSION_NAME, unless whoever loads the
 * library sets another one first, as it does for a second version of one extension in one process.
 */
#define TAEDA_EXTENSION(module)                                                                   \
    static void taeda_extension_fill(::taeda::Module &);                                          \
    TAEDA_EXPORT uint32_t taeda_ext_abi(void) { return TAEDA_ABI; }                               \
    TAEDA_EXPORT void taeda_ext_namespace(const char *name) { ::taeda::detail::space = name; }    \
    TAEDA_EXPORT int32_t taeda_ext_init(const taeda_api *api)                                     \
    {                                                                                             \
        if (::taeda::detail::space.empty())                                                       \
            ::taeda::detail::space = TAEDA_TEXT(TAEDA_EXTENSION_NAME);                            \
        return ::taeda::detail::start(api, taeda_extension_fill);                                 \
    }                                                                                             \
    TAEDA_EXPORT const char *taeda_ext_functions(void)                                            \
    {                                                                                             \
        return ::taeda::detail::described.c_str();                                                \
    }                                                                                             \
    TAEDA_EXPORT const char *taeda_ext_failure(void) { return ::taeda::detail::failure.c_str(); } \
    static void taeda_extension_fill([[maybe_unused]] ::taeda::Module &module)
#endif
