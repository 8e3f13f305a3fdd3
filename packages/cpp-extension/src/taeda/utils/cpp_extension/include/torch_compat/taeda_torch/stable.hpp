/* taeda_torch/stable.hpp - torch::stable: the smaller surface that newer extensions keep to, on the
 * same classes. */
#ifndef TAEDA_TORCH_STABLE_HPP
#define TAEDA_TORCH_STABLE_HPP
#include "taeda_torch/all.hpp"

namespace torch TAEDA_HIDDEN {
namespace headeronly {
using namespace c10;
template <class T, size_t N> using HeaderOnlyTensorAccessor = at::TensorAccessor<T, N>;
template <class T> using HeaderOnlyArrayRef = c10::ArrayRef<T>;
using IntHeaderOnlyArrayRef = c10::IntArrayRef;
}
namespace stable {

using at::amax;
using at::clone;
using at::copy_;
using at::Device;
using at::DeviceType;
using at::empty_like;
using at::fill_;
using at::flatten;
using at::full;
using at::matmul;
using at::narrow;
using at::parallel_for;
using at::reshape;
using at::select;
using at::squeeze;
using at::sum;
using at::Tensor;
using at::transpose;
using at::unsqueeze;
using at::view;
using at::zero_;
inline uint32_t get_num_threads() { return uint32_t(at::get_num_threads()); }
inline Tensor contiguous(const Tensor &x, c10::MemoryFormat format = c10::MemoryFormat::Contiguous)
{
    return x.contiguous(format);
}
inline Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> type = std::nullopt,
                    std::optional<at::Layout> = std::nullopt,
                    std::optional<Device> device = std::nullopt,
                    std::optional<bool> pinned = std::nullopt,
                    std::optional<at::MemoryFormat> format = std::nullopt)
{
    return at::empty(
        size, at::TensorOptions().dtype(type).device(device).pinned_memory(pinned.value_or(false)),
        format);
}
inline Tensor new_empty(const Tensor &x, at::IntArrayRef size,
                        std::optional<at::ScalarType> type = std::nullopt)
{
    return x.new_empty(size, at::TensorOptions().dtype(type));
}
inline Tensor new_zeros(const Tensor &x, at::IntArrayRef size,
                        std::optional<at::ScalarType> type = std::nullopt)
{
    return x.new_zeros(size, at::TensorOptions().dtype(type));
}
inline Tensor to(const Tensor &x, Device device) { return x.to(device); }
inline Tensor to(const Tensor &x, at::ScalarType type) { return x.to(type); }
using Library = torch::Library;

}
}
#define STD_TORCH_CHECK_VALUE(condition, ...) TORCH_CHECK_VALUE(condition, __VA_ARGS__)
#define THO_DISPATCH_SWITCH AT_DISPATCH_SWITCH
#define THO_DISPATCH_CASE AT_DISPATCH_CASE
#endif
