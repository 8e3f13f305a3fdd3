/* c10/util/SmallVector.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_C10_UTIL_SMALLVECTOR_H
#define TAEDA_COMPAT_C10_UTIL_SMALLVECTOR_H
#include "taeda_torch/array.hpp"
#endif
