/* ATen/cuda/CUDAUtils.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_ATEN_CUDA_CUDAUTILS_H
#define TAEDA_COMPAT_ATEN_CUDA_CUDAUTILS_H
#include "taeda_torch/cuda.hpp"
#endif
