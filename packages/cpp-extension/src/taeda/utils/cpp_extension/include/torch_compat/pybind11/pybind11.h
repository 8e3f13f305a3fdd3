/* pybind11/pybind11.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_PYBIND11_PYBIND11_H
#define TAEDA_COMPAT_PYBIND11_PYBIND11_H
#include "taeda_torch/pybind.hpp"
#endif
