/* c10/cuda/CUDAStream.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_C10_CUDA_CUDASTREAM_H
#define TAEDA_COMPAT_C10_CUDA_CUDASTREAM_H
#include "taeda_torch/cuda.hpp"
#endif
