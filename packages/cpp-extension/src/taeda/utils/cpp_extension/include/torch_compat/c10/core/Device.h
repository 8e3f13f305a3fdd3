/* c10/core/Device.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_C10_CORE_DEVICE_H
#define TAEDA_COMPAT_C10_CORE_DEVICE_H
#include "taeda_torch/device.hpp"
#endif
