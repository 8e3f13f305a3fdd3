/* c10/util/string_view.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_C10_UTIL_STRING_VIEW_H
#define TAEDA_COMPAT_C10_UTIL_STRING_VIEW_H
#include "taeda_torch/array.hpp"
#endif
