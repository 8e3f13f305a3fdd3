/* pybind11/functional.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_PYBIND11_FUNCTIONAL_H
#define TAEDA_COMPAT_PYBIND11_FUNCTIONAL_H
#include "taeda_torch/pybind.hpp"
#endif
