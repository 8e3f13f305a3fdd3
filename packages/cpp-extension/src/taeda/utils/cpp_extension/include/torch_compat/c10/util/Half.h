/* c10/util/Half.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_C10_UTIL_HALF_H
#define TAEDA_COMPAT_C10_UTIL_HALF_H
#include "taeda_torch/half.hpp"
#endif
