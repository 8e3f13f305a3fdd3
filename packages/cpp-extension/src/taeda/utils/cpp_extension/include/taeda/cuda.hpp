/* taeda/cuda.hpp - for host code of extensions that launch CUDA kernels: errors as exceptions,
 * memory with an owner.
 *
 * A function that is bound with `.cuda(f)` gets tensors on a CUDA device, which kernels read and
 * write in place:
 *
 *     taeda::Tensor y = taeda::empty_like(x);
 *     kernel<<<blocks, threads, 0, taeda::cuda::stream(x)>>>(x.data<float>(), y.mutable_data<float>(), x.numel());
 *     TAEDA_CUDA_CHECK(cudaGetLastError());
 *
 * Tensors on the cpu are copied:
 *
 *     taeda::cuda::Buffer<float> x(tensor.data<float>(), tensor.numel());      // copies to the device
 *     kernel<<<blocks, threads>>>(x.get(), tensor.numel());
 *     TAEDA_CUDA_CHECK(cudaGetLastError());
 *     x.copy_to(result.mutable_data<float>());                                  // waits, copies back
 *
 * Without a device every one of these throws, and the caller in Python reads a RuntimeError that
 * says what is missing. */
#ifndef TAEDA_CUDA_HPP
#define TAEDA_CUDA_HPP
#ifndef TAEDA_WITH_CUDA
#define TAEDA_WITH_CUDA
#endif
#include "taeda/cuda_error.hpp"
#include "taeda/taeda.hpp"

#define TAEDA_CUDA_CHECK(call) ::taeda::cuda::check((call), #call)

namespace taeda TAEDA_HIDDEN {
namespace cuda {

/* Is there a device that kernels can run on? */
inline bool is_available()
{
    int count = 0;
    bool found = cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
    cudaGetLastError(); /* the question alone is no error */
    return found;
}

/* The stream on which work with this tensor is queued now; its device becomes current. */
inline cudaStream_t stream(const Tensor &x)
{
    return static_cast<cudaStream_t>(current_stream(x.device()));
}

/* Elements on the device, given back when the buffer goes. */
template <class T> class Buffer {
public:
    explicit Buffer(int64_t count) : count_(count)
    {
        check(cudaMalloc(reinterpret_cast<void **>(&data_), bytes()), "cudaMalloc");
    }
    Buffer(const T *host, int64_t count) : Buffer(count)
    {
        check(cudaMemcpy(data_, host, bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
    }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    ~Buffer() { cudaFree(data_); }
    T *get() { return data_; }
    int64_t size() const { return count_; }
    void copy_to(T *host) const
    {
        check(cudaMemcpy(host, data_, bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    }

private:
    size_t bytes() const { return sizeof(T) * size_t(count_); }
    T *data_ = nullptr;
    int64_t count_;
};

}
}
#endif
