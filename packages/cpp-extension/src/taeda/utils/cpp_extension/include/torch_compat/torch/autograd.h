/* torch/autograd.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_TORCH_AUTOGRAD_H
#define TAEDA_COMPAT_TORCH_AUTOGRAD_H
#include "taeda_torch/all.hpp"
#endif
