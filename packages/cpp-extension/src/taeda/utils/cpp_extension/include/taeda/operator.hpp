/* taeda/operator.hpp - calls of operators: of the core, and of other extensions. */
#ifndef TAEDA_OPERATOR_HPP
#define TAEDA_OPERATOR_HPP
#include <optional>
#include <utility>
#include <vector>

#include "taeda/random.hpp"
#include "taeda/tensor.hpp"

namespace taeda TAEDA_HIDDEN {

/* A value on its way to an operator; it borrows what it is made of, which lives until the call's full expression ends. */
class Value {
public:
    Value(const Tensor &x) : value_{TAEDA_KIND_TENSOR, 0, 0, {}} { value_.as.tensor = const_cast<taeda_tensor *>(x.get()); }
    Value(bool v) : value_{TAEDA_KIND_BOOL, 0, 0, {}} { value_.as.integer = v; }
    Value(int v) : Value(int64_t(v)) {}
    Value(int64_t v) : value_{TAEDA_KIND_INT, 0, 0, {}} { value_.as.integer = v; }
    Value(uint64_t v) : value_{v > uint64_t(INT64_MAX) ? TAEDA_KIND_UINT : TAEDA_KIND_INT, 0, 0, {}} { value_.as.natural = v; }
    Value(const Generator &v) : value_(v.get()) {}
    Value(double v) : value_{TAEDA_KIND_FLOAT, 0, 0, {}} { value_.as.real = v; }
    Value(Device v) : value_{TAEDA_KIND_DEVICE, 0, 0, {}} { value_.as.integer = v.number(); }
    Value(DType v) : value_{TAEDA_KIND_DTYPE, 0, 0, {}} { value_.as.integer = v; }
    Value(const char *v) : value_{TAEDA_KIND_STRING, 0, 0, {}} { value_.as.string = v; }
    Value(const std::vector<int64_t> &v) : value_{TAEDA_KIND_INTS, 0, int64_t(v.size()), {}} { value_.as.integers = v.data(); }
    Value(const std::vector<Tensor> &v) : value_{TAEDA_KIND_TENSORS, 0, int64_t(v.size()), {}}
    {
        for (const Tensor &x : v) list_.push_back(x.defined() ? const_cast<taeda_tensor *>(x.get()) : nullptr);
        value_.as.tensors = list_.data();
    }
    Value(std::nullopt_t) : value_{TAEDA_KIND_NONE, 0, 0, {}} {} /* None, or the default */
    const taeda_value &get() const { return value_; }

private:
    taeda_value value_;
    std::vector<taeda_tensor *> list_;
};

/* An operator by name ("sum", "add.Tensor", "mylib::scale"); found when it is made, so keep it: static Operator sum("sum"); */
class Operator {
public:
    explicit Operator(const char *name)
    {
        taeda_error error{};
        detail::check(api().find_op(name, &op_, &error), error);
    }
    /* Call it with arguments in the order of its schema; later ones take their defaults. Records no derivative. */
    template <class... A> std::vector<Tensor> results(const A &...arguments) const
    {
        const Value values[] = {Value(arguments)...};
        taeda_value plain[sizeof...(A)], made[capacity];
        for (size_t i = 0; i < sizeof...(A); i++) plain[i] = values[i].get();
        taeda_error error{};
        taeda_op_call call{sizeof call, int32_t(sizeof...(A)), op_, plain, made, capacity, 0, &error};
        detail::check(api().call_op(&call), error);
        std::vector<Tensor> list;
        for (int32_t i = 0; i < call.result_count; i++) {
            if (made[i].kind != TAEDA_KIND_TENSOR) throw TypeError("an operator whose result is no Tensor is called through the table");
            list.push_back(Tensor::adopt(made[i].as.tensor));
        }
        return list;
    }
    /* The same for operators with one result. */
    template <class... A> Tensor operator()(const A &...arguments) const { return std::move(results(arguments...).at(0)); }

private:
    static constexpr int32_t capacity = 16;
    const taeda_op *op_;
};
inline Tensor Tensor::cpu() const
{
    if (device().is_cpu()) return *this;
    static const Operator copy("_to_copy");
    return copy(*this, std::nullopt, Device(TAEDA_CPU));
}
/* call("relu", x): looks the name up each time. */
template <class... A> Tensor call(const char *name, const A &...arguments) { return Operator(name)(arguments...); }

}
#endif
