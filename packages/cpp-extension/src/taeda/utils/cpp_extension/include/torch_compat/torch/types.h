/* torch/types.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_TORCH_TYPES_H
#define TAEDA_COMPAT_TORCH_TYPES_H
#include "taeda_torch/all.hpp"
#endif
