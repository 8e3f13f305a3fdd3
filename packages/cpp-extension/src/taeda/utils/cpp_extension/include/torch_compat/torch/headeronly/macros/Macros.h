/* torch/headeronly/macros/Macros.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_TORCH_HEADERONLY_MACROS_MACROS_H
#define TAEDA_COMPAT_TORCH_HEADERONLY_MACROS_MACROS_H
#include "taeda_torch/stable.hpp"
#endif
