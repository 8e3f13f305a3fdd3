/* taeda_torch/all.hpp - everything that torch/extension.h brings. */
#ifndef TAEDA_TORCH_ALL_HPP
#define TAEDA_TORCH_ALL_HPP
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wattributes" /* what a program derives from a class of ours is as \
                                                 visible as the program says */
#endif
#include <cassert>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "taeda_torch/autograd.hpp"
#include "taeda_torch/classes.hpp"
#include "taeda_torch/dispatch.hpp"
#include "taeda_torch/dlpack.hpp"
#include "taeda_torch/guard.hpp"
#include "taeda_torch/indexing.hpp"
#include "taeda_torch/library.hpp"
#include "taeda_torch/parallel.hpp"

namespace torch TAEDA_HIDDEN {
using namespace at;
using at::Tensor;
namespace autograd {
using GradMode = at::GradMode;
}
}
#endif
