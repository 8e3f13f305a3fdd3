/* ATen/core/dispatch/Dispatcher.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_ATEN_CORE_DISPATCH_DISPATCHER_H
#define TAEDA_COMPAT_ATEN_CORE_DISPATCH_DISPATCHER_H
#include "taeda_torch/library.hpp"
#endif
