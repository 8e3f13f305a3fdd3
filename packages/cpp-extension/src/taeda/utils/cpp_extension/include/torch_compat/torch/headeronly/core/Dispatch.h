/* torch/headeronly/core/Dispatch.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_TORCH_HEADERONLY_CORE_DISPATCH_H
#define TAEDA_COMPAT_TORCH_HEADERONLY_CORE_DISPATCH_H
#include "taeda_torch/stable.hpp"
#endif
