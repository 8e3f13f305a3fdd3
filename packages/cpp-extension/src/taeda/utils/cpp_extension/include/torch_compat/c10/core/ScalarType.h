/* c10/core/ScalarType.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_C10_CORE_SCALARTYPE_H
#define TAEDA_COMPAT_C10_CORE_SCALARTYPE_H
#include "taeda_torch/scalar_type.hpp"
#endif
