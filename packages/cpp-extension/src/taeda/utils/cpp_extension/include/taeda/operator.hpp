/* taeda/operator.hpp - calls of operators: of the core, and of other extensions. */
#ifndef TAEDA_OPERATOR_HPP
#define TAEDA_OPERATOR_HPP
#include <atomic>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "taeda/random.hpp"
#include "taeda/tensor.hpp"

namespace taeda TAEDA_HIDDEN {

/* A value on its way to an operator; it borrows what it is made of, which lives until the call's
 * full expression ends. */
class Value {
public:
    Value(const Tensor &x) : value_{TAEDA_KIND_TENSOR, 0, 0, {}}
    {
        value_.as.tensor = const_cast<taeda_tensor *>(x.get());
    }
    Value(bool v) : value_{TAEDA_KIND_BOOL, 0, 0, {}} { value_.as.integer = v; }
    Value(int v) : Value(int64_t(v)) {}
    Value(int64_t v) : value_{TAEDA_KIND_INT, 0, 0, {}} { value_.as.integer = v; }
    Value(uint64_t v) : value_{v > uint64_t(INT64_MAX) ? TAEDA_KIND_UINT : TAEDA_KIND_INT, 0, 0, {}}
    {
        value_.as.natural = v;
    }
    Value(const Generator &v) : value_(v.get()) {}
    Value(double v) : value_{TAEDA_KIND_FLOAT, 0, 0, {}} { value_.as.real = v; }
    Value(Device v) : value_{TAEDA_KIND_DEVICE, 0, 0, {}} { value_.as.integer = v.number(); }
    Value(DType v) : value_{TAEDA_KIND_DTYPE, 0, 0, {}} { value_.as.integer = v; }
    Value(const char *v) : value_{TAEDA_KIND_STRING, 0, 0, {}} { value_.as.string = v; }
    Value(const std::vector<int64_t> &v) : value_{TAEDA_KIND_INTS, 0, int64_t(v.size()), {}}
    {
        value_.as.integers = v.data();
    }
    Value(const std::vector<Tensor> &v) : value_{TAEDA_KIND_TENSORS, 0, int64_t(v.size()), {}}
    {
        for (const Tensor &x : v)
            list_.push_back(x.defined() ? const_cast<taeda_tensor *>(x.get()) : nullptr);
        value_.as.tensors = list_.data();
    }
    Value(std::nullopt_t) : value_{TAEDA_KIND_NONE, 0, 0, {}} {} /* None, or the default */
    const taeda_value &get() const { return value_; }

private:
    taeda_value value_;
    std::vector<taeda_tensor *> list_;
};

/* An operator by name ("sum", "add.Tensor", "mylib::scale"); found at its first call, so keep it:
 * static Operator sum("sum"); (Not when it is made: who makes a static one holds back others who
 * reach it, and those may hold Python's lock, which finding an operator asks for.) */
class Operator {
public:
    explicit Operator(const char *name) : name_(name) {}
    Operator(const Operator &o) : name_(o.name_), op_(o.op_.load(std::memory_order_acquire)) {}
    Operator &operator=(const Operator &) = delete;
    /* Call it with arguments in the order of its schema; later ones take their defaults. Records no
     * derivative. */
    template <class... A> std::vector<Tensor> results(const A &...arguments) const
    {
        const Value values[] = {Value(arguments)..., Value(std::nullopt)};
        taeda_value plain[sizeof...(A) + 1];
        for (size_t i = 0; i < sizeof...(A); i++) plain[i] = values[i].get();
        return results_of(plain, sizeof...(A));
    }
    /* The same with `count` values of the table. */
    std::vector<Tensor> results_of(const taeda_value *values, size_t count) const
    {
        taeda_value made[capacity];
        std::vector<taeda_value> more;
        taeda_error error{};
        taeda_op_call call{sizeof call, int32_t(count), found(), values, made, capacity,
                           0,           &error,         room,    &more};
        detail::check(api().call_op(&call), error);
        return adopted(call);
    }
    /* The same for operators with one result. */
    template <class... A> Tensor operator()(const A &...arguments) const
    {
        return std::move(results(arguments...).at(0));
    }

private:
    const taeda_op *found() const
    {
        const taeda_op *op = op_.load(std::memory_order_acquire);
        if (op) return op;
        taeda_error error{};
        detail::check(api().find_op(name_.c_str(), &op, &error), error);
        op_.store(op, std::memory_order_release);
        return op;
    }
    static taeda_value *room(void *more, int32_t count) noexcept
    {
        auto &list = *static_cast<std::vector<taeda_value> *>(more);
        try {
            list.resize(size_t(count));
        } catch (const std::bad_alloc &) {
            return nullptr;
        }
        return list.data();
    }
    static std::vector<Tensor> adopted(const taeda_op_call &call)
    {
        std::vector<Tensor> list;
        bool others = false;
        list.reserve(size_t(call.result_count));
        for (int32_t i = 0; i < call.result_count; i++) {
            if (call.results[i].kind != TAEDA_KIND_TENSOR) others = true;
            else list.push_back(Tensor::adopt(call.results[i].as.tensor));
        }
        if (others)
            throw TypeError("an operator whose result is no Tensor is called through the table");
        return list;
    }

    static constexpr int32_t capacity = 16;
    std::string name_;
    mutable std::atomic<const taeda_op *> op_{nullptr};
};
inline Tensor Tensor::cpu() const
{
    if (device().is_cpu()) return *this;
    static const Operator copy("_to_copy");
    return copy(*this, std::nullopt, Device(TAEDA_CPU));
}
/* call("relu", x): looks the name up each time. */
template <class... A> Tensor call(const char *name, const A &...arguments)
{
    return Operator(name)(arguments...);
}

}
#endif
