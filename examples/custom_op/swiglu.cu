// swiglu.cu - the operator as a CUDA kernel. The host part copies: tensors of taeda lie on the cpu.
#include <taeda/cuda.hpp>

using taeda::Tensor;

__global__ void swiglu_kernel(const float *gate, const float *up, float *out, int64_t n)
{
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = gate[i] / (1 + __expf(-gate[i])) * up[i];
}

static Tensor swiglu(const Tensor &gate, const Tensor &up)
{
    TAEDA_CHECK_VALUE(gate.sizes() == up.sizes(), "the tensors differ in shape");
    Tensor g = gate.contiguous(), u = up.contiguous(), out = taeda::empty_like(gate);
    int64_t n = g.numel();
    if (n == 0) return out;
    taeda::cuda::Buffer<float> x(g.data<float>(), n), y(u.data<float>(), n), result(n);
    swiglu_kernel<<<unsigned((n + 255) / 256), 256>>>(x.get(), y.get(), result.get(), n);
    TAEDA_CUDA_CHECK(cudaGetLastError());
    result.copy_to(out.mutable_data<float>());
    return out;
}

static bool available() { return taeda::cuda::is_available(); }

TAEDA_EXTENSION(m)
{
    m.def("swiglu(Tensor gate, Tensor up) -> Tensor", swiglu, "gate * sigmoid(gate) * up on an NVIDIA device, float32.");
    m.def("available() -> Tensor", available, "Is there a device to run on?");
}
