/* taeda/cuda_error.hpp - failures of the CUDA runtime as exceptions. Extensions without CUDA code
 * never include it. */
#ifndef TAEDA_CUDA_ERROR_HPP
#define TAEDA_CUDA_ERROR_HPP
#include <cuda_runtime_api.h>

#include "taeda/error.hpp"

extern "C" __attribute__((weak, visibility("hidden"))) int
taeda_cuda_launch_error(void); /* cuda_launch.c, linked in by the toolkit */

namespace taeda TAEDA_HIDDEN {
namespace cuda {

/* Throw if a function of the CUDA runtime failed; `what` says which. */
inline void check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess) return;
    cudaGetLastError(); /* reported here, so not again by who asks next */
    bool missing = error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver;
    throw Error(taeda::detail::concat(
        what, ": ", cudaGetErrorString(error),
        missing ? "; this function runs a CUDA kernel, which needs an NVIDIA device and its driver"
                : ""));
}

/* A launch, f<<<...>>>(...), reports its failure nowhere else. */
inline void check_launches()
{
    if (taeda_cuda_launch_error)
        check(cudaError_t(taeda_cuda_launch_error()), "a kernel was not launched");
}

}
}
#endif
