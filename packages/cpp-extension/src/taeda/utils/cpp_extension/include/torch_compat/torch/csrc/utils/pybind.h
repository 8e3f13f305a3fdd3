/* torch/csrc/utils/pybind.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_TORCH_CSRC_UTILS_PYBIND_H
#define TAEDA_COMPAT_TORCH_CSRC_UTILS_PYBIND_H
#include "taeda_torch/all.hpp"
#include "taeda_torch/pybind.hpp"
#endif
