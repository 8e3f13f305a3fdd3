/* torch/csrc/autograd/custom_function.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_TORCH_CSRC_AUTOGRAD_CUSTOM_FUNCTION_H
#define TAEDA_COMPAT_TORCH_CSRC_AUTOGRAD_CUSTOM_FUNCTION_H
#include "taeda_torch/all.hpp"
#endif
