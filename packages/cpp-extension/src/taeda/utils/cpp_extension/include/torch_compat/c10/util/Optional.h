/* c10/util/Optional.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_C10_UTIL_OPTIONAL_H
#define TAEDA_COMPAT_C10_UTIL_OPTIONAL_H
#include "taeda_torch/array.hpp"
#endif
