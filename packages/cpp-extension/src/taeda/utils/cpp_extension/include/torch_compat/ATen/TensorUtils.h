/* ATen/TensorUtils.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_ATEN_TENSORUTILS_H
#define TAEDA_COMPAT_ATEN_TENSORUTILS_H
#include "taeda_torch/all.hpp"
#endif
