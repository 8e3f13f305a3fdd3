/* c10/core/Layout.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_C10_CORE_LAYOUT_H
#define TAEDA_COMPAT_C10_CORE_LAYOUT_H
#include "taeda_torch/options.hpp"
#endif
