/* c10/cuda/CUDAGuard.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_C10_CUDA_CUDAGUARD_H
#define TAEDA_COMPAT_C10_CUDA_CUDAGUARD_H
#include "taeda_torch/cuda.hpp"
#endif
