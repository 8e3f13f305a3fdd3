/* ATen/core/op_registration/op_registration.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_ATEN_CORE_OP_REGISTRATION_OP_REGISTRATION_H
#define TAEDA_COMPAT_ATEN_CORE_OP_REGISTRATION_OP_REGISTRATION_H
#include "taeda_torch/library.hpp"
#endif
