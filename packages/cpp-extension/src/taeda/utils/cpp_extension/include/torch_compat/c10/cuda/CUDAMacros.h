/* c10/cuda/CUDAMacros.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_C10_CUDA_CUDAMACROS_H
#define TAEDA_COMPAT_C10_CUDA_CUDAMACROS_H
#include "taeda_torch/cuda.hpp"
#endif
