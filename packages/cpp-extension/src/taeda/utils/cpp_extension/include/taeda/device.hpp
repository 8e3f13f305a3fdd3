/* taeda/device.hpp - where tensors are, and the streams of CUDA devices. */
#ifndef TAEDA_DEVICE_HPP
#define TAEDA_DEVICE_HPP
#include "taeda/error.hpp"

namespace taeda TAEDA_HIDDEN {

/* A type of device and an index: Device(TAEDA_CUDA, 1). */
class Device {
public:
    explicit Device(taeda_device type, int index = 0) : number_(TAEDA_DEVICE(type, index)) {}
    static Device of(int32_t number)
    {
        return Device(taeda_device(TAEDA_DEVICE_TYPE(number)), TAEDA_DEVICE_INDEX(number));
    }
    taeda_device type() const { return taeda_device(TAEDA_DEVICE_TYPE(number_)); }
    int index() const { return TAEDA_DEVICE_INDEX(number_); }
    int32_t number() const { return number_; } /* as the table has it */
    bool is_cpu() const { return type() == TAEDA_CPU; }
    bool is_meta() const { return type() == TAEDA_META; }
    bool is_cuda() const { return type() == TAEDA_CUDA; }
    bool operator==(Device other) const { return number_ == other.number_; }
    bool operator!=(Device other) const { return number_ != other.number_; }
    /* Can tensors be made there now? */
    bool available() const { return api().device_available(number_); }

private:
    int32_t number_;
};

namespace detail {
inline void append(std::string &to, Device device)
{
    static const char *const names[] = {"cpu", "meta", "cuda"};
    to += device.type() >= 0 && device.type() < 3 ? names[device.type()] : "device";
    if (!device.is_cpu() && !device.is_meta()) to += ":" + std::to_string(device.index());
}
}

/* The stream (CUstream, cudaStream_t; null: the default one) on which work of this thread is queued
 * on a CUDA device now. The device becomes current for the driver and the CUDA runtime. Error for
 * what is no CUDA device. */
inline void *current_stream(Device device)
{
    void *stream;
    taeda_error error{};
    detail::check(api().current_stream(device.number(), &stream, &error), error);
    return stream;
}

}
#endif
