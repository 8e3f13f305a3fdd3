/* c10/util/ArrayRef.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_C10_UTIL_ARRAYREF_H
#define TAEDA_COMPAT_C10_UTIL_ARRAYREF_H
#include "taeda_torch/array.hpp"
#endif
