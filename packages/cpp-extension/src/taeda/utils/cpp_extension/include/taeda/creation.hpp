/* taeda/creation.hpp - new tensors: row-major, on the cpu unless `meta` or a Device says otherwise.
 */
#ifndef TAEDA_CREATION_HPP
#define TAEDA_CREATION_HPP
#include <cstring>
#include <vector>

#include "taeda/operator.hpp"

namespace taeda TAEDA_HIDDEN {

inline Tensor empty(const int64_t *sizes, int32_t ndim, DType dtype, bool meta)
{
    taeda_tensor *made;
    taeda_error error; /* the table writes its 256 bytes, if any */
    error.message[0] = 0;
    detail::check(api().empty(dtype, ndim, sizes, !meta, &made, &error), error);
    return Tensor::made(made);
}
inline Tensor empty(const std::vector<int64_t> &sizes, DType dtype = TAEDA_FLOAT32,
                    bool meta = false)
{
    return empty(sizes.data(), int32_t(sizes.size()), dtype, meta);
}
inline Tensor empty(const int64_t *sizes, int32_t ndim, DType dtype, Device device)
{
    taeda_tensor *made;
    taeda_error error{};
    if (!device.is_cuda()) return empty(sizes, ndim, dtype, device.is_meta());
    detail::check(api().empty_format(dtype, device.number(), ndim, sizes, 0, &made, &error), error);
    return Tensor::made(made);
}
inline Tensor empty(const std::vector<int64_t> &sizes, DType dtype, Device device)
{
    return empty(sizes.data(), int32_t(sizes.size()), dtype, device);
}
/* With these strides, in elements; its memory reaches to the last element. */
inline Tensor empty_strided(const std::vector<int64_t> &sizes, const std::vector<int64_t> &strides,
                            DType dtype = TAEDA_FLOAT32, bool meta = false)
{
    taeda_tensor *made;
    taeda_error error{};
    TAEDA_CHECK_VALUE(sizes.size() == strides.size(), "empty_strided: ", sizes.size(),
                      " sizes and ", strides.size(), " strides");
    detail::check(api().empty_strided(dtype, meta ? TAEDA_META : TAEDA_CPU, int32_t(sizes.size()),
                                      sizes.data(), strides.data(), &made, &error),
                  error);
    return Tensor::adopt(made);
}
enum class MemoryFormat : int32_t { contiguous = 0, channels_last = 2, channels_last_3d = 3 };
inline Tensor empty(const std::vector<int64_t> &sizes, MemoryFormat format,
                    DType dtype = TAEDA_FLOAT32, bool meta = false)
{
    taeda_tensor *made;
    taeda_error error{};
    detail::check(api().empty_format(dtype, meta ? TAEDA_META : TAEDA_CPU, int32_t(sizes.size()),
                                     sizes.data(), int32_t(format), &made, &error),
                  error);
    return Tensor::adopt(made);
}
/* A tensor on memory of others: DLPack 1.x, of dlpack.h. Takes `managed` over, unless it throws. */
inline Tensor from_dlpack(DLManagedTensorVersioned *managed)
{
    taeda_tensor *made;
    taeda_error error{};
    detail::check(api().from_dlpack(managed, &made, &error), error);
    return Tensor::adopt(made);
}
/* Shape of `x`, and its dtype and place unless given; the elements are unset. */
inline Tensor empty_like(const Tensor &x)
{
    return empty(x.sizes().begin(), int32_t(x.dim()), x.dtype(), x.device());
}
inline Tensor empty_like(const Tensor &x, DType dtype)
{
    return empty(x.sizes().begin(), int32_t(x.dim()), dtype, x.device());
}
inline Tensor zeroed(Tensor x)
{
    if (x.is_cuda()) call("zero_", x);
    else if (x.raw_mutable_data())
        std::memset(x.raw_mutable_data(), 0, size_t(x.numel() * x.element_size()));
    return x;
}
inline Tensor zeros(const std::vector<int64_t> &sizes, DType dtype = TAEDA_FLOAT32)
{
    return zeroed(empty(sizes, dtype));
}
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
