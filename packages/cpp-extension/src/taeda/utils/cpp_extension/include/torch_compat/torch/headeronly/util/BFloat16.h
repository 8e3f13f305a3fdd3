/* torch/headeronly/util/BFloat16.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_TORCH_HEADERONLY_UTIL_BFLOAT16_H
#define TAEDA_COMPAT_TORCH_HEADERONLY_UTIL_BFLOAT16_H
#include "taeda_torch/stable.hpp"
#endif
