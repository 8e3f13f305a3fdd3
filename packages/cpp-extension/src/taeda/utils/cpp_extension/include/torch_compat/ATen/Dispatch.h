/* ATen/Dispatch.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_ATEN_DISPATCH_H
#define TAEDA_COMPAT_ATEN_DISPATCH_H
#include "taeda_torch/dispatch.hpp"
#endif
