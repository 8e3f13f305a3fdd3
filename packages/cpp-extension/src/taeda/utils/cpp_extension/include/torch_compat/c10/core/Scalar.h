/* c10/core/Scalar.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_C10_CORE_SCALAR_H
#define TAEDA_COMPAT_C10_CORE_SCALAR_H
#include "taeda_torch/scalar.hpp"
#endif
