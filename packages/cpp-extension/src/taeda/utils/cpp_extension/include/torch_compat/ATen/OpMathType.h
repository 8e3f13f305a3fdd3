/* ATen/OpMathType.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_ATEN_OPMATHTYPE_H
#define TAEDA_COMPAT_ATEN_OPMATHTYPE_H
#include "taeda_torch/half.hpp"
#endif
