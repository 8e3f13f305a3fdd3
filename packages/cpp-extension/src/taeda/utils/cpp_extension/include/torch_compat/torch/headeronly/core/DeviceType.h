/* torch/headeronly/core/DeviceType.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_TORCH_HEADERONLY_CORE_DEVICETYPE_H
#define TAEDA_COMPAT_TORCH_HEADERONLY_CORE_DEVICETYPE_H
#include "taeda_torch/stable.hpp"
#endif
