/* torch/extension.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_TORCH_EXTENSION_H
#define TAEDA_COMPAT_TORCH_EXTENSION_H
#include "taeda_torch/all.hpp"
#include "taeda_torch/pybind.hpp"
#endif
