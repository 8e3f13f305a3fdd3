/* torch/csrc/stable/tensor.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_TORCH_CSRC_STABLE_TENSOR_H
#define TAEDA_COMPAT_TORCH_CSRC_STABLE_TENSOR_H
#include "taeda_torch/stable.hpp"
#endif
