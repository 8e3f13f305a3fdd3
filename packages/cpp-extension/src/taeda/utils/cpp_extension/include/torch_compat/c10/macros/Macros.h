/* c10/macros/Macros.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_C10_MACROS_MACROS_H
#define TAEDA_COMPAT_C10_MACROS_MACROS_H
#include "taeda_torch/half.hpp"
#endif
