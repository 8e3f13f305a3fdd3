/* ATen/Parallel.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_ATEN_PARALLEL_H
#define TAEDA_COMPAT_ATEN_PARALLEL_H
#include "taeda_torch/parallel.hpp"
#endif
