/* torch/serialize/tensor.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_TORCH_SERIALIZE_TENSOR_H
#define TAEDA_COMPAT_TORCH_SERIALIZE_TENSOR_H
#include "taeda_torch/all.hpp"
#endif
