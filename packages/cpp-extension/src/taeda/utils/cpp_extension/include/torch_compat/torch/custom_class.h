/* torch/custom_class.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_TORCH_CUSTOM_CLASS_H
#define TAEDA_COMPAT_TORCH_CUSTOM_CLASS_H
#include "taeda_torch/classes.hpp"
#endif
