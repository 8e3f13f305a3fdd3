/* c10/core/TensorOptions.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_C10_CORE_TENSOROPTIONS_H
#define TAEDA_COMPAT_C10_CORE_TENSOROPTIONS_H
#include "taeda_torch/options.hpp"
#endif
