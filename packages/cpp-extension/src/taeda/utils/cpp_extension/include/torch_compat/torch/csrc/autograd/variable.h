/* torch/csrc/autograd/variable.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_TORCH_CSRC_AUTOGRAD_VARIABLE_H
#define TAEDA_COMPAT_TORCH_CSRC_AUTOGRAD_VARIABLE_H
#include "taeda_torch/all.hpp"
#endif
