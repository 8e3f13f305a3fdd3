/* c10/cuda/CUDAFunctions.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_C10_CUDA_CUDAFUNCTIONS_H
#define TAEDA_COMPAT_C10_CUDA_CUDAFUNCTIONS_H
#include "taeda_torch/cuda.hpp"
#endif
