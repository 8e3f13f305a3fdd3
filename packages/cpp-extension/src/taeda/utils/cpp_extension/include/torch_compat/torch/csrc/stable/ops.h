/* torch/csrc/stable/ops.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_TORCH_CSRC_STABLE_OPS_H
#define TAEDA_COMPAT_TORCH_CSRC_STABLE_OPS_H
#include "taeda_torch/stable.hpp"
#endif
