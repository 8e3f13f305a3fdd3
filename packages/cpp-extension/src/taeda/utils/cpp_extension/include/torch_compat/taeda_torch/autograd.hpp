/* taeda_torch/autograd.hpp - torch::autograd::Function: forward, and its derivative, in C++. */
#ifndef TAEDA_TORCH_AUTOGRAD_HPP
#define TAEDA_TORCH_AUTOGRAD_HPP
#include <unordered_map>
#include <unordered_set>
#include <variant>

#include "taeda_torch/registry.hpp"

namespace c10 TAEDA_HIDDEN {

/* A value that forward keeps for backward. */
class IValue {
public:
    IValue() = default;
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> IValue(T v)
    {
        if constexpr (std::is_same_v<T, bool>) held_ = v;
        else if constexpr (std::is_floating_point_v<T>) held_ = double(v);
        else held_ = int64_t(v);
    }
    IValue(std::string v) : held_(std::move(v)) {}
    IValue(const char *v) : held_(std::string(v)) {}
    IValue(at::Tensor v) : held_(std::move(v)) {}
    IValue(IntArrayRef v) : held_(v.vec()) {}
    IValue(std::vector<int64_t> v) : held_(std::move(v)) {}
    IValue(std::vector<double> v) : held_(std::move(v)) {}
    IValue(std::vector<at::Tensor> v) : held_(std::move(v)) {}
    IValue(nullopt_t) {}
    template <class T> IValue(const std::optional<T> &v)
    {
        if (v) *this = IValue(*v);
    }
    bool isNone() const { return is<std::monostate>(); }
    bool isBool() const { return is<bool>(); }
    bool isInt() const { return is<int64_t>(); }
    bool isDouble() const { return is<double>(); }
    bool isString() const { return is<std::string>(); }
    bool isTensor() const { return is<at::Tensor>(); }
    bool toBool() const { return get<bool>("a bool"); }
    int64_t toInt() const { return get<int64_t>("an int"); }
    double toDouble() const { return get<double>("a double"); }
    const std::string &toStringRef() const { return get<std::string>("a string"); }
    at::Tensor toTensor() const { return get<at::Tensor>("a Tensor"); }
    std::vector<int64_t> toIntVector() const { return get<std::vector<int64_t>>("a list of ints"); }
    c10::List<int64_t> toIntList() const { return toIntVector(); }
    std::vector<double> toDoubleVector() const
    {
        return get<std::vector<double>>("a list of doubles");
    }
    std::vector<at::Tensor> toTensorVector() const
    {
        return get<std::vector<at::Tensor>>("a list of Tensors");
    }
    template <class T> std::optional<T> toOptional() const
    {
        if (isNone()) return nullopt;
        return to<T>();
    }
    template <class T> T to() const
    {
        if constexpr (std::is_same_v<T, bool>) return toBool();
        else if constexpr (std::is_integral_v<T>) return T(toInt());
        else if constexpr (std::is_floating_point_v<T>) return T(toDouble());
        else return get<T>("a value of another type");
    }

private:
    template <class T> bool is() const { return std::holds_alternative<T>(held_); }
    template <class T> const T &get(const char *what) const
    {
        TORCH_CHECK(is<T>(), "IValue: expected ", what);
        return *std::get_if<T>(&held_);
    }
    std::variant<std::monostate, bool, int64_t, double, std::string, at::Tensor,
                 std::vector<int64_t>, std::vector<double>, std::vector<at::Tensor>>
        held_;
};

}

namespace torch TAEDA_HIDDEN {
namespace autograd {

using Variable = at::Tensor;
using variable_list = std::vector<at::Tensor>;
using tensor_list = variable_list;

/* What forward leaves for backward. */
class AutogradContext {
public:
    AutogradContext() = default;
    AutogradContext(const AutogradContext &) = delete;
    AutogradContext &operator=(const AutogradContext &) = delete;

    std::unordered_map<std::string, c10::IValue> saved_data;

    void save_for_backward(variable_list list) { saved_ = std::move(list); }
    /* RuntimeError if one was written in place since. */
    variable_list get_saved_variables() const
    {
        for (size_t i = 0; i < versions_.size(); i++)
            TORCH_CHECK(!saved_[i].defined() || saved_[i]._version() == versions_[i],
                        "one of the variables needed for gradient computation has been modified by "
                        "an inplace operation: ",
                        "saved variable ", i, " of shape ", saved_[i].sizes(), " is at version ",
                        saved_[i]._version(), "; expected version ", versions_[i], " instead");
        return saved_;
    }
    /* Outputs without a derivative. */
    void mark_non_differentiable(const variable_list &list)
    {
        for (const at::Tensor &x : list) unwanted_.push_back(x);
    }
    /* What forward wrote in place is found by the version of its memory. */
    void mark_dirty(const variable_list &) {}
    /* Whether a gradient that does not arrive is given as zeros; it is. */
    void set_materialize_grads(bool on) { zeros_ = on; }
    bool needs_input_grad(size_t i) const { return i < needs_.size() && needs_[i]; }

private:
    template <class F> friend class Function;
    template <class F> friend class FunctionNode;
    void note_versions() /* after forward, which may write what it saved */
    {
        for (const at::Tensor &x : saved_) {
            versions_.push_back(x.defined() ? x._version() : 0);
            wanted_.push_back(x.defined() && x.requires_grad());
        }
    }
    variable_list saved_, unwanted_;
    std::vector<int64_t> versions_;
    std::vector<bool> wanted_; /* saved: may the gradient be asked for? */
    std::vector<bool> needs_;
    bool zeros_ = true;
};

template <class F> class FunctionNode final : public at::detail::Node {
public:
    AutogradContext context;

    template <class... A> explicit FunctionNode(const A &...arguments) { (note(arguments), ...); }
    at::detail::Gradients backward(at::detail::Gradients grads) override
    {
        for (size_t j = 0; context.zeros_ && j < grads.size(); j++)
            if (!grads[j].defined() && shapes_[j].second)
                grads[j] = at::zeros(shapes_[j].first, *shapes_[j].second);
        std::vector<const void *>
            wanted; /* an argument is another tensor when its call has ended */
        for (size_t i = 0; i < context.wanted_.size(); i++)
            if (context.wanted_[i]) wanted.push_back(context.saved_[i].handle().get());
        at::detail::Saved asked(std::move(wanted));
        return F::backward(&context, std::move(grads));
    }
    void made(const variable_list &list)
    {
        output_count = list.size();
        for (const at::Tensor &x : list) {
            bool plain = x.defined() && (x.is_floating_point() || x.is_complex());
            for (const at::Tensor &other : context.unwanted_) plain &= !other.is_same(x);
            outputs.push_back(plain ? x : at::Tensor());
            shapes_.emplace_back(x.defined() ? x.sizes().vec() : std::vector<int64_t>(),
                                 x.defined() ? std::optional(x.options()) : std::nullopt);
        }
        context.unwanted_.clear();
        context.note_versions();
    }

private:
    void note(const at::Tensor &x)
    {
        inputs.push_back(at::detail::Recording::current->source(x));
        differentiable.push_back(x.defined() && (x.is_floating_point() || x.is_complex()));
        context.needs_.push_back(at::detail::Recording::current->needs(inputs.back()));
    }
    void note(const std::optional<at::Tensor> &x) { note(x.value_or(at::Tensor())); }
    template <class T> void note(const T &)
    {
        static_assert(!std::is_same_v<T, variable_list>,
                      "Function::apply: Tensors come one by one, not as a list");
        note(at::Tensor());
    }
    std::vector<std::pair<std::vector<int64_t>, std::optional<at::TensorOptions>>> shapes_;
};

/* class Mine : public torch::autograd::Function<Mine> with static forward(AutogradContext *, ...)
 * and backward(AutogradContext *, variable_list): Mine::apply(...) in a bound function gives that
 * function a derivative. */
template <class F> class Function {
public:
    template <class X = F, class... A>
    static auto apply(A &&...arguments)
        -> std::decay_t<decltype(X::forward(nullptr, std::forward<A>(arguments)...))>
    {
        using Made = std::decay_t<decltype(X::forward(nullptr, std::forward<A>(arguments)...))>;
        /* of X, so that only a program's own use makes it */
        (void)at::detail::Records_used<X>::told;
        at::detail::Recording *recording = at::detail::Recording::current;
        if (!recording) {
            AutogradContext unused;
            return X::forward(&unused, std::forward<A>(arguments)...);
        }
        auto node = std::make_unique<FunctionNode<X>>(arguments...);
        at::detail::Recording::current = nullptr; /* what forward calls is a part of it */
        struct Again {
            at::detail::Recording *was;
            ~Again() { at::detail::Recording::current = was; }
        } again{recording};
        Made made = X::forward(&node->context, std::forward<A>(arguments)...);
        if constexpr (std::is_same_v<Made, variable_list>) node->made(made);
        else node->made({made});
        recording->add(std::move(node));
        return made;
    }
};

/* May the gradient of one of these arguments be asked for? */
inline bool any_variable_requires_grad(const variable_list &list)
{
    for (const at::Tensor &x : list)
        if (x.defined() && x.requires_grad()) return true;
    return false;
}

}
}
#endif
