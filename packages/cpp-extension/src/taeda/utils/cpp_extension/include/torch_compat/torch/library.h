/* torch/library.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_TORCH_LIBRARY_H
#define TAEDA_COMPAT_TORCH_LIBRARY_H
#include "taeda_torch/classes.hpp"
#endif
