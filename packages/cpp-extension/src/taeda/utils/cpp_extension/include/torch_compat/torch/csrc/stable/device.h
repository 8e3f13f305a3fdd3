/* torch/csrc/stable/device.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_TORCH_CSRC_STABLE_DEVICE_H
#define TAEDA_COMPAT_TORCH_CSRC_STABLE_DEVICE_H
#include "taeda_torch/stable.hpp"
#endif
