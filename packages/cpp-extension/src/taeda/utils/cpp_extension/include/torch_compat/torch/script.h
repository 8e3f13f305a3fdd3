/* torch/script.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_TORCH_SCRIPT_H
#define TAEDA_COMPAT_TORCH_SCRIPT_H
#include "taeda_torch/all.hpp"
#endif
