/* taeda_torch/device.hpp - where tensors are, by torch's names and numbers. */
#ifndef TAEDA_TORCH_DEVICE_HPP
#define TAEDA_TORCH_DEVICE_HPP
#include "taeda_torch/array.hpp"

namespace c10 TAEDA_HIDDEN {

enum class DeviceType : int8_t { CPU = 0, CUDA = 1, Meta = 14 };
inline constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA,
                            kMeta = DeviceType::Meta;
using DeviceIndex = int8_t;

inline const char *DeviceTypeName(DeviceType type, bool lower = false)
{
    if (lower) return type == kCPU ? "cpu" : type == kCUDA ? "cuda" : "meta";
    return type == kCPU ? "CPU" : type == kCUDA ? "CUDA" : "META";
}
TAEDA_RARE inline std::ostream &operator<<(std::ostream &out, DeviceType type)
{
    return out << DeviceTypeName(type, true);
}

/* A type and an index; -1 stands for the current device of the type. */
class Device {
public:
    Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index) {}
    Device(const std::string &text)
    {
        size_t colon = text.find(':');
        std::string type = text.substr(0, colon);
        TORCH_CHECK(type == "cpu" || type == "cuda" || type == "meta",
                    "Device: expected cpu, cuda or meta, got \"", text, "\"");
        type_ = type == "cpu" ? kCPU : type == "cuda" ? kCUDA : kMeta;
        bool digits = colon != std::string::npos && colon + 1 < text.size() &&
                      text.size() - colon <= 4 &&
                      text.find_first_not_of("0123456789", colon + 1) == std::string::npos;
        TORCH_CHECK(colon == std::string::npos || digits,
                    "Device: expected a number behind the colon, got \"", text, "\"");
        index_ = digits ? DeviceIndex(std::stoi(text.substr(colon + 1))) : DeviceIndex(-1);
    }
    Device(const char *text) : Device(std::string(text)) {}
    DeviceType type() const { return type_; }
    DeviceIndex index() const { return index_; }
    bool has_index() const { return index_ >= 0; }
    bool is_cpu() const { return type_ == kCPU; }
    bool is_cuda() const { return type_ == kCUDA; }
    bool is_meta() const { return type_ == kMeta; }
    std::string str() const
    {
        return DeviceTypeName(type_, true) + (has_index() ? ":" + std::to_string(index_) : "");
    }
    bool operator==(const Device &o) const { return type_ == o.type_ && index_ == o.index_; }
    bool operator!=(const Device &o) const { return !(*this == o); }

private:
    DeviceType type_ = kCPU;
    DeviceIndex index_ = -1;
};
TAEDA_RARE inline std::ostream &operator<<(std::ostream &out, const Device &device)
{
    return out << device.str();
}

namespace detail {
inline Device device_of(taeda::Device d)
{
    if (d.is_cuda()) return {kCUDA, DeviceIndex(d.index())};
    return d.is_meta() ? kMeta : kCPU;
}
inline taeda::Device device_of(const Device &d)
{
    if (d.is_cuda()) return taeda::Device(TAEDA_CUDA, d.has_index() ? d.index() : 0);
    return taeda::Device(d.is_meta() ? TAEDA_META : TAEDA_CPU);
}
}

}
#endif
