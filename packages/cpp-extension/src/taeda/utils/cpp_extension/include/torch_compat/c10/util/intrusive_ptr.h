/* c10/util/intrusive_ptr.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_C10_UTIL_INTRUSIVE_PTR_H
#define TAEDA_COMPAT_C10_UTIL_INTRUSIVE_PTR_H
#include "taeda_torch/object.hpp"
#endif
