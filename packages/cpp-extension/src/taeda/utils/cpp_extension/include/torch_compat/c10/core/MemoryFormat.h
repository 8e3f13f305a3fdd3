/* c10/core/MemoryFormat.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_C10_CORE_MEMORYFORMAT_H
#define TAEDA_COMPAT_C10_CORE_MEMORYFORMAT_H
#include "taeda_torch/options.hpp"
#endif
