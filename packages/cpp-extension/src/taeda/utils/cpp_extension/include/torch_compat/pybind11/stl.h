/* pybind11/stl.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_PYBIND11_STL_H
#define TAEDA_COMPAT_PYBIND11_STL_H
#include "taeda_torch/pybind.hpp"
#endif
