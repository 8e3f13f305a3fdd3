/* torch/headeronly/util/Exception.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_TORCH_HEADERONLY_UTIL_EXCEPTION_H
#define TAEDA_COMPAT_TORCH_HEADERONLY_UTIL_EXCEPTION_H
#include "taeda_torch/stable.hpp"
#endif
