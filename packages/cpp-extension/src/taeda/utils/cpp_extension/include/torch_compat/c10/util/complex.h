/* c10/util/complex.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_C10_UTIL_COMPLEX_H
#define TAEDA_COMPAT_C10_UTIL_COMPLEX_H
#include "taeda_torch/half.hpp"
#endif
