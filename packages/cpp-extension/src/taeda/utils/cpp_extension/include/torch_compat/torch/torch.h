/* torch/torch.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_TORCH_TORCH_H
#define TAEDA_COMPAT_TORCH_TORCH_H
#include "taeda_torch/all.hpp"
#endif
