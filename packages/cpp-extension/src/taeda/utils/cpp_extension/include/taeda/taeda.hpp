/* taeda/taeda.hpp - C++17 over the table of taeda/abi.h. Header only: nothing to link with, no
 * Python.
 *
 *     #include <taeda/taeda.hpp>
 *
 *     taeda::Tensor scale(taeda::Tensor x, double factor)
 *     {
 *         x = x.contiguous();
 *         taeda::Tensor y = taeda::empty_like(x);
 *         const float *in = x.data<float>();
 *         float *out = y.mutable_data<float>();
 *         taeda::parallel_for(0, x.numel(), 4096, [&](int64_t begin, int64_t end) {
 *             for (int64_t i = begin; i < end; i++) out[i] = float(factor) * in[i];
 *         });
 *         return y;
 *     }
 *
 *     TAEDA_EXTENSION(m)
 *     {
 *         m.def("scale(Tensor x, float factor=2) -> Tensor", scale, "factor times x");
 *     }
 *
 * A bound function is an operator of the core's table. Its arguments may be Tensor, double, float,
 * int64_t, int, bool, uint64_t, std::string, DType, Generator, std::vector of Tensor, int64_t,
 * double or bool, and std::optional of the single ones; its results Tensor, std::tuple of Tensor or
 * std::optional of it, std::vector of Tensor (a Tensor[], or as many as the schema has), void, or
 * one double, int64_t or bool. Errors are exceptions; the boundary turns each into the
 * Python exception of its name. One that leaves the body of parallel_for reaches the caller of
 * parallel_for.
 *
 * The compiled library uses only C functions of the table, so it does not care which compiler or
 * C++ library the core, or another extension, was built with. Everything here is hidden: two
 * extensions in one process share nothing. */
#ifndef TAEDA_TAEDA_HPP
#define TAEDA_TAEDA_HPP
#include "taeda/creation.hpp"
#include "taeda/device.hpp"
#include "taeda/dispatch.hpp"
#include "taeda/functions.hpp"
#include "taeda/module.hpp"
#include "taeda/operator.hpp"
#include "taeda/parallel.hpp"
#include "taeda/random.hpp"
#include "taeda/scratch.hpp"
#include "taeda/tensor.hpp"
#endif
