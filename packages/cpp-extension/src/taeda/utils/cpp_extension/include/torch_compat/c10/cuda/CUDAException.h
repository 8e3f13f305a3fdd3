/* c10/cuda/CUDAException.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_C10_CUDA_CUDAEXCEPTION_H
#define TAEDA_COMPAT_C10_CUDA_CUDAEXCEPTION_H
#include "taeda_torch/cuda.hpp"
#endif
