/* ATen/cuda/CUDAContext.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_ATEN_CUDA_CUDACONTEXT_H
#define TAEDA_COMPAT_ATEN_CUDA_CUDACONTEXT_H
#include "taeda_torch/cuda.hpp"
#endif
