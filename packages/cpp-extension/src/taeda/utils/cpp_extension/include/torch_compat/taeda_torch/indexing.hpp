/* taeda_torch/indexing.hpp - x.index({Slice(1, 3), mask, "..."}) and its like. */
#ifndef TAEDA_TORCH_INDEXING_HPP
#define TAEDA_TORCH_INDEXING_HPP
#include "taeda_torch/operators.hpp"

namespace at TAEDA_HIDDEN {
namespace indexing {

enum class TensorIndexType { None, Ellipsis, Integer, Boolean, Slice, Tensor };
struct EllipsisIndexType {};
inline constexpr EllipsisIndexType Ellipsis;
inline constexpr nullopt_t None = nullopt;

/* start:stop:step, where what is missing takes Python's default */
class Slice {
public:
    Slice(std::optional<int64_t> start = nullopt, std::optional<int64_t> stop = nullopt,
          std::optional<int64_t> step = nullopt)
        : start_(start), stop_(stop), step_(step.value_or(1))
    {
    }
    std::optional<int64_t> start() const { return start_; }
    std::optional<int64_t> stop() const { return stop_; }
    int64_t step() const { return step_; }

private:
    std::optional<int64_t> start_, stop_;
    int64_t step_;
};

class TensorIndex {
public:
    TensorIndex(nullopt_t) : type_(TensorIndexType::None) {}
    TensorIndex(EllipsisIndexType) : type_(TensorIndexType::Ellipsis) {}
    TensorIndex(const char *text) : type_(TensorIndexType::Ellipsis)
    {
        TORCH_CHECK_VALUE(std::string_view(text) == "...", "index: expected \"...\", got \"", text,
                          "\"");
    }
    TensorIndex(Slice slice) : type_(TensorIndexType::Slice), slice_(slice) {}
    TensorIndex(Tensor tensor) : type_(TensorIndexType::Tensor), tensor_(std::move(tensor)) {}
    template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
    TensorIndex(T v)
        : type_(std::is_same_v<T, bool> ? TensorIndexType::Boolean : TensorIndexType::Integer),
          integer_(int64_t(v))
    {
    }
    TensorIndexType type() const { return type_; }
    int64_t integer() const { return integer_; }
    const Slice &slice() const { return slice_; }
    const Tensor &tensor() const { return tensor_; }
    /* How many dimensions of x it stands for. */
    int64_t takes() const
    {
        if (type_ == TensorIndexType::Tensor)
            return tensor_.scalar_type() == kBool || tensor_.scalar_type() == kByte ? tensor_.dim()
                                                                                    : 1;
        return type_ == TensorIndexType::Integer || type_ == TensorIndexType::Slice;
    }

private:
    TensorIndexType type_;
    int64_t integer_ = 0;
    Slice slice_;
    Tensor tensor_;
};

namespace impl {
/* A view by the plain indices, and the tensors that remain, each at its dimension. */
struct Chosen {
    Tensor view;
    std::vector<Tensor> tensors;
};
inline void choose(Chosen &c, const TensorIndex &one, int64_t &d, int64_t rest)
{
    switch (one.type()) {
        case TensorIndexType::Integer: c.view = c.view.select(d, one.integer()); break;
        case TensorIndexType::Slice:
            c.view = c.view.slice(d++, one.slice().start(), one.slice().stop(), one.slice().step());
            break;
        case TensorIndexType::Ellipsis: d += rest; break;
        case TensorIndexType::None: c.view = c.view.unsqueeze(d++); break;
        default: {
            bool truth = one.type() == TensorIndexType::Boolean;
            if (truth) c.view = c.view.unsqueeze(d);
            c.tensors.resize(size_t(d));
            c.tensors.push_back(truth ? at::full({1}, bool(one.integer()),
                                                 TensorOptions(kBool).device(c.view.device()))
                                      : one.tensor());
            d += truth ? 1 : one.takes();
        }
    }
}
inline Chosen chosen(const Tensor &x, ArrayRef<TensorIndex> indices)
{
    int64_t taken = 0, d = 0;
    for (const TensorIndex &one : indices) taken += one.takes();
    TORCH_CHECK_INDEX(taken <= x.dim(), "too many indices for tensor of dimension ", x.dim());
    Chosen c{x, {}};
    bool masked = false;
    for (const TensorIndex &one : indices) {
        TORCH_CHECK_NOT_IMPLEMENTED(!(masked && one.type() == TensorIndexType::Tensor),
                                    "index: a mask of several dimensions before another tensor");
        choose(c, one, d, x.dim() - taken);
        masked |= one.type() == TensorIndexType::Tensor && one.takes() > 1;
    }
    return c;
}
}

}

inline Tensor Tensor::index(TensorList indices) const
{
    static const detail::Row row("index.Tensor");
    return row.one({*this, indices});
}
inline Tensor Tensor::index(ArrayRef<indexing::TensorIndex> indices) const
{
    indexing::impl::Chosen c = indexing::impl::chosen(*this, indices);
    return c.tensors.empty() ? c.view : c.view.index(TensorList(c.tensors));
}
inline Tensor Tensor::index(std::initializer_list<indexing::TensorIndex> indices) const
{
    return index(ArrayRef<indexing::TensorIndex>(indices));
}
inline Tensor Tensor::operator[](const Tensor &index) const
{
    return this->index({indexing::TensorIndex(index)});
}
inline Tensor &Tensor::index_put_(TensorList indices, const Tensor &values, bool accumulate)
{
    static const detail::Row row("index_put_");
    row.list({*this, indices, values, accumulate});
    return *this;
}
inline Tensor &Tensor::index_put_(ArrayRef<indexing::TensorIndex> indices, const Tensor &values)
{
    indexing::impl::Chosen c = indexing::impl::chosen(*this, indices);
    if (c.tensors.empty()) c.view.copy_(values);
    else c.view.index_put_(TensorList(c.tensors), values.to(scalar_type()));
    return *this;
}
inline Tensor &Tensor::index_put_(std::initializer_list<indexing::TensorIndex> indices,
                                  const Tensor &values)
{
    return index_put_(ArrayRef<indexing::TensorIndex>(indices), values);
}
inline Tensor &Tensor::index_put_(ArrayRef<indexing::TensorIndex> indices, const Scalar &value)
{
    return index_put_(indices, at::full({}, value, options()));
}
inline Tensor &Tensor::index_put_(std::initializer_list<indexing::TensorIndex> indices,
                                  const Scalar &value)
{
    return index_put_(ArrayRef<indexing::TensorIndex>(indices), value);
}

}
#endif
