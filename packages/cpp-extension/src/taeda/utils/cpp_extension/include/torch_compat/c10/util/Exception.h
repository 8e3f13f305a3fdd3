/* c10/util/Exception.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_C10_UTIL_EXCEPTION_H
#define TAEDA_COMPAT_C10_UTIL_EXCEPTION_H
#include "taeda_torch/error.hpp"
#endif
