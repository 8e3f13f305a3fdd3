/* taeda/creation.hpp - new tensors: row-major, on the cpu unless `meta`. */
#ifndef TAEDA_CREATION_HPP
#define TAEDA_CREATION_HPP
#include <cstring>
#include <vector>

#include "taeda/tensor.hpp"

namespace taeda TAEDA_HIDDEN {

inline Tensor empty(const int64_t *sizes, int32_t ndim, DType dtype, bool meta)
{
    taeda_tensor *made;
    taeda_error error{};
    detail::check(api().empty(dtype, ndim, sizes, !meta, &made, &error), error);
    return Tensor::adopt(made);
}
inline Tensor empty(const std::vector<int64_t> &sizes, DType dtype = TAEDA_FLOAT32, bool meta = false)
{
    return empty(sizes.data(), int32_t(sizes.size()), dtype, meta);
}
/* Shape of `x`, and its dtype and place unless given; the elements are unset. */
inline Tensor empty_like(const Tensor &x) { return empty(x.sizes().begin(), int32_t(x.dim()), x.dtype(), x.is_meta()); }
inline Tensor empty_like(const Tensor &x, DType dtype) { return empty(x.sizes().begin(), int32_t(x.dim()), dtype, x.is_meta()); }
inline Tensor zeroed(Tensor x)
{
    if (x.raw_mutable_data()) std::memset(x.raw_mutable_data(), 0, size_t(x.numel() * x.element_size()));
    return x;
}
inline Tensor zeros(const std::vector<int64_t> &sizes, DType dtype = TAEDA_FLOAT32) { return zeroed(empty(sizes, dtype)); }
inline Tensor zeros_like(const Tensor &x) { return zeroed(empty_like(x)); }
template <class T> Tensor full(const std::vector<int64_t> &sizes, T value)
{
    Tensor made = empty(sizes, dtype_of<T>);
    T *data = made.mutable_data<T>();
    for (int64_t i = 0, n = made.numel(); i < n; i++) data[i] = value;
    return made;
}
template <class T> Tensor tensor(const std::vector<T> &values)
{
    Tensor made = empty({int64_t(values.size())}, dtype_of<T>);
    T *data = made.mutable_data<T>();
    for (size_t i = 0; i < values.size(); i++) data[i] = values[i];
    return made;
}
template <class T> Tensor scalar(T value)
{
    Tensor made = empty({}, dtype_of<T>);
    *made.mutable_data<T>() = value;
    return made;
}

}
#endif
