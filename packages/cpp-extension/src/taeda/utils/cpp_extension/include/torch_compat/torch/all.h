/* torch/all.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_TORCH_ALL_H
#define TAEDA_COMPAT_TORCH_ALL_H
#include "taeda_torch/all.hpp"
#endif
