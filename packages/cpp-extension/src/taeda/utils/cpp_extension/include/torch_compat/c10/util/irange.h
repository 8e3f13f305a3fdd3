/* c10/util/irange.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_C10_UTIL_IRANGE_H
#define TAEDA_COMPAT_C10_UTIL_IRANGE_H
#include "taeda_torch/array.hpp"
#endif
