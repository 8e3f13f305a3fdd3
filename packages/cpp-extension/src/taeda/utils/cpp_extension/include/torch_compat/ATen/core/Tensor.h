/* ATen/core/Tensor.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_ATEN_CORE_TENSOR_H
#define TAEDA_COMPAT_ATEN_CORE_TENSOR_H
#include "taeda_torch/all.hpp"
#endif
