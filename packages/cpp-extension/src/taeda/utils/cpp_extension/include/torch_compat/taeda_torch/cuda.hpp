/* taeda_torch/cuda.hpp - devices and streams of CUDA, for files that launch kernels. */
#ifndef TAEDA_TORCH_CUDA_HPP
#define TAEDA_TORCH_CUDA_HPP
#include <cuda_runtime.h>

#include "taeda_torch/all.hpp"

namespace c10 TAEDA_HIDDEN {
namespace cuda {

namespace detail {
TAEDA_RARE inline void fail(cudaError_t code, const char *what)
{
    throw Error(str("CUDA error: ", cudaGetErrorString(code), " (", what, ")"));
}
inline void check(cudaError_t code, const char *what)
{
    if (code != cudaSuccess) fail(code, what);
}
}
}
}
#define C10_CUDA_CHECK(call) ::c10::cuda::detail::check((call), #call)
#define AT_CUDA_CHECK(call) C10_CUDA_CHECK(call)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
#define CUDA_KERNEL_LOOP_TYPE(i, n, type)                                           \
    for (int64_t taeda_torch_at_ = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;  \
         taeda_torch_at_ < (n); taeda_torch_at_ += int64_t(blockDim.x) * gridDim.x) \
        if (type i = type(taeda_torch_at_); true)
#define CUDA_KERNEL_LOOP(i, n) CUDA_KERNEL_LOOP_TYPE(i, n, int)
#define C10_LAUNCH_BOUNDS_1(threads) __launch_bounds__(threads)
#define C10_LAUNCH_BOUNDS_2(threads, blocks) __launch_bounds__(threads, blocks)

namespace c10 TAEDA_HIDDEN {
namespace cuda {

inline DeviceIndex current_device()
{
    int device = 0;
    C10_CUDA_CHECK(cudaGetDevice(&device));
    return DeviceIndex(device);
}
inline void set_device(DeviceIndex device) { C10_CUDA_CHECK(cudaSetDevice(device)); }
inline DeviceIndex device_count()
{
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess) return DeviceIndex(count);
    cudaGetLastError(); /* the question alone is no error */
    return 0;
}
inline void device_synchronize() { C10_CUDA_CHECK(cudaDeviceSynchronize()); }

/* A device is current while it lives. */
class CUDAGuard {
public:
    explicit CUDAGuard(DeviceIndex device) : before_(cuda::current_device()), now_(before_)
    {
        set_index(device);
    }
    explicit CUDAGuard(Device device)
        : CUDAGuard(device.has_index() ? device.index() : cuda::current_device())
    {
        TORCH_CHECK(device.is_cuda(), "CUDAGuard: expected a cuda device, got ", device);
    }
    CUDAGuard(const CUDAGuard &) = delete;
    CUDAGuard &operator=(const CUDAGuard &) = delete;
    ~CUDAGuard()
    {
        if (now_ != before_) cudaSetDevice(before_);
    }
    void set_index(DeviceIndex device)
    {
        if (device != now_) set_device_(device);
    }
    void set_device(Device device) { set_index(device.index()); }
    void reset_device(Device device) { set_index(device.index()); }
    Device original_device() const { return {kCUDA, before_}; }
    Device current_device() const { return {kCUDA, now_}; }

private:
    void set_device_(DeviceIndex device)
    {
        cuda::set_device(device);
        now_ = device;
    }
    DeviceIndex before_, now_;
};
/* The same where there may be no device to make current: for none, and for the cpu, nothing is
 * done. */
class OptionalCUDAGuard {
public:
    OptionalCUDAGuard() = default;
    explicit OptionalCUDAGuard(std::optional<Device> device)
    {
        if (device) set_device(*device);
    }
    explicit OptionalCUDAGuard(DeviceIndex device) : guard_(std::in_place, device) {}
    void set_device(Device device)
    {
        if (device.is_cuda())
            set_index(device.has_index() ? device.index() : cuda::current_device());
    }
    void set_index(DeviceIndex device)
    {
        if (guard_) guard_->set_index(device);
        else guard_.emplace(device);
    }

private:
    std::optional<CUDAGuard> guard_;
};

/* A stream of the core's: work queued there comes between what the core queued before and what it
 * queues later. */
class CUDAStream {
public:
    CUDAStream(cudaStream_t stream, DeviceIndex device) : stream_(stream), device_(device) {}
    operator cudaStream_t() const { return stream_; }
    cudaStream_t stream() const { return stream_; }
    DeviceIndex device_index() const { return device_; }
    Device device() const { return {kCUDA, device_}; }
    void synchronize() const { C10_CUDA_CHECK(cudaStreamSynchronize(stream_)); }
    bool operator==(const CUDAStream &o) const
    {
        return stream_ == o.stream_ && device_ == o.device_;
    }
    bool operator!=(const CUDAStream &o) const { return !(*this == o); }

private:
    cudaStream_t stream_;
    DeviceIndex device_;
};
/* On which work of this thread is queued now, on the device with this index or the current one. */
inline CUDAStream getCurrentCUDAStream(DeviceIndex device = -1)
{
    CUDAGuard stays(cuda::current_device()); /* the question makes the device current */
    DeviceIndex asked = device < 0 ? stays.current_device().index() : device;
    auto *stream =
        static_cast<cudaStream_t>(taeda::current_stream(taeda::Device(TAEDA_CUDA, asked)));
    if (asked != stays.current_device().index()) cuda::set_device(stays.current_device().index());
    return {stream, asked};
}
inline CUDAStream getDefaultCUDAStream(DeviceIndex device = -1)
{
    return {nullptr, device < 0 ? current_device() : device};
}

}
using DeviceGuard = cuda::OptionalCUDAGuard;
using OptionalDeviceGuard = cuda::OptionalCUDAGuard;
}

namespace at TAEDA_HIDDEN {
namespace cuda {
using namespace c10::cuda;
inline cudaDeviceProp *getDeviceProperties(DeviceIndex device)
{
    static std::mutex mutex;
    static std::map<DeviceIndex, cudaDeviceProp> known;
    std::lock_guard<std::mutex> lock(mutex);
    auto found = known.find(device);
    if (found == known.end()) {
        cudaDeviceProp facts;
        C10_CUDA_CHECK(cudaGetDeviceProperties(&facts, device));
        found = known.emplace(device, facts).first;
    }
    return &found->second;
}
inline cudaDeviceProp *getCurrentDeviceProperties()
{
    return getDeviceProperties(current_device());
}
inline bool is_available() { return device_count() > 0; }
template <class T> T ATenCeilDiv(T a, T b) { return (a + b - 1) / b; }
}
inline std::optional<Device> device_of(const Tensor &x)
{
    if (x.defined()) return x.device();
    return nullopt;
}
}
namespace torch TAEDA_HIDDEN {
namespace cuda {
using at::cuda::device_count;
using at::cuda::is_available;
}
}
#endif
