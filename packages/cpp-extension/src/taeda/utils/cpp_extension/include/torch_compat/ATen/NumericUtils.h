/* ATen/NumericUtils.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_ATEN_NUMERICUTILS_H
#define TAEDA_COMPAT_ATEN_NUMERICUTILS_H
#include "taeda_torch/half.hpp"
#endif
