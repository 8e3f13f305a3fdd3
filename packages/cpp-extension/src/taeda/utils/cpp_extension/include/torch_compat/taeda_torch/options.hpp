/* taeda_torch/options.hpp - how a new tensor is to be. */
#ifndef TAEDA_TORCH_OPTIONS_HPP
#define TAEDA_TORCH_OPTIONS_HPP
#include "taeda_torch/device.hpp"
#include "taeda_torch/scalar_type.hpp"

namespace c10 TAEDA_HIDDEN {

enum class Layout : int8_t { Strided };
inline constexpr Layout kStrided = Layout::Strided;
TAEDA_RARE inline std::ostream &operator<<(std::ostream &out, Layout) { return out << "Strided"; }
enum class MemoryFormat : int8_t {
    Contiguous = 0,
    Preserve = 1,
    ChannelsLast = 2,
    ChannelsLast3d = 3
};

/* Fields that are not set take the default: float32, the cpu. */
class TensorOptions {
public:
    TensorOptions() = default;
    TensorOptions(ScalarType type) : type_(type) {}
    TensorOptions(caffe2::TypeMeta type) : type_(type.toScalarType()) {}
    TensorOptions(Device device) : device_(device) {}
    TensorOptions(DeviceType type) : device_(Device(type)) {}
    TensorOptions(Layout) {}
    TensorOptions(MemoryFormat format) : format_(format) {}

    TensorOptions dtype(std::optional<ScalarType> type) const
    {
        return with(&TensorOptions::type_, type);
    }
    TensorOptions dtype(caffe2::TypeMeta type) const
    {
        return dtype(std::optional<ScalarType>(type.toScalarType()));
    }
    TensorOptions dtype(ScalarType type) const { return dtype(std::optional<ScalarType>(type)); }
    template <class T> TensorOptions dtype() const { return dtype(CppTypeToScalarType<T>::value); }
    TensorOptions device(std::optional<Device> device) const
    {
        return with(&TensorOptions::device_, device);
    }
    TensorOptions device(Device device) const
    {
        return this->device(std::optional<Device>(device));
    }
    TensorOptions device(DeviceType type, DeviceIndex index = -1) const
    {
        return device(Device(type, index));
    }
    TensorOptions device_index(DeviceIndex index) const { return device(Device(kCUDA, index)); }
    TensorOptions layout(Layout) const { return *this; }
    TensorOptions memory_format(MemoryFormat format) const
    {
        return with(&TensorOptions::format_, std::optional<MemoryFormat>(format));
    }
    TensorOptions requires_grad(bool on) const { return with(&TensorOptions::requires_grad_, on); }
    TensorOptions pinned_memory(bool on) const { return with(&TensorOptions::pinned_, on); }

    caffe2::TypeMeta dtype() const { return type(); }
    Device device() const { return device_.value_or(Device(kCPU)); }
    Layout layout() const { return kStrided; }
    bool requires_grad() const { return requires_grad_; }
    bool pinned_memory() const { return pinned_; }
    bool has_dtype() const { return type_.has_value(); }
    bool has_device() const { return device_.has_value(); }
    std::optional<ScalarType> dtype_opt() const { return type_; }
    std::optional<Device> device_opt() const { return device_; }
    std::optional<MemoryFormat> memory_format_opt() const { return format_; }
    ScalarType type() const { return type_ ? *type_ : detail::type_of(taeda::default_dtype()); }
    /* These, and where they are silent, what `others` say. */
    TensorOptions merged_with(const TensorOptions &others) const
    {
        TensorOptions made = *this;
        if (!made.type_) made.type_ = others.type_;
        if (!made.device_) made.device_ = others.device_;
        return made;
    }

private:
    template <class T> TensorOptions with(T TensorOptions::*field, T value) const
    {
        TensorOptions made = *this;
        made.*field = value;
        return made;
    }
    std::optional<ScalarType> type_;
    std::optional<Device> device_;
    std::optional<MemoryFormat> format_;
    bool requires_grad_ = false, pinned_ = false;
};
inline TensorOptions dtype(ScalarType type) { return type; }
inline TensorOptions dtype(caffe2::TypeMeta type) { return type; }
template <class T> TensorOptions dtype() { return CppTypeToScalarType<T>::value; }
inline TensorOptions device(Device device) { return device; }
inline TensorOptions layout(Layout layout) { return layout; }
inline TensorOptions requires_grad(bool on = true) { return TensorOptions().requires_grad(on); }

}
#endif
