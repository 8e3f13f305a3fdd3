/* taeda_torch/input.hpp - calls of operators with torch's types. */
#ifndef TAEDA_TORCH_INPUT_HPP
#define TAEDA_TORCH_INPUT_HPP
#include "taeda_torch/tensor.hpp"

namespace at TAEDA_HIDDEN {
namespace detail {

using namespace c10::detail;

/* A value on its way to an operator; borrows what it is made of until the call's full expression
 * ends. */
class Input {
public:
    Input(const Tensor &x) : value_(of(x.defined() ? TAEDA_KIND_TENSOR : TAEDA_KIND_NONE))
    {
        if (x.defined()) value_.as.tensor = const_cast<taeda_tensor *>(x.handle().get());
    }
    Input(TensorList list) : value_(of(TAEDA_KIND_TENSORS, list.size()))
    {
        for (const Tensor &x : list)
            tensors_.push_back(x.defined() ? const_cast<taeda_tensor *>(x.handle().get())
                                           : nullptr);
    }
    Input(bool v) : value_(of(TAEDA_KIND_BOOL)) { value_.as.integer = v; }
    Input(int64_t v) : value_(of(TAEDA_KIND_INT)) { value_.as.integer = v; }
    Input(double v) : value_(of(TAEDA_KIND_FLOAT)) { value_.as.real = v; }
    Input(const Scalar &v) : value_(v.value()) {}
    Input(ScalarType v) : value_(of(TAEDA_KIND_DTYPE)) { value_.as.integer = dtype_of(v); }
    Input(const Device &v) : value_(of(TAEDA_KIND_DEVICE))
    {
        value_.as.integer = device_of(v).number();
    }
    Input(MemoryFormat v) : value_(of(TAEDA_KIND_MEMORY_FORMAT)) { value_.as.integer = int64_t(v); }
    Input(IntArrayRef v) : value_(of(TAEDA_KIND_INTS, v.size())) { value_.as.integers = v.data(); }
    Input(ArrayRef<double> v) : value_(of(TAEDA_KIND_FLOATS, v.size()))
    {
        value_.as.reals = v.data();
    }
    Input(string_view v) : value_(of(TAEDA_KIND_STRING)), text_(v) {}
    Input(const Generator &v) : value_(v.get()) {}
    Input(nullopt_t) : value_(of(TAEDA_KIND_NONE)) {}
    Input(const OptionalIntArrayRef &v) : Input(nullopt)
    {
        if (v.has_value()) *this = Input(*v);
    }
    template <class T> Input(const std::optional<T> &v) : Input(nullopt)
    {
        if (v) *this = Input(*v);
    }
    /* With pointers into this object, which may have moved since it was made. */
    taeda_value get() const
    {
        taeda_value made = value_;
        if (made.kind == TAEDA_KIND_TENSORS) made.as.tensors = tensors_.data();
        if (made.kind == TAEDA_KIND_STRING) made.as.string = text_.c_str();
        return made;
    }

private:
    static taeda_value of(int32_t kind, size_t count = 0) { return {kind, 0, int64_t(count), {}}; }
    taeda_value value_;
    std::vector<taeda_tensor *> tensors_;
    std::string text_;
};

/* An operator of the table, found at its first call. */
class Row {
public:
    explicit Row(const char *name) : op_(name) {}
    std::vector<Tensor> list(std::initializer_list<Input> inputs) const
    {
        std::vector<taeda_value> values;
        values.reserve(inputs.size());
        for (const Input &one : inputs) values.push_back(one.get());
        std::vector<Tensor> made;
        for (taeda::Tensor &one : op_.results_of(values.data(), values.size()))
            made.emplace_back(std::move(one));
        return made;
    }
    Tensor one(std::initializer_list<Input> inputs) const { return std::move(list(inputs).at(0)); }
    template <size_t N> auto tuple(std::initializer_list<Input> inputs) const
    {
        return spread(list(inputs), std::make_index_sequence<N>{});
    }

private:
    template <size_t... I> static auto spread(std::vector<Tensor> made, std::index_sequence<I...>)
    {
        return std::make_tuple(std::move(made.at(I))...);
    }
    taeda::Operator op_;
};
/* An operator that is called once, or seldom. */
TAEDA_RARE inline Tensor call(const char *name, std::initializer_list<Input> inputs)
{
    return Row(name).one(inputs);
}

}
}
#endif
